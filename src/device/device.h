/* SPDX-License-Identifier: MIT
 *
 * device: the two devices that Quern brings. The interface is include/quern/device.h.
 */
#ifndef QN_DEVICE_H
#define QN_DEVICE_H

#include "base/base.h"
#include <quern/device.h>

/* ---- cuda_*.c: an NVIDIA GPU through the Driver API, loaded at run time --------------------- */
extern const quern_device_methods qn_cuda_device;

/* ---- soft_*.c: the software device: PTX executed on the CPU (src/ptx) ----------------------- */
extern const quern_device_methods qn_soft_device;

#endif /* QN_DEVICE_H */
