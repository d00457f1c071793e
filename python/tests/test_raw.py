# SPDX-License-Identifier: MIT
#
# RawKernel and RawModule: CuPy's signatures, attributes and argument rules, and every refusal. In:
# CUDA sources. Out: arrays compared with NumPy. The thing to know: plain numbers take the size of
# their parameter, so each size is tried with each kind of number.
"""Raw kernels and modules."""

import ctypes
import inspect
import io
import pickle

import numpy as np
import pytest

import pyquern as cp

ADD = """
extern "C" __global__ void add(const float *x, const float *y, float *z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { z[i] = x[i] + y[i]; }
}"""


@pytest.fixture(scope="module")
def add():
    return cp.RawKernel(ADD, "add")


def store(c_type, dtype):
    """A kernel that stores its second parameter, and an array for it."""
    source = f'extern "C" __global__ void store({c_type} *out, {c_type} v) {{ *out = v; }}'
    return cp.RawKernel(source, "store"), cp.zeros(1, dtype)


# ---- signatures


def test_signatures_are_cupys():
    assert str(inspect.signature(cp.RawKernel.__new__)) == (
        "(cls, code, name, options=(), backend='nvrtc', *, translate_cucomplex=False, "
        "enable_cooperative_groups=False, jitify=None)"
    )
    assert str(inspect.signature(cp.RawModule)) == (
        "(*, code=None, path=None, options=(), backend='nvrtc', translate_cucomplex=False, "
        "enable_cooperative_groups=False, name_expressions=None, jitify=None)"
    )


def test_a_launch(add):
    x, y, z = cp.arange(5, dtype="float32"), cp.ones(5, "float32"), cp.zeros(5, "float32")
    assert add((1,), (8,), (x, y, z, 5)) is None
    assert z.tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "grid, block",
    [
        (1, 8),
        ((1,), (8,)),
        ((1, 1), (8, 1)),
        ((1, 1, 1), (8, 1, 1)),
        ([1], [8]),
        (0, 8),
        ((1, 0), (8, 0, 0)),
        (np.int64(1), np.int32(8)),
    ],
)
def test_grid_and_block(add, grid, block):
    x, z = cp.ones(5, "float32"), cp.zeros(5, "float32")
    add(grid, block, (x, x, z, 5))
    assert z.tolist() == [2] * 5


def test_words(add):
    x, z = cp.ones(5, "float32"), cp.zeros(5, "float32")
    add(grid=1, block=8, args=(x, x, z, 5), shared_mem=0, stream=cp.Stream())
    assert z.tolist() == [2] * 5
    add(1, 8, [x, x, z, 5], shared_mem=None, stream=None)


@pytest.mark.parametrize(
    "args, words, kind, message",
    [
        ((1.5, 8, ()), {}, TypeError, "grid is an int or a tuple of 1 to 3 ints, not 1.5"),
        (((1, 1, 1, 1), 8, ()), {}, TypeError, "tuple of 1 to 3 ints"),
        (((), 8, ()), {}, TypeError, "tuple of 1 to 3 ints"),
        ((("a",), 8, ()), {}, TypeError, "grid is an int or a tuple of 1 to 3 ints, and has"),
        ((-1, 8, ()), {}, ValueError, "grid is -1 along axis 0"),
        ((1, (8, -2), ()), {}, ValueError, "block is -2 along axis 1"),
        ((1 << 40, 8, ()), {}, ValueError, "must be 1 to 4294967295"),
        ((1, 1 << 80, ()), {}, OverflowError, "fit"),
        ((1, 8), {}, TypeError, "add lacks args"),
        ((), {"block": 1, "args": ()}, TypeError, "add lacks grid"),
        ((1, 8, (), 3), {}, TypeError, "4 arguments were given"),
        ((1, 8, ()), {"grid": 1}, TypeError, "grid is given twice"),
        ((1, 8, ()), {"shared": 1}, TypeError, "unexpected keyword argument 'shared'"),
        ((1, 8, ()), {"shared_mem": -1}, ValueError, "shared_mem is -1"),
        ((1, 8, ()), {"shared_mem": "x"}, TypeError, "integer"),
        ((1, 8, 5), {}, TypeError, "args is a tuple of the kernel's arguments, not"),
        ((1, 8, ()), {"stream": "x"}, TypeError, "__cuda_stream__ was expected"),
        ((1, 8, ()), {}, cp.ArgumentCountError, "4"),
        ((1, 1 << 20, (None, None, None, 0)), {}, cp.InvalidArgumentError, "block"),
    ],
)
def test_refused_launches(add, args, words, kind, message):
    with pytest.raises(kind, match=message.replace("(", r"\(")):
        add(*args, **words)


def test_an_array_is_no_tuple_of_arguments(add):
    with pytest.raises(TypeError, match=r"write \(x,\) for one"):
        add(1, 8, cp.ones(4))


# ---- arguments


@pytest.mark.parametrize(
    "c_type, dtype, value, stored",
    [
        ("signed char", "int8", -3, -3),
        ("signed char", "int8", 200, -56),
        ("unsigned char", "uint8", 200, 200),
        ("unsigned char", "uint8", -1, 255),
        ("short", "int16", -30000, -30000),
        ("unsigned short", "uint16", 65535, 65535),
        ("int", "int32", -(2**31), -(2**31)),
        ("unsigned", "uint32", 2**32 - 1, 2**32 - 1),
        ("long long", "int64", -(2**63), -(2**63)),
        ("unsigned long long", "uint64", 2**64 - 1, 2**64 - 1),
        ("float", "float32", 0.1, np.float32(0.1)),
        ("float", "float32", float("inf"), np.inf),
        ("double", "float64", 0.1, 0.1),
        ("bool", "bool", True, True),
        ("int", "int32", True, 1),
        ("float", "float32", np.float32(0.3), np.float32(0.3)),
        ("double", "float64", np.float64(0.3), 0.3),
        ("int", "int32", np.int32(-7), -7),
        ("short", "int16", ctypes.c_int16(-7), -7),
        ("int", "int32", np.array(9, "int32"), 9),
        ("bool", "bool", np.bool_(True), True),
    ],
)
def test_numbers_take_the_size_of_their_parameter(c_type, dtype, value, stored):
    kernel, out = store(c_type, dtype)
    kernel(1, 1, (out, value))
    assert out.item() == stored


@pytest.mark.parametrize("dtype, c_type", [("complex64", "float"), ("complex128", "double")])
def test_complex_numbers(dtype, c_type):
    source = f"""struct c {{ {c_type} re, im; }};
    extern "C" __global__ void store(c *out, c v) {{ *out = v; }}"""
    kernel, out = cp.RawKernel(source, "store"), cp.zeros(1, dtype)
    kernel(1, 1, (out, 1.5 - 2j))
    assert out.item() == 1.5 - 2j
    kernel(1, 1, (out, np.dtype(dtype).type(3 + 4j)))
    assert out.item() == 3 + 4j


def test_half():
    source = """extern "C" __global__ void store(short *out, short bits) { *out = bits; }"""
    kernel, out = cp.RawKernel(source, "store"), cp.zeros(1, "int16")
    kernel(1, 1, (out, 1.5))
    assert out.view("float16").item() == 1.5


def test_structures_by_value():
    source = """struct pair { int a; double b; };
    extern "C" __global__ void take(double *out, pair p) { out[0] = p.a; out[1] = p.b; }"""
    kernel, out = cp.RawKernel(source, "take"), cp.zeros(2)
    pair = np.dtype([("a", "i4"), ("b", "f8")], align=True)
    kernel(1, 1, (out, np.array((3, 0.5), pair)))
    assert out.tolist() == [3, 0.5]
    kernel(1, 1, (out, np.array([(4, 1.5)], pair)[0]))
    assert out.tolist() == [4, 1.5]
    kernel(1, 1, (out, np.array((5, 2.5), pair).tobytes()))
    assert out.tolist() == [5, 2.5]

    class Pair(ctypes.Structure):
        _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_double)]

    kernel(1, 1, (out, Pair(6, 3.5)))
    assert out.tolist() == [6, 3.5]


def test_pointers():
    source = """extern "C" __global__ void seen(long long *out, const float *p) {
        out[0] = (long long)p; out[1] = p ? (long long)p[0] : -1; }"""
    kernel, out = cp.RawKernel(source, "seen"), cp.zeros(2, "int64")
    x = cp.full(3, 7, "float32")
    kernel(1, 1, (out, None))
    assert out.tolist() == [0, -1]
    for pointer in (x, x.data, x.pointer, x.data + 0):
        kernel(1, 1, (out, pointer))
        assert out.tolist() == [x.pointer, 7]
    kernel(1, 1, (out, x[1:].data))
    assert out.tolist() == [x.pointer + 4, 7]
    if not cp.Device().is_gpu:  # whose kernels do not reach NumPy's arrays
        theirs = np.full(4, 3, "float32")
        kernel(1, 1, (out, theirs))
        assert out.tolist() == [theirs.ctypes.data, 3]
        kernel(1, 1, (out, np.full(1, 4, "float32")))  # one element, and an array all the same
        assert out.tolist()[1] == 4


@pytest.mark.parametrize(
    "value, kind, message",
    [
        (2**32, OverflowError, "argument 2 of store is 4294967296, which does not fit the 4 bytes"),
        (-(2**31) - 1, OverflowError, "does not fit the 4 bytes"),
        (2**70, OverflowError, "does not fit the 4 bytes"),
        (1j, TypeError, "argument 2 of store is <class 'complex'>, and its parameter has 4 bytes"),
        (np.float64(1), cp.TypeMismatchError, "8"),
        (np.int16(1), cp.TypeMismatchError, "2"),
        ("text", TypeError, "argument 2 \\(str\\)"),
        (object(), TypeError, "argument 2 \\(object\\)"),
        ([1], TypeError, "argument 2 \\(list\\)"),
    ],
)
def test_numbers_that_do_not_fit(value, kind, message):
    kernel, out = store("int", "int32")
    with pytest.raises(kind, match=message):
        kernel(1, 1, (out, value))


def test_an_int_for_a_large_structure():
    source = 'struct s { int a[5]; };extern "C" __global__ void take(s v) {}'
    with pytest.raises(TypeError, match="its parameter has 20 bytes: pass a NumPy number or str"):
        cp.RawKernel(source, "take")(1, 1, (1,))


def test_floats_that_do_not_fit():
    kernel, out = store("float", "float32")
    with pytest.raises(cp.RangeError, match="float32 holds"):
        kernel(1, 1, (out, 1e300))
    kernel, out = store("char", "int8")
    with pytest.raises(TypeError, match="<class 'float'>, and its parameter has 1 bytes"):
        kernel(1, 1, (out, 1.0))


def test_views_with_gaps_are_refused(add):
    x, z = cp.ones(8, "float32"), cp.zeros(4, "float32")
    with pytest.raises(cp.ShapeError, match="contiguous"):
        add(1, 4, (x[::2], x, z, 4))
    if not cp.Device().is_gpu:  # whose kernels do not reach NumPy's arrays
        with pytest.raises(cp.ShapeError, match="contiguous"):
            add(1, 4, (np.ones(8, "float32")[::2], x, z, 4))


def test_too_many_arguments(add):
    with pytest.raises(TypeError, match="a call has at most 64 arguments"):
        add(1, 1, (1,) * 65)


def test_arrays_of_two_devices(add):
    with cp.Device("soft:1"):
        x = cp.ones(4, "float32")
    with cp.Device("soft"):
        y = cp.ones(4, "float32")
    with pytest.raises(ValueError, match="is on soft"):
        add(1, 4, (x, y, y, 4))
    with pytest.raises(ValueError, match="is memory of soft"):
        add(1, 4, (x, y.data, y, 4))


def test_shared_memory():
    source = """extern "C" __global__ void turn(int *x) {
        extern __shared__ int s[];
        s[threadIdx.x] = x[threadIdx.x]; __syncthreads();
        x[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x]; }"""
    x = cp.arange(8, dtype="int32")
    cp.RawKernel(source, "turn")(1, 8, (x,), shared_mem=32)
    assert x.tolist() == list(range(8))[::-1]


def test_cooperative_groups():
    source = """#include <cooperative_groups.h>
    extern "C" __global__ void both(int *x) {
        x[blockIdx.x] = 1;
        cooperative_groups::this_grid().sync();
        x[2 + blockIdx.x] = x[1 - blockIdx.x]; }"""
    x = cp.zeros(4, "int32")
    kernel = cp.RawKernel(source, "both", enable_cooperative_groups=True)
    assert kernel.enable_cooperative_groups is True
    kernel(2, 1, (x,))
    assert x.tolist() == [1, 1, 1, 1]


# ---- kernels as objects


def test_facts_of_the_definition():
    k = cp.RawKernel(ADD, "add", ("-DN=3",))
    assert (k.code, k.file_path, k.name, k.__name__) == (ADD, None, "add", "add")
    assert (k.options, k.backend, k.enable_cooperative_groups) == (("-DN=3",), "nvrtc", False)
    assert repr(k) == "<RawKernel add>"
    assert k.kernel.ptr == 0 or cp.Device().is_gpu


def test_attributes(add):
    names = [
        "max_threads_per_block",
        "shared_size_bytes",
        "const_size_bytes",
        "local_size_bytes",
        "num_regs",
        "ptx_version",
        "binary_version",
        "cache_mode_ca",
        "max_dynamic_shared_size_bytes",
        "preferred_shared_memory_carveout",
    ]
    assert sorted(add.attributes) == sorted(names)
    for name in names:
        assert getattr(add, name) == add.attributes[name]
    assert add.max_threads_per_block >= 32
    with pytest.raises(AttributeError):
        add.num_regs = 3


def test_settable_attributes():
    k = cp.RawKernel(ADD, "add")
    k.max_dynamic_shared_size_bytes = 1024
    assert k.max_dynamic_shared_size_bytes == 1024
    with pytest.raises(ValueError, match="add may have 0 to [0-9]+ bytes"):
        k.max_dynamic_shared_size_bytes = 1 << 30
    with pytest.raises(ValueError, match="add may have 0 to"):
        k.max_dynamic_shared_size_bytes = -1
    k.preferred_shared_memory_carveout = 50
    with pytest.raises(cp.InvalidArgumentError, match="carveout"):
        k.preferred_shared_memory_carveout = 101
    with pytest.raises(cp.InvalidArgumentError, match="carveout"):
        k.preferred_shared_memory_carveout = 1 << 40


def test_occupancy(add):
    assert add.occupancy(64) >= 0
    with pytest.raises(TypeError):
        add.occupancy()


def test_it_is_compiled_when_it_is_needed():
    k = cp.RawKernel("no CUDA at all", "k")
    with pytest.raises(cp.CompileError):
        k(1, 1, ())
    with pytest.raises(cp.NoSuchNameError, match="add"):
        cp.RawKernel(ADD, "sub").compile()


def test_the_log_of_a_compilation():
    source = """extern "C" __global__ void k(int *x) { int unused_one; x[0] = 1; }"""
    log = io.StringIO()
    cp.RawKernel(source, "k").compile(log_stream=log)
    assert "unused_one" in log.getvalue()
    log = io.StringIO()
    with pytest.raises(cp.CompileError) as failure:
        cp.RawKernel("__global__ void k() { wrong_one; }", "k").compile(log)
    assert "wrong_one" in log.getvalue() and "wrong_one" in failure.value.log
    cp.RawKernel(source, "k").compile()


def test_compile_keeps_it_working():
    k, out = store("int", "int32")
    k(1, 1, (out, 3))
    k.compile()
    k(1, 1, (out, 4))
    assert out.item() == 4


@pytest.mark.parametrize(
    "args, words, kind, message",
    [
        ((b"x", "k"), {}, TypeError, "code of a RawKernel is a str"),
        (("x", 3), {}, TypeError, "name of a RawKernel is a str"),
        (("x", "k", "-DN=3"), {}, TypeError, "options of a RawKernel are a tuple of str"),
        (("x", "k", (3,)), {}, TypeError, "options of a RawKernel are a tuple of str"),
        (("x", "k", (), "nvcc"), {}, ValueError, "Quern compiles with 'nvrtc' alone"),
        (("x", "k"), {"wrong": 1}, TypeError, "wrong"),
        (("x",), {}, TypeError, "name"),
    ],
)
def test_refused_definitions(args, words, kind, message):
    with pytest.raises(kind, match=message):
        cp.RawKernel(*args, **words)


def test_pickling():
    k = cp.RawKernel(ADD.replace("x[i] +", "FACTOR * x[i] +"), "add", ("-DFACTOR=3",))
    back = pickle.loads(pickle.dumps(k))
    assert (back.code, back.name, back.options) == (k.code, k.name, k.options)
    x, z = cp.ones(4, "float32"), cp.zeros(4, "float32")
    back(1, 4, (x, x, z, 4))
    assert z.tolist() == [4] * 4
    make, (state,) = k.__reduce__()
    with pytest.raises(pickle.UnpicklingError, match="another version"):
        make(dict(state, version=0))


def test_cucomplex():
    source = """#include <cuComplex.h>
    extern "C" __global__ void twice(cuFloatComplex *x) { x[0] = cuCmulf(x[0], x[0]); }"""
    for translate in (False, True):
        x = cp.full(1, 1 + 2j, "complex64")
        cp.RawKernel(source, "twice", translate_cucomplex=translate)(1, 1, (x,))
        assert x.item() == -3 + 4j


# ---- modules

TEMPLATE = """
template <typename T> __global__ void scale(T *x, T a) { x[threadIdx.x] *= a; }
__device__ float table[4] = {1, 2, 3, 4};
__constant__ int factor;
extern "C" __global__ void read(int *out) { *out = factor + (int)table[0]; }
"""


def test_a_module():
    m = cp.RawModule(code=TEMPLATE, name_expressions=["scale<float>", "scale<int>"])
    assert m.name_expressions == ("scale<float>", "scale<int>")
    x = cp.ones(3, "float32")
    scale = m.get_function("scale<float>")
    assert isinstance(scale, cp.RawKernel)
    scale(1, 3, (x, 2.5))
    assert x.tolist() == [2.5] * 3
    assert set(m.function_names()) == {"scale<float>", "scale<int>", "read"}
    assert m.module.ptr == 0 or cp.Device().is_gpu
    again = pickle.loads(pickle.dumps(scale))
    again(1, 3, (x, 2.0))
    assert x.tolist() == [5] * 3


def test_globals_of_a_module():
    m = cp.RawModule(code=TEMPLATE)
    table = m.get_global("table")
    assert isinstance(table, cp.MemoryPointer)
    values = cp.ndarray(4, "float32", table)
    assert values.tolist() == [1, 2, 3, 4]
    factor, out = cp.ndarray((), "int32", m.get_global("factor")), cp.zeros(1, "int32")
    factor[...] = 42
    m.get_function("read")(1, 1, (out,))
    assert out.item() == 43
    with pytest.raises(ValueError, match="memory that has 16"):
        cp.ndarray(5, "float32", table)
    with pytest.raises(cp.NoSuchNameError, match="tabel"):
        m.get_global("tabel")


def test_a_module_from_a_file(tmp_path):
    path = tmp_path / "scale.cu"
    path.write_text(ADD)
    m = cp.RawModule(path=str(path))
    assert (m.code, m.file_path) == (None, str(path))
    x, z = cp.ones(4, "float32"), cp.zeros(4, "float32")
    m.get_function("add")(1, 4, (x, x, z, 4))
    assert z.tolist() == [2] * 4
    with pytest.raises(OSError, match="none.ptx"):
        cp.RawModule(path=str(tmp_path / "none.ptx")).compile()


def test_ptx_from_a_file(tmp_path):
    path = tmp_path / "k.ptx"
    path.write_text(".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n")
    cp.RawModule(path=str(path)).get_function("k")(1, 1, ())


def test_the_log_of_a_module():
    log = io.StringIO()
    cp.RawModule(code='extern "C" __global__ void k() { int spare; }').compile(log)
    assert "spare" in log.getvalue()


@pytest.mark.parametrize(
    "words, kind, message",
    [
        ({}, TypeError, "give one of the two"),
        ({"code": "x", "path": "y"}, TypeError, "give one of the two"),
        ({"path": "y", "name_expressions": ["f"]}, ValueError, "name_expressions need code"),
        ({"code": "x", "options": "-g"}, TypeError, "options of a RawModule are a tuple of str"),
        ({"code": "x", "backend": "nvcc"}, ValueError, "'nvrtc' alone"),
        ({"code": 3}, TypeError, "code of a RawModule is a str"),
        ({"path": 3}, TypeError, "path of a RawModule is a str"),
    ],
)
def test_refused_modules(words, kind, message):
    with pytest.raises(kind, match=message):
        cp.RawModule(**words)


def test_unknown_names_of_a_module():
    m = cp.RawModule(code=TEMPLATE, name_expressions=["scale<float>"])
    with pytest.raises(cp.NoSuchNameError, match="read"):
        m.get_function("raed")
    with pytest.raises(cp.NoSuchNameError):
        cp.RawModule(code=TEMPLATE, name_expressions=["scael<float>"]).compile()
