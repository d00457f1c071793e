/* SPDX-License-Identifier: MIT
 *
 * texture: texture and surface objects. In: what they read, a CUDA array or an array of device
 * memory, and how. Out: objects over the numbers that kernels take, which hold what they read. The
 * thing to know: what texture units would silently read as something else is refused here.
 */
#include "engine/textures/textures.h"

/* ---- how a texture reads -------------------------------------------------------------------- */

static quern_status check_number(const char *name, uint32_t value, uint32_t most)
{
    return value <= most
               ? QUERN_OK
               : qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                         "quern_texture_options.%s is %u, allowed are 0 to %u", name, value, most);
}

static quern_status check_numbers(const quern_texture_options *o)
{
    for (int k = 0; k < 3; k++) {
        QN_TRY(check_number("address", o->address[k], QUERN_ADDRESS_BORDER));
    }
    QN_TRY(check_number("filter", o->filter, QUERN_FILTER_LINEAR));
    QN_TRY(check_number("read", o->read, QUERN_READ_NORMALIZED));
    QN_TRY(check_number("normalized", o->normalized, 1));
    QN_TRY(check_number("srgb", o->srgb, 1));
    return check_number("max_anisotropy", o->max_anisotropy, 16);
}

static bool is_float(int32_t dtype)
{
    return dtype == QUERN_FLOAT16 || dtype == QUERN_FLOAT32;
}

/* Does it read what elements of this dtype can give? */
static quern_status check_reads(const quern_texture_options *o, int32_t dtype)
{
    const char *name = quern_dtype_name((quern_dtype)dtype);
    const bool normalized = o->read == QUERN_READ_NORMALIZED;
    if (normalized && (is_float(dtype) || quern_dtype_size((quern_dtype)dtype) > 2)) {
        return qn_fail(QUERN_ERROR_TYPE,
                       "%s is not read as normalized floats: integers of 8 and 16 bits are", name);
    }
    if (o->filter == QUERN_FILTER_LINEAR && !normalized && !is_float(dtype)) {
        return qn_fail(QUERN_ERROR_TYPE,
                       "%s is not filtered linearly: floats are, and integers that are read as "
                       "normalized floats (QUERN_READ_NORMALIZED)",
                       name);
    }
    if (o->srgb && (dtype != QUERN_UINT8 || !normalized)) {
        return qn_fail(QUERN_ERROR_TYPE,
                       "sRGB is for uint8 that is read as normalized floats, not for %s", name);
    }
    return QUERN_OK;
}

static quern_status take_options(quern_texture_options *o, const quern_texture_options *given,
                                 int32_t dtype)
{
    QN_TRY(qn_prefix_take(o, QN_PREFIX_RESERVED(quern_texture_options), given));
    QN_TRY(check_numbers(o));
    return check_reads(o, dtype);
}

/* ---- making --------------------------------------------------------------------------------- */

/* What is read. */
typedef struct source {
    qn_home *home;
    quern_cuda_array *cuda_array; /* this, or */
    quern_array *array;
    quern_texels texels;
} source;

/* Fill an object whose handle the device has made. */
static void begin(qn_texel_object *t, qn_object_type type, const source *s)
{
    t->free_handle =
        type == QN_OBJECT_TEXTURE ? s->home->methods->texture_free : s->home->methods->surface_free;
    atomic_init(&t->references, 1);
    t->home = s->home;
    qn_home_retain(s->home);
    t->cuda_array = s->cuda_array ? quern_cuda_array_retain(s->cuda_array) : NULL;
    t->array = s->array ? quern_array_retain(s->array) : NULL;
    t->object = type;
}

static quern_status make(quern_texture **out, const source *s, const quern_texture_options *o)
{
    quern_texture *texture = qn_calloc(1, sizeof *texture);
    if (!texture) {
        return qn_fail_memory("making a texture");
    }
    const quern_status status = s->home->methods->texture_new(
        s->home->device, &texture->is.handle, s->cuda_array ? s->cuda_array->handle : NULL,
        s->array ? s->array->data : NULL, &s->texels, o);
    if (status != QUERN_OK) {
        qn_free(texture);
        return status;
    }
    begin(&texture->is, QN_OBJECT_TEXTURE, s);
    *out = texture;
    return QUERN_OK;
}

quern_status quern_texture_new(quern_texture **out, quern_cuda_array *cuda_array,
                               const quern_texture_options *options)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(cuda_array, QN_OBJECT_CUDA_ARRAY);
    quern_texture_options o;
    QN_TRY(take_options(&o, options, cuda_array->texels.dtype));
    return make(
        out,
        &(source){.home = cuda_array->home, .cuda_array = cuda_array, .texels = cuda_array->texels},
        &o);
}

/* ---- textures of memory --------------------------------------------------------------------- */

/* Check what both kinds need, and begin to describe the elements. */
static quern_status take_array(source *s, quern_texture_options *o, quern_array *array,
                               uint32_t channels, const quern_texture_options *options)
{
    QN_TRY(qn_texels_check(array->dtype, channels));
    QN_TRY(take_options(o, options, (int32_t)array->dtype));
    QN_TRY(qn_textures_check(array->buffer->home));
    if (array->count == 0) {
        return qn_fail(QUERN_ERROR_SHAPE, "the array has no elements that a texture could read");
    }
    *s = (source){
        .home = array->buffer->home,
        .array = array,
        .texels = {.size = sizeof s->texels, .dtype = (int32_t)array->dtype, .channels = channels}};
    return QUERN_OK;
}

static quern_status refuse_channels(const quern_array *array, uint32_t channels, int64_t count)
{
    qn_text shape = {0};
    qn_shape_print(&shape, array->ndim, array->shape);
    const quern_status status =
        qn_fail(QUERN_ERROR_SHAPE,
                "the array of shape %s has %lld numbers, which %u channels do not divide",
                shape.data ? shape.data : "(...)", (long long)count, channels);
    qn_text_free(&shape);
    return status;
}

quern_status quern_texture_new_linear(quern_texture **out, quern_array *array, uint32_t channels,
                                      const quern_texture_options *options)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    source s;
    quern_texture_options o;
    QN_TRY(take_array(&s, &o, array, channels, options));
    if (!array->contiguous) {
        return qn_fail(QUERN_ERROR_SHAPE,
                       "a texture reads linear memory without gaps, and the array is not "
                       "C-contiguous: copy it (quern_array_copy)");
    }
    if (array->count % channels != 0) {
        return refuse_channels(array, channels, array->count);
    }
    s.texels.extent[0] = (uint64_t)array->count / channels;
    return make(out, &s, &o);
}

static quern_status check_rows(const quern_array *array, uint32_t channels)
{
    if (array->ndim != 2 && array->ndim != 3) {
        return qn_fail(QUERN_ERROR_SHAPE,
                       "a pitched texture reads an array of shape (height, width) or (height, "
                       "width, channels), and this one has %d dimension%s",
                       array->ndim, array->ndim == 1 ? "" : "s");
    }
    if (array->ndim == 3 && array->shape[2] != channels) {
        return qn_fail(QUERN_ERROR_SHAPE,
                       "the third extent counts channels and is %lld, but there are %u",
                       (long long)array->shape[2], channels);
    }
    if (array->ndim == 2 && array->shape[1] % channels != 0) {
        return refuse_channels(array, channels, array->shape[1]);
    }
    int64_t wanted = array->item_size;
    for (int k = array->ndim - 1; k > 0; k--) {
        if (array->shape[k] > 1 && array->strides[k] != wanted) {
            return qn_fail(QUERN_ERROR_SHAPE,
                           "a pitched texture reads rows without gaps, and extent %d has a stride "
                           "of %lld bytes where %lld are expected: copy it (quern_array_copy)",
                           k, (long long)array->strides[k], (long long)wanted);
        }
        wanted *= array->shape[k];
    }
    if (array->shape[0] > 1 && array->strides[0] < wanted) {
        return qn_fail(QUERN_ERROR_SHAPE,
                       "rows of %lld bytes are %lld bytes apart, and a texture needs them one "
                       "after the other: copy the array (quern_array_copy)",
                       (long long)wanted, (long long)array->strides[0]);
    }
    return QUERN_OK;
}

/* Bytes from row to row. With one row any number will do that the GPU takes. */
static uint64_t pitch_of(const quern_array *array)
{
    if (array->shape[0] > 1) {
        return (uint64_t)array->strides[0];
    }
    const uint64_t row = (uint64_t)array->count * array->item_size;
    return (row + 511) / 512 * 512;
}

quern_status quern_texture_new_pitched(quern_texture **out, quern_array *array, uint32_t channels,
                                       const quern_texture_options *options)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    source s;
    quern_texture_options o;
    QN_TRY(take_array(&s, &o, array, channels, options));
    QN_TRY(check_rows(array, channels));
    s.texels.extent[0] = (uint64_t)(array->count / array->shape[0]) / channels;
    s.texels.extent[1] = (uint64_t)array->shape[0];
    s.texels.pitch = pitch_of(array);
    return make(out, &s, &o);
}

/* ---- surfaces ------------------------------------------------------------------------------- */

quern_status quern_surface_new(quern_surface **out, quern_cuda_array *cuda_array)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(cuda_array, QN_OBJECT_CUDA_ARRAY);
    if (!cuda_array->texels.surface) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "no surface can be made of this CUDA array: set "
                       "quern_cuda_array_options.surface when it is made");
    }
    quern_surface *surface = qn_calloc(1, sizeof *surface);
    if (!surface) {
        return qn_fail_memory("making a surface");
    }
    qn_home *home = cuda_array->home;
    const quern_status status =
        home->methods->surface_new(home->device, &surface->is.handle, cuda_array->handle);
    if (status != QUERN_OK) {
        qn_free(surface);
        return status;
    }
    begin(&surface->is, QN_OBJECT_SURFACE, &(source){.home = home, .cuda_array = cuda_array});
    *out = surface;
    return QUERN_OK;
}

/* ---- references ----------------------------------------------------------------------------- */

/* `object`: a texture or a surface, whose first member is what they have in common; or NULL. */
static void retain(void *object, qn_object_type type)
{
    qn_texel_object *t = object;
    if (qn_object_is(t, type)) {
        atomic_fetch_add_explicit(&t->references, 1, memory_order_relaxed);
    }
}

static void end(qn_deferred *deferred)
{
    qn_texel_object *t =
        (qn_texel_object *)(void *)((char *)deferred - offsetof(qn_texel_object, deferred));
    qn_home *home = t->home;
    (void)home->methods->synchronize(home->device); /* the next call that waits says what failed */
    t->free_handle(home->device, t->handle);
    quern_cuda_array_release(t->cuda_array);
    quern_array_release(t->array);
    qn_free(t);
    qn_home_release(home);
}

static void release(const char *function, void *object, qn_object_type type)
{
    qn_texel_object *t = object;
    if (qn_object_can_free(function, t, type) &&
        atomic_fetch_sub_explicit(&t->references, 1, memory_order_acq_rel) == 1) {
        qn_object_end(&t->object);
        qn_texels_end(t->home, &t->deferred, end);
    }
}

uint64_t quern_texture_handle(const quern_texture *texture)
{
    return qn_object_is(texture, QN_OBJECT_TEXTURE) ? texture->is.handle : 0;
}

quern_texture *quern_texture_retain(quern_texture *texture)
{
    retain(texture, QN_OBJECT_TEXTURE);
    return texture;
}

void quern_texture_release(quern_texture *texture)
{
    release(__func__, texture, QN_OBJECT_TEXTURE);
}

uint64_t quern_surface_handle(const quern_surface *surface)
{
    return qn_object_is(surface, QN_OBJECT_SURFACE) ? surface->is.handle : 0;
}

quern_surface *quern_surface_retain(quern_surface *surface)
{
    retain(surface, QN_OBJECT_SURFACE);
    return surface;
}

void quern_surface_release(quern_surface *surface)
{
    release(__func__, surface, QN_OBJECT_SURFACE);
}
