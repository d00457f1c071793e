# SPDX-License-Identifier: MIT
#
# Forward mode of a function of torch. In: a jvp, or a backward that it follows from. Out: the
# outputs' tangents. The thing to know: where each element of an output has of each input but its
# own element, a backward of texts with gradients of ones gives the derivatives; any other backward
# is linear in its gradients, and its own backward is then the jvp.
"""How tangents are made."""

import torch

from .._backward import Forward


class Tangents:
    """The jvp of `op`: a function of this package or of Python; None: what `gradient` says."""

    def __init__(self, op, jvp, gradient):
        self.op = op
        self.gradient = gradient
        self.told = None if jvp is None else Forward(op, jvp, "pyquern.torch")
        self.definition = []
        if self.told is not None:
            # The code of a function of Python may change: no hash.
            self.definition = [None] if self.told.places is None else jvp._definition
        if self.told is not None and self.told.places is not None and op._words & {"axis"}:
            raise ValueError(
                f"the jvp of {op.name}, which has an axis, is a function of Python, which returns "
                "one tangent for each output; without one it follows from the backward"
            )

    def save(self, ctx, args, words, result):
        """Keep what a jvp may name."""
        results = result if isinstance(result, tuple) else (result,)
        is_tensor = [isinstance(a, torch.Tensor) for a in args]
        ctx.op, ctx.words = self.op, words
        ctx.numbers = [None if t else a for t, a in zip(is_tensor, args, strict=True)]
        ctx.is_tensor = is_tensor
        ctx.save_for_forward(*(a for t, a in zip(is_tensor, args, strict=True) if t), *results)

    def of(self, ctx, tangents):
        """A tangent for each output, or None. `tangents`: of the inputs, None for one without."""
        saved = iter(ctx.saved_tensors)
        args = [next(saved) if t else n for t, n in zip(ctx.is_tensor, ctx.numbers, strict=True)]
        results = list(saved)
        if self.told is not None:
            found = self._said(ctx, args, tangents, results)
        elif self.gradient.backward is None:
            raise NotImplementedError(
                f"{self.op.name} has no forward-mode derivative: give one by jvp=, or a backward "
                "that it follows from"
            )
        elif self._is_by_element(args, results):
            found = self._sums(ctx, args, tangents, results)
        else:
            found = self._transposed(ctx, args, tangents, results)
        return tuple(map(self._fit, self.op.outputs, found, results))

    def _fit(self, name, tangent, result):
        if tangent is None or not _differs(result):
            return None
        if tangent.shape != result.shape:
            raise ValueError(
                f"the jvp of {self.op.name} returned a tangent of shape {tuple(tangent.shape)} for "
                f"'{name}', whose shape is {tuple(result.shape)}"
            )
        return tangent.to(result.dtype)

    def _said(self, ctx, args, tangents, results):
        values = {}
        for name, kind, place in self.told.sources:
            if kind == "word":
                values[name] = ctx.words.get(place)
            elif kind == "tangent":
                values[name] = tangents[place]
                if tangents[place] is None:
                    values[name] = torch.zeros_like(torch.as_tensor(args[place]))
            else:
                values[name] = (args if kind == "input" else results)[place]
        return self.told.call(values)

    # ---- from the backward

    def _is_by_element(self, args, results):
        told, op = self.gradient.told, self.op
        kind = getattr(op, "_kind", None)
        is_complex = any(v.is_complex() for v in (*args, *results) if isinstance(v, torch.Tensor))
        is_plain = kind in ("elementwise", "reduction") and not any(op._raw)
        return is_plain and told.places is not None and not is_complex

    def _values(self, ctx, args, results, grads):
        """The backward's arguments: as in a backward, outputs have the axes that were reduced."""
        values = {}
        for name, kind, place in self.gradient.told.sources:
            if kind == "word":
                values[name] = ctx.words.get(place)
            elif kind == "input":
                values[name] = args[place]
            else:
                value = (grads if kind == "gradient" else results)[place]
                values[name] = self.gradient._shaped(ctx, value)
        return values

    def _sums(self, ctx, args, tangents, results):
        """Of each output, the sum of its derivatives by the inputs, times their tangents."""
        ctx.likes = self.gradient.likes(args)
        full = self.op._loop([shape for shape, _ in ctx.likes])
        found = []
        for j, y in enumerate(results):
            grads = [
                torch.ones_like(y) if k == j else torch.zeros_like(z) for k, z in enumerate(results)
            ]
            made = self.gradient.told.call(self._values(ctx, args, results, grads))
            terms = [
                (d * t).expand(full)
                for d, t in zip(made, tangents, strict=True)
                if d is not None and t is not None and _differs(y)
            ]
            found.append(
                self._reduced(sum(terms[1:], terms[0]), len(full), ctx.words) if terms else None
            )
        return found

    def _reduced(self, term, ndim, words):
        if self.op._kind != "reduction":
            return term
        axes = self.op._axes(ndim, words)
        return term.sum(axes, keepdim=bool(words.get("keepdims"))) if axes else term

    def _transposed(self, ctx, args, tangents, results):
        """The backward, which is linear in its gradients, differentiated by them."""
        ctx.likes = self.gradient.likes(args)
        with torch.enable_grad():
            grads = [torch.zeros_like(y, requires_grad=_differs(y)) for y in results]
            made = self.gradient.told.call(self._values(ctx, args, results, grads))
            pairs = [
                (self.gradient._fit(ctx, k, g), t)
                for k, (g, t) in enumerate(zip(made, tangents, strict=True))
                if isinstance(g, torch.Tensor) and t is not None and g.requires_grad
            ]
            wanted = [g for g in grads if g.requires_grad]
            if not pairs:
                return [None] * len(results)
            try:
                found = torch.autograd.grad(
                    [g for g, _ in pairs], wanted, [t for _, t in pairs], allow_unused=True
                )
            except NotImplementedError as error:
                raise NotImplementedError(
                    f"the forward-mode derivative of {self.op.name} follows from its backward only "
                    "if that has one itself: give jvp="
                ) from error
        found = iter(found)
        return [next(found) if g.requires_grad else None for g in grads]


def _differs(tensor):
    return tensor.is_floating_point() or tensor.is_complex()
