# SPDX-License-Identifier: MIT
#
# Memory by its address, pinned, mapped and managed memory, how much is in use, and Numba's names
# for arrays; with every refusal. In: addresses. Out: arrays. The thing to know: on the software
# device all memory is the host's, so that arrays of NumPy are memory of another owner.
"""Memory."""

import ctypes
import gc
import inspect
import sys

import numpy as np
import pytest

import pyquern as cp

# ---- memory of others


def test_signatures_are_cupys():
    assert str(inspect.signature(cp.UnownedMemory)) == "(ptr, size, owner, device_id=-1)"
    assert str(inspect.signature(cp.ndarray.__new__)) == (
        "(cls, shape, dtype=<class 'float'>, memptr=None, strides=None, order='C')"
    )
    assert cp.cuda.memory.UnownedMemory is cp.UnownedMemory


@pytest.mark.on_soft
def test_unowned_memory():
    theirs = np.arange(12, dtype="float32")
    alive = sys.getrefcount(theirs)
    memory = cp.UnownedMemory(theirs.ctypes.data, theirs.nbytes, theirs)
    assert (memory.ptr, memory.size) == (theirs.ctypes.data, 48)
    assert memory.device_id == cp.Device().number and memory.device == cp.Device()
    pointer = cp.MemoryPointer(memory, 8)
    assert (pointer.ptr, pointer.mem) == (memory.ptr + 8, memory)
    a = cp.ndarray((2, 5), "float32", memptr=pointer)
    assert a.tolist() == theirs[2:].reshape(2, 5).tolist()
    a[0, 0] = 99
    assert theirs[2] == 99
    del memory, pointer
    gc.collect()
    view = a[1:]
    del a
    gc.collect()
    assert sys.getrefcount(theirs) == alive + 1
    assert view.tolist() == [theirs[7:].tolist()]
    del view
    gc.collect()
    assert sys.getrefcount(theirs) == alive


def test_round_trip():
    ours = cp.arange(6, dtype="int32")
    memory = cp.UnownedMemory(ours.data.ptr, ours.nbytes, ours)
    assert cp.ndarray(6, "int32", cp.MemoryPointer(memory, 0)).tolist() == list(range(6))
    again = cp.ndarray((3,), np.dtype("int32"), ours.data, (8,))
    assert again.tolist() == [0, 2, 4]
    assert cp.ndarray((2, 3), "int32", ours.data, None, "F").tolist() == [[0, 2, 4], [1, 3, 5]]
    turned = ours[::-1]
    back = cp.ndarray(6, "int32", turned.data, (-4,))
    assert turned.data.ptr == ours.data.ptr + 20 and back.tolist() == list(range(6))[::-1]
    assert cp.ndarray(6, "int32", turned.data - 20).tolist() == list(range(6))


def test_pointers_are_numbers_too():
    p = cp.zeros(4).data
    assert (p + 8).ptr == (8 + p).ptr == p.ptr + 8
    assert ((p + 8) - 8).ptr == int(p) == p.ptr
    assert type(p + 8) is cp.MemoryPointer
    p += 16
    assert p.device == cp.Device() and p.device_id == cp.Device().number
    assert hex(p.ptr) in repr(p)
    for wrong in (lambda: p + "x", lambda: 8 - p, lambda: p + p, lambda: p * 2):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(OverflowError):
        p + (1 << 80)


@pytest.mark.parametrize(
    "shape, dtype, offset, strides",
    [
        (5, "int32", 0, None),
        (4, "int32", 4, None),
        (1, "int32", -4, None),
        (3, "int32", 0, (8,)),
        (2, "int32", 0, (-4,)),
        ((2, 2**62), "int8", 0, None),
        ((2**40, 2**40), "int8", 0, None),
    ],
)
def test_beyond_the_memory(shape, dtype, offset, strides):
    p = cp.zeros(4, "int32").data + offset
    with pytest.raises(ValueError, match="of memory that has 16"):
        cp.ndarray(shape, dtype, p, strides)
    assert cp.ndarray((0, 2), dtype, p).size == 0


def test_the_whole_of_a_view():
    x = cp.zeros((4, 4), "int32")
    assert cp.ndarray(4, "int32", x[:, 1].data, (16,)).size == 4
    with pytest.raises(ValueError, match="memory that has 52"):
        cp.ndarray(5, "int32", x[:, 1].data, (16,))


@pytest.mark.parametrize(
    "make, kind, message",
    [
        (lambda: cp.MemoryPointer(3, 0), TypeError, "is no memory: it has no .ptr"),
        (lambda: cp.MemoryPointer(cp.zeros(1).data.mem, "x"), TypeError, "int"),
        (lambda: cp.UnownedMemory(0, -1, None), ValueError, "size is -1"),
        (lambda: cp.UnownedMemory("x", 1, None), ValueError, "int"),
        (lambda: cp.UnownedMemory(0, 1, None, 99), cp.NoDeviceError, "driver|cuda:99"),
        (lambda: cp.ndarray(3, strides=(8,)), ValueError, "strides need memptr"),
        (lambda: cp.ndarray(3, order="Z"), TypeError, "order is 'Z'"),
        (lambda: cp.ndarray(3, memptr=5), TypeError, "MemoryPointer"),
        (lambda: cp.ndarray((1, 1), "int8", cp.zeros(1).data, (1,)), ValueError, "for each dim"),
        (lambda: cp.ndarray(1, "text", cp.zeros(1).data), TypeError, "text"),
    ],
)
def test_refused_memory(make, kind, message):
    with pytest.raises(kind, match=message):
        make()


def test_copies_of_bytes():
    a, b = cp.zeros(4, "int32"), cp.arange(4, dtype="int32")
    a.data.copy_from(b.data, 16)
    assert a.tolist() == [0, 1, 2, 3]
    host = np.array([7, 8], "int32")
    (a.data + 8).copy_from(host.ctypes.data, 8)
    assert a.tolist() == [0, 1, 7, 8]
    a.data.copy_from_host(ctypes.c_void_p(host.ctypes.data), 4)
    a.data.copy_from_host_async(host, 4, cp.Stream())
    back = np.zeros(4, "int32")
    a.data.copy_to_host(back, 16)
    assert back.tolist() == [7, 1, 7, 8]
    stream = cp.Stream()
    a.data.copy_to_host_async(back, 16, stream)
    a.data.copy_from_device_async(b.data, 8, stream)
    a.data.copy_from_device_async(b.data, 8)
    (a.data + 8).memset_async(0, 4, stream)
    (a.data + 12).memset(255, 4)
    stream.synchronize()
    assert a.tolist() == [0, 1, 0, -1]
    a.copy_to_device(b, stream=stream.ptr)  # a handle, as other libraries give it
    stream.synchronize()
    assert a.tolist() == [0, 1, 2, 3]
    b.data.memset_async(0, 4)
    assert b.tolist() == [0, 1, 2, 3]


def test_refused_copies_of_bytes():
    p = cp.zeros(4, "int32").data
    with pytest.raises(ValueError, match="8 bytes of the host for a copy of 16"):
        p.copy_from_host(bytes(8), 16)
    with pytest.raises(ValueError, match="the host's address is 0"):
        p.copy_from_host(0, 16)
    with pytest.raises(ValueError, match="memory that has 16"):
        p.copy_from_host(bytes(32), 32)
    with pytest.raises((TypeError, BufferError)):
        p.copy_to_host(bytes(16), 16)
    with pytest.raises(ValueError):
        p.memset(256, 1)


# ---- kinds of memory


def test_managed_memory():
    p = cp.malloc_managed(32)
    a = cp.ndarray(4, float, p)
    a[...] = cp.arange(4, dtype=float)
    assert p.mem.array.memory == "managed" and a.tolist() == [0, 1, 2, 3]


def test_pinned_memory():
    p = cp.alloc_pinned_memory(64)
    assert p.size() == 64
    host = np.frombuffer(p, float, 8)
    host[:] = range(8)
    assert p.mem.array.memory == "pinned"
    del p
    gc.collect()
    assert host.tolist() == list(range(8))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [3, (), (2, 3), (0, 2)])
def test_arrays_of_numpy_in_pinned_memory(shape, order):
    a = cp.empty_pinned(shape, "int16", order)
    assert type(a) is np.ndarray and a.dtype == np.int16
    assert a.shape == np.zeros(shape).shape
    assert a.flags.c_contiguous if order == "C" else a.flags.f_contiguous
    z = cp.zeros_pinned(shape, order=order)
    assert z.dtype == float and not z.any()
    like = cp.zeros_like_pinned(a)
    assert (like.shape, like.dtype) == (a.shape, a.dtype) and not like.any()


def test_pinned_likes():
    f = np.zeros((2, 3), order="F")
    assert cp.empty_like_pinned(f, order="K").flags.f_contiguous
    assert cp.empty_like_pinned(f, "int8", shape=4).shape == (4,)
    with pytest.raises(TypeError, match="subok"):
        cp.empty_like_pinned(f, subok=True)
    with pytest.raises(TypeError):
        cp.empty_pinned(3, "no dtype")


# ---- how much


def test_statistics():
    pool = cp.get_default_memory_pool()
    before = cp.memory_stats()
    a = cp.empty(1 << 20, "uint8")
    now = cp.memory_stats(cp.Device())
    assert now.used - before.used >= 1 << 20 and now.allocations == before.allocations + 1
    assert now.peak >= now.used and now.held >= now.used
    assert pool.used_bytes() == now.used and pool.total_bytes() == now.held
    assert pool.free_bytes() == now.held - now.used and pool.peak_bytes() == now.peak
    del a
    gc.collect()
    pool.free_all_blocks()
    assert pool.used_bytes() == before.used
    pool.trim(1 << 20)
    host = cp.memory_stats().host
    kept = cp.empty_pinned(1000, "uint8")
    assert cp.memory_stats().host - host >= kept.nbytes
    assert pool.malloc(16).mem.size == 16


def test_a_limit():
    pool = cp.get_default_memory_pool()
    used = pool.used_bytes()
    try:
        pool.set_limit(size=used + 1000)
        assert pool.get_limit() == used + 1000 == cp.memory_stats().limit
        with pytest.raises(cp.DeviceMemoryError, match="limit"):
            cp.empty(1 << 20)
        pool.set_limit(fraction=0.5)
        assert pool.get_limit() == int(cp.Device().memory_bytes * 0.5)
    finally:
        pool.set_limit(0)
    assert pool.get_limit() == 0
    for words in ({}, {"size": 1, "fraction": 0.5}, {"fraction": 2}, {"size": -1}):
        with pytest.raises(ValueError):
            pool.set_limit(**words)
    with pytest.raises(ValueError, match="keep is -1"):
        pool.trim(-1)


# ---- Numba's names


def test_to_device_and_back():
    host = np.arange(6, dtype="float32").reshape(2, 3)
    d = cp.to_device(host)
    assert isinstance(d, cp.ndarray)
    assert d.copy_to_host().tolist() == host.tolist()
    out = np.empty_like(host)
    assert d.copy_to_host(out) is out and out.tolist() == host.tolist()
    stream = cp.Stream()
    assert cp.to_device(host + 1, stream=stream, to=d) is d
    assert d.copy_to_host(stream=stream).tolist() == (host + 1).tolist()
    d.copy_to_device(host)
    e = cp.device_array_like(d)
    e.copy_to_device(d, stream=stream)
    stream.synchronize()
    assert e.tolist() == host.tolist()
    e.copy_to_device(d + 1)
    assert e.tolist() == (host + 1).tolist()
    assert cp.to_device(host, copy=False).shape == (2, 3)
    assert cp.to_device([1, 2]).tolist() == [1, 2]
    fortran = np.asfortranarray(host)
    f = cp.to_device(fortran)
    assert f.strides == fortran.strides and f.tolist() == host.tolist()


@pytest.mark.parametrize(
    "make, memory",
    [(cp.device_array, "device"), (cp.mapped_array, "mapped"), (cp.managed_array, "managed")],
)
def test_new_arrays(make, memory):
    a = make((2, 3), "int32")
    assert (a.shape, a.strides, a.memory) == ((2, 3), (12, 4), memory)
    assert make((2, 3), order="F").strides == (8, 16)
    assert make(3, np.float32).dtype == np.float32
    padded = make((2, 3), "int32", strides=(16, 4))
    padded[...] = 7
    assert padded.strides == (16, 4) and padded.sum().item() == 42
    assert make(0).size == 0 and make((0, 2), strides=(16, 8)).size == 0
    with pytest.raises(TypeError, match="order is 'K'"):
        make(3, order="K")
    with pytest.raises(ValueError, match="a stride for each dimension, and none below 0"):
        make(3, strides=(8, 8))
    with pytest.raises(ValueError, match="a stride for each dimension, and none below 0"):
        make(3, strides=-8)


def test_pinned_arrays():
    assert cp.pinned_array((2, 3), "int8", order="F").flags.f_contiguous
    with pytest.raises(ValueError, match="strides"):
        cp.pinned_array(3, strides=(8,))


def test_split():
    parts = list(cp.arange(7).split(3))
    assert [p.tolist() for p in parts] == [[0, 1, 2], [3, 4, 5], [6]]
    parts[0][...] = 9
    with pytest.raises(ValueError, match="split.. is for one dimension"):
        cp.zeros((2, 2)).split(1)
    with pytest.raises(ValueError, match="section is 0"):
        cp.zeros(2).split(0)


def test_refused_to_device():
    with pytest.raises(TypeError, match="to is <class 'numpy.ndarray'>"):
        cp.to_device([1.0], to=np.zeros(1))
    with pytest.raises(ValueError, match="for one of"):
        cp.to_device([1.0, 2.0], to=cp.zeros(3))
