/* SPDX-License-Identifier: MIT
 *
 * subject: which element of which argument a failure is about, in the user's words. In: the address
 * that the device recorded, and the argument's array. Out: "element 20 of 'w', which has 20" in the
 * message. The thing to know: an address outside the array is named as the element that would be
 * there if the first axis went on; where the layout has none, the message names the byte.
 */
#include "engine/engine_internal.h"
#include <stdlib.h>
#include <string.h>

/* Farther than this from the array, no element is named. No array is as long, and sums of steps
 * within that distance do not overflow. */
#define FARTHEST (INT64_C(1) << 62)

/* Axes from `first` on that move, the widest stride first. */
typedef struct axes {
    int count;
    int order[QUERN_MAX_NDIM];
} axes;

static axes sorted_axes(const quern_array *a, int first)
{
    axes out = {0};
    for (int d = first; d < a->ndim; d++) {
        if (a->shape[d] < 2 || a->strides[d] == 0) {
            continue;
        }
        int at = out.count++;
        for (; at > 0 && llabs(a->strides[out.order[at - 1]]) < llabs(a->strides[d]); at--) {
            out.order[at] = out.order[at - 1];
        }
        out.order[at] = d;
    }
    return out;
}

/* The index along the axes from `first` on that lies `offset` bytes away. False: none does. */
static bool find_index(int64_t *index, const quern_array *a, int first, int64_t offset)
{
    const axes sorted = sorted_axes(a, first);
    for (int d = first; d < a->ndim; d++) { /* count from the lowest address */
        index[d] = 0;
        offset -= QN_MIN(a->strides[d], 0) * QN_MAX(a->shape[d] - 1, 0);
    }
    for (int k = 0; k < sorted.count && offset >= 0; k++) {
        const int d = sorted.order[k];
        const int64_t stride = llabs(a->strides[d]), last = a->shape[d] - 1;
        const int64_t steps = QN_MIN(offset / stride, last);
        index[d] = a->strides[d] < 0 ? last - steps : steps;
        offset -= steps * stride;
    }
    return offset == 0;
}

/* The number of an index in C order. False: it is too large. */
static bool number_of(int64_t *number, const int64_t *index, const quern_array *a)
{
    bool fits = true;
    *number = 0;
    for (int d = 0; d < a->ndim && fits; d++) {
        fits = !__builtin_mul_overflow(*number, d > 0 ? a->shape[d] : 1, number) &&
               !__builtin_add_overflow(*number, index[d], number);
    }
    return fits;
}

/* The index that would lie there if the first axis had no ends. The other axes may reach across
 * several steps of the first, so the indexes around the quotient are tried, the nearest first. */
static bool find_beyond(int64_t *index, const quern_array *a, int64_t offset)
{
    enum { TRIES = 4096 };
    int64_t reach = 0;
    for (int d = 1; d < a->ndim; d++) {
        reach += llabs(a->strides[d]) * QN_MAX(a->shape[d] - 1, 0);
    }
    if (a->ndim == 0 || a->strides[0] == 0) {
        return false;
    }
    const int64_t middle = offset / a->strides[0];
    const int64_t tries = QN_MIN(reach / llabs(a->strides[0]) + 2, TRIES);
    for (int64_t k = 0; k <= tries; k++) {
        for (int side = -1; side <= 1; side += 2) {
            index[0] = middle + side * k;
            if ((index[0] < 0 || index[0] >= a->shape[0]) &&
                find_index(index, a, 1, offset - index[0] * a->strides[0])) {
                return true;
            }
        }
    }
    return false;
}

/* Bytes from the array's first element to the address. */
static int64_t offset_of(const qn_error_subject *subject, const quern_array *a)
{
    return (int64_t)(subject->address - (uint64_t)(uintptr_t)a->data);
}

/* The element at an address, or that would be there beyond the array's ends. */
typedef struct element {
    bool known, inside;
    int64_t index[QUERN_MAX_NDIM];
    int64_t number; /* in C order */
} element;

static element locate(const qn_error_subject *subject, const quern_array *a)
{
    const int64_t size = a->item_size, to_byte = offset_of(subject, a);
    element e = {0};
    if (to_byte < -FARTHEST || to_byte > FARTHEST) {
        return e;
    }
    /* Round down to an element: compilers may access only some of its bytes, as in x + x of two
     * packed uint16. */
    const int64_t offset = to_byte - (to_byte % size + size) % size;
    if (a->ndim == 0) {
        e.number = offset / size;
        e.inside = offset == 0;
        e.known = true;
        return e;
    }
    e.inside = a->count > 0 && find_index(e.index, a, 0, offset);
    e.known = (e.inside || find_beyond(e.index, a, offset)) && number_of(&e.number, e.index, a);
    return e;
}

int64_t qn_subject_element(const qn_error_subject *subject, const quern_array *array)
{
    if (subject->named != 0) {
        return subject->named == 1 ? subject->index : INT64_MIN;
    }
    if (subject->end == 0 || !array) {
        return INT64_MIN;
    }
    const element e = locate(subject, array);
    return e.known ? e.number : INT64_MIN;
}

/* ", element 20 of 'w', which has 20" */
static void print_element(qn_text *out, const char *name, const qn_error_subject *subject,
                          const quern_array *a)
{
    const element e = locate(subject, a);
    if (e.inside && a->ndim > 1) {
        qn_text_puts(out, ", element ");
        qn_shape_print(out, a->ndim, e.index);
        qn_text_printf(out, " of %s, of shape ", name);
        qn_shape_print(out, a->ndim, a->shape);
    } else if (e.known) {
        qn_text_printf(out, ", element %lld of %s, which has %lld", (long long)e.number, name,
                       (long long)a->count);
    } else {
        qn_text_printf(out, ", byte %lld of %s, which has %lld element%s",
                       (long long)offset_of(subject, a), name, (long long)a->count,
                       a->count == 1 ? "" : "s");
    }
}

/* ", element 15 of 'w', which has 3", or ", index 5 along axis 1 of 'w', of shape (3, 4)" */
static void print_named(qn_text *out, const char *name, const quern_array *a,
                        const qn_error_subject *subject)
{
    const long long index = subject->index;
    if (subject->named == 1) {
        qn_text_printf(out, ", element %lld of %s, which has %lld", index, name,
                       (long long)a->count);
        return;
    }
    qn_text_printf(out, ", index %lld along axis %u of %s, of shape ", index, subject->named - 2,
                   name);
    qn_shape_print(out, a->ndim, a->shape);
}

void qn_explain_subject(const qn_error_subject *subject, qn_str name, const quern_array *array)
{
    qn_text words = {0}, called = {0};
    if (name.length > 0) {
        qn_text_printf(&called, "'%.*s'", (int)name.length, name.data);
    } else {
        qn_text_printf(&called, "argument %u", subject->parameter + 1);
    }
    if (called.data && array && subject->named != 0) {
        print_named(&words, called.data, array, subject);
    } else if (called.data && array) {
        print_element(&words, called.data, subject, array);
    } else if (called.data) {
        qn_text_printf(&words, ", byte %lld of %s", (long long)subject->offset, called.data);
    }
    if (words.data && !words.failed) {
        qn_error_reword(subject->begin, subject->end, words.data);
    }
    qn_text_free(&called);
    qn_text_free(&words);
}
