# SPDX-License-Identifier: MIT
#
# What a call keeps while it works: a stream that it was given by its handle, whatever else is going
# on; and what is said where CuPy's arrays are not as they should be. In: classes that do things in
# the middle of a call. Out: counts of references, messages.
import sys
import types

import numpy as np
import pytest

STREAMS = 40  # more than are remembered


class Handle:
    """Another library's stream."""

    def __init__(self, stream):
        self.stream = stream

    def __cuda_stream__(self):
        return 0, self.stream.ptr


class Theirs:
    """An array of a library that makes outputs by a function of Python."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **words):
        return self.array.__dlpack__(**words)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_a_call_keeps_its_stream(q, monkeypatch):
    double = q.ElementwiseKernel("T x", "T y", "y = x + x")
    given, others = Handle(q.Stream()), [q.Stream() for _ in range(STREAMS)]
    x, y, counts = q.ones(3), q.empty(3), []

    def allocate(like, shape, dtype):
        counts.append(sys.getrefcount(given))
        for other in others:
            double(x, y, stream=other.ptr)
        counts.append(sys.getrefcount(given))
        return Theirs(q.empty(shape, dtype))

    makers = {Theirs.__module__: lambda type_: (allocate, None)}
    monkeypatch.setattr(q._foreign, "_makers", makers)
    before = sys.getrefcount(given)
    assert double(Theirs(x), stream=given).array.tolist() == [2, 2, 2]
    assert counts[1] == counts[0], "the stream was let go while the call had it"
    for other in others:
        double(x, y, stream=other.ptr)
    assert sys.getrefcount(given) == before


# ---- CuPy's --------------------------------------------------------------------------------------


@pytest.fixture
def cupy(monkeypatch):
    """A module of that name; its class is new for each test, since types are remembered."""

    class ndarray:
        def __init__(self, **fields):
            for name, value in fields.items():
                setattr(self, name, value)

    made, cuda = types.ModuleType("cupy"), types.ModuleType("cupy.cuda")
    made.ndarray, made.cuda = ndarray, cuda
    monkeypatch.setitem(sys.modules, "cupy", made)
    monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)
    return made


def memory(**fields):
    return types.SimpleNamespace(**fields)


@pytest.mark.parametrize(
    "data, kind, says",
    [
        (None, AttributeError, "'NoneType' object has no attribute 'ptr'"),
        (memory(), AttributeError, "no attribute 'ptr'"),
        (memory(ptr="here"), TypeError, "an integer is required"),
        (memory(ptr=-1), OverflowError, "negative"),
        (memory(ptr=64), AttributeError, "no attribute 'device_id'"),
        (memory(ptr=64, device_id=0), AttributeError, "no attribute 'shape'"),
    ],
)
def test_arrays_of_cupy_that_lack_something(q, cupy, data, kind, says):
    copy = q.ElementwiseKernel("T x", "T y", "y = x")
    with pytest.raises(kind, match=says):
        copy(cupy.ndarray(data=data))


@pytest.mark.on_gpu
def test_a_cupy_that_names_no_stream(q, cupy):
    """Its arrays are ours here, so that no CuPy is needed."""
    ours = q.ones(3)
    like = {"shape": (3,), "dtype": np.dtype("float64"), "flags": None}
    array = cupy.ndarray(data=memory(ptr=ours.data.ptr, device_id=0), **like)
    array._c_contiguous = True
    with pytest.raises(AttributeError, match="cupy.cuda has no get_current_stream"):
        q.ElementwiseKernel("T x", "T y", "y = x")(array)
