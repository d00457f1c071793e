# SPDX-License-Identifier: MIT
#
# Gradients of a function: what its forward call keeps, and what its backward is called with. In: a
# backward, by whose parameters' names all is told. Out: one gradient for each input. The thing to
# know: `x` is the input, `y` the output, `gy` the gradient of `y`, and `gx` that of `x`; only what
# is named is kept.
"""What is kept for a backward, and the gradients that it makes."""

import torch

from .._backward import Backward


class Gradient:
    """What belongs to the backward of `op`; `backward`: an Op, a function, or None."""

    def __init__(self, op, backward):
        self.op = op
        self.backward = backward
        self.definition = ["no backward"]
        if backward is None:
            return
        self.told = Backward(op, backward, "pyquern.torch")
        if self.told.places is not None:
            self.definition = backward._definition
        else:
            self.definition = [None]  # its code may change: no hash
        self.kept = [s for s in self.told.sources if s[1] != "gradient"]

    # ---- forward

    def save(self, ctx, args, words, result):
        """Keep what the backward names."""
        ctx.op = self.op
        if self.backward is None:
            return
        tensors, plain = [], {}
        for name, kind, place in self.kept:
            if kind == "input":
                value = args[place]
            elif kind == "output":
                value = result[place] if isinstance(result, tuple) else result
            else:
                value = words.get(place)
            if isinstance(value, torch.Tensor):
                tensors.append(value)
            else:
                plain[name] = value
        ctx.save_for_backward(*tensors)
        ctx.plain = plain
        ctx.words = words
        ctx.likes = self.likes(args)

    @staticmethod
    def likes(args):
        """Shapes and dtypes of tensors; (None, None) of numbers."""
        return [(a.shape, a.dtype) if isinstance(a, torch.Tensor) else (None, None) for a in args]

    # ---- backward

    def of(self, ctx, grads, needs):
        """One gradient for each input, or None."""
        op = self.op
        if self.backward is None:
            raise NotImplementedError(
                f"{op.name} has no backward: give one by backward=, or pass x.detach()"
            )
        saved = iter(ctx.saved_tensors)
        values = {}
        for name, kind, place in self.told.sources:
            if kind == "gradient":
                values[name] = self._shaped(ctx, grads[place])
            elif name in ctx.plain:
                values[name] = ctx.plain[name]
            else:
                tensor = next(saved)
                values[name] = self._shaped(ctx, tensor) if kind == "output" else tensor
        found = self.told.call(values)
        return tuple(
            self._fit(ctx, k, found[k]) if needs[k] and found[k] is not None else None
            for k in range(len(op.inputs))
        )

    def _shaped(self, ctx, tensor):
        """An output or its gradient as it broadcasts with the inputs."""
        if self.told.places is None:
            return tensor  # a function of Python gets what torch gives
        return self.op._kept(tensor, ctx.likes, ctx.words)

    def _fit(self, ctx, place, gradient):
        """A gradient of the input's shape and dtype: summed where the input was broadcast."""
        shape, dtype = ctx.likes[place]
        if shape is None:
            return None
        if gradient.shape != shape:
            try:
                gradient = self.op._sum_to(gradient, place, shape, ctx.likes)
            except RuntimeError:
                raise ValueError(
                    f"the backward of {self.op.name} returned a gradient of shape "
                    f"{tuple(gradient.shape)} for '{self.op.inputs[place]}', whose shape is "
                    f"{tuple(shape)}"
                ) from None
        return gradient if gradient.dtype == dtype else _converted(gradient, dtype)


def _converted(gradient, dtype):
    if gradient.is_complex() and not dtype.is_complex:
        gradient = gradient.real
    return gradient.to(dtype)
