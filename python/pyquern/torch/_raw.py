# SPDX-License-Identifier: MIT
#
# Kernels of CUDA source as functions of torch. In: the source, whose declaration of the kernel is
# read, and which of its parameters are outputs, worked out, or written. Out: a function. The thing
# to know: outputs are made by functions of the inputs, which a compiler calls too, with tensors
# that have no data.
"""Raw kernels as functions of torch."""

import torch

from .._declared import Launch, has_work
from .._raw import RawKernel
from ._op import Op


class RawOp(Op):
    """A kernel of CUDA source."""

    _words: frozenset = frozenset()

    def __init__(self, source, name, derivatives, made, *, options, **launch):
        self._kernel = RawKernel(source, name, tuple(options))
        self._made = made
        self.name = name
        self._rules = Launch(source, name, _like, **launch)
        for p in self._rules.parameters:
            p.number = None if p.is_pointer else _number(p.dtype)
            p.dtype = getattr(torch, p.dtype) if p.is_pointer and p.dtype else None
        self._given = self._rules.given
        self._mutates = self._rules.mutates
        self.inputs = self._rules.inputs
        self.outputs = self._rules.outputs
        self._returns = len(self.outputs)
        self._check(derivatives)
        # The code of a function may change from one process to the next: no hash of it is kept.
        code = repr(sorted(launch.items())) if self._rules.is_plain else None
        self._define((source, name, tuple(options), code), *derivatives)

    def _check(self, derivatives):
        if not self.outputs and not self._mutates:
            raise ValueError(
                f"{self.name} writes nothing: name what it writes by outputs={{'y': 'x'}}, or by "
                "mutates=('y',)"
            )
        if self._mutates and (self.outputs or derivatives != (None, None)):
            raise ValueError(
                f"{self.name} writes to its arguments (mutates), so that it has no "
                f"{'outputs' if self.outputs else 'backward'}: let it write to outputs alone"
            )

    # ---- the schema

    def _schema(self):
        def entry(k, p):
            if p.name in self._mutates:
                return f"Tensor(a{k}!) {p.name}_"
            return f"{'Tensor' if p.is_pointer else p.number} {p.name}_"

        return ", ".join(entry(k, p) for k, p in enumerate(self._given))

    def _flat(self, args, words):
        return args

    def _unflat(self, flat):
        return tuple(flat), {}

    # ---- doing it, and what it would give

    def _prepared(self, args):
        """All values by the parameters' names, with new outputs."""
        values = {}
        for p, value in zip(self._given, args, strict=False):
            values[p.name] = self._checked(p, value)
        made = self._rules.complete(values)
        for p in self._rules.parameters:
            if p.name in made:
                self._checked(p, made[p.name])
        return values | made

    def _checked(self, p, value):
        if not p.is_pointer:
            return value
        if not isinstance(value, torch.Tensor):
            raise TypeError(f"'{p.name}' of {self.name}() is a tensor, not {type(value).__name__}")
        if p.dtype is not None and value.dtype != p.dtype:
            raise TypeError(
                f"'{p.name}' of {self.name}() points to {p.type}, and the tensor has {value.dtype}"
            )
        if p.name not in self._mutates:
            return value.contiguous()
        if not value.is_contiguous():
            raise ValueError(f"'{p.name}' of {self.name}() is written, and is not contiguous")
        return value

    def _results(self, values):
        made = tuple(values[n] for n in self.outputs)
        return made[0] if len(made) == 1 else made or None

    def _direct(self, *args):
        values = self._prepared(args)
        with torch.no_grad():
            rules = self._rules
            grid, block = rules.grid(values), rules.block(values)
            if has_work(grid):
                call = tuple(values[p.name] for p in rules.parameters)
                self._kernel(grid, block, call, shared_mem=rules.shared(values))
        for name in self._mutates:
            if not values[name].is_inference():
                torch.autograd.graph.increment_version(values[name])
        return self._results(values)

    def _infer(self, args, words):
        return self._results(self._prepared(args))

    # ---- gradients

    def _kept(self, tensor, likes, words):
        return tensor

    def _sum_to(self, gradient, place, shape, likes):
        return gradient.sum_to_size(shape)


def _number(dtype):
    """The type of a number in a schema."""
    kind = getattr(torch, dtype)
    return "float" if kind.is_floating_point else "bool" if kind == torch.bool else "SymInt"


def _like(source):
    return torch.empty_like(source, memory_format=torch.contiguous_format)
