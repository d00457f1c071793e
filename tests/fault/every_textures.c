/* SPDX-License-Identifier: MIT
 *
 * Textures for fault_every.c: an engine over the software device, with stand-ins for what that
 * lacks, and one of each object of it.
 */
#include "device/device_internal.h"
#include "every.h"
#include <criterion/criterion.h>

#define OK(call) cr_assert_eq((call), QUERN_OK, "%s: %s", #call, quern_last_error_text())

quern_array *texels;
quern_cuda_array *cuda_array, *made_cuda_array;
quern_texture *texture, *made_texture;
quern_surface *surface, *made_surface;

const quern_cuda_array_options *bad_cuda_array(int k)
{
    static quern_cuda_array_options o;
    o = (quern_cuda_array_options)QUERN_CUDA_ARRAY_OPTIONS_INIT;
    o.size = k == 0 ? 0 : o.size;
    o.reserved = k == 1;
    o.channels = k == 2 ? 3 : 0;
    o.layered = k == 3 ? 2 : 0;
    return &o;
}

const quern_texture_options *bad_texture(int k)
{
    static quern_texture_options o;
    o = (quern_texture_options)QUERN_TEXTURE_OPTIONS_INIT;
    o.size = k == 0 ? 0 : o.size;
    o.reserved = k == 1;
    o.address[2] = k == 2 ? 4 : 0;
    o.read = k == 3 ? 2 : 0;
    return &o;
}

/* ---- what the software device has not -------------------------------------------------------- */

static quern_status array_made(quern_device *device, void **out, const quern_texels *t)
{
    (void)device, (void)t;
    *out = &dead;
    return QUERN_OK;
}

static void array_freed(quern_device *device, void *made)
{
    (void)device, (void)made;
}

static quern_status copied(quern_device *device, void *made, void *memory, const quern_texels *t,
                           int to_array, void *on)
{
    (void)device, (void)made, (void)memory, (void)t, (void)to_array, (void)on;
    return QUERN_OK;
}

static quern_status texture_made(quern_device *device, uint64_t *out, void *made,
                                 const void *memory, const quern_texels *t,
                                 const quern_texture_options *o)
{
    (void)device, (void)made, (void)memory, (void)t, (void)o;
    *out = 1;
    return QUERN_OK;
}

static quern_status surface_made(quern_device *device, uint64_t *out, void *made)
{
    (void)device, (void)made;
    *out = 2;
    return QUERN_OK;
}

static void number_freed(quern_device *device, uint64_t number)
{
    (void)device, (void)number;
}

/* ---- one of each ---------------------------------------------------------------------------- */

void make_textures(void)
{
    static quern_device_methods with;
    with = qn_soft_device;
    with.name = "textured";
    with.cuda_array_new = array_made;
    with.cuda_array_free = array_freed;
    with.cuda_array_copy = copied;
    with.texture_new = texture_made;
    with.texture_free = number_freed;
    with.surface_new = surface_made;
    with.surface_free = number_freed;
    quern_engine *textured;
    quern_cuda_array_options o = QUERN_CUDA_ARRAY_OPTIONS_INIT;
    o.surface = 1;
    OK(quern_open_device(&textured, &with, NULL));
    OK(quern_array_new(&texels, textured, QUERN_INT32, 2, (const int64_t[]){8, 8}));
    OK(quern_cuda_array_new(&cuda_array, textured, QUERN_INT32, 2, (const int64_t[]){8, 8}, &o));
    OK(quern_texture_new(&texture, cuda_array, NULL));
    OK(quern_surface_new(&surface, cuda_array));
    quern_close(textured);
}

void release_textures(void)
{
    quern_cuda_array_release(made_cuda_array);
    quern_texture_release(made_texture);
    quern_surface_release(made_surface);
    for (int k = 0; k < 2; k++) { /* once for the _retain in the list */
        quern_cuda_array_release(cuda_array);
        quern_texture_release(texture);
        quern_surface_release(surface);
    }
    quern_array_release(texels);
}
