/* SPDX-License-Identifier: MIT
 *
 * Modules and functions with arguments that must be refused, and handles that are not what they
 * should be. The promise is that of fault_arguments.c and fault_handles.c.
 */
#include "fault/refuse.h"

static const char source[] = "extern \"C\" __global__ void put(int *x, int n) { x[n] = n; }\n"
                             "__device__ int kept;\n"
                             "extern \"C\" __global__ void keep(int n) { kept = n; }\n";
static quern_module *module;

static void open_module(void)
{
    open_one();
    OK(quern_module_new(&module, engine, source, NULL));
}

static void close_module(void)
{
    quern_module_release(module);
    whole_close();
}

TestSuite(modules, .init = open_module, .fini = close_module);

#define AS(type, handle) ((type *)(void *)(handle))

Test(modules, arguments)
{
    quern_module *m;
    quern_function *f;
    quern_array *a;
    uint64_t offset, bytes;
    uint32_t blocks;
    quern_function_info info = {.size = sizeof info};
    REFUSE(quern_module_new(NULL, engine, source, NULL), "quern_module_new: out is NULL");
    REFUSE_OUT(m, quern_module_new(&m, NULL, source, NULL), "engine is NULL");
    REFUSE_OUT(m, quern_module_new(&m, engine, NULL, NULL), "source is NULL");
    REFUSE_OUT(m, quern_module_load(&m, NULL, source, 4), "engine is NULL");
    REFUSE_OUT(m, quern_module_load(&m, engine, NULL, 4), "image is NULL");
    REFUSE_OUT(m, quern_module_open(&m, NULL, "a.cu", NULL), "engine is NULL");
    REFUSE_OUT(m, quern_module_open(&m, engine, NULL, NULL), "path is NULL");
    REFUSE_OUT(f, quern_module_function(&f, NULL, "put"), "module is NULL");
    REFUSE_OUT(f, quern_module_function(&f, module, NULL), "name is NULL");
    REFUSE(quern_module_function(NULL, module, "put"), "out is NULL");
    REFUSE_OUT(a, quern_module_global(&a, NULL, "kept", QUERN_INT32, 0, NULL), "module is NULL");
    REFUSE_OUT(a, quern_module_global(&a, module, NULL, QUERN_INT32, 0, NULL), "name is NULL");
    REFUSE(quern_function_get_info(&info, NULL), "function is NULL");
    REFUSE(quern_function_get_parameter(&offset, &bytes, NULL, 0), "function is NULL");
    REFUSE(quern_function_set(NULL, QUERN_FUNCTION_SHARED_CARVEOUT, 0), "function is NULL");
    REFUSE(quern_function_occupancy(&blocks, NULL, 1, 0), "function is NULL");
    REFUSE(quern_function_call_n(NULL, NULL, 0, NULL), "function is NULL");
    OK(quern_module_function(&f, module, "put"));
    REFUSE(quern_function_get_info(NULL, f), "info is NULL");
    REFUSE(quern_function_get_parameter(NULL, &bytes, f, 0), "offset is NULL");
    REFUSE(quern_function_get_parameter(&offset, NULL, f, 0), "bytes is NULL");
    REFUSE(quern_function_get_parameter(&offset, &bytes, f, UINT32_MAX), "no parameter");
    REFUSE(quern_function_occupancy(NULL, f, 1, 0), "blocks is NULL");
    REFUSED(QUERN_ERROR_ARGUMENT_COUNT, quern_function_call_n(f, NULL, 0, NULL), "but 0 were");
    quern_value none[1] = {{0}};
    REFUSED(QUERN_ERROR_ARGUMENT_COUNT, quern_function_call_n(f, none, SIZE_MAX, NULL), "were");
    quern_function_release(f);
}

Test(modules, link_arguments)
{
    quern_module *m;
    quern_link_input both = {"both", source, source, sizeof source}, neither = {"neither"};
    quern_link_input noise = {"noise", NULL, "noise", 5}, twice[2] = {{"a", source}, {"b", source}};
    quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
    o.expressions = (const char *[]){"f<int>"};
    o.expression_count = 1;
    REFUSE(quern_module_link(NULL, engine, twice, 1, NULL), "out is NULL");
    REFUSE_OUT(m, quern_module_link(&m, NULL, twice, 1, NULL), "engine is NULL");
    REFUSE_OUT(m, quern_module_link(&m, engine, NULL, 1, NULL), "nothing to link");
    REFUSE_OUT(m, quern_module_link(&m, engine, twice, 0, NULL), "nothing to link");
    REFUSE_OUT(m, quern_module_link(&m, engine, &both, 1, NULL), "input 0 (both) has both");
    REFUSE_OUT(m, quern_module_link(&m, engine, &neither, 1, NULL),
               "input 0 (neither) has neither");
    REFUSED_OUT(QUERN_ERROR_IMAGE, m, quern_module_link(&m, engine, &noise, 1, NULL),
                "input 0 (noise) is not an image");
    REFUSE_OUT(m, quern_module_link(&m, engine, twice, 2, &o), "name expressions");
}

Test(modules, handles_of_another_kind)
{
    quern_array *a = numbers();
    quern_function *f;
    quern_module *m;
    REFUSE_OUT(m, quern_module_new(&m, AS(quern_engine, module), source, NULL),
               "engine is a quern_module, not a quern_engine");
    REFUSE_OUT(f, quern_module_function(&f, AS(quern_module, a), "put"), "is a quern_array, not");
    OK(quern_module_function(&f, module, "put"));
    REFUSE(quern_function_call_n(AS(quern_function, module), NULL, 0, NULL), "is a quern_module");
    REFUSE(quern_launch(AS(quern_bound, f)), "bound is a quern_function, not");
    REFUSE(quern_function_call(f, NULL, AS(quern_array, f), 1), "argument 1: ");
    quern_module_release(AS(quern_module, a)); /* says so, frees nothing */
    quern_function_release(AS(quern_function, module));
    cr_expect_eq(quern_module_retain(AS(quern_module, a)), AS(quern_module, a));
    OK(quern_function_call(f, NULL, a, 3));
    EXPECT(a, int32_t, 0, 1, 2, 3, 4, 5);
    quern_function_release(f);
    quern_array_release(a);
}

#ifndef __SANITIZE_ADDRESS__ /* which ends the program where these are reported */
Test(modules, freed_handles)
{
    quern_function *f;
    quern_module *m;
    OK(quern_module_new(&m, engine, source, NULL));
    OK(quern_module_function(&f, m, "put"));
    quern_function *volatile freed_function = f;
    quern_module *volatile freed_module = m;
    quern_function_release(freed_function);
    quern_module_release(freed_module);
    REFUSE(quern_function_call_n(freed_function, NULL, 0, NULL), "was freed");
    REFUSE(quern_module_function(&f, freed_module, "put"), "was freed");
    quern_function_release(freed_function);
    quern_module_release(freed_module);
    OK(quern_module_new(&m, engine, source, NULL)); /* the heap is as it was */
    quern_module_release(m);
}
#endif
