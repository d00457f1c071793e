# SPDX-License-Identifier: MIT
#
# Gradients of a function: what its forward call keeps, and what its backward is called with. In: a
# backward, by whose parameters' names all is told. Out: one gradient for each input. The thing to
# know: `x` is the input, `y` the output, `gy` the gradient of `y`, and `gx` that of `x`; only what
# is named is kept.
"""How a backward is called."""

import inspect

import torch


class Gradient:
    """What belongs to the backward of `op`; `backward`: an Op, a function, or None."""

    def __init__(self, op, backward):
        self.op = op
        self.backward = backward
        self.definition = ["no backward"]
        if backward is None:
            return
        if hasattr(backward, "_definition"):
            names, self.definition = backward.inputs, backward._definition
            self.outputs = [self._place_of_gradient(n) for n in backward.outputs]
        else:
            names, self.definition = _parameters(backward), [None]  # its code may change: no hash
            self.outputs = None
        self.sources = [(n, *self._source(n)) for n in names]
        self.kept = [s for s in self.sources if s[1] != "gradient"]

    def _source(self, name):
        """Where the backward's parameter comes from: (kind, place)."""
        op = self.op
        found = []
        if name in op.inputs:
            found.append(("input", op.inputs.index(name)))
        if name in op.outputs:
            found.append(("output", op.outputs.index(name)))
        if name[:1] == "g" and name[1:] in op.outputs:
            found.append(("gradient", op.outputs.index(name[1:])))
        if self.outputs is None and name in op._words:
            found.append(("word", name))
        if len(found) == 1:
            return found[0]
        known = [*op.inputs, *op.outputs, *("g" + n for n in op.outputs)]
        what = f"is both the {found[0][0]} and the {found[1][0]}" if found else "is unknown"
        raise ValueError(
            f"the backward of {op.name} has a parameter '{name}', which {what}: its parameters are "
            f"named as inputs, as outputs, or as gradients of outputs: {', '.join(known)}"
        )

    def _place_of_gradient(self, name):
        inputs = self.op.inputs
        if name[:1] == "g" and name[1:] in inputs:
            return inputs.index(name[1:])
        known = ", ".join("g" + n for n in inputs)
        raise ValueError(
            f"the backward of {self.op.name} has an output '{name}': its outputs are the gradients "
            f"of the inputs: {known}"
        )

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
        ctx.likes = [
            (a.shape, a.dtype) if isinstance(a, torch.Tensor) else (None, None) for a in args
        ]

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
        for name, kind, place in self.sources:
            if kind == "gradient":
                values[name] = self._shaped(ctx, grads[place])
            elif name in ctx.plain:
                values[name] = ctx.plain[name]
            else:
                tensor = next(saved)
                values[name] = self._shaped(ctx, tensor) if kind == "output" else tensor
        found = self._call(values)
        return tuple(
            self._fit(ctx, k, found[k]) if needs[k] and found[k] is not None else None
            for k in range(len(op.inputs))
        )

    def _shaped(self, ctx, tensor):
        """An output or its gradient as it broadcasts with the inputs."""
        if self.outputs is None:
            return tensor  # a function of Python gets what torch gives
        return self.op._kept(tensor, ctx.likes, ctx.words)

    def _call(self, values):
        count = len(self.op.inputs)
        if self.outputs is None:
            made = self.backward(**values)
            made = made if isinstance(made, (tuple, list)) else (made,)
            if len(made) != count:
                raise ValueError(
                    f"the backward of {self.op.name} returned {len(made)} gradients: it returns "
                    f"one for each of {', '.join(self.op.inputs)}, or None"
                )
            return made
        made = self.backward(*values.values())
        made = made if isinstance(made, tuple) else (made,)
        found = [None] * count
        for place, gradient in zip(self.outputs, made, strict=False):
            found[place] = gradient
        return found

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


def _parameters(function):
    if not callable(function):
        raise TypeError(
            f"a backward is a tuple (in_params, out_params, operation), a function of "
            f"pyquern.torch or one of Python, not {type(function).__name__}"
        )
    parameters = inspect.signature(function).parameters.values()
    for p in parameters:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY):
            raise TypeError(f"a backward names its parameters: '{p}' is no plain one")
    return [p.name for p in parameters]
