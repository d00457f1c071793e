/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: the arguments of a module's function. In: the sizes of its parameters, then values.
 * Holds: a launch happens exactly when the call succeeds, and only with as many arguments as there
 * are parameters, each of its parameter's size; every byte of them can be read; arrays, pointers
 * and structures arrive as they were passed. The device only looks, and runs nothing.
 */
#include "build.h"
#include "reader.h"

#include <stdlib.h>
#include <string.h>

#define MOST       100  /* parameters: more than a call keeps on its stack */
#define READ_BLIND 4096 /* parameters that a device may read if it does not say how many */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool condition)
{
    if (!condition) {
        abort();
    }
}

/* ---- the function as the device reports it, and what it is launched with --------------------- */

static struct {
    uint32_t count;
    uint64_t sizes[MOST];
    bool silent; /* it does not report its parameters */
    const quern_value *values;
    size_t value_count;
    int launches;
} function;

static void check_argument(const quern_value *value, const void *bytes, uint64_t size)
{
    volatile unsigned char sum = 0; /* so that a sanitizer sees every byte read */
    for (uint64_t k = 0; k < size; k++) {
        sum = (unsigned char)(sum + ((const unsigned char *)bytes)[k]);
    }
    switch (value->kind) {
    case QUERN_VALUE_ARRAY: {
        const void *address = quern_array_pointer(value->as.array);
        check(size == sizeof address && memcmp(bytes, &address, sizeof address) == 0);
        return;
    }
    case QUERN_VALUE_POINTER:
        check(size == sizeof(void *) && memcmp(bytes, &value->as.pointer, sizeof(void *)) == 0);
        return;
    case QUERN_VALUE_STRUCT:
        check(size == value->as.block.bytes && memcmp(bytes, value->as.block.data, size) == 0);
        return;
    default:
        check(value->kind == QUERN_VALUE_SCALAR &&
              size == quern_dtype_size((quern_dtype)value->dtype));
    }
}

static quern_status launch(quern_device *device, void *handle, const quern_launch_config *config,
                           void **parameters)
{
    (void)device, (void)handle;
    function.launches++;
    for (int axis = 0; axis < 3; axis++) {
        check(config->grid[axis] > 0 && config->block[axis] > 0);
    }
    if (function.silent) {
        for (size_t k = function.value_count; k < READ_BLIND; k++) {
            check(*(const unsigned char *)parameters[k] == 0);
        }
        return QUERN_OK;
    }
    for (uint32_t k = 0; k < function.count; k++) {
        check_argument(&function.values[k], parameters[k], function.sizes[k]);
    }
    return QUERN_OK;
}

static quern_status function_info(quern_device *device, void *handle, quern_function_info *info)
{
    (void)device, (void)handle;
    info->parameter_count = function.silent ? SIZE_MAX : function.count;
    return QUERN_OK;
}

static quern_status function_parameter(quern_device *device, void *handle, size_t index,
                                       uint64_t *offset, uint64_t *bytes)
{
    (void)device, (void)handle;
    check(!function.silent && index < function.count);
    *offset = 0;
    *bytes = function.sizes[index];
    return QUERN_OK;
}

/* ---- the device: the one that quern build compiles for, which is not there ------------------- */

static quern_device_methods methods;

static quern_engine *open_engine(void)
{
    quern_options options = QUERN_OPTIONS_INIT;
    quern_engine *engine;
    options.cache_dir = "off";
    options.device = "compute_75:1:0";
    check(quern_open_device(&engine, &methods, &options) == QUERN_OK);
    return engine;
}

/* ---- values from bytes ---------------------------------------------------------------------- */

static quern_engine *engine, *other;
static quern_module *module;
static quern_array *arrays[5]; /* whole, with steps, empty, of another engine, NULL */
static unsigned char block[512];

static void make_once(void)
{
    static const char image[] = ".version 7.0\n";
    if (engine) {
        return;
    }
    methods = build_absent_device;
    methods.name = "looks";
    methods.function_info = function_info;
    methods.function_parameter = function_parameter;
    methods.launch = launch;
    engine = open_engine();
    other = open_engine();
    check(quern_module_load(&module, engine, image, sizeof image - 1) == QUERN_OK);
    check(quern_array_new(&arrays[0], engine, QUERN_INT16, 1, (int64_t[]){8}) == QUERN_OK);
    check(quern_array_slice(&arrays[1], arrays[0], 1, &(quern_slice){0, 8, 2}) == QUERN_OK);
    check(quern_array_new(&arrays[2], engine, QUERN_FLOAT64, 2, (int64_t[]){0, 3}) == QUERN_OK);
    check(quern_array_new(&arrays[3], other, QUERN_INT16, 1, (int64_t[]){8}) == QUERN_OK);
}

static quern_value take_value(reader *r)
{
    quern_value v = {.kind = take_byte(r), .dtype = take_byte(r)};
    switch (v.kind) {
    case QUERN_VALUE_ARRAY:
        v.as.array = arrays[take_byte(r) % 5];
        break;
    case QUERN_VALUE_OUTPUT:
        v.as.output = &arrays[0];
        break;
    case QUERN_VALUE_STRUCT: {
        uint16_t bytes;
        take(r, &bytes, sizeof bytes);
        v = (quern_value){.kind = QUERN_VALUE_STRUCT};
        v.as.block.data = bytes & 0x8000 ? NULL : block;
        v.as.block.bytes = bytes % (sizeof block + 1);
        break;
    }
    default:
        take(r, v.as.parts, sizeof v.as.parts);
    }
    return v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t sizes[] = {1, 2, 4, 8, 16, 12, 3, 0, 64, 512, UINT64_MAX, 4096};
    reader r = {data, size};
    quern_value values[MOST + 1];
    quern_launch_options options = QUERN_LAUNCH_OPTIONS_INIT;
    quern_function *f;
    make_once();
    function.silent = take_byte(&r) == 's';
    function.count = take_byte(&r) % (MOST + 1);
    for (uint32_t k = 0; k < function.count; k++) {
        function.sizes[k] = sizes[take_byte(&r) % (sizeof sizes / sizeof *sizes)];
    }
    check(quern_module_function(&f, module, "f") == QUERN_OK);
    size_t count = (size_t)(function.count + (take_byte(&r) % 8 == 7)) % (MOST + 1);
    options.any_strides = take_byte(&r) & 1;
    options.grid[0] = take_byte(&r);
    for (size_t k = 0; k < count; k++) {
        values[k] = take_value(&r);
    }
    function.values = values;
    function.value_count = count;
    function.launches = 0;
    quern_status status = quern_function_call_n(f, values, count, &options);
    check(function.launches == (status == QUERN_OK));
    check(status != QUERN_OK || function.silent || count == function.count);
    check(status == QUERN_OK || quern_last_error()->message[0] != '\0');
    quern_function_release(f);
    return 0;
}
