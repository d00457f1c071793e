/* SPDX-License-Identifier: MIT
 *
 * What the tests of the CUDA device begin with: QUERN_CUDA set to the stand-in, its control, and an
 * opened device. Each test is a process of its own, so each loads the driver itself.
 */
#ifndef FAKE_DEVICE_H
#define FAKE_DEVICE_H

#include "device/device_internal.h"
#include "says.h"
#include "support/fake_libcuda.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

static const quern_device_methods *const cuda = &qn_cuda_device;

static inline fake_cuda *use_fake_in(const char *folder)
{
    char path[1024];
    setenv("QUERN_CUDA", folder, 1);
    snprintf(path, sizeof path, "%s/libcuda.so.1", folder);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    cr_assert(library, "%s", dlerror());
    fake_cuda_get_function get;
    void *address = dlsym(library, "fake_cuda_get");
    memcpy(&get, &address, sizeof get);
    return get();
}

static inline fake_cuda *use_fake(void)
{
    return use_fake_in(FAKE_FOLDER);
}

/** The stand-in for a driver older than CUDA 12.4. */
static inline fake_cuda *use_old_fake(void)
{
    return use_fake_in(FAKE_FOLDER "_old");
}

static inline quern_device *open_fake(const char *argument)
{
    quern_device *device;
    cr_assert_eq(cuda->open(&device, argument, NULL), QUERN_OK, "%s", quern_last_error()->message);
    return device;
}

/** A module of a cubin in which there is nothing. */
static inline void *load(quern_device *device)
{
    static Elf64_Ehdr cubin;
    memcpy(cubin.e_ident, ELFMAG, SELFMAG);
    cubin.e_ident[EI_CLASS] = ELFCLASS64;
    void *module;
    cr_assert_eq(cuda->module_load(device, &module, QUERN_IMAGE_CUBIN, &cubin, sizeof cubin),
                 QUERN_OK, "%s", quern_last_error()->message);
    return module;
}

/** Launch saxpy over four numbers and check what it computed. */
static inline quern_status launch_with(quern_device *device, const quern_launch_config *config)
{
    float a = 2, x[4] = {1, 2, 3, 4}, y[4] = {1, 1, 1, 1}, z[4] = {0};
    float *px = x, *py = y, *pz = z;
    int n = 4;
    void *parameters[] = {&a, &px, &py, &pz, &n};
    void *module = load(device), *saxpy;
    cr_assert_eq(cuda->function_get(device, &saxpy, module, "saxpy"), QUERN_OK);
    quern_status status = cuda->launch(device, saxpy, config, parameters);
    cuda->module_free(device, module);
    if (status == QUERN_OK) {
        cr_assert_eq(z[3], 9);
    }
    return status;
}

#endif /* FAKE_DEVICE_H */
