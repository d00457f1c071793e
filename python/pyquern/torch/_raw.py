# SPDX-License-Identifier: MIT
#
# Kernels of CUDA source as functions of torch. In: the source, whose declaration of the kernel is
# read, and which of its parameters are outputs, worked out, or written. Out: a function. The thing
# to know: outputs are made by functions of the inputs, which a compiler calls too, with tensors
# that have no data.
"""Raw kernels as functions of torch."""

import inspect
import re

import torch

from .._raw import RawKernel
from ._op import Op

_DTYPES = {  # of what a pointer points to; others are not checked
    "float": "float32",
    "double": "float64",
    "__half": "float16",
    "half": "float16",
    "__nv_bfloat16": "bfloat16",
    "bool": "bool",
    "char": "int8",
    "signed char": "int8",
    "unsigned char": "uint8",
    "short": "int16",
    "unsigned short": "uint16",
    "int": "int32",
    "unsigned int": "uint32",
    "unsigned": "uint32",
    "long": "int64",
    "long long": "int64",
    "unsigned long": "uint64",
    "unsigned long long": "uint64",
    "size_t": "uint64",
    **{f"{u}int{n}_t": f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)},
}


class _Parameter:
    def __init__(self, text):
        words = re.sub(r"\b(const|volatile|__restrict__|__restrict|struct)\b", " ", text)
        found = re.fullmatch(r"\s*(.*?)\s*(\**)\s*(\w+)\s*", words.replace("* ", "*"), re.DOTALL)
        if not found or not found[1]:
            raise ValueError(f"the kernel's parameter '{text.strip()}' has no type and name")
        self.name = found[3]
        self.type = " ".join(found[1].split())
        self.is_pointer = bool(found[2])
        self.is_const = bool(re.search(r"\bconst\b", text.partition("*")[0]))
        dtype = _DTYPES.get(self.type)
        self.dtype = getattr(torch, dtype) if dtype and self.is_pointer else None
        self.number = None
        if not self.is_pointer:
            if not dtype:
                raise ValueError(
                    f"the kernel's parameter '{text.strip()}' is neither a pointer nor a number"
                )
            kind = getattr(torch, dtype)
            self.number = "float" if kind.is_floating_point else "SymInt"
            self.number = "bool" if kind == torch.bool else self.number


def _declared(source, name):
    """The parameters that the source declares for the kernel."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", source, flags=re.DOTALL)
    found = re.search(
        rf"\b__global__\b[^;{{}}]*?\b{re.escape(name)}\s*\(([^)]*)\)", text, re.DOTALL
    )
    if not found:
        raise ValueError(f"the source declares no kernel: __global__ void {name}(...)")
    inside = found[1].strip()
    return [_Parameter(p) for p in inside.split(",")] if inside not in ("", "void") else []


class _Rule:
    """A function of some of the kernel's parameters, or what it always returns."""

    def __init__(self, what, rule, known):
        self.rule = rule
        self.names = None
        if callable(rule):
            self.names = list(inspect.signature(rule).parameters)
            wrong = [n for n in self.names if n not in known]
            if wrong:
                raise ValueError(
                    f"{what} is a function of '{wrong[0]}', which is none of the kernel's "
                    f"parameters that are there by then: {', '.join(known)}"
                )

    def __call__(self, values):
        return self.rule if self.names is None else self.rule(*[values[n] for n in self.names])


class RawOp(Op):
    """A kernel of CUDA source."""

    _words: frozenset = frozenset()

    def __init__(
        self,
        source,
        name,
        backward,
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
        self._all = _declared(source, name)
        outputs, values = dict(outputs or {}), dict(values or {})
        self._mutates = (mutates,) if isinstance(mutates, str) else tuple(mutates)
        self._check_names(outputs, values, backward)
        self._given = [p for p in self._all if p.name not in outputs and p.name not in values]
        self.inputs = tuple(p.name for p in self._given)
        self.outputs = tuple(p.name for p in self._all if p.name in outputs)
        self._returns = len(self.outputs)
        known = list(self.inputs)
        self._values = {n: _Rule(f"the value '{n}'", r, known) for n, r in values.items()}
        known += values
        self._news = {
            n: _Rule(f"the output '{n}'", _like(r, self.inputs), known) for n, r in outputs.items()
        }
        self._grid = _Rule("the grid", grid, known)
        self._block = _Rule("the block", block, known)
        self._shared = _Rule("the shared memory", shared_mem, known)
        rules = [grid, block, shared_mem, *values.values(), *outputs.values()]
        # The code of a function may change from one process to the next: no hash of it is kept.
        code = None if any(map(callable, rules)) else repr((grid, block, shared_mem, outputs))
        self._define((source, name, tuple(options), self._mutates, code), backward)

    def _check_names(self, outputs, values, backward):
        pointers = [p.name for p in self._all if p.is_pointer]
        numbers = [p.name for p in self._all if not p.is_pointer]
        for what, names, known in (
            ("outputs", outputs, pointers),
            ("values", values, numbers),
            ("mutates", self._mutates, pointers),
        ):
            for n in names:
                if n not in known:
                    raise ValueError(
                        f"{what} names '{n}', which is none of {self.name}'s "
                        f"{'numbers' if what == 'values' else 'pointers'}: {', '.join(known)}"
                    )
                if what != "values" and next(p for p in self._all if p.name == n).is_const:
                    raise ValueError(
                        f"{what} names '{n}', which {self.name} declares as a pointer to const"
                    )
        both = set(outputs) & set(self._mutates)
        if both:
            raise ValueError(f"'{both.pop()}' is new, by outputs, or given, by mutates: not both")
        if not outputs and not self._mutates:
            raise ValueError(
                f"{self.name} writes nothing: name what it writes by outputs={{'y': 'x'}}, or by "
                "mutates=('y',)"
            )
        if self._mutates and (backward is not None or outputs):
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
            if _has_work(grid):
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


def _like(rule, inputs):
    """An output's rule as a function."""
    if not isinstance(rule, str):
        if not callable(rule):
            raise TypeError(
                "an output is told by the name of an input, or by a function that makes it"
            )
        return rule
    if rule not in inputs:
        raise ValueError(f"an output is to be like '{rule}', which is no input: {inputs}")
    like = torch.empty_like

    def make(source):
        return like(source, memory_format=torch.contiguous_format)

    make.__signature__ = inspect.Signature(
        [inspect.Parameter(rule, inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    )
    return make


def _has_work(grid):
    extents = grid if isinstance(grid, (tuple, list)) else (grid,)
    return 0 not in extents
