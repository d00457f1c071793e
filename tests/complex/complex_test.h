/* SPDX-License-Identifier: MIT
 *
 * complex_test: what the tests of complex functions are made of. A function has an operation, a
 * reference in libm for special values, one in MPC for accuracy, and the worst error that it may
 * have. Arguments are host arrays of both types; one kernel for each function and type takes them
 * all.
 */
#ifndef QUERN_COMPLEX_TEST_H
#define QUERN_COMPLEX_TEST_H

#include <complex.h>
#include <mpc.h>
#include <quern/quern.h>
#include <stdbool.h>

#ifndef CMPLX /* glibc has it only for gcc */
#define CMPLX(re, im)  __builtin_complex((double)(re), (double)(im))
#define CMPLXF(re, im) __builtin_complex((float)(re), (float)(im))
#define CMPLXL(re, im) __builtin_complex((long double)(re), (long double)(im))
#endif

/** Bits of the references of MPC. */
#define REFERENCE_BITS 110

typedef long double complex wide;

/* ---- functions.c: what is tested ------------------------------------------------------------ */

typedef struct function {
    const char *name;
    const char *operation; /**< of x and z, with the output y */
    int arity;
    const char *define; /**< an option of the kernel, or NULL */
    bool real;          /**< the result is real */
    bool normwise;      /**< the error is measured in ulp of the larger part */
    bool finite;        /**< special arguments with an infinity are left out */
    bool spoilt;        /**< if one part overflows, nothing is promised about the other */
    /** The reference in libm, or a substitute; NULL if there is none. */
    wide (*libm)(wide x, wide z);
    void (*exact)(mpc_ptr result, mpc_srcptr x, mpc_srcptr z);
    double bound[2]; /**< for float, double: how many ulp the result may be off */
} function;

extern const function functions[];
extern const size_t function_count;

/* ---- numbers.c: one type or the other ------------------------------------------------------- */

typedef enum precision { SINGLE, DOUBLE } precision;

/** What a type is made of. */
typedef struct format {
    const char *name;
    quern_dtype dtype;
    int bits, least, most; /**< 2^least is the smallest normal number, 2^most just too large */
} format;

extern const format formats[2];

/** A number of the type; `value` is rounded to it. */
double rounded(precision p, long double value);
/** How far `got` is from `exact`, in ulp of a number as large as `size`; 0 if both overflow. */
double error_in_ulp(precision p, double got, mpfr_srcptr exact, mpfr_srcptr size);

/* ---- device.c: results ---------------------------------------------------------------------- */

/** Ends the program, with the library's words, when a call failed. */
void must(quern_status status, const char *what);
/** `x` and `z` hold the parts of `count` arguments in turn; so does the result, with imaginary part
 * 0 if it is real. */
void evaluate(quern_engine *engine, const function *f, precision p, size_t count, const double *x,
              const double *z, double *y);

/* ---- arguments.c: random and nasty ones ----------------------------------------------------- */

/** Fill `count` arguments (and second ones) for a function, the same ones each time. */
void make_arguments(precision p, const function *f, size_t count, double *x, double *z);

#endif /* QUERN_COMPLEX_TEST_H */
