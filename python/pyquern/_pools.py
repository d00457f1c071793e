# SPDX-License-Identifier: MIT
#
# Memory of one GPU from the pool of another library, so that what the one has freed the other can
# use. In: the library, which must be there. Out: an allocator of the thread's device. The thing to
# know: these pools give memory out in the order of a stream, so each is told the stream that an
# array is made on.
"""The pools of PyTorch, CuPy and RMM."""

import os

from ._device import Device
from ._memory import LibraryAllocator, PooledAllocator, set_allocator


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


def use_rmm():
    """New arrays of the thread's GPU have their memory from RMM's current resource of that GPU, by
    the functions that RMM exports for PyTorch. Undone by set_allocator(None). RMM gives memory back
    to the resource that is current then, so leave that one until the arrays are gone and this is
    undone."""
    import glob  # it loads re

    _check("RMM")
    import rmm

    folder = os.path.dirname(rmm.__file__)
    found = [
        path
        for name in ("librmm/_torch_allocator*.so", "_lib/torch_allocator*.so")
        for path in glob.glob(os.path.join(folder, name))
    ]
    if not found:
        raise ImportError(
            f"RMM {rmm.__version__} in {folder} has no _torch_allocator library, through which its "
            "memory is had: pyquern.LibraryAllocator takes another by its path"
        )
    set_allocator(LibraryAllocator(found[0]))
