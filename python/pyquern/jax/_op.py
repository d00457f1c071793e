# SPDX-License-Identifier: MIT
#
# A function of JAX: its calls, and how JAX differentiates it. In: a kernel, its backward, its jvp.
# Out: an object that is called, under jit, grad and vmap. The thing to know: a program that JAX
# compiles calls the kernel by a name that is a hash of its definition, through XLA's foreign
# function interface, without Python: src/jax.c.
"""Functions of JAX made of kernels."""

import hashlib
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy

from .. import _core
from .._backward import Backward
from .._foreign import wrong_word
from ._forward import Tangents

_NUMBERS = (bool, int, float, complex)


@lru_cache(maxsize=1)
def _register():
    """Tell XLA of the functions that run kernels."""
    on_cpu, on_gpu = _core.jax_targets()
    jax.ffi.register_ffi_target("pyquern", on_cpu, platform="cpu")
    jax.ffi.register_ffi_target("pyquern", on_gpu, platform="CUDA")


class Op:
    """A kernel as a function of JAX."""

    def __init__(self, kernel, definition, words, derivatives, made):
        self._kernel = kernel
        self._made = made
        self._words = words  # keywords of a call
        self.name = kernel.name
        self._given = [p for p in kernel.parameters if not p[2]]
        self.inputs = tuple(p[0] for p in self._given)
        self.outputs = tuple(p[0] for p in kernel.parameters if p[2])
        self._define(definition, derivatives)
        self._with_words = lru_cache(maxsize=None)(self._make)

    def _define(self, definition, derivatives):
        """`derivatives`: backward and jvp."""
        backward, jvp = derivatives
        self._hash = hashlib.sha256(repr(definition).encode()).hexdigest()[:24]
        self._told = None if backward is None else Backward(self, backward, "pyquern.jax")
        self._tangents = None if jvp is None else Tangents(self, jvp, self._told)

    def __repr__(self):
        return f"<pyquern.jax {self.name}({', '.join(self.inputs)})>"

    def __reduce__(self):
        make, args, words = self._made
        return _remake, (make, args, words)

    # ---- calls

    def __call__(self, *args, **words):
        self._check_count(args)
        for word in words:
            if word not in self._words:
                raise TypeError(wrong_word(self.name, word, ", ".join(self._words)))
        axis = words.get("axis")
        axis = tuple(axis) if isinstance(axis, (tuple, list)) else axis
        return self._with_words(axis, bool(words.get("keepdims")))(*self._arrays(args))

    def _check_count(self, args):
        if len(args) != len(self.inputs):
            names = ", ".join(self.inputs)
            raise TypeError(
                f"{self.name}() takes {len(self.inputs)} inputs ({names}), and returns new "
                f"arrays; {len(args)} arguments were given"
            )

    def _check_dtype(self, output, dtype):
        if jax.dtypes.canonicalize_dtype(dtype) != numpy.dtype(jnp.dtype(dtype)):
            raise TypeError(
                f"the output '{output}' of {self.name} is {dtype}, which JAX has only after "
                "jax.config.update('jax_enable_x64', True)"
            )

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
        name = f"{self.name}-{self._hash}-{axis}-{keepdims}"
        self._add(name, axis, keepdims)

        def forward(*args):
            return self._run(name, words, args)

        # so that a call outside of a program is traced once
        return jax.jit(self._differentiable(forward, words, {}))

    def _add(self, name, axis, keepdims):
        """Let programs call the kernel by this name."""
        _register()
        _core.jax_add(name, self._kernel, axis, keepdims)

    def _differentiable(self, forward, words, fixed):
        """`forward`, a function of arrays, with its derivatives. `fixed`: the other inputs, which
        are numbers, by their places."""

        def inputs(arrays):
            arrays = iter(arrays)
            return [fixed[k] if k in fixed else next(arrays) for k in range(len(self.inputs))]

        def push(primals, tangents):
            result = call(*primals)
            results = result if isinstance(result, tuple) else (result,)
            given = iter(tangents)
            tangents = [None if k in fixed else next(given) for k in range(len(self.inputs))]
            made = self._tangents.of(words, inputs(primals), tangents, results)
            return result, made if isinstance(result, tuple) else made[0]

        if self._tangents is not None:
            call = jax.custom_jvp(forward)
            call.defjvp(push)
            return call
        call = jax.custom_vjp(forward)
        call.defvjp(
            # called again, so that this, too, has gradients
            lambda *arrays: self._save(call(*arrays), inputs(arrays), fixed),
            lambda kept, grads: self._gradients(words, kept, grads, fixed),
        )
        return call

    def _run(self, name, words, args):
        told = [(str(a.dtype), a.shape) for a in args]
        results = []
        for output, (dtype, shape) in zip(
            self.outputs, self._kernel.infer(*told, **words), strict=True
        ):
            self._check_dtype(output, dtype)
            results.append(jax.ShapeDtypeStruct(shape, jnp.dtype(dtype)))
        return self._call_program(results, self._batching(args), args, call=name)

    def _call_program(self, results, batching, arrays, **texts):
        alone = len(results) == 1
        run = jax.ffi.ffi_call("pyquern", results[0] if alone else results, vmap_method=batching)
        made = run(*arrays, **texts)
        return made if alone else tuple(made)

    def _batching(self, args):
        """One call for a batch where its axis is like any other; else one call for each index."""
        meets = not self._words and not any(p[3] for p in self._given)
        return "broadcast_all" if meets and len({a.ndim for a in args}) < 2 else "sequential"

    # ---- gradients

    def _is_by_element(self):
        """Whether an output's element has, of each input, its own element alone, but for axes."""
        return self._words != ("axis",) and not any(p[3] for p in self._given)

    def _save(self, result, args, fixed):
        if self._told is None:
            raise NotImplementedError(
                f"{self.name} has no backward: give one by backward=, or pass "
                "jax.lax.stop_gradient(x)"
            )
        outputs = result if isinstance(result, tuple) else (result,)
        kinds = {"input": args, "output": outputs}
        kept = [
            kinds[kind][place]
            for _, kind, place in self._told.sources
            if kind in kinds and not (kind == "input" and place in fixed)
        ]
        likes = [  # their shapes and dtypes
            None if k in fixed else jnp.zeros((0, *a.shape), a.dtype) for k, a in enumerate(args)
        ]
        return result, (kept, likes)

    def _gradients(self, words, saved, grads, fixed):
        kept, likes = saved
        likes = [None if a is None else (a.shape[1:], a.dtype) for a in likes]
        grads = grads if isinstance(grads, tuple) else (grads,)
        kept = iter(kept)
        values = {}
        for name, kind, place in self._told.sources:
            if kind == "word":
                values[name] = words.get(place)
                continue
            if kind == "input" and place in fixed:
                values[name] = fixed[place]
                continue
            value = grads[place] if kind == "gradient" else next(kept)
            values[name] = (
                value if kind == "input" else self._shaped(value, words, likes, self._told)
            )
        found = self._told.call(values)
        return tuple(self._fit(k, g, likes) for k, g in enumerate(found) if k not in fixed)

    def _loop(self, args):
        """The shape that the kernel walks."""
        shapes = [a.shape for p, a in zip(self._given, args, strict=True) if not p[3]]
        return jnp.broadcast_shapes(*shapes)

    def _shaped(self, value, words, likes, told):
        """An output or its gradient as it broadcasts with the inputs: with the axes it has lost."""
        if told.places is None or "keepdims" not in self._words or words.get("keepdims"):
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
