#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What texts do, not how arrays lie: operations with raw arrays and loops, reductions and scans of structures.

Each beside the driver's copy of as many bytes and, with --peers, PyTorch and torch.compile of the same. Each input
counts once and each output once. A line of JSON for a kernel: {"bench", "case", "plan", "gb_per_s", "of_copy"}, and of
each peer "torch", "compiled".

usage: PYTHONPATH=python python bench/texts.py [--peers] [--bytes 256M] [--only TEXT]
"""

import argparse
import json
import math
import statistics

import pyquern as q

SIZES = {"uint8": 1, "float16": 2, "float32": 4, "int32": 4, "int64": 8, "float64": 8}
SPREAD = "x = (float)(i % 1013) / 1013 + 0.1f"
STRUCTURES = {
    "two": "struct two { float a, b; };",
    "moments": """struct moments { float n, mean, squares; };
__device__ moments join(moments a, moments b)
{
    const float n = a.n + b.n, d = b.mean - a.mean;
    return {n, a.mean + d * b.n / n, a.squares + b.squares + d * d * a.n * b.n / n};
}""",
    "scaled": """struct scaled { float most, sum; };
__device__ scaled join(scaled a, scaled b)
{
    const float most = max(a.most, b.most);
    return {most, a.sum * exp(a.most - most) + b.sum * exp(b.most - most)};
}""",
    "at<T>": """template <typename T> struct at { T v; long long j; };
template <typename T> __device__ at<T> first(at<T> a, at<T> b)
{
    return b.v > a.v || (b.v == a.v && b.j < a.j) ? b : a;
}""",
    "step": """struct step { float a, b; };
__device__ step after(step p, step q) { return {p.a * q.a, q.a * p.b + q.b}; }""",
    "piece": """struct piece { int begins; float sum; };
__device__ piece join(piece a, piece b)
{
    return {a.begins | b.begins, b.begins ? b.sum : a.sum + b.sum};
}""",
}


def milliseconds(launch, event, elapsed):
    """The median of seven batches of 3 ms, behind 60 ms of launches."""
    begin, end = event(), event()

    def batch(count):
        begin.record()
        for _ in range(count):
            launch()
        end.record()
        end.synchronize()
        return elapsed(begin, end) / count

    batch(1)
    count = max(1, min(200, int(3 / max(batch(2), 1e-4))))
    for _ in range(20):
        batch(count)
    return statistics.median(batch(count) for _ in range(7))


def ours(launch):
    return milliseconds(launch, q.Event, q.get_elapsed_time)


def theirs(launch):
    import torch

    def event():
        return torch.cuda.Event(enable_timing=True)

    return milliseconds(launch, event, lambda begin, end: begin.elapsed_time(end))


def copy_rate(size):
    source, to = q.empty(size, "uint8"), q.empty(size, "uint8")
    return 2 * size / ours(lambda: to.copy_to_device(source)) / 1e6


def array(dtype, *shape):
    x = q.empty(shape, dtype)
    q.ElementwiseKernel(
        "", f"{dtype} x", "x = i" if dtype == "int32" else SPREAD, "fill"
    )(x)
    return x


class Case:
    def __init__(self, name, moved, kernel, arguments, peer=None, tensors=(), **words):
        self.name, self.moved, self.kernel = name, moved, kernel
        self.arguments, self.words = arguments, words
        self.peer, self.tensors = peer, tensors


# ---- operations --------------------------------------------------------------------------------


def _operation(name, dtype, n, text, peer=None, extra=(), more="", longer=16):
    """`y = ...` of n elements from raw `x`, which has some more. `extra`: arguments named in `more`."""
    x, y = array(dtype, n + longer), q.empty(n, dtype)
    kernel = q.ElementwiseKernel(f"raw {dtype} x{more}", f"{dtype} y", text, "texts")
    moved = 2 * n * SIZES[dtype]
    return Case(f"{name}, {dtype}", moved, kernel, (x, *extra, y), peer, (x,))


def operations(most):
    for dtype in ("float32", "float16", "uint8", "float64"):
        n, w = most // SIZES[dtype], 8192
        yield _operation("x[i + 1] - x[i]", dtype, n, "y = x[i + 1] - x[i]",
                         lambda x, n=n: x[1 : n + 1] - x[:n])  # fmt: skip
        yield _operation("three points", dtype, n, "y = x[i] - 2 * x[i + 1] + x[i + 2]",
                         lambda x, n=n: x[:n] - 2 * x[1 : n + 1] + x[2 : n + 2])  # fmt: skip
        yield _operation("five points of a plane", dtype, n,
                         "y = x[i] + x[i + w - 1] - 4 * x[i + w] + x[i + w + 1] + x[i + 2 * w]",
                         None, (w,), ", int32 w", 2 * w + 1)  # fmt: skip
        yield _operation("seven taps", dtype, n,
                         "y = 0; for (int k = 0; k < 7; k++) y += w[k] * x[i + k]", None,
                         (array(dtype, 7),), f", raw {dtype} w")  # fmt: skip
        yield _operation("largest of nine", dtype, n,
                         "y = x[i]; for (int k = 1; k < 9; k++) y = max(y, x[i + k])")  # fmt: skip
        yield _operation("pairs", dtype, n // 2, "y = x[2 * i] + x[2 * i + 1]",
                         lambda x, n=n: x[0:n:2] + x[1:n:2], longer=n // 2 + 16)  # fmt: skip
        yield from _placed(dtype, n // 4)
    x, y = array("float32", most // 4), q.empty(most // 4, "float32")
    for name, text in (("polynomial by a loop", "y = 0; for (int k = 0; k < 8; k++) y = y * x + k"),
                       ("four steps of Newton's", "y = 1; for (int k = 0; k < 4; k++) y = (y + x / y) / 2"),
                       ("until it is large", "y = x; while (y < 5) y += x")):  # fmt: skip
        kernel = q.ElementwiseKernel("float32 x", "float32 y", text, "texts")
        yield Case(f"{name}, float32", 2 * most, kernel, (x, y))


def _placed(dtype, n):
    """Gather, scatter: each element at its own place, which is in order."""
    x, y, at = array(dtype, n), q.empty(n, dtype), array("int32", n)
    moved = n * (2 * SIZES[dtype] + 4)
    gather = q.ElementwiseKernel(
        f"raw {dtype} x, int32 at", f"{dtype} y", "y = x[at]", "texts"
    )
    yield Case(
        f"gather, {dtype}", moved, gather, (x, at, y), lambda x, at: x[at], (x, at)
    )
    scatter = q.ElementwiseKernel(
        f"{dtype} x, int32 at", f"raw {dtype} y", "y[at] = x", "texts"
    )
    yield Case(f"scatter, {dtype}", moved, scatter, (x, at, y),
               lambda x, at, y: y.index_put_((at,), x), (x, at, y))  # fmt: skip


# ---- reductions and scans of structures --------------------------------------------------------


def _torch(name, axis):
    import torch

    return {
        "least and largest": lambda x: torch.aminmax(x, dim=axis),
        "where the largest is": lambda x: torch.max(x, axis),
        "logsumexp": lambda x: torch.logsumexp(x, axis),
        "variance": lambda x: torch.var(x, axis, correction=0),
    }[name]


def reductions(most, peers):
    kinds = {
        "least and largest": ("two", "T l, T h", "two{(float)x, (float)x}",
                              "two{min(a.a, b.a), max(a.b, b.b)}", "l = a.a; h = a.b"),
        "where the largest is": ("at<T>", "T y, int64 j", "at<T>{x, _J}", "first(a, b)",
                                 "y = a.v; j = a.j"),
        "logsumexp": ("scaled", "T y", "scaled{(float)x, 1}", "join(a, b)",
                      "y = a.most + log(a.sum)"),
        "variance": ("moments", "T y", "moments{1, (float)x, 0}", "join(a, b)",
                     "y = a.squares / a.n"),
    }  # fmt: skip
    for dtype in ("float32", "float16"):
        for width in (16, 32, 64, 100, 128, 256, 300, 512, 777, 1000, 2000, 4096):
            n = most // SIZES[dtype] // width
            x = array(dtype, n * width).reshape((n, width))
            for name, (kind, out, map_, join, post) in kinds.items():
                kernel = q.ReductionKernel("T x", out, map_, join, post, None, "texts",
                                           reduce_type=kind, preamble=STRUCTURES[kind])  # fmt: skip
                for axis in (1, 0) if width in (64, 777, 1000, 4096) else (1,):
                    where = f"rows of {width}" if axis else f"columns, {width} of them"
                    yield Case(f"{name}: {where}, {dtype}", n * width * SIZES[dtype], kernel, (x,),
                               _torch(name, axis) if peers else None, (x,), axis=axis)  # fmt: skip


def scans(most):
    def kernel(in_, map_, join, post, kind):
        return q.ScanKernel(in_, "float32 y", map_, join, post, None, "texts", scan_type=kind,
                            preamble=STRUCTURES[kind])  # fmt: skip

    recurrence = kernel(
        "float32 g, float32 x", "step{g, x}", "after(a, b)", "y = a.b", "step"
    )
    pieces = kernel("float32 x", "piece{x > 1, x}", "join(a, b)", "y = a.sum", "piece")
    for shape, axis in (((most // 4,), 0), ((64, most // 256), 1), ((most // 4000, 1000), 1),
                        ((most // 128, 32), 1), ((1024, most // 4096), 0), ((most // 256, 64), 0)):  # fmt: skip
        g, x = (array("float32", math.prod(shape)).reshape(shape) for _ in range(2))
        bytes_ = math.prod(shape) * 4
        yield Case(
            f"recurrence: {shape} along {axis}",
            3 * bytes_,
            recurrence,
            (g, x),
            axis=axis,
        )
        yield Case(
            f"sums of pieces: {shape} along {axis}", 2 * bytes_, pieces, (x,), axis=axis
        )


# ---- the whole ---------------------------------------------------------------------------------


def measure(case, copy, peers):
    launch = case.kernel.bind(*case.arguments, **case.words)
    plan = case.kernel.explain(*case.arguments, **case.words).plan
    rate = case.moved / ours(launch) / 1e6
    row = {"bench": "texts", "case": case.name, "plan": plan, "gb_per_s": round(rate),
           "of_copy": round(rate / copy, 3)}  # fmt: skip
    if peers and case.peer:
        import torch

        tensors = [torch.from_dlpack(x) for x in case.tensors]
        compiled = torch.compile(case.peer, dynamic=False)
        row["torch"] = round(case.moved / theirs(lambda: case.peer(*tensors)) / 1e6)
        row["compiled"] = round(case.moved / theirs(lambda: compiled(*tensors)) / 1e6)
    return row


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    p.add_argument("--peers", action="store_true")
    p.add_argument("--bytes", default="256M", help="of the largest array; 256M")
    p.add_argument("--only", default="", help="cases with this in their name")
    args = p.parse_args()
    number = args.bytes.rstrip("KM")
    most = int(number) << {"K": 10, "M": 20, "": 0}[args.bytes[len(number) :]]
    if args.peers:
        import torch

        torch._dynamo.config.recompile_limit = 1000
    copy = copy_rate(most)
    print(
        json.dumps({"bench": "texts", "case": "copy", "gb_per_s": round(copy)}),
        flush=True,
    )
    for family in (operations(most), reductions(most, args.peers), scans(most)):
        for case in family:
            if args.only in case.name:
                print(json.dumps(measure(case, copy, args.peers)), flush=True)


if __name__ == "__main__":
    main()
