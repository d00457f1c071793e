/* SPDX-License-Identifier: MIT
 *
 * function_call: launches of a module's functions. In: how to launch, and one value per parameter.
 * Out: queued work, or an error that says which argument is wrong, and why. The thing to know:
 * nothing is launched unless the number and sizes of the arguments are those of the function, and
 * only scalars are copied: the device reads addresses and structures where the caller has them.
 */
#include "engine/modules/modules.h"
#include "engine/textures/textures.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FEW 64 /* arguments: up to so many need no allocation */

/* ---- arguments ------------------------------------------------------------------------------ */

/* One argument on its way. */
typedef struct argument {
    const quern_function *function;
    const quern_value *value;
    size_t position;  /* from 1 */
    uint64_t wanted;  /* bytes of the parameter; 0: the driver does not say */
    const void *data; /* its bytes */
    uint64_t bytes;
    unsigned char *scalar; /* room for a scalar's */
    qn_arena *arena;       /* for what is larger */
} argument;

static quern_status fail(quern_status status, const argument *a, const char *what)
{
    return qn_fail(status, "%s, argument %zu: %s", a->function->name, a->position, what);
}

/* Bytes of the CArray of templates/carray.cuh with so many dimensions. */
static uint64_t carray_bytes(int ndim)
{
    return 16 + 16 * (uint64_t)QN_MAX(ndim, 1);
}

/* The array as a CArray: its address, number of elements, extents and strides. The address comes
 * first, so it is also good for a parameter of unknown size. */
static quern_status take_carray(argument *a, const quern_array *array)
{
    const size_t bytes = carray_bytes(array->ndim);
    unsigned char *fields = qn_arena_alloc(a->arena, bytes);
    if (!fields) {
        return qn_fail_memory("launching a function");
    }
    const size_t extents = (size_t)array->ndim * sizeof array->shape[0];
    memset(fields, 0, bytes);
    memcpy(fields, &array->data, 8);
    memcpy(fields + 8, &array->count, 8);
    memcpy(fields + 16, array->shape, extents);
    memcpy(fields + 16 + extents, array->strides, extents);
    a->data = fields;
    a->bytes = bytes;
    return QUERN_OK;
}

/* Is this parameter of the function a pointer to what is const? Looked up in the source once. */
static bool only_reads(const argument *a)
{
    quern_function *f = (quern_function *)a->function;
    const uint32_t index = (uint32_t)(a->position - 1);
    const uint64_t bit = index < 64 ? UINT64_C(1) << index : 0;
    bool reads = (atomic_load_explicit(&f->only_reads, memory_order_relaxed) & bit) != 0;
    for (size_t t = 0; t < f->module->text_count && !reads; t++) {
        reads = qn_source_parameter_reads(f->module->texts[t].text, f->name, index);
    }
    atomic_fetch_or_explicit(&f->only_reads, reads ? bit : 0, memory_order_relaxed);
    return reads;
}

static quern_status take_array(argument *a, bool any_strides)
{
    quern_array *const *array = &a->value->as.array;
    if (!*array) {
        return fail(QUERN_ERROR_INVALID_ARGUMENT, a,
                    "the array is NULL; quern_value_pointer(NULL) is a null pointer");
    }
    if (!qn_array_fits(*array, &a->function->module->engine->home)) {
        quern_status status =
            qn_array_refuse(*array, "function", &a->function->module->engine->home);
        qn_error_prefix("%s, argument %zu: ", a->function->name, a->position);
        return status;
    }
    if (!(*array)->contiguous && !any_strides) {
        return fail(QUERN_ERROR_SHAPE, a,
                    "the array is not C-contiguous, and a function gets only the address of its "
                    "first element; copy it (quern_array_copy), or set any_strides if the function "
                    "knows the strides");
    }
    if ((*array)->read_only && !only_reads(a)) {
        return fail(
            QUERN_ERROR_INVALID_ARGUMENT, a,
            "the array is read-only, and the function's source does not declare this "
            "parameter as a pointer to const; pass a copy (quern_array_copy), or the address "
            "as a pointer if the function only reads there");
    }
    if (qn_array_is_packed(*array) && (*array)->reach < (*array)->alignment && !any_strides) {
        return qn_fail(QUERN_ERROR_SHAPE,
                       "%s, argument %zu: the array's elements lie at multiples of %u byte%s, and "
                       "those of %s at multiples of %u; copy it (quern_array_copy), or set "
                       "any_strides if the function knows",
                       a->function->name, a->position, (*array)->reach,
                       (*array)->reach == 1 ? "" : "s", quern_dtype_name((*array)->dtype),
                       (*array)->alignment);
    }
    if (a->wanted == 0 || a->wanted == carray_bytes((*array)->ndim)) {
        return take_carray(a, *array);
    }
    a->data = &(*array)->data;
    a->bytes = sizeof(*array)->data;
    return QUERN_OK;
}

/* The scalars that most functions take, and that need no conversion. */
static bool take_common_scalar(argument *a)
{
    const quern_value *v = a->value;
    int32_t integer = (int32_t)v->as.integer;
    uint32_t natural = (uint32_t)v->as.natural;
    a->data = a->scalar;
    a->bytes = 4;
    switch (v->dtype) {
    case QUERN_INT32:
        memcpy(a->scalar, &integer, 4);
        return v->as.integer == integer;
    case QUERN_UINT32:
        memcpy(a->scalar, &natural, 4);
        return v->as.natural == natural;
    case QUERN_FLOAT32: {
        float real = (float)v->as.real;
        memcpy(a->scalar, &real, 4);
        return !isinf(real) || isinf(v->as.real);
    }
    case QUERN_FLOAT64:
        memcpy(a->scalar, &v->as.real, 8);
        a->bytes = 8;
        return true;
    default:
        return false;
    }
}

static quern_status take_scalar(argument *a)
{
    quern_dtype dtype = (quern_dtype)a->value->dtype;
    if (take_common_scalar(a)) {
        return QUERN_OK;
    }
    if (!qn_dtype_find(dtype)) {
        return fail(QUERN_ERROR_INVALID_ARGUMENT, a, "the scalar's dtype is unknown");
    }
    char name[24]; /* parameters of compiled code have none */
    snprintf(name, sizeof name, "%zu", a->position);
    quern_status status = qn_scalar_convert(a->scalar, dtype, a->value, qn_str_of(name), NULL);
    if (status != QUERN_OK) {
        qn_error_prefix("%s, argument %zu: ", a->function->name, a->position);
        return status;
    }
    a->data = a->scalar;
    a->bytes = quern_dtype_size(dtype);
    return QUERN_OK;
}

static quern_status take_struct(argument *a)
{
    a->data = a->value->as.block.data;
    a->bytes = a->value->as.block.bytes;
    if (!a->data) {
        return fail(QUERN_ERROR_INVALID_ARGUMENT, a, "the structure's address is NULL");
    }
    return QUERN_OK;
}

static quern_status take_texture(argument *a)
{
    const quern_status status =
        qn_texture_take(&a->data, a->value, &a->function->module->engine->home);
    if (status != QUERN_OK) {
        qn_error_prefix("%s, argument %zu: ", a->function->name, a->position);
    }
    a->bytes = sizeof(uint64_t);
    return status;
}

static quern_status refuse_literal(const argument *a)
{
    static const struct {
        quern_dtype dtype;
        const char *advice;
    } advices[] = {
        {QUERN_BOOL, "quern_argument_bool()"},
        {QUERN_INT64, "quern_argument_int() for int, quern_argument_long() for long"},
        {QUERN_FLOAT64, "quern_scalar_float() for float, quern_argument_double() for double"},
        {QUERN_COMPLEX128, "quern_scalar_complex() with QUERN_COMPLEX64 or QUERN_COMPLEX128"},
    };
    for (size_t k = 0; k < QN_COUNT(advices); k++) {
        if ((int32_t)advices[k].dtype == a->value->dtype) {
            return qn_fail(QUERN_ERROR_TYPE,
                           "%s, argument %zu: a literal does not say how wide it is; write %s",
                           a->function->name, a->position, advices[k].advice);
        }
    }
    return fail(QUERN_ERROR_TYPE, a, "a literal does not say how wide it is; pass a scalar");
}

static quern_status take(argument *a, bool any_strides)
{
    switch (a->value->kind) {
    case QUERN_VALUE_ARRAY:
        return take_array(a, any_strides);
    case QUERN_VALUE_SCALAR:
        return take_scalar(a);
    case QUERN_VALUE_POINTER:
        a->data = &a->value->as.pointer;
        a->bytes = sizeof a->value->as.pointer;
        return QUERN_OK;
    case QUERN_VALUE_STRUCT:
        return take_struct(a);
    case QUERN_VALUE_TEXTURE:
    case QUERN_VALUE_SURFACE:
        return take_texture(a);
    case QUERN_VALUE_LITERAL:
        return refuse_literal(a);
    case QUERN_VALUE_LIKE:
        return fail(
            QUERN_ERROR_TYPE, a,
            "a dtype and a shape without memory are for quern_kernel_infer(); pass an array");
    case QUERN_VALUE_OUTPUT:
    case QUERN_VALUE_NONE:
        return fail(QUERN_ERROR_TYPE, a,
                    "a function of a module allocates no outputs; make the array and pass it");
    default:
        return fail(QUERN_ERROR_INVALID_ARGUMENT, a, "not a quern_value: its kind is unknown");
    }
}

/* ---- sizes ---------------------------------------------------------------------------------- */

static void print_passed(qn_text *out, const argument *a)
{
    switch (a->value->kind) {
    case QUERN_VALUE_ARRAY:
        qn_text_printf(out, "an array (an address, 8 bytes)");
        return;
    case QUERN_VALUE_POINTER:
        qn_text_printf(out, "a pointer (8 bytes)");
        return;
    case QUERN_VALUE_TEXTURE:
    case QUERN_VALUE_SURFACE:
        qn_text_printf(out, "a texture or surface object (8 bytes)");
        return;
    case QUERN_VALUE_STRUCT:
        qn_text_printf(out, "a structure of %llu byte%s", (unsigned long long)a->bytes,
                       a->bytes == 1 ? "" : "s");
        return;
    default: {
        const char *name = quern_dtype_name((quern_dtype)a->value->dtype);
        qn_text_printf(out, "%s %s (%llu byte%s)", name[0] == 'i' ? "an" : "a", name,
                       (unsigned long long)a->bytes, a->bytes == 1 ? "" : "s");
    }
    }
}

static const char *what_fits(uint64_t bytes)
{
    switch (bytes) {
    case 1:
        return "a bool, int8 or uint8";
    case 2:
        return "an int16, uint16, float16 or bfloat16";
    case 4:
        return "an int32, uint32 or float32";
    case 8:
        return "an array, a pointer, an int64, uint64, float64 or complex64";
    default:
        return "a structure of just that size";
    }
}

static quern_status fail_size(const argument *a, uint64_t wanted)
{
    qn_text passed = {0};
    char carray[64] = "";
    print_passed(&passed, a);
    if (wanted >= carray_bytes(1) && wanted % 16 == 0) {
        snprintf(carray, sizeof carray, ", or for a CArray an array of %llu dimension%s",
                 (unsigned long long)wanted / 16 - 1, wanted == carray_bytes(1) ? "" : "s");
    }
    quern_status status =
        qn_fail(QUERN_ERROR_TYPE,
                "%s: argument %zu is %s, but the function's parameter has %llu byte%s: %s%s fits",
                a->function->name, a->position, passed.data ? passed.data : "of another size",
                (unsigned long long)wanted, wanted == 1 ? "" : "s", what_fits(wanted), carray);
    qn_text_free(&passed);
    return status;
}

static quern_status fail_count(const quern_function *f, size_t count)
{
    qn_text sizes = {0};
    for (size_t k = 0; k < f->parameter_count && k < FEW; k++) {
        qn_text_printf(&sizes, "%s%llu", k > 0 ? ", " : "",
                       (unsigned long long)f->parameters[k].bytes);
    }
    bool one = f->parameter_count == 1;
    quern_status status =
        qn_fail(QUERN_ERROR_ARGUMENT_COUNT, "%s takes %zu argument%s%s%s%s, but %zu %s given",
                f->name, f->parameter_count, one ? "" : "s", sizes.length > 0 ? " (of " : "",
                sizes.length > 0 ? sizes.data : "", sizes.length > 0 ? " bytes)" : "", count,
                count == 1 ? "was" : "were");
    qn_text_free(&sizes);
    return status;
}

/* ---- launching ------------------------------------------------------------------------------ */

static uint32_t at_least_one(uint32_t extent)
{
    return extent != 0 ? extent : 1;
}

/* Take all arguments; `pointers` and `scalars` have room for `count`. */
static quern_status pack(const quern_function *function, const quern_value *values, size_t count,
                         bool any_strides, void **pointers, unsigned char (*scalars)[16],
                         qn_arena *arena)
{
    const bool known = function->parameter_count != SIZE_MAX;
    const bool handles = (function->textures | function->surfaces) != 0;
    for (size_t k = 0; k < count; k++) {
        if (handles) {
            QN_TRY(qn_function_check_handle(function, k, &values[k]));
        }
        argument a = {.function = function,
                      .value = &values[k],
                      .position = k + 1,
                      .wanted = known ? function->parameters[k].bytes : 0,
                      .scalar = scalars[k],
                      .arena = arena};
        QN_TRY(take(&a, any_strides));
        if (known && a.bytes != a.wanted) {
            return fail_size(&a, a.wanted);
        }
        pointers[k] = (void *)a.data;
    }
    return QUERN_OK;
}

/* Put the function's name, as the user asked for it, in front of a message that does not begin with
 * it. */
static void name_failure(const quern_function *function)
{
    static const char own[] = "kernel '";
    const char *said = quern_last_error()->message;
    size_t length = strlen(function->name);
    if (!qn_begins(said, own) || !qn_begins(said + strlen(own), function->name) ||
        said[strlen(own) + length] != '\'') {
        qn_error_prefix("%s: ", function->name);
    }
}

/* A launch, to explain what failed. */
typedef struct launched {
    const quern_function *function;
    const quern_value *values;
    size_t count;
} launched;

static void describe_argument(const void *context, uint32_t index, qn_str *name,
                              const quern_array **array)
{
    const launched *what = context;
    *name = qn_function_parameter_name(what->function, index);
    if (index < what->count && what->values[index].kind == QUERN_VALUE_ARRAY) {
        *array = what->values[index].as.array;
    }
}

static void drop_module(void *module)
{
    quern_module_release(module);
}

/* A launch that is recorded needs its module and its arrays as long as the graph. */
static quern_status keep(quern_function *function, const quern_value *values, size_t count,
                         quern_stream *stream)
{
    quern_module *module = quern_module_retain(function->module);
    const quern_status status = qn_capture_keep(stream, module, drop_module);
    if (status != QUERN_OK) {
        quern_module_release(module);
        return status;
    }
    return qn_values_keep(values, count, stream);
}

static quern_status launch_packed(quern_function *function, const quern_launch_options *l,
                                  const quern_value *values, size_t count, void **pointers)
{
    quern_engine *engine = function->module->engine;
    bool clusters = (l->cluster[0] | l->cluster[1] | l->cluster[2]) != 0;
    quern_launch_config config = {
        .size = sizeof config,
        .shared_bytes = l->shared_bytes,
        .cooperative = l->cooperative,
        .cluster = {clusters ? QN_MAX(l->cluster[0], 1u) : 0, l->cluster[1], l->cluster[2]},
        .overlap = l->overlap,
        .priority = l->priority,
        .stream = qn_stream_handle(&engine->home, l->stream),
    };
    for (int axis = 0; axis < 3; axis++) {
        config.grid[axis] = at_least_one(l->grid[axis]);
        config.block[axis] = at_least_one(l->block[axis]);
    }
    if (qn_stream_captures(l->stream)) {
        QN_TRY(keep(function, values, count, l->stream));
    }
    if (engine->tells_launches) {
        qn_tell_launch(engine, function->name, &config);
    }
    quern_status status =
        engine->home.methods->launch(engine->home.device, function->handle, &config, pointers);
    if (status != QUERN_OK) {
        const launched what = {function, values, count};
        qn_explain_failure(&(qn_failure){function->module->texts, function->module->text_count,
                                         describe_argument, &what});
        name_failure(function);
    }
    return status;
}

static quern_status launch_with(quern_function *function, const quern_launch_options *l,
                                const quern_value *values, size_t count, void **pointers,
                                unsigned char (*scalars)[16])
{
    qn_arena arena = {0};
    quern_status status =
        pack(function, values, count, l->any_strides != 0, pointers, scalars, &arena);
    if (status == QUERN_OK) {
        status = launch_packed(function, l, values, count, pointers);
    }
    qn_arena_free(&arena);
    return status;
}

/* As launch_with(), for more arguments than fit on the stack, or for a driver that does not say how
 * many it will read: whatever it could read is then there, and zero. */
static quern_status launch_many(quern_function *function, const quern_launch_options *l,
                                const quern_value *values, size_t count)
{
    static const unsigned char zeros[QN_PARAMETER_BYTES];
    size_t room = QN_MAX(count, (size_t)QN_PARAMETER_BYTES);
    void **pointers = qn_calloc(room, sizeof *pointers);
    unsigned char(*scalars)[16] = qn_calloc(count, sizeof *scalars);
    for (size_t k = count; pointers && k < room; k++) {
        pointers[k] = (void *)zeros;
    }
    quern_status status = pointers && scalars
                              ? launch_with(function, l, values, count, pointers, scalars)
                              : qn_fail_memory("launching a function");
    qn_free(pointers);
    qn_free(scalars);
    return status;
}

quern_status quern_function_call_n(quern_function *function, const quern_value *values,
                                   size_t count, const quern_launch_options *launch)
{
    static const quern_launch_options none = QUERN_LAUNCH_OPTIONS_INIT;
    qn_error_reset();
    QN_CHECK_OBJECT(function, QN_OBJECT_FUNCTION);
    QN_TAKE_IN_PLACE(quern_launch_options, launch);
    const quern_launch_options *l = launch ? launch : &none;
    if (!qn_stream_fits(l->stream, &function->module->engine->home)) {
        return qn_stream_refuse("quern_launch_options", l->stream, "function",
                                &function->module->engine->home);
    }
    if (!values && count != 0) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "values is NULL, but count is %zu", count);
    }
    bool known = function->parameter_count != SIZE_MAX;
    if (known && count != function->parameter_count) {
        return fail_count(function, count);
    }
    if (count > FEW || !known) {
        return launch_many(function, l, values, count);
    }
    void *pointers[FEW];
    _Alignas(16) unsigned char scalars[FEW][16];
    return launch_with(function, l, values, count, pointers, scalars);
}
