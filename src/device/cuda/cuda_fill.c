/* SPDX-License-Identifier: MIT
 *
 * Filling memory of the GPU with a pattern of 1, 2, 4, 8 or 16 bytes. The driver sets values of 1,
 * 2 and 4 bytes at addresses that are multiples of them. Every other pattern begins as a few
 * thousand copies, set unit by unit as the columns of a matrix whose rows are the pattern; what is
 * there is then appended to itself, twice as much each time.
 */
#include "device/cuda/cuda_device.h"

#include <string.h>

/* Rows that are set as a matrix: few enough for every limit, enough to keep the copies few. */
enum { SEED_ROWS = 4096 };

/* The widest unit of the driver's that divides the pattern and its address. */
static size_t unit_of(const void *to, size_t pattern_bytes)
{
    size_t unit = QN_MIN(pattern_bytes, 4);
    while ((uintptr_t)to % unit) {
        unit /= 2;
    }
    return unit;
}

static cu_result set_all(cu_pointer to, const void *value, size_t unit, size_t count,
                         cu_stream stream)
{
    uint8_t v8;
    uint16_t v16;
    uint32_t v32;
    switch (unit) {
    case 1:
        memcpy(&v8, value, sizeof v8);
        return qn_cuda.set_8(to, v8, count, stream);
    case 2:
        memcpy(&v16, value, sizeof v16);
        return qn_cuda.set_16(to, v16, count, stream);
    default:
        memcpy(&v32, value, sizeof v32);
        return qn_cuda.set_32(to, v32, count, stream);
    }
}

static cu_result set_column(cu_pointer to, size_t pitch, const void *value, size_t unit,
                            size_t rows, cu_stream stream)
{
    uint8_t v8;
    uint16_t v16;
    uint32_t v32;
    switch (unit) {
    case 1:
        memcpy(&v8, value, sizeof v8);
        return qn_cuda.set_rows_8(to, pitch, v8, 1, rows, stream);
    case 2:
        memcpy(&v16, value, sizeof v16);
        return qn_cuda.set_rows_16(to, pitch, v16, 1, rows, stream);
    default:
        memcpy(&v32, value, sizeof v32);
        return qn_cuda.set_rows_32(to, pitch, v32, 1, rows, stream);
    }
}

/* True when the pattern repeats its first `unit` bytes. */
static bool repeats(const unsigned char *pattern, size_t bytes, size_t unit)
{
    return memcmp(pattern, pattern + unit, bytes - unit) == 0;
}

static cu_result fill_rows(cu_pointer to, const unsigned char *pattern, size_t bytes, size_t unit,
                           size_t count, cu_stream stream)
{
    size_t rows = QN_MIN(count, (size_t)SEED_ROWS);
    for (size_t at = 0; at < bytes; at += unit) {
        cu_result result = set_column(to + at, bytes, pattern + at, unit, rows, stream);
        if (result != CU_SUCCESS) {
            return result;
        }
    }
    size_t total = count * bytes;
    for (size_t done = rows * bytes; done < total;) {
        size_t next = QN_MIN(done, total - done);
        cu_result result = qn_cuda.copy_on_device(to + done, to, next, stream);
        if (result != CU_SUCCESS) {
            return result;
        }
        done += next;
    }
    return CU_SUCCESS;
}

static cu_result fill(void *to, const unsigned char *pattern, size_t bytes, size_t count,
                      cu_stream stream)
{
    if (repeats(pattern, bytes, 1)) {
        return set_all(cuda_address(to), pattern, 1, count * bytes, stream);
    }
    size_t unit = unit_of(to, bytes);
    if (repeats(pattern, bytes, unit)) {
        return set_all(cuda_address(to), pattern, unit, count * (bytes / unit), stream);
    }
    return fill_rows(cuda_address(to), pattern, bytes, unit, count, stream);
}

quern_status qn_cuda_fill(quern_device *quern, void *to, const void *pattern, size_t pattern_bytes,
                          size_t count, void *stream)
{
    if (pattern_bytes == 0 || pattern_bytes > 16 || (pattern_bytes & (pattern_bytes - 1))) {
        return qn_fail(QUERN_ERROR_INTERNAL, "memory cannot be filled with a pattern of %zu bytes",
                       pattern_bytes);
    }
    if (count == 0) {
        return QUERN_OK;
    }
    cu_result result;
    CUDA_IN(cuda_of(quern), result, fill(to, pattern, pattern_bytes, count, stream));
    return result == CU_SUCCESS ? QUERN_OK : qn_cuda_fail(result, "filling device memory");
}
