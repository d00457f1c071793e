# SPDX-License-Identifier: MIT
#
# Memory, with CuPy's names: pointers, memory of other owners, allocators, pinned and managed
# memory, and how much is in use. In: addresses, functions. Out: pointers, arrays, numbers. The
# thing to know: allocators, limits and numbers are those of one device, the thread's own unless
# told.
"""Memory by its address, and where arrays get theirs."""

from collections import namedtuple

from . import _core
from ._device import Device

MemoryStats = namedtuple("MemoryStats", "used held peak allocations limit host")
MemoryStats.__doc__ = """Bytes of arrays; those and what the pool keeps; the most that was used;
pieces of memory; the limit, 0 for none; bytes of pinned and mapped arrays."""


class _ArrayMemory:
    """The memory that an array's elements span; its first one is at `offset`."""

    __slots__ = ("array", "offset", "size")

    def __init__(self, array):
        self.array = array
        reach = (
            [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)]
            if array.size
            else []
        )
        self.offset = -sum(r for r in reach if r < 0)
        self.size = sum(map(abs, reach)) + array.itemsize if array.size else 0

    ptr = property(lambda self: self.array.pointer - self.offset)
    _place = property(lambda self: self.array._place)
    device = property(lambda self: Device._at(self._place))
    device_id = property(lambda self: self.device.number)


class UnownedMemory:
    """`size` bytes at address `ptr` that somebody else allocated: `owner`, which is kept.

    >>> import pyquern
    >>> theirs = pyquern.arange(4.0)
    >>> memory = UnownedMemory(theirs.pointer, theirs.nbytes, theirs)
    >>> pyquern.ndarray(2, float, MemoryPointer(memory, 16)).get()
    array([2., 3.])
    """

    def __init__(self, ptr, size, owner, device_id=-1):
        if size < 0:
            raise ValueError(f"size is {size}: it is a number of bytes")
        self.ptr = int(ptr)
        self.size = int(size)
        self._owner = owner
        device = Device(device_id if device_id >= 0 else None)
        if device_id < 0 and device.is_gpu and self.ptr:
            number = _core.pointer_info(self.ptr)[1]
            device = Device(number) if number >= 0 else device
        self._place = device._place

    @property
    def device(self):
        return Device._at(self._place)

    @property
    def device_id(self):
        return self.device.number

    def __repr__(self):
        return f"<UnownedMemory of {self.size} bytes at {self.ptr:#x}>"


class MemoryPointer(_core.MemoryPointer):
    """`offset` bytes into memory, which it keeps. Numbers can be added to it."""

    __slots__ = ()

    @property
    def device(self):
        return Device._at(self._place)

    @property
    def device_id(self):
        return self.device.number

    def _bytes(self, size):
        return _core.wrap_memory(self, size, None, "uint8")

    def copy_from_device(self, src, size):
        """Copy `size` bytes from another MemoryPointer, on the current stream."""
        self._bytes(size)._assign(src._bytes(size))

    def copy_from_host(self, mem, size):
        """Copy `size` bytes from the host: an address, or an object with a buffer. Waits."""
        self._bytes(size)._write(_host(mem, size))

    def copy_from(self, mem, size):
        """Copy `size` bytes from a MemoryPointer or from the host."""
        if isinstance(mem, _core.MemoryPointer):
            self.copy_from_device(mem, size)
        else:
            self.copy_from_host(mem, size)

    def copy_to_host(self, mem, size):
        """Copy `size` bytes to the host: an address, or an object with a buffer. Waits."""
        self._bytes(size)._read(_host(mem, size))

    def copy_from_host_async(self, mem, size, stream=None):
        """The same on a stream, without a wait: the host's memory must stay until it is done."""
        self._bytes(size)._write(_host(mem, size), stream, False)

    def copy_to_host_async(self, mem, size, stream=None):
        """The same on a stream, without a wait: the host's memory must stay until it is done."""
        self._bytes(size)._read(_host(mem, size), stream, False)

    def copy_from_device_async(self, src, size, stream=None):
        """The same on a stream."""
        self._bytes(size)._assign(src._bytes(size), stream)

    def memset(self, value, size):
        """Set `size` bytes to `value`, on the current stream."""
        self._bytes(size)._fill(bytes([value]))

    def memset_async(self, value, size, stream=None):
        """The same on a stream."""
        self._bytes(size)._fill(bytes([value]), stream)

    def __repr__(self):
        return f"<MemoryPointer {self.ptr:#x} on {self.device.id}>"


def _host(mem, size):
    """`size` bytes of the host as a buffer."""
    import ctypes  # late: it would be a third of what importing the package costs

    if isinstance(mem, ctypes.c_void_p):
        mem = mem.value or 0
    if isinstance(mem, int):
        if not mem:
            raise ValueError("the host's address is 0")
        return (ctypes.c_char * size).from_address(mem)
    view = memoryview(mem).cast("B")
    if len(view) < size:
        raise ValueError(f"{len(view)} bytes of the host for a copy of {size}")
    return view[:size]


def pointer_to(array):
    """The MemoryPointer to the first element of an array: what `array.data` is."""
    memory = _ArrayMemory(array)
    return MemoryPointer(memory, memory.offset)


# ---- allocating --------------------------------------------------------------------------------


def alloc(size):
    """`size` bytes of device memory, as a MemoryPointer."""
    return pointer_to(_core.empty(size, "uint8", "device"))


def malloc_managed(size):
    """`size` bytes of managed memory, which moves to where it is used, as a MemoryPointer."""
    return pointer_to(_core.empty(size, "uint8", "managed"))


class PinnedMemoryPointer(MemoryPointer):
    """Page-locked memory of the host. It has a buffer, so that numpy.frombuffer takes it."""

    __slots__ = ()

    def size(self):
        return self.mem.size

    def __buffer__(self, flags):
        return memoryview(self.mem.array)


def alloc_pinned_memory(size):
    """`size` bytes of page-locked memory of the host.

    >>> import numpy
    >>> numpy.frombuffer(alloc_pinned_memory(16), float, 2).shape
    (2,)
    """
    return PinnedMemoryPointer(_ArrayMemory(_core.empty(size, "uint8", "pinned")), 0)


def _numpy_over(shape, dtype, order, memory):
    import numpy

    dtype = numpy.dtype(dtype)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    count = 1
    for extent in shape:
        count *= extent
    array = _core.empty(count * dtype.itemsize, "uint8", memory)
    return numpy.asarray(array).view(dtype).reshape(shape, order=order)


def empty_pinned(shape, dtype=float, order="C"):
    """An array of NumPy in page-locked memory, its elements undefined."""
    return _numpy_over(shape, dtype, order, "pinned")


def zeros_pinned(shape, dtype=float, order="C"):
    """An array of NumPy in page-locked memory, its elements 0."""
    made = empty_pinned(shape, dtype, order)
    made[...] = 0
    return made


def empty_like_pinned(a, dtype=None, order="C", subok=None, shape=None):
    """As empty_pinned(), with the shape and the dtype of `a` where none is given."""
    if subok:
        raise TypeError("subok: arrays of NumPy's subclasses are not made")
    return empty_pinned(
        a.shape if shape is None else shape, a.dtype if dtype is None else dtype, _order(a, order)
    )


def zeros_like_pinned(a, dtype=None, order="C", subok=None, shape=None):
    """As zeros_pinned(), with the shape and the dtype of `a` where none is given."""
    made = empty_like_pinned(a, dtype, order, subok, shape)
    made[...] = 0
    return made


def _order(a, order):
    if order in ("K", "A"):
        fortran = a.ndim > 1 and a.strides[0] < a.strides[-1]
        return "F" if fortran else "C"
    return order


# ---- allocators --------------------------------------------------------------------------------


class CFunctionAllocator:
    """Device memory from functions of C, by their addresses:

    ``void *malloc_func(void *param, size_t size, int device_id)`` and ``void free_func(void *param,
    void *pointer, int device_id)``. `owner` is kept as long as any of their memory is in use.
    """

    def __init__(self, param, malloc_func, free_func, owner):
        self._parts = (param, malloc_func, free_func, owner)

    def _install(self, place):
        _core.allocator_c(place, *self._parts)

    def malloc(self, size):
        """What set_allocator() takes: `size` bytes, as a MemoryPointer."""
        with using_allocator(self):
            return alloc(size)


class PythonFunctionAllocator:
    """Device memory from functions of Python: ``malloc_func(size, device_id)`` returns an address,
    and ``free_func(address, device_id)`` takes it back."""

    def __init__(self, malloc_func, free_func):
        for function in (malloc_func, free_func):
            if not callable(function):
                raise TypeError(f"{type(function)} cannot be called")
        self._parts = (malloc_func, free_func)

    def _install(self, place):
        _core.allocator_python(place, *self._parts, False)

    def malloc(self, size):
        """What set_allocator() takes: `size` bytes, as a MemoryPointer."""
        with using_allocator(self):
            return alloc(size)


class PooledAllocator:
    """Device memory from a pool that keeps the order of streams: ``malloc_func(size, device_id,
    stream_ptr)`` returns an address, and ``free_func(address, device_id)`` takes it back in that
    stream's order; or it is None, and `malloc_func` returns an object that has `.ptr` and frees the
    memory at its end."""

    def __init__(self, malloc_func, free_func=None):
        self._parts = (malloc_func, free_func)

    def _install(self, place):
        _core.allocator_python(place, *self._parts, True)


class LibraryAllocator:
    """Device memory from a shared library, by the names of two functions that it exports, as those
    for PyTorch: ``void *allocate(size_t, int device, stream)`` and ``void release(void *, size_t,
    int device, stream)``. No Python is in the way, and they must not throw."""

    def __init__(self, path, allocate="allocate", release="deallocate"):
        self._parts = (str(path), allocate, release)

    def _install(self, place):
        _core.allocator_library(place, *self._parts)


class _Function:
    """An allocator in CuPy's manner: a function from a size to an object with `.ptr`."""

    def __init__(self, function):
        self.function = function

    def _install(self, place):
        _core.allocator_python(place, self.function, None, False)


_allocators = {}  # by device: what was set


def _install(place, allocator):
    if allocator is None:
        _core.allocator_none(place)
    else:
        allocator._install(place)
    _allocators[place] = allocator


def set_allocator(allocator=None):
    """Let new arrays of the thread's device have their memory from `allocator`.

    It is a CFunctionAllocator, a PythonFunctionAllocator, a PooledAllocator or a LibraryAllocator,
    the `malloc` of one, or a function from a size to an object that has `.ptr`; None is the
    device's own pool. Memory goes back to where it came from.
    """
    allocator = getattr(allocator, "__self__", None) or allocator
    if allocator is not None and not hasattr(allocator, "_install"):
        if not callable(allocator):
            raise TypeError(f"{type(allocator)} is no allocator, and cannot be called")
        allocator = _Function(allocator)
    _install(Device()._place, allocator)


def get_allocator():
    """What set_allocator() set for the thread's device; None: nothing."""
    allocator = _allocators.get(Device()._place)
    return allocator.function if isinstance(allocator, _Function) else allocator


class using_allocator:
    """set_allocator() for a block, and then what was before: for all threads of the device.

    >>> with using_allocator(None):  # the device's own pool
    ...     pass
    """

    def __init__(self, allocator=None):
        self._allocator = allocator
        self._before = []

    def __enter__(self):
        place = Device()._place
        self._before.append((place, _allocators.get(place)))
        set_allocator(self._allocator)
        return self

    def __exit__(self, *unused):
        _install(*self._before.pop())


# ---- how much ----------------------------------------------------------------------------------


def memory_stats(device=None):
    """What the device has of its memory: a MemoryStats.

    >>> memory_stats().used >= 0
    True
    """
    return MemoryStats(*_core.memory_stats(Device(device)._place))


class MemoryPool:
    """A device's memory with the names of CuPy's pools; get_default_memory_pool() makes it."""

    def __init__(self, device=None):
        self._place = Device(device)._place

    def _stats(self):
        return MemoryStats(*_core.memory_stats(self._place))

    def malloc(self, size):
        with Device._at(self._place):
            return alloc(size)

    def used_bytes(self):
        """Bytes that are in use."""
        return self._stats().used

    def total_bytes(self):
        """Those, and what is kept for later."""
        return self._stats().held

    def free_bytes(self):
        """What is kept for later."""
        stats = self._stats()
        return stats.held - stats.used

    def peak_bytes(self):
        """The most that was in use at one time."""
        return self._stats().peak

    def free_all_blocks(self, stream=None):
        """Give back to the device what is kept for later. Waits for the device."""
        self.trim(0)

    def trim(self, keep=0):
        """Give back what is kept for later, until at most `keep` bytes are held. Waits."""
        _core.memory_trim(self._place, keep)

    def get_limit(self):
        """How many bytes may be used at one time; 0: as many as there are."""
        return self._stats().limit

    def set_limit(self, size=None, fraction=None):
        """Refuse to use more than `size` bytes, or this `fraction` of the device's memory."""
        if (size is None) == (fraction is None):
            raise ValueError("give the limit as size or as fraction")
        if fraction is not None:
            if not 0 <= fraction <= 1:
                raise ValueError(f"fraction is {fraction}: it must be 0 to 1")
            size = int(Device._at(self._place).memory_bytes * fraction)
        _core.memory_limit(self._place, size)


def get_default_memory_pool():
    """The memory of the thread's device, with the names of CuPy's pools."""
    return MemoryPool()
