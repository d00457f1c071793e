#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The chart of the README: docs/images/h200.svg from the figures in bench/results.

usage: chart.py OUT.svg

Each group of bars is of one run: absolute figures differ from run to run. The colours follow the
reader's light or dark background. Nothing but Python's standard library is needed, and the same
figures give the same bytes.
"""
import json
import pathlib
import sys

RESULTS = pathlib.Path(__file__).resolve().parent / "results"
FIRST = "2026-11-21-h200"
REDUCTIONS = "2026-11-21-h200-reductions"
SCANS = "2026-11-21-h200-scans"

# (title, file, [(label, peer, case)]): peer and case as they are in the file; ours comes last.
SPEED = [
    ("z = 2 * x + y, float32, 1 GiB each", FIRST,
     [("by hand", "by hand", "2x+y float32 n=268435456"),
      ("Quern", "quern", "2x+y float32 n=268435456")]),
    ("sum of 2^28 float32", REDUCTIONS,
     [("CuPy ReductionKernel", "cupy.ReductionKernel", "sum all f32 n=268435456"),
      ("CUB", "cub", "sum all float32 n=268435456"),
      ("PyTorch", "torch.sum", "sum all f32 n=268435456"),
      ("CuPy sum", "cupy.sum(cub)", "sum all f32 n=268435456"),
      ("Quern", "quern", "sum all float32 n=268435456")]),
    ("sum of 1048576 x 256 along axis 0", REDUCTIONS,
     [("CuPy ReductionKernel", "cupy.ReductionKernel", "sum axis=0 f32 1048576x256"),
      ("PyTorch", "torch.sum", "sum axis=0 f32 1048576x256"),
      ("Quern", "quern", "sum axis=0 float32 1048576x256")]),
    ("sum of 1048576 x 256 along axis 1", REDUCTIONS,
     [("CUB", "cub", "sum axis=1 float32 1048576x256"),
      ("CuPy ReductionKernel", "cupy.ReductionKernel", "sum axis=1 f32 1048576x256"),
      ("CuPy sum", "cupy.sum(cub)", "sum axis=1 f32 1048576x256"),
      ("PyTorch", "torch.sum", "sum axis=1 f32 1048576x256"),
      ("Quern", "quern", "sum axis=1 float32 1048576x256")]),
    ("cumulative sum of 2^28 float32", SCANS,
     [("PyTorch", "torch.cumsum", "cumsum float32 n=268435456"),
      ("CUB", "cub", "cumsum float32 n=268435456"),
      ("Quern", "quern", "cumsum float32 n=268435456")]),
    ("cumulative sum of 2^27 float64", SCANS,
     [("PyTorch", "torch.cumsum", "cumsum float64 n=134217728"),
      ("CUB", "cub", "cumsum float64 n=134217728"),
      ("Quern", "quern", "cumsum float64 n=134217728")]),
]
TIME = [
    ("a new elementwise kernel, ms", SCANS,
     [("CuPy", "cupy.ElementwiseKernel", "2x+y float32 to sm_90"),
      ("NVRTC, by hand", "bare NVRTC, vector", "2x+y float32 to sm_90"),
      ("Quern", "quern", "2x+y float32 to sm_90")]),
    ("a new sum, ms", SCANS,
     [("CuPy", "cupy.ReductionKernel", "sum float32 to sm_90"),
      ("NVRTC, by hand", "bare NVRTC", "sum float32 to sm_90"),
      ("Quern", "quern", "sum float32 to sm_90")]),
    ("a new cumulative sum, ms", SCANS,
     [("NVRTC, by hand", "bare NVRTC", "cumsum float32 to sm_90"),
      ("Quern", "quern", "cumsum float32 to sm_90")]),
    ("one launch, us", FIRST,
     [("cuLaunchKernel", "cuLaunchKernel", "saxpy n=1024"),
      ("Quern, quern_call", "quern_call", "saxpy n=1024"),
      ("Quern, bound call", "quern bound call", "saxpy n=1024")]),
    ("a process with its kernel in the cache, ms", FIRST,
     [("bare driver, a cubin", "bare", "whole process"),
      ("Quern", "quern", "whole process")]),
]

WIDTH, MARGIN, BAR, LABEL = 960, 20, 17, 138
PANEL = (WIDTH - 3 * MARGIN) // 2
STYLE = """
  .page { fill: #ffffff; stroke: #d0d7de; }
  .ours { fill: #0969da; }
  .peer { fill: #afb8c1; }
  text { font: 12px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328; }
  .head { font-size: 14px; font-weight: 600; }
  .case { font-weight: 600; }
  .note { fill: #57606a; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; stroke: #30363d; }
    .ours { fill: #58a6ff; }
    .peer { fill: #6e7681; }
    text { fill: #e6edf3; }
    .note { fill: #9da7b3; }
  }
"""


def figures(name):
    """(peer, case) -> value, the first of each: a later one is of a later run."""
    found = {}
    for line in (RESULTS / (name + ".jsonl")).read_text().splitlines():
        row = json.loads(line)
        if row.get("metric") in ("GB/s", "ms", "us"):
            found.setdefault((row["peer"], row["case"]), row["value"])
    return found


def number(value):
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def panel(out, x, y, head, note, groups, scale):
    """Draw groups of bars below each other; scale: the figure at full width, or None: each its own."""
    out.append(f'<text class="head" x="{x}" y="{y}">{head}</text>')
    out.append(f'<text class="note" x="{x}" y="{y + 17}">{note}</text>')
    y += 24
    room = PANEL - LABEL - 44  # beside the label and the figure
    for title, name, bars in groups:
        known = figures(name)
        y += 22
        out.append(f'<text class="case" x="{x}" y="{y}">{title}</text>')
        y += 6
        values = [known[peer, case] for _, peer, case in bars]
        full = scale or max(values)
        for (label, _, _), value in zip(bars, values):
            kind = "ours" if label.startswith("Quern") else "peer"
            width = value / full * room
            out.append(f'<text class="note" x="{x}" y="{y + 11}">{label}</text>')
            out.append(f'<rect class="{kind}" x="{x + LABEL}" y="{y + 1}" width="{width:.1f}" '
                       f'height="{BAR - 5}" rx="1.5"/>')
            out.append(f'<text x="{x + LABEL + width + 5:.1f}" y="{y + 11}">{number(value)}</text>')
            y += BAR
    return y


def main():
    out = []
    left = panel(out, MARGIN, 32, "Speed, GB/s: longer is better",
                 "each input read once, each output written once", SPEED, 4400)
    right = panel(out, 2 * MARGIN + PANEL, 32, "Time: shorter is better",
                  "each group has a scale of its own", TIME, None)
    height = max(left, right) + 44
    out.append(f'<text class="note" x="{MARGIN}" y="{height - 16}">NVIDIA H200, CUDA 13.0, CuPy 14.2.0, '
               "PyTorch 2.11.0, 21 November 2026; each group of bars is of one run; "
               "bench/results has all figures</text>")
    text = "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="title">',
        "<!-- SPDX-License-Identifier: MIT; made by bench/chart.py -->",
        '<title id="title">Quern beside kernels by hand, CUB, CuPy and PyTorch on an H200</title>',
        f"<style>{STYLE}</style>",
        f'<rect class="page" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>',
        *out, "</svg>", ""])
    pathlib.Path(sys.argv[1]).write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    main()
