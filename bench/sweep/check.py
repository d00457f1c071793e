# SPDX-License-Identifier: MIT
#
# Whether a result is right. In: a case, the memory of its operands before and after. Out: None,
# or a sentence that says what is wrong. The thing to know: NumPy or PyTorch computes in 64-bit
# integers, float64 or complex128 from the same memory, and what the output's memory holds between
# its elements must not have changed. `Numpy` and `Torch` are the few functions that formulas use.
"""Results beside NumPy's or PyTorch's."""

import functools

import numpy as np

from . import operations

# How much a result may differ, in parts of its size, by the dtype of values or output.
TOLERANCE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 2e-5, "float64": 1e-10}
NO_MEMORY = "not compared: PyTorch had too little memory"


class Numpy:
    """Formulas on arrays of NumPy."""

    where = staticmethod(lambda c, x, y: np.where(c != 0, x, y))
    minimum, maximum, number = np.minimum, np.maximum, np.asarray
    exp, sin, log, sqrt, tanh = np.exp, np.sin, np.log, np.sqrt, np.tanh
    broadcast = np.broadcast_to
    int64 = np.int64
    sum = staticmethod(lambda x, at: x.sum(at.axes, keepdims=at.keepdims))
    min = staticmethod(lambda x, at: x.min(at.axes, keepdims=at.keepdims))
    max = staticmethod(lambda x, at: x.max(at.axes, keepdims=at.keepdims))

    @staticmethod
    def _along(function, x, at):
        if at.all:
            return function(x.reshape(-1), 0).reshape(x.shape)
        return function(x, at.axes[0])

    cumsum = classmethod(lambda m, x, at: m._along(np.cumsum, x, at))
    cummax = classmethod(lambda m, x, at: m._along(np.maximum.accumulate, x, at))
    cummin = classmethod(lambda m, x, at: m._along(np.minimum.accumulate, x, at))

    @staticmethod
    def _place(function, x, at):
        last = np.moveaxis(x, at.axes, range(at.rank - len(at.axes), at.rank))
        place = function(last.reshape(*last.shape[: at.rank - len(at.axes)], -1), -1)
        return np.expand_dims(place, at.axes) if at.keepdims else place

    argmax = classmethod(lambda m, x, at: m._place(np.argmax, x, at))
    argmin = classmethod(lambda m, x, at: m._place(np.argmin, x, at))


class Torch:
    """Formulas on tensors of PyTorch."""

    def __init__(self):
        import torch

        self.torch = torch
        for name in "minimum maximum exp sin log sqrt tanh".split():
            setattr(self, name, getattr(torch, name))
        self.number = torch.tensor
        self.broadcast = torch.broadcast_to
        self.cummax = functools.partial(self._along, lambda x, k: torch.cummax(x, k).values)
        self.cummin = functools.partial(self._along, lambda x, k: torch.cummin(x, k).values)
        self.cumsum = functools.partial(self._along, torch.cumsum)

    def where(self, c, x, y):
        return self.torch.where(c if c.dtype == self.torch.bool else c != 0, x, y)

    def int64(self, x):
        return x.to(self.torch.int64)

    def sum(self, x, at):
        return self.torch.sum(x, at.axes, keepdim=at.keepdims)

    def min(self, x, at):
        return self.torch.amin(x, at.axes, keepdim=at.keepdims)

    def max(self, x, at):
        return self.torch.amax(x, at.axes, keepdim=at.keepdims)

    def _along(self, function, x, at):
        if at.all:
            return function(x.reshape(-1), 0).reshape(x.shape)
        return function(x, at.axes[0])

    def _place(self, function, x, at):
        if len(at.axes) == 1:
            return function(x, at.axes[0], keepdim=at.keepdims)
        kept = at.rank - len(at.axes)
        last = self.torch.movedim(x, at.axes, tuple(range(kept, at.rank)))
        place = function(last.flatten(kept), -1)
        if at.keepdims:
            for k in at.axes:
                place = place.unsqueeze(k)
        return place

    def argmax(self, x, at):
        return self._place(self.torch.argmax, x, at)

    def argmin(self, x, at):
        return self._place(self.torch.argmin, x, at)


# ---- NumPy -------------------------------------------------------------------------------------


def _numpy_view(operand, storage, wide=True):
    """The elements of an operand in its memory, an array of bytes; wide: as 64-bit numbers."""
    dtype = "uint16" if operand.dtype == "bfloat16" else operand.dtype
    size = operand.itemsize
    x = np.ndarray(operand.shape, dtype, storage, operand.offset * size,
                   [s * size for s in operand.strides])  # fmt: skip
    if not wide:
        return x
    if operand.dtype == "bfloat16":
        return (x.astype("uint32") << 16).view("float32").astype("float64")
    return x.astype(_wide(operand.dtype))


def _wide(dtype):
    if dtype in operations.COMPLEX:
        return "complex128"
    return "float64" if dtype in operations.FLOATS else "int64"


def numpy_check(case, before, after):
    """`before`: the memory of all operands, `after`: that of the output; arrays of bytes."""
    inputs = [_numpy_view(o, b) for o, b in zip(case.inputs, before, strict=False)]
    with np.errstate(all="ignore"):
        want = np.asarray(operations.formula(case, Numpy, inputs))
        if case.output.dtype != "bfloat16":
            want = want.astype(case.output.dtype)
        want = np.broadcast_to(want.astype(_wide(case.output.dtype)), case.output.shape)
    got = _numpy_view(case.output, after)
    bad = ~np.isclose(got, want, *_tolerance(case), equal_nan=True)
    if bad.any():
        place = tuple(int(k[0]) for k in np.nonzero(bad)) if bad.ndim else ()
        return _wrong(int(bad.sum()), bad.size, place, got[place], want[place])
    before, after = before[-1].copy(), after.copy()
    for memory in (before, after):
        _numpy_view(case.output, memory, wide=False)[...] = 0
    if (before != after).any():
        return f"byte {int((before != after).argmax())} of the output is none of its elements'"
    return None


def _wrong(count, of, place, got, want):
    return f"{count} of {of} elements are wrong: at {place} {got} for {want}"


def _tolerance(case):
    used = {operations.real_of(t) for t in (case.compute, case.output.dtype)}
    part = max(TOLERANCE.get(t, 0) for t in used)
    return (part, part) if operations.real_of(case.output.dtype) in TOLERANCE else (0, 0)


# ---- PyTorch -----------------------------------------------------------------------------------


def turned_axes(operand):
    """Those that are walked backwards."""
    pairs = zip(operand.shape, operand.strides, strict=True)
    return [k for k, (n, stride) in enumerate(pairs) if stride < 0 and n > 1]


def torch_view(operand, storage, flips=True):
    """The elements of an operand in its memory, a flat tensor of any dtype. PyTorch knows no
    negative strides: such axes are turned by a copy, or where `flips` is False left in memory's
    order."""
    import torch

    lowest = operand.offset
    for n, stride in zip(operand.shape, operand.strides, strict=True):
        lowest += min(0, (n - 1) * stride)
    flat = storage.view(getattr(torch, operand.dtype))
    x = flat.as_strided(operand.shape, [abs(s) for s in operand.strides],
                        flat.storage_offset() + lowest)  # fmt: skip
    turned = turned_axes(operand)
    return x.flip(turned) if turned and flips else x


def torch_check(case, before, after):
    """As numpy_check(), on tensors of bytes, where they are."""
    import torch

    def wide(operand, storage):
        return torch_view(operand, storage).to(getattr(torch, _wide(operand.dtype)))

    inputs = [wide(o, b) for o, b in zip(case.inputs, before, strict=False)]
    want = operations.formula(case, Torch(), inputs).to(getattr(torch, case.output.dtype))
    want = want.to(getattr(torch, _wide(case.output.dtype)))
    got = wide(case.output, after)
    want = want.to(got.device).broadcast_to(got.shape)
    bad = ~torch.isclose(got, want, *_tolerance(case), equal_nan=True)
    if bad.any():
        place = tuple(int(k) for k in bad.nonzero()[0])
        return _wrong(int(bad.sum()), bad.numel(), place, got[place], want[place])
    before, after = before[-1].clone(), after.clone()
    for memory in (before, after):
        torch_view(case.output, memory, flips=False).zero_()
    if not torch.equal(before, after):
        return f"byte {int((before != after).nonzero()[0])} of the output is none of its elements'"
    return None
