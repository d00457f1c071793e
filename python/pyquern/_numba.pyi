# SPDX-License-Identifier: MIT
#
# Types of _numba.py, for type checkers. In: _numba.py. Out: nothing at run time.
from collections.abc import Sequence
from typing import Any, Literal

from numpy.typing import DTypeLike, NDArray

from ._array import ndarray
from ._core import _Shape, _Stream

type _Order = Literal["C", "F"]

def device_array(
    shape: _Shape,
    dtype: DTypeLike = ...,
    strides: int | Sequence[int] | None = None,
    order: _Order = "C",
    stream: _Stream = 0,
) -> ndarray: ...
def device_array_like(ary: Any, stream: _Stream = 0) -> ndarray: ...
def mapped_array(
    shape: _Shape,
    dtype: DTypeLike = ...,
    strides: int | Sequence[int] | None = None,
    order: _Order = "C",
    stream: _Stream = 0,
    portable: bool = False,
    wc: bool = False,
) -> ndarray: ...
def managed_array(
    shape: _Shape,
    dtype: DTypeLike = ...,
    strides: int | Sequence[int] | None = None,
    order: _Order = "C",
    stream: _Stream = 0,
    attach_global: bool = True,
) -> ndarray: ...
def pinned_array(
    shape: _Shape, dtype: DTypeLike = ..., strides: None = None, order: _Order = "C"
) -> NDArray[Any]: ...
def to_device(
    obj: Any, stream: _Stream = 0, copy: bool = True, to: ndarray | None = None
) -> ndarray: ...
