# SPDX-License-Identifier: MIT
#
# Allocators: functions of Python and of C, libraries, and what goes wrong in them. In: ctypes'
# functions. Out: arrays in their memory. The thing to know: on the software device all memory is
# the host's, so that aligned_alloc() will do.
"""Allocators."""

import ctypes
import gc
import sys
import threading

import pytest

import pyquern as cp

libc = ctypes.CDLL(None)
libc.aligned_alloc.restype = ctypes.c_void_p
libc.aligned_alloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]


def allocate(bytes_):
    return libc.aligned_alloc(256, (bytes_ + 255) & ~255)


class Counted:
    """Functions of Python that allocate, and what was asked of them."""

    def __init__(self):
        self.live, self.sizes = {}, []

    def malloc(self, size, device_id):
        assert device_id == 0
        pointer = allocate(size)
        self.live[pointer] = size
        self.sizes.append(size)
        return pointer

    def free(self, pointer, device_id):
        del self.live[pointer]
        libc.free(pointer)


@pytest.mark.on_soft
def test_an_allocator_in_python():
    counted = Counted()
    allocator = cp.PythonFunctionAllocator(counted.malloc, counted.free)
    with cp.using_allocator(allocator.malloc):
        assert cp.get_allocator() is allocator
        a = cp.full(100, 3)
        assert a.data.ptr in counted.live and counted.sizes[0] >= 800
        b = a + a
        assert b.data.ptr in counted.live
    assert cp.get_allocator() is None
    assert cp.zeros(10).data.ptr not in counted.live
    assert b.sum().item() == 600
    del a, b
    gc.collect()
    assert not counted.live


@pytest.mark.on_soft
def test_what_launches_keep_goes_with_the_allocator():
    """Reductions and scans have memory that no array is of, for their next launch."""
    counted = Counted()
    sums = cp.ScanKernel("T x", "T y", "x", "a + b", "y = a", "0")
    with cp.using_allocator(cp.PythonFunctionAllocator(counted.malloc, counted.free).malloc):
        a = cp.ones(1 << 20, "float32")
        assert a.sum().item() == sums(a)[-1].item() == 1 << 20
        del a
        gc.collect()
        assert counted.live
    assert not counted.live


@pytest.mark.on_soft
def test_an_allocator_in_c():
    malloc_type = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    free_type = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
    seen = []

    def malloc(param, size, device):
        seen.append((param, device))
        return allocate(size)

    def free(param, pointer, device):
        seen.append(("free", param))
        libc.free(pointer)

    owner = (malloc_type(malloc), free_type(free))
    alive = sys.getrefcount(owner)
    addresses = [ctypes.cast(f, ctypes.c_void_p).value for f in owner]
    allocator = cp.CFunctionAllocator(42, *addresses, owner)
    cp.set_allocator(allocator.malloc)
    try:
        a = cp.ones(10)
    finally:
        cp.set_allocator()
    assert seen == [(42, 0)]
    del a, allocator
    gc.collect()
    assert seen == [(42, 0), ("free", 42)]
    cp.zeros(1)
    for _ in range(16):  # others follow before it is surely not asked any more
        with cp.using_allocator(cp.PythonFunctionAllocator(print, print)):
            pass
    assert sys.getrefcount(owner) == alive


@pytest.mark.on_soft
def test_an_allocator_in_cupys_manner():
    """A function from a size to an object with .ptr, which stays until the memory is given back."""
    alive = []

    class Memory:
        def __init__(self, size):
            self.ptr = allocate(size)
            alive.append(self.ptr)

        def __del__(self):
            alive.remove(self.ptr)
            libc.free(self.ptr)

    with cp.using_allocator(lambda size: Memory(size)):
        a = cp.ones(10)
    assert alive == [a.data.ptr]
    del a
    gc.collect()
    assert not alive


@pytest.mark.on_soft
def test_direct_allocation():
    counted = Counted()
    p = cp.PythonFunctionAllocator(counted.malloc, counted.free).malloc(100)
    assert p.ptr in counted.live
    del p
    gc.collect()
    assert not counted.live


@pytest.mark.on_soft
def test_a_pool_is_told_the_stream():
    told = []
    counted = Counted()

    def malloc(size, device_id, stream):
        told.append((device_id, stream))
        return counted.malloc(size, device_id)

    stream = cp.Stream()
    double = cp.ElementwiseKernel("T x", "T y", "y = 2 * x")
    with cp.using_allocator(cp.PooledAllocator(malloc, counted.free)):
        x = cp.ones(3)
        with stream:
            y = double(x)
    assert told == [(0, told[0][1]), (0, stream.ptr)] and told[0][1] != stream.ptr
    assert y.data.ptr in counted.live
    del x, y
    gc.collect()
    assert not counted.live


@pytest.mark.on_soft
@pytest.mark.parametrize("use", [cp.use_torch_pool, cp.use_cupy_pool, cp.use_rmm])
def test_pools_of_others_are_of_gpus(use):
    with pytest.raises(ValueError, match="holds memory of GPUs, and the thread's device is soft"):
        use()


def test_an_allocator_that_fails():
    def malloc(size, device_id):
        raise ZeroDivisionError("no memory today")

    with cp.using_allocator(cp.PythonFunctionAllocator(malloc, print)):
        with pytest.raises(cp.DeviceMemoryError) as failure:
            cp.empty(10)
    assert isinstance(failure.value.__cause__, ZeroDivisionError)
    assert isinstance(failure.value, MemoryError)
    for give, cause in ((None, "int"), (0, "gave no memory"), ("x", "int")):
        with cp.using_allocator(cp.PythonFunctionAllocator(lambda s, d, g=give: g, print)):
            with pytest.raises(cp.DeviceMemoryError) as failure:
                cp.empty(10)
        assert cause in str(failure.value.__cause__)
    with cp.using_allocator(lambda size: 5), pytest.raises(cp.DeviceMemoryError) as failure:
        cp.empty(10)
    assert isinstance(failure.value.__cause__, AttributeError)
    cp.empty(10)


@pytest.mark.on_soft
def test_memory_that_is_not_aligned():
    freed = []
    allocator = cp.PythonFunctionAllocator(
        lambda size, device: 0x1001, lambda pointer, device: freed.append(pointer)
    )
    with cp.using_allocator(allocator), pytest.raises(cp.DeviceMemoryError) as failure:
        cp.empty(10)
    assert "not aligned to" in str(failure.value.__cause__) and freed[0] == 0x1001


@pytest.mark.on_soft
def test_a_free_that_fails(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: told.append(args.exc_type))

    def free(pointer, device_id):
        libc.free(pointer)
        raise ZeroDivisionError

    with cp.using_allocator(cp.PythonFunctionAllocator(lambda s, d: allocate(s), free)):
        a = cp.ones(3)
    del a
    gc.collect()
    assert told == [ZeroDivisionError]


def test_using_allocators_in_one_another():
    first = cp.PythonFunctionAllocator(lambda s, d: allocate(s), lambda p, d: libc.free(p))
    second = cp.PythonFunctionAllocator(lambda s, d: allocate(s), lambda p, d: libc.free(p))
    with pytest.raises(ZeroDivisionError), cp.using_allocator(first):
        with cp.using_allocator(second):
            assert cp.get_allocator() is second
            with cp.using_allocator(None):
                assert cp.get_allocator() is None
        assert cp.get_allocator() is first
        raise ZeroDivisionError
    assert cp.get_allocator() is None


@pytest.mark.parametrize(
    "make, kind, message",
    [
        (lambda: cp.set_allocator(5), TypeError, "is no allocator, and cannot be called"),
        (lambda: cp.PythonFunctionAllocator(5, print), TypeError, "cannot be called"),
        (lambda: cp.PythonFunctionAllocator(print, 5), TypeError, "cannot be called"),
        (lambda: cp.set_allocator(cp.CFunctionAllocator(0, 0, 0, None)), ValueError, "not 0"),
        (lambda: cp.set_allocator(cp.CFunctionAllocator("x", 1, 1, None)), TypeError, "int"),
        (lambda: cp.set_allocator(cp.LibraryAllocator("/none.so")), OSError, "none.so"),
        (
            lambda: cp.set_allocator(cp.LibraryAllocator("libc.so.6", "malloc", "fere")),
            cp.NoSuchNameError,
            "fere",
        ),
    ],
)
def test_refused_allocators(make, kind, message):
    with pytest.raises(kind, match=message):
        make()
    assert cp.get_allocator() is None
    assert cp.ones(3).tolist() == [1, 1, 1]


@pytest.mark.on_soft
def test_threads_that_change_allocators():
    counted, wrong = Counted(), []
    allocator = cp.PythonFunctionAllocator(counted.malloc, counted.free)
    interval = sys.getswitchinterval()

    def work():
        try:
            for k in range(200):
                with cp.using_allocator(allocator):
                    if cp.full(4, k).tolist() != [k] * 4:
                        wrong.append(k)
        except cp.Error as failure:
            wrong.append(failure)

    threads = [threading.Thread(target=work) for _ in range(8)]
    try:
        sys.setswitchinterval(1e-5)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
        cp.set_allocator()
    assert not wrong
    gc.collect()
    assert not counted.live
