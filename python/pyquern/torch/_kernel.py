# SPDX-License-Identifier: MIT
#
# Elementwise kernels, reductions and scans as functions of torch. In: a definition, tensors,
# numbers. Out: tensors. The thing to know: dtypes and shapes of outputs come from the library,
# which needs no data for them; only where a compiler has extents that are not numbers yet is the
# shape worked out here, by the same rules.
"""Kernels of snippets as functions of torch."""

import torch

from ._op import Op

_NUMBERS = (int, float, complex, torch.SymInt, torch.SymFloat)
_WORDS = {  # by kind: the keywords, their types in the schema and their defaults
    "elementwise": {"size": ("SymInt?", None)},
    "reduction": {"axis": ("int[]?", None), "keepdims": ("bool", False)},
    "scan": {"axis": ("int[]?", None)},
}


class KernelOp(Op):
    """An elementwise kernel, a reduction or a scan."""

    _tags = (torch.Tag.pt2_compliant_tag, torch.Tag.flexible_layout)

    def __init__(self, kernel, kind, definition, derivatives, made):
        self._kernel = self._direct = kernel
        self._kind = kind
        self._made = made
        self.name = kernel.name
        self.inputs = tuple(p[0] for p in kernel.parameters if not p[2])
        self.outputs = tuple(p[0] for p in kernel.parameters if p[2])
        self._raw = tuple(p[3] for p in kernel.parameters if not p[2])
        self._returns = len(self.outputs)
        self._defaults = {w: default for w, (_, default) in _WORDS[kind].items()}
        self._words = frozenset(self._defaults)
        if not self.inputs:
            raise ValueError(f"{self.name} has no input: a function of torch takes tensors")
        self._define((kind, *definition), *derivatives)

    # ---- the schema

    def _schema(self):
        # Behind an underscore, since a parameter may have a name that schemas keep for themselves.
        tensors = [f"Tensor? {name}_" for name in self.inputs]
        numbers = [f"Scalar? {name}_number_=None" for name in self.inputs]
        words = [f"{t} {name}={default}" for name, (t, default) in _WORDS[self._kind].items()]
        return ", ".join((*tensors, *numbers, *words))

    def _flat(self, args, words):
        tensors, numbers = [], []
        for k, value in enumerate(args):
            is_tensor = isinstance(value, torch.Tensor)
            if not is_tensor and not isinstance(value, _NUMBERS):
                raise TypeError(
                    f"argument {k + 1} of {self.name}() ('{self.inputs[k]}', "
                    f"{type(value).__name__}) is neither a tensor nor a number"
                )
            tensors.append(value if is_tensor else None)
            numbers.append(None if is_tensor else value)
        if all(t is None for t in tensors):
            raise TypeError(f"{self.name}() was given no tensor: at least one argument is one")
        rest = [words.get(w, default) for w, default in self._defaults.items()]
        if self._kind != "elementwise" and rest[0] is not None:
            rest[0] = [rest[0]] if isinstance(rest[0], int) else list(rest[0])
        return (*tensors, *numbers, *rest)

    def _unflat(self, flat):
        count = len(self.inputs)
        numbers = (*flat[count : 2 * count], *[None] * count)
        args = tuple(n if t is None else t for t, n in zip(flat[:count], numbers, strict=False))
        words = dict(zip(self._defaults, flat[2 * count :], strict=False))
        if words.get("axis") is not None:
            words["axis"] = tuple(words["axis"])
        return args, {w: v for w, v in words.items() if v is not None}

    # ---- what it would give

    def _infer(self, args, words):
        tensors = [a for a in args if isinstance(a, torch.Tensor)]
        extents = [n for t in tensors for n in t.shape]
        extents += [words["size"]] if "size" in words else []
        symbolic = any(not isinstance(n, int) for n in extents)
        told = [self._told(a, symbolic) for a in args]
        if symbolic and "size" in words:
            infos = self._kernel.infer(*told, size=1)
            shape = (words["size"],)
        else:
            infos = self._kernel.infer(*told, **words)
            shape = self._shape(args, words) if symbolic else None
        made = tuple(
            torch.empty(
                extents if shape is None else shape,
                dtype=getattr(torch, dtype),
                device=tensors[0].device,
            )
            for dtype, extents in infos
        )
        return made[0] if len(made) == 1 else made

    @staticmethod
    def _told(value, symbolic):
        """An argument as infer() takes it."""
        if isinstance(value, torch.Tensor):
            shape = (1,) * value.ndim if symbolic else tuple(value.shape)
            return str(value.dtype)[6:], shape
        if isinstance(value, torch.SymFloat):
            return 1.0
        return 1 if isinstance(value, torch.SymInt) else value

    def _loop(self, likes):
        """The shape of the loop, of the shapes of all inputs; None of numbers."""
        shapes = [s for s, raw in zip(likes, self._raw, strict=False) if s is not None and not raw]
        return torch.broadcast_shapes(*shapes) if shapes else ()

    def _shape(self, args, words):
        full = self._loop([a.shape if isinstance(a, torch.Tensor) else None for a in args])
        if self._kind != "reduction":
            return full
        axes = self._axes(len(full), words)
        if words.get("keepdims"):
            return [1 if k in axes else n for k, n in enumerate(full)]
        return [n for k, n in enumerate(full) if k not in axes]

    @staticmethod
    def _axes(ndim, words):
        axis = words.get("axis")
        if axis is None:
            return list(range(ndim))
        axes = (axis,) if isinstance(axis, int) else axis
        return sorted(a % ndim for a in axes)

    def _batched(self, call, size, in_dims, args, words):
        if self._kind != "elementwise" or "size" in words or any(self._raw):
            return super()._batched(call, size, in_dims, args, words)
        # The new axis comes first, and axes of extent 1 follow, so that the others meet as before.
        tensors = [
            (a, d) for a, d in zip(args, in_dims, strict=False) if isinstance(a, torch.Tensor)
        ]
        ndim = max(a.ndim - (d is not None) for a, d in tensors)
        args = list(args)
        for k, d in enumerate(in_dims):
            if d is not None:
                args[k] = args[k].movedim(d, 0)
                for _ in range(ndim + 1 - args[k].ndim):
                    args[k] = args[k].unsqueeze(1)
        return call(*args, **words), 0 if self._returns == 1 else (0,) * self._returns

    # ---- gradients

    def _kept(self, tensor, likes, words):
        if self._kind != "reduction" or words.get("keepdims"):
            return tensor
        full = self._loop([shape for shape, _ in likes])
        for axis in self._axes(len(full), words):
            tensor = tensor.unsqueeze(axis)
        return tensor

    def _sum_to(self, gradient, place, shape, likes):
        if self._raw[place]:
            raise RuntimeError("a raw argument is not broadcast")
        full = self._loop([s for s, _ in likes])
        if gradient.shape != full:
            gradient = gradient.expand(full)
        return gradient if gradient.shape == shape else gradient.sum_to_size(shape)
