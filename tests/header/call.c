/* SPDX-License-Identifier: MIT
 *
 * Uses the public header in every way that depends on the language: quern_call with each type of
 * argument and each count, initialisers, and status names. It is compiled as C and as C++.
 */
#include <quern/quern.h>

quern_status every_argument(quern_kernel *kernel, quern_array *x, quern_array *z);
quern_status every_count(quern_kernel *kernel, quern_array *x, quern_array *z);
quern_status every_option(quern_kernel *kernel, quern_array *x, quern_array *z);
quern_status every_structure(quern_engine **engine);
quern_status every_launch(quern_function *function, quern_array *x);
quern_status every_pointer(quern_function *function);
quern_status most_arguments(quern_kernel *kernel, quern_function *function);
quern_status every_complex(quern_kernel *kernel, quern_function *function);

quern_status every_argument(quern_kernel *kernel, quern_array *x, quern_array *z)
{
    signed char a = 1;
    unsigned char b = 2;
    short c = 3;
    unsigned short d = 4;
    unsigned long long e = 5;
    float f = 6;
    quern_value typed = quern_scalar_int(QUERN_INT8, 7);
    quern_status status = quern_call(kernel, x, a, b, c, d, e, f, typed, &z);
    if (status == QUERN_OK) {
        status = quern_call(kernel, x, 1, 2u, 3l, 4ul, 5ll, 6.0, 'c', z);
    }
    return status;
}

quern_status every_count(quern_kernel *kernel, quern_array *x, quern_array *z)
{
    quern_status status = quern_call(kernel, x);
    if (status == QUERN_OK) {
        status = quern_call(kernel, x, &z);
    }
    if (status == QUERN_OK) {
        status = quern_call(kernel, x, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, &z);
    }
    return status;
}

quern_status every_option(quern_kernel *kernel, quern_array *x, quern_array *z)
{
    quern_call_options options = QUERN_CALL_OPTIONS_INIT;
    quern_bound *bound = NULL;
    const int64_t size = 3;
    options.loop_size = &size;
    quern_status status = quern_call_with(kernel, &options);
    if (status == QUERN_OK) {
        status = quern_call_with(kernel, NULL, x, 1, 2.0f, &z);
    }
    if (status == QUERN_OK) {
        status = quern_bind_with(&bound, kernel, NULL);
    }
    if (status == QUERN_OK) {
        status = quern_bind_with(&bound, kernel, &options, x, 'c', 2.5, &z);
    }
    return status;
}

quern_status every_structure(quern_engine **engine)
{
    quern_options options = QUERN_OPTIONS_INIT;
    quern_kernel_options kernel = QUERN_KERNEL_OPTIONS_INIT;
    quern_call_options call = QUERN_CALL_OPTIONS_INIT;
    quern_slice slices[2] = {QUERN_SLICE_ALL, {0, QUERN_SLICE_NONE, 2}};
    options.device = "soft";
    quern_reduction_options reduction = QUERN_REDUCTION_OPTIONS_INIT;
    quern_scan_options scan = QUERN_SCAN_OPTIONS_INIT;
    quern_module_options module = QUERN_MODULE_OPTIONS_INIT;
    quern_allocator allocator = QUERN_ALLOCATOR_INIT;
    quern_device_info device = QUERN_DEVICE_INFO_INIT;
    quern_compiler_info compiler = QUERN_COMPILER_INFO_INIT;
    quern_function_info function = QUERN_FUNCTION_INFO_INIT;
    quern_cache_stats stats = QUERN_CACHE_STATS_INIT;
    quern_export_options export_options = QUERN_EXPORT_OPTIONS_INIT;
    options.cache_limit = stats.limit + (uint64_t)export_options.level + compiler.found +
                          function.registers + device.processors;
    options.allocator = &allocator;
    kernel.option_count =
        (size_t)slices[1].step + reduction.ordered + scan.exclusive + module.header_count;
    kernel.name = !call.loop_size ? "one" : "other";
    return quern_open(engine, kernel.name ? &options : NULL);
}

quern_status every_launch(quern_function *function, quern_array *x)
{
    quern_launch_options launch = QUERN_LAUNCH_OPTIONS_INIT;
    float four[4] = {1, 2, 3, 4};
    void *pointer = four;
    signed char a = 1;
    unsigned char b = 2;
    short c = 3;
    unsigned short d = 4;
    launch.grid[0] = 2;
    quern_status status = quern_function_call(function, &launch);
    if (status == QUERN_OK) {
        status = quern_function_call(function, &launch, x, a, b, c, d);
    }
    if (status == QUERN_OK) {
        status =
            quern_function_call(function, &launch, x, pointer, 1, 2u, 3l, 4ul, 5ll, 6ull, 7.0f, 8.0,
                                quern_value_struct(four, sizeof four), 12, 13, 14, 15, 16);
    }
    return status;
}

#define EIGHT(x)      x, x, x, x, x, x, x, x
#define SIXTY_FOUR(x) EIGHT(x), EIGHT(x), EIGHT(x), EIGHT(x), EIGHT(x), EIGHT(x), EIGHT(x), EIGHT(x)

quern_status most_arguments(quern_kernel *kernel, quern_function *function)
{
    const quern_value values[] = {QUERN_VALUES(SIXTY_FOUR(1))};
    const quern_value arguments[] = {QUERN_ARGUMENTS(SIXTY_FOUR(1.0f))};
    quern_bound *bound = NULL;
    quern_status status = quern_call(kernel, SIXTY_FOUR(2));
    if (status == QUERN_OK) {
        status = quern_call_with(kernel, NULL, SIXTY_FOUR(2));
    }
    if (status == QUERN_OK) {
        status = quern_bind_with(&bound, kernel, NULL, SIXTY_FOUR(2));
    }
    if (status == QUERN_OK) {
        status = quern_call_n(kernel, values, sizeof values / sizeof values[0], NULL);
    }
    if (status == QUERN_OK) {
        status = quern_function_call(function, &QUERN_GRID(1, 32), SIXTY_FOUR('c'));
    }
    if (status == QUERN_OK) {
        status = quern_function_call_n(function, arguments, 64, &QUERN_GRID(1, 32));
    }
    return status;
}

struct particle;

quern_status every_pointer(quern_function *function)
{
    float numbers[2] = {1, 2};
    float *floats = numbers;
    const double *doubles = NULL;
    const void *anything = NULL;
    char *text = NULL;
    struct particle *structures = NULL;
    float **pointers = &floats;
    return quern_function_call(function, &QUERN_GRID(1, 1), floats, doubles, anything, text,
                               structures, pointers, numbers, (void *)NULL);
}

quern_status every_complex(quern_kernel *kernel, quern_function *function)
{
#ifdef __cplusplus
    return quern_call(kernel) == QUERN_OK ? quern_function_call(function, NULL) : QUERN_OK;
#else
    float _Complex c = 1;
    double _Complex z = 2;
    quern_status status = quern_call(kernel, c, z);
    return status == QUERN_OK ? quern_function_call(function, NULL, c, z) : status;
#endif
}
