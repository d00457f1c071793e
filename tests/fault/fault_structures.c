/* SPDX-License-Identifier: MIT
 *
 * Structures of the interface as prefixes: each of them shorter, longer and damaged. The promise: a
 * program with an older header runs; one with a newer header runs as long as it asks for nothing
 * new; what is refused is named. Structures that the library fills are filled as far as they reach.
 */
#include "device/device_internal.h"
#include "fault/refuse.h"
#include "unit/cache/scratch.h"

#include <quern/interop.h>

#include <stddef.h>
#include <stdio.h>

#define ROOM 4096 /* of the largest structure, and what a test adds to it */

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry nothing() { ret; }\n";

static quern_array *none; /* no elements: what is called with it is not compiled */
static quern_kernel *kernel;
static quern_function *function;

static void open_all(void)
{
    quern_module *module;
    scratch_make();
    setenv("QUERN_CACHE_DIR", scratch,
           1); /* its contents are reported, and tests that run at the same time write */
    open_one();
    OK(quern_array_new(&none, engine, QUERN_INT32, SHAPE(0)));
    kernel = kernel_of("T x", "T y", "y = x");
    OK(quern_module_load(&module, engine, ptx, sizeof ptx - 1));
    OK(quern_module_function(&function, module, "nothing"));
    quern_module_release(module);
}

static void close_all(void)
{
    quern_function_release(function);
    quern_kernel_release(kernel);
    quern_array_release(none);
    whole_close();
    scratch_delete();
}

TestSuite(structures, .init = open_all, .fini = close_all);

#include "fault/structures_remote.h"

/* ---- those that are taken ------------------------------------------------------------------- */

static void close_new(quern_engine *e)
{
    quern_close(e);
}

static quern_status use_options(const void *s)
{
    quern_engine *e;
    quern_status status = quern_open(&e, s);
    close_new(e);
    return status;
}

static void *allocate(void *context, size_t bytes, size_t alignment, void *stream)
{
    (void)context, (void)bytes, (void)alignment, (void)stream;
    return NULL;
}

static void release(void *context, void *pointer, size_t bytes, void *stream)
{
    (void)context, (void)pointer, (void)bytes, (void)stream;
}

static quern_status use_allocator(const void *s)
{
    quern_options options = QUERN_OPTIONS_INIT;
    options.device = "soft";
    options.allocator = s;
    return use_options(&options);
}

static quern_status use_later_allocator(const void *s)
{
    quern_status status = quern_engine_set_allocator(engine, s);
    (void)(status == QUERN_OK && quern_engine_set_allocator(engine, NULL));
    return status;
}

static quern_status use_methods(const void *s)
{
    quern_engine *e;
    quern_status status = quern_open_device(&e, s, NULL);
    close_new(e);
    return status;
}

static quern_status give_back(quern_kernel *k, quern_status status)
{
    quern_kernel_release(k);
    return status;
}

static quern_status use_kernel(const void *s)
{
    quern_kernel *k;
    quern_status status = quern_elementwise(&k, engine, "T x", "T y", "y = x", s);
    return give_back(k, status);
}

static quern_status use_reduction(const void *s)
{
    quern_kernel *k;
    quern_status status = quern_reduction(&k, engine, "T x", "T y", "x", "a + b", "y = a", NULL, s);
    return give_back(k, status);
}

static quern_status use_scan(const void *s)
{
    quern_kernel *k;
    quern_status status = quern_scan(&k, engine, "T x", "T y", "x", "a + b", "y = a", NULL, s);
    return give_back(k, status);
}

static quern_status use_call(const void *s)
{
    return quern_call_n(kernel, (quern_value[]){QUERN_VALUES(none, none)}, 2, s);
}

static quern_status use_bind(const void *s)
{
    quern_bound *b;
    quern_status status = quern_bind(&b, kernel, (quern_value[]){QUERN_VALUES(none, none)}, 2, s);
    quern_bound_release(b);
    return status;
}

static quern_status use_explain(const void *s)
{
    quern_explanation *e;
    quern_status status =
        quern_explain(&e, kernel, (quern_value[]){QUERN_VALUES(none, none)}, 2, s);
    quern_explanation_release(e);
    return status;
}

static quern_status use_tune(const void *s)
{
    quern_tuning *t;
    quern_status status = quern_tune(&t, kernel, (quern_value[]){QUERN_VALUES(none, none)}, 2, s);
    quern_tuning_release(t);
    return status;
}

static quern_status use_infer(const void *s)
{
    return quern_kernel_infer(NULL, 0, kernel, (quern_value[]){QUERN_VALUES(none)}, 1, s);
}

static quern_status use_prepare(const void *s)
{
    quern_value value = quern_value_array(none);
    return quern_prepare(&(quern_preparation){.kernel = kernel, .values = &value, .count = 1}, 1,
                         s);
}

/* There is no such file, and nothing to link: options are looked at before that. */
static quern_status use_module(const void *s)
{
    quern_module *m;
    return quern_module_open(&m, engine, "/nowhere/at.all", s);
}

static quern_status use_link(const void *s)
{
    quern_module *m;
    return quern_module_link(&m, engine, NULL, 0, s);
}

static quern_status use_launch(const void *s)
{
    return quern_function_call(function, s);
}

static quern_status use_interface(const void *s)
{
    quern_array *a;
    quern_status status = quern_array_from_interface(&a, engine, s, NULL, NULL);
    quern_array_release(a);
    return status;
}

static quern_status use_stream(const void *s)
{
    quern_stream *stream;
    quern_status status = quern_stream_new_with(&stream, engine, s);
    quern_stream_release(stream);
    return status;
}

static quern_status use_export(const void *s)
{
    return quern_cache_export(NULL, engine, scratch_path("a.qpack"), s);
}

#define NO_RESERVED 0
#define TAKEN(type, use, init)                                                                     \
    {                                                                                              \
#type, sizeof(type), NO_RESERVED, _Alignof(type), use, &(const type)init                   \
    }
#define RESERVED(type, use, init)                                                                  \
    {                                                                                              \
#type, sizeof(type), offsetof(type, reserved), _Alignof(type), use, &(const type)init      \
    }

typedef struct taken {
    const char *type;
    size_t size, reserved, alignment;
    quern_status (*use)(const void *structure);
    const void *init;
} taken;

static const taken all_taken[] = {
    RESERVED(quern_options, use_options, QUERN_OPTIONS_INIT),
    RESERVED(quern_allocator, use_allocator, QUERN_ALLOCATOR_INIT),
    RESERVED(quern_allocator, use_later_allocator, QUERN_ALLOCATOR_INIT),
    TAKEN(quern_kernel_options, use_kernel, QUERN_KERNEL_OPTIONS_INIT),
    TAKEN(quern_reduction_options, use_reduction, QUERN_REDUCTION_OPTIONS_INIT),
    TAKEN(quern_scan_options, use_scan, QUERN_SCAN_OPTIONS_INIT),
    RESERVED(quern_call_options, use_call, QUERN_CALL_OPTIONS_INIT),
    RESERVED(quern_call_options, use_bind, QUERN_CALL_OPTIONS_INIT),
    RESERVED(quern_call_options, use_explain, QUERN_CALL_OPTIONS_INIT),
    RESERVED(quern_call_options, use_infer, QUERN_CALL_OPTIONS_INIT),
    RESERVED(quern_call_options, use_tune, QUERN_CALL_OPTIONS_INIT),
    TAKEN(quern_prepare_options, use_prepare, QUERN_PREPARE_OPTIONS_INIT),
    RESERVED(quern_stream_options, use_stream, QUERN_STREAM_OPTIONS_INIT),
    RESERVED(quern_launch_options, use_launch, QUERN_LAUNCH_OPTIONS_INIT),
    RESERVED(quern_module_options, use_module, QUERN_MODULE_OPTIONS_INIT),
    RESERVED(quern_module_options, use_link, QUERN_MODULE_OPTIONS_INIT),
    RESERVED(quern_export_options, use_export, QUERN_EXPORT_OPTIONS_INIT),
    TAKEN(quern_prewarm_options, use_prewarm, QUERN_PREWARM_OPTIONS_INIT),
    RESERVED(quern_array_interface, use_interface, QUERN_ARRAY_INTERFACE_INIT),
    {"quern_device_methods", sizeof(quern_device_methods), NO_RESERVED,
     _Alignof(quern_device_methods), use_methods, &qn_soft_device},
};

typedef union any {
    uint32_t size;
    unsigned char bytes[ROOM];
    max_align_t aligned;
} any;

/* Fill a structure as a program would. */
static void fill(any *s, const taken *t)
{
    memset(s, 0, sizeof *s);
    memcpy(s, t->init, t->size);
    if (t->use == use_allocator || t->use == use_later_allocator) {
        quern_allocator *a = (quern_allocator *)(void *)s;
        a->allocate = allocate;
        a->release = release;
    }
}

/* What a structure is refused for; "" if it is not refused. */
static const char *refusal(const taken *t, const any *s)
{
    bool refused = t->use(s) == QUERN_ERROR_INVALID_ARGUMENT &&
                   strstr(quern_last_error()->message, t->type) != NULL;
    return refused ? quern_last_error()->message : "";
}

#define EXPECT_TAKEN(t, s) cr_expect_str_eq(refusal((t), (s)), "")
#define EXPECT_REFUSED(t, s, part)                                                                 \
    cr_expect_not_null(strstr(refusal((t), (s)), (part)), "%s: \"%s\" lacks \"%s\"", (t)->type,    \
                       refusal((t), (s)), (part))

Test(structures, of_no_possible_size)
{
    for (size_t k = 0; k < sizeof all_taken / sizeof *all_taken; k++) {
        const taken *t = &all_taken[k];
        const size_t sizes[] = {
            0, 3, 4, 7, t->size + 1, t->size + t->alignment / 2, 0xccccccccu, (size_t)UINT32_MAX};
        for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
            any s;
            fill(&s, t);
            s.size = (uint32_t)sizes[n];
            EXPECT_REFUSED(t, &s, "_INIT, which sets it");
        }
    }
}

Test(structures, longer_than_ours)
{
    for (size_t k = 0; k < sizeof all_taken / sizeof *all_taken; k++) {
        const taken *t = &all_taken[k];
        any s;
        fill(&s, t);
        s.size = (uint32_t)t->size + 64;
        EXPECT_TAKEN(t, &s);
        for (size_t at = t->size; at < t->size + 64; at += 21) {
            char part[96];
            snprintf(part, sizeof part, "byte %zu is not 0, and this library, %s, does not know",
                     at, QUERN_VERSION_STRING);
            s.bytes[at] = 1;
            EXPECT_REFUSED(t, &s, part);
            s.bytes[at] = 0;
        }
    }
}

/* Cut after every field: what is missing has its default, or is a slot that is required. */
Test(structures, shorter_than_ours)
{
    for (size_t k = 0; k < sizeof all_taken / sizeof *all_taken; k++) {
        const taken *t = &all_taken[k];
        for (size_t size = 8; size < t->size; size += t->alignment) {
            any s;
            fill(&s, t);
            memset(s.bytes + size, 0x55, sizeof s - size);
            s.size = (uint32_t)size;
            if (t->use == use_methods && size < offsetof(quern_device_methods, interrupt)) {
                EXPECT_REFUSED(t, &s, " is NULL");
            } else {
                EXPECT_TAKEN(t, &s);
            }
        }
    }
}

Test(structures, with_reserved_fields)
{
    for (size_t k = 0; k < sizeof all_taken / sizeof *all_taken; k++) {
        const taken *t = &all_taken[k];
        any s;
        fill(&s, t);
        if (t->reserved != NO_RESERVED) {
            s.bytes[t->reserved + 1] = 1;
            EXPECT_REFUSED(t, &s, ".reserved is 256, and must be 0");
        }
    }
}

Test(structures, device_of_another_version)
{
    quern_engine *e;
    quern_device_methods methods = qn_soft_device;
    methods.version = 0;
    REFUSE_OUT(e, quern_open_device(&e, &methods, NULL), "version is 0, and this library");
    methods.version = QUERN_DEVICE_VERSION + 1;
    REFUSE_OUT(e, quern_open_device(&e, &methods, NULL), "knows 1 to ");
    methods = (quern_device_methods)QUERN_DEVICE_METHODS_INIT;
    REFUSE_OUT(e, quern_open_device(&e, &methods, NULL), "quern_device_methods.name is NULL");
    methods = qn_soft_device;
    methods.synchronize = NULL;
    REFUSE_OUT(e, quern_open_device(&e, &methods, NULL), ".synchronize is NULL");
}

/* ---- those that are filled ------------------------------------------------------------------ */

static quern_status fill_device(void *s)
{
    return quern_device_get_info(s, engine);
}

static quern_status fill_devices(void *s)
{
    size_t count;
    return quern_device_list(&count, s, 1);
}

static quern_status fill_compiler(void *s)
{
    return quern_compiler_get_info(s, 0);
}

static quern_status fill_stats(void *s)
{
    return quern_cache_get_stats(s, engine);
}

static quern_status fill_function(void *s)
{
    return quern_function_get_info(s, function);
}

static quern_status fill_kernel(void *s)
{
    return quern_kernel_get_info(s, kernel);
}

static quern_status fill_parameter(void *s)
{
    return quern_kernel_get_parameter(s, kernel, 1);
}

static quern_status fill_memory(void *s)
{
    return quern_memory_get_stats(s, engine);
}

static quern_status fill_inferred(void *s)
{
    return quern_kernel_infer(s, 1, kernel, (quern_value[]){QUERN_VALUES(none)}, 1, NULL);
}

static quern_status fill_pointer(void *s)
{
    return quern_pointer_get_info(s, engine, &kernel);
}

static quern_status fill_interface(void *s)
{
    return quern_array_get_interface(s, none, NULL);
}

static const struct {
    const char *type;
    size_t size, alignment;
    quern_status (*fill)(void *structure);
} all_filled[] = {
    {"quern_device_info", sizeof(quern_device_info), 8, fill_device},
    {"quern_device_info", sizeof(quern_device_info), 8, fill_devices},
    {"quern_compiler_info", sizeof(quern_compiler_info), 4, fill_compiler},
    {"quern_cache_stats", sizeof(quern_cache_stats), 8, fill_stats},
    FILLED_REMOTE,
    {"quern_function_info", sizeof(quern_function_info), 8, fill_function},
    {"quern_kernel_info", sizeof(quern_kernel_info), 8, fill_kernel},
    {"quern_parameter_info", sizeof(quern_parameter_info), 8, fill_parameter},
    {"quern_array_info", sizeof(quern_array_info), 8, fill_inferred},
    {"quern_memory_stats", sizeof(quern_memory_stats), 8, fill_memory},
    {"quern_pointer_info", sizeof(quern_pointer_info), 8, fill_pointer},
    {"quern_array_interface", sizeof(quern_array_interface), 8, fill_interface},
};

Test(structures, filled_as_far_as_they_reach)
{
    for (size_t k = 0; k < sizeof all_filled / sizeof *all_filled; k++) {
        any whole = {.size = (uint32_t)all_filled[k].size};
        OK(all_filled[k].fill(&whole));
        for (size_t size = 8; size <= all_filled[k].size + 64; size += 8) {
            any s;
            memset(&s, 0x55, sizeof s);
            s.size = (uint32_t)size;
            OK(all_filled[k].fill(&s));
            cr_expect_eq(s.size, size);
            for (size_t at = 8; at < size + 8; at++) {
                unsigned char want = at >= size                ? 0x55
                                     : at < all_filled[k].size ? whole.bytes[at]
                                                               : 0;
                cr_expect_eq(s.bytes[at], want, "%s of %zu bytes: byte %zu", all_filled[k].type,
                             size, at);
            }
        }
        for (uint32_t size = 0; size < 8; size++) {
            any s = {.size = size};
            REFUSE(all_filled[k].fill(&s), "_INIT, which sets it");
        }
    }
}

/* The same for inferred outputs. */
Test(structures, outputs_have_the_callers_stride)
{
    struct longer {
        quern_array_info info;
        int64_t more;
    } outputs[2];
    quern_kernel *two;
    OK(quern_elementwise(&two, engine, "T x", "T y, float64 z", "y = z = x", NULL));
    memset(outputs, 0x55, sizeof outputs);
    outputs[0].info.size = sizeof outputs[0];
    OK(quern_kernel_infer(&outputs[0].info, 2, two, (quern_value[]){QUERN_VALUES(none)}, 1, NULL));
    cr_expect_eq(outputs[1].info.dtype, QUERN_FLOAT64);
    cr_expect_eq(outputs[1].info.size, sizeof outputs[0]);
    cr_expect_eq(outputs[1].more, 0);
    quern_kernel_release(two);
}

/* The size of the first entry is that of all. */
Test(structures, lists_have_the_callers_stride)
{
    typedef struct longer {
        quern_device_info info;
        char more[24];
    } longer;
    longer infos[3];
    size_t count;
    memset(infos, 0x55, sizeof infos);
    infos[0].info.size = sizeof infos[0];
    OK(quern_device_list(&count, &infos[0].info, 3));
    for (size_t k = 0; k < count && k < 3; k++) {
        cr_expect_eq(infos[k].info.size, sizeof infos[0]);
        cr_expect_neq(infos[k].info.id[0], '\0');
        cr_expect_eq(infos[k].more[23], 0);
    }
}
