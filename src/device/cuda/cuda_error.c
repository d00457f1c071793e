/* SPDX-License-Identifier: MIT
 *
 * The driver's results as failures. In: a result and what was being done. Out: a status of Quern's
 * and a sentence with the driver's own name for the error and, where there is some, advice.
 */
#include "device/cuda/cuda_device.h"

/* A kernel that touched what it may not takes the whole context with it. */
#define SPOILED "; the GPU cannot be used by this process any more"
#define FIND_IT                                                                                    \
    "; run the same program with QUERN_DEVICE=soft, which names the place in the source" SPOILED

static const struct {
    cu_result result;
    quern_status status;
    const char *advice;
} table[] = {
    {CU_FORKED, QUERN_ERROR_DRIVER,
     "this process was forked after its parent had used the GPU, and CUDA does not survive that: "
     "fork first, or run a new program"},
    {CU_OUT_OF_MEMORY, QUERN_ERROR_DEVICE_MEMORY, ""},
    {CU_NOT_INITIALIZED, QUERN_ERROR_DRIVER,
     "; CUDA does not survive fork(): open the engine in the child process"},
    {CU_DEINITIALIZED, QUERN_ERROR_DRIVER, "; the process is ending"},
    {CU_DEVICE_UNAVAILABLE, QUERN_ERROR_NO_DEVICE,
     "; the GPU is in exclusive mode and used by another process"},
    {CU_NO_DEVICE, QUERN_ERROR_NO_DEVICE, ""},
    {CU_INVALID_DEVICE, QUERN_ERROR_NO_DEVICE, ""},
    {CU_INVALID_IMAGE, QUERN_ERROR_IMAGE, ""},
    {CU_NO_BINARY_FOR_GPU, QUERN_ERROR_IMAGE, ""},
    {CU_INVALID_PTX, QUERN_ERROR_IMAGE, ""},
    {CU_JIT_COMPILER_NOT_FOUND, QUERN_ERROR_IMAGE,
     "; the driver's PTX compiler (libnvidia-ptxjitcompiler.so.1) is not installed"},
    {CU_UNSUPPORTED_PTX_VERSION, QUERN_ERROR_IMAGE,
     "; the PTX is newer than the driver: update the driver, or compile with an older CUDA"},
    {CU_INVALID_SOURCE, QUERN_ERROR_IMAGE, ""},
    {CU_ILLEGAL_ADDRESS, QUERN_ERROR_ACCESS, FIND_IT},
    {CU_MISALIGNED_ADDRESS, QUERN_ERROR_ACCESS, FIND_IT},
    {CU_INVALID_ADDRESS_SPACE, QUERN_ERROR_ACCESS, FIND_IT},
    {CU_INVALID_PC, QUERN_ERROR_LAUNCH, FIND_IT},
    {CU_HARDWARE_STACK_ERROR, QUERN_ERROR_LAUNCH, FIND_IT},
    {CU_ILLEGAL_INSTRUCTION, QUERN_ERROR_LAUNCH, FIND_IT},
    {CU_LAUNCH_FAILED, QUERN_ERROR_LAUNCH, FIND_IT},
    {CU_ASSERT, QUERN_ERROR_LAUNCH, "; an assert() in the kernel failed" SPOILED},
    {CU_LAUNCH_TIMEOUT, QUERN_ERROR_LAUNCH,
     "; the GPU also drives a display, whose watchdog ends long kernels" SPOILED},
    {CU_LAUNCH_OUT_OF_RESOURCES, QUERN_ERROR_LAUNCH,
     "; a block of this size needs more registers than there are: use smaller blocks"},
    {CU_COOPERATIVE_LAUNCH_TOO_LARGE, QUERN_ERROR_LAUNCH,
     "; the blocks of a cooperative launch must all fit the GPU at once: use fewer"},
    {CU_STREAM_CAPTURE_UNSUPPORTED, QUERN_ERROR_DRIVER,
     "; somebody in this process is capturing a stream, which does not allow it"},
    {CU_STREAM_CAPTURE_IMPLICIT, QUERN_ERROR_DRIVER,
     "; somebody in this process is capturing a stream that keeps order with the legacy default "
     "stream: capture one that is non-blocking"},
    {CU_STREAM_CAPTURE_INVALIDATED, QUERN_ERROR_DRIVER,
     "; something in this process has waited for the whole GPU, or used the legacy default stream: "
     "capture a stream that is non-blocking, and wait before the capture"},
    {CU_STREAM_CAPTURE_UNJOINED, QUERN_ERROR_DRIVER,
     "; another stream takes part in it, and the one that it began with does not wait for all that "
     "the other does: record an event there, and let the first wait for it"},
    {CU_CONTEXT_IS_DESTROYED, QUERN_ERROR_DRIVER,
     "; somebody in this process has reset the device (cudaDeviceReset)"},
    {CU_INVALID_CONTEXT, QUERN_ERROR_DRIVER,
     "; somebody in this process has reset the device (cudaDeviceReset)"},
};

quern_status qn_cuda_fail(cu_result result, const char *doing)
{
    quern_status status = QUERN_ERROR_DRIVER;
    const char *advice = "";
    for (size_t k = 0; k < QN_COUNT(table); k++) {
        if (table[k].result == result) {
            status = table[k].status;
            advice = table[k].advice;
        }
    }
    if (result == CU_FORKED) { /* the driver is not even asked */
        return qn_fail(status, "%s failed: %s", doing, advice);
    }
    const char *name = NULL, *text = NULL;
    (void)qn_cuda.error_name(result, &name);
    (void)qn_cuda.error_string(result, &text);
    return qn_fail(status, "%s failed: %s (%s, %d)%s", doing, text ? text : "unknown error",
                   name ? name : "no name", result, advice);
}
