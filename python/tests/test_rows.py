# SPDX-License-Identifier: MIT
#
# Every library whose arrays go in and come out, each way: as an input, as an output that is given,
# as what a call returns, taken as one of ours, and made of one of ours. In: the libraries that are
# installed. Out: values; and addresses, which show that nothing was copied on the way.
import array
import importlib
import sys

import numpy as np
import pytest

import pyquern as q

SHAPE, BYTES = (3, 4), 96
ADDRESS = q.ElementwiseKernel("raw T x, int8 like", "int64 at", "at = (long long)&x[0]")
ADD = q.ElementwiseKernel("T x, T y", "T z", "z = x + y")
VALUES = np.arange(12.0).reshape(SHAPE)

pytestmark = pytest.mark.on_soft  # these are arrays of the host


class Row:
    """One library: `make()` an array of the values, its `address`, `values` as NumPy's, `of_ours`
    (an array of ours as one of its), and whether results of calls are its."""

    needs = ()
    results, writable, zero_copy_of_ours = True, True, True

    def values(self, theirs):
        return np.from_dlpack(theirs)

    def kind(self, theirs):
        return type(theirs)


class NumPy(Row):
    def make(self):
        return VALUES.copy()

    def address(self, theirs):
        return theirs.ctypes.data

    def of_ours(self, ours):
        return np.asarray(ours)


class NumPyByDLPack(NumPy):
    def of_ours(self, ours):
        return np.from_dlpack(ours)


class Torch(Row):
    needs = ("torch",)

    def make(self):
        return self.torch.from_numpy(VALUES.copy())

    def address(self, theirs):
        return theirs.data_ptr()

    def of_ours(self, ours):
        return self.torch.from_dlpack(ours)

    def kind(self, theirs):
        return self.torch.Tensor


class Jax(Row):
    needs = ("jax",)
    writable = False

    def make(self):
        self.jax.config.update("jax_enable_x64", True)
        return self.jax.numpy.asarray(VALUES)

    def address(self, theirs):
        return theirs.unsafe_buffer_pointer()

    def of_ours(self, ours):
        return self.jax.dlpack.from_dlpack(ours)

    def kind(self, theirs):
        return self.jax.Array

    def values(self, theirs):
        return np.asarray(theirs)


class TensorFlow(Row):
    needs = ("tensorflow",)
    writable = False

    def make(self):
        return self.tensorflow.constant(VALUES)

    def address(self, theirs):
        return q.from_dlpack(theirs).data.ptr

    def of_ours(self, ours):
        return self.tensorflow.experimental.dlpack.from_dlpack(ours.__dlpack__())

    def kind(self, theirs):
        return self.tensorflow.Tensor

    def values(self, theirs):
        return theirs.numpy()


class TvmFfi(Row):
    needs = ("tvm_ffi",)

    def make(self):
        return self.tvm_ffi.from_dlpack(VALUES.copy())

    def address(self, theirs):
        return theirs.data_ptr() if callable(getattr(theirs, "data_ptr", 0)) else (
            np.from_dlpack(theirs).ctypes.data)  # fmt: skip

    def of_ours(self, ours):
        return self.tvm_ffi.from_dlpack(ours)


class Mpi(Row):
    """MPI's own memory, which is a buffer."""

    needs = ("mpi4py",)
    results = False

    def make(self):
        mpi = importlib.import_module("mpi4py.MPI")
        memory = (
            mpi.memory.allocate(BYTES) if hasattr(mpi, "memory") else mpi.buffer.allocate(BYTES)
        )
        made = memoryview(memory).cast("B").cast("d", SHAPE)
        made_flat = np.frombuffer(memory)
        made_flat[:] = VALUES.ravel()
        return made

    def address(self, theirs):
        return np.asarray(theirs).ctypes.data

    def values(self, theirs):
        return np.asarray(theirs)

    def of_ours(self, ours):
        mpi = importlib.import_module("mpi4py.MPI")
        kind = mpi.memory if hasattr(mpi, "memory") else mpi.buffer
        return np.frombuffer(kind.frombuffer(ours)).reshape(SHAPE)


class Numba(NumPy):
    """What its functions of the host take, after they wrote to it."""

    needs = ("numba",)

    def make(self):
        @self.numba.njit
        def fill(out):
            for k in range(out.size):
                out.flat[k] = k

        made = np.empty(SHAPE)
        fill(made)
        return made


class Buffer(Row):
    results = False

    def make(self):
        return memoryview(array.array("d", VALUES.ravel())).cast("B").cast("d", SHAPE)

    def address(self, theirs):
        return np.asarray(theirs).ctypes.data

    def values(self, theirs):
        return np.asarray(theirs)

    def of_ours(self, ours):
        return memoryview(ours)


ROWS = [NumPy, NumPyByDLPack, Torch, Jax, TensorFlow, TvmFfi, Mpi, Numba, Buffer]


@pytest.fixture(params=ROWS, ids=lambda row: row.__name__)
def row(request):
    made = request.param()
    for name in made.needs:
        setattr(made, name, pytest.importorskip(name))
    return made


def address_in_kernel(theirs):
    return int(np.asarray(ADDRESS(theirs, np.zeros(1, np.int8)))[0])


def test_in(row):
    theirs = row.make()
    assert address_in_kernel(theirs) == row.address(theirs)
    assert np.array_equal(np.asarray(ADD(theirs, np.ones(SHAPE))), VALUES + 1)


def test_out(row):
    if not row.writable:
        if row.needs == ("jax",):
            with pytest.raises(ValueError, match="read-only"):
                ADD(VALUES, 1.0, row.make())
        return
    theirs = row.make()
    before = row.address(theirs)
    assert ADD(VALUES, 1.0, theirs) is theirs
    assert row.address(theirs) == before and np.array_equal(row.values(theirs), VALUES + 1)


def test_result(row):
    theirs = row.make()
    result = ADD(theirs, theirs)
    if not row.results:
        assert isinstance(result, q.ndarray)
        assert np.array_equal(result.get(), 2 * VALUES)
        return
    assert isinstance(result, row.kind(theirs)) and tuple(result.shape) == SHAPE
    assert np.array_equal(row.values(result), 2 * VALUES)
    # The result is an array like any other of the library: it goes in again, without a copy.
    assert address_in_kernel(result) == row.address(result)


def test_taken_as_ours(row):
    theirs = row.make()
    take = q.from_dlpack if hasattr(theirs, "__dlpack__") else q._core.take
    ours = take(theirs)
    assert ours.data.ptr == row.address(theirs) and ours.shape == SHAPE
    del theirs
    assert ours.tolist() == VALUES.tolist()


def test_made_of_ours(row):
    ours = q.array(VALUES)
    theirs = row.of_ours(ours)
    assert row.address(theirs) == ours.data.ptr
    assert np.array_equal(row.values(theirs), VALUES)
    count = sys.getrefcount(ours)
    del ours  # theirs keeps the memory
    assert count >= 2 and np.array_equal(row.values(theirs), VALUES)


def test_through_a_kernel_and_back(row):
    """Ours in their hands, in a kernel, and in ours again: one memory all the way."""
    ours = q.array(VALUES)
    theirs = row.of_ours(ours)
    assert address_in_kernel(theirs) == ours.data.ptr
    take = q.from_dlpack if hasattr(theirs, "__dlpack__") else q._core.take
    assert take(theirs).data.ptr == ours.data.ptr
    ours.fill(7)
    assert np.array_equal(row.values(theirs), np.full(SHAPE, 7.0))
