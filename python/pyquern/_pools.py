# SPDX-License-Identifier: MIT
#
# Memory of one GPU from the pool of another library, so that what the one has freed the other can
# use. In: the library, which must be there. Out: an allocator of the thread's device. The thing to
# know: these pools give memory out in the order of a stream, so each is told the stream that an
# array is made on.
"""The pools of PyTorch, CuPy and RMM."""

from ._device import Device
from ._memory import PooledAllocator, set_allocator


def _check(whose):
    device = Device()
    if not device.is_gpu:
        raise ValueError(f"{whose} holds memory of GPUs, and the thread's device is {device.id}")


def use_torch_pool():
    """New arrays of the thread's GPU have their memory from PyTorch's caching allocator.

    Memory that is freed can then be used by either; torch.cuda.memory_allocated() counts it. Undone
    by set_allocator(None).
    """
    _check("PyTorch's caching allocator")
    import torch

    torch.cuda.init()
    set_allocator(
        PooledAllocator(
            torch.cuda.caching_allocator_alloc,
            lambda pointer, device: torch.cuda.caching_allocator_delete(pointer),
        )
    )


def use_cupy_pool(pool=None):
    """New arrays of the thread's GPU have their memory from a pool of CuPy, its default one unless
    told otherwise. Undone by set_allocator(None)."""
    _check("CuPy's pool")
    import cupy

    pool = cupy.get_default_memory_pool() if pool is None else pool

    def malloc(size, device, stream):
        with cupy.cuda.Device(device), cupy.cuda.ExternalStream(stream, device):
            return pool.malloc(size)

    set_allocator(PooledAllocator(malloc, None))


class _Handle:
    """A stream by its handle, for those who ask for the protocol."""

    def __init__(self, handle):
        self._handle = handle

    def __cuda_stream__(self):
        return (0, self._handle)


def use_rmm():
    """New arrays of the thread's GPU have their memory from RMM: from the resource of that GPU that
    is current when they are made. Undone by set_allocator(None).

    It goes through RMM's Python interface: what RMM exports for PyTorch throws C++ exceptions when
    memory is short, which would end the process."""
    _check("RMM")
    import rmm
    from rmm.pylibrmm.stream import DEFAULT_STREAM, Stream

    def malloc(size, device, stream):
        order = Stream(_Handle(stream)) if stream else DEFAULT_STREAM
        return rmm.DeviceBuffer(size=size, stream=order)

    set_allocator(PooledAllocator(malloc, None))
