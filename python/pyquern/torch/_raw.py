# SPDX-License-Identifier: MIT
#
# Kernels of CUDA source as functions of torch. In: the source, whose declaration of the kernel is
# read, and which of its parameters are outputs, worked out, or written. Out: a function. The thing
# to know: outputs are made by functions of the inputs, which a compiler calls too, with tensors
# that have no data.
"""Raw kernels as functions of torch."""

import inspect

import torch

from .._declared import Rule, check_like, check_names, declared, has_work
from .._raw import RawKernel
from ._op import Op


class RawOp(Op):
    """A kernel of CUDA source."""

    _words: frozenset = frozenset()

    def __init__(
        self,
        source,
        name,
        derivatives,
        made,
        *,
        grid,
        block,
        outputs,
        values,
        mutates,
        shared_mem,
        options,
    ):
        self._kernel = RawKernel(source, name, tuple(options))
        self._made = made
        self.name = name
        self._all = declared(source, name)
        for p in self._all:
            p.number = None if p.is_pointer else _number(p.dtype)
            p.dtype = getattr(torch, p.dtype) if p.is_pointer and p.dtype else None
        outputs, values = dict(outputs or {}), dict(values or {})
        self._mutates = (mutates,) if isinstance(mutates, str) else tuple(mutates)
        self._check_names(outputs, values, derivatives)
        self._given = [p for p in self._all if p.name not in outputs and p.name not in values]
        self.inputs = tuple(p.name for p in self._given)
        self.outputs = tuple(p.name for p in self._all if p.name in outputs)
        self._returns = len(self.outputs)
        known = list(self.inputs)
        self._values = {n: Rule(f"the value '{n}'", r, known) for n, r in values.items()}
        known += values
        self._news = {
            n: Rule(f"the output '{n}'", _like(r, self.inputs), known) for n, r in outputs.items()
        }
        self._grid = Rule("the grid", grid, known)
        self._block = Rule("the block", block, known)
        self._shared = Rule("the shared memory", shared_mem, known)
        rules = [grid, block, shared_mem, *values.values(), *outputs.values()]
        # The code of a function may change from one process to the next: no hash of it is kept.
        code = None if any(map(callable, rules)) else repr((grid, block, shared_mem, outputs))
        self._define((source, name, tuple(options), self._mutates, code), *derivatives)

    def _check_names(self, outputs, values, derivatives):
        check_names(self.name, self._all, outputs, values, self._mutates)
        both = set(outputs) & set(self._mutates)
        if both:
            raise ValueError(f"'{both.pop()}' is new, by outputs, or given, by mutates: not both")
        if not outputs and not self._mutates:
            raise ValueError(
                f"{self.name} writes nothing: name what it writes by outputs={{'y': 'x'}}, or by "
                "mutates=('y',)"
            )
        if self._mutates and (outputs or derivatives != (None, None)):
            raise ValueError(
                f"{self.name} writes to its arguments (mutates), so that it has no "
                f"{'outputs' if outputs else 'backward'}: let it write to outputs alone"
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
        for name, rule in self._values.items():
            values[name] = rule(values)
        made = {name: rule(values) for name, rule in self._news.items()}
        for p in self._all:
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
            grid, block = self._grid(values), self._block(values)
            if has_work(grid):
                call = tuple(values[p.name] for p in self._all)
                self._kernel(grid, block, call, shared_mem=self._shared(values))
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


def _like(rule, inputs):
    """An output's rule as a function."""
    check_like(rule, inputs)
    if not isinstance(rule, str):
        return rule
    like = torch.empty_like

    def make(source):
        return like(source, memory_format=torch.contiguous_format)

    make.__signature__ = inspect.Signature(
        [inspect.Parameter(rule, inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    )
    return make
