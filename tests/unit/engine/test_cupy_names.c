/* SPDX-License-Identifier: MIT
 *
 * CuPy's names in texts: what is given when they are used, and that nothing is when they are not,
 * or mean something else there; its headers in sources; numbers for raw parameters, arrays as
 * CArrays.
 */
#include "whole.h"

TestSuite(cupy_names, .init = whole_open, .fini = whole_close);

static quern_array *six(void)
{
    return array_of(QUERN_FLOAT32, SHAPE(2, 3), (float[6]){0, 1, 2, 3, 4, 5});
}

/* ---- who defines a name --------------------------------------------------------------------- */

#define CARRAY    "<quern/carray.cuh>"
#define RAW       "<quern/raw.cuh>"
#define THRUST    "<quern/thrust.cuh>"
#define CONSTANTS "<quern/constants.cuh>"
#define DIVIDE    "<quern/floor_divide.cuh>"
#define NEXT      "<quern/nextafter.cuh>"

static const struct who {
    const char *operation, *preamble, *option;
    const char *given, *absent; /* headers of the source */
} whose[] = {
    {"y = x[i]", "", NULL, RAW, CARRAY},
    {"y = x[i] + _ind.size() + _ind.get()[0]", "", NULL, RAW, CARRAY},
    {"y = x[i] + _ind.ndim", "", NULL, CARRAY, NULL},
    {"y = f(x)",
     "template <typename A> __device__ float f(CArray<A, 2, true, true> x) { return 1; }", NULL,
     CARRAY, RAW},
    {"y = sizeof(decltype(x)::index_t)", "", NULL, CARRAY, RAW},
    {"index_t k = 1; y = x[k]", "typedef int index_t;", NULL, RAW, CARRAY},
    {"CArray v = {1}; y = x[0] + v.a", "struct CArray { int a; };", NULL, RAW, CARRAY},
    {"CUPY_FOR(k, 3) y = x[k]", "#define CUPY_FOR(i, n) for (int i = 0; i < n; i++)", NULL, RAW,
     CARRAY},
    {"CUPY_FOR(k, 3) y = x[k]", "", "-DCUPY_FOR(i,n)=for(int i=0;i<n;i++)", RAW, CARRAY},
    {"CUPY_FOR(k, 3) y = x[k]", "", NULL, CARRAY, NULL},
    {"y = cupy::two + x[0]", "namespace cupy { const int two = 2; }", NULL, RAW, CARRAY},
    {"y = thrust::abs(x[0])", "", NULL, THRUST, NULL},
    {"thrust::complex<float> z(x[0]); y = z.real()", "", NULL, THRUST, NULL},
    {"float thrust = 2; y = thrust * x[0]", "", NULL, RAW, THRUST},
    {"y = thrust::two(x[0])", "namespace thrust { __device__ float two(float v) { return v; } }",
     NULL, RAW, THRUST},
    {"y = CUDART_PI * x[0]", "", NULL, CONSTANTS, NULL},
    {"return; y = CUDART_INF", "", NULL, CONSTANTS, NULL},
    {"y = CUDART_PI * x[0]", "", "-DCUDART_PI=3", RAW, CONSTANTS},
    {"y = CUDART_PI * x[0]", "#define CUDART_PI 3", NULL, RAW, CONSTANTS},
    {"const float CUDART_PI = 3; y = CUDART_PI * x[0]", "", NULL, RAW, CONSTANTS},
    {"y = x[0] // CUDART_PI, thrust::abs, CArray", "", NULL, RAW, CARRAY},
    {"y = x[0] + _raw_y.size()", "", NULL, CARRAY, NULL},
    {"y = x[0] + THIS.size()", "#define THIS _raw_y", NULL, CARRAY, NULL},
    {"y = x[0] + sizeof(AS(_raw_, y))", "#define AS(a, b) 'a'", NULL, RAW, CARRAY},
    {"float _raw_y = 2; y = x[0] * _raw_y", "", NULL, RAW, CARRAY},
    {"y = x[0] // _raw_y, _raw_x", "", NULL, RAW, CARRAY},
    {"y = _floor_divide(x[0], 2)", "", NULL, DIVIDE, CARRAY},
    {"y = _floor_divide(x[0], 2)", "__device__ int _floor_divide(float a, int b) { return a + b; }",
     NULL, DIVIDE, CARRAY},
    {"float iszero = 2; y = iszero * x[0]", "", NULL, RAW, DIVIDE},
    {"y = nextafter(x[0], 2)", "", NULL, RAW, NEXT},
    {"float16 h(1.f); y = nextafter(h, h) + x[0]", "", NULL, NEXT, NULL},
};

/* What a text defines itself stays its own, and no other source changes. */
Test(cupy_names, whose)
{
    quern_array *x = six(), *y = six();
    for (size_t c = 0; c < sizeof whose / sizeof *whose; c++) {
        const struct who *w = &whose[c];
        quern_kernel_options o = QUERN_KERNEL_OPTIONS_INIT;
        o.preamble = w->preamble;
        o.options = &w->option;
        o.option_count = w->option != NULL;
        quern_kernel *k;
        quern_explanation *e;
        OK(quern_elementwise(&k, engine, "raw T x", "T y", w->operation, &o));
        cr_assert_eq(quern_explain(&e, k, (quern_value[]){QUERN_VALUES(x, y)}, 2, NULL), QUERN_OK,
                     "case %zu: %s", c, quern_last_error_text());
        cr_expect(strstr(e->source, w->given), "case %zu: %s is missing", c, w->given);
        cr_expect(!w->absent || !strstr(e->source, w->absent), "case %zu: %s is there", c,
                  w->absent);
        quern_explanation_release(e);
        quern_kernel_release(k);
    }
    quern_array_release(y);
    quern_array_release(x);
}

/* A header may define any of the names, so that none is given where one is included. */
Test(cupy_names, headers_of_others)
{
    quern_module *m;
    quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
    o.headers = (quern_header[]){{"cupy/complex.cuh", "#define HERE 7\n"},
                                 {"cuComplex.h", "#define THERE 5\n"}};
    o.header_count = 2;
    o.translate_cucomplex = 1;
    OK(quern_module_new(&m, engine,
                        "#include <cupy/complex.cuh>\n#include <cuComplex.h>\n"
                        "extern \"C\" __global__ void k(int *x) { *x = HERE * 10 + THERE; }",
                        &o));
    quern_module_release(m);
    FAILS(
        QUERN_ERROR_COMPILE,
        quern_module_new(&m, engine, "#include <cupy/xsf/gamma.h>\n__global__ void k() {}", NULL));
    SAYS("cupy/xsf/gamma.h");
    o.reserved_2 = 1;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_module_new(&m, engine, "", &o));
    SAYS("reserved_2");
}

/* ---- numbers for raw parameters ------------------------------------------------------------- */

Test(cupy_names, raw_numbers)
{
    quern_array *x = six(), *z = NULL;
    quern_kernel *k = kernel_of("T x, raw T s", "T z", "z = x * s");
    OK(quern_call(k, x, 2, &z));
    EXPECT(z, float, 0, 2, 4, 6, 8, 10);
    quern_bound *b;
    OK(quern_bind(&b, k, (quern_value[]){QUERN_VALUES(x, 3, z)}, 3, NULL));
    OK(quern_launch(b));
    EXPECT(z, float, 0, 3, 6, 9, 12, 15);
    OK(quern_bound_set_scalar(b, 1, quern_literal_int(4)));
    OK(quern_launch(b));
    EXPECT(z, float, 0, 4, 8, 12, 16, 20);
    quern_bound_release(b);
    quern_kernel_release(k);
    k = kernel_of("T x, raw S s", "T z", "z = x + s[1]"); /* an array all the same */
    OK(quern_call(k, x, x, z));
    EXPECT(z, float, 1, 2, 3, 4, 5, 6);
    quern_kernel_release(k);
    quern_array_release(z);
    quern_array_release(x);
}

/* ---- arrays of elements: _raw_x ------------------------------------------------------------- */

/* Elements are read at any time, so an input that is an output is copied first, as for a raw one.
 */
Test(cupy_names, arrays_in_place)
{
    quern_array *x = six(), *all, *row, *shifted;
    quern_kernel *k = kernel_of("T x", "T y", "y = _raw_x[_ind.size() - 1 - i] + 10 * x");
    OK(quern_call(k, x, x));
    EXPECT(x, float, 5, 14, 23, 32, 41, 50);
    OK(quern_array_reshape(&all, x, SHAPE(6)));
    OK(quern_array_slice(&shifted, all, 1, &(quern_slice){1, 5, 1}));
    OK(quern_array_slice(&row, all, 1, &(quern_slice){0, 4, 1}));
    OK(quern_call(k, row, shifted));
    EXPECT(x, float, 5, 82, 163, 244, 325, 50);
    quern_kernel_release(k);
    quern_array_release(all);
    quern_array_release(row);
    quern_array_release(shifted);
    quern_array_release(x);
}

/* One kernel meets arrays in all layouts: each has the shape of the call. */
Test(cupy_names, arrays_in_any_layout)
{
    quern_array *x = six(), *turned, *column,
                *zero = array_of(QUERN_FLOAT32, 0, NULL, (float[]){7}), *z = NULL;
    quern_kernel *k =
        kernel_of("T x, T w", "T y",
                  "const ptrdiff_t *at = _ind.get(); y = (_raw_x[at] == x) + (_raw_x[i] == x) + "
                  "(_raw_w[at] == w) + (_raw_w[i] == w) + 10 * (_raw_w.size() == _ind.size()) + "
                  "100 * _raw_w.ndim");
    OK(quern_array_transpose(&turned, x, NULL));
    OK(quern_array_slice(&column, x, 2, (quern_slice[]){{2, -3, -1}, {0, 1, 1}}));
    OK(quern_call(k, x, x, &z));
    EXPECT(z, float, 214, 214, 214, 214, 214, 214);
    OK(quern_call(k, x, column, z));
    EXPECT(z, float, 214, 214, 214, 214, 214, 214);
    quern_array_release(z);
    z = NULL;
    OK(quern_call(k, turned, zero, &z));
    EXPECT(z, float, 214, 214, 214, 214, 214, 214);
    quern_kernel_release(k);
    quern_array_release(x);
    quern_array_release(z);
    quern_array_release(turned);
    quern_array_release(column);
    quern_array_release(zero);
}

/* What lies off its alignment has no references, and a number has no array. */
Test(cupy_names, arrays_of_odd_elements)
{
    quern_array *bytes = array_of(QUERN_UINT8, SHAPE(12), (const char[12]){0}), *x, *z = NULL;
    const int64_t stride = 4;
    OK(quern_array_wrap(&x, engine, QUERN_FLOAT32, SHAPE(2), &stride,
                        (char *)quern_array_pointer(bytes) + 1, NULL, NULL));
    quern_kernel *k = kernel_of("T x", "T y", "y = _raw_x[0] + x");
    FAILS(QUERN_ERROR_SHAPE, quern_call(k, x, &z));
    SAYS("its elements lie at multiples of 1 byte, and to take their address needs multiples of 4");
    z = six();
    FAILS(QUERN_ERROR_COMPILE, quern_call(k, 3, z));
    SAYS("\"_raw_x\" is undefined");
    quern_kernel_release(k);
    quern_array_release(x);
    quern_array_release(bytes);
    quern_array_release(z);
}

/* ---- arrays as CArrays ---------------------------------------------------------------------- */

Test(cupy_names, carray_arguments)
{
    quern_array *x = six(), *turned, *y = array_of(QUERN_FLOAT32, SHAPE(6), (float[6]){0});
    quern_module *m;
    quern_function *f;
    OK(quern_array_transpose(&turned, x, NULL));
    OK(quern_module_new(&m, engine,
                        "#include <cupy/carray.cuh>\n"
                        "extern \"C\" __global__ void k(CArray<float, 2> x, float *y)\n"
                        "{ CUPY_FOR(i, x.size()) y[i] = x[i] + x.strides()[0]; }",
                        NULL));
    OK(quern_module_function(&f, m, "k"));
    OK(quern_function_call(f, &QUERN_GRID(1, 8), x, y));
    EXPECT(y, float, 12, 13, 14, 15, 16, 17);
    FAILS(QUERN_ERROR_SHAPE, quern_function_call(f, &QUERN_GRID(1, 8), turned, y));
    quern_launch_options l = QUERN_LAUNCH_OPTIONS_INIT;
    l.block[0] = 8;
    l.any_strides = 1;
    OK(quern_function_call(f, &l, turned, y));
    EXPECT(y, float, 4, 7, 5, 8, 6, 9);
    FAILS(QUERN_ERROR_TYPE, quern_function_call(f, &QUERN_GRID(1, 8), y, y));
    SAYS("for a CArray an array of 2 dimensions");
    quern_function_release(f);
    quern_module_release(m);
    quern_array_release(turned);
    quern_array_release(y);
    quern_array_release(x);
}
