# SPDX-License-Identifier: MIT
#
# What CuPy's programs find in `cupy.cuda`: the same objects as in pyquern itself. In: nothing. Out:
# names. The thing to know: `stream`, `memory`, `texture` and `runtime` (of which only what textures
# take is here) are modules there, and are here.
"""Streams, events, devices and memory under the names of `cupy.cuda`."""

from . import _memory as memory
from . import _stream as stream
from ._device import Device
from ._memory import (
    CFunctionAllocator,
    MemoryPointer,
    MemoryPool,
    PinnedMemoryPointer,
    PythonFunctionAllocator,
    UnownedMemory,
    alloc,
    alloc_pinned_memory,
    get_allocator,
    malloc_managed,
    set_allocator,
    using_allocator,
)
from ._stream import (
    Event,
    ExternalStream,
    Graph,
    Stream,
    get_current_stream,
    get_elapsed_time,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import _runtime as runtime
    from . import _texture as texture

__all__ = [
    "CFunctionAllocator",
    "Device",
    "Event",
    "ExternalStream",
    "Graph",
    "MemoryPointer",
    "MemoryPool",
    "PinnedMemoryPointer",
    "PythonFunctionAllocator",
    "Stream",
    "UnownedMemory",
    "alloc",
    "alloc_pinned_memory",
    "get_allocator",
    "get_current_stream",
    "get_elapsed_time",
    "malloc_managed",
    "memory",
    "runtime",
    "set_allocator",
    "stream",
    "texture",
    "using_allocator",
]


def __getattr__(name):
    if name == "runtime":  # these are late: few programs use them
        from . import _runtime

        return _runtime
    if name == "texture":
        from . import _texture

        return _texture
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
