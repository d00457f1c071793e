/* SPDX-License-Identifier: MIT
 *
 * Calls: arguments packed by their C types.
 *
 * quern_call(kernel, argument, ...) calls a kernel with up to 16 arguments, where
 *
 *     quern_array *   is an array        int, long, ...   a literal       float    a float32 scalar
 *     quern_array **  is an output       double           a literal       quern_value   itself
 *
 * quern_function_call(function, launch, argument, ...) does the same for a function of a module,
 * where each argument has the bytes of its C type: int is int32, double is float64, and so on.
 * QUERN_VALUES and QUERN_ARGUMENTS make the same lists for quern_call_n(), quern_bind() and
 * quern_function_call_n(), whose errors these calls return.
 */
#ifndef QUERN_CALL_H
#define QUERN_CALL_H

#include <quern/kernel.h>
#include <quern/module.h>

#ifdef __cplusplus

// clang-format off
static inline quern_value quern_value_of(quern_array *v) { return quern_value_array(v); }
static inline quern_value quern_value_of(quern_array **v) { return quern_value_output(v); }
/** A pointer to const is neither an array nor a truth value. */
template <typename T> quern_value quern_value_of(const T *v) = delete;
static inline quern_value quern_value_of(bool v) { return quern_literal_bool(v); }
static inline quern_value quern_value_of(int v) { return quern_literal_int(v); }
static inline quern_value quern_value_of(long v) { return quern_literal_int(v); }
static inline quern_value quern_value_of(long long v) { return quern_literal_int(v); }
static inline quern_value quern_value_of(unsigned v) { return quern_literal_int(v); }
static inline quern_value quern_value_of(unsigned long v) { return quern_literal_uint(v); }
static inline quern_value quern_value_of(unsigned long long v) { return quern_literal_uint(v); }
static inline quern_value quern_value_of(float v) { return quern_scalar_float(v); }
static inline quern_value quern_value_of(double v) { return quern_literal_double(v); }
static inline quern_value quern_value_of(quern_value v) { return v; }

static inline quern_value quern_argument_of(quern_array *v) { return quern_value_array(v); }
static inline quern_value quern_argument_of(void *v) { return quern_value_pointer(v); }
/** A pointer to const is neither an array nor a truth value. */
template <typename T> quern_value quern_argument_of(const T *v) = delete;
static inline quern_value quern_argument_of(bool v) { return quern_argument_bool(v); }
static inline quern_value quern_argument_of(signed char v) { return quern_argument_char(v); }
static inline quern_value quern_argument_of(unsigned char v) { return quern_argument_uchar(v); }
static inline quern_value quern_argument_of(short v) { return quern_argument_short(v); }
static inline quern_value quern_argument_of(unsigned short v) { return quern_argument_ushort(v); }
static inline quern_value quern_argument_of(int v) { return quern_argument_int(v); }
static inline quern_value quern_argument_of(unsigned v) { return quern_argument_unsigned(v); }
static inline quern_value quern_argument_of(long v) { return quern_argument_long(v); }
static inline quern_value quern_argument_of(long long v) { return quern_argument_long(v); }
static inline quern_value quern_argument_of(unsigned long v) { return quern_argument_ulong(v); }
static inline quern_value quern_argument_of(unsigned long long v) { return quern_argument_ulong(v); }
static inline quern_value quern_argument_of(float v) { return quern_scalar_float(v); }
static inline quern_value quern_argument_of(double v) { return quern_argument_double(v); }
static inline quern_value quern_argument_of(quern_value v) { return v; }
// clang-format on

template <typename... Arguments>
static inline quern_status quern_call(quern_kernel *kernel, Arguments... arguments)
{
    const quern_value values[] = {quern_value{}, quern_value_of(arguments)...};
    return quern_call_n(kernel, values + 1, sizeof...(arguments), nullptr);
}

template <typename... Arguments>
static inline quern_status quern_function_call(quern_function *function,
                                               const quern_launch_options *launch,
                                               Arguments... arguments)
{
    const quern_value values[] = {quern_value{}, quern_argument_of(arguments)...};
    return quern_function_call_n(function, launch, values + 1, sizeof...(arguments));
}

#else

#define quern_value_of(v)                                                                          \
    _Generic((v),                                                                                  \
        quern_array *: quern_value_array,                                                          \
        quern_array **: quern_value_output,                                                        \
        _Bool: quern_literal_bool,                                                                 \
        char: quern_literal_int,                                                                   \
        signed char: quern_literal_int,                                                            \
        unsigned char: quern_literal_int,                                                          \
        short: quern_literal_int,                                                                  \
        unsigned short: quern_literal_int,                                                         \
        int: quern_literal_int,                                                                    \
        unsigned: quern_literal_int,                                                               \
        long: quern_literal_int,                                                                   \
        long long: quern_literal_int,                                                              \
        unsigned long: quern_literal_uint,                                                         \
        unsigned long long: quern_literal_uint,                                                    \
        float: quern_scalar_float,                                                                 \
        double: quern_literal_double,                                                              \
        quern_value: quern_value_same)(v)

#define quern_call(...)                                                                            \
    QUERN_CALL_PICK(__VA_ARGS__, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, 0, 0)             \
    (__VA_ARGS__)
#define QUERN_CALL_PICK(k, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16,  \
                        pick, ...)                                                                 \
    QUERN_CALL_##pick
#define QUERN_CALL_0(kernel) quern_call_n((kernel), NULL, 0, NULL)
#define QUERN_CALL_N(kernel, ...)                                                                  \
    quern_call_n((kernel), (const quern_value[]){QUERN_VALUES(__VA_ARGS__)},                       \
                 sizeof((const quern_value[]){QUERN_VALUES(__VA_ARGS__)}) / sizeof(quern_value),   \
                 NULL)

#define quern_argument_of(v)                                                                       \
    _Generic((v),                                                                                  \
        quern_array *: quern_value_array,                                                          \
        void *: quern_value_pointer,                                                               \
        _Bool: quern_argument_bool,                                                                \
        signed char: quern_argument_char,                                                          \
        unsigned char: quern_argument_uchar,                                                       \
        short: quern_argument_short,                                                               \
        unsigned short: quern_argument_ushort,                                                     \
        int: quern_argument_int,                                                                   \
        unsigned: quern_argument_unsigned,                                                         \
        long: quern_argument_long,                                                                 \
        long long: quern_argument_long,                                                            \
        unsigned long: quern_argument_ulong,                                                       \
        unsigned long long: quern_argument_ulong,                                                  \
        float: quern_scalar_float,                                                                 \
        double: quern_argument_double,                                                             \
        quern_value: quern_value_same)(v)

#define quern_function_call(...)                                                                   \
    QUERN_LAUNCH_PICK(__VA_ARGS__, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, 0, 0)           \
    (__VA_ARGS__)
#define QUERN_LAUNCH_PICK(f, l, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15,  \
                          a16, pick, ...)                                                          \
    QUERN_LAUNCH_##pick
#define QUERN_LAUNCH_0(function, launch) quern_function_call_n((function), (launch), NULL, 0)
#define QUERN_LAUNCH_N(function, launch, ...)                                                      \
    quern_function_call_n(                                                                         \
        (function), (launch), (const quern_value[]){QUERN_ARGUMENTS(__VA_ARGS__)},                 \
        sizeof((const quern_value[]){QUERN_ARGUMENTS(__VA_ARGS__)}) / sizeof(quern_value))

/** The arguments (1 to 16) as a list of quern_value for an array initialiser: of a kernel, and of a
 * function of a module. */
#define QUERN_VALUES(...)    QUERN_LIST(quern_value_of, __VA_ARGS__)
#define QUERN_ARGUMENTS(...) QUERN_LIST(quern_argument_of, __VA_ARGS__)
#define QUERN_LIST(...)                                                                            \
    QUERN_LIST_PICK(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)         \
    (__VA_ARGS__)
#define QUERN_LIST_PICK(of, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, \
                        count, ...)                                                                \
    QUERN_LIST_##count
#define QUERN_LIST_1(of, a)       of(a)
#define QUERN_LIST_2(of, a, ...)  of(a), QUERN_LIST_1(of, __VA_ARGS__)
#define QUERN_LIST_3(of, a, ...)  of(a), QUERN_LIST_2(of, __VA_ARGS__)
#define QUERN_LIST_4(of, a, ...)  of(a), QUERN_LIST_3(of, __VA_ARGS__)
#define QUERN_LIST_5(of, a, ...)  of(a), QUERN_LIST_4(of, __VA_ARGS__)
#define QUERN_LIST_6(of, a, ...)  of(a), QUERN_LIST_5(of, __VA_ARGS__)
#define QUERN_LIST_7(of, a, ...)  of(a), QUERN_LIST_6(of, __VA_ARGS__)
#define QUERN_LIST_8(of, a, ...)  of(a), QUERN_LIST_7(of, __VA_ARGS__)
#define QUERN_LIST_9(of, a, ...)  of(a), QUERN_LIST_8(of, __VA_ARGS__)
#define QUERN_LIST_10(of, a, ...) of(a), QUERN_LIST_9(of, __VA_ARGS__)
#define QUERN_LIST_11(of, a, ...) of(a), QUERN_LIST_10(of, __VA_ARGS__)
#define QUERN_LIST_12(of, a, ...) of(a), QUERN_LIST_11(of, __VA_ARGS__)
#define QUERN_LIST_13(of, a, ...) of(a), QUERN_LIST_12(of, __VA_ARGS__)
#define QUERN_LIST_14(of, a, ...) of(a), QUERN_LIST_13(of, __VA_ARGS__)
#define QUERN_LIST_15(of, a, ...) of(a), QUERN_LIST_14(of, __VA_ARGS__)
#define QUERN_LIST_16(of, a, ...) of(a), QUERN_LIST_15(of, __VA_ARGS__)

#endif /* __cplusplus */

#endif /* QUERN_CALL_H */
