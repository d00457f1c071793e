# SPDX-License-Identifier: MIT
#
# Named cases: shapes that people have, off the good ones, each a class that the sweep draws from.
# In: the most bytes of an operand. Out: cases like the sweep's, and a table beside the peers. The
# thing to know: a case's style is its name, and the first extent is what is left of the bytes.
"""Rows of odd length, outer sums, small extents, narrow types: one case each."""

import math

from . import operations, report
from .cases import SIZES, Case, Operand


def _operand(name, dtype, shape, op, order=None, pads=None, offset=0):
    """`order`: axes as they lie in memory; `pads`: elements left out behind each row of an axis."""
    strides, unit = [0] * len(shape), 1
    for k in reversed(order or range(len(shape))):
        strides[k] = unit
        unit *= shape[k] + (pads or {}).get(k, 0)
    how = [f"offset {offset}"] if offset else []
    how += [f"{n} left out of axis {k}" for k, n in (pads or {}).items()]
    how += [f"axes in memory {' '.join(map(str, order))}"] if order else []
    low, span = operations.VALUES[op]
    if dtype.startswith("u"):
        low, span = 0, span - low
    return Operand(name, dtype, shape, strides, offset, unit + offset, low, span, how)


def _first(bytes_, dtype, *inner):
    """The extent that makes an array of so many bytes with the others."""
    return max(1, bytes_ // (SIZES[dtype] * math.prod(inner)))


def elementwise(name, op, dtypes, shape, *views):
    """`views`: words of each operand, with another `shape` where it is broadcast."""
    operands = []
    for k, dtype in enumerate(dtypes):
        words = dict(views[k]) if k < len(views) else {}
        title = "y" if k == len(dtypes) - 1 else f"x{k}"
        operands.append(_operand(title, dtype, words.pop("shape", shape), op, **words))
    compute = operations.compute_of(dtypes[:-1])
    return Case("rows", 0, "elementwise", op, name, shape, compute, operands)


def along(name, kind, op, dtype, out, shape, axis, offset=0):
    compute = operations.compute_of([dtype])
    left = [n for k, n in enumerate(shape) if k != axis] if kind == "reduction" else shape
    operands = [_operand("x0", dtype, shape, op, offset=offset), _operand("y", out, left, op)]
    return Case("rows", 0, kind, op, name, shape, compute, operands, [axis])


def _views(most):
    for dtype in ("float32", "float16", "int8", "float64"):
        wide = 4099
        shape = [_first(most, dtype, wide + 8) - 1, wide]
        view = {"pads": {1: 8}, "offset": wide + 8 + 3}
        yield elementwise(f"x[1:, 3:-5] + y, {dtype}", "add2", [dtype] * 3, shape, view)
    for dtype in ("float32", "float16", "int8"):
        n, m = _first(most, dtype, 4097), 4097
        yield elementwise(f"(n, 1) + (1, m), m odd, {dtype}", "add2", [dtype] * 3, [n, m],
                           {"shape": [n, 1]}, {"shape": [1, m]})  # fmt: skip
        n = _first(most, dtype, 3)
        yield elementwise(f"(n, 3) + (n, 1), {dtype}", "add2", [dtype] * 3, [n, 3],
                           {}, {"shape": [n, 1]})  # fmt: skip
    for dtype in ("float32", "float16", "int8"):
        n = math.isqrt(most // SIZES[dtype]) | 1
        shape = [n - 2, n]
        turned = {"order": [1, 0]}
        yield elementwise(f"x.T + y, odd, {dtype}", "add2", [dtype] * 3, shape, turned)
        yield elementwise(f"x.T to contiguous, odd, {dtype}", "copy", [dtype] * 2, shape, turned)
    n = 1 << (math.isqrt(most).bit_length() - 1)
    yield elementwise("x.T to contiguous, int8", "copy", ["int8"] * 2, [n, n], {"order": [1, 0]})
    for narrow, wide in (("uint8", "float32"), ("int8", "float32"), ("float16", "float32"),
                         ("float32", "int8"), ("float32", "float16")):  # fmt: skip
        n = _first(most, max(narrow, wide, key=SIZES.get))
        yield elementwise(f"{narrow} to {wide}", "convert", [narrow, wide], [n])


def _planes(most):
    for dtype in ("uint8", "float16", "float32"):
        shape, turned = [3, _first(most, dtype, 3) // 8 * 8 or 8], {"order": [1, 0]}
        yield elementwise(f"rows of 3 to planes, {dtype}", "copy", [dtype] * 2, shape, turned)
        yield elementwise(f"planes to rows of 3, {dtype}", "copy", [dtype] * 2, shape, {}, turned)


def _shared(most):
    """What all rows share: a bias, or a scale and a bias."""
    for dtype in ("float32", "float16", "int8"):
        shape, shared = [_first(most, dtype, 4097), 4097], {"shape": [1, 4097]}
        yield elementwise(f"x + b, b of 4097, {dtype}", "add2", [dtype] * 3, shape, {}, shared)
        yield elementwise(f"x * w + b, w and b of 4097, {dtype}", "fma", [dtype] * 4, shape,
                           {}, shared, shared)  # fmt: skip


def _images(most):
    """Images of 7 x 7 or 14 x 14 and 64 channels, channels last and first; batches of matrices."""
    for dtype in ("uint8", "float16", "float32"):
        turned = {"order": [0, 2, 1]}
        for a, b in ((64, 49), (49, 64), (64, 196), (196, 64), (32, 32)):
            n = _first(most, dtype, a, b)
            name = f"(n, {b}, {a}) to (n, {a}, {b}), {dtype}"
            yield elementwise(name, "copy", [dtype] * 2, [n, a, b], turned)


def _columns(most):
    for dtype in ("float32", "float16", "int8"):
        for extent in (8, 100, 128, 256):
            shape = [_first(most, dtype, extent), extent]
            out = "int64" if dtype == "int8" else dtype
            name = f"sums along axis 0 of (n, {extent}), {dtype}"
            yield along(name, "reduction", "sum", dtype, out, shape, 0)


def _reductions(most):
    for dtype in ("float32", "float16", "int8", "float64"):
        out = "int32" if dtype == "int8" else dtype
        for extent in (3, 16, 60, 777, 1000):
            shape = [_first(most, dtype, extent), extent]
            name = f"sums of rows of {extent}, {dtype}"
            yield along(name, "reduction", "sum", dtype, out, shape, 1)
    for dtype in ("int8", "float16", "float32"):
        shape = [_first(most, dtype, 300), 300]
        name = f"minimum along axis 0, rows of 300, {dtype}"
        yield along(name, "reduction", "min", dtype, dtype, shape, 0)
    for extent in (300, 777):
        shape = [_first(most, "float32", extent), extent]
        name = f"argmax of rows of {extent}, float32"
        yield along(name, "reduction", "argmax", "float32", "int64", shape, 1)


def _scans(most):
    for dtype in ("float32", "int8", "float16"):
        for less in (0, 1):
            n = _first(most, dtype) - less
            name = f"cumsum, {'odd n, ' if less else ''}{dtype}"
            yield along(name, "scan", "cumsum", dtype, dtype, [n], 0)
    for dtype in ("float32", "float16"):
        for axis in (0, 1):
            shape = [_first(most, dtype, 777), 777]
            name = f"cumsum along {axis} of (n, 777), {dtype}"
            yield along(name, "scan", "cumsum", dtype, dtype, shape, axis)


def _narrow(most):
    """Scans along columns of few beside each other, as of points along time."""
    for dtype, out in (("float32", "float32"), ("float16", "float16"), ("int8", "int32")):
        for inner in ((100, 3), (1000, 3), (64, 2), (50, 8), (128, 29)):
            shape = [_first(most, out, *inner), *inner]
            name = f"cumsum along 1 of (n, {inner[0]}, {inner[1]}), {dtype}"
            yield along(name, "scan", "cumsum", dtype, out, shape, 1)


def cases(most):
    """All of them, none with an operand of more than `most` bytes."""
    found = [*_views(most), *_reductions(most), *_scans(most), *_planes(most)]
    found += [*_shared(most), *_images(most), *_columns(most), *_narrow(most)]
    for index, case in enumerate(found):
        case.index = index
    return found


def table(rows):
    """Lines for a person: GB/s beside the peers', and the parts of the copy and the best peer."""
    names = "".join(f"{name:>10s}" for name in ("Quern", *report.PEERS, "of copy", "of best"))
    lines = ["", f"{'GB/s':44s}{names}"]
    for row in rows:
        if "ms" not in row:
            continue
        times = [row["ms"], *(report.peer_ms(row, peer) for peer in report.PEERS)]
        speeds = [f"{row['bytes'] / t / 1e6:10.0f}" if t else " " * 10 for t in times]
        best = report.ratio(row)
        lines.append(f"{row['case']['style']:44s}{''.join(speeds)}{row['fraction']:10.3f}"
                     + (f"{best:10.2f}" if best else ""))  # fmt: skip
    return "\n".join(lines)
