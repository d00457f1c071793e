#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# texts.py [FOLDER]: writes the cases cases/cupy-*, kernels in CuPy's own manner: its names, its
# missing semicolons, its headers. In: the table below, a text and a formula of NumPy for each. Out: a
# folder for each, as run_case reads it. ask_cupy.py has CuPy answer to the same texts on a GPU.
# Needs NumPy.
import json
import os
import shutil
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(10)
cases = []


def case(name, argv, arrays, outputs, rtol=0, source=None):
    """One case: the command line, input arrays by file, expected arrays by file."""
    cases.append((name, argv, arrays, outputs, rtol, source))


def elementwise(name, signature, operation, arrays, outputs, options=(), rtol=0, scalars=(), start=()):
    """Outputs are allocated, or (start) begin as an array."""
    argv = ["elementwise", *signature, operation]
    argv += [f"{k}={k}.npy" for k in arrays] + [f"{k}={v}" for k, v in dict(scalars).items()]
    start = dict(start)
    argv += [f"{k}={k}-in.npy:{k}.npy" if k in start else f"{k}={k}.npy" for k in outputs]
    case(name, argv + list(options), {**arrays, **{f"{k}-in": v for k, v in start.items()}}, outputs, rtol)


def reduce(name, signature, texts, arrays, outputs, options=(), rtol=0, scalars=()):
    argv = ["reduce", *signature, *texts]
    argv += [f"{k}={k}.npy" for k in arrays] + [f"{k}={v}" for k, v in dict(scalars).items()]
    case(name, argv + [f"{k}={k}.npy" for k in outputs] + list(options), arrays, outputs, rtol)


def raw(name, source, kernel, grid, block, arguments, arrays, outputs, options=(), rtol=0):
    argv = ["raw", "kernel.cu", "--kernel", kernel, "--grid", grid, "--block", block, *arguments]
    case(name, argv + list(options), arrays, outputs, rtol, source)


def f4(*shape):
    return rng.normal(size=shape).astype(np.float32)


def f8(*shape):
    return rng.normal(size=shape)


def c8(*shape):
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64)


def c16(*shape):
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


# ---- raw scalars ---------------------------------------------------------------------------------

x = f4(7, 5)
elementwise("raw-scalar-factor", ("T x, raw T s", "T z"), "z = x * s", {"x": x},
            {"z": x * np.float32(3)}, scalars={"s": 3})
elementwise("raw-scalar-stated-dtype", ("T x, raw float64 s", "T z"), "z = x + s;", {"x": x},
            {"z": (x + 2.5).astype(np.float32)}, scalars={"s": "float64:2.5"}, rtol=1e-6)
a, at = np.sort(f8(40)), rng.uniform(0, 38.9, size=12)
low = np.floor(at).astype(int)
elementwise("raw-scalar-interpolation", ("S at, raw T a, raw int32 step, raw int32 size", "T r"), """
    ptrdiff_t below = floor(at);
    ptrdiff_t above = min(below + step, (ptrdiff_t)size - 1);
    T weight = at - below;
    r = a[below] * (1 - weight) + a[above] * weight
""", {"at": at, "a": a}, {"r": a[low] * (1 - (at - low)) + a[np.minimum(low + 1, 39)] * (at - low)},
            scalars={"step": 1, "size": 40}, rtol=1e-12)
bits = (rng.random(21) < 0.5).astype(np.uint8)
elementwise("raw-scalar-length", ("raw uint8 a, raw int32 n", "uint8 r"),
            "r = 0; for (int k = 0; k < 8; ++k) { int at = i * 8 + k; r |= (at < n && a[at] != 0) << (7 - k); }",
            {"a": bits}, {"r": np.packbits(bits)}, scalars={"n": 21}, start={"r": np.zeros(3, np.uint8)})
z = c8(11)
elementwise("raw-scalar-complex", ("T z, raw T s", "T w"), "w = z * s", {"z": z},
            {"w": z * np.complex64(1 + 2j)}, scalars={"s": "complex64:1+2j"}, rtol=2e-6)
elementwise("raw-scalar-bool", ("T x, raw bool flip", "T z"), "z = flip ? -x : x", {"x": x}, {"z": -x},
            scalars={"flip": "true"})
x = f8(6, 9)
reduce("raw-scalar-reduction", ("T x, raw T shift", "T y"), ("(x - shift) * (x - shift)", "a + b", "y = a", "0"),
       {"x": x}, {"y": ((x - 0.25) ** 2).sum(axis=1)}, ["--axis", "1"], rtol=1e-12, scalars={"shift": 0.25})
n = np.arange(10, dtype=np.int64)
elementwise("raw-scalar-all", ("raw int64 s", "int64 y"), "y = s * 100 + i", {},
            {"y": 700 + n}, scalars={"s": 7}, start={"y": np.zeros(10, np.int64)})

# ---- operations, loop_prep and after_loop without their last semicolon ------------------------------

x = f8(33)
elementwise("no-semicolon-operation", ("T x", "T y"), "T half = x / 2; y = half * half", {"x": x},
            {"y": (x / 2) ** 2}, rtol=1e-15)
elementwise("no-semicolon-comment", ("T x", "T y"), "y = x + 1 // one more", {"x": x}, {"y": x + 1})
elementwise("no-semicolon-block", ("T x", "T y"), "if (x < 0) { y = -x; } else { y = x; }", {"x": x},
            {"y": np.abs(x)})
elementwise("no-semicolon-lines", ("T x, T w", "T y, T v"), """
        // scaled
        y = x * w;
        v = x -
            w
        """, {"x": x, "w": x[::-1].copy()}, {"y": x * x[::-1], "v": x - x[::-1]})
elementwise("no-semicolon-directive", ("T x", "T y"), "#if 1\n  y = x * 2\n#else\n  y = x\n#endif", {"x": x},
            {"y": x * 2})
elementwise("loop-prep-no-semicolon", ("int64 k, raw int64 n", "float64 w"),
            "w = 0.5 - 0.5 * cos(k * step)", {"k": n}, {"w": 0.5 - 0.5 * np.cos(n * (2 * np.pi / 10))},
            ["--loop-prep", "const double step = 2.0 * M_PI / n"], rtol=1e-14, scalars={"n": 10})
elementwise("loop-prep-braces", ("T x, T s", "T y"), "y = exp( top * x * x )", {"x": x},
            {"y": np.exp(-0.5 / 2.25 * x * x)},
            ["--loop-prep", "const T variance { s * s };  const T top { -0.5 / variance }"],
            rtol=1e-14, scalars={"s": 1.5})
elementwise("loop-prep-comment", ("T x", "T y"), "y = x * two", {"x": x}, {"y": x * 2},
            ["--loop-prep", "T two = 2; // and a comment"])
elementwise("loop-prep-size", ("T x", "float64 y"), "y = x * share", {"x": x}, {"y": x * (1 / 33)},
            ["--loop-prep", "const double share = 1.0 / _ind.size()"], rtol=1e-15)
v = rng.integers(-9, 9, size=(40, 25)).astype(np.int64)
elementwise("after-loop-sum", ("T x", "raw T total"), "sum += x", {"x": v}, {"total": np.array([v.sum()])},
            ["--loop-prep", "T sum = 0", "--after-loop", "atomicAdd(&total[0], sum)"],
            start={"total": np.zeros(1, np.int64)})
elementwise("after-loop-for", ("T x", "T y, raw int64 k"), "y = x", {"x": x}, {"y": x, "k": 10 * np.arange(5)},
            ["--after-loop", "CUPY_FOR(j, k.size()) { k[j] = j * 10; }"],
            start={"k": np.zeros(5, np.int64)})

# ---- _ind --------------------------------------------------------------------------------------------

keep = ["--reduce-dims", "False"]
m = f4(5, 6)
elementwise("ind-ndim-triangle", ("T x, raw int32 k", "T y"),
            "y = _ind.get()[_ind.ndim - 1] - _ind.get()[_ind.ndim - 2] >= k ? x : T(0)", {"x": m},
            {"y": np.triu(m, 1)}, keep, scalars={"k": 1})
m3 = f4(3, 4, 5)
elementwise("ind-ndim-loop", ("T x", "int64 y"),
            "y = 0; for (int d = 0; d < _ind.ndim; ++d) y = y * 10 + _ind.get()[d]", {"x": m3},
            {"y": np.einsum("dijk,d->ijk", np.indices(m3.shape), [100, 10, 1])}, keep)
elementwise("ind-in-function", ("T x", "int64 y"), "y = last(_ind) + x * 0", {"x": m},
            {"y": np.indices(m.shape)[1]},
            keep + ["--preamble", "template <typename I> __device__ ptrdiff_t last(const I &ind) { return ind.get()[I::ndim - 1]; }"])
elementwise("ind-get-as-index", ("raw T x, T w", "T y"), "y = x[_ind.get()] - w", {"x": m, "w": m * 3},
            {"y": m - m * 3}, keep)
elementwise("ind-own-indexer", ("T x", "int64 y"),
            "const int shape[2] = {4, 3}; CIndexer<2> own(shape); own.set(i); y = own.get()[0] * 10 + own.get()[1] + own.size() * 1000 + own.ndim * 100000",
            {"x": f4(12)}, {"y": np.arange(12) // 3 * 10 + np.arange(12) % 3 + 12000 + 200000})
elementwise("ind-set", ("T x", "int64 y"), "_ind.set(_ind.size() - 1 - i); y = _ind.get()[0] * 10 + _ind.get()[1]",
            {"x": m}, {"y": np.einsum("dij,d->ij", np.indices(m.shape), [10, 1])[::-1, ::-1].copy()}, keep)

# ---- _j in reductions ----------------------------------------------------------------------------------

g = np.zeros(300, np.float32)
g[[137, 211]] = 1
reduce("j-first-nonzero", ("T x, int64 n", "int64 y"), ("x == T(0) ? n : _j", "min(a, b)", "y = a", "n"),
       {"x": g}, {"y": np.array(137)}, ["--reduce-type", "long long"], scalars={"n": 300})
m3 = rng.integers(-9, 9, size=(6, 5, 16)).astype(np.int32)
for axes in ((0,), (1,), (2,), (0, 2), (1, 2), (0, 1, 2)):
    rest = tuple(k for k in range(3) if k not in axes)
    flat = np.arange(m3.size).reshape([m3.shape[k] for k in axes + rest])
    j = np.moveaxis(flat, range(3), axes + rest)  # _j of each element
    reduce("j-axis-" + "-".join(map(str, axes)), ("T x", "int64 y"), ("x * _j", "a + b", "y = a", "0"),
           {"x": m3}, {"y": (m3 * j).sum(axis=axes, dtype=np.int64)}, ["--axis", ",".join(map(str, axes))])
reduce("j-with-sizes", ("T x", "int64 y"), ("_j / _out_ind.size() == _J ? 1 : 100", "a + b", "y = a", "0"),
       {"x": m3}, {"y": np.full((5, 16), 6)}, ["--axis", "0"])
reduce("j-in-statements", ("T x", "int64 y"), ("long long at = _j; return at % 7;", "a + b", "y = a", "0"),
       {"x": m3[0, 0]}, {"y": np.array((np.arange(16) % 7).sum())})

# ---- CArray ------------------------------------------------------------------------------------------

s = np.sort(f4(50))
q = f4(20)
elementwise("carray-bisect", ("raw float32 s, float32 q", "int64 y"), "y = place(s, q)", {"s": s, "q": q},
            {"y": np.searchsorted(s, q)}, ["--preamble", """
__device__ ptrdiff_t place(const CArray<float, 1, true, true> &s, float q)
{
    ptrdiff_t low = 0, high = s.size();
    while (low < high) {
        ptrdiff_t middle = (low + high) / 2;
        if (s[middle] < q) low = middle + 1; else high = middle;
    }
    return low;
}"""])
elementwise("carray-template", ("raw T x, int64 c", "T y"), "y = column(x, c)", {"x": m, "c": np.arange(6)},
            {"y": m.sum(axis=0)}, ["--preamble", """
template <typename E, int N, bool C, bool I>
__device__ E column(const CArray<E, N, C, I> &x, ptrdiff_t c)
{
    E sum = 0;
    for (ptrdiff_t r = 0; r < x.shape()[0]; ++r) {
        ptrdiff_t at[N] = {r, c};
        sum += x[at];
    }
    return sum;
}"""], rtol=1e-6)
case("carray-strided", ["elementwise", "raw T x", "T y", "y = pick(x, i)", "x=x.npy.T", "y=y-in.npy:y.npy",
                        "--preamble", "template <typename A> __device__ float pick(const A &x, ptrdiff_t k) "
                        "{ typename A::index_t n = x.shape()[1]; ptrdiff_t at[] = {k / n, k % n}; return x[k] + x[at] * 100 + (A::c_contiguous ? 1000 : 0) + x.strides()[0] * 10000; }"
                        " typedef CArray<float, 1> named;"],
     {"x": np.arange(12, dtype=np.float32).reshape(3, 4), "y-in": np.zeros(12, np.float32)},
     {"y": (np.arange(12).reshape(3, 4).T.ravel() * 101 + 40000).astype(np.float32)})
elementwise("carray-output", ("T x", "raw float32 y"), "store(y, i, x)", {"x": q}, {"y": q * 2},
            ["--preamble", "__device__ void store(CArray<float, 1, true, true> &y, ptrdiff_t k, float v) { y[k] = v + v; }"],
            start={"y": np.zeros(20, np.float32)})
elementwise("carray-index-type", ("raw T x, int64 k", "T y"),
            "using at_t = decltype(x)::index_t; at_t at = static_cast<at_t>(k) * 2; y = x[at] + sizeof(at_t)",
            {"x": q, "k": np.arange(10)}, {"y": q[::2] + np.float32(4)})
elementwise("carray-contiguous", ("raw T x, int64 k", "T y"), "y = decltype(x)::c_contiguous ? x[k] : T(-1)",
            {"x": q, "k": np.arange(10)}, {"y": q[:10]})
elementwise("carray-local", ("T x", "T y"),
            "T v[3] = {x, x * 2, x * 4}; CArray<T, 1, true, true> own(v, {3}); y = own[0] + own[1] + own[2] + own.size()",
            {"x": q}, {"y": q * 7 + 3}, rtol=1e-6)
elementwise("carray-local-2d", ("T x", "T y"),
            "T v[4] = {x, x * 2, x * 4, x * 8}; CArray<T, 2, true, true> own(v, {2, 2}); ptrdiff_t at[] = {1, 0}; y = own[at] - own[{0, 1}]",
            {"x": q}, {"y": q * 2})
elementwise("carray-memory", ("raw uint8 x", "uint8 y"), "const unsigned char *p = &x[0]; y = p[i] + x[i]",
            {"x": bits}, {"y": bits * 2}, ["--preamble", "typedef CArray<unsigned char, 1> bytes;"],
            start={"y": np.zeros(21, np.uint8)})
elementwise("carray-dimensions", ("raw T x, int64 k", "int64 y"), "y = total(x) * k", {"x": m3, "k": np.arange(4)},
            {"y": m3.size * 3 * np.arange(4)},
            ["--preamble", "template <typename T, bool C, bool I> __device__ ptrdiff_t total(const CArray<T, 3, C, I> &x) { return x.size() * x.ndim; }"])
i8 = rng.integers(0, 5, size=30).astype(np.int64)
elementwise("type-traits", ("T x", "T y"),
            "using word = typename cupy::type_traits::conditional<cupy::type_traits::is_same<T, long long>::value, unsigned long long, unsigned>::type; word w = x; y = w + sizeof(word)",
            {"x": i8}, {"y": i8 + 8})
raw("carray-kernel", """#include <cupy/carray.cuh>
extern "C" __global__ void add(const CArray<float, 2> x, CArray<float, 2, true, true> y, int n)
{
    CUPY_FOR(k, n) {
        const ptrdiff_t at[] = {k / x.shape()[1], k % x.shape()[1]};
        y[k] = x[at] + 100 * x[k];
    }
}
""", "add", "2", "16", ["x.npy.T", "y-in.npy:y.npy", "int32:30"],
    {"x": m, "y-in": np.zeros((6, 5), np.float32)}, {"y": m.T + 100 * m.T}, ["--any-strides"], rtol=1e-6)
x = f8(33)
raw("cupy-for-kernel", """#include "cupy/carray.cuh"
extern "C" __global__ void scale(const double *x, double *y, long long n)
{
    CUPY_FOR(k, n) y[k] = x[k] * M_PI;
}
""", "scale", "2", "8", ["x.npy", "y-in.npy:y.npy", "int64:33"], {"x": x, "y-in": np.zeros(33)}, {"y": x * np.pi})

# ---- Thrust's complex numbers ------------------------------------------------------------------------

r, t = np.abs(f8(25)), f8(25)
elementwise("thrust-polar", ("float64 r, float64 t", "complex128 z"), "z = thrust::polar(r, t)", {"r": r, "t": t},
            {"z": r * np.exp(1j * t)}, rtol=1e-14)
elementwise("thrust-exp", ("float64 x, float64 w", "complex128 z"),
            "z = exp( thrust::complex<double>( 0.0, w * x ) )", {"x": r, "w": t}, {"z": np.exp(1j * r * t)}, rtol=1e-14)
elementwise("thrust-braces", ("float64 x", "complex128 z"), """
    thrust::complex<double> wave { exp( thrust::complex<double>( 0, w * x ) ) };
    wave -= shift;
    z = wave * exp( -0.5 * ( x * x ) )
""", {"x": t}, {"z": (np.exp(5j * t) - 0.5) * np.exp(-0.5 * t * t)},
            ["--loop-prep", "const double w { 5.0 }; const double shift { 0.5 }"], rtol=1e-13)
w = c16(25)
elementwise("thrust-conj-norm-arg", ("complex128 w", "complex128 c, float64 n, float64 p, float64 m"),
            "c = thrust::conj(w); n = thrust::norm(w); p = thrust::arg(w); m = thrust::abs(w)", {"w": w},
            {"c": np.conj(w), "n": np.abs(w) ** 2, "p": np.angle(w), "m": np.abs(w)}, rtol=1e-13)
elementwise("thrust-functions", ("complex64 w", "complex64 a, complex64 b, complex64 c"),
            "a = thrust::sqrt(w); b = thrust::log(w); c = thrust::pow(w, 2.0f)", {"w": w.astype(np.complex64)},
            {"a": np.sqrt(w).astype(np.complex64), "b": np.log(w).astype(np.complex64), "c": (w * w).astype(np.complex64)},
            rtol=2e-5)
elementwise("thrust-trigonometry", ("complex128 w", "complex128 a, complex128 b"),
            "a = thrust::sin(w) + thrust::cosh(w); b = thrust::tan(w) * thrust::log10(w)", {"w": w},
            {"a": np.sin(w) + np.cosh(w), "b": np.tan(w) * np.log10(w)}, rtol=1e-12)
elementwise("thrust-typedef", ("T x", "complex128 z"), "cd v(x, 2); z = v * v.real() + v.imag()", {"x": t},
            {"z": (t + 2j) * t + 2}, ["--preamble", "typedef thrust::complex<double> cd;"], rtol=1e-14)
elementwise("thrust-in-function", ("T z", "T w"), "w = turn(z, typename T::value_type(2))", {"z": w},
            {"w": w * 2j}, ["--preamble", "template <typename T> __device__ thrust::complex<T> turn(thrust::complex<T> z, T by) { return z * thrust::complex<T>(0, by); }"],
            rtol=1e-14)
reduce("thrust-reduce-type", ("float64 x, float64 p", "complex128 y"),
       ("thrust::polar(x, p)", "a + b", "y = a", "0"), {"x": r, "p": t}, {"y": np.array((r * np.exp(1j * t)).sum())},
       ["--reduce-type", "thrust::complex<double>"], rtol=1e-13)
elementwise("thrust-include", ("complex64 z", "complex64 w"), "w = thrust::conj(z) * twice<float>(1)", {"z": z},
            {"w": np.conj(z) * 2}, ["--preamble", "#include <cupy/complex.cuh>\ntemplate <typename T> __device__ thrust::complex<T> twice(T v) { return complex<T>(v + v); }"],
            rtol=1e-6)

# ---- constants ---------------------------------------------------------------------------------------

y = f8(17)
y[5] = 0
elementwise("constant-inf", ("T x", "T z"), "z = x == 0 ? CUDART_INF : 1 / x", {"x": y},
            {"z": np.divide(1, y, where=y != 0, out=np.full(17, np.inf))})
elementwise("constant-nan", ("float32 x", "float32 z"), "z = x < 0 ? CUDART_NAN_F : x", {"x": y.astype(np.float32)},
            {"z": np.where(y < 0, np.nan, y).astype(np.float32)})
x = f8(4, 30)
reduce("constant-identity", ("T x", "T z"), ("x", "a < b ? a : b", "z = a", "CUDART_INF"), {"x": x},
       {"z": x.min(axis=1)}, ["--axis", "1"])
elementwise("constant-in-function", ("T x", "T z"), "z = cut(x)", {"x": y}, {"z": np.where(np.abs(y) < 1, y, -np.inf)},
            ["--preamble", "#include <cupy/math_constants.h>\n__device__ double cut(double x) { return fabs(x) < 1 ? x : -CUDART_INF; }"])
raw("constant-kernel", """#include <cupy/math_constants.h>
extern "C" __global__ void fill(double *y, float *z)
{
    y[threadIdx.x] = threadIdx.x & 1 ? CUDART_INF : CUDART_NAN;
    z[threadIdx.x] = threadIdx.x & 1 ? -CUDART_INF_F : CUDART_NAN_F;
}
""", "fill", "1", "4", ["y-in.npy:y.npy", "z-in.npy:z.npy"], {"y-in": np.zeros(4), "z-in": np.zeros(4, np.float32)},
    {"y": np.array([np.nan, np.inf] * 2), "z": np.array([np.nan, -np.inf] * 2, np.float32)}, rtol=1e-6)

# ---- headers and cuComplex ---------------------------------------------------------------------------

raw("complex-kernel", """#include <cupy/complex.cuh>
template <typename T> __global__ void turn(const complex<T> *x, complex<T> *y, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) y[k] = thrust::exp(complex<T>(0, k)) * x[k] + conj(x[k]) * T(0.5);
}
""", "turn<double>", "2", "16", ["x.npy", "y-in.npy:y.npy", "int32:25"], {"x": w, "y-in": np.zeros(25, complex)},
    {"y": np.exp(1j * np.arange(25)) * w + np.conj(w) / 2}, rtol=1e-13)
raw("atomics-kernel", """#include <cupy/atomics.cuh>
extern "C" __global__ void extremes(const float *x, float *most, double *least, int n)
{
    CUPY_FOR(k, n) {
        atomicMax(most, x[k]);
        atomicMin(least, (double)x[k]);
    }
}
""", "extremes", "2", "16", ["x.npy", "most-in.npy:most.npy", "least-in.npy:least.npy", "int32:50"],
    {"x": s, "most-in": np.array([-9], np.float32), "least-in": np.array([9.0])},
    {"most": s[-1:], "least": s[:1].astype(np.float64)})
CUCOMPLEX = """#include <cuComplex.h>
extern "C" __global__ void k(const TYPE *x, const TYPE *y, TYPE s, TYPE *z, REAL *m, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) {
        TYPE v = cuCmul_(cuCadd_(x[k], y[k]), cuConj_(y[k]));
        z[k] = cuCfma_(cuCsub_(v, x[k]), s, cuCdiv_(x[k], make_TYPE(1.5, -0.5)));
        m[k] = cuCabs_(v) + cuCreal_(x[k]) * cuCimag_(y[k]);
    }
}
"""


def cucomplex(name, kind, real, suffix, dtype, rtol):
    source = CUCOMPLEX.replace("TYPE", kind).replace("REAL", real).replace("_(", suffix + "(")
    x, y = c16(25).astype(dtype), c16(25).astype(dtype)
    v = (x + y) * np.conj(y)
    m = np.abs(v) + x.real * y.imag
    raw(name, source, "k", "1", "32",
        ["x.npy", "y.npy", np.dtype(dtype).name + ":2+3j", "z-in.npy:z.npy", "m-in.npy:m.npy", "int32:25"],
        {"x": x, "y": y, "z-in": np.zeros_like(x), "m-in": np.zeros_like(m)},
        {"z": ((v - x) * (2 + 3j) + x / (1.5 - 0.5j)).astype(dtype), "m": m}, ["--translate-cucomplex"], rtol)


cucomplex("cucomplex-single", "cuFloatComplex", "float", "f", np.complex64, 1e-5)
cucomplex("cucomplex-short-name", "cuComplex", "float", "f", np.complex64, 1e-5)
cucomplex("cucomplex-double", "cuDoubleComplex", "double", "", np.complex128, 1e-13)
p = c8(25)
raw("cucomplex-operators", """#include <cuComplex.h>
extern "C" __global__ void k(const cuComplex *x, cuDoubleComplex *z, int n)
{
    int k = threadIdx.x;
    if (k < n) z[k] = exp(cuComplexFloatToDouble(x[k])) + make_cuDoubleComplex(1, 2) * 2.0;
}
""", "k", "1", "32", ["x.npy", "z-in.npy:z.npy", "int32:25"],
    {"x": p, "z-in": np.zeros(25, complex)},
    {"z": np.exp(p.astype(complex)) + (2 + 4j)}, ["--translate-cucomplex"], rtol=1e-13)

# ---- arrays of parameters: _raw_x ------------------------------------------------------------------------------------

x, w, v, n = f8(7), f8(4, 5), f8(5), np.arange(6)
elementwise("raw-name-neighbour", ("T x", "T y"), "y = x - _raw_x[i > 0 ? i - 1 : 0]", {"x": x},
            {"y": np.diff(x, prepend=x[0])})
elementwise("raw-name-at-ind", ("T w, T v", "T y"), "y = _raw_v[_ind.get()] + _raw_w[_ind.get()] - w", {"w": w, "v": v},
            {"y": (v + w) - w}, ["--reduce-dims", "False"])
elementwise("raw-name-symmetric", ("T x", "T y"),
            "ptrdiff_t at[] = {_ind.get()[1], _ind.get()[0]}; y = x - _raw_x[at]", {"x": w[:, :4]},
            {"y": w[:, :4] - w[:, :4].T}, ["--reduce-dims", "False"])
elementwise("raw-name-shape", ("raw T x, int32 k", "T y"), "y = x[i / ysize_1 * xsize_1 + i % ysize_1 + k]", {"x": w},
            {"y": w[:, 1:4]}, ["--reduce-dims", "False", "--loop-prep",
                               "ptrdiff_t xsize_1 = x.shape()[1], ysize_1 = _raw_y.shape()[1];"],
            scalars={"k": 1}, start={"y": np.zeros((4, 3))})
elementwise("raw-name-output", ("T x", "T y"), "_raw_y[_ind.size() - 1 - i] = x", {"x": x}, {"y": x[::-1]})
elementwise("raw-name-own-element", ("T x", "T y"), "_raw_y[i] = 2 * x; y += 1", {"x": x}, {"y": 2 * x + 1})
elementwise("raw-name-in-function", ("T x", "float64 y"), "y = around(_raw_x, i)", {"x": x},
            {"y": np.array([x[max(k - 1, 0):k + 2].sum() for k in range(7)])}, ["--preamble", """
template <typename A> __device__ double around(const A &x, ptrdiff_t i) {
  double sum = 0;
  for (ptrdiff_t k = i > 0 ? i - 1 : i; k <= i + 1 && k < x.size(); k++) sum += x[k];
  return sum;
}"""], rtol=1e-15)
elementwise("raw-name-types", ("float16 h, bool b, complex64 z", "complex64 y"),
            "ptrdiff_t k = _ind.size() - 1 - i; y = _raw_z[k] * float(_raw_h[k]) + float(_raw_b[k])",
            {"h": n.astype(np.float16), "b": n % 2 == 0, "z": (n * (1 + 1j)).astype(np.complex64)},
            {"y": (n * (1 + 1j) * n + (n % 2 == 0))[::-1].astype(np.complex64)})

# ---- small functions -------------------------------------------------------------------------------------------------

i, k = np.arange(-12, 12), np.tile([3, -4, 7, -1, 0, 5], 4)
with np.errstate(divide="ignore"):
    for dtype in ("int32", "int64", "float32", "float64"):
        one, two = i.astype(dtype), k.astype(dtype)
        two = np.where(two == 0, 2, two).astype(dtype) if dtype[0] == "f" else two
        elementwise("floor-divide-" + dtype, ("T x, T w", "T y"), "y = _floor_divide(x, w)", {"x": one, "w": two},
                    {"y": np.floor_divide(one, two)})
    elementwise("floor-divide-uint64", ("T x, T w", "T y"), "y = _floor_divide(x, w)",
                {"x": i.astype("uint64"), "w": np.abs(k).astype("uint64")},
                {"y": np.floor_divide(i.astype("uint64"), np.abs(k).astype("uint64"))})
reduce("floor-divide-in-map", ("int64 x", "int64 y"), ("_floor_divide(x, 5LL)", "a + b", "y = a", "0"), {"x": i},
       {"y": np.floor_divide(i, 5).sum()})
h = np.array([0, 1, -1, 0.1, 65504, -0.5, 6e-8], np.float16)
elementwise("nextafter-float16", ("float16 x", "float16 u, float16 d"),
            "u = nextafter(x, float16(60000.f)); d = nextafter(x, float16(-60000.f))", {"x": h},
            {"u": np.nextafter(h, np.float16(60000)), "d": np.nextafter(h, np.float16(-60000))})
elementwise("iszero-float16", ("float16 x", "int32 y"), "y = iszero(x)", {"x": h}, {"y": (h == 0).astype(np.int32)})


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "cases")
    for name, argv, arrays, outputs, rtol, source in cases:
        own = os.path.join(folder, "cupy-" + name)
        shutil.rmtree(own, ignore_errors=True)
        os.makedirs(own)
        with open(os.path.join(own, "case.json"), "w") as file:
            json.dump({"name": "cupy: " + name.replace("-", " "), "argv": argv, "outputs": list(outputs),
                       "rtol": rtol}, file, indent=1)
        for key, value in arrays.items():
            np.save(os.path.join(own, key + ".npy"), np.asarray(value, order="C"))
        for key, value in outputs.items():
            np.save(os.path.join(own, key + ".expect.npy"), np.asarray(value, order="C"))
        if source:
            with open(os.path.join(own, "kernel.cu"), "w") as file:
                file.write("// SPDX-License-Identifier: MIT\n" + source)
    print(len(cases), "cases")


if __name__ == "__main__":
    main()
