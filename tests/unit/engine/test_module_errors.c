/* SPDX-License-Identifier: MIT
 *
 * Sources that do not compile and kernels that fail: the error has the user's own file, line and
 * text.
 */
#include "whole.h"

TestSuite(module_errors, .init = whole_open, .fini = whole_close);

static quern_status make(const char *source, const quern_module_options *options)
{
    quern_module *m = (quern_module *)(void *)engine;
    quern_status status = quern_module_new(&m, engine, source, options);
    cr_assert(status == QUERN_OK || !m);
    quern_module_release(m);
    return status;
}

/* ---- compiling ------------------------------------------------------------------------------ */

Test(module_errors, source)
{
    quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
    FAILS(QUERN_ERROR_COMPILE,
          make("extern \"C\" __global__ void f(int *x)\n{\n    *x = y;\n}\n", &o));
    const quern_error *e = quern_last_error();
    cr_expect_str_eq(e->message, "kernel.cu:3:10: identifier \"y\" is undefined");
    cr_expect_not_null(strstr(e->log, "kernel.cu(3): error: identifier \"y\" is undefined"), "%s",
                       e->log);
    cr_expect_str_eq(e->text_name, "kernel.cu");
    cr_expect_eq(e->text[e->begin], 'y');
    cr_expect_eq(e->end, e->begin + 1);
    SAYS("    *x = y;\n");
    o.file_name = "mine.cu";
    FAILS(QUERN_ERROR_COMPILE, make("__device__ int f() { return }", &o));
    SAYS("mine.cu");
    FAILS(QUERN_ERROR_COMPILE, make("#error \"not today\"\n", &o));
    SAYS("not today");
}

Test(module_errors, header_in_memory)
{
    quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
    o.headers =
        (quern_header[]){{"wrong.h", "\n\n#define A 1\n__device__ int f() { return nothing; }\n"}};
    o.header_count = 1;
    FAILS(QUERN_ERROR_COMPILE, make("#include \"wrong.h\"\n", &o));
    cr_expect_str_eq(quern_last_error()->text_name, "wrong.h");
    SAYS("wrong.h:4:29: identifier \"nothing\" is undefined");
}

Test(module_errors, header_not_found)
{
    FAILS(QUERN_ERROR_COMPILE, make("#include \"not_there.h\"\n", NULL));
    SAYS("not_there.h");
    FAILS(QUERN_ERROR_COMPILE, make("#include <not_there_either.h>\n", NULL));
    SAYS("not_there_either.h");
}

Test(module_errors, expressions)
{
    quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
    o.expressions = (const char *[]){"nope<float>"};
    o.expression_count = 1;
    FAILS(QUERN_ERROR_NAME, make("template <class T> __global__ void scale(T *x) { *x *= 2; }\n"
                                 "__global__ void other() {}\n",
                                 &o));
    SAYS("nope<float>");
    SAYS("scale");
    SAYS("other");
}

Test(module_errors, options)
{
    quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
    o.options = (const char *[]){"--no-such-option"};
    o.option_count = 1;
    FAILS(QUERN_ERROR_COMPILE, make("", &o));
    SAYS("--no-such-option");
    o.options = (const char *[]){NULL};
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, make("", &o));
    SAYS("compiler option 0 is NULL");
    o.options = NULL;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, make("", &o));
    o.option_count = 0;
    o.expression_count = 1;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, make("", &o));
    SAYS("name expression 0 is NULL");
    o.expression_count = 0;
    o.headers = (quern_header[]){{"a.h", NULL}};
    o.header_count = 1;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, make("", &o));
    SAYS("header 0 (a.h) has no text");
    o.headers = (quern_header[]){{NULL, ""}};
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, make("", &o));
    SAYS("header 0 has no name");
    o.size = 0;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, make("", &o));
    SAYS("QUERN_MODULE_OPTIONS_INIT");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, make(NULL, NULL));
    OK(make("", NULL)); /* nothing in it, and nothing wrong with it */
}

/* ---- running -------------------------------------------------------------------------------- */

static bool on_software_device(void)
{
    quern_device_info info = {.size = sizeof info};
    OK(quern_device_get_info(&info, engine));
    return strcmp(info.id, "soft") == 0;
}

Test(module_errors, failure_of_a_kernel)
{
    if (!on_software_device()) {
        cr_skip_test("after such a failure a GPU cannot be used any more");
    }
    quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
    o.file_name = "folder/mine.cu";
    quern_module *m;
    quern_function *f;
    quern_array *x = array_of(QUERN_INT32, SHAPE(4), (int32_t[4]){0});
    OK(quern_module_new(&m, engine,
                        "extern \"C\" __global__ void past(int *x, int k)\n"
                        "{\n"
                        "    x[k] = 3;\n"
                        "}\n",
                        &o));
    OK(quern_module_function(&f, m, "past"));
    OK(quern_function_call(f, NULL, x, 3));
    FAILS(QUERN_ERROR_ACCESS, quern_function_call(f, NULL, x, 4));
    const quern_error *e = quern_last_error();
    cr_expect_not_null(strstr(e->message, "kernel 'past'"), "%s", e->message);
    cr_expect_not_null(strstr(e->message, "past the end of array of 16 bytes"), "%s", e->message);
    cr_expect_str_eq(e->text_name, "folder/mine.cu");
    SAYS("line 3");
    SAYS("    x[k] = 3;\n");
    OK(quern_function_call(f, NULL, x, 0)); /* the engine goes on */
    EXPECT(x, int32_t, 3, 0, 0, 3);
    quern_function_release(f);
    quern_module_release(m);
    quern_array_release(x);
}
