/* SPDX-License-Identifier: MIT
 *
 * The stand-in's CUDA arrays, textures and surfaces. A CUDA array is memory in C order; a texture
 * or a surface is a number, and what it was made of is kept for the test. Refuses what the driver
 * would refuse: extents of 0, unknown formats, memory off its alignment, things that are not there.
 */
#include "fake_libcuda_inside.h"

#include <stdbool.h>
#include <string.h>

enum { MOST = 32, FIRST_TEXTURE = 1000, FIRST_SURFACE = 2000 };
enum { TEXTURE_ALIGNMENT = 256, PITCH_ALIGNMENT = 32 };

struct CUarray_st {
    cu_array_descriptor descriptor; /* width 0: there is no such array */
    cu_pointer memory;
};
static struct CUarray_st arrays[MOST];
static bool textures[MOST], surfaces[MOST];

static size_t bytes_of_format(int format)
{
    switch (format) {
    case CU_UINT8:
    case CU_INT8:
        return 1;
    case CU_UINT16:
    case CU_INT16:
    case CU_FLOAT16:
        return 2;
    case CU_UINT32:
    case CU_INT32:
    case CU_FLOAT32:
        return 4;
    default:
        return 0;
    }
}

static bool is_format(int format, unsigned channels)
{
    return bytes_of_format(format) > 0 && (channels == 1 || channels == 2 || channels == 4);
}

static size_t at_least_one(size_t extent)
{
    return extent > 0 ? extent : 1;
}

static size_t row_bytes(const cu_array_descriptor *d)
{
    return d->width * bytes_of_format(d->format) * d->channels;
}

static bool is_array(cu_array array)
{
    return array >= arrays && array < arrays + MOST && array->descriptor.width > 0;
}

int fake_texels(void)
{
    int count = 0;
    for (int k = 0; k < MOST; k++) {
        count += (arrays[k].descriptor.width > 0) + textures[k] + surfaces[k];
    }
    return count;
}

/* ---- CUDA arrays ---------------------------------------------------------------------------- */

cu_result cuArray3DCreate_v2(cu_array *array, const cu_array_descriptor *descriptor)
{
    UNSAFE(cuArray3DCreate_v2);
    if (descriptor->width == 0 || !is_format(descriptor->format, descriptor->channels)) {
        return CU_INVALID_VALUE;
    }
    int k = 0;
    while (arrays[k].descriptor.width > 0) {
        k++;
    }
    const size_t bytes =
        row_bytes(descriptor) * at_least_one(descriptor->height) * at_least_one(descriptor->depth);
    const cu_result result = fake_take(&arrays[k].memory, bytes, FAKE_PLAIN);
    if (result == CU_SUCCESS) {
        arrays[k].descriptor = *descriptor;
        *array = &arrays[k];
    }
    fake_control.last_array = *descriptor;
    return result;
}

cu_result cuArrayDestroy(cu_array array)
{
    UNSAFE(cuArrayDestroy);
    if (!is_array(array)) {
        return CU_INVALID_VALUE;
    }
    array->descriptor.width = 0;
    return fake_give(array->memory, 1u << FAKE_PLAIN);
}

/* Where a side of a copy begins; NULL: not in rows without gaps, of which all are copied. */
static void *begin_of(const cu_copy_side *side, const cu_copy_3d *copy)
{
    if (side->memory == CU_MEMORY_ARRAY) {
        const cu_array_descriptor *d = is_array(side->array) ? &side->array->descriptor : NULL;
        const bool whole = d && copy->width == row_bytes(d) &&
                           copy->height == at_least_one(d->height) &&
                           copy->depth == at_least_one(d->depth);
        return whole ? (void *)(uintptr_t)side->array->memory : NULL;
    }
    const bool whole = side->pitch == copy->width && side->height == copy->height;
    return side->memory == CU_MEMORY_UNIFIED && whole ? (void *)(uintptr_t)side->device : NULL;
}

cu_result cuMemcpy3DAsync_v2(const cu_copy_3d *copy, cu_stream stream)
{
    BOUND(cuMemcpy3DAsync_v2);
    void *from = begin_of(&copy->from, copy), *to = begin_of(&copy->to, copy);
    const fake_node node = {.kind = FAKE_COPY,
                            .to = to,
                            .from = from,
                            .bytes = copy->width * copy->height * copy->depth};
    return from && to ? fake_queue(stream, &node, NULL) : CU_INVALID_VALUE;
}

/* ---- textures and surfaces ------------------------------------------------------------------ */

static cu_result make(bool *all, int first, cu_texels *out)
{
    int k = 0;
    while (all[k]) {
        k++;
    }
    all[k] = true;
    *out = (cu_texels)(first + k);
    return CU_SUCCESS;
}

static cu_result drop(bool *all, int first, cu_texels number)
{
    const cu_texels k = number - (cu_texels)first;
    if (k >= MOST || !all[k]) {
        return CU_INVALID_VALUE;
    }
    all[k] = false;
    return CU_SUCCESS;
}

static bool can_be_read(const cu_resource *r)
{
    switch (r->type) {
    case CU_RESOURCE_ARRAY:
        return is_array(r->of.array);
    case CU_RESOURCE_LINEAR:
        return is_format(r->of.linear.format, r->of.linear.channels) && r->of.linear.bytes > 0 &&
               r->of.linear.device % TEXTURE_ALIGNMENT == 0;
    case CU_RESOURCE_PITCHED:
        return is_format(r->of.pitched.format, r->of.pitched.channels) && r->of.pitched.width > 0 &&
               r->of.pitched.height > 0 && r->of.pitched.pitch % PITCH_ALIGNMENT == 0;
    default:
        return false;
    }
}

cu_result cuTexObjectCreate(cu_texels *texture, const cu_resource *resource,
                            const cu_texture_descriptor *descriptor, const void *view)
{
    UNSAFE(cuTexObjectCreate);
    fake_control.last_resource = *resource;
    fake_control.last_texture = *descriptor;
    return can_be_read(resource) && !view ? make(textures, FIRST_TEXTURE, texture)
                                          : CU_INVALID_VALUE;
}

cu_result cuTexObjectDestroy(cu_texels texture)
{
    UNSAFE(cuTexObjectDestroy);
    return drop(textures, FIRST_TEXTURE, texture);
}

cu_result cuSurfObjectCreate(cu_texels *surface, const cu_resource *resource)
{
    UNSAFE(cuSurfObjectCreate);
    const bool fits = resource->type == CU_RESOURCE_ARRAY && is_array(resource->of.array) &&
                      resource->of.array->descriptor.flags & CU_ARRAY_SURFACE;
    return fits ? make(surfaces, FIRST_SURFACE, surface) : CU_INVALID_VALUE;
}

cu_result cuSurfObjectDestroy(cu_texels surface)
{
    UNSAFE(cuSurfObjectDestroy);
    return drop(surfaces, FIRST_SURFACE, surface);
}
