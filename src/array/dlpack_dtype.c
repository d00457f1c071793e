/* SPDX-License-Identifier: MIT
 *
 * dlpack_dtype: DLPack's three numbers for a dtype, and Quern's one. In: one of them. Out: the
 * other, or a failure that names code, bits and lanes.
 */
#include "array/dlpack.h"

/* X(dtype, code, log2 of its bytes) */
#define EXCHANGED(X)                                                                               \
    X(QUERN_BOOL, QUERN_DL_BOOL, 0)                                                                \
    X(QUERN_INT8, QUERN_DL_INT, 0)                                                                 \
    X(QUERN_INT16, QUERN_DL_INT, 1)                                                                \
    X(QUERN_INT32, QUERN_DL_INT, 2)                                                                \
    X(QUERN_INT64, QUERN_DL_INT, 3)                                                                \
    X(QUERN_UINT8, QUERN_DL_UINT, 0)                                                               \
    X(QUERN_UINT16, QUERN_DL_UINT, 1)                                                              \
    X(QUERN_UINT32, QUERN_DL_UINT, 2)                                                              \
    X(QUERN_UINT64, QUERN_DL_UINT, 3)                                                              \
    X(QUERN_FLOAT16, QUERN_DL_FLOAT, 1)                                                            \
    X(QUERN_BFLOAT16, QUERN_DL_BFLOAT, 1)                                                          \
    X(QUERN_FLOAT32, QUERN_DL_FLOAT, 2)                                                            \
    X(QUERN_FLOAT64, QUERN_DL_FLOAT, 3)                                                            \
    X(QUERN_COMPLEX64, QUERN_DL_COMPLEX, 3)                                                        \
    X(QUERN_COMPLEX128, QUERN_DL_COMPLEX, 4)                                                       \
    X(QUERN_FLOAT8_E4M3, QUERN_DL_FLOAT8_E4M3FN, 0)                                                \
    X(QUERN_FLOAT8_E5M2, QUERN_DL_FLOAT8_E5M2, 0)

enum { CODES = QUERN_DL_FLOAT8_E5M2 + 1, SIZES = 5 };

static const uint8_t dtypes[CODES][SIZES] = {
#define DTYPE(dtype, code, size) [code][size] = dtype,
    EXCHANGED(DTYPE)
#undef DTYPE
};

static const quern_dl_dtype exchanged[] = {
#define TRIPLE(dtype, code, size) [dtype] = {code, 8 << (size), 1},
    EXCHANGED(TRIPLE)
#undef TRIPLE
};

static const char *const code_names[] = {"int",
                                         "uint",
                                         "float",
                                         "opaque handle",
                                         "bfloat",
                                         "complex",
                                         "bool",
                                         "float8_e3m4",
                                         "float8_e4m3",
                                         "float8_e4m3b11fnuz",
                                         "float8_e4m3fn",
                                         "float8_e4m3fnuz",
                                         "float8_e5m2",
                                         "float8_e5m2fnuz",
                                         "float8_e8m0fnu",
                                         "float6_e2m3fn",
                                         "float6_e3m2fn",
                                         "float4_e2m1fn"};

static quern_status refuse(quern_dl_dtype from)
{
    const char *name = from.code < QN_COUNT(code_names) ? code_names[from.code] : "unknown";
    if (from.lanes != 1) {
        return qn_fail(QUERN_ERROR_NOT_SUPPORTED,
                       "elements of %u lanes (code %u, %s, of %u bits) are not taken: make the "
                       "lanes an axis of the tensor",
                       from.lanes, from.code, name, from.bits);
    }
    return qn_fail(QUERN_ERROR_NOT_SUPPORTED,
                   "there is no dtype for DLPack's code %u (%s) of %u bits", from.code, name,
                   from.bits);
}

quern_status qn_dtype_from_dl(quern_dtype *out, quern_dl_dtype from)
{
    const unsigned bytes = from.bits / 8u;
    const bool whole = bytes > 0 && from.bits % 8 == 0 && (bytes & (bytes - 1)) == 0;
    *out = QUERN_DTYPE_NONE;
    if (from.lanes == 1 && from.code < CODES && whole) {
        *out = (quern_dtype)dtypes[from.code][__builtin_ctz(bytes)];
    }
    return *out != QUERN_DTYPE_NONE ? QUERN_OK : refuse(from);
}

quern_status qn_dtype_to_dl(quern_dl_dtype *out, quern_dtype dtype)
{
    *out = (quern_dl_dtype){0, 0, 0};
    if ((size_t)dtype >= QN_COUNT(exchanged)) {
        return qn_fail(
            QUERN_ERROR_NOT_SUPPORTED,
            "DLPack has no records: give out the fields of %s (quern_array_field), or the "
            "array interface (quern_array_get_interface)",
            quern_dtype_name(dtype));
    }
    *out = exchanged[dtype];
    return QUERN_OK;
}

quern_status quern_dtype_from_dl(quern_dtype *out, quern_dl_dtype from)
{
    qn_error_reset();
    QN_CHECK_NOT_NULL(out);
    return qn_dtype_from_dl(out, from);
}

quern_status quern_dtype_to_dl(quern_dl_dtype *out, quern_dtype dtype)
{
    qn_error_reset();
    QN_CHECK_NOT_NULL(out);
    *out = (quern_dl_dtype){0, 0, 0};
    if (!qn_dtype_find(dtype)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "%d is not a dtype", (int)dtype);
    }
    return qn_dtype_to_dl(out, dtype);
}
