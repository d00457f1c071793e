# SPDX-License-Identifier: MIT
#
# Arrays as programs for Numba make them: to_device(), device_array(), pinned_array() and so on. In:
# shapes, dtypes, arrays of the host. Out: our arrays, or NumPy's in page-locked memory. The thing
# to know: these are other names of what the rest of the package has, and stream=0 is the current
# one.
"""Numba's names for arrays."""

from . import _core
from ._array import _reversed, empty, ndarray
from ._memory import empty_pinned


def _empty(shape, dtype, strides, order, memory="device"):
    """A new array whose elements lie in an order, or with these strides."""
    if order not in ("C", "F"):
        raise TypeError(f"order is {order!r}: it must be 'C' or 'F'")
    if strides is None:
        if order == "C":
            return empty(shape, dtype, memory)
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        return _reversed(empty(shape[::-1], dtype, memory))
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    strides = (strides,) if isinstance(strides, int) else tuple(strides)
    if len(strides) != len(shape) or any(s < 0 for s in strides):
        raise ValueError("there must be a stride for each dimension, and none below 0")
    item = empty((), dtype).itemsize
    reach = sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) + item
    bytes_ = empty(reach if all(shape) else 0, "uint8", memory)
    return ndarray(shape, dtype, bytes_.data, strides)


def device_array(shape, dtype=float, strides=None, order="C", stream=0):
    """A new array whose elements are undefined."""
    return _empty(shape, dtype, strides, order)


def device_array_like(ary, stream=0):
    """A new array with the shape, dtype and order of `ary`."""
    fortran = ary.ndim > 1 and ary.strides[0] < ary.strides[-1]
    return _empty(ary.shape, ary.dtype, None, "F" if fortran else "C")


def mapped_array(shape, dtype=float, strides=None, order="C", stream=0, portable=False, wc=False):
    """A new array in page-locked memory of the host, which kernels use where it is."""
    return _empty(shape, dtype, strides, order, "mapped")


def managed_array(shape, dtype=float, strides=None, order="C", stream=0, attach_global=True):
    """A new array in memory that moves to where it is used."""
    return _empty(shape, dtype, strides, order, "managed")


def pinned_array(shape, dtype=float, strides=None, order="C"):
    """An array of NumPy in page-locked memory, its elements undefined."""
    if strides is not None:
        raise ValueError("strides: a pinned array has order 'C' or 'F'")
    return empty_pinned(shape, dtype, order)


def to_device(obj, stream=0, copy=True, to=None):
    """A copy of an array of the host on the device: new, or in `to`. With copy=False only the new
    array is made, its elements undefined.

    >>> to_device([1.0, 2.0]).copy_to_host()
    array([1., 2.])
    """
    import numpy

    values = obj if isinstance(obj, _core.Array) else numpy.asarray(obj)
    if to is None:
        to = device_array_like(values)
    elif not isinstance(to, _core.Array):
        raise TypeError(f"to is {type(to)}: an array of the device was expected")
    if copy:
        to.copy_to_device(values, stream)
    return to
