# SPDX-License-Identifier: MIT
#
# Tensors of tvm-ffi in kernels, and our arrays in its functions, on the CPU.
import pytest

np = pytest.importorskip("numpy")
tvm_ffi = pytest.importorskip("tvm_ffi")


@pytest.fixture
def double(q):
    return q.ElementwiseKernel("T x", "T y", "y = x + x")


@pytest.mark.parametrize("code", "b h i q B H I Q e f d".split())
def test_every_dtype(double, code):
    x = np.array([0, 1, 2], code)
    y = double(tvm_ffi.from_dlpack(x))
    assert isinstance(y, tvm_ffi.Tensor)
    assert np.array_equal(np.from_dlpack(y), x + x) and np.from_dlpack(y).dtype == x.dtype


def test_nothing_is_copied(q):
    address = q.ElementwiseKernel("raw T x, int8 like", "int64 at", "at = (long long)&x[0]")
    x = np.arange(10.0)
    at = address(tvm_ffi.from_dlpack(x), tvm_ffi.from_dlpack(np.zeros(1, np.int8)))
    assert np.from_dlpack(at)[0] == x.ctypes.data


def test_outputs_are_written_in_place(double):
    z = np.zeros(3)
    given = tvm_ffi.from_dlpack(z)
    assert double(tvm_ffi.from_dlpack(np.ones(3)), given) is given
    assert z.tolist() == [2, 2, 2]


def test_our_arrays_in_its_functions(q):
    seen = []

    @tvm_ffi.convert
    def look(tensor):
        seen.append((tuple(tensor.shape), str(tensor.dtype), np.from_dlpack(tensor).ctypes.data))

    a = q.ones((2, 3), "float32")
    look(a)
    assert seen == [((2, 3), "float32", a.pointer)]


def test_both_ways(q):
    a = q.arange(4)
    there = tvm_ffi.from_dlpack(a)
    back = q.from_dlpack(there)
    assert back.pointer == a.pointer and back.tolist() == [0, 1, 2, 3]
