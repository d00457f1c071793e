# SPDX-License-Identifier: MIT
#
# The bytes that a case must move: for each operand the distinct 32-byte sectors that its elements
# lie in, since a GPU's memory gives and takes no less. In: shapes, strides, offsets. Out: bytes.
# The thing to know: what is counted is the least that any program could move, with a cache that
# forgets nothing, so a broadcast operand counts once; a sector of an output that is written in
# part counts once too, although the memory may have to read it first.
"""Bytes that must be moved."""

import math
from collections import Counter

SECTOR = 32


def sectors(shape, strides, offset, itemsize):
    """How many sectors the elements of a view touch; strides and offset are in elements, from an
    address that is a multiple of 32.

    Axes are taken from the smallest stride on. Where what is left out between two rows is less
    than a sector, no sector lies in the gap whole, so that the rows and the gap are one longer row.
    Behind the first larger gap no two rows share a sector, and each is counted by where it begins.
    Exact for views whose rows do not interleave and whose gaps do not shrink outwards, which those
    are that cases.py draws.

    >>> sectors((8, 8), (8, 1), 0, 4)  # 256 bytes
    8
    >>> sectors((8, 8), (8, 1), 1, 4)  # not aligned
    9
    >>> sectors((1000, 8), (0, 1), 0, 4)  # broadcast
    1
    >>> sectors((8, 8), (16, 2), 0, 4)  # each second element: the sectors are the same
    16
    >>> sectors((8,), (16,), 0, 4)  # one element of every 64 bytes
    8
    """
    row, begins = _rows(shape, strides, offset, itemsize, SECTOR)
    return sum(n * ((at + row - 1) // SECTOR + 1) for at, n in begins.items())


def _rows(shape, strides, offset, itemsize, gap):
    """The bytes of a row, in which less than `gap` bytes are left out at once, and how many rows
    begin at each place within a sector."""
    if 0 in shape:
        return itemsize, Counter()
    begin = offset * itemsize
    axes = []
    for extent, stride in zip(shape, strides, strict=True):
        if extent > 1 and stride:
            begin += min(0, (extent - 1) * stride * itemsize)
            axes.append((abs(stride) * itemsize, extent))
    axes.sort()
    row = itemsize
    while axes and axes[0][0] - row < gap:
        stride, extent = axes.pop(0)
        row += (extent - 1) * stride
    begins = Counter({begin % SECTOR: 1})
    for stride, extent in axes:
        begins = _moved(begins, stride, extent)
    return row, begins


def _moved(begins, stride, extent):
    """Where rows begin within a sector, when each is repeated at `extent` places."""
    result = Counter()
    for k in range(min(extent, SECTOR)):  # places 32 apart begin alike
        times = (extent - 1 - k) // SECTOR + 1
        for at, n in begins.items():
            result[(at + k * stride) % SECTOR] += n * times
    return result


def whole_sectors(shape, strides, offset, itemsize):
    """How many sectors the elements of a view fill, as `sectors` counts those they touch.

    >>> whole_sectors((8, 8), (8, 1), 1, 4)  # the first and the last are shared
    7
    >>> whole_sectors((8, 8), (16, 2), 0, 4)  # each second element
    0
    >>> whole_sectors((8, 9), (16, 1), 0, 4)
    8
    """
    row, begins = _rows(shape, strides, offset, itemsize, 1)
    return sum(n * max(0, (at + row) // SECTOR - -(-at // SECTOR)) for at, n in begins.items())


def bytes_in_part(case):
    """Those of the output's sectors that are written in part: the memory reads them first."""
    o = case.operands[-1]
    view = o.shape, o.strides, o.offset, o.itemsize
    return SECTOR * (sectors(*view) - whole_sectors(*view))


def bytes_of(case):
    """The bytes that each operand of a case moves, in their order."""
    return [SECTOR * sectors(o.shape, o.strides, o.offset, o.itemsize) for o in case.operands]


def bytes_of_elements(case):
    """Those of them that are elements'. Where an output has much fewer, sectors are written in
    part."""
    return [
        o.itemsize * math.prod(n for n, s in zip(o.shape, o.strides, strict=True) if s)
        for o in case.operands
    ]
