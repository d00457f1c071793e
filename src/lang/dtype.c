/* SPDX-License-Identifier: MIT
 *
 * The table of element types, and the names that users may write for them.
 *
 * In: a name as NumPy or C writes it. Out: its row. C names mean C types ("float" is float32,
 * "long" is int64), and `char` is signed on every host, so that one signature means one thing
 * everywhere.
 */
#include "lang/lang.h"
#include <quern/record.h>

#include <string.h>

static const qn_dtype_info table[] = {
    {QUERN_BOOL, "bool", "bool", 1, 1, QN_KIND_BOOL, "|b1"},
    {QUERN_INT8, "int8", "signed char", 1, 1, QN_KIND_INT, "|i1"},
    {QUERN_INT16, "int16", "short", 2, 2, QN_KIND_INT, "<i2"},
    {QUERN_INT32, "int32", "int", 4, 4, QN_KIND_INT, "<i4"},
    {QUERN_INT64, "int64", "long long", 8, 8, QN_KIND_INT, "<i8"},
    {QUERN_UINT8, "uint8", "unsigned char", 1, 1, QN_KIND_UINT, "|u1"},
    {QUERN_UINT16, "uint16", "unsigned short", 2, 2, QN_KIND_UINT, "<u2"},
    {QUERN_UINT32, "uint32", "unsigned int", 4, 4, QN_KIND_UINT, "<u4"},
    {QUERN_UINT64, "uint64", "unsigned long long", 8, 8, QN_KIND_UINT, "<u8"},
    {QUERN_FLOAT16, "float16", "float16", 2, 2, QN_KIND_FLOAT, "<f2"},
    {QUERN_BFLOAT16, "bfloat16", "bfloat16", 2, 2, QN_KIND_FLOAT, "<V2"},
    {QUERN_FLOAT32, "float32", "float", 4, 4, QN_KIND_FLOAT, "<f4"},
    {QUERN_FLOAT64, "float64", "double", 8, 8, QN_KIND_FLOAT, "<f8"},
    {QUERN_COMPLEX64, "complex64", "complex<float>", 8, 8, QN_KIND_COMPLEX, "<c8"},
    {QUERN_COMPLEX128, "complex128", "complex<double>", 16, 16, QN_KIND_COMPLEX, "<c16"},
    {QUERN_FLOAT8_E4M3, "float8_e4m3fn", "float8_e4m3fn", 1, 1, QN_KIND_FLOAT, "|V1"},
    {QUERN_FLOAT8_E5M2, "float8_e5m2", "float8_e5m2", 1, 1, QN_KIND_FLOAT, "|f1"},
};

const qn_dtype_info *qn_dtype_find(quern_dtype dtype)
{
    if (dtype >= QUERN_BOOL && dtype < QUERN_BOOL + QN_COUNT(table)) {
        return &table[dtype - QUERN_BOOL]; /* the rows stand in the order of the numbers */
    }
    return dtype >= QUERN_DTYPE_RECORD ? qn_record_info(dtype) : NULL;
}

/* Other names of one word. */
static const struct {
    const char *name;
    quern_dtype dtype;
} other_names[] = {
    {"int8_t", QUERN_INT8},
    {"int16_t", QUERN_INT16},
    {"int32_t", QUERN_INT32},
    {"int64_t", QUERN_INT64},
    {"uint8_t", QUERN_UINT8},
    {"uint16_t", QUERN_UINT16},
    {"uint32_t", QUERN_UINT32},
    {"uint64_t", QUERN_UINT64},
    {"size_t", QUERN_UINT64},
    {"ptrdiff_t", QUERN_INT64},
    {"ssize_t", QUERN_INT64},
    {"intptr_t", QUERN_INT64},
    {"uintptr_t", QUERN_UINT64},
    {"half", QUERN_FLOAT16},
    {"__half", QUERN_FLOAT16},
    {"_Float16", QUERN_FLOAT16},
    {"__nv_bfloat16", QUERN_BFLOAT16},
    {"__nv_fp8_e4m3", QUERN_FLOAT8_E4M3},
    {"__nv_fp8_e5m2", QUERN_FLOAT8_E5M2},
};

/* ---- C names of several words ---------------------------------------------------------------
 * Each word adds to its own digit, of three bits, in a sum, so that order does not matter
 * and "long long" differs from "long". */

enum {
    C_SIGNED = 1 << 0,
    C_UNSIGNED = 1 << 3,
    C_CHAR = 1 << 6,
    C_SHORT = 1 << 9,
    C_INT = 1 << 12,
    C_LONG = 1 << 15,
    C_FLOAT = 1 << 18,
    C_DOUBLE = 1 << 21,
    C_BOOL = 1 << 24,
    C_COMPLEX = 1 << 27,
};
#define MAX_C_WORDS 5 /* "signed long long int complex" is more than any type has */

static const struct {
    const char *word;
    uint32_t value;
} c_words[] = {
    {"signed", C_SIGNED}, {"unsigned", C_UNSIGNED}, {"char", C_CHAR},       {"short", C_SHORT},
    {"int", C_INT},       {"long", C_LONG},         {"float", C_FLOAT},     {"double", C_DOUBLE},
    {"bool", C_BOOL},     {"_Bool", C_BOOL},        {"complex", C_COMPLEX}, {"_Complex", C_COMPLEX},
};

/* `modifier` may be added to the words. */
static const struct {
    uint32_t sum, modifier;
    quern_dtype dtype;
} c_types[] = {
    {C_BOOL, 0, QUERN_BOOL},
    {C_CHAR, C_SIGNED, QUERN_INT8},
    {C_CHAR | C_UNSIGNED, 0, QUERN_UINT8},
    {C_SHORT, C_SIGNED, QUERN_INT16},
    {C_SHORT | C_INT, C_SIGNED, QUERN_INT16},
    {C_SHORT | C_UNSIGNED, C_INT, QUERN_UINT16},
    {C_INT, C_SIGNED, QUERN_INT32},
    {C_SIGNED, 0, QUERN_INT32},
    {C_UNSIGNED, C_INT, QUERN_UINT32},
    {C_LONG, C_SIGNED, QUERN_INT64},
    {C_LONG | C_INT, C_SIGNED, QUERN_INT64},
    {C_LONG | C_UNSIGNED, C_INT, QUERN_UINT64},
    {2 * C_LONG, C_SIGNED, QUERN_INT64},
    {2 * C_LONG | C_INT, C_SIGNED, QUERN_INT64},
    {2 * C_LONG | C_UNSIGNED, C_INT, QUERN_UINT64},
    {C_FLOAT, 0, QUERN_FLOAT32},
    {C_DOUBLE, 0, QUERN_FLOAT64},
    {C_FLOAT | C_COMPLEX, 0, QUERN_COMPLEX64},
    {C_DOUBLE | C_COMPLEX, 0, QUERN_COMPLEX128},
};

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The next word of `text` from *position on; empty at the end. */
static qn_str next_word(qn_str text, size_t *position)
{
    size_t begin = *position;
    while (begin < text.length && is_space(text.data[begin])) {
        begin++;
    }
    size_t end = begin;
    while (end < text.length && !is_space(text.data[end])) {
        end++;
    }
    *position = end;
    return (qn_str){text.data + begin, end - begin};
}

static uint32_t c_word_value(qn_str word)
{
    for (size_t k = 0; k < QN_COUNT(c_words); k++) {
        if (qn_str_is(word, c_words[k].word)) {
            return c_words[k].value;
        }
    }
    return 0;
}

static quern_dtype parse_c_words(qn_str name)
{
    uint32_t sum = 0;
    size_t position = 0;
    for (int count = 0;; count++) {
        qn_str word = next_word(name, &position);
        if (word.length == 0) {
            break;
        }
        uint32_t value = c_word_value(word);
        if (value == 0 || count == MAX_C_WORDS) {
            return QUERN_DTYPE_NONE;
        }
        sum += value;
    }
    for (size_t k = 0; k < QN_COUNT(c_types); k++) {
        if (sum == c_types[k].sum || sum == c_types[k].sum + c_types[k].modifier) {
            return c_types[k].dtype;
        }
    }
    return QUERN_DTYPE_NONE;
}

static quern_dtype parse_word(qn_str word)
{
    for (size_t k = 0; k < QN_COUNT(table); k++) {
        if (qn_str_is(word, table[k].name)) {
            return table[k].dtype;
        }
    }
    for (size_t k = 0; k < QN_COUNT(other_names); k++) {
        if (qn_str_is(word, other_names[k].name)) {
            return other_names[k].dtype;
        }
    }
    return QUERN_DTYPE_NONE;
}

const qn_dtype_info *qn_dtype_parse(qn_str name)
{
    size_t position = 0;
    quern_dtype dtype = parse_word(next_word(name, &position));
    if (next_word(name, &position).length > 0 || dtype == QUERN_DTYPE_NONE) {
        dtype = parse_c_words(name);
    }
    return qn_dtype_find(dtype);
}

/* ---- public --------------------------------------------------------------------------------- */

const char *quern_dtype_name(quern_dtype dtype)
{
    const qn_dtype_info *info = qn_dtype_find(dtype);
    return info ? info->name : "none";
}

size_t quern_dtype_size(quern_dtype dtype)
{
    const qn_dtype_info *info = qn_dtype_find(dtype);
    return info ? info->size : 0;
}

const char *quern_dtype_descr(quern_dtype dtype)
{
    const qn_dtype_info *info = qn_dtype_find(dtype);
    return info ? info->descr : "";
}

quern_dtype quern_dtype_from_name(const char *name)
{
    const qn_dtype_info *info = qn_dtype_parse(qn_str_of(name));
    return info ? info->dtype : QUERN_DTYPE_NONE;
}
