# SPDX-License-Identifier: MIT
#
# Kernels as functions of JAX. In: definitions, and their backward. Out: functions for jax.jit, grad
# and vmap. The thing to know: a program that JAX compiles calls the kernel by a name that is a hash
# of its definition, through XLA's foreign function interface, without Python: src/jax.c.
"""Kernels as functions of JAX, under jit, grad and vmap.

A backward's parameters say by their names what they are: `x` an input, `y` an output, `gy` the
gradient of `y`; its outputs are the gradients of inputs, `gx`. Gradients are summed over axes that
were broadcast. A backward is a tuple ``(in_params, out_params, operation)`` of an elementwise
kernel, with its own backward as a fourth entry where second derivatives are wanted; another
function of this module; or a function of Python, which returns one gradient for each input.

>>> log = elementwise("T x", "T y", "y = log(x)", backward=("T x, T gy", "T gx", "gx = gy / x"))
>>> x = jax.numpy.array([1.0, 2.0, 4.0])
>>> jax.jit(jax.grad(lambda x: log(x).sum()))(x).tolist()
[1.0, 0.5, 0.25]
"""

import hashlib
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy

from . import _core
from ._backward import Backward, of_texts
from ._foreign import wrong_word

__all__ = ["Op", "elementwise", "function", "reduction", "scan"]

_NUMBERS = (bool, int, float, complex)


@lru_cache(maxsize=1)
def _register():
    """Tell XLA of the functions that run kernels."""
    on_cpu, on_gpu = _core.jax_targets()
    jax.ffi.register_ffi_target("pyquern", on_cpu, platform="cpu")
    jax.ffi.register_ffi_target("pyquern", on_gpu, platform="CUDA")


class Op:
    """A kernel as a function of JAX."""

    def __init__(self, kernel, definition, words, backward, made):
        self._kernel = kernel
        self._made = made
        self._words = words  # keywords of a call
        self.name = kernel.name
        self._given = [p for p in kernel.parameters if not p[2]]
        self.inputs = tuple(p[0] for p in self._given)
        self.outputs = tuple(p[0] for p in kernel.parameters if p[2])
        self._hash = hashlib.sha256(repr(definition).encode()).hexdigest()[:24]
        self._told = None if backward is None else Backward(self, backward, "pyquern.jax")
        self._with_words = lru_cache(maxsize=None)(self._make)

    def __repr__(self):
        return f"<pyquern.jax {self.name}({', '.join(self.inputs)})>"

    def __reduce__(self):
        make, args, words = self._made
        return _remake, (make, args, words)

    # ---- calls

    def __call__(self, *args, **words):
        if len(args) != len(self.inputs):
            names = ", ".join(self.inputs)
            raise TypeError(
                f"{self.name}() takes {len(self.inputs)} inputs ({names}), and returns new "
                f"arrays; {len(args)} arguments were given"
            )
        for word in words:
            if word not in self._words:
                raise TypeError(wrong_word(self.name, word, ", ".join(self._words)))
        axis = words.get("axis")
        axis = tuple(axis) if isinstance(axis, (tuple, list)) else axis
        return self._with_words(axis, bool(words.get("keepdims")))(*self._arrays(args))

    def _arrays(self, args):
        """Numbers become arrays of the dtype that their parameter gets."""
        known = {
            p[1]: a.dtype for p, a in zip(self._given, args, strict=True) if hasattr(a, "dtype")
        }
        made = []
        for (name, type_, *_), value in zip(self._given, args, strict=True):
            if isinstance(value, _NUMBERS):
                dtype = known.get(type_) if len(type_) == 1 else _core.dtype_name(type_)
                value = jnp.asarray(value, dtype)
            elif not hasattr(value, "dtype"):
                raise TypeError(
                    f"'{name}' of {self.name}() is {type(value)}: an array or a number was expected"
                )
            made.append(jnp.asarray(value))
        return made

    @staticmethod
    def _key(axis, keepdims):
        return {
            **({} if axis is None else {"axis": axis}),
            **({"keepdims": True} if keepdims else {}),
        }

    def _make(self, axis, keepdims):
        """The function for these words, with its gradient."""
        words = self._key(axis, keepdims)
        _register()
        name = f"{self.name}-{self._hash}-{axis}-{keepdims}"
        _core.jax_add(name, self._kernel, axis, keepdims)

        def forward(*args):
            return self._run(name, words, args)

        call = jax.custom_vjp(forward)
        call.defvjp(
            lambda *args: self._save(call(*args), args),  # so that this, too, has gradients
            lambda kept, grads: self._gradients(words, kept, grads),
        )
        return jax.jit(call)  # so that a call outside of a program is traced once

    def _run(self, name, words, args):
        told = [(str(a.dtype), a.shape) for a in args]
        results = []
        for output, (dtype, shape) in zip(
            self.outputs, self._kernel.infer(*told, **words), strict=True
        ):
            if jax.dtypes.canonicalize_dtype(dtype) != numpy.dtype(jnp.dtype(dtype)):
                raise TypeError(
                    f"the output '{output}' of {self.name} is {dtype}, which JAX has only after "
                    "jax.config.update('jax_enable_x64', True)"
                )
            results.append(jax.ShapeDtypeStruct(shape, jnp.dtype(dtype)))
        alone = len(results) == 1
        run = jax.ffi.ffi_call(
            "pyquern", results[0] if alone else results, vmap_method=self._batching(args)
        )
        made = run(*args, call=name)
        return made if alone else tuple(made)

    def _batching(self, args):
        """One call for a batch where its axis is like any other; else one call for each index."""
        meets = not self._words and not any(p[3] for p in self._given)
        return "broadcast_all" if meets and len({a.ndim for a in args}) < 2 else "sequential"

    # ---- gradients

    def _save(self, result, args):
        if self._told is None:
            raise NotImplementedError(
                f"{self.name} has no backward: give one by backward=, or pass "
                "jax.lax.stop_gradient(x)"
            )
        outputs = result if isinstance(result, tuple) else (result,)
        kinds = {"input": args, "output": outputs}
        kept = [kinds[kind][place] for _, kind, place in self._told.sources if kind in kinds]
        likes = [jnp.zeros((0, *a.shape), a.dtype) for a in args]  # their shapes and dtypes
        return result, (kept, likes)

    def _gradients(self, words, saved, grads):
        kept, likes = saved
        likes = [(a.shape[1:], a.dtype) for a in likes]
        grads = grads if isinstance(grads, tuple) else (grads,)
        kept = iter(kept)
        values = {}
        for name, kind, place in self._told.sources:
            if kind == "word":
                values[name] = words.get(place)
                continue
            value = grads[place] if kind == "gradient" else next(kept)
            values[name] = value if kind == "input" else self._shaped(value, words, likes)
        found = self._told.call(values)
        return tuple(self._fit(k, g, likes) for k, g in enumerate(found))

    def _shaped(self, value, words, likes):
        """An output or its gradient as it broadcasts with the inputs: with the axes it has lost."""
        if self._told.places is None or "keepdims" not in self._words or words.get("keepdims"):
            return value
        plain = [a[0] for p, a in zip(self._given, likes, strict=True) if not p[3]]
        shape = list(jnp.broadcast_shapes(*plain))
        axis = words.get("axis")
        axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        for k in axes:
            shape[k] = 1
        return value.reshape(shape)

    def _fit(self, place, gradient, likes):
        """A gradient of the input's shape and dtype: summed where the input was broadcast."""
        shape, dtype = likes[place]
        if not jnp.issubdtype(dtype, jnp.inexact):
            return numpy.zeros(shape, jax.dtypes.float0)
        if gradient is None:
            return jnp.zeros(shape, dtype)
        more = gradient.ndim - len(shape)
        axes = [k for k in range(len(shape)) if shape[k] == 1 != gradient.shape[more + k]]
        gradient = gradient.sum((*range(more), *(more + k for k in axes)), keepdims=True)
        if gradient.shape[more:] != shape:
            raise ValueError(
                f"the backward of {self.name} returned a gradient of shape {gradient.shape} for "
                f"'{self.inputs[place]}', whose shape is {shape}"
            )
        if jnp.iscomplexobj(gradient) and not jnp.issubdtype(dtype, jnp.complexfloating):
            gradient = gradient.real
        return gradient.reshape(shape).astype(dtype)


def _remake(make, args, words):
    return make(*args, **words)


def elementwise(
    in_params,
    out_params,
    operation,
    *,
    backward=None,
    name="kernel",
    preamble="",
    options=(),
    loop_prep="",
    after_loop="",
):
    """An elementwise kernel as a function of JAX; see pyquern.ElementwiseKernel.

    >>> scaled = elementwise("T x, T a", "T y", "y = a * x",
    ...                      backward=("T x, T a, T gy", "T gx, T ga", "gx = a * gy; ga = x * gy"))
    >>> float(jax.grad(lambda a: scaled(jnp.arange(3.0), a).sum())(2.0))
    3.0
    """
    texts = (in_params, out_params, operation)
    more = {"name": name, "preamble": preamble, "options": tuple(options)}
    more |= {"loop_prep": loop_prep, "after_loop": after_loop}
    kernel = _core.ElementwiseKernel(*texts, **more)
    made = (elementwise, texts, {"backward": backward, **more})
    return Op(
        kernel,
        ("elementwise", texts, more),
        (),
        of_texts(backward, elementwise, name, preamble, options),
        made,
    )


def reduction(
    in_params,
    out_params,
    map_expr,
    reduce_expr,
    post_map_expr,
    identity=None,
    *,
    backward=None,
    name="reduce_kernel",
    reduce_type=None,
    preamble="",
    options=(),
    ordered=False,
):
    """A reduction as a function of JAX, called with `axis` and `keepdims`; see
    pyquern.ReductionKernel. In a backward of texts, outputs and their gradients have the reduced
    axes, of extent 1.

    >>> squares = reduction("T x", "T y", "x * x", "a + b", "y = a", "0",
    ...                     backward=("T x, T gy", "T gx", "gx = 2 * x * gy"))
    >>> jax.grad(lambda x: squares(x, axis=1).sum())(jnp.array([[3.0, 4.0], [6.0, 8.0]])).tolist()
    [[6.0, 8.0], [12.0, 16.0]]
    """
    texts = (in_params, out_params, map_expr, reduce_expr, post_map_expr, identity)
    more = {"name": name, "reduce_type": reduce_type, "preamble": preamble}
    more |= {"options": tuple(options), "ordered": bool(ordered)}
    kernel = _core.ReductionKernel(*texts, **more)
    made = (reduction, texts, {"backward": backward, **more})
    grad = of_texts(backward, elementwise, name, preamble, options)
    return Op(kernel, ("reduction", texts, more), ("axis", "keepdims"), grad, made)


def scan(
    in_params,
    out_params,
    map_expr,
    scan_expr,
    post_map_expr,
    identity=None,
    *,
    backward=None,
    name="scan_kernel",
    scan_type=None,
    preamble="",
    options=(),
    exclusive=False,
):
    """A scan as a function of JAX, called with `axis`; see pyquern.ScanKernel.

    >>> def reversed_sums(gy, axis):
    ...     return jnp.flip(sums(jnp.flip(gy, axis), axis=axis), axis)
    >>> sums = scan("T x", "T y", "x", "a + b", "y = a", "0", backward=reversed_sums)
    >>> jax.grad(lambda x: sums(x, axis=0)[1])(jnp.ones(3)).tolist()
    [1.0, 1.0, 0.0]
    """
    texts = (in_params, out_params, map_expr, scan_expr, post_map_expr, identity)
    more = {"name": name, "scan_type": scan_type, "preamble": preamble}
    more |= {"options": tuple(options), "exclusive": bool(exclusive)}
    kernel = _core.ScanKernel(*texts, **more)
    made = (scan, texts, {"backward": backward, **more})
    return Op(
        kernel,
        ("scan", texts, more),
        ("axis",),
        of_texts(backward, elementwise, name, preamble, options),
        made,
    )


def function(forward, backward):
    """The function `forward` with another backward.

    >>> sign = elementwise("T x", "T y", "y = x > 0 ? 1 : -1")
    >>> straight = function(sign, lambda gy: gy)
    >>> jax.grad(lambda x: straight(x).sum())(jnp.array([-2.0, 3.0])).tolist()
    [1.0, 1.0]
    """
    if not isinstance(forward, Op):
        raise TypeError(
            f"the forward of a function is one of pyquern.jax, not {type(forward).__name__}: "
            "make it by elementwise(), reduction() or scan()"
        )
    make, args, words = forward._made
    return make(*args, **{**words, "backward": backward})
