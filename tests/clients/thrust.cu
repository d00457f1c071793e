/* SPDX-License-Identifier: MIT
 *
 * Thrust and CUB on a stream that Quern has wrapped, over Quern's arrays, each beside Quern's own
 * reduction or scan of the same numbers; CUB works in memory that is an array of Quern's. And a
 * thrust::device_vector, read by Quern's kernels. The numbers are small integers, so that float32
 * sums are exact in whichever order they are added. Nothing is waited for between the libraries:
 * the stream keeps them in order, behind a long kernel. Thrust is told not to
 * wait either, where it gives no value back.
 */
#include "client.h"

#include <cub/cub.cuh>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/inner_product.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

static constexpr int COUNT = 1 << 20;

static quern_engine *engine;
static cudaStream_t theirs;
static quern_stream *wrapped;
static quern_call_options on_wrapped = QUERN_CALL_OPTIONS_INIT;
static client_delay delay;
static quern_kernel *scramble, *sum, *running, *different, *unsorted;
static quern_array *x, *y;

struct three_times {
    __host__ __device__ float operator()(float number) const
    {
        return 3 * number;
    }
};

static thrust::device_ptr<float> numbers(quern_array *array)
{
    return thrust::device_pointer_cast((float *)quern_array_pointer(array));
}

/* The value of an array without dimensions, once the stream is there. */
static float value_of(quern_array *array)
{
    float value;
    must(quern_array_read_on(array, &value, sizeof value, wrapped));
    must(quern_stream_wait(wrapped));
    quern_array_release(array);
    return value;
}

static float sum_of(quern_array *array)
{
    quern_array *result = NULL;
    must(quern_call_with(sum, &on_wrapped, array, &result));
    return value_of(result);
}

static float differences(quern_array *a, quern_array *b)
{
    quern_array *result = NULL;
    must(quern_call_with(different, &on_wrapped, a, b, &result));
    return value_of(result);
}

static float out_of_order(quern_array *array)
{
    const int64_t pairs = COUNT - 1;
    quern_array *result = NULL, *left, *right;
    const quern_slice all_but_last = {0, pairs, 1}, all_but_first = {1, COUNT, 1};
    must(quern_array_slice(&left, array, 1, &all_but_last));
    must(quern_array_slice(&right, array, 1, &all_but_first));
    must(quern_call_with(unsorted, &on_wrapped, left, right, &result));
    quern_array_release(left);
    quern_array_release(right);
    return value_of(result);
}

/* x becomes numbers from 0 to 7 in no order, late. */
static void make_numbers(void)
{
    client_delay_on(&delay, wrapped);
    must(quern_call_with(scramble, &on_wrapped, x));
}

/* ---- Thrust -----------------------------------------------------------------------------------
 */

static void thrust_reads_and_writes(void)
{
    make_numbers();
    const float total =
        thrust::reduce(thrust::cuda::par.on(theirs), numbers(x), numbers(x) + COUNT, 0.0f);
    check(total == sum_of(x) && total > COUNT, "thrust::reduce of an array, and Quern's reduction");

    make_numbers();
    thrust::transform(thrust::cuda::par_nosync.on(theirs), numbers(x), numbers(x) + COUNT,
                      numbers(y), three_times());
    check(sum_of(y) == 3 * total, "Quern's reduction of what thrust::transform wrote");

    quern_array *scanned = NULL;
    make_numbers();
    thrust::inclusive_scan(thrust::cuda::par_nosync.on(theirs), numbers(x), numbers(x) + COUNT,
                           numbers(y));
    must(quern_call_with(running, &on_wrapped, x, &scanned));
    check(differences(scanned, y) == 0, "thrust::inclusive_scan of an array, and Quern's scan");
    quern_array_release(scanned);

    make_numbers();
    check(out_of_order(x) > 0, "numbers in no order");
    thrust::sort(thrust::cuda::par.on(theirs), numbers(x), numbers(x) + COUNT);
    check(out_of_order(x) == 0 && sum_of(x) == total, "thrust::sort of an array, in place");
}

static void vector_comes_in(void)
{
    const int64_t count = COUNT;
    thrust::device_vector<float> vector(COUNT);
    cuda(cudaDeviceSynchronize()); /* its zeros are on another stream */
    quern_array *wrapping, *doubled = NULL;
    quern_kernel *twice;
    must(quern_elementwise(&twice, engine, "T x", "T y", "y = 2 * x", NULL));
    must(quern_array_wrap(&wrapping, engine, QUERN_FLOAT32, 1, &count, NULL,
                          thrust::raw_pointer_cast(vector.data()), NULL, NULL));
    make_numbers();
    thrust::transform(thrust::cuda::par_nosync.on(theirs), numbers(x), numbers(x) + COUNT,
                      vector.begin(), three_times());
    must(quern_call_with(twice, &on_wrapped, wrapping, &doubled));
    thrust::transform(thrust::cuda::par_nosync.on(theirs), vector.begin(), vector.end(), numbers(y),
                      2 * thrust::placeholders::_1);
    check(differences(doubled, y) == 0 && sum_of(doubled) == 6 * sum_of(x),
          "a kernel of Quern's reads a thrust::device_vector");

    must(quern_call_with(twice, &on_wrapped, wrapping, wrapping));
    const float product =
        thrust::inner_product(thrust::cuda::par.on(theirs), vector.begin(), vector.end(),
                              numbers(y), 0.0f, thrust::plus<float>(), thrust::equal_to<float>());
    check(product == COUNT, "Thrust reads what a kernel of Quern's wrote into the vector");
    quern_array_release(wrapping);
    quern_array_release(doubled);
    quern_kernel_release(twice);
    must(quern_stream_wait(wrapped)); /* before the vector is freed */
}

/* ---- CUB --------------------------------------------------------------------------------------
 */

/* What CUB works in: as many bytes as it asks for, of Quern. They are there in the order of the
 * engine's own stream, which the program's follows. */
static quern_array *room(size_t bytes)
{
    quern_array *array = client_array(engine, QUERN_UINT8, (int64_t)(bytes ? bytes : 1));
    must(quern_stream_lead(engine, NULL, theirs));
    return array;
}

/* And they are freed in that order, so the engine's follows the program's. */
static void leave(quern_array *room)
{
    must(quern_stream_follow(engine, NULL, theirs));
    quern_array_release(room);
}

static void cub_reduces(void)
{
    size_t bytes = 0;
    quern_array *total;
    must(quern_array_new(&total, engine, QUERN_FLOAT32, 0, NULL));
    const float *in = (const float *)quern_array_pointer(x);
    float *out = (float *)quern_array_pointer(total);
    make_numbers();
    cuda(cub::DeviceReduce::Sum(NULL, bytes, in, out, COUNT, theirs));
    quern_array *work = room(bytes);
    cuda(cub::DeviceReduce::Sum(quern_array_pointer(work), bytes, in, out, COUNT, theirs));
    leave(work);
    const float should = sum_of(x);
    check(value_of(total) == should && should > COUNT,
          "cub::DeviceReduce::Sum, and Quern's reduction");
}

static void cub_scans(void)
{
    size_t bytes = 0;
    quern_array *scanned = NULL;
    const float *in = (const float *)quern_array_pointer(x);
    float *out = (float *)quern_array_pointer(y);
    make_numbers();
    cuda(cub::DeviceScan::InclusiveSum(NULL, bytes, in, out, COUNT, theirs));
    quern_array *work = room(bytes);
    cuda(cub::DeviceScan::InclusiveSum(quern_array_pointer(work), bytes, in, out, COUNT, theirs));
    leave(work);
    must(quern_call_with(running, &on_wrapped, x, &scanned));
    check(differences(scanned, y) == 0, "cub::DeviceScan::InclusiveSum, and Quern's scan");
    quern_array_release(scanned);
}

/* Keys with their places: what each place held must be what stands there now. */
static void cub_sorts(void)
{
    size_t bytes = 0;
    quern_array *places = client_array(engine, QUERN_INT32, COUNT);
    quern_array *sorted_places = client_array(engine, QUERN_INT32, COUNT), *wrong = NULL;
    quern_kernel *count_up, *misplaced;
    must(quern_elementwise(&count_up, engine, "", "int32 place", "place = i", NULL));
    must(quern_reduction(&misplaced, engine, "raw float32 x, float32 key, int32 place", "float32 n",
                         "x[place] != key ? 1.0f : 0.0f", "a + b", "n = a", "0", NULL));
    must(quern_stream_lead(engine, NULL, theirs)); /* the new arrays are there */
    make_numbers();
    must(quern_call_with(count_up, &on_wrapped, places));
    const float *keys = (const float *)quern_array_pointer(x);
    const int *values = (const int *)quern_array_pointer(places);
    float *sorted = (float *)quern_array_pointer(y);
    int *follow = (int *)quern_array_pointer(sorted_places);
    cuda(cub::DeviceRadixSort::SortPairs(NULL, bytes, keys, sorted, values, follow, COUNT, 0, 32,
                                         theirs));
    quern_array *work = room(bytes);
    cuda(cub::DeviceRadixSort::SortPairs(quern_array_pointer(work), bytes, keys, sorted, values,
                                         follow, COUNT, 0, 32, theirs));
    leave(work);
    check(out_of_order(y) == 0 && sum_of(y) == sum_of(x),
          "cub::DeviceRadixSort::SortPairs sorts keys");
    must(quern_call_with(misplaced, &on_wrapped, x, y, sorted_places, &wrong));
    check(value_of(wrong) == 0, "and their places with them");
    quern_array_release(places);
    quern_array_release(sorted_places);
    quern_kernel_release(count_up);
    quern_kernel_release(misplaced);
}

int main(void)
{
    int ordinal;
    engine = client_open(&ordinal);
    theirs = client_stream();
    must(quern_stream_wrap(&wrapped, engine, theirs));
    on_wrapped.stream = wrapped;
    delay = client_delay_new(engine);
    x = client_array(engine, QUERN_FLOAT32, COUNT);
    y = client_array(engine, QUERN_FLOAT32, COUNT);
    must(quern_elementwise(&scramble, engine, "", "float32 x",
                           "x = (unsigned)(i * 2654435761u) >> 29", NULL));
    must(quern_reduction(&sum, engine, "T x", "T y", "x", "a + b", "y = a", "0", NULL));
    must(quern_scan(&running, engine, "T x", "T y", "x", "a + b", "y = a", NULL, NULL));
    must(quern_reduction(&different, engine, "T x, T y", "float32 n", "x != y ? 1.0f : 0.0f",
                         "a + b", "n = a", "0", NULL));
    must(quern_reduction(&unsorted, engine, "T left, T right", "float32 n",
                         "left > right ? 1.0f : 0.0f", "a + b", "n = a", "0", NULL));
    must(quern_synchronize(engine));

    thrust_reads_and_writes();
    vector_comes_in();
    cub_reduces();
    cub_scans();
    cub_sorts();

    must(quern_stream_wait(wrapped));
    client_delay_free(&delay);
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(scramble);
    quern_kernel_release(sum);
    quern_kernel_release(running);
    quern_kernel_release(different);
    quern_kernel_release(unsorted);
    quern_stream_release(wrapped);
    quern_close(engine);
    cuda(cudaStreamDestroy(theirs));
    return 0;
}
