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
    TypeMismatchError,
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

from . import _compiler, _core, _foreign, _notebook, cuda  # noqa: F401

_core._hooks(ndarray, _foreign, _compiler.choose)
_notebook.install(RawKernel, RawModule)
