# SPDX-License-Identifier: MIT
#
# Forward mode of a function of JAX. In: a jvp, or a backward of texts that it follows from. Out:
# the outputs' tangents. The thing to know: a kernel cannot be transposed, and JAX takes gradients
# by transposing tangents; so a kernel gives the derivatives at the inputs alone, by a tangent (or a
# gradient) of ones, and JAX's own product with the tangents is what it transposes.
"""How tangents are made."""

import jax
import jax.numpy as jnp
import numpy

from .._backward import Forward


class Tangents:
    """The jvp of `op`: a function of this package or of Python, or True: what `backward` says."""

    def __init__(self, op, jvp, backward):
        self.op = op
        self.backward = backward if jvp is True else None
        self.told = None if jvp is True else Forward(op, jvp, "pyquern.jax")
        is_of_texts = jvp is True or self.told.places is not None
        if jvp is True and (backward is None or backward.places is None):
            raise ValueError(
                f"jvp=True: the tangents of {op.name} follow from its backward, which must be "
                "texts: give jvp= texts or a function"
            )
        if is_of_texts and not op._is_by_element():
            raise ValueError(
                f"the jvp of {op.name} cannot be of texts, since an output has more of an input "
                "than its own element: give a function of Python, which returns one tangent for "
                "each output"
            )
        if jvp is not True and is_of_texts and op._words:
            raise ValueError(
                f"the jvp of {op.name}, which has an axis, is a function of Python, or True: then "
                "it follows from the backward"
            )

    def of(self, words, args, tangents, results):
        """A tangent for each output. `tangents`: of `args`, None of numbers."""
        if self.told is not None and self.told.places is None:
            kinds = {"input": args, "output": results, "tangent": tangents}
            values = {
                name: words.get(place) if kind == "word" else kinds[kind][place]
                for name, kind, place in self.told.sources
            }
            found = self.told.call(values)
        else:
            found = self._sums(words, args, tangents, results)
        return tuple(self._fit(k, t, results[k]) for k, t in enumerate(found))

    def _fit(self, place, tangent, result):
        if not jnp.issubdtype(result.dtype, jnp.inexact):
            return numpy.zeros(result.shape, jax.dtypes.float0)
        if tangent is None:
            return jnp.zeros_like(result)
        if tangent.shape != result.shape:
            raise ValueError(
                f"the jvp of {self.op.name} returned a tangent of shape {tangent.shape} for "
                f"'{self.op.outputs[place]}', whose shape is {result.shape}"
            )
        return tangent.astype(result.dtype)

    def _sums(self, words, args, tangents, results):
        """Of each output, the sum of its derivatives by the inputs, times their tangents."""
        sums = [None] * len(results)
        inputs = [k for k, a in enumerate(args) if tangents[k] is not None and _differs(a)]
        outputs = [j for j, y in enumerate(results) if _differs(y)]
        shape = self.op._loop(args)
        for j, k, derivative in self._derivatives(words, args, results, inputs, outputs):
            term = self._reduced(jnp.broadcast_to(derivative * tangents[k], shape), words)
            sums[j] = term if sums[j] is None else sums[j] + term
        return sums

    def _reduced(self, term, words):
        if "keepdims" not in self.op._words:
            return term
        return term.sum(words.get("axis"), keepdims=bool(words.get("keepdims")))

    def _derivatives(self, words, args, results, inputs, outputs):
        """(output, input, the derivative) where there is one."""
        if self.backward is None:
            for k in inputs:
                found = self._call(self.told, args, results, "tangent", args, k)
                yield from ((j, k, found[j]) for j in outputs if found[j] is not None)
            return
        likes = [(a.shape, a.dtype) for a in args]
        results = [self.op._shaped(y, words, likes, self.backward) for y in results]
        for j in outputs:
            found = self._call(self.backward, args, results, "gradient", results, j)
            yield from ((j, k, found[k]) for k in inputs if found[k] is not None)

    @staticmethod
    def _call(told, args, results, made, like, one):
        """What `told` makes where the derivative at the place `one` is 1, and all others are 0."""
        kinds = {"input": args, "output": results}
        values = {}
        for name, kind, place in told.sources:
            if kind == made:
                values[name] = (jnp.ones_like if place == one else jnp.zeros_like)(like[place])
            else:
                values[name] = kinds[kind][place]
        return told.call(values)


def _differs(value):
    return hasattr(value, "dtype") and jnp.issubdtype(value.dtype, jnp.inexact)
