/* SPDX-License-Identifier: MIT
 *
 * device_layout: the parameter block and the structures in it, as bytes. In: their fields as 64-bit
 * numbers. Out: the bytes of quern::space, quern::fold and quern::raw_array in a parameter block.
 * The thing to know: the fields and their order are listed once, in templates/layout.h, for both
 * sides; this file only says how large each kind of field is and how it is written.
 */
#include "engine/engine_internal.h"
#include <string.h>

/* ---- room in the block ---------------------------------------------------------------------- */

quern_status qn_block_reserve(unsigned char **out, qn_parameter_block *block, const qn_call *call,
                              uint32_t bytes, uint32_t alignment)
{
    uint32_t at = (block->used + alignment - 1) / alignment * alignment;
    const uint32_t limit = QN_PARAMETER_BYTES + block->extra;
    if (bytes > limit || at > limit - bytes) {
        return qn_fail(QUERN_ERROR_NOT_SUPPORTED,
                       "%s needs more than the %d bytes that a kernel's parameters may take: use "
                       "fewer parameters, or arrays with fewer dimensions",
                       call->kernel->name, QN_PARAMETER_BYTES);
    }
    block->offsets[block->count] = at;
    block->pointers[block->count++] = block->bytes + at;
    block->used = at + bytes;
    *out = block->bytes + at;
    return QUERN_OK;
}

/* ---- kinds of fields ------------------------------------------------------------------------ */

/* Bytes of each kind of field, where a number takes `width`. */
#define NUMBER_BYTES(name)      +width
#define NUMBERS_BYTES(name, n)  +width *(uint32_t)QUERN_SOME(n)
#define POINTER_BYTES(name)     +8
#define DIVIDER_BYTES(name)     +16
#define DIVIDERS_BYTES(name, n) +16 * (uint32_t)QUERN_SOME(n)
#define TABLE_BYTES(name, n, m) +width *(uint32_t)(QUERN_SOME(n) * QUERN_SOME(m))

/* Write a field of each kind at `to`, and step past it. */
#define PUT_NUMBER(name)      to = put_number(to, wide, fields->name);
#define PUT_NUMBERS(name, n)  to = put_numbers(to, wide, fields->name, n);
#define PUT_POINTER(name)     to = put_number(to, true, (int64_t)(intptr_t)fields->name);
#define PUT_DIVIDER(name)     to = put_divider(to, wide, fields->name);
#define PUT_DIVIDERS(name, n) to = put_dividers(to, wide, fields->name, n);
#define PUT_TABLE(name, n, m)                                                                      \
    for (int row = 0; row < QUERN_SOME(n); row++) {                                                \
        to = put_numbers(to, wide, (n) > 0 ? fields->name[row] : none, m);                         \
    }

/* Stands in for the row of a table without rows: C++ has no empty arrays, so both sides keep
 * one. */
static const int64_t none[QUERN_MAX_NDIM + 1];

static unsigned char *put_number(unsigned char *to, bool wide, int64_t value)
{
    if (wide) {
        memcpy(to, &value, 8);
        return to + 8;
    }
    int32_t narrow = (int32_t)value;
    memcpy(to, &narrow, 4);
    return to + 4;
}

static unsigned char *put_numbers(unsigned char *to, bool wide, const int64_t *values, int count)
{
    if (count == 0) {
        return put_number(to, wide, 0);
    }
    for (int k = 0; k < count; k++) {
        to = put_number(to, wide, values[k]);
    }
    return to;
}

/* quern::divider. 32 bits: the smallest shift with 2^shift >= divisor, and
 * magic = 2^32 (2^shift - divisor) / divisor + 1. */
static unsigned char *put_divider(unsigned char *to, bool wide, int64_t divisor)
{
    if (wide) {
        to = put_number(to, true, divisor);
        return put_number(to, true, 0);
    }
    uint32_t shift = 0;
    while ((INT64_C(1) << shift) < divisor) {
        shift++;
    }
    uint64_t magic =
        (UINT64_C(1) << 32) * ((UINT64_C(1) << shift) - (uint64_t)divisor) / (uint64_t)divisor + 1;
    uint32_t words[4] = {(uint32_t)divisor, (uint32_t)magic, shift, 0};
    memcpy(to, words, sizeof words);
    return to + sizeof words;
}

static unsigned char *put_dividers(unsigned char *to, bool wide, const int64_t *divisors, int count)
{
    if (count == 0) {
        return put_divider(to, wide, 1);
    }
    for (int k = 0; k < count; k++) {
        to = put_divider(to, wide, divisors[k]);
    }
    return to;
}

/* ---- the structures ------------------------------------------------------------------------- */

quern_status qn_put_space(qn_parameter_block *block, const qn_call *call, const qn_space *fields,
                          bool wide, int dims)
{
    const uint32_t width = wide ? 8 : 4;
    const int operands = (int)call->operand_count;
    uint32_t bytes =
        0 QUERN_SPACE(NUMBER_BYTES, DIVIDER_BYTES, DIVIDERS_BYTES, TABLE_BYTES, dims, operands);
    unsigned char *to;
    QN_TRY(qn_block_reserve(&to, block, call, bytes, width));
    QUERN_SPACE(PUT_NUMBER, PUT_DIVIDER, PUT_DIVIDERS, PUT_TABLE, dims, operands)
    return QUERN_OK;
}

quern_status qn_put_fold(qn_parameter_block *block, const qn_call *call,
                         const qn_fold_fields *fields, bool wide, int dims, int operands)
{
    const uint32_t width = wide ? 8 : 4;
    uint32_t bytes = 0 QUERN_FOLD(NUMBER_BYTES, DIVIDERS_BYTES, TABLE_BYTES, dims, operands);
    unsigned char *to;
    QN_TRY(qn_block_reserve(&to, block, call, bytes, width));
    QUERN_FOLD(PUT_NUMBER, PUT_DIVIDERS, PUT_TABLE, dims, operands)
    return QUERN_OK;
}

quern_status qn_put_raw_array(qn_parameter_block *block, const qn_call *call,
                              const qn_raw_array *fields, bool checked, int dims)
{
    const uint32_t width = 8;
    const bool wide = true;
    const uint32_t plain = 0 QUERN_RAW_ARRAY(NUMBER_BYTES, NUMBERS_BYTES, POINTER_BYTES, dims);
    const uint32_t whole = 0 QUERN_RAW_CHECKED(NUMBER_BYTES, NUMBERS_BYTES, POINTER_BYTES, dims);
    unsigned char *to;
    block->extra += checked ? whole - plain : 0;
    QN_TRY(qn_block_reserve(&to, block, call, checked ? whole : plain, width));
    if (checked) {
        QUERN_RAW_CHECKED(PUT_NUMBER, PUT_NUMBERS, PUT_POINTER, dims)
    } else {
        QUERN_RAW_ARRAY(PUT_NUMBER, PUT_NUMBERS, PUT_POINTER, dims)
    }
    return QUERN_OK;
}
