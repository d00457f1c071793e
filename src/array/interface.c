/* SPDX-License-Identifier: MIT
 *
 * interface: the array interfaces of NumPy and CUDA, which are one structure here. In: the entries
 * of one. Out: an array over the same memory, in the order of the stream that is named; or the
 * other way round, the entries that describe an array.
 */
#include "array/array_internal.h"
#include "base/prefix.h"
#include "lang/records.h"
#include <quern/interop.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_ORDER '<'
#else
#define OWN_ORDER '>'
#endif

/* Versions that are taken: later ones only added entries, which an earlier one leaves out. RMM's
 * buffers say 0. */
enum { OLDEST = 0, NEWEST = 3 };

/* ---- dtypes -----------------------------------------------------------------------------------
 */

static quern_status refuse_typestr(const char *typestr, const char *why)
{
    return qn_fail(QUERN_ERROR_NOT_SUPPORTED, "there is no dtype for the typestr \"%.8s\"%s",
                   typestr, why);
}

/* Why not, in words, where there are some. */
static const char *why_not(const char *typestr)
{
    switch (typestr[1]) {
    case 'O':
        return ": the elements are Python objects";
    case 'S':
    case 'U':
        return ": the elements are texts";
    case 'm':
    case 'M':
        return ": the elements are times; view them as int64";
    default:
        return "";
    }
}

/* Is it one of NumPy's own? */
static bool has_typestr(const qn_dtype_info *dtype)
{
    return dtype->kind != QN_KIND_RECORD && dtype->descr[1] != 'V';
}

/* A record: its bytes by the typestr, "|V24", and what they are by the descr. */
static quern_status read_record(quern_dtype *out, const char *typestr, const char *descr)
{
    char *end;
    const char *digits = typestr + 2;
    const unsigned long bytes = strtoul(digits, &end, 10);
    if (digits[strspn(digits, "0123456789")] != '\0' || bytes == 0) {
        return refuse_typestr(typestr, "");
    }
    if (!descr || descr[strspn(descr, " ")] != '[') {
        return refuse_typestr(typestr, ": it is bytes without a type, and there is no descr, the "
                                       "list of fields that says what they are");
    }
    QN_TRY(qn_dtype_from_descr(out, "record", descr));
    if (quern_dtype_size(*out) != bytes) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "the typestr \"%s\" is of %lu bytes, and the fields of descr have %zu",
                       typestr, bytes, quern_dtype_size(*out));
    }
    return QUERN_OK;
}

static quern_status read_typestr(quern_dtype *out, const quern_array_interface *from)
{
    char text[9] = {0};
    memcpy(text, from->typestr, 8);
    if (text[0] && text[1] == 'V' && strchr("|<>=", text[0])) {
        return read_record(out, text, from->descr);
    }
    for (int d = QUERN_BOOL; qn_dtype_find((quern_dtype)d); d++) {
        const qn_dtype_info *info = qn_dtype_find((quern_dtype)d);
        if (!text[0] || !has_typestr(info) || strcmp(text + 1, info->descr + 1) != 0) {
            continue;
        }
        if (text[0] == OWN_ORDER || text[0] == '=' || (info->size == 1 && text[0] == '|')) {
            *out = info->dtype;
            return QUERN_OK;
        }
        return refuse_typestr(text, text[0] == '<' || text[0] == '>'
                                        ? ": its bytes are in the other order than this machine's; "
                                          "convert it first"
                                        : "");
    }
    return refuse_typestr(text, text[0] ? why_not(text) : "");
}

/* ---- in ---------------------------------------------------------------------------------------
 */

static quern_status check_entries(const quern_array_interface *from)
{
    if (from->version < OLDEST || from->version > NEWEST) {
        return qn_fail(QUERN_ERROR_NOT_SUPPORTED,
                       "the array interface is of version %d; %d to %d are taken", from->version,
                       OLDEST, NEWEST);
    }
    if (from->mask) {
        return qn_fail(
            QUERN_ERROR_NOT_SUPPORTED,
            "the array has a mask, and masked arrays are not taken: pass its data and its "
            "mask as two arrays");
    }
    if (from->has_stream && from->stream <= 0) {
        return qn_fail(
            QUERN_ERROR_INVALID_ARGUMENT,
            "the array interface's stream is %lld: write 1 for the legacy default stream, "
            "2 for that of the thread, or a CUstream",
            (long long)from->stream);
    }
    return QUERN_OK;
}

static bool has_elements(const quern_array_interface *from)
{
    bool some = true;
    for (int k = 0; k < from->ndim && from->shape; k++) {
        some &= from->shape[k] != 0;
    }
    return some;
}

quern_status quern_array_from_interface(quern_array **out, quern_engine *engine,
                                        const quern_array_interface *from,
                                        void (*release)(void *context), void *context)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_CHECK_NOT_NULL(from);
    QN_TAKE_RESERVED(quern_array_interface, own, from);
    QN_TRY(check_entries(&own));
    qn_home *home = qn_home_of(engine);
    int64_t count;
    qn_foreign f = {.ndim = own.ndim,
                    .shape = own.shape,
                    .strides = own.strides,
                    .pointer = own.data,
                    .read_only = own.read_only != 0};
    QN_TRY(read_typestr(&f.dtype, &own));
    QN_TRY(qn_shape_check(&count, f.ndim, f.shape, qn_dtype_find(f.dtype)->size));
    const bool elements = has_elements(&own) && own.data;
    QN_TRY(
        qn_memory_find(&f.pointer, &f.memory, home, &(qn_place_said){.anywhere = true}, elements));
    quern_array *array;
    QN_TRY(qn_array_adopt(&array, home, &f));
    if (own.has_stream) {
        const quern_status status = qn_stream_follow(home, NULL, (void *)(intptr_t)own.stream);
        if (status != QUERN_OK) {
            quern_array_release(array);
            return status;
        }
    }
    array->buffer->release = release;
    array->buffer->context = context;
    *out = array;
    return QUERN_OK;
}

/* ---- out --------------------------------------------------------------------------------------
 */

/* On a GPU: what a reader has to wait for. */
static void name_stream(quern_array_interface *to, const qn_home *home, const quern_stream *stream)
{
    int32_t type = QN_PLACE_HOST, number;
    if (home->methods->place) {
        home->methods->place(home->device, &type, &number);
    }
    if (type == QN_PLACE_GPU) {
        const int64_t handle = (int64_t)(intptr_t)qn_stream_handle(home, stream);
        to->has_stream = 1;
        to->stream = handle ? handle : 1; /* a wrapped NULL is the legacy default stream */
    }
}

quern_status quern_array_get_interface(quern_array_interface *out, quern_array *array,
                                       quern_stream *stream)
{
    qn_error_reset();
    QN_TO_GIVE(quern_array_interface, own, out);
    QN_GIVE(quern_array_interface, own, out);
    QN_CHECK_OBJECT(array, QN_OBJECT_ARRAY);
    const qn_home *home = array->buffer->home;
    if (!qn_stream_fits(stream, home)) {
        return qn_stream_refuse(__func__, stream, "array", home);
    }
    const qn_dtype_info *dtype = qn_dtype_find(array->dtype);
    const bool record = dtype->kind == QN_KIND_RECORD;
    if (!record && !has_typestr(dtype)) {
        return qn_fail(QUERN_ERROR_NOT_SUPPORTED,
                       "the array interface has no %s; DLPack has (quern_array_to_dlpack)",
                       dtype->name);
    }
    own.version = NEWEST;
    own.ndim = array->ndim;
    own.shape = array->shape;
    own.strides = array->contiguous ? NULL : array->strides;
    if (record) {
        snprintf(own.typestr, sizeof own.typestr, "|V%u", dtype->size);
        own.descr = dtype->descr[0] == '[' ? dtype->descr : NULL; /* NULL: no field is known */
    } else {
        snprintf(own.typestr, sizeof own.typestr, "%s", dtype->descr);
    }
    own.data = array->count > 0 ? array->data : NULL;
    own.read_only = array->read_only;
    name_stream(&own, home, stream);
    QN_GIVE(quern_array_interface, own, out);
    return QUERN_OK;
}
