# SPDX-License-Identifier: MIT
#
# pyquern: C-like snippets with a typed signature as GPU kernels, for anyone's arrays. What is here
# is what programs use; the extension module `_core` does the work.
"""GPU kernels from C-like snippets, on NumPy, PyTorch, CuPy, JAX or our own arrays."""

from ._array import (
    Array,
    arange,
    array,
    asarray,
    asnumpy,
    empty,
    empty_like,
    from_dlpack,
    full,
    ndarray,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from ._cache import Cache, use_packs
from ._core import (
    AccessError,
    ArgumentCountError,
    Bound,
    CacheError,
    CompileError,
    DeviceMemoryError,
    DriverError,
    ElementwiseKernel,
    Error,
    Explanation,
    ImageError,
    InputOutputError,
    InternalError,
    InterruptedError,
    InvalidArgumentError,
    LaunchError,
    LinkError,
    NoDeviceError,
    NoSuchNameError,
    NotSupportedError,
    NvJitLinkNotFoundError,
    NVRTCError,
    NVRTCNotFoundError,
    OutOfMemoryError,
    RangeError,
    ReductionKernel,
    ScanKernel,
    ShapeError,
    SignatureError,
    TransferWarning,
    Tuning,
    TypeMismatchError,
    UndefinedNameError,
    synchronize,
)
from ._device import Device
from ._evaluate import evaluate
from ._memory import (
    CFunctionAllocator,
    LibraryAllocator,
    MemoryPointer,
    MemoryPool,
    MemoryStats,
    PooledAllocator,
    PythonFunctionAllocator,
    UnownedMemory,
    alloc_pinned_memory,
    empty_like_pinned,
    empty_pinned,
    get_allocator,
    get_default_memory_pool,
    malloc_managed,
    memory_stats,
    set_allocator,
    using_allocator,
    zeros_like_pinned,
    zeros_pinned,
)
from ._numba import (
    device_array,
    device_array_like,
    managed_array,
    mapped_array,
    pinned_array,
    to_device,
)
from ._prepare import prepare
from ._raw import RawKernel, RawModule
from ._stream import (
    Event,
    ExternalStream,
    Graph,
    Stream,
    get_current_stream,
    get_elapsed_time,
    graph,
)

__version__ = "0.2.0"

__all__ = [
    "AccessError",
    "ArgumentCountError",
    "Array",
    "Bound",
    "CFunctionAllocator",
    "Cache",
    "CacheError",
    "CompileError",
    "Device",
    "DeviceMemoryError",
    "DriverError",
    "ElementwiseKernel",
    "Error",
    "Event",
    "Explanation",
    "ExternalStream",
    "Graph",
    "ImageError",
    "InputOutputError",
    "InternalError",
    "InterruptedError",
    "InvalidArgumentError",
    "LaunchError",
    "LibraryAllocator",
    "LinkError",
    "MemoryPointer",
    "MemoryPool",
    "MemoryStats",
    "NVRTCError",
    "NVRTCNotFoundError",
    "NoDeviceError",
    "NoSuchNameError",
    "NotSupportedError",
    "NvJitLinkNotFoundError",
    "OutOfMemoryError",
    "PooledAllocator",
    "PythonFunctionAllocator",
    "RangeError",
    "RawKernel",
    "RawModule",
    "ReductionKernel",
    "ScanKernel",
    "ShapeError",
    "SignatureError",
    "Stream",
    "TransferWarning",
    "Tuning",
    "TypeMismatchError",
    "UndefinedNameError",
    "UnownedMemory",
    "alloc_pinned_memory",
    "arange",
    "array",
    "asarray",
    "asnumpy",
    "cuda",
    "device_array",
    "device_array_like",
    "empty",
    "empty_like",
    "empty_like_pinned",
    "empty_pinned",
    "evaluate",
    "from_dlpack",
    "full",
    "get_allocator",
    "get_current_stream",
    "get_default_memory_pool",
    "get_elapsed_time",
    "graph",
    "malloc_managed",
    "managed_array",
    "mapped_array",
    "memory_stats",
    "ndarray",
    "ones",
    "ones_like",
    "pinned_array",
    "prepare",
    "set_allocator",
    "synchronize",
    "to_device",
    "use_cupy_pool",
    "use_packs",
    "use_rmm",
    "use_torch_pool",
    "using_allocator",
    "zeros",
    "zeros_like",
    "zeros_like_pinned",
    "zeros_pinned",
]

from . import _compiler, _core, _foreign, _notebook, cuda

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._pools import use_cupy_pool, use_rmm, use_torch_pool


def __getattr__(name):
    if name in ("use_cupy_pool", "use_rmm", "use_torch_pool"):  # late: few programs use them
        from . import _pools

        return getattr(_pools, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__} - {"TYPE_CHECKING"})


_core._hooks(ndarray, _foreign, _compiler.choose)
_notebook.install(RawKernel, RawModule)
