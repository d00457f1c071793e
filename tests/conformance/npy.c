/* SPDX-License-Identifier: MIT
 *
 * NPY files for the conformance runner: reads two of them and compares. Versions 1 to 3, little
 * endian, C order; anything else is a difference.
 */
#include "case.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct npy {
    char *file;
    char type[8];    /* '<f4' without the quotes */
    char shape[128]; /* "(2, 3)" */
    const unsigned char *data;
    size_t count, item;
} npy;

/* Copy the text after `key`, up to and including `stop`. */
static void field(const char *path, const char *header, const char *key, char stop, char *to,
                  size_t capacity)
{
    const char *begin = strstr(header, key);
    const char *end = begin ? strchr(begin + strlen(key), stop) : NULL;
    size_t length = end ? (size_t)(end - begin) - strlen(key) : capacity;
    if (length >= capacity) {
        die("%s: no %s in its header", path, key);
    }
    memcpy(to, begin + strlen(key), length);
    to[length] = 0;
}

static npy npy_read(const char *path)
{
    npy a = {0};
    size_t size;
    a.file = read_file(path, &size);
    const unsigned char *byte = (const unsigned char *)a.file;
    if (size < 12 || memcmp(byte, "\x93NUMPY", 6) != 0) {
        die("%s is not an NPY file", path);
    }
    size_t prefix = byte[6] == 1 ? 10 : 12;
    size_t length = byte[8] | (size_t)byte[9] << 8;
    if (byte[6] > 1) {
        length |= (size_t)byte[10] << 16 | (size_t)byte[11] << 24;
    }
    if (length > size - prefix) {
        die("%s is cut off in its header", path);
    }
    a.data = byte + prefix + length;

    char header[4096], order[8];
    size_t shown = length < sizeof header - 1 ? length : sizeof header - 1;
    memcpy(header, byte + prefix, shown);
    header[shown] = 0;
    field(path, header, "'descr': '", '\'', a.type, sizeof a.type);
    field(path, header, "'fortran_order': ", ',', order, sizeof order);
    field(path, header, "'shape': (", ')', a.shape, sizeof a.shape);
    if (strcmp(order, "False") != 0) {
        die("%s is in Fortran order", path);
    }

    a.count = 1;
    for (char *at = a.shape; *at;) {
        a.count *= strtoull(at, &at, 10);
        at += strspn(at, ", ");
    }
    a.item = strlen(a.type) > 2 ? strtoull(a.type + 2, NULL, 10) : 0;
    if (a.item == 0 || (a.count * a.item != size - prefix - length)) {
        die("%s holds %zu bytes of data for shape (%s) of %s", path, size - prefix - length,
            a.shape, a.type);
    }
    return a;
}

static double half(const unsigned char *at)
{
    unsigned bits = at[0] | (unsigned)at[1] << 8;
    int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
    double value = exponent == 31  ? (fraction ? NAN : INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 ? -value : value;
}

static double real(const unsigned char *at, size_t bytes)
{
    float f;
    double d;
    switch (bytes) {
    case 2:
        return half(at);
    case 4:
        memcpy(&f, at, 4);
        return f;
    default:
        memcpy(&d, at, 8);
        return d;
    }
}

/* Element `i` of a float or complex array. */
static void element(const npy *a, size_t i, double parts[2])
{
    bool is_complex = a->type[1] == 'c';
    size_t part = is_complex ? a->item / 2 : a->item;
    parts[0] = real(a->data + i * a->item, part);
    parts[1] = is_complex ? real(a->data + i * a->item + part, part) : 0;
}

static bool close_enough(const double got[2], const double want[2], double rtol, double atol)
{
    bool finite = isfinite(want[0]) && isfinite(want[1]) && isfinite(got[0]) && isfinite(got[1]);
    if (finite) {
        return hypot(got[0] - want[0], got[1] - want[1]) <= atol + rtol * hypot(want[0], want[1]);
    }
    bool got_nan = isnan(got[0]) || isnan(got[1]), want_nan = isnan(want[0]) || isnan(want[1]);
    return got_nan || want_nan ? got_nan && want_nan : got[0] == want[0] && got[1] == want[1];
}

static void compare_exactly(const char *name, const npy *got, const npy *want)
{
    for (size_t i = 0; i < want->count; i++) {
        if (memcmp(got->data + i * want->item, want->data + i * want->item, want->item) != 0) {
            uint64_t a = 0, b = 0;
            size_t shown = want->item < 8 ? want->item : 8;
            memcpy(&a, got->data + i * want->item, shown);
            memcpy(&b, want->data + i * want->item, shown);
            die("%s: element %zu is %#llx instead of %#llx", name, i, (unsigned long long)a,
                (unsigned long long)b);
        }
    }
}

static void compare_closely(const char *name, const npy *got, const npy *want, double rtol)
{
    double a[2], b[2], largest = 0;
    for (size_t i = 0; i < want->count; i++) {
        element(want, i, b);
        double size = hypot(b[0], b[1]);
        largest = isfinite(size) && size > largest ? size : largest;
    }
    for (size_t i = 0; i < want->count; i++) {
        element(got, i, a);
        element(want, i, b);
        if (!close_enough(a, b, rtol, rtol * largest * .1)) {
            die("%s: element %zu is %.17g%+.17gj instead of %.17g%+.17gj", name, i, a[0], a[1],
                b[0], b[1]);
        }
    }
}

void npy_compare(const char *name, const char *got_path, const char *want_path, double rtol)
{
    npy got = npy_read(got_path), want = npy_read(want_path);
    if (strcmp(got.type, want.type) != 0) {
        die("%s has dtype %s instead of %s", name, got.type, want.type);
    }
    if (strcmp(got.shape, want.shape) != 0) {
        die("%s has shape (%s) instead of (%s)", name, got.shape, want.shape);
    }
    if (strchr("fc", want.type[1])) {
        compare_closely(name, &got, &want, rtol);
    } else {
        compare_exactly(name, &got, &want);
    }
    free(got.file);
    free(want.file);
}
