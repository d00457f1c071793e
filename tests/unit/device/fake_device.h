/* SPDX-License-Identifier: MIT
 *
 * What the tests of the CUDA device begin with: QUERN_CUDA set to the stand-in, its control, and an
 * opened device. Each test is a process of its own, so the driver is loaded anew in each.
 */
#ifndef FAKE_DEVICE_H
#define FAKE_DEVICE_H

#include "device/device.h"
#include "support/fake_libcuda.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static const quern_device_methods *const cuda = &qn_cuda_device;

static inline fake_cuda *use_fake(void)
{
    setenv("QUERN_CUDA", FAKE_FOLDER, 1);
    void *library = dlopen(FAKE_FOLDER "/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    cr_assert(library, "%s", dlerror());
    fake_cuda_get_function get;
    void *address = dlsym(library, "fake_cuda_get");
    memcpy(&get, &address, sizeof get);
    return get();
}

static inline quern_device *open_fake(const char *argument)
{
    quern_device *device;
    cr_assert_eq(cuda->open(&device, argument, NULL), QUERN_OK, "%s", quern_last_error()->message);
    return device;
}

/** The message of the last failure contains `text`. */
#define assert_says(text)                                                                          \
    cr_assert(strstr(quern_last_error()->message, (text)), "wanted '%s' in: %s", (text),           \
              quern_last_error()->message)

#endif /* FAKE_DEVICE_H */
