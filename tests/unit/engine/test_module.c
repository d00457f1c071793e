/* SPDX-License-Identifier: MIT
 *
 * Modules: making them from source, images and files; what is in them, by name; how long they live.
 */
#include "tests/unit/cache/scratch.h"
#include "whole.h"

TestSuite(module, .init = whole_open, .fini = whole_close);

#define FILL "extern \"C\" __global__ void fill(int *x) { x[threadIdx.x] = VALUE; }\n"

static quern_module *module_of(const char *source)
{
    quern_module *m;
    OK(quern_module_new(&m, engine, source, NULL));
    return m;
}

static quern_function *function_of(quern_module *module, const char *name)
{
    quern_function *f;
    OK(quern_module_function(&f, module, name));
    return f;
}

static quern_array *global_of(quern_module *module, const char *name, quern_dtype dtype)
{
    quern_array *a;
    OK(quern_module_global(&a, module, name, dtype, 0, NULL));
    return a;
}

static quern_array *four_zeros(void)
{
    return array_of(QUERN_INT32, SHAPE(4), (int32_t[4]){0});
}

/* Launch a function that takes one array with a thread for each of its elements. */
static void run(quern_module *module, const char *name, quern_array *x)
{
    quern_function *f = function_of(module, name);
    OK(quern_function_call(f, &QUERN_GRID(1, (uint32_t)quern_array_count(x)), x));
    quern_function_release(f);
}

/* ---- options -------------------------------------------------------------------------------- */

Test(module, options_and_headers)
{
    quern_array *x = four_zeros();
    quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
    o.options = (const char *[]){"-DVALUE=THREE+N", "-DN=4"};
    o.option_count = 2;
    o.headers = (quern_header[]){{"three.h", "#include <sub/more.h>\n#define THREE (1 + MORE)\n"},
                                 {"sub/more.h", "#define MORE 2\n"}};
    o.header_count = 2;
    quern_module *m;
    OK(quern_module_new(&m, engine, "#include \"three.h\"\n" FILL, &o));
    run(m, "fill", x);
    EXPECT(x, int32_t, 7, 7, 7, 7);
    quern_module_release(m);
    quern_array_release(x);
}

/* Editors write a byte order mark in front of UTF-8, and nvcc takes it. */
Test(module, byte_order_marks)
{
    quern_array *x = four_zeros();
    quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
    o.headers = (quern_header[]){{"value.h", "\xef\xbb\xbf#define VALUE 9\r\n"}};
    o.header_count = 1;
    quern_module *m;
    OK(quern_module_new(&m, engine, "\xef\xbb\xbf#include \"value.h\"\r\n" FILL, &o));
    run(m, "fill", x);
    EXPECT(x, int32_t, 9, 9, 9, 9);
    quern_module_release(m);
    cr_expect_eq(quern_module_new(&m, engine, "\xef\xbb\xbf__device__ int wrong = ;\n" FILL, NULL),
                 QUERN_ERROR_COMPILE);
    cr_expect_eq(quern_last_error()->begin, 23);
    quern_kernel *k;
    OK(quern_elementwise(&k, engine, "T x", "T y", "\xef\xbb\xbfy = x + 1;\r\n", NULL));
    quern_array *y = NULL;
    OK(quern_call(k, x, &y));
    EXPECT(y, int32_t, 10, 10, 10, 10);
    quern_kernel_release(k);
    quern_array_release(y);
    quern_array_release(x);
}

Test(module, expressions)
{
    static const char source[] = "namespace ns {\n"
                                 "template <typename T> __device__ T bias = T(1.5);\n"
                                 "template <typename T, int K> __global__ void scale(T *x)\n"
                                 "{ x[threadIdx.x] = x[threadIdx.x] * K + bias<T>; }\n"
                                 "}\n";
    quern_array *x = array_of(QUERN_FLOAT64, SHAPE(2), (double[]){1, 2});
    quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
    o.expressions =
        (const char *[]){"ns::scale<double, 3>", "ns::scale<double, 4>", "&ns::bias<double>"};
    o.expression_count = 3;
    quern_module *m;
    for (int again = 0; again < 2; again++) { /* the second time they come from the cache */
        OK(quern_module_new(&m, engine, source, &o));
        quern_array *bias = global_of(m, "ns::bias<double>", QUERN_FLOAT64);
        EXPECT(bias, double, 1.5);
        OK(quern_array_fill(bias, &(double){0}, sizeof(double)));
        run(m, "ns::scale<double,3>", x);
        run(m, "ns::scale<double, 4>", x);
        quern_array_release(bias);
        quern_module_release(m);
    }
    EXPECT(x, double, 144, 288);
    quern_array_release(x);
}

/* ---- names ---------------------------------------------------------------------------------- */

static const char many[] =
    "namespace a { __global__ void f(int *x) { *x = 1; } }\n"
    "namespace b { __global__ void f(int *x) { *x = 2; } __global__ void g(int *x) { *x = 3; } }\n"
    "__global__ void plain(int *x) { *x = 4; }\n"
    "extern \"C\" __global__ void saxpy(int *x) { *x = 5; }\n"
    "__device__ int weight; namespace c { __constant__ int weight2; }\n";

Test(module, functions_by_name)
{
    static const struct {
        const char *name;
        int32_t result;
    } found[] = {{"a::f", 1},  {"b::f", 2},  {"g", 3},         {"b::g", 3},
                 {"plain", 4}, {"saxpy", 5}, {"_Z5plainPi", 4}};
    quern_module *m = module_of(many);
    quern_array *x = array_of(QUERN_INT32, SHAPE(1), (int32_t[]){0});
    for (size_t k = 0; k < sizeof found / sizeof *found; k++) {
        run(m, found[k].name, x);
        EXPECT(x, int32_t, found[k].result);
    }
    quern_function *f;
    FAILS(QUERN_ERROR_NAME, quern_module_function(&f, m, "saxpi"));
    cr_expect_null(f);
    SAYS("no function 'saxpi'; did you mean 'saxpy'? It has: ");
    SAYS("b::g");
    FAILS(QUERN_ERROR_NAME, quern_module_function(&f, m, "f"));
    SAYS("2 functions 'f'");
    FAILS(QUERN_ERROR_NAME, quern_module_function(&f, m, ""));
    FAILS(QUERN_ERROR_NAME, quern_module_function(&f, m, "weight"));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_module_function(&f, m, NULL));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_module_function(NULL, m, "f"));
    quern_array_release(x);
    quern_module_release(m);
}

/* ---- globals -------------------------------------------------------------------------------- */

static const char counters[] =
    "__device__ int total = 5; __constant__ float table[6] = {1, 2, 3, 4, 5, 6};\n"
    "__device__ char odd[7]; namespace ns { __device__ double inside = 2.5; }\n"
    "static __device__ int hidden = 9;\n"
    "extern \"C\" __global__ void add(int *x) { atomicAdd(&total, *x + hidden + odd[0]); }\n"
    "extern \"C\" __global__ void take(int *x) { x[threadIdx.x] = (int)(table[threadIdx.x] + "
    "ns::inside - 2.5); }\n";

Test(module, globals)
{
    quern_module *m = module_of(counters);
    quern_array *total = global_of(m, "total", QUERN_INT32), *table, *x = four_zeros();
    quern_array_release(global_of(m, "total", QUERN_INT32)); /* a second one, gone again */
    EXPECT(total, int32_t, 5);
    run(m, "add", total);
    EXPECT(total, int32_t, 5 + 5 + 9);
    OK(quern_module_global(&table, m, "table", QUERN_FLOAT32, SHAPE(3, 2)));
    EXPECT(table, float, 1, 2, 3, 4, 5, 6);
    OK(quern_array_write(table, (float[]){6, 5, 4, 3, 2, 1}, 6 * sizeof(float)));
    run(m, "take", x);
    EXPECT(x, int32_t, 6, 5, 4, 3);
    quern_array_release(table);
    table = global_of(m, "table", QUERN_UINT8); /* any dtype that fits */
    cr_expect_eq(quern_array_count(table), 24);
    quern_array_release(table);
    quern_array *inside = global_of(m, "ns::inside", QUERN_FLOAT64);
    EXPECT(inside, double, 2.5);
    quern_array_release(inside);
    quern_array *hidden = global_of(m, "hidden", QUERN_INT32);
    EXPECT(hidden, int32_t, 9);
    quern_array_release(hidden);
    quern_array_release(total);
    quern_array_release(x);
    quern_module_release(m);
}

Test(module, globals_that_do_not_fit)
{
    quern_module *m = module_of(counters);
    quern_array *a;
    FAILS(QUERN_ERROR_SHAPE, quern_module_global(&a, m, "table", QUERN_FLOAT64, SHAPE(4)));
    cr_expect_null(a);
    SAYS("table has 24 bytes, and an array of float64 (4,) takes 32");
    FAILS(QUERN_ERROR_SHAPE, quern_module_global(&a, m, "odd", QUERN_INT32, 0, NULL));
    SAYS("odd has 7 bytes, which is not a multiple of the 4 of int32");
    FAILS(QUERN_ERROR_NAME, quern_module_global(&a, m, "tabel", QUERN_INT32, 0, NULL));
    SAYS("no global 'tabel'");
    FAILS(QUERN_ERROR_NAME, quern_module_global(&a, m, "add", QUERN_INT32, 0, NULL));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT,
          quern_module_global(&a, m, "table", (quern_dtype)77, 0, NULL));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_module_global(&a, m, "table", QUERN_INT8, 1, NULL));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_module_global(&a, m, "table", QUERN_INT8, SHAPE(-1)));
    OK(quern_module_global(&a, m, "table", QUERN_FLOAT32, SHAPE(0, 4)));
    cr_expect_eq(quern_array_count(a), 0);
    quern_array_release(a);
    OK(quern_module_global(&a, m, "table", QUERN_FLOAT32, 0, (int64_t[]){0})); /* one element */
    EXPECT(a, float, 1);
    quern_array_release(a);
    quern_module_release(m);
}

Test(module, two_modules_of_one_source_are_two)
{
    quern_module *m = module_of(counters), *n = module_of(counters);
    quern_array *of_m = global_of(m, "total", QUERN_INT32),
                *of_n = global_of(n, "total", QUERN_INT32);
    OK(quern_array_fill(of_m, &(int32_t){100}, sizeof(int32_t)));
    EXPECT(of_m, int32_t, 100);
    EXPECT(of_n, int32_t, 5);
    quern_array_release(of_m);
    quern_array_release(of_n);
    quern_module_release(m);
    quern_module_release(n);
}

/* ---- lifetime ------------------------------------------------------------------------------- */

Test(module, functions_and_globals_keep_their_module)
{
    quern_module *m = module_of(counters);
    quern_function *f = function_of(m, "add"), *g;
    quern_array *total = global_of(m, "total", QUERN_INT32);
    cr_expect_eq(quern_module_retain(m), m);
    quern_module_release(m);
    quern_module_release(m);
    OK(quern_function_call(f, NULL, total));
    EXPECT(total, int32_t, 19);
    g = quern_function_retain(f);
    quern_function_release(f);
    OK(quern_function_call(g, NULL, total));
    quern_function_release(g);
    EXPECT(total, int32_t, 19 + 19 + 9);
    quern_array_release(total);
    quern_module_release(NULL);
    quern_function_release(NULL);
    cr_expect_null(quern_module_retain(NULL));
}

Test(module, outlives_its_engine)
{
    quern_engine *own;
    quern_module *m;
    quern_function *f;
    OK(quern_open(&own, NULL));
    OK(quern_module_new(&m, own, many, NULL));
    quern_close(own);
    OK(quern_module_function(&f, m, "plain"));
    quern_module_release(m);
    FAILS(QUERN_ERROR_ARGUMENT_COUNT, quern_function_call(f, NULL));
    quern_function_release(f);
}

Test(module, is_compiled_once)
{
    quern_cache_stats before = {.size = sizeof before}, after = before;
    OK(quern_cache_get_stats(&before, engine));
    quern_module *m = module_of("extern \"C\" __global__ void once(int *x) { *x = 314159; }"),
                 *n = module_of("extern \"C\" __global__ void once(int *x) { *x = 314159; }");
    OK(quern_cache_get_stats(&after, engine));
    cr_expect_leq(after.compiled - before.compiled, 1u);
    quern_module_release(m);
    quern_module_release(n);
}

/* ---- facts ---------------------------------------------------------------------------------- */

Test(module, facts_of_a_function)
{
    quern_module *m = module_of(
        "struct s { char c; double d; };\n"
        "extern \"C\" __global__ void __launch_bounds__(128) f(char a, s b, float *c, short d)\n"
        "{ __shared__ float t[100]; t[threadIdx.x] = b.d; __syncthreads();\n"
        "  *c = t[a] + d; }\n");
    static const uint64_t expected[][2] = {{0, 1}, {8, 16}, {24, 8}, {32, 2}};
    quern_function *f = function_of(m, "f");
    quern_function_info info = {.size = sizeof info};
    OK(quern_function_get_info(&info, f));
    cr_expect_eq(info.parameter_count, 4u);
    cr_expect_eq(info.shared_bytes, 400u);
    cr_expect_eq(info.max_threads, 128u);
    cr_expect_eq(info.size, sizeof info);
    uint64_t offset, bytes;
    for (uint32_t k = 0; k < 4; k++) {
        OK(quern_function_get_parameter(&offset, &bytes, f, k));
        cr_expect_eq(offset, expected[k][0], "parameter %u", k);
        cr_expect_eq(bytes, expected[k][1], "parameter %u", k);
    }
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_function_get_parameter(&offset, &bytes, f, 4));
    SAYS("f has no parameter 4: it has 4, counted from 0");
    uint32_t blocks = 99;
    OK(quern_function_occupancy(&blocks, f, 128, 0));
    cr_expect_gt(blocks, 0u);
    OK(quern_function_set(f, QUERN_FUNCTION_SHARED_CARVEOUT, 50));
    OK(quern_function_set(f, QUERN_FUNCTION_SHARED_CARVEOUT, -1));
    OK(quern_function_set(f, QUERN_FUNCTION_NON_PORTABLE_CLUSTER, 0));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_function_set(f, QUERN_FUNCTION_SHARED_CARVEOUT, 101));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT,
          quern_function_set(f, QUERN_FUNCTION_NON_PORTABLE_CLUSTER, 2));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_function_set(f, (quern_function_property)9, 0));
    info.size = 3;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_function_get_info(&info, f));
    quern_function_release(f);
    quern_module_release(m);
}

/* ---- images --------------------------------------------------------------------------------- */

static const char ptx[] = "//\n// from memory\n.version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .global .align 4 .u32 count = 3;\n"
                          ".visible .entry twice(.param .u64 p)\n{\n"
                          ".reg .b64 %rd<3>;\n.reg .b32 %r<3>;\n"
                          "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\n"
                          "ld.global.u32 %r1, [%rd2];\nadd.u32 %r2, %r1, %r1;\n"
                          "st.global.u32 [%rd2], %r2;\nret;\n}\n";

Test(module, ptx_from_memory)
{
    quern_module *m;
    quern_array *x = array_of(QUERN_INT32, SHAPE(1), (int32_t[]){21});
    OK(quern_module_load(&m, engine, ptx, strlen(ptx)));
    run(m, "twice", x);
    EXPECT(x, int32_t, 42);
    quern_array *count = global_of(m, "count", QUERN_UINT32);
    EXPECT(count, uint32_t, 3);
    quern_array_release(count);
    quern_module_release(m);
    char *exact = malloc(strlen(ptx)); /* nothing after it may be read */
    memcpy(exact, ptx, strlen(ptx));
    OK(quern_module_load(&m, engine, exact, strlen(ptx)));
    free(exact);
    run(m, "twice", x);
    EXPECT(x, int32_t, 84);
    quern_module_release(m);
    quern_array_release(x);
}

Test(module, images_that_are_none)
{
    quern_module *m;
    FAILS(QUERN_ERROR_IMAGE, quern_module_load(&m, engine, "", 0));
    cr_expect_null(m);
    FAILS(QUERN_ERROR_IMAGE, quern_module_load(&m, engine,
                                               "\x7f"
                                               "ELF",
                                               4));
    FAILS(QUERN_ERROR_IMAGE, quern_module_load(&m, engine, "\x50\xed\x55\xba\1\0\x10\0", 8));
    FAILS(QUERN_ERROR_IMAGE, quern_module_load(&m, engine, "int main() {}", 13));
    FAILS(QUERN_ERROR_IMAGE, quern_module_load(&m, engine, ptx, strlen(ptx) / 2));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_module_load(&m, engine, NULL, 3));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_module_load(NULL, engine, ptx, 3));
}

/* ---- files ---------------------------------------------------------------------------------- */

static void write_file(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    cr_assert(file && fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0);
}

/* Only the compiler knows which header a macro names, so what it gave before is not trusted. */
Test(module, an_edited_header_behind_a_macro_is_seen)
{
    static const char *const sources[] = {"#define NAME <value.h>\n#include NAME\n" FILL,
                                          "#include \"outer.h\"\n" FILL};
    quern_array *x = four_zeros();
    char folder[300];
    scratch_make();
    snprintf(folder, sizeof folder, "-I%s", scratch);
    quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
    o.options = (const char *[]){folder, "-DHEADER=\"value.h\""};
    o.option_count = 2;
    write_file(scratch_path("outer.h"), "#include HEADER\n", 16);
    for (size_t k = 0; k < sizeof sources / sizeof *sources; k++) {
        for (int value = 1; value <= 2; value++) {
            char text[40];
            int length = snprintf(text, sizeof text, "#define VALUE %d\n", value);
            write_file(scratch_path("value.h"), text, (size_t)length);
            quern_module *m;
            OK(quern_module_new(&m, engine, sources[k], &o));
            run(m, "fill", x);
            EXPECT(x, int32_t, value, value, value, value);
            quern_module_release(m);
        }
    }
    scratch_delete();
    quern_array_release(x);
}

Test(module, files)
{
    quern_array *x = four_zeros();
    quern_module *m;
    scratch_make();
    const char *source = "#include \"value.h\"\n" FILL;
    write_file(scratch_path("fill.cu"), source, strlen(source));
    write_file(scratch_path("value.h"), "#define VALUE 11\n", 17);
    write_file(scratch_path("twice.ptx"), ptx, strlen(ptx));
    OK(quern_module_open(&m, engine, scratch_path("fill.cu"), NULL));
    run(m, "fill", x);
    EXPECT(x, int32_t, 11, 11, 11, 11);
    quern_module_release(m);
    write_file(scratch_path("value.h"), "#define VALUE 12\n", 17); /* the header is in the key */
    OK(quern_module_open(&m, engine, scratch_path("fill.cu"), NULL));
    run(m, "fill", x);
    EXPECT(x, int32_t, 12, 12, 12, 12);
    quern_module_release(m);
    OK(quern_module_open(&m, engine, scratch_path("twice.ptx"), NULL));
    quern_module_release(m);

    write_file(scratch_path("empty.cu"), "", 0);
    write_file(scratch_path("noise"), "\1\2\0\3\4", 5);
    FAILS(QUERN_ERROR_IO, quern_module_open(&m, engine, scratch_path("missing.cu"), NULL));
    cr_expect_null(m);
    SAYS("missing.cu");
    FAILS(QUERN_ERROR_IO, quern_module_open(&m, engine, scratch, NULL));
    SAYS("directory");
    FAILS(QUERN_ERROR_IO, quern_module_open(&m, engine, scratch_path("empty.cu"), NULL));
    SAYS("empty");
    FAILS(QUERN_ERROR_IMAGE, quern_module_open(&m, engine, scratch_path("noise"), NULL));
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_module_open(&m, engine, NULL, NULL));
    quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
    o.options = (const char *[]){"-DN=1"};
    o.option_count = 1;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT,
          quern_module_open(&m, engine, scratch_path("twice.ptx"), &o));
    SAYS("is compiled already");
    scratch_delete();
    quern_array_release(x);
}
