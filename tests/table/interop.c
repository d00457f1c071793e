/* SPDX-License-Identifier: MIT
 *
 * The table of docs/interop.md: each protocol, in and out and there and back, on the device that
 * QUERN_DEVICE names, with every dtype, over shapes and views. Out: the tensor of a view is walked
 * on the host, and must lead to just the view's elements. In: an array that is made of such numbers
 * must hold them, be read-only where that is said, and give its memory back once. The thing to
 * know: foreign memory is that of a base array, so the same rows run on a GPU.
 */
#include <quern/interop.h>

#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static quern_engine *engine;

/* A tensor in the words of every protocol. Strides are in bytes. */
typedef struct seen {
    char *data;
    quern_dtype dtype;
    int ndim;
    int64_t shape[TABLE_NDIM], strides[TABLE_NDIM];
    bool read_only;
} seen;

/* What holds foreign memory, and how often it was given back. */
static int given_back;

static void give_back(void *context)
{
    (void)context;
    given_back++;
}

/* ---- protocols --------------------------------------------------------------------------------
 */

typedef struct protocol {
    const char *name;
    bool says_read_only;
    bool (*takes)(quern_dtype dtype);
    /* NULL on failure, which is told */
    quern_array *(*in)(const seen *from);
    /* false: not at all; `out->data` may be NULL when there are no elements */
    bool (*out)(seen *out, quern_array *view);
    quern_array *(*back)(quern_array *view);
} protocol;

static quern_dl_tensor tensor_of(const seen *from, int64_t *steps)
{
    quern_dl_tensor t = {.data = from->data, .ndim = from->ndim, .shape = (int64_t *)from->shape};
    quern_dl_tensor place;
    quern_array *any;
    check(quern_array_new(&any, engine, from->dtype, 0, NULL), "an array");
    check(quern_array_to_dltensor(&place, any), "its device");
    quern_array_release(any);
    t.device = place.device;
    check(quern_dtype_to_dl(&t.dtype, from->dtype), "a dtype");
    bool c_order = true;
    int64_t expected = (int64_t)quern_dtype_size(from->dtype);
    for (int d = from->ndim - 1; d >= 0; d--) {
        steps[d] = from->strides[d] / (int64_t)quern_dtype_size(from->dtype);
        c_order &= from->shape[d] == 1 || from->strides[d] == expected;
        expected *= from->shape[d];
    }
    t.strides = c_order && from->ndim % 2 ? NULL : steps;
    if (from->data && given_back % 2) { /* every other with an offset, back to the same place */
        t.data = from->data - 512;
        t.byte_offset = 512;
    }
    return t;
}

static void see_tensor(seen *out, const quern_dl_tensor *t)
{
    check(quern_dtype_from_dl(&out->dtype, t->dtype), "the dtype that went out");
    out->data = t->data;
    out->ndim = t->ndim;
    for (int d = 0; d < t->ndim; d++) {
        out->shape[d] = t->shape[d];
        out->strides[d] = t->strides[d] * (int64_t)quern_dtype_size(out->dtype);
    }
    if (t->byte_offset != 0 || t->device.device_id != 0) {
        out->ndim = -1;
    }
}

static void delete_versioned(quern_dl_managed_versioned *self)
{
    free(self->manager_ctx);
    free(self);
    given_back++;
}

static quern_array *versioned_in(const seen *from)
{
    int64_t *steps = calloc(TABLE_NDIM, sizeof *steps);
    quern_dl_managed_versioned *t = calloc(1, sizeof *t);
    quern_array *array;
    t->version.major = 1;
    t->manager_ctx = steps;
    t->deleter = delete_versioned;
    t->flags = from->read_only ? QUERN_DL_READ_ONLY : 0;
    t->dl_tensor = tensor_of(from, steps);
    check(quern_array_from_dlpack(&array, engine, t), "from_dlpack");
    return array;
}

static bool versioned_out(seen *out, quern_array *view)
{
    quern_dl_managed_versioned *t;
    check(quern_array_to_dlpack(&t, view, 0), "to_dlpack");
    see_tensor(out, &t->dl_tensor);
    out->read_only = (t->flags & QUERN_DL_READ_ONLY) != 0;
    t->deleter(t);
    return true;
}

static quern_array *versioned_back(quern_array *view)
{
    quern_dl_managed_versioned *t;
    quern_array *array;
    check(quern_array_to_dlpack(&t, view, 0), "to_dlpack");
    check(quern_array_from_dlpack(&array, engine, t), "from_dlpack");
    return array;
}

static void delete_legacy(quern_dl_managed *self)
{
    free(self->manager_ctx);
    free(self);
    given_back++;
}

static quern_array *legacy_in(const seen *from)
{
    int64_t *steps = calloc(TABLE_NDIM, sizeof *steps);
    quern_dl_managed *t = calloc(1, sizeof *t);
    quern_array *array;
    t->manager_ctx = steps;
    t->deleter = delete_legacy;
    t->dl_tensor = tensor_of(from, steps);
    check(quern_array_from_dlpack_legacy(&array, engine, t), "from_dlpack_legacy");
    return array;
}

static bool legacy_out(seen *out, quern_array *view)
{
    quern_dl_managed *t;
    if (quern_array_is_read_only(view)) {
        return quern_array_to_dlpack_legacy(&t, view) != QUERN_ERROR_NOT_SUPPORTED || t;
    }
    check(quern_array_to_dlpack_legacy(&t, view), "to_dlpack_legacy");
    see_tensor(out, &t->dl_tensor);
    t->deleter(t);
    return true;
}

static quern_array *legacy_back(quern_array *view)
{
    quern_dl_managed *t;
    quern_array *array;
    check(quern_array_to_dlpack_legacy(&t, view), "to_dlpack_legacy");
    check(quern_array_from_dlpack_legacy(&array, engine, t), "from_dlpack_legacy");
    return array;
}

static quern_array *borrowed_in(const seen *from)
{
    int64_t steps[TABLE_NDIM];
    const quern_dl_tensor t = tensor_of(from, steps);
    quern_array *array;
    check(quern_array_from_dltensor(&array, engine, &t, from->read_only ? QUERN_DL_READ_ONLY : 0,
                                    give_back, NULL),
          "from_dltensor");
    return array;
}

static bool borrowed_out(seen *out, quern_array *view)
{
    quern_dl_tensor t;
    check(quern_array_to_dltensor(&t, view), "to_dltensor");
    see_tensor(out, &t);
    out->read_only = quern_array_is_read_only(view);
    return true;
}

static quern_array *borrowed_back(quern_array *view)
{
    quern_dl_tensor t;
    quern_array *array;
    check(quern_array_to_dltensor(&t, view), "to_dltensor");
    check(quern_array_from_dltensor(&array, engine, &t, 0, NULL, NULL), "from_dltensor");
    return array;
}

static quern_array *interface_in(const seen *from)
{
    quern_array_interface entries = QUERN_ARRAY_INTERFACE_INIT;
    quern_array *any, *array;
    check(quern_array_new(&any, engine, from->dtype, 0, NULL), "an array");
    check(quern_array_get_interface(&entries, any, NULL), "its typestr");
    quern_array_release(any);
    entries.data = from->data;
    entries.ndim = from->ndim;
    entries.shape = from->shape;
    entries.strides = from->strides;
    entries.read_only = from->read_only;
    check(quern_array_from_interface(&array, engine, &entries, give_back, NULL), "from_interface");
    return array;
}

static bool interface_out(seen *out, quern_array *view)
{
    quern_array_interface entries = QUERN_ARRAY_INTERFACE_INIT;
    check(quern_array_get_interface(&entries, view, NULL), "get_interface");
    out->data = entries.data;
    out->dtype = quern_array_dtype(view);
    out->ndim = entries.ndim;
    out->read_only = entries.read_only;
    int64_t stride = (int64_t)quern_dtype_size(out->dtype);
    for (int d = entries.ndim - 1; d >= 0; d--) {
        out->shape[d] = entries.shape[d];
        out->strides[d] = entries.strides ? entries.strides[d] : stride;
        stride *= out->shape[d];
    }
    return entries.version == 3 && !entries.mask && (!entries.has_stream || entries.stream != 0);
}

static quern_array *interface_back(quern_array *view)
{
    quern_array_interface entries = QUERN_ARRAY_INTERFACE_INIT;
    quern_array *array;
    check(quern_array_get_interface(&entries, view, NULL), "get_interface");
    check(quern_array_from_interface(&array, engine, &entries, NULL, NULL), "from_interface");
    return array;
}

static bool has_typestr(quern_dtype d)
{
    return d != QUERN_BFLOAT16 && d != QUERN_FLOAT8_E4M3;
}

static const protocol protocols[] = {
    {"DLPack, versioned", true, any_dtype, versioned_in, versioned_out, versioned_back},
    {"DLPack, unversioned", false, any_dtype, legacy_in, legacy_out, legacy_back},
    {"DLPack, borrowed", true, any_dtype, borrowed_in, borrowed_out, borrowed_back},
    {"array interface", true, has_typestr, interface_in, interface_out, interface_back},
};

/* ---- rows -------------------------------------------------------------------------------------
 */

/* Whether an array holds the view's elements. */
static bool holds(quern_array *array, const layout_input *input, const shape *s)
{
    const quern_dtype dtype = quern_array_dtype(array);
    const size_t size = quern_dtype_size(dtype);
    const unsigned all = (1u << s->ndim) - 1;
    const int64_t count = shape_count(s, all);
    unsigned char *host = malloc((size_t)count * size + 1);
    check(quern_array_read(array, host, (size_t)count * size), "reading");
    bool good = quern_array_count(array) == count && quern_array_ndim(array) == s->ndim;
    for (int64_t n = 0; n < count && good; n++) {
        int64_t at[TABLE_NDIM];
        shape_position(s, all, n, at);
        good = number_is(host + (size_t)n * size, dtype, layout_at(input, at), 0);
    }
    free(host);
    return good;
}

/* Whether what went out leads to the view's elements, by its base on the host. */
static bool leads(const seen *t, const layout_input *input, const shape *s)
{
    const unsigned all = (1u << s->ndim) - 1;
    const int64_t count = shape_count(s, all);
    bool good = t->ndim == s->ndim && t->dtype == quern_array_dtype(input->view) &&
                (count > 0) == (t->data != NULL);
    for (int d = 0; d < s->ndim && good; d++) {
        good = t->shape[d] == s->extent[d];
    }
    for (int64_t n = 0; n < count && good; n++) {
        int64_t at[TABLE_NDIM];
        shape_position(s, all, n, at);
        const char *address = t->data;
        for (int d = 0; d < s->ndim; d++) {
            address += at[d] * t->strides[d];
        }
        const int64_t offset = address - (const char *)quern_array_pointer(input->base);
        good = number_is(input->host + offset, t->dtype, layout_at(input, at), 0);
    }
    return good;
}

static bool row_out(const protocol *p, const layout_input *input, const shape *s)
{
    quern_array *fixed;
    seen t = {.ndim = -1}, u = {.ndim = -1};
    bool good = p->out(&t, input->view) && leads(&t, input, s) && !t.read_only;
    check(quern_array_read_only(&fixed, input->view), "read_only");
    good &= p->out(&u, fixed) == p->says_read_only;
    good &= !p->says_read_only || (u.read_only && leads(&u, input, s));
    quern_array_release(fixed);
    return good;
}

/* What may be written is, with what is there; what may not is refused. */
static bool writes(quern_array *array, bool read_only)
{
    const size_t bytes =
        (size_t)quern_array_count(array) * quern_dtype_size(quern_array_dtype(array));
    unsigned char *host = malloc(bytes + 1);
    check(quern_array_read(array, host, bytes), "reading");
    quern_status status = quern_array_write(array, host, bytes);
    free(host);
    return quern_array_is_read_only(array) == read_only &&
           status == (read_only ? QUERN_ERROR_INVALID_ARGUMENT : QUERN_OK);
}

static bool row_in(const protocol *p, const layout_input *input, const shape *s)
{
    seen t = {.data = quern_array_count(input->view) ? quern_array_pointer(input->view) : NULL,
              .dtype = quern_array_dtype(input->view),
              .ndim = s->ndim};
    bool good = true, repeated = false;
    for (int d = 0; d < s->ndim; d++) {
        t.shape[d] = s->extent[d];
        t.strides[d] = quern_array_strides(input->view)[d];
        repeated |= t.strides[d] == 0 && t.shape[d] > 1;
        if (t.shape[d] == 1) {
            t.strides[d] = 1000000 * (int64_t)quern_dtype_size(t.dtype); /* never followed */
        }
    }
    for (int fixed = 0; fixed < 1 + p->says_read_only; fixed++) {
        const int before = given_back;
        t.read_only = fixed;
        quern_array *view, *array = p->in(&t);
        check(quern_array_transpose(&view, array, NULL), "transpose");
        good &= holds(array, input, s) && quern_array_is_read_only(view) == fixed;
        good &= repeated || writes(array, fixed);
        quern_array_release(array);
        good &= given_back == before; /* the view holds it */
        quern_array_release(view);
        good &= given_back == before + 1;
    }
    return good;
}

static bool row_back(const protocol *p, const layout_input *input, const shape *s)
{
    quern_array *array = p->back(input->view);
    const bool good = holds(array, input, s);
    quern_array_release(array);
    return good;
}

static const struct direction {
    const char *name;
    bool (*row)(const protocol *p, const layout_input *input, const shape *s);
} directions[] = {{"in", row_in}, {"out", row_out}, {"out and in", row_back}};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static void run_input(rows *r, const layout_input *input, const shape *s, quern_dtype dtype)
{
    for (size_t p = 0; p < COUNT(protocols); p++) {
        for (size_t d = 0; d < COUNT(directions) && protocols[p].takes(dtype); d++) {
            r->run++;
            if (!directions[d].row(&protocols[p], input, s)) {
                r->failed++;
                rows_complain(protocols[p].name, directions[d].name, dtype, input, s, 0);
            }
        }
    }
}

int main(int argc, char **argv)
{
    rows r = rows_asked(argc, argv);
    check(quern_open(&engine, NULL), "opening");
    for (int dtype = QUERN_BOOL; quern_dtype_size((quern_dtype)dtype) > 0; dtype++) {
        for (size_t k = 0; k < table_shape_count; k++) {
            const shape *s = &table_shapes[k];
            layout_input input;
            if (shape_count(s, (1u << s->ndim) - 1) > 1100) {
                continue; /* a shape's size is of no interest here */
            }
            for (int view = 0; view < TABLE_VIEWS; view++) {
                if (!rows_next(&r) ||
                    !layout_make(&input, engine, (quern_dtype)dtype, s, view, (unsigned)k + 1)) {
                    continue;
                }
                run_input(&r, &input, s, (quern_dtype)dtype);
                layout_free(&input);
            }
        }
    }
    quern_close(engine);
    return rows_report(&r, "rows of protocols, directions, dtypes, shapes and views");
}
