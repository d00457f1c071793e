/* SPDX-License-Identifier: MIT
 *
 * device_side: what a kernel sees of the structures that the host wrote for it, by the device's own
 * headers, which device_side.cpp compiles for the CPU. In: the bytes of a parameter. Out: fields as
 * 64-bit numbers.
 */
#ifndef DEVICE_SIDE_H
#define DEVICE_SIDE_H

#include "templates/layout.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** The most that is asked for; more gives a size of 0. */
enum { DEVICE_DIMS = 6, DEVICE_OPERANDS = 4 };

typedef struct device_divider {
    unsigned char bytes[16];
    int64_t value;
    bool wide;
} device_divider;

#define DEVICE_NUMBER(name)      int64_t name;
#define DEVICE_DIVIDER(name)     device_divider name;
#define DEVICE_DIVIDERS(name, n) device_divider name[DEVICE_DIMS];
#define DEVICE_TABLE(name, n, m) int64_t name[DEVICE_OPERANDS][DEVICE_DIMS + 1];

typedef struct device_space {
    QUERN_SPACE(DEVICE_NUMBER, DEVICE_DIVIDER, DEVICE_DIVIDERS, DEVICE_TABLE, , )
} device_space;

typedef struct device_fold {
    QUERN_FOLD(DEVICE_NUMBER, DEVICE_DIVIDERS, DEVICE_TABLE, , )
} device_fold;

typedef struct device_raw_array {
    const void *data; /**< address of element 0 */
    int64_t size, shape[DEVICE_DIMS], strides[DEVICE_DIMS];
} device_raw_array;

#ifdef __cplusplus
extern "C" {
#endif

/** Each: what the structure says; returns its size in bytes. */
size_t device_read_space(device_space *out, const void *bytes, bool wide, int dims, int operands);
size_t device_read_fold(device_fold *out, const void *bytes, bool wide, int dims, int operands);
size_t device_read_raw_array(device_raw_array *out, const void *bytes, int dims);
/** `n` divided as a kernel divides it. */
int64_t device_divide(const device_divider *divider, int64_t n);

#ifdef __cplusplus
}
#endif

/* What the outer dimensions add to each operand's address at row `row`. */
static inline void device_row_offsets(int64_t *offset, const device_space *s, int ndim,
                                      uint32_t operands, int64_t row)
{
    memset(offset, 0, 8 * sizeof *offset);
    for (int d = ndim - 2; d >= 0; d--) {
        int64_t c = row;
        if (d > 0) {
            row = device_divide(&s->outer[d], c);
            c -= row * s->outer[d].value;
        }
        for (uint32_t k = 0; k < operands; k++) {
            offset[k] += c * s->stride[k][d];
        }
    }
}

#endif /* DEVICE_SIDE_H */
