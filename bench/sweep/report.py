# SPDX-License-Identifier: MIT
#
# What a run says. In: its rows. Out: a summary, a list of the worst cases with their plans, a
# chart. The thing to know: a fraction is the time of a copy of as many bytes by the time of the
# case, so that 1 is the copy's speed; against peers, it is the best peer's time by ours.
"""Summary, worst cases, chart."""

from collections import Counter

from . import check

KINDS = ["elementwise", "reduction", "scan"]
PEERS = ["torch", "compiled"]
WIDTH, HEIGHT, LEFT, TOP, PLOT, FULL = 960, 420, 52, 64, 400, 1.2
STYLE = """
  .page { fill: #ffffff; stroke: #d0d7de; }
  .grid { stroke: #d8dee4; stroke-width: 1; }
  .line { fill: none; stroke-width: 2; }
  .c0 { stroke: #0969da; } .c1 { stroke: #8c959f; } .c2 { stroke: #bf8700; }
  text { font: 12px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328; }
  .head { font-size: 14px; font-weight: 600; }
  .note { fill: #57606a; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; stroke: #30363d; }
    .grid { stroke: #21262d; }
    .c0 { stroke: #58a6ff; } .c1 { stroke: #8b949e; } .c2 { stroke: #d29922; }
    text { fill: #e6edf3; }
    .note { fill: #9da7b3; }
  }
"""


def peer_ms(row, name):
    """The time of a peer that did the same, or None."""
    found = (row.get("peers") or {}).get(name) or {}
    return found.get("ms") if found.get("same", True) else None


def ratio(row):
    """The best peer's time by ours, or None."""
    times = [t for t in (peer_ms(row, name) for name in PEERS) if t]
    return min(times) / row["ms"] if times and "ms" in row else None


def fractions(rows, peer=None):
    """Of the copy's speed, sorted, the best first."""
    times = [(r["copy_ms"], r.get("ms") if peer is None else peer_ms(r, peer)) for r in rows]
    return sorted((copy / t for copy, t in times if t), reverse=True)


def failures(rows):
    """Cases that failed or whose result was wrong."""
    fine = ("right", check.NO_MEMORY)
    return [r for r in rows if "error" in r or r.get("check", "right") not in fine]


def _at(values, part):
    """The value that `part` of them are not above."""
    values = sorted(values)
    return values[min(len(values) - 1, int(part * len(values)))]


def _line(name, values):
    if not values:
        return f"{name:24s} {'':>6s}  none"
    figures = [_at(values, 0.5), _at(values, 0.05), _at(values, 0.01), min(values)]
    return f"{name:24s} {len(values):6d}  " + "  ".join(f"{v:6.3f}" for v in figures)


def summary(rows):
    """Lines for a person: medians and the low end by kind, against peers, and what failed."""
    heads = "  ".join(f"{h:>6s}" for h in ("median", "5 %", "1 %", "worst"))
    lines = [f"{'part of copy speed':24s} {'cases':>6s}  {heads}"]
    lines.append(_line("all", fractions(rows)))
    for kind in KINDS:
        lines.append(_line(kind, fractions([r for r in rows if r["kind"] == kind])))
    for peer in PEERS:
        if any(peer_ms(r, peer) for r in rows):
            lines.append(_line(f"({peer})", fractions(rows, peer)))
    if any(ratio(r) for r in rows):
        lines += ["", "best peer's time by ours"]
        lines.append(_line("all", [x for x in map(ratio, rows) if x]))
        for kind in KINDS:
            found = [ratio(r) for r in rows if r["kind"] == kind]
            lines.append(_line(kind, [x for x in found if x]))
    low = sum(f < 0.6 for f in fractions(rows))
    behind = sum((ratio(r) or 1) < 0.9 for r in rows)
    lines += ["", f"{low} under 0.6 of the copy; {behind} under 0.9 of the best peer"]
    checks = [r["check"] for r in rows if "check" in r]
    if checks:
        lines.append(f"{len(checks)} results were compared, {checks.count('right')} are right")
    other = [r for r in rows for p in (r.get("peers") or {}).values() if not p.get("same", True)]
    if other:
        lines.append(f"{len(other)} results of peers differ from ours; their times are left out")
    lines += _failed_peers(rows)
    for row in failures(rows):
        lines += ["", row["line"], "    " + row.get("error", row.get("check", ""))]
    return "\n".join(lines)


def _failed_peers(rows):
    """A line for each way in which a peer failed, with how often it did."""
    found = Counter()
    for row in rows:
        for name, figures in (row.get("peers") or {}).items():
            if "error" in figures:
                found[f"{name} failed: {figures['error']}"] += 1
    return [f"{count} times {text}" for text, count in found.most_common(5)]


def worst(rows, prepared, count=20):
    """The cases furthest from the copy's speed, then those furthest behind a peer, explained."""
    timed = [r for r in rows if "fraction" in r]
    parts = []
    for title, key in (("furthest from the copy's speed", lambda r: r["fraction"]),
                       ("furthest behind the best peer", ratio)):  # fmt: skip
        found = sorted((r for r in timed if key(r) is not None), key=key)[:count]
        if found:
            parts.append(f"==== {title}\n")
        for row in found:
            peers = "".join(
                f", {name} {row['ms'] / peer_ms(row, name):.2f} of ours in speed"
                for name in PEERS if peer_ms(row, name)
            )  # fmt: skip
            bound = row["bytes"] / (row["bytes"] + row["bytes_in_part"])
            pairs = zip(row["bytes_of_operands"], row["bytes_of_elements"], strict=True)
            each = ", ".join(f"{b / 1e6:.1f} ({e / 1e6:.1f})" for b, e in pairs)
            parts.append(
                f"{row['line']}\n  {row['fraction']:.3f} of the copy, {row['gbps']:.0f} GB/s, "
                f"{row['ms']:.4f} ms{peers}\n  MB that must move (of elements): {each}\n"
            )
            if bound < 1:
                parts.append(f"  sectors written in part are read first: {bound:.3f} at most\n")
            for o in row["case"]["operands"]:
                parts.append(f"  {o['name']}: {o['dtype']} {tuple(o['shape'])}, strides "
                             f"{tuple(o['strides'])}, offset {o['offset']}\n")  # fmt: skip
            text = prepared[row["index"]].explain()
            parts.append("".join(f"    {line}\n" for line in text.splitlines()) + "\n")
    return "".join(parts)


# ---- the chart ---------------------------------------------------------------------------------


def chart(head, rows):
    """SVG: fractions sorted, beside the peers' on the left, and by kind on the right."""
    of_all = [("Quern", fractions(rows)), ("PyTorch", fractions(rows, "torch")),
              ("torch.compile", fractions(rows, "compiled"))]  # fmt: skip
    by_kind = [(k, fractions([r for r in rows if r["kind"] == k])) for k in KINDS]
    out = []
    _panel(out, LEFT, "All cases", of_all)
    _panel(out, LEFT + PLOT + 66, "Quern, by kind", by_kind)
    note = (f"{len(rows)} cases of seed {head['seed']} on {head['device']}; the largest operand of "
            f"each has {head['min_bytes'] >> 20} to {head['max_bytes'] >> 20} MiB")  # fmt: skip
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="title">',
        "<!-- SPDX-License-Identifier: MIT; made by bench/sweep -->",
        '<title id="title">Speed of drawn cases as a fraction of the speed of a copy</title>',
        f"<style>{STYLE}</style>",
        f'<rect class="page" x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="8"/>',
        *out,
        f'<text class="note" x="{LEFT - 32}" y="{HEIGHT - 14}">{escaped(note)}</text>',
        "</svg>", "",
    ])  # fmt: skip


def escaped(text):
    """Text in XML."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _panel(out, left, title, lines):
    bottom, high = HEIGHT - 64, HEIGHT - 64 - TOP
    out.append(f'<text class="head" x="{left - 32}" y="28">{title}</text>')
    out.append(f'<text class="note" x="{left - 32}" y="46">speed as a part of the copy&#8217;s; '
               "each line sorted by itself</text>")  # fmt: skip
    for tenths in range(0, 13, 2):
        y = bottom - tenths / 10 / FULL * high
        out.append(f'<path class="grid" d="M{left} {y:.1f}h{PLOT}"/>')
        out.append(f'<text class="note" x="{left - 32}" y="{y + 4:.1f}">{tenths / 10:.1f}</text>')
    for part in range(0, 101, 25):
        x = left + part / 100 * PLOT
        out.append(f'<text class="note" x="{x - 10:.1f}" y="{bottom + 18}">{part} %</text>')
    shown = [(name, values) for name, values in lines if values]
    for place, (name, values) in enumerate(lines):
        if not values:
            continue
        step = PLOT / max(1, len(values) - 1)
        points = " ".join(
            f"{left + k * step:.1f},{bottom - min(v, FULL) / FULL * high:.1f}"
            for k, v in enumerate(values)
        )
        out.append(f'<polyline class="line c{place}" points="{points}"/>')
        y = bottom - 14 - 18 * (len(shown) - 1 - [n for n, _ in shown].index(name))
        out.append(f'<path class="line c{place}" d="M{left + 12} {y - 4}h22"/>')
        out.append(f'<text x="{left + 42}" y="{y}">{name}, {len(values)} cases: median '
                   f"{_at(values, 0.5):.2f}</text>")  # fmt: skip
