/* SPDX-License-Identifier: MIT
 *
 * Textures and surfaces of the GPU. In: what the engine has checked: elements that texture units
 * know, and how they are to be read. Out: CUDA arrays, copies to and from them that are queued, and
 * the driver's numbers for texture and surface objects. What only the driver knows, how large and
 * how aligned things may be, is looked at here, because it says no more than "invalid argument".
 */
#include "device/cuda/cuda_device.h"

/* ---- elements ------------------------------------------------------------------------------- */

static const struct format {
    int32_t dtype;
    int number;
    size_t bytes;
} formats[] = {
    {QUERN_UINT8, CU_UINT8, 1},     {QUERN_UINT16, CU_UINT16, 2},   {QUERN_UINT32, CU_UINT32, 4},
    {QUERN_INT8, CU_INT8, 1},       {QUERN_INT16, CU_INT16, 2},     {QUERN_INT32, CU_INT32, 4},
    {QUERN_FLOAT16, CU_FLOAT16, 2}, {QUERN_FLOAT32, CU_FLOAT32, 4},
};

static const struct format *find_format(const quern_texels *t)
{
    size_t k = 0;
    while (k < QN_COUNT(formats) - 1 && formats[k].dtype != t->dtype) {
        k++;
    }
    return &formats[k];
}

static int format_of(const quern_texels *t)
{
    return find_format(t)->number;
}

static size_t element_bytes(const quern_texels *t)
{
    return find_format(t)->bytes * t->channels;
}

static size_t extent(const quern_texels *t, int axis)
{
    return (size_t)QN_MAX(t->extent[axis], (uint64_t)1);
}

/* ---- limits --------------------------------------------------------------------------------- */

/* Elements that every GPU reads as linear memory. How many more one can is known for each format by
 * a function of the driver alone, and by its refusal. CUDA C++ Programming Guide, technical
 * specifications: 2^27 for compute capability 5, 2^28 from 6 on. */
#define LINEAR_SURE (UINT64_C(1) << 27)

static const char *const axes[] = {"width", "height", "depth"};

/* Compare the extents with attributes `first` and those that follow it. */
static quern_status check_extents(const cuda_device *device, const quern_texels *t, int first,
                                  int count)
{
    for (int k = 0; k < count; k++) {
        const bool layers = t->layered && k == count - 1;
        const int axis = layers ? 2 : k;
        const uint64_t most = (uint64_t)qn_cuda_attribute(device->handle, first + k);
        if (most > 0 && t->extent[axis] > most) {
            return qn_fail(QUERN_ERROR_SHAPE, "the %s is %llu, and this GPU takes at most %llu",
                           layers ? "number of layers" : axes[axis],
                           (unsigned long long)t->extent[axis], (unsigned long long)most);
        }
    }
    return QUERN_OK;
}

static quern_status check_array(const cuda_device *device, const quern_texels *t)
{
    if (t->layered) {
        return t->extent[1] ? check_extents(device, t, CU_MAX_TEXTURE_2D_LAYERED, 3)
                            : check_extents(device, t, CU_MAX_TEXTURE_1D_LAYERED, 2);
    }
    return t->extent[2]   ? check_extents(device, t, CU_MAX_TEXTURE_3D, 3)
           : t->extent[1] ? check_extents(device, t, CU_MAX_TEXTURE_2D, 2)
                          : check_extents(device, t, CU_MAX_TEXTURE_1D, 1);
}

static quern_status check_aligned(const cuda_device *device, const char *what, uint64_t value,
                                  cu_device_attribute attribute, const char *advice)
{
    const uint64_t wanted = (uint64_t)qn_cuda_attribute(device->handle, attribute);
    if (wanted == 0 || value % wanted == 0) {
        return QUERN_OK;
    }
    return qn_fail(QUERN_ERROR_SHAPE, "%s %% %llu is %llu, and textures of this GPU need 0: %s",
                   what, (unsigned long long)wanted, (unsigned long long)(value % wanted), advice);
}

static quern_status check_memory(const cuda_device *device, const void *memory,
                                 const quern_texels *t)
{
    QN_TRY(check_aligned(device, "the array's address", cuda_address(memory), CU_TEXTURE_ALIGNMENT,
                         "copy it (quern_array_copy)"));
    if (t->pitch == 0) {
        return QUERN_OK;
    }
    QN_TRY(check_extents(device, t, CU_MAX_TEXTURE_PITCHED, 2));
    const uint64_t most = (uint64_t)qn_cuda_attribute(device->handle, CU_MAX_TEXTURE_PITCHED + 2);
    if (most > 0 && t->pitch > most) {
        return qn_fail(QUERN_ERROR_SHAPE,
                       "rows are %llu bytes apart, and this GPU takes at most %llu: copy the array "
                       "(quern_array_copy), or use a CUDA array",
                       (unsigned long long)t->pitch, (unsigned long long)most);
    }
    return check_aligned(device, "the distance of rows in bytes", t->pitch,
                         CU_TEXTURE_PITCH_ALIGNMENT,
                         "allocate wider rows and slice them, or use a CUDA array");
}

/* ---- CUDA arrays ---------------------------------------------------------------------------- */

quern_status qn_cuda_array_new(quern_device *quern, void **out, const quern_texels *t)
{
    *out = NULL;
    cuda_device *device = cuda_of(quern);
    const cu_array_descriptor descriptor = {
        .width = t->extent[0],
        .height = t->extent[1],
        .depth = t->extent[2],
        .format = format_of(t),
        .channels = t->channels,
        .flags = (t->layered ? CU_ARRAY_LAYERED : 0u) | (t->surface ? CU_ARRAY_SURFACE : 0u) |
                 (t->gather ? CU_ARRAY_GATHER : 0u),
    };
    QN_TRY(check_array(device, t));
    cu_array array = NULL;
    cu_result result;
    CUDA_IN_RELAXED(device, result, true, qn_cuda.array_new(&array, &descriptor));
    CUDA_CHECK(result, "making a CUDA array");
    *out = array;
    return QUERN_OK;
}

void qn_cuda_array_free(quern_device *quern, void *array)
{
    cu_result result;
    CUDA_IN_RELAXED(cuda_of(quern), result, true, qn_cuda.array_free(array));
    (void)result; /* after a kernel's failure everything fails, and the context frees it all */
}

quern_status qn_cuda_array_copy(quern_device *quern, void *array, void *memory,
                                const quern_texels *t, int to_array, void *stream)
{
    const size_t row = extent(t, 0) * element_bytes(t);
    const cu_copy_side inside = {.memory = CU_MEMORY_ARRAY, .array = array};
    const cu_copy_side outside = {.memory = CU_MEMORY_UNIFIED,
                                  .device = cuda_address(memory),
                                  .pitch = row,
                                  .height = extent(t, 1)};
    const cu_copy_3d copy = {.from = to_array ? outside : inside,
                             .to = to_array ? inside : outside,
                             .width = row,
                             .height = extent(t, 1),
                             .depth = extent(t, 2)};
    cu_result result;
    CUDA_IN(cuda_of(quern), result, qn_cuda.copy_3d(&copy, stream));
    CUDA_CHECK(result, to_array ? "copying to a CUDA array" : "copying from a CUDA array");
    return QUERN_OK;
}

/* ---- textures ------------------------------------------------------------------------------- */

static cu_resource resource_of(void *array, const void *memory, const quern_texels *t)
{
    cu_resource resource = {.type = CU_RESOURCE_ARRAY};
    if (array) {
        resource.of.array = array;
    } else if (t->pitch > 0) {
        resource.type = CU_RESOURCE_PITCHED;
        resource.of.pitched.device = cuda_address(memory);
        resource.of.pitched.format = format_of(t);
        resource.of.pitched.channels = t->channels;
        resource.of.pitched.width = t->extent[0];
        resource.of.pitched.height = t->extent[1];
        resource.of.pitched.pitch = t->pitch;
    } else {
        resource.type = CU_RESOURCE_LINEAR;
        resource.of.linear.device = cuda_address(memory);
        resource.of.linear.format = format_of(t);
        resource.of.linear.channels = t->channels;
        resource.of.linear.bytes = t->extent[0] * element_bytes(t);
    }
    return resource;
}

/* The mode along an axis. A texture of one dimension has a second one for the driver, of one
 * element that lies half beside the coordinate: its mode must not be the border. */
static int address_of(const quern_texture_options *o, const quern_texels *t, int axis)
{
    const bool is_there = t->extent[axis] > 0 && !(t->layered && axis == 2);
    return is_there ? (int)o->address[axis] : QUERN_ADDRESS_CLAMP;
}

/* The flag is for integers: floats are read as they are. */
static cu_texture_descriptor descriptor_of(const quern_texture_options *o, const quern_texels *t)
{
    const bool integer = t->dtype != QUERN_FLOAT16 && t->dtype != QUERN_FLOAT32;
    return (cu_texture_descriptor){
        .address = {address_of(o, t, 0), address_of(o, t, 1), address_of(o, t, 2)},
        .filter = (int)o->filter,
        .flags = (integer && o->read == QUERN_READ_ELEMENT ? CU_READ_AS_INTEGER : 0u) |
                 (o->normalized ? CU_NORMALIZED_COORDINATES : 0u) | (o->srgb ? CU_SRGB : 0u),
        .max_anisotropy = o->max_anisotropy,
        .border = {o->border[0], o->border[1], o->border[2], o->border[3]},
    };
}

quern_status qn_cuda_texture_new(quern_device *quern, uint64_t *out, void *array,
                                 const void *memory, const quern_texels *texels,
                                 const quern_texture_options *options)
{
    *out = 0;
    cuda_device *device = cuda_of(quern);
    if (!array) {
        QN_TRY(check_memory(device, memory, texels));
    }
    const cu_resource resource = resource_of(array, memory, texels);
    const cu_texture_descriptor descriptor = descriptor_of(options, texels);
    cu_texels texture = 0;
    cu_result result;
    CUDA_IN_RELAXED(device, result, true,
                    qn_cuda.texture_new(&texture, &resource, &descriptor, NULL));
    if (result == CU_INVALID_VALUE && texels->extent[0] > LINEAR_SURE) {
        return qn_fail(QUERN_ERROR_SHAPE,
                       "the driver makes no linear texture of %llu elements: take a part of the "
                       "array, or a CUDA array of more dimensions",
                       (unsigned long long)texels->extent[0]);
    }
    CUDA_CHECK(result, "making a texture");
    *out = texture;
    return QUERN_OK;
}

void qn_cuda_texture_free(quern_device *quern, uint64_t texture)
{
    cu_result result;
    CUDA_IN_RELAXED(cuda_of(quern), result, true, qn_cuda.texture_free(texture));
    (void)result;
}

/* ---- surfaces ------------------------------------------------------------------------------- */

quern_status qn_cuda_surface_new(quern_device *quern, uint64_t *out, void *array)
{
    *out = 0;
    const cu_resource resource = {.type = CU_RESOURCE_ARRAY, .of.array = array};
    cu_texels surface = 0;
    cu_result result;
    CUDA_IN_RELAXED(cuda_of(quern), result, true, qn_cuda.surface_new(&surface, &resource));
    CUDA_CHECK(result, "making a surface");
    *out = surface;
    return QUERN_OK;
}

void qn_cuda_surface_free(quern_device *quern, uint64_t surface)
{
    cu_result result;
    CUDA_IN_RELAXED(cuda_of(quern), result, true, qn_cuda.surface_free(surface));
    (void)result;
}
