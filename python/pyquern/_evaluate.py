# SPDX-License-Identifier: MIT
#
# evaluate(): an expression as one kernel, without a signature. In: the text, and values by name.
# Out: an array of the values' library. The thing to know: what is found out about a text is kept by
# the values' dtypes, so that a second call goes to its kernel.
"""Expressions without a signature."""

from functools import lru_cache

from . import _core

TYPE_CHECKING = False  # as typing has it, which takes milliseconds to import
if TYPE_CHECKING:
    from typing import Any


def evaluate(expression: str, /, *, out: "Any" = None, **values: "Any") -> "Any":
    """Compute an expression, element by element, by one kernel.

    Names are the values that are given, arrays of any library or numbers; they are broadcast. The
    result is new, of the arrays' library, or goes to `out`, whose dtype may be another.

    The text is C's: ``+ - * / % << >> & | ^ ~``, comparisons, ``&& || !`` and ``c ? a : b``, and
    ``**`` and ``//`` of Python. Functions are ``sqrt cbrt exp exp2 expm1 log log2 log10 log1p``,
    ``sin cos tan sinh cosh tanh`` and their inverses (``asin`` or ``arcsin``, ``atan2``),
    ``hypot pow copysign fmod abs fabs sign floor ceil trunc rint round``, ``min max clip fmin
    fmax``, ``where``, ``isnan isinf isfinite signbit``, ``real imag conj``; ``float32(x)`` and
    other dtypes convert.

    **Every operation has the dtype and the meaning that NumPy 2 gives it.** So ``/`` of integers is
    floating-point, ``%`` has the sign of the divisor, comparisons are bool, and a plain number of
    Python, in the text or as a value, widens no array.

    >>> import numpy
    >>> evaluate("sqrt(x*x + y*y)", x=numpy.array([3.0, 5.0]), y=numpy.array([4.0, 12.0]))
    array([ 5., 13.])
    >>> evaluate("x / 2", x=numpy.arange(3))
    array([0. , 0.5, 1. ])
    >>> evaluate("x > limit ? 1 : 0", x=numpy.arange(3, dtype="float32"), limit=1.5)
    array([0, 0, 1])
    """
    if not isinstance(expression, str):
        raise TypeError(f"the expression is {type(expression)}: a str was expected")
    kinds = tuple([(name, _kind(name, value)) for name, value in values.items()])
    arguments = [*values.values()]
    if out is None:
        kernel, first, numbers = _planned(expression, kinds)
    else:
        wanted = _kind("out", out)
        if not isinstance(wanted, str):
            raise TypeError(f"out is {type(out)}: an array was expected")
        kernel, first, numbers = _planned(expression, kinds, wanted)
        arguments.append(out)
    if all([isinstance(v, numbers) for v in values.values()]):
        from numpy import asarray

        arguments[0] = asarray(arguments[0], first)  # a loop is over an array
    return kernel(*arguments)


def _kind(name: str, value: "Any") -> "str | type":
    """The dtype's name; int, float or complex for a plain number."""
    kind = type(value)
    if kind is float or kind is int or kind is complex:
        return kind
    if kind is bool:
        return "bool"
    dtype = getattr(value, "dtype", None)
    if dtype is not None:
        try:
            return _core.dtype_name(dtype)
        except TypeError as wrong:
            raise TypeError(f"{name}: {wrong}") from None
    if hasattr(value, "__dlpack__") or hasattr(value, "__cuda_array_interface__"):
        return _core.take(value).dtype_name
    raise TypeError(
        f"{name} is {kind}: an array or a number was expected; numpy.asarray() makes an array"
    )


def _plan(
    text: str, kinds: "tuple[tuple[str, str | type], ...]", out: "str | None" = None
) -> "tuple[_core.ElementwiseKernel, str, tuple[type, ...]]":
    """(kernel, the first value's dtype, classes of numbers). The kernel's parameters are in the
    order of the names."""
    from numpy import generic

    kernel = _core.expression(text, dict(kinds), out)
    return kernel, kernel.parameters[0][1], (int, float, complex, generic)


_planned = lru_cache(maxsize=512)(_plan)
