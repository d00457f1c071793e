# SPDX-License-Identifier: MIT
#
# How time grows: the same operation over more and more elements, operands, dimensions. In: the
# most bytes of an operand. Out: cases like the sweep's, in series; a chart of their times. The
# thing to know: a case's style is the name of its series, and what grows is counted from it.
"""Cases in series, and their chart."""

import math

from . import operations, report
from .cases import Case, Operand

SIZES = range(10, 31)  # powers of two
OPERANDS = range(1, 17)
RANKS = range(1, 9)
USUAL = 24  # the power of two where it is not the size that grows
SERIES = {
    "sum of two": "elements", "sum to one": "elements", "cumulative sum": "elements",
    "operands": "inputs", "rank": "dimensions",
}  # fmt: skip


def _operand(name, shape, pads, op):
    """float32 of a shape; along each axis `pads` elements more lie in memory than in the view."""
    strides, unit = [0] * len(shape), 1
    for k in reversed(range(len(shape))):
        strides[k] = unit
        unit *= shape[k] + pads
    how = [f"{pads} left out of each axis"] if pads else []
    return Operand(name, "float32", shape, strides, 0, unit, *operations.VALUES["sum"], how)


def _case(series, kind, op, shape, count, pads=0):
    inputs = [_operand(f"x{k}", shape, pads, op) for k in range(count)]
    output = _operand("y", [] if kind == "reduction" else shape, 0, op)
    return Case("growth", 0, kind, op, series, shape, "float32", [*inputs, output])


def extents(rank, power):
    """`rank` extents of 2^power elements in all, as equal as powers of two can be."""
    least, more = divmod(power, rank)
    return [1 << (least + (k >= rank - more)) for k in range(rank)]


def cases(max_bytes):
    """All series, as far as no operand has more than `max_bytes`."""
    most = (max_bytes // 4).bit_length() - 1
    usual = min(USUAL, most)
    found = []
    for power in (p for p in SIZES if p <= most):
        found.append(_case("sum of two", "elementwise", "add2", [1 << power], 2))
        found.append(_case("sum to one", "reduction", "sum", [1 << power], 1))
        found.append(_case("cumulative sum", "scan", "cumsum", [1 << power], 1))
    for n in OPERANDS:
        found.append(_case("operands", "elementwise", f"add{n}", [1 << usual], n))
    for rank in (r for r in RANKS if r <= usual):
        found.append(_case("rank", "elementwise", "add2", extents(rank, usual), 2, pads=1))
    for index, case in enumerate(found):
        case.index = index
    return found


def grown(row):
    """What grows in the series of a row."""
    case = row["case"]
    return {"operands": len(case["operands"]) - 1, "rank": len(case["shape"])}.get(
        case["style"], math.prod(case["shape"])
    )


# ---- the chart ---------------------------------------------------------------------------------

WIDTH, HEIGHT, PLOT, HIGH = 960, 760, 236, 240
PEERS = [("Quern", None), ("PyTorch", "torch"), ("torch.compile", "compiled"), ("a copy", "copy")]


def _microseconds(row, peer):
    if peer == "copy":
        return row["copy_ms"] * 1e3
    ms = row.get("ms") if peer is None else report.peer_ms(row, peer)
    return ms and ms * 1e3


def _ticks(low, high):
    """Powers of ten around the values, as exponents."""
    return range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)


def _text(out, x, y, text, kind=""):
    out.append(f'<text{kind and f" class={kind!r}"} x="{x:.0f}" y="{y:.0f}">{text}</text>')


def _panel(out, left, top, series, rows):
    rows = sorted((r for r in rows if r["case"]["style"] == series), key=grown)
    times = [t for r in rows for _, p in PEERS if (t := _microseconds(r, p))]
    if not times:
        return
    ticks, bottom = _ticks(min(times), max(times)), top + HIGH
    doubled = SERIES[series] == "elements"
    first, last = (grown(rows[k]) for k in (0, -1))

    def x_of(n):
        part = math.log2(n / first) / max(1, math.log2(last / first)) if doubled else (
            (n - first) / max(1, last - first))  # fmt: skip
        return left + part * PLOT

    def y_of(t):
        return bottom - (math.log10(t) - ticks[0]) / max(1, len(ticks) - 1) * HIGH

    _text(out, left - 32, top - 30, f"{series}: us by {SERIES[series]}", "head")
    for exponent in ticks:
        y = y_of(10.0**exponent)
        out.append(f'<path class="grid" d="M{left} {y:.1f}h{PLOT}"/>')
        _text(out, left - 40, y + 4, f"{10.0**exponent:g}", "note")
    for n in sorted({grown(r) for r in rows}):
        if n % 2 == 1 or (doubled and math.log2(n) % 5 == 0):
            _text(
                out, x_of(n) - 8, bottom + 18, f"2^{n.bit_length() - 1}" if doubled else n, "note"
            )
    for place, (_, peer) in enumerate(PEERS):
        points = [(x_of(grown(r)), y_of(t)) for r in rows if (t := _microseconds(r, peer))]
        if points:
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            out.append(f'<polyline class="line c{place}" points="{line}"/>')


def chart(head, rows):
    """SVG: a panel for each series, on a scale of powers of ten."""
    out = []
    for place, series in enumerate(SERIES):
        _panel(out, 56 + place % 3 * 310, 60 + place // 3 * 340, series, rows)
    for place, (name, peer) in enumerate(PEERS):
        if not any(_microseconds(row, peer) for row in rows):
            continue
        y = 440 + 24 * place
        out.append(f'<path class="line c{place}" d="M690 {y - 4}h22"/>')
        _text(out, 722, y, name)
    style = report.STYLE.replace(
        "text {", ".c3 { stroke: #1a7f37; stroke-dasharray: 3 3; }\n  text {", 1
    )
    note = f"float32 on {report.escaped(head['device'])}; 2^24 elements where not told otherwise"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="title">',
        "<!-- SPDX-License-Identifier: MIT; made by bench/sweep -->",
        '<title id="title">How time grows with elements, operands and dimensions</title>',
        f"<style>{style}</style>",
        f'<rect class="page" x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="8"/>',
        *out,
        f'<text class="note" x="24" y="{HEIGHT - 14}">{note}</text>',
        "</svg>", "",
    ])  # fmt: skip


def table(rows):
    """Lines for a person: of each series, times in microseconds beside the peers'."""
    heads = "".join(f"{name:>15s}" for name, _ in PEERS)
    lines = []
    for series, grows in SERIES.items():
        lines += ["", f"{series + ', us by ' + grows:32s}{heads}"]
        found = sorted((r for r in rows if r["case"]["style"] == series), key=grown)
        for row in found:
            times = [_microseconds(row, peer) for _, peer in PEERS]
            lines.append(
                f"{grown(row):32d}" + "".join(f"{t:15.2f}" if t else " " * 15 for t in times)
            )
    return "\n".join(lines)
