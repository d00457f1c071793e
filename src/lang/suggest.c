/* SPDX-License-Identifier: MIT
 *
 * "Did you mean": a name that exists for one that does not. In: what was written. Out: a name that
 * is known, or NULL when nothing is close.
 *
 * For types first what people bring from elsewhere (other languages, CUDA, NumPy's short names),
 * then the name with the fewest slips of the finger: letters missing, added, changed or swapped.
 */
#include "lang/lang.h"

#include <ctype.h>
#include <string.h>

#define LONGEST 64 /* longer names are not compared */

static const struct {
    const char *written, *meant;
} elsewhere[] = {
    {"f16", "float16"},
    {"f32", "float32"},
    {"f64", "float64"},
    {"fp16", "float16"},
    {"fp32", "float32"},
    {"fp64", "float64"},
    {"bf16", "bfloat16"},
    {"bfloat", "bfloat16"},
    {"float8", "float8_e4m3fn"},
    {"fp8", "float8_e4m3fn"},
    {"f8", "float8_e4m3fn"},
    {"fp8_e4m3", "float8_e4m3fn"},
    {"fp8_e5m2", "float8_e5m2"},
    {"f8e4m3fn", "float8_e4m3fn"},
    {"f8e5m2", "float8_e5m2"},
    {"e4m3", "float8_e4m3fn"},
    {"e5m2", "float8_e5m2"},
    {"i8", "int8"},
    {"i16", "int16"},
    {"i32", "int32"},
    {"i64", "int64"},
    {"u8", "uint8"},
    {"u16", "uint16"},
    {"u32", "uint32"},
    {"u64", "uint64"},
    {"c64", "complex64"},
    {"c128", "complex128"},
    {"uchar", "unsigned char"},
    {"ushort", "unsigned short"},
    {"uint", "unsigned int"},
    {"ulong", "unsigned long"},
    {"longlong", "long long"},
    {"ulonglong", "unsigned long long"},
    {"schar", "signed char"},
    {"byte", "uint8"},
    {"boolean", "bool"},
    {"logical", "bool"},
    {"integer", "int"},
    {"real", "float"},
    {"single", "float"},
    {"number", "double"},
    {"complex", "complex64"},
    {"cfloat", "complex64"},
    {"cdouble", "complex128"},
    {"cuFloatComplex", "complex64"},
    {"cuDoubleComplex", "complex128"},
    {"cuComplex", "complex64"},
    {"half_t", "half"},
    {"float_t", "float"},
    {"double_t", "double"},
    {"nv_bfloat16", "bfloat16"},
    {"long double", "double"},
};

static const char *const c_names[] = {
    "float",    "double",       "char",    "unsigned char", "short",     "unsigned short",
    "int",      "unsigned int", "long",    "unsigned long", "long long", "unsigned long long",
    "unsigned", "signed char",  "half",    "size_t",        "int8_t",    "int16_t",
    "int32_t",  "int64_t",      "uint8_t", "uint16_t",      "uint32_t",  "uint64_t",
};

/* The number of slips between two words (the optimal string alignment distance). */
static size_t slips(qn_str a, qn_str b)
{
    size_t rows[3][LONGEST + 1]; /* the row before last, the last, and this one */
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b.length; j++) {
        last[j] = j;
    }
    for (size_t i = 1; i <= a.length; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b.length; j++) {
            size_t change = a.data[i - 1] != b.data[j - 1];
            size_t least = QN_MIN(QN_MIN(last[j] + 1, row[j - 1] + 1), last[j - 1] + change);
            if (i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] &&
                a.data[i - 2] == b.data[j - 1]) {
                least = QN_MIN(least, before[j - 2] + 1);
            }
            row[j] = least;
        }
        size_t *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[b.length];
}

static size_t count_words(qn_str text)
{
    size_t words = 1;
    for (size_t k = 0; k < text.length; k++) {
        words += text.data[k] == ' ';
    }
    return words;
}

/* Lower case, one blank between words. False when it is too long to be a slip of the finger. */
static bool normalize(qn_str name, char out[LONGEST + 1], qn_str *normal)
{
    size_t length = 0;
    for (size_t k = 0; k < name.length; k++) {
        bool blank = isspace((unsigned char)name.data[k]);
        if (blank && (length == 0 || out[length - 1] == ' ')) {
            continue;
        }
        if (length == LONGEST) {
            return false;
        }
        out[length++] = blank ? ' ' : (char)tolower((unsigned char)name.data[k]);
    }
    if (length > 0 && out[length - 1] == ' ') {
        length--;
    }
    *normal = (qn_str){out, length};
    return length > 0;
}

/* Keep `candidate` when it is nearer than *best. */
static void consider(qn_str written, const char *candidate, const char **best, size_t *least)
{
    qn_str name = qn_str_of(candidate);
    if (count_words(written) != count_words(name)) {
        return;
    }
    size_t distance = slips(written, name);
    if (distance < *least) {
        *least = distance;
        *best = candidate;
    }
}

/* Fewer slips than this are a slip of the finger: one in "itn", two else. */
static size_t too_many_slips(qn_str written)
{
    return written.length < 4 ? 2 : 3;
}

const char *qn_name_suggest(qn_str name, const char *const *known, size_t count)
{
    const char *best = NULL;
    size_t least = too_many_slips(name);
    for (size_t k = 0; k < count && name.length <= LONGEST; k++) {
        if (strlen(known[k]) <= LONGEST) {
            consider(name, known[k], &best, &least);
        }
    }
    return best;
}

const char *qn_dtype_suggest(qn_str name)
{
    char buffer[LONGEST + 1];
    qn_str written;
    if (!normalize(name, buffer, &written)) {
        return NULL;
    }
    for (size_t k = 0; k < QN_COUNT(elsewhere); k++) {
        qn_str other = qn_str_of(elsewhere[k].written);
        if (other.length == written.length &&
            strncasecmp(other.data, written.data, other.length) == 0) {
            return elsewhere[k].meant;
        }
    }
    const char *best = NULL;
    size_t least = too_many_slips(written);
    for (int d = QUERN_BOOL; qn_dtype_find((quern_dtype)d); d++) {
        consider(written, quern_dtype_name((quern_dtype)d), &best, &least);
    }
    for (size_t k = 0; k < QN_COUNT(c_names); k++) {
        consider(written, c_names[k], &best, &least);
    }
    return best;
}
