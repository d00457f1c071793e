/* SPDX-License-Identifier: MIT
 *
 * Calls: arguments packed by their C types.
 *
 * quern_call(kernel, argument, ...) calls a kernel with up to 64 arguments, where
 *
 *     quern_array *   is an array        int, long, ...   a literal       float    a float32 scalar
 *     quern_array **  is an output       double           a literal       quern_value   itself
 *
 * and in C `double _Complex` is a literal and `float _Complex` a complex64 scalar.
 *
 * quern_call_with(kernel, options, argument, ...) does the same with quern_call_options, such as
 * axes and a stream, and quern_bind_with(&bound, kernel, options, argument, ...) binds the call
 * instead.
 *
 * quern_function_call(function, launch, argument, ...) does the same for a function of a module,
 * where each argument has the bytes of its C type: int is int32, double is float64, and so on. A
 * pointer of any type (float *, const void *, ...) is a device address; quern_texture * and
 * quern_surface * are what they are.
 *
 * quern_kernel_infer_with(outputs, capacity, kernel, options, argument, ...) asks with the same
 * arguments what a call would give. These are macros in C: options that are written in the call, as
 * a compound literal, stand in parentheses, because of their commas.
 *
 * QUERN_VALUES(argument, ...) and QUERN_ARGUMENTS(argument, ...) make the same lists for
 * quern_call_n(), quern_bind() and quern_function_call_n(), whose errors these calls return:
 *
 *     quern_value values[] = {QUERN_VALUES(x, 2.0, &z)};
 *
 * All of it works in C11 and later and in C++11 and later.
 */
#ifndef QUERN_CALL_H
#define QUERN_CALL_H

#include <quern/ask.h>
#include <quern/kernel.h>
#include <quern/lists.h>
#include <quern/module.h>
#include <quern/texture.h>
#include <string.h>

/** The arguments (1 to 64) as a list of quern_value for an array initialiser: of a kernel, and of a
 * function of a module. */
#define QUERN_VALUES(...)    QUERN_LIST(quern_value_of, __VA_ARGS__)
#define QUERN_ARGUMENTS(...) QUERN_LIST(quern_argument_of, __VA_ARGS__)

#ifdef __cplusplus

/* clang-format off */
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
static inline quern_value quern_argument_of(quern_texture *v) { return quern_value_texture(v); }
static inline quern_value quern_argument_of(quern_surface *v) { return quern_value_surface(v); }
/** A device address. */
template <typename T> quern_value quern_argument_of(T *v) { return quern_argument_pointer(v); }
/** Quern's own objects are not in device memory. */
quern_value quern_argument_of(const quern_array *v) = delete;
quern_value quern_argument_of(quern_array **v) = delete;
quern_value quern_argument_of(quern_engine *v) = delete;
quern_value quern_argument_of(quern_function *v) = delete;
quern_value quern_argument_of(quern_kernel *v) = delete;
quern_value quern_argument_of(quern_module *v) = delete;
quern_value quern_argument_of(quern_stream *v) = delete;
quern_value quern_argument_of(quern_bound *v) = delete;
quern_value quern_argument_of(quern_cuda_array *v) = delete;
quern_value quern_argument_of(const quern_cuda_array *v) = delete;
quern_value quern_argument_of(const quern_texture *v) = delete;
quern_value quern_argument_of(const quern_surface *v) = delete;
static inline quern_value quern_argument_of(bool v) { return quern_argument_bool(v); }
static inline quern_value quern_argument_of(char v) { return quern_argument_char((signed char)v); }
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
/* clang-format on */

template <typename... Arguments>
static inline quern_status quern_call(quern_kernel *kernel, Arguments... arguments)
{
    const quern_value values[] = {quern_value{}, quern_value_of(arguments)...};
    return quern_call_n(kernel, values + 1, sizeof...(arguments), nullptr);
}

template <typename... Arguments>
static inline quern_status quern_call_with(quern_kernel *kernel, const quern_call_options *options,
                                           Arguments... arguments)
{
    const quern_value values[] = {quern_value{}, quern_value_of(arguments)...};
    return quern_call_n(kernel, values + 1, sizeof...(arguments), options);
}

template <typename... Arguments>
static inline quern_status quern_bind_with(quern_bound **bound, quern_kernel *kernel,
                                           const quern_call_options *options,
                                           Arguments... arguments)
{
    const quern_value values[] = {quern_value{}, quern_value_of(arguments)...};
    return quern_bind(bound, kernel, values + 1, sizeof...(arguments), options);
}

template <typename... Arguments>
static inline quern_status
quern_kernel_infer_with(quern_array_info *outputs, size_t capacity, quern_kernel *kernel,
                        const quern_call_options *options, Arguments... arguments)
{
    const quern_value values[] = {quern_value{}, quern_value_of(arguments)...};
    return quern_kernel_infer(outputs, capacity, kernel, values + 1, sizeof...(arguments), options);
}

template <typename... Arguments>
static inline quern_status quern_function_call(quern_function *function,
                                               const quern_launch_options *launch,
                                               Arguments... arguments)
{
    const quern_value values[] = {quern_value{}, quern_argument_of(arguments)...};
    return quern_function_call_n(function, values + 1, sizeof...(arguments), launch);
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
        float _Complex: quern_scalar_float_complex,                                                \
        double _Complex: quern_literal_double_complex,                                             \
        quern_value: quern_value_same)(v)

/** A type without a line here must be a pointer, which is a device address; anything else does not
 * compile, nor do Quern's own objects. */
#define quern_argument_of(v)                                                                       \
    _Generic((v),                                                                                  \
        quern_array *: quern_value_array,                                                          \
        quern_texture *: quern_value_texture,                                                      \
        quern_surface *: quern_value_surface,                                                      \
        const quern_array *: quern_not_an_argument,                                                \
        quern_cuda_array *: quern_not_an_argument,                                                 \
        const quern_cuda_array *: quern_not_an_argument,                                           \
        const quern_texture *: quern_not_an_argument,                                              \
        const quern_surface *: quern_not_an_argument,                                              \
        quern_array **: quern_not_an_argument,                                                     \
        quern_engine *: quern_not_an_argument,                                                     \
        quern_function *: quern_not_an_argument,                                                   \
        quern_kernel *: quern_not_an_argument,                                                     \
        quern_module *: quern_not_an_argument,                                                     \
        quern_stream *: quern_not_an_argument,                                                     \
        quern_bound *: quern_not_an_argument,                                                      \
        _Bool: quern_argument_bool,                                                                \
        char: quern_argument_char,                                                                 \
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
        float _Complex: quern_scalar_float_complex,                                                \
        double _Complex: quern_argument_double_complex,                                            \
        quern_value: quern_value_same,                                                             \
        default: quern_argument_pointer)(v)

/** No argument has this type, so a choice of it does not compile. */
struct quern_not_an_argument {
    char none;
};
static inline quern_value quern_not_an_argument(struct quern_not_an_argument value)
{
    return quern_literal_int(value.none);
}

static inline quern_value quern_literal_double_complex(double _Complex value)
{
    double parts[2];
    memcpy(parts, &value, sizeof parts);
    return quern_literal_complex(parts[0], parts[1]);
}
static inline quern_value quern_argument_double_complex(double _Complex value)
{
    double parts[2];
    memcpy(parts, &value, sizeof parts);
    return quern_scalar_complex(QUERN_COMPLEX128, parts[0], parts[1]);
}
static inline quern_value quern_scalar_float_complex(float _Complex value)
{
    float parts[2];
    memcpy(parts, &value, sizeof parts);
    return quern_scalar_complex(QUERN_COMPLEX64, (double)parts[0], (double)parts[1]);
}

#define quern_call(...)         QUERN_JOIN(QUERN_CALL_, QUERN_AFTER_1(NONE, SOME, __VA_ARGS__))(__VA_ARGS__)
#define QUERN_CALL_NONE(kernel) quern_call_n((kernel), NULL, 0, NULL)
#define QUERN_CALL_SOME(kernel, ...)                                                               \
    quern_call_n((kernel), (const quern_value[]){QUERN_VALUES(__VA_ARGS__)},                       \
                 QUERN_COUNT(__VA_ARGS__), NULL)

#define quern_call_with(...)                                                                       \
    QUERN_JOIN(QUERN_CALL_WITH_, QUERN_AFTER_2(NONE, SOME, __VA_ARGS__))(__VA_ARGS__)
#define QUERN_CALL_WITH_NONE(kernel, options) quern_call_n((kernel), NULL, 0, (options))
#define QUERN_CALL_WITH_SOME(kernel, options, ...)                                                 \
    quern_call_n((kernel), (const quern_value[]){QUERN_VALUES(__VA_ARGS__)},                       \
                 QUERN_COUNT(__VA_ARGS__), (options))

#define quern_bind_with(...)                                                                       \
    QUERN_JOIN(QUERN_BIND_WITH_, QUERN_AFTER_3(NONE, SOME, __VA_ARGS__))(__VA_ARGS__)
#define QUERN_BIND_WITH_NONE(bound, kernel, options)                                               \
    quern_bind((bound), (kernel), NULL, 0, (options))
#define QUERN_BIND_WITH_SOME(bound, kernel, options, ...)                                          \
    quern_bind((bound), (kernel), (const quern_value[]){QUERN_VALUES(__VA_ARGS__)},                \
               QUERN_COUNT(__VA_ARGS__), (options))

#define quern_kernel_infer_with(outputs, capacity, kernel, options, ...)                           \
    quern_kernel_infer((outputs), (capacity), (kernel),                                            \
                       (const quern_value[]){QUERN_VALUES(__VA_ARGS__)}, QUERN_COUNT(__VA_ARGS__), \
                       (options))

#define quern_function_call(...)                                                                   \
    QUERN_JOIN(QUERN_LAUNCH_, QUERN_AFTER_2(NONE, SOME, __VA_ARGS__))(__VA_ARGS__)
#define QUERN_LAUNCH_NONE(function, launch) quern_function_call_n((function), NULL, 0, (launch))
#define QUERN_LAUNCH_SOME(function, launch, ...)                                                   \
    quern_function_call_n((function), (const quern_value[]){QUERN_ARGUMENTS(__VA_ARGS__)},         \
                          QUERN_COUNT(__VA_ARGS__), (launch))

#endif /* __cplusplus */

#endif /* QUERN_CALL_H */
