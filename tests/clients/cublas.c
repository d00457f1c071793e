/* SPDX-License-Identifier: MIT
 *
 * cuBLAS on a stream that Quern has wrapped: matrix products of Quern's arrays. Quern's arrays are
 * in C order and cuBLAS thinks in columns, so a product a b is asked for as the transposed one,
 * b' a', in which each array is what it is; a transposed view is an operand with CUBLAS_OP_T. Each
 * product is computed again by a kernel of Quern's, and a kernel of Quern's works on the result.
 * The numbers are small integers, so that both are exact, in float32 too.
 */
#include "client.h"

#include <cublas_v2.h>

#define ROWS    96
#define INNER   160
#define COLUMNS 128
#define BATCHES 5
#define MARGIN  8 /* columns on each side of a batched matrix that are none of it */

static quern_engine *engine;
static cudaStream_t theirs;
static quern_stream *wrapped;
static quern_call_options on_wrapped = QUERN_CALL_OPTIONS_INIT;
static cublasHandle_t cublas;
static client_delay delay;
static quern_kernel *scramble, *product, *different, *clip, *largest;

static void blas(cublasStatus_t status, const char *what)
{
    if (status != CUBLAS_STATUS_SUCCESS) {
        fprintf(stderr, "error: %s: %s\n", what, cublasGetStatusString(status));
        exit(1);
    }
}

/* The value of an array without dimensions, once the stream is there. */
static double value_of(quern_array *array)
{
    double value;
    must(quern_array_read_on(array, &value, sizeof value, wrapped));
    must(quern_stream_wait(wrapped));
    quern_array_release(array);
    return value;
}

/* A matrix, or some, of integers from -7 to 7. They come late: who does not wait for the stream
 * finds -1. */
static quern_array *numbers(quern_dtype dtype, int ndim, const int64_t *shape, int seed)
{
    quern_array *array;
    must(quern_array_new(&array, engine, dtype, ndim, shape));
    if (dtype == QUERN_FLOAT32) {
        must(quern_array_fill(array, &(float){-1}, sizeof(float)));
    } else {
        must(quern_array_fill(array, &(double){-1}, sizeof(double)));
    }
    must(quern_stream_lead(engine, NULL, theirs));
    client_delay_on(&delay, wrapped);
    must(quern_call_with(scramble, &on_wrapped, seed, array));
    return array;
}

/* c = a b of matrices in C order, or of `count` pairs of them. The rows of a begin a_step numbers
 * after each other; a_turned: a holds the transposed matrix. */
typedef struct gemm {
    int a_step, a_turned, count;
    int64_t a_next; /* from one matrix of a to the next */
} gemm;

static void multiply(quern_dtype dtype, const void *a, const void *b, void *c, const gemm *g)
{
    const cublasOperation_t op_a = g->a_turned ? CUBLAS_OP_T : CUBLAS_OP_N;
    const float one = 1, zero = 0;
    const double one_d = 1, zero_d = 0;
    const long long b_next = INNER * COLUMNS, c_next = ROWS * COLUMNS;
    if (dtype == QUERN_FLOAT32 && g->count == 1) {
        blas(cublasSgemm(cublas, CUBLAS_OP_N, op_a, COLUMNS, ROWS, INNER, &one, b, COLUMNS, a,
                         g->a_step, &zero, c, COLUMNS),
             "cublasSgemm");
    } else if (dtype == QUERN_FLOAT32) {
        blas(cublasSgemmStridedBatched(cublas, CUBLAS_OP_N, op_a, COLUMNS, ROWS, INNER, &one, b,
                                       COLUMNS, b_next, a, g->a_step, g->a_next, &zero, c, COLUMNS,
                                       c_next, g->count),
             "cublasSgemmStridedBatched");
    } else if (g->count == 1) {
        blas(cublasDgemm(cublas, CUBLAS_OP_N, op_a, COLUMNS, ROWS, INNER, &one_d, b, COLUMNS, a,
                         g->a_step, &zero_d, c, COLUMNS),
             "cublasDgemm");
    } else {
        blas(cublasDgemmStridedBatched(cublas, CUBLAS_OP_N, op_a, COLUMNS, ROWS, INNER, &one_d, b,
                                       COLUMNS, b_next, a, g->a_step, g->a_next, &zero_d, c,
                                       COLUMNS, c_next, g->count),
             "cublasDgemmStridedBatched");
    }
}

/* `c`, which cuBLAS made, against Quern's own product; then Quern's kernels work on it. The host
 * computes one element besides, so that not all of it is agreed between two libraries. */
static void check_product(quern_array *a, quern_array *b, quern_array *c, const char *what)
{
    const quern_dtype dtype = quern_array_dtype(c);
    quern_array *again, *wrong = NULL, *clipped = NULL, *most = NULL;
    must(quern_array_new(&again, engine, dtype, quern_array_ndim(c), quern_array_shape(c)));
    must(quern_stream_lead(engine, NULL, theirs));
    must(quern_call_with(product, &on_wrapped, a, b, ROWS, INNER, COLUMNS, again));
    must(quern_call_with(different, &on_wrapped, c, again, &wrong));
    check(value_of(wrong) == 0, what);

    must(quern_call_with(clip, &on_wrapped, c, 100, &clipped));
    must(quern_call_with(largest, &on_wrapped, c, &most));
    check(value_of(most) > 100, "it has larger numbers than 100");
    most = NULL;
    must(quern_call_with(largest, &on_wrapped, clipped, &most));
    check(value_of(most) == 100, "and none when a kernel of Quern's has clipped it");
    quern_array_release(clipped);
    quern_array_release(again);
}

static quern_array *result_of(quern_dtype dtype, int ndim, const int64_t *shape)
{
    quern_array *c;
    must(quern_array_new(&c, engine, dtype, ndim, shape));
    must(quern_stream_lead(engine, NULL, theirs));
    return c;
}

static void drop(quern_array *a, quern_array *b, quern_array *c)
{
    must(quern_stream_follow(engine, NULL, theirs)); /* in whose order they are freed */
    quern_array_release(a);
    quern_array_release(b);
    quern_array_release(c);
}

/* ---- the products -----------------------------------------------------------------------------
 */

/* One element by the host, from copies of the operands. */
static void check_on_host(quern_array *a, quern_array *b, quern_array *c)
{
    static float host_a[ROWS * INNER], host_b[INNER * COLUMNS], host_c[ROWS * COLUMNS];
    const int row = 17, column = 101;
    float sum = 0;
    must(quern_array_read_on(a, host_a, sizeof host_a, wrapped));
    must(quern_array_read_on(b, host_b, sizeof host_b, wrapped));
    must(quern_array_read_on(c, host_c, sizeof host_c, wrapped));
    must(quern_stream_wait(wrapped));
    for (int k = 0; k < INNER; k++) {
        sum += host_a[row * INNER + k] * host_b[k * COLUMNS + column];
    }
    check(host_c[row * COLUMNS + column] == sum, "and by the host, one element of it");
}

static void plain(quern_dtype dtype, const char *what)
{
    const gemm g = {.a_step = INNER, .count = 1};
    const int64_t shape_a[] = {ROWS, INNER}, shape_b[] = {INNER, COLUMNS},
                  shape[] = {ROWS, COLUMNS};
    quern_array *c = result_of(dtype, 2, shape);
    quern_array *a = numbers(dtype, 2, shape_a, 1), *b = numbers(dtype, 2, shape_b, 2);
    multiply(dtype, quern_array_pointer(a), quern_array_pointer(b), quern_array_pointer(c), &g);
    check_product(a, b, c, what);
    if (dtype == QUERN_FLOAT32) {
        check_on_host(a, b, c);
    }
    drop(a, b, c);
}

/* a is a transposed view: cuBLAS gets the array below it and is told so. */
static void turned(quern_dtype dtype, const char *what)
{
    const gemm g = {.a_step = ROWS, .a_turned = 1, .count = 1};
    const int64_t shape_a[] = {INNER, ROWS}, shape_b[] = {INNER, COLUMNS},
                  shape[] = {ROWS, COLUMNS};
    quern_array *c = result_of(dtype, 2, shape), *view;
    quern_array *a = numbers(dtype, 2, shape_a, 3), *b = numbers(dtype, 2, shape_b, 4);
    must(quern_array_transpose(&view, a, NULL));
    multiply(dtype, quern_array_pointer(view), quern_array_pointer(b), quern_array_pointer(c), &g);
    check_product(view, b, c, what);
    quern_array_release(view);
    drop(a, b, c);
}

/* Some products at once: the matrices of a are a view, every second of twice as many, without
 * columns at both sides. Its strides are what cuBLAS is told. */
static void batched(quern_dtype dtype, const char *what)
{
    const int64_t shape_a[] = {2 * BATCHES, ROWS, INNER + 2 * MARGIN};
    const int64_t shape_b[] = {BATCHES, INNER, COLUMNS}, shape[] = {BATCHES, ROWS, COLUMNS};
    const quern_slice slices[] = {{1, QUERN_SLICE_NONE, 2}, QUERN_SLICE_ALL, {MARGIN, -MARGIN, 1}};
    const int64_t size = (int64_t)quern_dtype_size(dtype);
    quern_array *c = result_of(dtype, 3, shape), *view;
    quern_array *a = numbers(dtype, 3, shape_a, 5), *b = numbers(dtype, 3, shape_b, 6);
    must(quern_array_slice(&view, a, 3, slices));
    const int64_t *strides = quern_array_strides(view);
    const gemm g = {
        .a_step = (int)(strides[1] / size), .count = BATCHES, .a_next = strides[0] / size};
    multiply(dtype, quern_array_pointer(view), quern_array_pointer(b), quern_array_pointer(c), &g);
    check_product(view, b, c, what);
    quern_array_release(view);
    drop(a, b, c);
}

static void make_kernels(void)
{
    must(quern_elementwise(&scramble, engine, "int32 seed", "T x",
                           "x = (int)((unsigned)(i * 2654435761u + seed * 40503u) >> 16) % 15 - 7",
                           NULL));
    must(quern_elementwise(&product, engine,
                           "raw T a, raw T b, int32 rows, int32 inner, int32 columns", "T c",
                           "ptrdiff_t matrix = i / (rows * columns), row = i / columns % rows;"
                           "T sum = 0;"
                           "for (int k = 0; k < inner; k++) {"
                           "    sum += a[(matrix * rows + row) * inner + k] *"
                           "           b[(matrix * inner + k) * columns + i % columns];"
                           "}"
                           "c = sum",
                           NULL));
    must(quern_reduction(&different, engine, "T x, T y", "float64 n", "x != y ? 1.0 : 0.0", "a + b",
                         "n = a", "0", NULL));
    must(quern_elementwise(&clip, engine, "T x, T most", "T y", "y = x > most ? most : x", NULL));
    must(quern_reduction(&largest, engine, "T x", "float64 y", "x", "a > b ? a : b", "y = a", NULL,
                         NULL));
}

int main(void)
{
    int ordinal;
    engine = client_open(&ordinal);
    theirs = client_stream();
    must(quern_stream_wrap(&wrapped, engine, theirs));
    on_wrapped.stream = wrapped;
    blas(cublasCreate(&cublas), "cublasCreate");
    blas(cublasSetStream(cublas, quern_stream_handle(wrapped)), "cublasSetStream");
    delay = client_delay_new(engine);
    make_kernels();

    plain(QUERN_FLOAT32, "a product of float32 matrices");
    plain(QUERN_FLOAT64, "a product of float64 matrices");
    turned(QUERN_FLOAT32, "a product with a transposed view, float32");
    turned(QUERN_FLOAT64, "a product with a transposed view, float64");
    batched(QUERN_FLOAT32, "products of a view, float32");
    batched(QUERN_FLOAT64, "products of a view, float64");

    blas(cublasDestroy(cublas), "cublasDestroy");
    client_delay_free(&delay);
    quern_kernel_release(scramble);
    quern_kernel_release(product);
    quern_kernel_release(different);
    quern_kernel_release(clip);
    quern_kernel_release(largest);
    quern_stream_release(wrapped);
    quern_close(engine);
    cuda(cudaStreamDestroy(theirs));
    return 0;
}
