/* SPDX-License-Identifier: MIT
 *
 * cuda_context: what the work of an opened device stands on. In: a GPU. Out: the context that was
 * left current in this thread, and the GPU's attributes, for which none is needed. Every file of
 * the CUDA device may use it; cuda_device.c, whose table names them all, is above them.
 */
#include "device/cuda/cuda_device.h"

_Thread_local cu_context qn_cuda_left;

int qn_cuda_attribute(cu_device device, int attribute)
{
    int value = 0;
    return qn_cuda.device_attribute(&value, (cu_device_attribute)attribute, device) == CU_SUCCESS
               ? value
               : 0;
}

int qn_cuda_arch(cu_device device)
{
    return qn_cuda_attribute(device, CU_COMPUTE_CAPABILITY_MAJOR) * 10 +
           qn_cuda_attribute(device, CU_COMPUTE_CAPABILITY_MINOR);
}
