# SPDX-License-Identifier: MIT
#
# The benchmark bench/sweep: that a seed gives the same cases on every machine, that the bytes it
# says must move are those that brute force finds, and that drawn cases are right. In: bench/sweep.
# Out: verdicts. The thing to know: the cases are small here, and NumPy has the answers.
"""Cases of the sweep, drawn, counted, computed."""

import doctest
import hashlib
import itertools
import json
import math
import random
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from sweep import cases, check, growth, operations, report, rows, run, traffic

# Of the first thousand cases of seed 1. It changes with what is drawn, and never by itself.
DRAWN = "462bf6ff0404a34a03c1d86db93fc6053b2d2884207a87bf7a04e3d62cd6184b"
KIB = 1 << 10


def draw(count, seed=1, **sizes):
    return [cases.draw(seed, k, **sizes) for k in range(count)]


def test_a_seed_gives_the_same_cases():
    texts = [json.dumps(c.to_json(), sort_keys=True) for c in draw(1000)]
    assert hashlib.sha256("\n".join(texts).encode()).hexdigest() == DRAWN
    assert texts[7] == json.dumps(cases.draw(1, 7).to_json(), sort_keys=True)
    assert json.loads(texts[0])["operands"] != cases.draw(2, 0).to_json()["operands"]


def test_a_case_is_made_again_from_json():
    for case in draw(50):
        again = cases.Case.from_json(json.loads(json.dumps(case.to_json())))
        assert again == case and str(again) == str(case)


def test_everything_is_drawn():
    drawn = draw(2000)
    every = {op for weights in operations.WEIGHTS.values() for op in weights}
    assert {c.op for c in drawn} == every
    assert {o.dtype for c in drawn for o in c.operands} == set(operations.SIZES)
    assert {len(c.operands) for c in drawn} == set(range(1, 9))
    assert {len(c.shape) for c in drawn} == set(range(1, 7))
    assert {c.style for c in drawn} == set(cases.STYLES)
    how = " ".join(word for c in drawn for o in c.operands for word in o.how)
    for word in ("offset", "left out", "step 2", "step 3", "backwards", "in memory", "broadcast"):
        assert word in how


def test_sizes():
    largest = [max(traffic.bytes_of_elements(c)) for c in draw(1000)]
    assert max(largest) <= cases.MIB * 512
    assert min(largest) >= cases.MIB * 48
    assert sum(b >= cases.MIB * 64 for b in largest) >= 990
    octaves = [sum(64 * 2**k <= b / cases.MIB < 128 * 2**k for b in largest) for k in range(3)]
    assert min(octaves) > 200


def test_elements_lie_in_their_memory():
    for case in draw(300):
        for o in case.operands:
            reach = [(n - 1) * s for n, s in zip(o.shape, o.strides, strict=True)]
            assert o.offset + sum(min(0, r) for r in reach) >= 0
            assert o.offset + sum(max(0, r) for r in reach) < o.storage
        walked = [[1 if n == 1 else m for n, m in zip(o.shape, case.shape, strict=True)]
                  for o in case.inputs]  # fmt: skip
        assert all(w == o.shape for w, o in zip(walked, case.inputs, strict=True))


# ---- bytes -------------------------------------------------------------------------------------


def _by_force(shape, strides, offset, itemsize):
    found = set()
    for place in itertools.product(*map(range, shape)):
        at = (offset + sum(k * s for k, s in zip(place, strides, strict=True))) * itemsize
        found.update(range(at // 32, (at + itemsize - 1) // 32 + 1))
    return len(found)


def test_sectors_of_drawn_views():
    for case in draw(400, least=256, most=2 * KIB):
        for o in case.operands:
            view = o.shape, o.strides, o.offset, o.itemsize
            assert traffic.sectors(*view) == _by_force(*view), (str(case), view)


def test_sectors_of_any_steps():
    rng = random.Random(3)
    for _ in range(500):
        size, unit, shape, strides = rng.choice([1, 2, 4, 8, 16]), 1, [], []
        for _ in range(rng.randint(0, 3)):
            step, n = rng.choice([1, 1, 2, 3, 5, 37]), rng.randint(1, 6)
            shape.append(n)
            strides.append(rng.choice([1, 1, -1, 0]) * unit * step)
            unit *= n * step
        offset = unit + rng.randint(0, 31)
        view = shape, strides, offset, size
        assert traffic.sectors(*view) == _by_force(*view), view
    assert doctest.testmod(traffic).failed == 0


# ---- runs --------------------------------------------------------------------------------------


@pytest.mark.on_soft
def test_drawn_cases_are_right():
    drawn = draw(60, seed="tests", least=4 * KIB, most=64 * KIB)
    rows, floor, prepared = run.run(drawn, check_way="numpy", batches=1, batch_ms=0)
    assert [r["line"] for r in report.failures(rows)] == []
    assert len(rows) == 60 and all(r["fraction"] > 0 for r in rows)
    assert all(t > 0 for t in floor.values())
    text = report.worst(rows, prepared, count=2)
    assert text.count("plan:") == 2 and "MB that must move" in text
    assert "60 results were compared, 60 are right" in report.summary(rows)
    head = {"seed": 1, "device": "<&>", "min_bytes": 4 * KIB, "max_bytes": 64 * KIB}
    chart = report.chart(head, rows)
    assert "&lt;&amp;>" in chart and chart.count("<polyline") == 4


@pytest.mark.on_soft
def test_named_rows_are_right():
    found = rows.cases(8192)
    measured, _, _ = run.run(found, check_way="numpy", batches=1, batch_ms=0)
    assert [r["check"] for r in measured] == ["right"] * len(found)
    table = rows.table(measured)
    assert all(c.style in table for c in found) and len({c.style for c in found}) == len(found)


def test_growth_is_right_and_drawn():
    found = growth.cases(4096)
    assert {c.style for c in found} == set(growth.SERIES)
    assert [c.index for c in found] == list(range(len(found)))
    assert len({len(c.operands) for c in found}) == 16
    rank8 = [c for c in found if len(c.shape) == 8]
    assert [math.prod(c.shape) for c in rank8] == [1024]
    rows, _, _ = run.run(found, check_way="numpy", batches=1, batch_ms=0)
    assert {r["check"] for r in rows} == {"right"}
    table = growth.table(rows)
    assert all(series in table for series in growth.SERIES)
    drawn = growth.chart({"device": "<a device>"}, rows)
    assert ElementTree.fromstring(drawn).tag.endswith("svg")
    assert drawn.count("polyline") == 2 * len(growth.SERIES)  # ours and a copy


def test_wrong_results_are_found():
    drawn = draw(400, least=KIB, most=2 * KIB)
    case = next(c for c in drawn if c.op == "copy" and "left out" in str(c.output))
    arena = run.Arena([case])
    arena.fill(case)
    before = arena.bytes(case)
    run.Prepared(case, arena).bind().launch()
    after = arena.bytes(case)[-1]
    assert check.numpy_check(case, before, after) is None
    place = case.output.offset * case.output.itemsize
    for changed in (place, _between(case.output)):
        broken = after.copy()
        broken[changed] += 1
        verdict = check.numpy_check(case, before, broken)
        assert ("wrong" if changed == place else "none of its elements'") in verdict


def _between(o):
    """A byte of an operand's memory that is no element's."""
    used = set()
    for place in itertools.product(*map(range, o.shape)):
        used.add(o.offset + sum(k * s for k, s in zip(place, o.strides, strict=True)))
    return min(set(range(o.storage)) - used) * o.itemsize
