/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: tensors of DLPack and array interfaces that lie. In: all their numbers, the data's
 * address given as an offset from a buffer. Holds: what is taken is read only where its numbers
 * say, its memory is given back once, and after a refusal never; what an array then says of itself
 * are the numbers that came in; it goes out and comes in again unchanged, records with their descr.
 * The device is the software device; elements are read where they all lie in the buffer.
 */
#include "reader.h"

#include <quern/interop.h>
#include <quern/quern.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER 4096
#define NDIM   40 /* more than an array may have */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static quern_engine *engine;
static _Alignas(256) unsigned char buffer[BUFFER];
static int given_back;

static void check(bool condition)
{
    if (!condition) {
        abort();
    }
}

/* Small, or near an end of its range, or anything. */
static int64_t take_number(reader *r)
{
    static const int64_t ends[] = {INT64_MIN, INT64_MIN + 1, INT32_MIN,     -1,
                                   INT32_MAX, INT64_MAX / 2, INT64_MAX - 1, INT64_MAX};
    int64_t any;
    const uint8_t kind = take_byte(r);
    if (kind < 200) {
        return kind % 20 - 4;
    }
    if (kind < 230) {
        return ends[kind % 8];
    }
    take(r, &any, sizeof any);
    return any;
}

/* ---- looking at what was taken ----------------------------------------------------------------
 */

/* Do all elements lie in the buffer? */
static bool inside(const quern_array *a)
{
    const int64_t *shape = quern_array_shape(a), *strides = quern_array_strides(a);
    __int128 low = (char *)quern_array_pointer(a) - (char *)buffer;
    __int128 high = low + (__int128)quern_dtype_size(quern_array_dtype(a));
    for (int k = 0; k < quern_array_ndim(a); k++) {
        const __int128 reach = (__int128)(shape[k] - 1) * strides[k];
        low += reach < 0 ? reach : 0;
        high += reach > 0 ? reach : 0;
    }
    return low >= 0 && high <= BUFFER;
}

/* Is it nothing for DLPack: a record, or strides that are no multiples of the element's size? */
static bool is_no_tensor(const quern_array *a)
{
    const quern_dtype dtype = quern_array_dtype(a);
    bool odd = dtype >= QUERN_DTYPE_RECORD;
    for (int k = 0; k < quern_array_ndim(a); k++) {
        odd |= quern_array_strides(a)[k] % (int64_t)quern_dtype_size(dtype) != 0;
    }
    return odd;
}

static quern_array *by_tensor(quern_array *a)
{
    quern_dl_tensor out;
    quern_array *again;
    check(quern_array_to_dltensor(&out, a) == QUERN_OK);
    check(quern_array_from_dltensor(&again, engine, &out, 0, NULL, NULL) == QUERN_OK);
    check(quern_array_pointer(again) == out.data && out.byte_offset == 0);
    return again;
}

static quern_array *by_entries(quern_array *a)
{
    quern_array_interface out = QUERN_ARRAY_INTERFACE_INIT;
    quern_array *again;
    check(quern_array_get_interface(&out, a, NULL) == QUERN_OK);
    check((quern_array_dtype(a) >= QUERN_DTYPE_RECORD) == (out.descr != NULL));
    check(quern_array_from_interface(&again, engine, &out, NULL, NULL) == QUERN_OK);
    check(quern_array_pointer(again) == out.data);
    check(quern_array_dtype(again) == quern_array_dtype(a));
    return again;
}

static void look(quern_array *a)
{
    quern_array *again = is_no_tensor(a) ? by_entries(a) : by_tensor(a);
    check(quern_array_count(again) == quern_array_count(a));
    for (int k = 0; k < quern_array_ndim(a); k++) {
        check(quern_array_shape(again)[k] == quern_array_shape(a)[k]);
        check(quern_array_shape(a)[k] <= 1 || quern_array_count(a) == 0 ||
              quern_array_strides(again)[k] == quern_array_strides(a)[k]);
    }
    const size_t size = (size_t)quern_array_count(a) * quern_dtype_size(quern_array_dtype(a));
    if (quern_array_is_contiguous(a) && size > 0 && inside(a)) { /* others need the compiler */
        unsigned char host[BUFFER];
        check(size <= BUFFER && quern_array_read(a, host, size) == QUERN_OK);
        check(memcmp(host, quern_array_pointer(a), size) == 0);
    }
    quern_array_release(again);
}

static void finish(quern_status status, quern_array *a, bool gives_back)
{
    check((status == QUERN_OK) == (a != NULL) && given_back == 0);
    if (a) {
        look(a);
        quern_array_release(a);
        check(given_back == gives_back);
    } else {
        check(quern_last_error()->message[0] != '\0' && status != QUERN_ERROR_INTERNAL);
    }
}

/* ---- the protocols ----------------------------------------------------------------------------
 */

static int64_t shape[NDIM], strides[NDIM];

static void *take_address(reader *r)
{
    int64_t offset = take_number(r);
    return take_byte(r) % 16 == 15 ? NULL : (void *)((uintptr_t)buffer + (uintptr_t)offset * 4);
}

static int32_t take_dimensions(reader *r)
{
    const uint8_t ndim = take_byte(r);
    for (int k = 0; k < ndim % NDIM; k++) {
        shape[k] = take_number(r);
        strides[k] = take_number(r);
    }
    return ndim >= 250 ? -(ndim % 3) : ndim % NDIM;
}

static quern_dl_tensor take_tensor(reader *r)
{
    static const uint8_t bits[] = {8, 16, 32, 64, 128, 0, 4, 255};
    quern_dl_tensor t = {.data = take_address(r), .ndim = take_dimensions(r)};
    t.device.device_type = take_byte(r) % 8 ? QUERN_DL_CPU : (int8_t)take_byte(r);
    t.device.device_id = (int8_t)take_byte(r);
    t.dtype.code = take_byte(r) % 20;
    t.dtype.bits = bits[take_byte(r) % 8];
    t.dtype.lanes = take_byte(r) % 8 ? 1 : take_byte(r);
    t.shape = take_byte(r) % 16 == 15 ? NULL : shape;
    t.strides = take_byte(r) % 2 ? NULL : strides;
    t.byte_offset = take_byte(r) % 4 ? 0 : (uint64_t)take_number(r);
    return t;
}

static void give_back(void *context)
{
    check(context == buffer);
    given_back++;
}

static void delete_versioned(quern_dl_managed_versioned *self)
{
    check(self->manager_ctx == buffer);
    given_back++;
}

static void delete_legacy(quern_dl_managed *self)
{
    check(self->manager_ctx == buffer);
    given_back++;
}

static void try_versioned(reader *r)
{
    quern_dl_managed_versioned t = {.version = {take_byte(r) % 8 ? 1 : take_byte(r), take_byte(r)},
                                    .manager_ctx = buffer,
                                    .deleter = take_byte(r) % 8 ? delete_versioned : NULL,
                                    .flags = take_byte(r)};
    quern_array *a;
    t.dl_tensor = take_tensor(r);
    const quern_status status = quern_array_from_dlpack(&a, engine, &t);
    check(!a || (t.version.major == 1 &&
                 quern_array_is_read_only(a) == (int)(t.flags & QUERN_DL_READ_ONLY)));
    finish(status, a, t.deleter != NULL);
}

static void try_legacy(reader *r)
{
    quern_dl_managed t = {.manager_ctx = buffer, .deleter = delete_legacy};
    quern_array *a;
    t.dl_tensor = take_tensor(r);
    const quern_status status = quern_array_from_dlpack_legacy(&a, engine, &t);
    finish(status, a, true);
}

static void try_borrowed(reader *r)
{
    const uint64_t flags = take_byte(r) % 4;
    const quern_dl_tensor t = take_tensor(r);
    quern_array *a;
    const quern_status status = quern_array_from_dltensor(&a, engine, &t, flags, give_back, buffer);
    finish(status, a, true);
}

/* A list of fields from pieces, most of them in their places; or any text. */
static const char *take_descr(reader *r)
{
    static const char *const pieces[] = {
        "[",      "]",     "('a', ", "('b', ", "('', ",  "(('t', 'c'), ",
        "'<f4'",  "'<i8'", "'|V3'",  "'|b1'",  "'>f8'",  "'|V99999'",
        ")",      "), ",   ", 3",    ", (2,)", ", (0,)", ", (9999, 9999)",
        "'<c16'", "'<U4'"};
    static char text[256];
    const uint8_t kind = take_byte(r);
    size_t used = 0;
    text[0] = '\0';
    if (kind % 8 == 0) {
        return NULL;
    }
    if (kind % 8 == 1) {
        take(r, text, 64);
        text[64] = '\0';
        return text;
    }
    for (uint8_t left = kind / 8; left > 0 && used < sizeof text; left--) {
        const size_t piece = take_byte(r) % (sizeof pieces / sizeof *pieces);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s", pieces[piece]);
    }
    return text;
}

/* A record: its typestr mostly tells the size of the fields. */
static void take_record(reader *r, quern_array_interface *from)
{
    quern_dtype dtype;
    from->descr = take_descr(r);
    if (from->descr && quern_dtype_from_descr(&dtype, "record", from->descr) == QUERN_OK) {
        const size_t wrong = take_byte(r) % 8 == 7;
        snprintf(from->typestr, sizeof from->typestr, "|V%zu", quern_dtype_size(dtype) + wrong);
    }
}

static void try_interface(reader *r)
{
    quern_array_interface from = QUERN_ARRAY_INTERFACE_INIT;
    quern_array *a;
    from.data = take_address(r);
    from.ndim = take_dimensions(r);
    from.shape = take_byte(r) % 16 == 15 ? NULL : shape;
    from.strides = take_byte(r) % 2 ? NULL : strides;
    from.version = take_byte(r) % 8 ? 3 : (int8_t)take_byte(r);
    take(r, from.typestr, sizeof from.typestr);
    if (from.typestr[1] == 'V') {
        take_record(r, &from);
    }
    from.read_only = take_byte(r);
    from.has_stream = take_byte(r) % 2;
    from.stream = take_number(r);
    from.mask = take_byte(r) % 16 == 15 ? buffer : NULL;
    const quern_status status = quern_array_from_interface(&a, engine, &from, give_back, buffer);
    finish(status, a, true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    reader r = {data, size};
    if (!engine) {
        quern_options options = QUERN_OPTIONS_INIT;
        options.device = "soft:1";
        options.cache_dir = "off";
        check(quern_open(&engine, &options) == QUERN_OK);
    }
    given_back = 0;
    switch (take_byte(&r) % 4) {
    case 0:
        try_versioned(&r);
        break;
    case 1:
        try_legacy(&r);
        break;
    case 2:
        try_borrowed(&r);
        break;
    default:
        try_interface(&r);
    }
    return 0;
}
