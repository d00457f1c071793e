# SPDX-License-Identifier: MIT
#
# Shapes by types: the same operation over rows, columns and what lies between, of each length that
# people have, for each pair of types; or matrices turned, from two planes to thousands. In: a kind,
# the most bytes of an operand. Out: cases like the sweep's, and a table of what part of a copy's
# speed each has. The thing to know: a case's style is its row of the table, then its column.
"""A class of shapes and types at once: where a whole row or column is low, a plan is missing."""

from . import rows as named
from .cases import SIZES

TYPES = {
    "scan": ["bool int64", "int8 int64", "int8 int8", "uint8 int32", "int16 int64",
             "float16 float16", "bfloat16 float32", "float32 float32", "int32 int64",
             "float64 float64"],
    "transpose": ["int8 int8", "float16 float16", "float32 float32", "float64 float64",
                  "int8 float32", "float32 float16"],
    "reduction": ["bool int64", "int8 int64", "uint8 int32", "int16 int64", "float16 float16",
                  "bfloat16 float32", "float32 float32", "int32 int64", "float64 float64"],
    "argmax": ["int8 int64", "int16 int64", "float16 int64", "float32 int64", "float64 int64"],
}  # fmt: skip
ROWS = [2, 10, 64, 333, 1000, 4086, 4096, 9001, 16384, 20001, 65521, 100003, 1 << 20]
COLUMNS = [2, 7, 16, 64, 100, 180, 256, 333, 1024, 2000, 5903]
BETWEEN = [(13, 5903), (236, 217), (1000, 64), (9000, 50)]
OPERATIONS = {"scan": "cumsum", "reduction": "sum", "argmax": "argmax"}
PLANES = [2, 3, 5, 7, 10, 13, 26, 45, 64, 100, 196, 240, 300, 400, 700, 1000, 4099]


def _shapes(elements):
    """A name, a shape and an axis of each, and where the elements begin."""
    yield "1-D", [elements], 0, 0
    yield "1-D odd", [elements - 77], 0, 0
    yield "1-D from 1", [elements - 78], 0, 1
    for n in ROWS:
        yield f"rows {n}", [elements // n, n], 1, 0
    for n in COLUMNS:
        yield f"columns {n}", [elements // n, n], 0, 0
    for n, m in BETWEEN:
        yield f"between {n} {m}", [elements // (n * m), n, m], 1, 0


def _turned(elements):
    """Matrices of few planes turned into rows and back, of even and of odd length."""
    for planes in PLANES:
        for odd in (0, 1):
            n = elements // planes // 64 * 64 + odd
            yield f"rows to {planes}{' odd' if odd else ''}", [planes, n]
            yield f"{planes}{' odd' if odd else ''} to rows", [n, planes]


def _transposes(source, result, elements):
    for name, shape in _turned(elements):
        yield named.elementwise(
            f"{name}|{source} {result}", "convert" if source != result else "copy",
            [source, result], shape, {"order": [1, 0]},
        )  # fmt: skip


def cases(kind, most):
    """All of a kind, those without elements left out."""
    found = []
    for types in TYPES[kind]:
        source, result = types.split()
        if kind == "transpose":
            found += _transposes(source, result, most // max(SIZES[source], SIZES[result]))
            continue
        widest = SIZES[result] if kind == "scan" else SIZES[source]
        for name, shape, axis, offset in _shapes(most // widest):
            if min(shape) > 0:
                style = f"{name}|{source} {result}"
                of = "scan" if kind == "scan" else "reduction"
                found.append(
                    named.along(style, of, OPERATIONS[kind], source, result, shape, axis, offset)
                )
    for index, case in enumerate(found):
        case.index = index
    return found


def table(rows):
    """Lines for a person: a line for each shape, a column for each pair of types."""
    cells = {tuple(r["case"]["style"].split("|")): r.get("fraction") for r in rows}
    names = list(dict.fromkeys(name for name, _ in cells))
    types = list(dict.fromkeys(types for _, types in cells))
    heads = [[t.split()[part] for t in types] for part in (0, 1)]
    lines = ["", *(f"{'':18s}" + "".join(f"{head:>10s}" for head in line) for line in heads)]
    for name in names:
        found = [cells.get((name, t)) for t in types]
        parts = "".join(f"{part:10.2f}" if part else f"{'':10s}" for part in found)
        lines.append(f"{name:18s}{parts}")
    return "\n".join(lines)
