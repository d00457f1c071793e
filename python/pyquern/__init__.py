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
from ._core import *  # noqa: F403 - the classes of errors
from ._core import ElementwiseKernel, Error, ReductionKernel, ScanKernel, synchronize
from ._device import Device

__version__ = "0.2.0"

from . import _core as _core_module
from ._foreign import allocate as _allocate

_core_module._hooks(ndarray, _allocate)
