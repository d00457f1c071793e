# SPDX-License-Identifier: MIT
#
# Whose memory an array is over: .base and flags.owndata beside NumPy's, and __array_interface__,
# by which NumPy reads memory that the host can touch. In: arrays of each layout, dtype and kind of
# memory. Out: nothing. The thing to know: np.asarray() of an array takes its buffer, so the
# interface is given to NumPy by an object that has nothing else.
import array
import gc
import itertools
import sys
import types
import weakref

import numpy as np
import pytest

DTYPES = "? b h i l q B H I L Q e f d F D".split()
MEMORIES = ["device", "pinned", "mapped", "managed"]


def on_host(q, memory):
    return memory != "device" or not q.Device().is_gpu


def read(a):
    """What NumPy makes of the interface alone."""
    return np.asarray(types.SimpleNamespace(__array_interface__=a.__array_interface__))


# ---- base and owndata ----------------------------------------------------------------------------

# What gives a view of an array of shape (3, 4, 5), in NumPy and here.
VIEWS = {
    "slice": lambda x: x[1:],
    "backwards": lambda x: x[::-1, ::2],
    "index": lambda x: x[1],
    "number": lambda x: x[1, 2, 3:4].reshape(()),
    "all": lambda x: x[...],
    "new axis": lambda x: x[:, None],
    "nothing": lambda x: x[:0],
    "T": lambda x: x.T,
    "transpose": lambda x: x.transpose(*range(x.ndim)[::-1]),
    "reshape": lambda x: x.reshape(x.shape),
    "reshape, order F": lambda x: x.T.reshape(x.shape[::-1], order="F"),
    "squeeze": lambda x: x[:1].squeeze(),
    "view": lambda x: x.view(),
    "view of a dtype": lambda x: x.view("int32"),
}


@pytest.mark.parametrize("second", VIEWS)
@pytest.mark.parametrize("first", VIEWS)
def test_views_of_views(q, first, second):
    """The base of a view is what has the memory, and not a view of that."""
    x, a = np.zeros((3, 4, 5), "float32"), q.zeros((3, 4, 5), "float32")
    try:
        want = VIEWS[second](VIEWS[first](x))
    except (ValueError, IndexError) as error:
        with pytest.raises(type(error)):
            VIEWS[second](VIEWS[first](a))
        return
    got = VIEWS[second](VIEWS[first](a))
    if want.base is x:
        assert got.base is a
    else:  # no view has that shape: a copy, whose own view NumPy gives
        assert got.base is None
    assert got.flags.owndata == got.flags["OWNDATA"] == (got.base is None)
    assert a.base is None and a.flags.owndata


def test_more_views(q):
    a = q.zeros((1, 4))
    for view in (a.broadcast_to((3, 4)), a.as_read_only(), *a.ravel().split(2), next(iter(a))):
        assert view.base is a and not view.flags.owndata
        assert view[...].base is a


NEW = {
    "empty": lambda q: q.empty((2, 3)),
    "zeros": lambda q: q.zeros(0),
    "managed": lambda q: q.empty((2, 3), memory="managed"),
    "ndarray": lambda q: q.ndarray((2, 3), order="F"),
    "array": lambda q: q.array([1, 2]),
    "of a list": lambda q: q.asarray([1, 2]),
    "copy": lambda q: q.zeros((2, 3)).T.copy("F"),
    "copy of a view": lambda q: q.zeros((2, 3))[1:].copy(),
    "astype": lambda q: q.zeros((2, 3)).T.astype("int8"),
    "astype, order F": lambda q: q.zeros((2, 3)).astype("int8", "F"),
    "reshape": lambda q: q.zeros((2, 3)).T.reshape(6),
    "reshape, order F": lambda q: q.zeros((2, 3)).reshape(6, order="F"),
    "reshape, copied": lambda q: q.zeros((2, 3)).reshape(6, copy=True),
    "device_array": lambda q: q.device_array((2, 3), order="F"),
    "operator": lambda q: q.zeros(3) + 1,
    "sum": lambda q: q.zeros(3).sum(),
    "another device": lambda q: q.zeros(3).to("soft:1"),
    "output": lambda q: q.ElementwiseKernel("T x", "T y", "y = x")(q.zeros(3)),
}


@pytest.mark.parametrize("make", NEW)
def test_owners(q, make):
    a = NEW[make](q)
    assert a.base is None and a.flags.owndata
    assert "OWNDATA : True" in repr(a.flags)


@pytest.mark.on_soft
def test_memory_of_others(q):
    """Of what was made over an object's memory that is the base; of its views the array is."""
    numbers = np.arange(6.0)
    kept = array.array("d", numbers)
    for theirs in (numbers, numbers[1:], kept, memoryview(kept)):
        a = q._core.take(theirs)
        assert a.base is theirs and not a.flags.owndata
        assert a[1:].base is a and a[1:].T.base is a

    class Capsules:
        def __dlpack__(self, **words):
            return numbers.__dlpack__(**words)

    theirs = Capsules()
    assert q.from_dlpack(theirs).base is theirs
    capsule = numbers.__dlpack__()
    a = q.from_dlpack(capsule)
    assert a.base is capsule and not a.flags.owndata and a[::2].tolist() == [0, 2, 4]


def test_memory_by_its_address(q):
    x = q.arange(6.0)
    memory = q.UnownedMemory(x.pointer, x.nbytes, x)
    for a in (
        q.ndarray((2, 3), float, q.MemoryPointer(memory, 0)),
        q.ndarray((2, 3), float, q.MemoryPointer(memory, 0), order="F"),
    ):
        assert a.base is memory and not a.flags.owndata
        assert a.T.base is a


def test_bases_are_kept_and_let_go(q):
    class Memory(q.UnownedMemory):
        pass

    x = q.arange(6.0)
    before = sys.getrefcount(x)
    views = [x[k:] for k in range(3)] + [x[1:][1:]]
    assert sys.getrefcount(x) == before + 4
    del views
    assert sys.getrefcount(x) == before
    memory = Memory(x.pointer, x.nbytes, x)
    gone = weakref.ref(memory)
    a = q.ndarray(3, float, q.MemoryPointer(memory, 8))[1:]
    del memory
    assert gone() is a.base.base and a.tolist() == [2, 3]
    del a
    gc.collect()
    assert gone() is None


# ---- __array_interface__ -------------------------------------------------------------------------

LAYOUTS = {
    "C": lambda x: x,
    "Fortran": lambda x: x.T,
    "gaps": lambda x: x[:, ::2],
    "backwards": lambda x: x[::-1, 1:],
    "repeated axis": lambda x: x[:, None],
    "0-d": lambda x: x[1, 2],
    "no elements": lambda x: x[:, :0],
}


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(q, layout, memory):
    a = q.empty((3, 4), "int32", memory)
    if not on_host(q, memory):
        assert not hasattr(LAYOUTS[layout](a), "__array_interface__")
        return
    a[...] = np.arange(12, dtype="int32").reshape(3, 4)
    a, x = LAYOUTS[layout](a), LAYOUTS[layout](np.arange(12, dtype="int32").reshape(3, 4))
    got, want = a.__array_interface__, x.__array_interface__
    for key in ("shape", "typestr", "version"):
        assert got[key] == want[key], key
    if x.size:
        assert got["strides"] == (want["strides"] or None)
        assert got["data"] == (a.pointer if memory != "mapped" else got["data"][0], False)
    assert a.flags.c_contiguous == (got["strides"] is None)
    seen = read(a)
    assert (seen.shape, seen.dtype) == (x.shape, x.dtype)
    np.testing.assert_array_equal(seen, x)
    if x.size:
        seen[...] = 7
        assert a.get().max() == a.get().min() == 7, "NumPy has a copy"


@pytest.mark.parametrize("code", DTYPES)
def test_dtypes(q, code):
    a = q.empty(3, code, "managed")
    x = np.zeros(3, code)
    assert a.__array_interface__["typestr"] == x.__array_interface__["typestr"]
    assert read(a).dtype == x.dtype


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_dtypes_without_a_typestr(q, name):
    """As of their buffers, there is none; NumPy goes on to __array__(), which copies."""
    a = q.empty(3, name, "managed")
    assert not hasattr(a, "__array_interface__")
    with pytest.raises(AttributeError, match=f"NumPy has no typestr for {name}"):
        _ = a.__array_interface__
    with pytest.raises(BufferError):
        memoryview(a)


@pytest.mark.parametrize("memory", MEMORIES[1:])
def test_read_only(q, memory):
    a = q.empty((2, 3), "float32", memory)
    a[...] = 4
    for fixed in (a.as_read_only(), a.as_read_only().T[1:], a.T.as_read_only()):
        assert fixed.__array_interface__["data"][1] is True
        seen = read(fixed)
        assert not seen.flags.writeable and (seen == 4).all()
    assert a.__array_interface__["data"][1] is False and read(a).flags.writeable


@pytest.mark.on_soft
def test_interfaces_of_memory_of_others(q):
    x = np.arange(12.0).reshape(3, 4)
    for theirs, writeable in itertools.product((x, x.T, x[1:, ::-2], x[:0]), (True, False)):
        theirs = theirs[...]
        theirs.flags.writeable = writeable
        a = q.asarray(theirs)
        got, want = a.__array_interface__, theirs.__array_interface__
        for key in ("shape", "typestr", "version"):
            assert got[key] == want[key]
        if theirs.size:
            assert (got["strides"], got["data"]) == (want["strides"], want["data"])
        assert got["data"][1] is not writeable


@pytest.mark.on_gpu
def test_memory_of_a_gpu_has_no_interface(q):
    a = q.zeros(3)
    with pytest.raises(AttributeError, match=r"in memory of a GPU.*copy it by .get\(\)"):
        _ = a.__array_interface__
    with pytest.raises(TypeError, match="on a GPU"):
        np.asarray(a)


def test_numpy_takes_its_time(q):
    """Work that is queued is done when NumPy reads."""
    a = q.empty(1 << 20, "float32", "managed")
    with q.Stream(non_blocking=True):
        a[...] = 3
        q.ElementwiseKernel("T x", "T y", "y = 2 * x")(a, a)
        assert (read(a) == 6).all()
