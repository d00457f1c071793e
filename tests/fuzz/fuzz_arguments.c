/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: the arguments of a module's function. In: the sizes of its parameters, then values.
 * Holds: a launch happens exactly when the call succeeds, and only with as many arguments as there
 * are parameters, each of its parameter's size; every byte of them can be read; arrays, pointers
 * and structures arrive as they were passed. The device only looks, and runs nothing.
 */
#include "reader.h"

#include <quern/device.h>
#include <stdbool.h>
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

/* ---- the rest of the device ----------------------------------------------------------------- */

static char anything; /* what handles point to */

static quern_status make(void **out)
{
    *out = &anything;
    return QUERN_OK;
}

static quern_status open_device(quern_device **out, const char *argument,
                                const quern_allocator *allocator)
{
    (void)argument, (void)allocator;
    return make((void **)out);
}

static void target(quern_device *device, int *arch, int *native)
{
    (void)device;
    *arch = 75;
    *native = 0;
}

static quern_status info(quern_device *device, quern_device_info *facts)
{
    (void)device;
    facts->processors = 1;
    return QUERN_OK;
}

static quern_status allocate(quern_device *device, void **out, size_t bytes, void *stream)
{
    (void)device, (void)stream;
    *out = malloc(bytes);
    return *out ? QUERN_OK : QUERN_ERROR_DEVICE_MEMORY;
}

static void release(quern_device *device, void *pointer, size_t bytes, void *stream)
{
    (void)device, (void)bytes, (void)stream;
    free(pointer);
}

static quern_status module_load(quern_device *device, void **out, quern_image_kind kind,
                                const void *image, size_t bytes)
{
    (void)device, (void)kind, (void)image, (void)bytes;
    return make(out);
}

static quern_status function_get(quern_device *device, void **out, void *module, const char *name)
{
    (void)device, (void)module, (void)name;
    return make(out);
}

static quern_status stream_new(quern_device *device, void **out)
{
    (void)device;
    return make(out);
}

static void free_handle(quern_device *device, void *handle)
{
    (void)device, (void)handle;
}

static void close_device(quern_device *device)
{
    (void)device;
}

static quern_status synchronize(quern_device *device)
{
    (void)device;
    return QUERN_OK;
}

/* A device must have these; nothing here calls them. */

static quern_status copy(quern_device *device, void *to, const void *from, size_t bytes,
                         quern_copy_kind kind, void *stream, int wait)
{
    (void)device, (void)to, (void)from, (void)bytes, (void)kind, (void)stream, (void)wait;
    return QUERN_ERROR_NOT_SUPPORTED;
}

static quern_status fill(quern_device *device, void *to, const void *pattern, size_t pattern_bytes,
                         size_t count, void *stream)
{
    (void)device, (void)to, (void)pattern, (void)pattern_bytes, (void)count, (void)stream;
    return QUERN_ERROR_NOT_SUPPORTED;
}

static quern_status module_functions(quern_device *device, void *handle, size_t *count,
                                     const char **names, size_t capacity)
{
    (void)device, (void)handle, (void)names, (void)capacity;
    *count = SIZE_MAX;
    return QUERN_OK;
}

static quern_status module_global(quern_device *device, void **pointer, uint64_t *bytes,
                                  void *handle, const char *name)
{
    (void)device, (void)pointer, (void)bytes, (void)handle, (void)name;
    return QUERN_ERROR_NAME;
}

static quern_status function_set(quern_device *device, void *handle,
                                 quern_function_property property, int32_t value)
{
    (void)device, (void)handle, (void)property, (void)value;
    return QUERN_ERROR_NOT_SUPPORTED;
}

static quern_status occupancy(quern_device *device, void *handle, uint32_t block_threads,
                              uint32_t shared_bytes, uint32_t *blocks)
{
    (void)device, (void)handle, (void)block_threads, (void)shared_bytes;
    *blocks = 0;
    return QUERN_OK;
}

static quern_status wait_for(quern_device *device, void *handle)
{
    (void)device, (void)handle;
    return QUERN_OK;
}

static quern_status pair(quern_device *device, void *one, void *other)
{
    (void)device, (void)one, (void)other;
    return QUERN_OK;
}

static quern_status elapsed(quern_device *device, double *milliseconds, void *begin, void *end)
{
    (void)device, (void)begin, (void)end;
    *milliseconds = 0;
    return QUERN_OK;
}

static const quern_device_methods methods = {
    .size = sizeof methods,
    .version = QUERN_DEVICE_VERSION,
    .name = "looks",
    .open = open_device,
    .close = close_device,
    .info = info,
    .target = target,
    .allocate = allocate,
    .release = release,
    .copy = copy,
    .fill = fill,
    .module_load = module_load,
    .module_free = free_handle,
    .function_get = function_get,
    .module_functions = module_functions,
    .module_global = module_global,
    .function_info = function_info,
    .function_parameter = function_parameter,
    .function_set = function_set,
    .occupancy = occupancy,
    .launch = launch,
    .stream_new = stream_new,
    .stream_free = free_handle,
    .stream_wait = wait_for,
    .event_new = stream_new,
    .event_free = free_handle,
    .event_record = pair,
    .event_wait = wait_for,
    .stream_wait_event = pair,
    .event_elapsed = elapsed,
    .synchronize = synchronize,
};

static quern_engine *open_engine(void)
{
    quern_options options = QUERN_OPTIONS_INIT;
    quern_engine *engine;
    options.cache_dir = "off";
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
