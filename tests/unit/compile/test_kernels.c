/* SPDX-License-Identifier: MIT
 *
 * The names of the kernels in a source. The table holds: source, names.
 */
#include "compile/nvrtc.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct {
    const char *source, *names;
} sources[] = {
    {"", ""},
    {"int x;", ""},
    {"__global__ void k(int *x) { *x = 1; }", "k"},
    {"#define M \\\r\n __global__ void m() {}\r\n__global__ void k() {}", "k"},
    {"extern \"C\" __global__ void a() {}\nextern \"C\" { __global__ void b(float) {} }", "a, b"},
    {"// __global__ void no()\n/* __global__ void no() */ const char *s = \"__global__ void no()\";"
     "const char *r = R\"x( __global__ void no() )x\"; __global__ void yes() {}",
     "yes"},
    {"template <class T, int N = (3 > 2)> __global__ void scale(T *x) {}", "scale<...>"},
    {"template <class T> __device__ T f(T x) { return x; }\n__global__ void k() {}", "k"},
    {"template <class T> struct S { T x; };\n__global__ void k() {}", "k"},
    {"template <class T> T f(T);\n__global__ void k() {}", "k"},
    {"template <class T> __global__ void k(T) {}\ntemplate <> __global__ void k<int>(int) {}",
     "k<...>"},
    {"__global__ void __launch_bounds__(256, 2) bounded(int) {}", "bounded"},
    {"__launch_bounds__(N) __global__ void before() {}", "before"},
    {"__global__ __cluster_dims__(2, 1, 1) void cluster() {}", "cluster"},
    {"[[maybe_unused]] __global__ __attribute__((used)) static void a() {}", "a"},
    {"__global__ [[deprecated(\"old\")]] void d() {}", "d"},
    {"namespace a { namespace b { __global__ void k() {} } __global__ void m() { if (1) { } } }\n"
     "__global__ void n() {}",
     "a::b::k, a::m, n"},
    {"namespace a::b { __global__ void k() {} }", "a::b::k"},
    {"namespace { __global__ void hidden() {} }", "hidden"},
    {"namespace s = other; using namespace t; __global__ void k() {}", "k"},
    {"__global__ void k(int);\n__global__ void k(int) {}\n__global__ void kk() {}", "k, kk"},
    {"#define KERNEL __global__ \\\n  void\n__global__ void k() {}", "k"},
    {"__global__ void k(int x = f(\")\"))\n{ char c = '{'; }\n__global__ void m() {}", "k, m"},
    {"__global__ void a$b() {}", "a$b"},
    {"__global__", ""},
    {"__global__ void", ""},
    {"__global__ void k", ""},
    {"__global__ (", ""},
    {"__global__ void __launch_bounds__(", ""},
    {"__global__ ; __global__ } __global__ { } __global__ void z() {", "z"},
    {"}}}} __global__ void k() {}", "k"},
    {"namespace a { __global__ MADE_BY_A_MACRO { } } __global__ void k() {}", "k"},
    {"namespace", ""},
    {"namespace x", ""},
    {"\"unfinished\n__global__ void k() {}", ""},
};

Test(kernels, names)
{
    for (size_t k = 0; k < QN_COUNT(sources); k++) {
        qn_text names = {0};
        size_t count = qn_source_kernels(&names, sources[k].source);
        const char *found = names.data ? names.data : "";
        cr_expect_str_eq(found, sources[k].names, "%s: %s", sources[k].source, found);
        cr_expect_eq(count == 0, found[0] == '\0');
        qn_text_free(&names);
    }
}

Test(kernels, every_cut_of_every_source)
{
    for (size_t k = 0; k < QN_COUNT(sources); k++) {
        for (size_t length = 0; length <= strlen(sources[k].source); length++) {
            char *cut = qn_strndup(sources[k].source, length);
            qn_text names = {0};
            cr_expect_leq(qn_source_kernels(&names, cut), 3);
            qn_text_free(&names);
            qn_free(cut);
        }
    }
}

Test(kernels, a_long_list_is_cut)
{
    qn_text source = {0}, names = {0};
    for (int k = 0; k < 1000; k++) {
        qn_text_printf(&source, "__global__ void kernel_%03d() {}\n", k);
    }
    cr_expect_eq(qn_source_kernels(&names, source.data), 1000);
    cr_expect_lt(names.length, 700);
    cr_expect(strstr(names.data, "kernel_000, kernel_001, "));
    cr_expect(strstr(names.data, " more"));
    qn_text_free(&source);
    qn_text_free(&names);
}

Test(kernels, deep_braces)
{
    qn_text source = {0}, names = {0};
    for (int k = 0; k < 5000; k++) {
        qn_text_puts(&source, k % 2 ? "{" : "namespace n {");
    }
    qn_text_puts(&source, "__global__ void k() {}");
    cr_expect_eq(qn_source_kernels(&names, source.data), 1);
    qn_text_free(&source);
    qn_text_free(&names);
}

/* The names of parameters, for reports about an argument. */
Test(kernels, parameters)
{
    static const struct {
        const char *source, *function;
        uint32_t index;
        const char *name;
    } cases[] = {
        {"__global__ void f(const float *x, int n) {}", "f", 0, "x"},
        {"__global__ void f(const float *x, int n) {}", "f", 1, "n"},
        {"__global__ void f(const float *x, int n) {}", "f", 2, ""},
        {"__global__ void g(int z) {}\n__global__ void f(int n) {}", "f", 0, "n"},
        {"template <typename T> __global__ void f(T *__restrict__ x) {}", "ns::f<float, 2>", 0,
         "x"},
        {"__global__ void __launch_bounds__(32, 2) f(pair<int, float> p, int k) {}", "f", 1, "k"},
        {"__global__ void f(int x[3], int (*y)) {}", "f", 0, "x"},
        {"// __global__ void f(int a)\n__global__ void f(int b);", "f", 0, "b"},
        {"__global__ void f()", "f", 0, ""},
        {"__global__ void f(int x, ", "f", 1, ""},
        {"__device__ void f(int x) {}", "f", 0, ""},
    };
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        const qn_str name = qn_source_parameter(cases[k].source, cases[k].function, cases[k].index);
        cr_expect(qn_str_is(name, cases[k].name), "case %zu: %.*s", k, (int)name.length, name.data);
    }
}

static const struct {
    const char *source, *name, *instance; /* NULL: no template of this name */
} instances[] = {
    {"template <class T> __global__ void scale(T *x) {}", "scale", "scale<float>"},
    {"template <class T> __global__ void scale(T *x) {}", "ns::scale", NULL},
    {"template <class T> __global__ void scale(T *x) {}", "scales", NULL},
    {"template <typename T, int N, bool B> __global__ void k(T *x) {}", "k", "k<float, 1, true>"},
    {"template <class T, int N = (3 > 2)> __global__ void k(T *x) {}", "k", "k<float, 1>"},
    {"template <class T, class U = f<T, 2>, int N = 3> __global__ void k() {}", "k",
     "k<float, float>"},
    {"template <class T> __device__ T k(T x) { return x; }\n__global__ void k() {}", "k", NULL},
    {"template <class T> struct S; __global__ void k() {}", "k", NULL},
    {"namespace a { template <int N> __global__ __launch_bounds__(N) void k() {} }", "a::k",
     "a::k<1>"},
    {"namespace a { template <int N> __global__ void k() {} }", "k", "a::k<1>"},
    {"template <int N> __global__ void k() {}", "", NULL},
    {"template", "k", NULL},
    {"template <", "k", NULL},
    {"template <class", "k", NULL},
    {"#define K template <class T> __global__ void k()\n", "k", NULL},
};

Test(kernels, an_instance_of_a_template)
{
    for (size_t k = 0; k < QN_COUNT(instances); k++) {
        qn_text example = {0};
        bool is = qn_source_instance(&example, instances[k].source, instances[k].name);
        cr_expect_eq(is, instances[k].instance != NULL, "%s", instances[k].source);
        if (instances[k].instance) {
            cr_expect_str_eq(example.data ? example.data : "", instances[k].instance);
        }
        qn_text_free(&example);
    }
}

/* ---- parameters that are textures and surfaces ----------------------------------------------- */

static const struct {
    const char *source, *function;
    uint32_t index;
    qn_parameter_handle handle;
} handles[] = {
    {"__global__ void k(cudaTextureObject_t t) {}", "k", 0, QN_TEXTURE_HANDLE},
    {"__global__ void k(int n, const cudaSurfaceObject_t s) {}", "k", 1, QN_SURFACE_HANDLE},
    {"__global__ void k(int n, const cudaSurfaceObject_t s) {}", "k", 0, QN_NO_HANDLE},
    {"__global__ void k(int n, const cudaSurfaceObject_t s) {}", "k", 2, QN_NO_HANDLE},
    {"__global__ void k(const __grid_constant__ cudaTextureObject_t t) {}", "k", 0,
     QN_TEXTURE_HANDLE},
    {"__global__ void k(CUtexObject t, CUsurfObject s) {}", "k", 0, QN_TEXTURE_HANDLE},
    {"__global__ void k(CUtexObject t, CUsurfObject s) {}", "k", 1, QN_SURFACE_HANDLE},
    {"__global__ void k(cudaTextureObject_t *ts) {}", "k", 0, QN_NO_HANDLE},
    {"__global__ void k(cudaTextureObject_t ts[4]) {}", "k", 0, QN_NO_HANDLE},
    {"__global__ void k(unsigned long long t) {}", "k", 0, QN_NO_HANDLE},
    {"__global__ void k(cudaTextureObject_t);", "k", 0, QN_TEXTURE_HANDLE},
    {"template <class T> __global__ void k(cudaTextureObject_t t, T *x) {}", "k<float>", 0,
     QN_TEXTURE_HANDLE},
    {"namespace a { __global__ void k(cudaTextureObject_t t) {} }", "a::k", 0, QN_TEXTURE_HANDLE},
    {"__global__ void j(float *t) {} __global__ void k(cudaTextureObject_t t) {}", "j", 0,
     QN_NO_HANDLE},
    {"__global__ void k(cudaTextureObject_t t); __global__ void k(cudaTextureObject_t u) {}", "k",
     0, QN_TEXTURE_HANDLE},
    {"__global__ void k(cudaTextureObject_t t) {} __global__ void k(float *t) {}", "k", 0,
     QN_NO_HANDLE},
    {"__global__ void k(float *t) {} __global__ void k(cudaTextureObject_t t) {}", "k", 0,
     QN_NO_HANDLE},
    {"// __global__ void k(cudaTextureObject_t t)\n__global__ void k(float *t) {}", "k", 0,
     QN_NO_HANDLE},
    {"__global__ void k(cudaTextureObject_t", "k", 0, QN_TEXTURE_HANDLE},
    {"__global__ void k(", "k", 0, QN_NO_HANDLE},
    {"", "k", 0, QN_NO_HANDLE},
};

Test(kernels, a_parameter_that_is_a_handle)
{
    for (size_t k = 0; k < QN_COUNT(handles); k++) {
        cr_expect_eq(
            qn_source_parameter_handle(handles[k].source, handles[k].function, handles[k].index),
            handles[k].handle, "case %zu: %s", k, handles[k].source);
    }
}

Test(kernels, that_launch_kernels)
{
    const char *said;
    cr_expect(qn_source_may_launch("f<<<1, 1>>>();"));
    cr_expect(qn_source_may_launch("#define RUN(f, ...) f<<<__VA_ARGS__>>>"));
    cr_expect(qn_source_may_launch("auto x = a < b; f /* <<< */ <<<1, 1>>>();"));
    cr_expect(!qn_source_may_launch("x << y"));
    cr_expect(!qn_source_may_launch("// f<<<1, 1>>>()\nx = \"<<<\"; /* <<< */"));
    cr_expect(!qn_source_may_launch("a<b<c<d; x < < < y"));
    cr_expect(qn_log_wants_relocatable("k.cu(2): error: device-side kernel launch could not be "
                                       "processed as the required runtime APIs are not declared",
                                       &said));
    cr_expect(said && said[0] == 'd');
    cr_expect(qn_log_wants_relocatable("k.cu(2): error: kernel launch from __device__ or "
                                       "__global__ functions requires separate compilation mode",
                                       NULL));
    cr_expect(!qn_log_wants_relocatable("k.cu(2): error: something else", &said));
    cr_expect_null(said);
    cr_expect(!qn_log_wants_relocatable(NULL, NULL));
}
