# SPDX-License-Identifier: MIT
#
# Draws cases. In: a seed, an index, the range of sizes. Out: a Case, which says everything: what
# is computed, on which dtypes, shapes, strides and offsets. The thing to know: a case depends on
# its seed and index alone, not on how many are drawn, and only random.Random.random() of a
# string's seed is used, which Python promises to keep; integers are made of it without the host's
# libm.
"""Cases drawn from a seed."""

import math
import random
from dataclasses import asdict, dataclass, field

from . import operations

STYLES = ["powers", "odd", "primes", "small inner", "long and thin", "mixed", "mixed"]
MIB = 1 << 20
SIZES = operations.SIZES


@dataclass
class Operand:
    """An array: a view of `storage` elements. Strides and offset are in elements."""

    name: str
    dtype: str
    shape: list
    strides: list
    offset: int
    storage: int
    low: int  # the least value that it is filled with
    span: int  # and how many values there are
    how: list = field(default_factory=list)

    @property
    def itemsize(self):
        return SIZES[self.dtype]

    def __str__(self):
        return f"{self.name} {self.dtype}" + (f" [{', '.join(self.how)}]" if self.how else "")


@dataclass
class Case:
    """One thing to compute. The last operand is the output."""

    seed: str
    index: int
    kind: str
    op: str
    style: str
    shape: list  # what is walked over: an operand may be broadcast to it
    compute: str  # the dtype of the values on the way
    operands: list
    axes: list | None = None  # None: all of them
    keepdims: bool = False

    @property
    def inputs(self):
        return self.operands[:-1]

    @property
    def output(self):
        return self.operands[-1]

    def __str__(self):
        along = "" if self.axes is None else f" along {', '.join(map(str, self.axes))}"
        along += " keepdims" if self.keepdims else ""
        shape = " x ".join(map(str, self.shape))
        inputs = ", ".join(map(str, self.inputs))
        return f"{self.index}: {self.op}{along} of {shape}, {self.style}: {inputs} -> {self.output}"

    def to_json(self):
        return asdict(self)

    @classmethod
    def from_json(cls, fields):
        operands = [Operand(**o) for o in fields["operands"]]
        return cls(**{**fields, "operands": operands})


class Draw:
    """Random choices of one case."""

    def __init__(self, seed, index):
        self.random = random.Random(f"{seed}:{index}").random

    def below(self, n):
        return int(self.random() * n)

    def chance(self, probability):
        return self.random() < probability

    def pick(self, values):
        return values[self.below(len(values))]

    def weighted(self, weights):
        """A key of a dictionary, as often as its weight says."""
        at = self.random() * sum(weights.values())
        for key, weight in weights.items():
            at -= weight
            if at < 0:
                return key
        return key

    def shuffled(self, values):
        values = list(values)
        for k in range(len(values) - 1, 0, -1):
            other = self.below(k + 1)
            values[k], values[other] = values[other], values[k]
        return values

    def some(self, values, probability):
        """Each value with a probability, and at least one."""
        must = self.below(len(values))
        return [v for k, v in enumerate(values) if (self.random() < probability) | (k == must)]

    def size(self, least, most):
        """An integer whose octave is uniform, and its place in the octave."""
        octaves = (most // least).bit_length() - 1
        start = least << self.below(octaves) if octaves else least
        return min(most, start + self.below(start + 1))


# ---- extents -----------------------------------------------------------------------------------


def _is_prime(n):
    if n < 4:
        return n > 1
    return n % 2 and all(n % k for k in range(3, math.isqrt(n) + 1, 2))


def _in_style(style, n):
    """The largest extent of this style that is not above `n`."""
    if n < 2:
        return 1
    if style == "powers":
        return 1 << (n.bit_length() - 1)
    if style == "odd":
        return n - 1 + n % 2
    while style == "primes" and not _is_prime(n):
        n -= 1
    return n


def _extents(draw, style, rank, elements):
    """`rank` extents whose product is nearly `elements`; those meant to be small are left small."""
    shape = [0] * rank
    if style == "small inner":
        shape[-1] = 1 + draw.below(31)
    elif style == "long and thin":
        shape = [1 + draw.below(7) for _ in shape]
        shape[draw.below(rank)] = 0
    elif style == "mixed":
        shape = [1 + draw.below(31) if draw.chance(0.25) else 0 for _ in shape]
    free = draw.shuffled(k for k in range(rank) if not shape[k]) or [draw.below(rank)]
    left = elements
    for k in set(range(rank)) - set(free):
        left //= shape[k]
    for count, k in enumerate(free[:-1]):
        octaves = 2 * (left.bit_length() - 1) // (len(free) - count)
        rough = draw.size(2, 4 << draw.below(max(1, octaves)))
        shape[k] = _in_style(style, max(1, min(left, rough)))
        left //= shape[k]
    shape[free[-1]] = 1
    longest = max(free, key=lambda k: shape[k]) if len(free) > 1 and left < 8 else free[-1]
    rest = math.prod(shape) // shape[longest]
    shape[longest] = _in_style(style, max(1, elements // rest))
    return shape


# ---- operands ----------------------------------------------------------------------------------


def _operand(draw, name, dtype, shape, views, order, values, broadcasts=False):
    """An array of a shape: as it comes out of malloc(), or a view of a larger one."""
    rank = len(shape)
    how, steps, pads, turned, dropped = [], [1] * rank, [0] * rank, [], []
    offset = 0
    shape = list(shape)
    stretch = None
    if broadcasts and rank and draw.chance(0.3 if views else 0.12):
        dropped = draw.some(range(rank), 0.4)
        stretch = draw.chance(0.3)
        how.append(f"broadcast along {_list(dropped)}" + (" by stride 0" if stretch else ""))
        if not stretch:
            shape = [1 if k in dropped else n for k, n in enumerate(shape)]
    order = list(order)
    if views and draw.chance(0.6):
        if draw.chance(0.3):
            order = draw.shuffled(order)
        if draw.chance(0.35):
            offset = 1 + draw.below(31)
            how.append(f"offset {offset}")
        if rank > 1 and draw.chance(0.3):
            k = order[-1] if draw.chance(0.7) else draw.pick(order)
            pads[k] = 1 + draw.below(min(31, shape[k]))
            how.append(f"{pads[k]} left out of axis {k}")
        if rank and draw.chance(0.2):
            k = draw.below(rank)
            steps[k] = 2 + draw.below(2)
            how.append(f"step {steps[k]} along {k}")
        if rank and draw.chance(0.2):
            turned = draw.some(range(rank), 0.4)
            how.append(f"backwards along {_list(turned)}")
    if order != list(range(rank)):
        how.append(f"axes in memory {_list(order)}")
    strides, unit = [0] * rank, 1
    for k in reversed(order):
        if stretch and k in dropped:
            continue
        strides[k] = unit * steps[k]
        unit *= shape[k] * steps[k] + pads[k]
    storage = offset + unit
    for k in turned:
        offset += (shape[k] - 1) * strides[k]
        strides[k] = -strides[k]
    low, span = values
    if dtype == "bool":
        low, span = 0, 2
    elif dtype.startswith("u") and low < 0:
        low, span = 0, -low + 1
    return Operand(name, dtype, shape, strides, offset, storage, low, span, how)


def _list(axes):
    return " ".join(map(str, axes))


def draw(seed, index, least=64 * MIB, most=512 * MIB):
    """Case `index` of a seed. Its largest operand has about `least` to `most` bytes."""
    d = Draw(seed, index)
    kind = d.weighted({"elementwise": 6, "reduction": 2.5, "scan": 1.5})
    op, dtypes, compute = operations.draw(d, kind)
    views = d.chance(0.75)
    rank = d.weighted({1: 1.5, 2: 2.5, 3: 2.5, 4: 1.5, 5: 1, 6: 1})
    style = d.pick(STYLES)
    stays = kind != "reduction"  # the output is as large as what is walked over
    widest = max(SIZES[t] for t in (dtypes if stays else dtypes[:-1]))
    elements = max(1, d.size(least, most) // widest)
    if style == "powers" and (1 << elements.bit_length()) * widest <= most:
        elements = 1 << elements.bit_length()
    shape = _extents(d, style, rank, elements)
    axes, keepdims = _axes(d, kind, rank)
    gone = () if stays else range(rank) if axes is None else axes
    while math.prod(n for k, n in enumerate(shape) if k not in gone) * SIZES[dtypes[-1]] > most:
        longest = max(range(rank), key=lambda k: shape[k])
        shape[longest] = _in_style(style, shape[longest] // 2)
    order = list(range(rank))
    if views and d.chance(0.25):
        order = d.shuffled(order)
    values = operations.VALUES[op]
    operands = []
    # One operand is as large as all that is walked over: the widest, of those that can be.
    can = [SIZES[t] for t in (dtypes if kind == "elementwise" else dtypes[:-1])]
    full = can.index(max(can))
    for k, dtype in enumerate(dtypes[:-1]):
        operands.append(_operand(d, f"x{k}", dtype, shape, views, order, values, k != full))
    kept, kept_order = shape, order
    if not stays:
        kept = [1 if k in gone else n for k, n in enumerate(shape)]
        if not keepdims:
            left = [k for k in range(rank) if k not in gone]
            kept = [shape[k] for k in left]
            kept_order = [left.index(k) for k in order if k in left]
    operands.append(_operand(d, "y", dtypes[-1], kept, views, kept_order, values))
    return Case(str(seed), index, kind, op, style, shape, compute, operands, axes, keepdims)


def _axes(draw, kind, rank):
    if kind == "elementwise":
        return None, False
    if kind == "scan":
        return (None if draw.chance(0.1) else [draw.below(rank)]), False
    axes = None if draw.chance(0.25) else sorted(draw.some(range(rank), 0.35))
    return axes, draw.chance(0.15)
