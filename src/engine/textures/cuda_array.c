/* SPDX-License-Identifier: MIT
 *
 * cuda_array: memory that only texture units and copies reach. In: a dtype, channels, extents;
 * arrays to copy from and to. Out: an object over the device's handle, and queued copies. The thing
 * to know: the device copies only what lies in C order without gaps, so other arrays take the way
 * over one that does.
 */
#include "engine/textures/textures.h"
#include <string.h>

/* ---- what it can be made of ----------------------------------------------------------------- */

quern_status qn_textures_check(const qn_home *home)
{
    if (home->methods->cuda_array_new) {
        return QUERN_OK;
    }
    return qn_fail(QUERN_ERROR_NOT_SUPPORTED,
                   "texture objects need a GPU: the device \"%s\" has no textures and surfaces",
                   home->place);
}

quern_status qn_texels_check(quern_dtype dtype, uint32_t channels)
{
    static const quern_dtype dtypes[] = {QUERN_INT8,   QUERN_INT16,  QUERN_INT32,   QUERN_UINT8,
                                         QUERN_UINT16, QUERN_UINT32, QUERN_FLOAT16, QUERN_FLOAT32};
    bool known = false;
    for (size_t k = 0; k < QN_COUNT(dtypes); k++) {
        known |= dtypes[k] == dtype;
    }
    if (!known) {
        const char *name = quern_dtype_name(dtype);
        return qn_fail(QUERN_ERROR_TYPE,
                       "a channel of a texture cannot be %s: int8, int16, int32, uint8, uint16, "
                       "uint32, float16 or float32 is expected",
                       name[0] ? name : "of an unknown dtype");
    }
    if (channels != 1 && channels != 2 && channels != 4) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "an element of a texture has 1, 2 or 4 channels, not %u", channels);
    }
    return QUERN_OK;
}

static quern_status check_shape(int ndim, const int64_t *shape, const quern_cuda_array_options *o)
{
    const int least = o->layered ? 2 : 1;
    if (ndim < least || ndim > 3) {
        return qn_fail(QUERN_ERROR_SHAPE, "a%s CUDA array has %d to 3 dimensions, not %d",
                       o->layered ? " layered" : "", least, ndim);
    }
    if (!shape) {
        return qn_null_refuse("quern_cuda_array_new", "shape");
    }
    for (int k = 0; k < ndim; k++) {
        if (shape[k] <= 0) {
            return qn_fail(QUERN_ERROR_SHAPE,
                           "extent %d of the CUDA array is %lld, but must be at least 1", k,
                           (long long)shape[k]);
        }
    }
    if (o->gather && (ndim != 2 || o->layered)) {
        return qn_fail(QUERN_ERROR_SHAPE,
                       "tex2Dgather() reads CUDA arrays of two dimensions that are not layered");
    }
    return QUERN_OK;
}

static quern_status check_flags(const quern_cuda_array_options *o)
{
    const struct {
        const char *name;
        uint32_t value;
    } flags[] = {{"layered", o->layered}, {"surface", o->surface}, {"gather", o->gather}};
    for (size_t k = 0; k < QN_COUNT(flags); k++) {
        if (flags[k].value > 1) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                           "quern_cuda_array_options.%s is %u, but must be 0 or 1", flags[k].name,
                           flags[k].value);
        }
    }
    return QUERN_OK;
}

/* ---- making --------------------------------------------------------------------------------- */

static void set_texels(quern_cuda_array *c, quern_dtype dtype, int ndim, const int64_t *shape,
                       const quern_cuda_array_options *o)
{
    c->ndim = ndim;
    memcpy(c->shape, shape, (size_t)ndim * sizeof *shape);
    c->texels = (quern_texels){.size = sizeof c->texels,
                               .dtype = (int32_t)dtype,
                               .channels = o->channels ? o->channels : 1,
                               .layered = o->layered,
                               .surface = o->surface,
                               .gather = o->gather};
    for (int k = 0; k < ndim; k++) {
        c->texels.extent[k] = (uint64_t)shape[ndim - 1 - k];
    }
    if (o->layered && ndim == 2) { /* layers of one dimension */
        c->texels.extent[2] = c->texels.extent[1];
        c->texels.extent[1] = 0;
    }
}

quern_status quern_cuda_array_new(quern_cuda_array **out, quern_engine *engine, quern_dtype dtype,
                                  int ndim, const int64_t *shape,
                                  const quern_cuda_array_options *options)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_TAKE_RESERVED(quern_cuda_array_options, o, options);
    QN_TRY(check_flags(&o));
    QN_TRY(qn_texels_check(dtype, o.channels ? o.channels : 1));
    QN_TRY(check_shape(ndim, shape, &o));
    int64_t count;
    QN_TRY(qn_shape_check(&count, ndim, shape, 16)); /* as many bytes as an element can have */
    QN_TRY(qn_textures_check(&engine->home));
    quern_cuda_array *c = qn_calloc(1, sizeof *c);
    if (!c) {
        return qn_fail_memory("making a CUDA array");
    }
    set_texels(c, dtype, ndim, shape, &o);
    const quern_status status =
        engine->home.methods->cuda_array_new(engine->home.device, &c->handle, &c->texels);
    if (status != QUERN_OK) {
        qn_free(c);
        return status;
    }
    atomic_init(&c->references, 1);
    c->home = &engine->home;
    qn_home_retain(c->home);
    c->object = QN_OBJECT_CUDA_ARRAY;
    *out = c;
    return QUERN_OK;
}

/* ---- copies --------------------------------------------------------------------------------- */

/* Is the array's shape that of the CUDA array, with its channels at the end or in the width? */
static bool shape_fits(const quern_cuda_array *c, const quern_array *array)
{
    const int64_t channels = (int64_t)c->texels.channels;
    const bool apart = array->ndim == c->ndim + 1;
    if (!apart && array->ndim != c->ndim) {
        return false;
    }
    for (int k = 0; k < c->ndim - 1; k++) {
        if (array->shape[k] != c->shape[k]) {
            return false;
        }
    }
    const int64_t width = c->shape[c->ndim - 1];
    return apart ? array->shape[c->ndim - 1] == width && array->shape[c->ndim] == channels
                 : array->shape[c->ndim - 1] == width * channels;
}

static quern_status refuse_shape(const quern_cuda_array *c, const quern_array *array)
{
    qn_text own = {0}, others = {0};
    qn_shape_print(&own, c->ndim, c->shape);
    qn_shape_print(&others, array->ndim, array->shape);
    const quern_status status =
        qn_fail(QUERN_ERROR_SHAPE,
                "the array's shape is %s, and the CUDA array is of shape %s with %u channel%s, "
                "which stand as one more dimension at the end or are multiplied into the width",
                others.data ? others.data : "another", own.data ? own.data : "its own",
                c->texels.channels, c->texels.channels == 1 ? "" : "s");
    qn_text_free(&own);
    qn_text_free(&others);
    return status;
}

static quern_status check_pair(const char *function, const quern_cuda_array *c,
                               const quern_array *array, const quern_stream *stream)
{
    if (!qn_object_is(c, QN_OBJECT_CUDA_ARRAY)) {
        return qn_object_refuse(function, "cuda_array", c, QN_OBJECT_CUDA_ARRAY);
    }
    if (!qn_array_fits(array, c->home)) {
        return qn_array_refuse(array, "CUDA array", c->home);
    }
    if (!qn_stream_fits(stream, c->home)) {
        return qn_stream_refuse(function, stream, "CUDA array", c->home);
    }
    if ((int32_t)array->dtype != c->texels.dtype) {
        return qn_fail(
            QUERN_ERROR_TYPE, "the array is of %s, and the channels of the CUDA array are %s",
            quern_dtype_name(array->dtype), quern_dtype_name((quern_dtype)c->texels.dtype));
    }
    return shape_fits(c, array) ? QUERN_OK : refuse_shape(c, array);
}

static void drop(void *cuda_array)
{
    quern_cuda_array_release(cuda_array);
}

/* Recorded work keeps both. */
static quern_status keep(quern_cuda_array *c, quern_array *array, quern_stream *stream)
{
    if (!qn_stream_captures(stream)) {
        return QUERN_OK;
    }
    const quern_status status = qn_capture_keep(stream, quern_cuda_array_retain(c), drop);
    if (status != QUERN_OK) {
        quern_cuda_array_release(c);
        return status;
    }
    return qn_buffer_keep(array->buffer, stream);
}

static quern_status copy(quern_cuda_array *c, const quern_array *array, bool to_array,
                         const quern_stream *stream)
{
    return c->home->methods->cuda_array_copy(c->home->device, c->handle, array->data, &c->texels,
                                             to_array, qn_stream_handle(c->home, stream));
}

quern_status quern_cuda_array_write_on(quern_cuda_array *cuda_array, quern_array *array,
                                       quern_stream *stream)
{
    qn_error_reset();
    QN_TRY(check_pair(__func__, cuda_array, array, stream));
    QN_TRY(keep(cuda_array, array, stream));
    if (array->contiguous) {
        return copy(cuda_array, array, true, stream);
    }
    quern_array *gathered;
    QN_TRY(qn_array_new_on(&gathered, cuda_array->home, array->dtype, array->ndim, array->shape,
                           stream));
    quern_status status = qn_array_copy_to(gathered, array, stream);
    if (status == QUERN_OK) {
        status = copy(cuda_array, gathered, true, stream);
    }
    quern_array_release(gathered);
    return status;
}

quern_status quern_cuda_array_read_on(quern_cuda_array *cuda_array, quern_array *array,
                                      quern_stream *stream)
{
    qn_error_reset();
    QN_TRY(check_pair(__func__, cuda_array, array, stream));
    QN_TRY(qn_array_check_writable(array, __func__));
    QN_TRY(keep(cuda_array, array, stream));
    if (array->contiguous) {
        return copy(cuda_array, array, false, stream);
    }
    QN_TRY(qn_array_check_distinct(array));
    quern_array *gathered;
    QN_TRY(qn_array_new_on(&gathered, cuda_array->home, array->dtype, array->ndim, array->shape,
                           stream));
    quern_status status = copy(cuda_array, gathered, false, stream);
    if (status == QUERN_OK) {
        status = qn_array_copy_to(array, gathered, stream);
    }
    quern_array_release(gathered);
    return status;
}

void *quern_cuda_array_handle(const quern_cuda_array *cuda_array)
{
    return qn_object_is(cuda_array, QN_OBJECT_CUDA_ARRAY) ? cuda_array->handle : NULL;
}

/* ---- references ----------------------------------------------------------------------------- */

quern_cuda_array *quern_cuda_array_retain(quern_cuda_array *cuda_array)
{
    if (qn_object_is(cuda_array, QN_OBJECT_CUDA_ARRAY)) {
        atomic_fetch_add_explicit(&cuda_array->references, 1, memory_order_relaxed);
    }
    return cuda_array;
}

void qn_texels_end(qn_home *home, qn_deferred *deferred, void (*finish)(qn_deferred *deferred))
{
    deferred->finish = finish;
    if (!qn_homes_defer(home, deferred)) {
        finish(deferred); /* else later: what it waits for would end the capture */
    }
}

static void end(qn_deferred *deferred)
{
    quern_cuda_array *c =
        (quern_cuda_array *)(void *)((char *)deferred - offsetof(quern_cuda_array, deferred));
    qn_home *home = c->home;
    (void)home->methods->synchronize(home->device); /* the next call that waits says what failed */
    home->methods->cuda_array_free(home->device, c->handle);
    qn_free(c);
    qn_home_release(home);
}

void quern_cuda_array_release(quern_cuda_array *cuda_array)
{
    if (qn_object_can_free(__func__, cuda_array, QN_OBJECT_CUDA_ARRAY) &&
        atomic_fetch_sub_explicit(&cuda_array->references, 1, memory_order_acq_rel) == 1) {
        qn_object_end(&cuda_array->object);
        qn_texels_end(cuda_array->home, &cuda_array->deferred, end);
    }
}
