/* SPDX-License-Identifier: MIT
 *
 * Calls of elementwise kernels on a real device: what comes out, which arguments are refused and
 * how.
 */
#include "whole.h"
#include <math.h>
#include <stdlib.h>

TestSuite(call, .init = whole_open, .fini = whole_close);

/* ---- results -------------------------------------------------------------------------------- */

Test(call, five_calls)
{
    float x[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, y[5] = {1, 1, 2, 2, 3};
    quern_array *a = array_of(QUERN_FLOAT32, SHAPE(2, 5), x);
    quern_array *b = array_of(QUERN_FLOAT32, SHAPE(5), y), *z = NULL;
    quern_kernel *k = kernel_of("T x, T y", "T z", "z = (x - y) * (x - y)");
    OK(quern_call(k, a, b, &z));
    cr_assert_eq(quern_array_ndim(z), 2);
    EXPECT(z, float, 1, 0, 0, 1, 1, 16, 25, 25, 36, 36);
    quern_array_release(a);
    quern_array_release(b);
    quern_array_release(z);
    quern_kernel_release(k);
}

/* Around every vector width, and from every alignment: each element once, its neighbours
 * untouched. */
Test(call, sizes_and_alignments)
{
    enum { N = 80 };
    quern_kernel *k = kernel_of("T x", "T y", "y = x + 1");
    unsigned char host[N], before[N], got[N];
    for (int b = 0; b < N; b++) {
        host[b] = (unsigned char)(b * 3);
        before[b] = 0xee;
    }
    for (int size = 0; size <= 40; size += size < 20 ? 1 : 7) {
        for (int from = 0; from < 18; from += 5) {
            for (int to = 0; to < 18; to += 3) {
                quern_array *x = array_of(QUERN_UINT8, SHAPE(N), host), *vx;
                quern_array *y = array_of(QUERN_UINT8, SHAPE(N), before), *vy;
                OK(quern_array_slice(&vx, x, 1, &(quern_slice){from, from + size, 1}));
                OK(quern_array_slice(&vy, y, 1, &(quern_slice){to, to + size, 1}));
                OK(quern_call(k, vx, vy));
                OK(quern_array_read(y, got, N));
                for (int b = 0; b < N; b++) {
                    bool inside = b >= to && b < to + size;
                    unsigned char want =
                        inside ? (unsigned char)(host[b - to + from] + 1) : before[b];
                    cr_assert_eq(got[b], want, "size %d from %d to %d: byte %d", size, from, to, b);
                }
                quern_array_release(x);
                quern_array_release(y);
                quern_array_release(vx);
                quern_array_release(vy);
            }
        }
    }
    quern_kernel_release(k);
}

Test(call, every_dtype)
{
    static const quern_dtype dtypes[] = {
        QUERN_BOOL,     QUERN_INT8,    QUERN_INT16,   QUERN_INT32,     QUERN_INT64,
        QUERN_UINT8,    QUERN_UINT16,  QUERN_UINT32,  QUERN_UINT64,    QUERN_FLOAT16,
        QUERN_BFLOAT16, QUERN_FLOAT32, QUERN_FLOAT64, QUERN_COMPLEX64, QUERN_COMPLEX128};
    float host[37];
    for (int k = 0; k < 37; k++) {
        host[k] = (float)(k % 2);
    }
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(37), host);
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        quern_array *y, *z = NULL;
        quern_kernel *there = kernel_of("float32 x", "T y", "y = T(x)");
        quern_kernel *back =
            kernel_of("T y", "float32 z",
                      dtypes[d] >= QUERN_COMPLEX64 ? "z = real(y) + imag(y)" : "z = (float)y");
        OK(quern_array_new(&y, engine, dtypes[d], SHAPE(37)));
        OK(quern_call(there, x, y));
        OK(quern_call(back, y, &z));
        expect_bytes(z, host, sizeof host, quern_dtype_name(dtypes[d]));
        quern_array_release(y);
        quern_array_release(z);
        quern_kernel_release(there);
        quern_kernel_release(back);
    }
    quern_array_release(x);
}

Test(call, layouts)
{
    int32_t host[24];
    for (int k = 0; k < 24; k++) {
        host[k] = k;
    }
    quern_array *x = array_of(QUERN_INT32, SHAPE(2, 3, 4), host), *xt, *y = NULL, *z = NULL;
    OK(quern_array_transpose(&xt, x, NULL));
    quern_kernel *k = kernel_of("T x", "T y", "y = x * 10");
    OK(quern_call(k, xt, &y)); /* 4 x 3 x 2, C order */
    int32_t want[24];
    for (int a = 0; a < 4; a++) {
        for (int b = 0; b < 3; b++) {
            for (int c = 0; c < 2; c++) {
                want[(a * 3 + b) * 2 + c] = host[(c * 3 + b) * 4 + a] * 10;
            }
        }
    }
    expect_bytes(y, want, sizeof want, "transposed");
    quern_array *back;
    OK(quern_array_transpose(&back, y, NULL));
    quern_kernel *add = kernel_of("T x, T y", "T z", "z = y - x + i");
    OK(quern_call(add, x, back, &z));
    for (int n = 0; n < 24; n++) {
        want[n] = host[n] * 9 + n;
    }
    expect_bytes(z, want, sizeof want, "with the position");
    quern_array *all[] = {x, xt, y, z, back};
    for (int n = 0; n < 5; n++) {
        quern_array_release(all[n]);
    }
    quern_kernel_release(k);
    quern_kernel_release(add);
}

/* Expect that `got`, of this shape, is `x` with its last two axes exchanged, byte by byte. */
static void expect_transposed(quern_array *got, quern_array *x, const int64_t *shape, size_t size)
{
    size_t bytes = (size_t)quern_array_count(x) * size;
    unsigned char *from = malloc(bytes), *to = malloc(bytes);
    OK(quern_array_read(x, from, bytes));
    for (int64_t a = 0; a < shape[0]; a++) {
        for (int64_t b = 0; b < shape[1]; b++) {
            for (int64_t c = 0; c < shape[2]; c++) {
                memcpy(to + (size_t)((a * shape[1] + b) * shape[2] + c) * size,
                       from + (size_t)((a * shape[2] + c) * shape[1] + b) * size, size);
            }
        }
    }
    expect_bytes(got, to, bytes, "transposed");
    free(from);
    free(to);
}

/* Operands that disagree on the fast axis, past and at the sides of tiles, in every element size.
 */
Test(call, tiles)
{
    static const quern_dtype dtypes[] = {QUERN_UINT8, QUERN_FLOAT16, QUERN_INT32, QUERN_FLOAT64,
                                         QUERN_COMPLEX128};
    static const int64_t shapes[][3] = {{1, 64, 64},  {1, 100, 33}, {3, 130, 65},
                                        {2, 63, 129}, {1, 5, 1200}, {3, 7, 900}};
    quern_kernel *numbers = kernel_of("", "T x", "x = T(float(i % 251))");
    quern_kernel *copy = kernel_of("T x", "T y", "y = x");
    quern_kernel *add = kernel_of("T x, T y, T w", "T z", "z = x + y + w");
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
            int64_t turned[] = {shapes[s][0], shapes[s][2], shapes[s][1]};
            quern_array *x, *y, *xt, *flat = NULL, *tiled = NULL, *plain = NULL, *ft;
            OK(quern_array_new(&x, engine, dtypes[d], 3, turned));
            OK(quern_array_new(&y, engine, dtypes[d], 3, shapes[s]));
            OK(quern_call(numbers, x));
            OK(quern_call(numbers, y));
            OK(quern_array_transpose(&xt, x, (int[]){0, 2, 1}));
            OK(quern_call(add, xt, y, xt, &tiled));
            OK(quern_array_copy(&flat, xt)); /* also by tiles, or boxes */
            expect_transposed(flat, x, shapes[s], quern_dtype_size(dtypes[d]));
            OK(quern_call(add, flat, y, flat, &plain));
            size_t bytes = (size_t)quern_array_count(y) * quern_dtype_size(dtypes[d]);
            void *want = malloc(bytes);
            OK(quern_array_read(plain, want, bytes));
            expect_bytes(tiled, want, bytes, quern_dtype_name(dtypes[d]));
            OK(quern_array_transpose(&ft, flat, (int[]){0, 2, 1}));
            OK(quern_array_read(x, want, bytes));
            quern_array *back = NULL;
            OK(quern_call(copy, ft, &back));
            expect_bytes(back, want, bytes, "there and back");
            free(want);
            quern_array *all[] = {x, y, xt, flat, tiled, plain, ft, back};
            for (int n = 0; n < 8; n++) {
                quern_array_release(all[n]);
            }
        }
    }
    quern_kernel_release(numbers);
    quern_kernel_release(copy);
    quern_kernel_release(add);
}

Test(call, position_along_axes)
{
    quern_array *r = NULL, *x;
    OK(quern_array_new(&x, engine, QUERN_FLOAT32, SHAPE(2, 3)));
    quern_kernel *k = kernel_of("T x", "int32 r",
                                "r = 100 * _ind.get()[0] + 10 * _ind.get()[1] + (int)_ind.size()");
    OK(quern_call(k, x, &r));
    EXPECT(r, int32_t, 6, 16, 26, 106, 116, 126);
    quern_array_release(r);
    quern_array_release(x);
    quern_kernel_release(k);
}

Test(call, raw_parameters)
{
    int32_t host[6] = {1, 2, 3, 4, 5, 6};
    quern_array *x = array_of(QUERN_INT32, SHAPE(2, 3), host), *xt, *y = NULL;
    OK(quern_array_transpose(&xt, x, NULL));
    quern_kernel *k =
        kernel_of("raw T x", "raw T y",
                  "int at[] = {(int)(i % 3), 1}; y[i] = 10 * x[i] + x[at] + 1000 * x.ndim + "
                  "100 * (int)x.shape()[0] + (int)x.strides()[0] + (int)x.size()");
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.loop_size = &(int64_t){6};
    OK(quern_call_n(k, (quern_value[]){QUERN_VALUES(xt, &y)}, 2, &options));
    EXPECT(y, int32_t, 2324, 2355, 2336, 2364, 2345, 2376 - 0);
    quern_array_release(x);
    quern_array_release(xt);
    quern_array_release(y);
    quern_kernel_release(k);
}

Test(call, partial_overlap_reads_before_it_writes)
{
    int64_t host[100], want[100];
    for (int n = 0; n < 100; n++) {
        host[n] = want[n] = n;
    }
    for (int n = 1; n < 100; n++) {
        want[n] = host[n - 1] + host[n];
    }
    quern_array *x = array_of(QUERN_INT64, SHAPE(100), host), *head, *tail;
    OK(quern_array_slice(&head, x, 1, &(quern_slice){0, 99, 1}));
    OK(quern_array_slice(&tail, x, 1, &(quern_slice){1, 100, 1}));
    quern_kernel *k = kernel_of("T x, T y", "T z", "z = x + y");
    OK(quern_call(k, head, tail, tail));
    expect_bytes(x, want, sizeof want, "shifted in place");
    quern_array *reversed;
    OK(quern_array_slice(&reversed, x, 1, &(quern_slice){QUERN_SLICE_NONE, QUERN_SLICE_NONE, -1}));
    quern_kernel *copy = kernel_of("T x", "T y", "y = x");
    OK(quern_call(copy, reversed, x));
    int64_t turned[100];
    for (int n = 0; n < 100; n++) {
        turned[n] = want[99 - n];
    }
    expect_bytes(x, turned, sizeof turned, "reversed in place");
    quern_array *all[] = {x, head, tail, reversed};
    for (int n = 0; n < 4; n++) {
        quern_array_release(all[n]);
    }
    quern_kernel_release(k);
    quern_kernel_release(copy);
}

Test(call, in_place_and_several_outputs)
{
    float host[7] = {1, 2, 3, 4, 5, 6, 7};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(7), host), *d = NULL;
    quern_kernel *k = kernel_of("T x", "T s, T d", "s = x + x; d = x - 1");
    OK(quern_call(k, x, x, &d));
    EXPECT(x, float, 2, 4, 6, 8, 10, 12, 14);
    EXPECT(d, float, 0, 1, 2, 3, 4, 5, 6);
    quern_value dropped = {QUERN_VALUE_NONE, 0, {0}};
    OK(quern_call(k, x, quern_value_output(&x), dropped));
    quern_array_release(x);
    quern_array_release(d);
    quern_kernel_release(k);
}

Test(call, an_output_keeps_what_is_not_assigned)
{
    int32_t x[6] = {1, -2, 3, -4, 5, -6}, y[6] = {10, 20, 30, 40, 50, 60};
    quern_array *a = array_of(QUERN_INT32, SHAPE(6), x), *b = array_of(QUERN_INT32, SHAPE(6), y);
    quern_kernel *k = kernel_of("T x", "T y", "if (x < 0) continue; if (x > 4) return; y += x");
    OK(quern_call(k, a, b));
    EXPECT(b, int32_t, 11, 20, 33, 40, 50, 60);
    quern_array_release(a);
    quern_array_release(b);
    quern_kernel_release(k);
}

Test(call, scalars)
{
    float host[3] = {1, 2, 3};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(3), host), *y = NULL, *z = NULL, *w = NULL;
    quern_kernel *k = kernel_of("T x, T a, U b", "T y", "y = x * a + b");
    OK(quern_call(k, x, 2, 0.5, &y));
    EXPECT(y, float, 2.5f, 4.5f, 6.5f);
    quern_kernel *only = kernel_of("T a", "T y", "y = a / 2");
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.loop_size = &(int64_t){2};
    OK(quern_call_n(only, (quern_value[]){QUERN_VALUES(5, &z)}, 2, &options));
    cr_assert_eq(quern_array_dtype(z), QUERN_INT64);
    EXPECT(z, int64_t, 2, 2);
    OK(quern_call_n(only, (quern_value[]){QUERN_VALUES(5.0, &w)}, 2, &options));
    cr_assert_eq(quern_array_dtype(w), QUERN_FLOAT64);
    EXPECT(w, double, 2.5, 2.5);
    quern_array *all[] = {x, y, z, w};
    for (int n = 0; n < 4; n++) {
        quern_array_release(all[n]);
    }
    quern_kernel_release(k);
    quern_kernel_release(only);
}

Test(call, nothing_to_do)
{
    quern_array *x, *y = NULL;
    OK(quern_array_new(&x, engine, QUERN_FLOAT32, SHAPE(3, 0, 2)));
    quern_kernel *k = kernel_of("T x", "T y", "y = this is never compiled");
    OK(quern_call(k, x, &y));
    cr_assert_eq(quern_array_ndim(y), 3);
    cr_assert_eq(quern_array_count(y), 0);
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(k);
}

Test(call, atomics_through_an_output)
{
    int32_t x[64], y[64];
    for (int n = 0; n < 64; n++) {
        x[n] = n;
        y[n] = 1;
    }
    quern_array *a = array_of(QUERN_INT32, SHAPE(64), x), *b = array_of(QUERN_INT32, SHAPE(64), y);
    quern_kernel *k = kernel_of("int32 x", "int32 y", "atomicAdd(&y, x)");
    OK(quern_call(k, a, b));
    for (int n = 0; n < 64; n++) {
        y[n] += x[n];
    }
    expect_bytes(b, y, sizeof y, "atomicAdd");
    quern_array_release(a);
    quern_array_release(b);
    quern_kernel_release(k);
}

/* ---- refusals ------------------------------------------------------------------------------- */

Test(call, refusals)
{
    float host[12] = {0};
    int64_t longs[3] = {0};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(3, 4), host), *r, *z = NULL;
    quern_array *y = array_of(QUERN_FLOAT32, SHAPE(3), host);
    quern_array *l = array_of(QUERN_INT64, SHAPE(3), longs);
    quern_kernel *k = kernel_of("T x, T y", "T z", "z = x + y");
    quern_kernel *f = kernel_of("float32 x", "float32 y", "y = x");
    quern_kernel *raw = kernel_of("raw T x", "raw T y", "y[i] = x[i]");
    quern_kernel *narrow = kernel_of("int8 a, T x", "T y", "y = x + a");

    FAILS(QUERN_ERROR_SHAPE, quern_call(k, x, y, &z));
    SAYS("(3, 4)");
    cr_assert_null(z);
    FAILS(QUERN_ERROR_SHAPE, quern_call(f, x, y));
    FAILS(QUERN_ERROR_TYPE, quern_call(k, y, l, &z));
    SAYS("int64");
    FAILS(QUERN_ERROR_TYPE, quern_call(f, l, &z));
    FAILS(QUERN_ERROR_ARGUMENT_COUNT, quern_call(k, x, y));
    SAYS("3 arguments");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_call(k, x, (quern_array *)NULL, &z));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_call(raw, y, &z));
    SAYS("size");
    FAILS(QUERN_ERROR_TYPE, quern_call(k, x, y, 3));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_call(raw, 3, &z));
    SAYS("size");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_call((quern_kernel *)NULL, x));

    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    options.loop_size = &(int64_t){3};
    FAILS(QUERN_ERROR_INVALID_ARGUMENT,
          quern_call_n(f, (quern_value[]){QUERN_VALUES(y, &z)}, 2, &options));
    SAYS("raw");
    options.loop_size = &(int64_t){-1};
    FAILS(QUERN_ERROR_INVALID_ARGUMENT,
          quern_call_n(raw, (quern_value[]){QUERN_VALUES(y, &z)}, 2, &options));
    options.size = 3;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT,
          quern_call_n(raw, (quern_value[]){QUERN_VALUES(y, &z)}, 2, &options));

    OK(quern_array_broadcast(&r, y, SHAPE(4, 3)));
    FAILS(QUERN_ERROR_SHAPE, quern_call(f, r, r));
    SAYS("broadcast view");
    FAILS(QUERN_ERROR_VALUE, quern_call(narrow, 300, y, &z));
    SAYS("a");

    quern_array *all[] = {x, y, l, r};
    for (int n = 0; n < 4; n++) {
        quern_array_release(all[n]);
    }
    quern_kernel_release(k);
    quern_kernel_release(f);
    quern_kernel_release(raw);
    quern_kernel_release(narrow);
}

Test(call, a_snippet_that_does_not_compile)
{
    float host[3] = {0};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(3), host), *z = NULL;
    quern_kernel *k = kernel_of("T x", "T z", "z = x;\nz = foo + 1");
    FAILS(QUERN_ERROR_COMPILE, quern_call(k, x, &z));
    const quern_error *e = quern_last_error();
    cr_assert_str_eq(e->text_name, "operation");
    cr_assert_eq(e->begin, 11u, "the span begins at %u", e->begin);
    cr_assert_eq(e->end, 14u, "the span ends at %u", e->end);
    SAYS("operation:2:5");
    cr_assert(strlen(e->log) > 0 && strstr(e->source, "quern_kernel"));
    cr_assert_null(z);
    OK(quern_synchronize(engine));
    cr_assert_eq(quern_last_error()->status, QUERN_OK);
    quern_array_release(x);
    quern_kernel_release(k);
}

Test(call, block_sizes)
{
    float host[1000] = {0};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(1000), host), *z = NULL;
    quern_kernel *k = kernel_of("T x", "T z", "z = x + i");
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    for (int n = 0; n < 1000; n++) {
        host[n] = (float)n;
    }
    for (uint32_t block = 1; block <= 1024; block = block * 3 + 2) {
        options.block_size = block;
        OK(quern_call_n(k, (quern_value[]){QUERN_VALUES(x, &z)}, 2, &options));
        expect_bytes(z, host, sizeof host, "block size");
        quern_array_release(z);
        z = NULL;
    }
    options.block_size = 5000;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT,
          quern_call_n(k, (quern_value[]){QUERN_VALUES(x, &z)}, 2, &options));
    quern_array_release(x);
    quern_kernel_release(k);
}

/* Every kind of value in every wrong place: what it is, and what to do. */
Test(call, kinds_in_wrong_places)
{
    float host[2] = {1, 2};
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(2), host), *z = NULL;
    quern_kernel *k = kernel_of("T x, raw T w", "T z", "z = x + w[0]");
    const struct {
        quern_value values[3];
        const char *says;
    } cases[] = {
        {{quern_value_pointer(host), quern_value_array(x), quern_value_output(&z)},
         "a pointer is for functions of modules"},
        {{quern_value_struct(host, 8), quern_value_array(x), quern_value_output(&z)},
         "a structure is for records, and the parameter is float32"},
        {{quern_value_output(&x), quern_value_array(x), quern_value_output(&z)},
         "an input cannot be given as a place for an output"},
        {{{QUERN_VALUE_NONE, 0, {0}}, quern_value_array(x), quern_value_output(&z)},
         "the input is missing"},
        {{quern_value_array(x), quern_literal_int(1), quern_value_output(&z)},
         "expression must have pointer-to-object type"}, /* a number has no elements */
        {{quern_value_array(x), quern_value_pointer(host), quern_value_output(&z)},
         "a pointer is for functions of modules"},
        {{quern_value_array(x), quern_value_array(x), quern_literal_int(1)},
         "an output must be an array"},
        {{quern_value_array(x), quern_value_array(x), quern_value_pointer(host)},
         "a pointer is for functions of modules"},
        {{quern_value_array(x), quern_value_array(x), quern_value_struct(host, 8)},
         "an output must be an array, not a structure"},
        {{{99, 0, {0}}, quern_value_array(x), quern_value_output(&z)}, "its kind is unknown"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        cr_expect_neq(quern_call_n(k, cases[c].values, 3, NULL), QUERN_OK, "case %zu", c);
        SAYS(cases[c].says);
    }
    cr_assert_null(z);
    quern_array_release(x);
    quern_kernel_release(k);
}
