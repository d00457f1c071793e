/* SPDX-License-Identifier: MIT
 *
 * tune_scratch: arguments for launches that only measure. In: a call that has begun. Out: its
 * values, where every output that its caller gave is a copy with the same strides, alignment and
 * contents, and so is an input that is that output. The thing to know: outputs that the call has
 * allocated itself hold nothing yet, and copies of overlapping inputs are its own; both are used as
 * they are. Arrays in the place of operands that lie in another order have no memory: each launch
 * makes its own.
 */
#include "engine/tuning.h"
#include <string.h>

#define ALIGNMENT 256 /* of every allocation: the copy keeps the rest of the address */

static void release_holder(void *array)
{
    quern_array_release(array);
}

/* An array over the memory of `holder`, `at` bytes into it. */
static quern_status over(quern_array **out, quern_array *holder, const quern_array *like, size_t at)
{
    const qn_foreign memory = {.dtype = like->dtype,
                               .ndim = like->ndim,
                               .shape = like->shape,
                               .strides = like->strides,
                               .pointer = (char *)holder->data + at,
                               .release = release_holder,
                               .context = holder};
    return qn_array_adopt(out, holder->buffer->home, &memory);
}

/* A copy of an array with its strides, as far from an aligned address as it is. */
static quern_status copy_of(quern_array **out, const quern_array *a, quern_stream *stream)
{
    int64_t below = 0, above = a->item_size;
    for (int d = 0; d < a->ndim; d++) {
        const int64_t reach = a->strides[d] * (a->shape[d] - 1);
        below += reach < 0 ? -reach : 0;
        above += reach > 0 ? reach : 0;
    }
    const uintptr_t first = (uintptr_t)a->data - (uintptr_t)below;
    const size_t beyond = first % ALIGNMENT;
    const int64_t bytes = (int64_t)beyond + below + above;
    quern_array *holder;
    QN_TRY(qn_array_new_on(&holder, a->buffer->home, QUERN_UINT8, 1, &bytes, stream));
    quern_status status = over(out, holder, a, beyond + (size_t)below);
    if (status != QUERN_OK) {
        quern_array_release(holder);
        return status;
    }
    return qn_array_copy_to(*out, (quern_array *)(uintptr_t)a, stream);
}

static bool is_own(const qn_call *call, const quern_array *array)
{
    for (uint32_t k = 0; k < call->owned_count; k++) {
        if (call->owned[k] == array) {
            return true;
        }
    }
    return false;
}

static bool is_same(const quern_array *a, const quern_array *b)
{
    const size_t bytes = (size_t)a->ndim * sizeof *a->shape;
    return a->data == b->data && a->dtype == b->dtype && a->ndim == b->ndim &&
           memcmp(a->shape, b->shape, bytes) == 0 && memcmp(a->strides, b->strides, bytes) == 0;
}

/* The array that parameter `p` has, before another took its place for the sake of its order. */
static quern_array *given(const qn_call *call, uint32_t p)
{
    return (call->arranged >> p & 1) != 0 ? call->from[p] : call->arrays[p];
}

/* The copy of the output that input `p` is, or the input itself. */
static quern_array *input_of(const qn_scratch *scratch, const qn_call *call, uint32_t p)
{
    const qn_signature *s = &call->kernel->signature;
    for (uint32_t o = s->input_count; o < s->count; o++) {
        if (scratch->copies[o] && is_same(given(call, o), given(call, p))) {
            return scratch->copies[o];
        }
    }
    return given(call, p);
}

quern_status qn_scratch_make(qn_scratch *out, const qn_call *call)
{
    const qn_signature *s = &call->kernel->signature;
    memset(out->copies, 0, sizeof out->copies);
    for (uint32_t p = s->input_count; p < s->count; p++) {
        quern_array *const array = given(call, p);
        if (!is_own(call, array)) {
            QN_TRY(copy_of(&out->copies[p], array, call->stream));
        }
        out->values[p] = quern_value_array(out->copies[p] ? out->copies[p] : array);
    }
    for (uint32_t p = 0; p < s->input_count; p++) {
        out->values[p] =
            call->arrays[p] ? quern_value_array(input_of(out, call, p)) : call->values[p];
    }
    return QUERN_OK;
}

void qn_scratch_free(qn_scratch *scratch)
{
    for (uint32_t p = 0; p < QUERN_MAX_PARAMETERS; p++) {
        quern_array_release(scratch->copies[p]);
    }
}
