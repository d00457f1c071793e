# SPDX-License-Identifier: MIT
#
# Operators of arrays: one kernel for each, made when it is first used. In: a class. Out: the class
# with NumPy's operators and sums. The thing to know: dtypes of results are NumPy's own answer, so a
# plain number does not widen an array.
"""Operators and sums of arrays, as kernels."""

from functools import lru_cache

from . import _core

_arithmetic = {
    "add": "static_cast<R>(x) + static_cast<R>(y)",
    "sub": "static_cast<R>(x) - static_cast<R>(y)",
    "mul": "static_cast<R>(x) * static_cast<R>(y)",
    "and": "static_cast<R>(x) & static_cast<R>(y)",
    "or": "static_cast<R>(x) | static_cast<R>(y)",
    "xor": "static_cast<R>(x) ^ static_cast<R>(y)",
    "truediv": "static_cast<R>(x) / static_cast<R>(y)",
    "pow": "pow(static_cast<R>(x), static_cast<R>(y))",
}
_comparisons = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
_unary = {"neg": "-x", "abs": "abs(x)", "invert": "~x"}
_sums = {
    "sum": ("a + b", "0"),
    "prod": ("a * b", "1"),
    "min": ("min(a, b)", None),
    "max": ("max(a, b)", None),
}


@lru_cache(maxsize=None)
def _binary_kernel(expression):
    return _core.ElementwiseKernel("T x, U y", "R z", "z = " + expression)


@lru_cache(maxsize=None)
def _unary_kernel(expression):
    return _core.ElementwiseKernel("T x", "R z", "z = " + expression)


@lru_cache(maxsize=None)
def _sum_kernel(reduce, identity):
    return _core.ReductionKernel("T x", "R y", "static_cast<R>(x)", reduce, "y = a", identity)


def _result(x, y, name):
    """NumPy's dtype of an operation between `x` and `y`, of which one may be a plain number."""
    import numpy

    kinds = [v.dtype if isinstance(v, _core.Array) else v for v in (x, y)]
    dtype = numpy.result_type(*kinds)
    if name == "truediv" and dtype.kind in "biu":
        dtype = numpy.dtype(float)
    return dtype, [v if isinstance(v, _core.Array) else dtype.type(v) for v in (x, y)]


def _shape(x, y):
    import numpy

    return numpy.broadcast_shapes(getattr(x, "shape", ()), getattr(y, "shape", ()))


def _binary(name, expression, reflected=False, compares=False):
    def operator(self, other):
        if not isinstance(other, (_core.Array, bool, int, float, complex)):
            from ._array import asarray

            if not hasattr(other, "__dlpack__") and not hasattr(other, "dtype"):
                return NotImplemented
            other = asarray(other)
        x, y = (other, self) if reflected else (self, other)
        dtype, (x, y) = _result(x, y, name)
        if compares:
            text = f"static_cast<C>(x) {expression} static_cast<C>(y)"
            kernel, out = _comparison_kernel(text), _core.empty(_shape(x, y), bool)
            return kernel(x, y, dtype.type(0), out)
        return _binary_kernel(expression)(x, y, _core.empty(_shape(x, y), dtype))

    return operator


@lru_cache(maxsize=None)
def _comparison_kernel(text):
    return _core.ElementwiseKernel("T x, U y, C like", "bool z", "z = " + text)


def _unary_operator(expression):
    def operator(self):
        name = self.dtype_name
        if expression == "abs(x)" and name.startswith("complex"):
            name = {"complex64": "float32", "complex128": "float64"}[name]
        return _unary_kernel(expression)(self, _core.empty(self.shape, name))

    return operator


def _sum(name, reduce, identity):
    def method(self, axis=None, keepdims=False):
        import numpy

        dtype = self.dtype
        if name in ("sum", "prod"):
            dtype = getattr(numpy.empty(0, dtype), name)().dtype
        kernel = _sum_kernel(reduce, identity)
        axes = range(self.ndim) if axis is None else (axis if isinstance(axis, tuple) else (axis,))
        axes = {numpy.arange(self.ndim)[k] for k in axes}
        shape = [
            1 if k in axes else n for k, n in enumerate(self.shape) if keepdims or k not in axes
        ]
        out = _core.empty(shape, dtype)
        return kernel(self, out=out, axis=axis, keepdims=keepdims)

    method.__name__ = name
    method.__qualname__ = f"ndarray.{name}"
    return method


def install(cls):
    """Give a class of arrays its operators."""
    for name, expression in _arithmetic.items():
        setattr(cls, f"__{name}__", _binary(name, expression))
        setattr(cls, f"__r{name}__", _binary(name, expression, reflected=True))
    for name, symbol in _comparisons.items():
        setattr(cls, f"__{name}__", _binary(name, symbol, compares=True))
    cls.__hash__ = None
    for name, expression in _unary.items():
        setattr(cls, f"__{name}__", _unary_operator(expression))
    for name, (reduce, identity) in _sums.items():
        setattr(cls, name, _sum(name, reduce, identity))
