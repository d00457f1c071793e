/* SPDX-License-Identifier: MIT
 *
 * For tests that use textures: a module of kernels that do, where the device has them; a skip where
 * it has none; CUDA arrays that are filled; numbers.
 */
#ifndef QUERN_TEST_TEXTURED_H
#define QUERN_TEST_TEXTURED_H

#include "whole.h"

#include "texture_kernels.h"
#include <math.h>

static inline bool has_textures(void)
{
    quern_cuda_array *c;
    const quern_status status = quern_cuda_array_new(&c, engine, QUERN_FLOAT32, SHAPE(2), NULL);
    if (status != QUERN_ERROR_NOT_SUPPORTED) {
        cr_assert_eq(status, QUERN_OK, "%s", quern_last_error_text());
    }
    quern_cuda_array_release(c);
    return status == QUERN_OK;
}

static quern_module *module;

static inline void open_textures(void)
{
    whole_open();
    if (has_textures()) {
        module = texture_module();
    }
}

static inline void close_textures(void)
{
    quern_module_release(module);
    module = NULL;
    whole_close();
}

#define NEEDS_TEXTURES()                                                                           \
    do {                                                                                           \
        if (!module) {                                                                             \
            cr_skip_test("the device of QUERN_DEVICE has no textures: a GPU has");                 \
        }                                                                                          \
    } while (0)

static inline quern_function *function_of(const char *name)
{
    quern_function *f;
    OK(quern_module_function(&f, module, name));
    return f;
}

static inline quern_cuda_array *filled(quern_array *from, int ndim, const int64_t *shape,
                                       quern_cuda_array_options o)
{
    quern_cuda_array *c;
    o.size = sizeof o;
    OK(quern_cuda_array_new(&c, engine, quern_array_dtype(from), ndim, shape, &o));
    OK(quern_cuda_array_write_on(c, from, NULL));
    return c;
}

/* Numbers that have no pattern, in [0, 1). */
static inline float number(uint32_t k)
{
    k = (k ^ 61) ^ (k >> 16);
    k *= 9;
    k ^= k >> 4;
    k *= 0x27d4eb2d;
    k ^= k >> 15;
    return (float)(k >> 8) / (float)(1 << 24);
}

#endif /* QUERN_TEST_TEXTURED_H */
