# SPDX-License-Identifier: MIT
#
# The sweep's command. In: a seed and how many cases. Out: figures as JSON lines, a chart, the
# worst cases with their plans, a summary on standard output. It ends with 1 where a result was
# wrong or a case failed.
#
# usage: python bench/sweep --seed 1 --cases 500 --json OUT.json --svg OUT.svg --worst OUT.txt
"""Benchmark over cases that are drawn from a seed; bench/README.md has a section about it."""

import argparse
import json
import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])  # `sweep` is a package there

from sweep import cases, grid, growth, report  # noqa: E402
from sweep import rows as named  # noqa: E402


def size(text):
    """64M, 64KiB, 4096: a number of bytes."""
    number = text.rstrip("iB")
    shift = {"K": 10, "M": 20, "G": 30}.get(number[-1:].upper(), 0)
    return int(number[:-1] if shift else number) << shift


def arguments(given=None):
    p = argparse.ArgumentParser(prog="python bench/sweep", description=__doc__)
    p.add_argument("--seed", default="1", help="any word")
    p.add_argument("--cases", type=int, default=500, metavar="N")
    p.add_argument("--only", metavar="INDEX,...", help="these cases of the seed")
    p.add_argument("--growth", action="store_true",
                   help="no drawn cases: series of growing size, operands, rank")  # fmt: skip
    p.add_argument("--rows", action="store_true", help="no drawn cases: the named ones")
    p.add_argument("--grid", choices=["scan", "reduction", "argmax", "transpose"],
                   help="no drawn cases: many shapes by many types")  # fmt: skip
    p.add_argument("--kind", choices=["elementwise", "reduction", "scan"],
                   help="only this kind of the N cases")  # fmt: skip
    p.add_argument("--again", metavar="FILE", help="the cases in the JSON of an earlier run")
    p.add_argument("--min-bytes", type=size, default=64 << 20, metavar="SIZE",
                   help="of the largest operand; 64M")  # fmt: skip
    p.add_argument("--max-bytes", type=size, default=512 << 20, metavar="SIZE", help="512M")
    p.add_argument("--check", nargs="?", const="auto", default=None,
                   choices=["auto", "numpy", "torch", "no"],
                   help="compare results; what small arrays do without it")  # fmt: skip
    p.add_argument("--peers", action="store_true", help="measure PyTorch too")
    p.add_argument("--compiled", type=int, default=0, metavar="N",
                   help="and torch.compile, of the first N cases that it can do")  # fmt: skip
    p.add_argument("--list", action="store_true", help="print the cases, run nothing")
    p.add_argument("--json", metavar="FILE")
    p.add_argument("--svg", metavar="FILE")
    p.add_argument("--worst", metavar="FILE", help="the twenty slowest and why")
    p.add_argument("--batches", type=int, default=7, help="a time is their median")
    p.add_argument("--seconds", type=float, default=480, metavar="N",
                   help="no case begins later than this; 480")  # fmt: skip
    p.add_argument("--compile-only", help=argparse.SUPPRESS)  # K/N: a helper of --compiled
    args = p.parse_args(given)
    args.min_bytes = min(args.min_bytes, args.max_bytes)
    return args


def chosen(args):
    if args.growth:
        found = growth.cases(args.max_bytes)
    elif args.rows:
        found = named.cases(args.max_bytes)
    elif args.grid:
        found = grid.cases(args.grid, args.max_bytes)
    elif args.again:
        lines = Path(args.again).read_text().splitlines()[1:]
        found = [cases.Case.from_json(json.loads(line)["case"]) for line in lines]
        numbers = [c.index for c in found]
        twice = sorted({n for n in numbers if numbers.count(n) > 1})
        if twice:
            sys.exit(f"{args.again} has two cases of number {twice[0]}: give each its own")
    else:
        only = [int(k) for k in args.only.split(",")] if args.only else range(args.cases)
        found = [cases.draw(args.seed, k, args.min_bytes, args.max_bytes) for k in only]
    if (args.again or args.growth or args.rows or args.grid) and args.only:
        found = [c for c in found if str(c.index) in args.only.split(",")]
    return [c for c in found if args.kind in (None, c.kind)]


def main():
    args = arguments()
    found = chosen(args)
    if args.list:
        print(*found, sep="\n")
        return 0
    import pyquern as q

    from sweep import run

    peer = None
    if args.peers or args.compiled:
        from sweep import peers

        peer = peers.Peers(args.compiled)
        if args.compile_only:
            return peers.compile_share(found, args.compiled, args.compile_only)
    device = q.Device()
    way = args.check or ("auto" if args.max_bytes <= 1 << 20 else "no")
    if way == "auto":
        way = "torch" if device.is_gpu else "numpy"
    rows, floor, prepared = run.run(
        found, check_way=None if way == "no" else way, peer=peer, batches=args.batches,
        batch_ms=3.0 if device.is_gpu else 0, seconds=args.seconds,
    )  # fmt: skip
    head = {"sweep": 1, "seed": args.seed, "cases": len(rows), "device": device.name,
            "target": device.target, "pyquern": q.__version__, "min_bytes": args.min_bytes,
            "max_bytes": args.max_bytes, "torch": peer and peer.version,
            "copy_ms": {str(k): v for k, v in floor.items()}}  # fmt: skip
    if args.json:
        lines = [json.dumps(line) for line in [head, *rows]]
        Path(args.json).write_text("\n".join(lines) + "\n")
    if args.svg:
        Path(args.svg).write_text((growth if args.growth else report).chart(head, rows))
    if args.worst:
        Path(args.worst).write_text(report.worst(rows, prepared))
    print(report.summary(rows))
    if args.growth:
        print(growth.table(rows))
    if args.rows:
        print(named.table(rows))
    if args.grid:
        print(grid.table(rows))
    return 1 if report.failures(rows) else 0


if __name__ == "__main__":
    sys.exit(main())
