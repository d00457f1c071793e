/* SPDX-License-Identifier: MIT
 *
 * The conformance runner: what its two files share. It uses only libc, so it can be trusted where
 * the library is wrong, and runs where NumPy is not installed.
 */
#ifndef CONFORMANCE_CASE_H
#define CONFORMANCE_CASE_H

#include <stdbool.h>
#include <stddef.h>

/** One case.json: the command line, and either the error or the outputs and their tolerance. */
typedef struct test_case {
    char *argv[64]; /**< [0] is left free for the program; ends with NULL */
    int argc;
    char *outputs[64];
    int output_count;
    bool fails;
    double rtol;
} test_case;

/** Print a message (printf) and leave with status 1. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** A whole file, terminated by a zero byte that *size does not count; dies when it cannot be read.
 */
char *read_file(const char *path, size_t *size);

/** Compare two NPY files as NumPy's allclose() does with equal_nan, with an absolute tolerance of a
 * tenth of `rtol` times the largest finite value expected; integers, or all values if `rtol` is 0,
 * must be equal. Dies at a difference, with its place. */
void npy_compare(const char *name, const char *got_path, const char *want_path, double rtol);

#endif /* CONFORMANCE_CASE_H */
