/* SPDX-License-Identifier: MIT
 *
 * What cases answered: saved to a file for each case, loaded, and compared. A file is, for each
 * result, a 64-bit count of bytes and the bytes, in this machine's order.
 */
#include "differential.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void diff_results_free(diff_results *results)
{
    for (size_t k = 0; k < results->count; k++) {
        qn_free(results->items[k].data);
    }
    qn_free(results->items);
    *results = (diff_results){0};
}

bool diff_results_save(const diff_results *results, const char *folder, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.bin", folder, name);
    FILE *file = fopen(path, "wb");
    bool good = file != NULL;
    for (size_t k = 0; good && k < results->count; k++) {
        const uint64_t bytes = results->items[k].bytes;
        good = fwrite(&bytes, sizeof bytes, 1, file) == 1 &&
               fwrite(results->items[k].data, 1, bytes, file) == bytes;
    }
    if (file) {
        good = fclose(file) == 0 && good;
    }
    if (!good) {
        fprintf(stderr, "differential: %s cannot be written\n", path);
    }
    return good;
}

bool diff_results_load(diff_results *results, const char *folder, const char *name)
{
    char path[1024];
    char *data;
    size_t size, at = 0;
    snprintf(path, sizeof path, "%s/%s.bin", folder, name);
    *results = (diff_results){.items = qn_calloc(DIFF_ARRAYS + 1, sizeof(diff_result))};
    if (!results->items || qn_file_read(path, &data, &size) != QUERN_OK) {
        return false;
    }
    while (results->count < DIFF_ARRAYS && at + 8 <= size) {
        uint64_t bytes;
        memcpy(&bytes, data + at, 8);
        at += 8;
        if (bytes > size - at) {
            break;
        }
        diff_result *result = &results->items[results->count];
        result->bytes = bytes;
        result->data = qn_calloc(1, bytes + 1);
        if (!result->data) {
            break;
        }
        results->count++;
        memcpy(result->data, data + at, bytes);
        at += bytes;
    }
    qn_free(data);
    return at == size;
}

/* ---- differences ---------------------------------------------------------------------------- */

static double half_value(uint64_t bits)
{
    const int exponent = (int)(bits >> 10 & 31);
    const double mantissa = (double)(bits & 1023);
    const double size = exponent == 31  ? (mantissa != 0 ? NAN : INFINITY)
                        : exponent == 0 ? mantissa * 0x1p-24
                                        : ldexp(1024 + mantissa, exponent - 25);
    return bits >> 15 & 1 ? -size : size;
}

double diff_value(char letter, uint32_t width, uint64_t bits)
{
    if (width == 8) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (width == 2 && letter == 'f') {
        return half_value(bits);
    }
    const uint32_t word = (uint32_t)(letter == 'B' ? bits << 16 : bits);
    float value;
    memcpy(&value, &word, sizeof value);
    return (double)value;
}

/* Bits in the order of the values. */
static double rank(uint32_t width, uint64_t bits)
{
    const uint64_t sign = (uint64_t)1 << (width * 8 - 1);
    return bits & sign ? -(double)(bits & (sign - 1)) : (double)bits;
}

double diff_ulps(char letter, uint32_t width, uint64_t a, uint64_t b)
{
    const double x = diff_value(letter, width, a), y = diff_value(letter, width, b);
    if (isnan(x) || isnan(y)) {
        return isnan(x) && isnan(y) ? 0 : INFINITY;
    }
    if (isinf(x) != isinf(y)) {
        return INFINITY;
    }
    if (width == 8 && (a ^ b) >> 63 == 0) { /* beyond a double's own precision */
        return (double)(a > b ? a - b : b - a);
    }
    return fabs(rank(width, a) - rank(width, b));
}

/* Element k of `result`, which is shaped as `shape`: only bytes were recorded. */
static uint64_t element(const diff_result *result, const diff_result *shape, size_t k)
{
    uint64_t bits = 0;
    memcpy(&bits, result->data + k * shape->width, QN_MIN(shape->width, 8u));
    return bits;
}

/* Whether element k is equal within its bound; *worst grows. */
static bool same_element(const diff_result *got, const diff_result *wanted, size_t k, double *worst)
{
    const diff_bounds *bounds = &got->bounds;
    const size_t column = k % bounds->period;
    if (column < 64 && bounds->skipped >> column & 1) {
        return true;
    }
    if (memcmp(got->data + k * got->width, wanted->data + k * got->width, got->width) == 0) {
        return true;
    }
    if (bounds->any_nan && isnan(diff_value(got->letter, got->width, element(got, got, k))) &&
        isnan(diff_value(got->letter, got->width, element(wanted, got, k)))) {
        return true;
    }
    if (column >= DIFF_COLUMNS || (bounds->ulps[column] == 0 && bounds->absolute[column] == 0)) {
        return false;
    }
    const uint64_t a = element(got, got, k), b = element(wanted, got, k);
    const double off =
        fabs(diff_value(got->letter, got->width, a) - diff_value(got->letter, got->width, b));
    const double ulps = diff_ulps(got->letter, got->width, a, b);
    if (off <= bounds->absolute[column]) {
        return true;
    }
    *worst = QN_MAX(*worst, ulps);
    return ulps <= bounds->ulps[column];
}

static uint32_t sorting_width;

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, sorting_width);
}

static void sort(const diff_result *result, uint32_t width)
{
    sorting_width = width;
    qsort(result->data, result->bytes / width, width, by_bytes);
}

enum { MOST_TOLD = 6 };

static bool same_result(const diff_result *got, const diff_result *wanted, const char *name,
                        size_t number, double *worst)
{
    size_t different = 0;
    if (got->bytes != wanted->bytes) {
        fprintf(stderr, "%s: result %zu has %zu bytes, %zu were recorded\n", name, number,
                got->bytes, wanted->bytes);
        return false;
    }
    if (got->bounds.sorted) {
        sort(got, got->width);
        sort(wanted, got->width);
    }
    for (size_t k = 0; k < got->bytes / got->width; k++) {
        if (!same_element(got, wanted, k, worst) && different++ < MOST_TOLD) {
            const uint64_t a = element(got, got, k), b = element(wanted, got, k);
            fprintf(stderr, "%s: result %zu [%zu] (column %zu): %0*llx here, %0*llx recorded", name,
                    number, k, k % got->bounds.period, (int)QN_MIN(got->width, 8u) * 2,
                    (unsigned long long)a, (int)QN_MIN(got->width, 8u) * 2, (unsigned long long)b);
            if (got->letter == 'f' || got->letter == 'B') {
                fprintf(stderr, " (%.9g, %.9g: %g ulp)", diff_value(got->letter, got->width, a),
                        diff_value(got->letter, got->width, b),
                        diff_ulps(got->letter, got->width, a, b));
            }
            fputc('\n', stderr);
        }
    }
    if (different > MOST_TOLD) {
        fprintf(stderr, "%s: result %zu: %zu differences\n", name, number, different);
    }
    return different == 0;
}

bool diff_results_compare(const diff_results *got, const diff_results *wanted, const char *name,
                          double *worst)
{
    *worst = 0;
    if (got->count != wanted->count) {
        fprintf(stderr, "%s: %zu results here, %zu recorded\n", name, got->count, wanted->count);
        return false;
    }
    bool same = true;
    for (size_t k = 0; k < got->count; k++) {
        same = same_result(&got->items[k], &wanted->items[k], name, k, worst) && same;
    }
    return same;
}
