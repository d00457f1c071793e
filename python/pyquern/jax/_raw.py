# SPDX-License-Identifier: MIT
#
# Kernels of CUDA source as functions of JAX. In: the source, whose declaration of the kernel is
# read, and which of its parameters are outputs or worked out. Out: a function. The thing to know:
# shapes are known when a program is traced, so grid, block and numbers are worked out then, and
# stand in the program as a text (src/jax.c), beside the name of the kernel.
"""Raw kernels as functions of JAX."""

import operator
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy

from .._declared import Launch, has_work
from .._foreign import wrong_word
from .._raw import RawKernel
from ._op import Op


class RawOp(Op):
    """A kernel of CUDA source."""

    def __init__(self, source, name, derivatives, made, *, options, **launch):
        self._kernel = RawKernel(source, name, options)
        self._made = made
        self._words = ()
        self.name = name
        self._rules = Launch(source, name, lambda source: source, **launch)
        self._given = self._rules.given
        self.inputs = self._rules.inputs
        self.outputs = self._rules.outputs
        self._check()
        self._define(("raw", source, name, options), derivatives)
        self._program = lru_cache(maxsize=256)(self._make)

    def _check(self):
        if not self.outputs:
            raise ValueError(
                f"{self.name} has no output: name what it writes by outputs={{'y': 'x'}}"
            )
        for p in self._given:
            if p.is_pointer and not p.is_const:
                raise ValueError(
                    f"'{p.name}' of {self.name} is an input, and JAX's arrays are never written: "
                    "declare a pointer to const, or name it in outputs"
                )

    # ---- calls

    def __call__(self, *args, **words):
        self._check_count(args)
        for word in words:
            raise TypeError(wrong_word(self.name, word, ""))
        values, arrays = {}, []
        for p, value in zip(self._given, args, strict=True):
            if p.is_pointer:
                arrays.append(self._array(p, value))
                values[p.name] = jax.ShapeDtypeStruct(arrays[-1].shape, arrays[-1].dtype)
            else:
                values[p.name] = value
                self._number(p, value)
        told = self._rules.complete(values)
        made = tuple(self._new(name, told[name]) for name in self.outputs)
        if not has_work(self._rules.grid(values)):
            empty = tuple(jnp.zeros(shape, dtype) for shape, dtype in made)
            return empty if len(empty) > 1 else empty[0]
        return self._program(self._launch(values), made)(*arrays)

    def _array(self, p, value):
        if not hasattr(value, "dtype"):
            raise TypeError(f"'{p.name}' of {self.name}() is an array, not {type(value).__name__}")
        if p.dtype is not None and str(value.dtype) != p.dtype:
            raise TypeError(
                f"'{p.name}' of {self.name}() points to {p.type}, and the array has {value.dtype}"
            )
        return jnp.asarray(value)

    def _number(self, p, value):
        """A number of the parameter's own dtype."""
        if isinstance(value, jax.core.Tracer):
            raise TypeError(
                f"'{p.name}' of {self.name}() is a number, which is fixed when a program is "
                "traced: pass one of Python, or an array and a pointer"
            )
        kind = jnp.dtype(p.dtype)
        fits = (int, numpy.integer) if jnp.issubdtype(kind, jnp.integer) else (int, float)
        if not isinstance(value, (*fits, numpy.generic)):
            raise TypeError(f"'{p.name}' of {self.name}() is {p.type}, not {type(value).__name__}")
        if fits[-1] is numpy.integer and not isinstance(value, fits):
            raise TypeError(f"'{p.name}' of {self.name}() is {p.type}, and the number is {value!r}")
        return kind.type(value)

    def _new(self, name, told):
        """(shape, dtype) of an output."""
        p = next(p for p in self._rules.parameters if p.name == name)
        try:
            shape, dtype = tuple(map(operator.index, told.shape)), str(jnp.dtype(told.dtype))
        except (AttributeError, TypeError):
            raise TypeError(
                f"the output '{name}' of {self.name} is told by something with a shape and a "
                f"dtype, such as jax.ShapeDtypeStruct, not {type(told).__name__}"
            ) from None
        if p.dtype is not None and dtype != p.dtype:
            raise TypeError(f"'{name}' of {self.name}() points to {p.type}, and is made of {dtype}")
        self._check_dtype(name, dtype)
        return shape, dtype

    def _launch(self, values):
        """What src/jax.c reads."""
        rules = self._rules
        numbers = [*_three(rules.grid(values)), *_three(rules.block(values))]
        numbers.append(operator.index(rules.shared(values)))
        for n in numbers:
            if not 0 <= n < 1 << 32:
                raise ValueError(f"{self.name} is launched with {n} blocks, threads or bytes")
        words = [str(n) for n in numbers]
        for p in rules.parameters:
            if p.is_pointer:
                words.append("r" if p.name in self.outputs else "a")
            else:
                words.append(self._number(p, values[p.name]).tobytes().hex())
        return " ".join(words)

    def _fixed(self, launch):
        """The numbers that the caller gave, by their places, as they stand in the launch: a number
        as a key would be a key of its own for each nan, and one for 0.0 and -0.0."""
        words = dict(zip((p.name for p in self._rules.parameters), launch.split()[7:], strict=True))
        return {
            place: numpy.frombuffer(bytes.fromhex(words[p.name]), jnp.dtype(p.dtype))[0]
            for place, p in enumerate(self._given)
            if not p.is_pointer
        }

    def _make(self, launch, made):
        """The function for this launch, of arrays alone."""
        name = f"{self.name}-{self._hash}"
        self._add(name)
        results = [jax.ShapeDtypeStruct(shape, jnp.dtype(dtype)) for shape, dtype in made]

        def forward(*arrays):
            return self._call_program(results, "sequential", arrays, call=name, launch=launch)

        return jax.jit(self._differentiable(forward, {}, self._fixed(launch)))

    def _add(self, name):
        super()._add(name, None, False)

    # ---- derivatives

    def _is_by_element(self):
        return True  # where the definition says so, by texts

    def _shaped(self, value, words, likes, told):
        return value

    def _loop(self, args):
        return jnp.broadcast_shapes(*(a.shape for a in args if hasattr(a, "shape") and a.shape))


def _three(extents):
    extents = extents if isinstance(extents, (tuple, list)) else (extents,)
    if not 1 <= len(extents) <= 3:
        raise ValueError(f"a grid and a block have 1 to 3 extents, not {len(extents)}")
    return [operator.index(n) for n in (*extents, 1, 1)[:3]]
