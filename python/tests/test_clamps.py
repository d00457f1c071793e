# SPDX-License-Identifier: MIT
#
# A fault of the assembler of CUDA 12.9 to 13.3, for compute capabilities 9.0 to 10.3: what
# max(min(a, b), 0) and max(max(a, b), 0) of int32 or less come to is compared with a and with b by
# the same predicate, which means "it is the first one". So no kernel may compare such a value, by
# == or !=, with what it was made of. In: PTX of drawn kernels. Out: verdicts. The thing to know:
# the other way around, min(max(a, 0), b), and the comparisons < and >= are right.
"""No kernel has the comparison that an assembler gets wrong."""

import re
import sys
from pathlib import Path

import pytest

import pyquern as q

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from sweep import cases, run

EACH = 15  # cases of a kind
CHOICE = re.compile(r"(min|max)\.s(?:16|32)\s+(%\w+), (\S+), (\S+);")
EQUAL = re.compile(r"(?:setp\.(?:eq|ne)\.[sbu]|xor\.b)(?:16|32)\s+%\w+, (\S+), (\S+);")
SAME = re.compile(r"(?:cvt|mov)\.[a-z0-9.]+\s+(%\w+), (%\w+);")


def wrong_comparisons(ptx):
    """Lines that compare a clamped value with what it was made of."""
    same, made, clamped, found = {}, {}, {}, []
    for line in ptx.splitlines():
        if copy := SAME.search(line):
            same[copy[1]] = same.get(copy[2], copy[2])
        elif choice := CHOICE.search(line):
            of = [same.get(operand, operand) for operand in choice.groups()[2:]]
            if choice[1] == "max" and "0" in of:
                clamped[choice[2]] = {operand for one in of for operand in made.get(one, ())}
            made[choice[2]] = of
        elif equal := EQUAL.search(line):
            a, b = (same.get(operand, operand) for operand in equal.groups())
            if a in clamped.get(b, ()) or b in clamped.get(a, ()):
                found.append(line.strip())
    return found


@pytest.mark.on_soft
@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("z = max(min(x, y), 0); w = z == y", 1),
        ("z = max(max(x, y), 0); w = x != z", 1),
        ("z = x < y ? x : y; z = z < 0 ? 0 : z; w = z == x", 1),
        ("short a = x, b = y, c = max(min(a, b), (short)0); z = c; w = c == b", 1),
        ("z = min(max(x, 0), y); w = z == y", 0),
        ("z = max(min(x, y), 0); w = z < y", 0),
    ],
)
def test_it_is_found(text, wrong):
    kernel = q.ElementwiseKernel("int32 x, int32 y", "int32 z, bool w", text)
    values = q.ones(100, "int32")
    found = wrong_comparisons(kernel.explain(values, values).ptx)
    assert (len(found) > 0) == bool(wrong), found


@pytest.mark.on_soft
@pytest.mark.parametrize("kind", ["elementwise", "reduction", "scan"])
@pytest.mark.parametrize(("least", "most"), [(4 << 10, 64 << 10), (1 << 20, 8 << 20)])
def test_drawn_kernels_have_none(kind, least, most):
    drawn = (cases.draw("clamps", k, least, most) for k in range(40 * EACH))
    chosen = [c for c in drawn if c.kind == kind][:EACH]
    arena = run.Arena(chosen)
    for case in chosen:
        kernel = run.Prepared(case, arena)
        told = kernel.kernel.explain(*kernel.inputs, **kernel.words)
        assert not wrong_comparisons(told.ptx), f"{case}: {told.plan}"
