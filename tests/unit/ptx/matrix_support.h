/* SPDX-License-Identifier: MIT
 *
 * What the tests of the matrix instructions share: elements of every type in memory, matrices of
 * numbers, and what their product should be.
 */
#ifndef MATRIX_SUPPORT_H
#define MATRIX_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum element {
    F16,
    BF16,
    TF32,
    E4M3,
    E5M2,
    F32,
    F64,
    S8,
    U8,
    S4,
    U4,
    B1,
    S32,
} element;

unsigned element_bits(element type);
/* Write the number, which the type holds exactly or nearly, as element `index`; read one. */
void element_put(void *memory, element type, size_t index, double value);
double element_get(const void *memory, element type, size_t index);

enum { MOST = 4096 }; /* elements of a matrix */

/* D = A B + C: m rows, n columns; everything by rows, B too. */
typedef struct product {
    unsigned m, n, k;
    double a[MOST], b[MOST], c[MOST];
    bool exclusive; /* of b1: popc(a ^ b), not popc(a & b) */
} product;

/* Small whole numbers, which every type holds and every order of summation keeps exact; for
 * integers, any number of the type. */
void product_fill(product *p, element a, element b, element c);
/* An element of D, exactly, or as near as double comes. */
double product_exact(const product *p, unsigned row, unsigned column);
/* The sum of the magnitudes that it is made of. */
double product_size(const product *p, unsigned row, unsigned column);
/* To the range of s32: the nearest number in it (if `saturate`), or what the low 32 bits hold. */
double product_wrap(double sum, bool saturate);
/* A number from -1 to 1, the same sequence in every run. */
double random_number(void);

#endif /* MATRIX_SUPPORT_H */
