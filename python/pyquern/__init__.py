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
    CacheError,
    CompileError,
    DeviceMemoryError,
    DriverError,
    ElementwiseKernel,
    Error,
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
    NVRTCError,
    NVRTCNotFoundError,
    NvJitLinkNotFoundError,
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

__version__ = "0.2.0"

from . import _compiler, _core, _foreign

_core._hooks(ndarray, _foreign, _compiler.choose)
