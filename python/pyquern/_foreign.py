# SPDX-License-Identifier: MIT
#
# Outputs in the type of the inputs: how each library allocates an array like another one. In: an
# array of it, a shape, a dtype's name. Out: a new array. The thing to know: the function for a type
# is found once, by the module that the type comes from.
"""Allocating arrays of other libraries."""

import sys

_by_type = {}


def _numpy(like):
    numpy = sys.modules["numpy"]
    names = {}

    def make(like, shape, dtype):
        known = names.get(dtype)
        if known is None:
            known = names[dtype] = numpy_dtype(dtype)
        return numpy.empty(shape, known)

    return make


def _torch(like):
    torch = sys.modules["torch"]
    return lambda like, shape, dtype: torch.empty(
        shape, dtype=getattr(torch, dtype), device=like.device
    )


def _cupy(like):
    cupy = sys.modules["cupy"]
    return lambda like, shape, dtype: cupy.empty(shape, dtype)


def _own(like):
    from ._array import empty

    return lambda like, shape, dtype: empty(shape, dtype)


_makers = {"numpy": _numpy, "torch": _torch, "cupy": _cupy}


def allocate(like, shape, dtype):
    """A new array of the type of `like`; of our own where that library is not known."""
    make = _by_type.get(type(like))
    if make is None:
        library = type(like).__module__.partition(".")[0]
        make = _by_type[type(like)] = _makers.get(library, _own)(like)
    return make(like, shape, dtype)


def numpy_dtype(name):
    """NumPy's dtype of this name; of ml_dtypes where NumPy has none."""
    import numpy

    try:
        return numpy.dtype(name)
    except TypeError:
        import ml_dtypes

        return numpy.dtype(getattr(ml_dtypes, name))
