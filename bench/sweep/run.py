# SPDX-License-Identifier: MIT
#
# Runs cases: arrays, compilation, time, check. In: cases, options. Out: a dictionary for each
# case and the table of the copy's times. The thing to know: all cases live in one piece of
# memory, which is as large as the largest needs, so that their kernels can be compiled ahead for
# exactly the arrays that they will have, and nothing is allocated between cases.
"""Cases, measured."""

import functools
import os
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pyquern as q

from . import check, operations, traffic

BEGIN = time.time()
ALIGNMENT = 512
WARM_MS = 60  # an H200 runs at 0.9 of its speed for some 40 ms after a check by PyTorch
_HASH = """unsigned h = (unsigned)i * 2654435761u + seed * 40503u;
h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13;
"""


@functools.cache
def fill_kernel(is_complex):
    """Fills memory with integers from `low` on, which follow from their place and a seed."""
    value = "(int)(h % span) + low"
    if is_complex:
        value += ", (int)((h >> 16) % span) + low"
    inputs = "uint32 seed, int32 low, uint32 span"
    return q.ElementwiseKernel(inputs, "T x", f"{_HASH}x = T({value})", "sweep_fill")


class Arena:
    """The memory of every case's operands, one case at a time."""

    def __init__(self, cases):
        self.size = max(self.places(case)[1] for case in cases)
        self.memory = q.empty(self.size, "uint8")

    @staticmethod
    def places(case):
        """Where each operand's memory begins, and the end of all."""
        places, end = [], 0
        for o in case.operands:
            places.append(end)
            end += -(-o.storage * o.itemsize // ALIGNMENT) * ALIGNMENT
        return places, end

    def array(self, place, operand):
        size = operand.itemsize
        pointer = self.memory.data + (place + operand.offset * size)
        return q.ndarray(operand.shape, operand.dtype, pointer, [s * size for s in operand.strides])

    def storage(self, place, operand, dtype=None):
        """All of an operand's memory, also what its view leaves out."""
        n = operand.storage * (1 if dtype is None else operand.itemsize)
        return q.ndarray(n, dtype or operand.dtype, self.memory.data + place)

    def arrays(self, case):
        return [self.array(p, o) for p, o in zip(self.places(case)[0], case.operands, strict=True)]

    def fill(self, case):
        places = self.places(case)[0]
        for k, (place, o) in enumerate(zip(places, case.operands, strict=True)):
            fill = fill_kernel(o.dtype in operations.COMPLEX)
            fill(case.index * 8 + k, o.low, o.span, self.storage(place, o))

    def bytes(self, case):
        """A copy of the memory of each operand on the host."""
        places = self.places(case)[0]
        return [
            self.storage(p, o, "uint8").get() for p, o in zip(places, case.operands, strict=True)
        ]


class Prepared:
    """A case with its arrays and its kernel."""

    def __init__(self, case, arena):
        self.case = case
        *self.inputs, self.output = arena.arrays(case)
        self.kernel, self.words = operations.kernel(case)
        if case.kind == "elementwise":
            self.inputs.append(self.output)
        else:
            self.words["out"] = self.output

    def compile(self):
        self.kernel.prepare(*self.inputs, **self.words)
        return self

    def bind(self):
        return self.kernel.bind(*self.inputs, **self.words)

    def explain(self):
        return self.kernel.explain(*self.inputs, **self.words).text


def compile_all(cases, arena, workers):
    """Index to Prepared, or to the text of an error. Compilation lets the GIL go."""

    def one(case):
        try:
            return Prepared(case, arena).compile()
        except q.Error as error:
            return f"{type(error).__name__}: {error}"

    with ThreadPoolExecutor(workers) as pool:
        return dict(zip([c.index for c in cases], pool.map(one, cases), strict=True))


# ---- time --------------------------------------------------------------------------------------


class Clock:
    """Milliseconds of a launch, by events around batches of them, behind others of WARM_MS."""

    def __init__(self, batches, batch_ms):
        self.batches, self.batch_ms = batches, batch_ms
        self.begin, self.end = q.Event(), q.Event()

    def _batch(self, launch, count):
        self.begin.record()
        for _ in range(count):
            launch()
        self.end.record()
        self.end.synchronize()
        return q.get_elapsed_time(self.begin, self.end) / count

    def __call__(self, launch):
        self._batch(launch, 1)
        once = self._batch(launch, 2)
        count = max(1, min(200, int(self.batch_ms / max(once, 1e-4))))
        for _ in range(int(WARM_MS / (once * count)) if self.batch_ms else 0):
            self._batch(launch, count)
        batches = self.batches if once < 20 else 2  # a peer may take a hundred times as long
        return statistics.median(self._batch(launch, count) for _ in range(batches))


class Floor:
    """What a copy takes that moves as many bytes: measured over a range of sizes, several times."""

    def __init__(self, arena, clock, least, most):
        self.arena, self.clock = arena, clock
        self.sizes, size = [], least
        while size < most:
            self.sizes.append(size)
            size += size // 2
        self.sizes.append(most)
        self.times = {size: [] for size in self.sizes}

    def measure(self):
        data = self.arena.memory.data
        for size in self.sizes:
            half = min(size, self.arena.size) // (2 * ALIGNMENT) * ALIGNMENT or ALIGNMENT // 2
            to = q.ndarray(half, "uint8", data)
            source = q.ndarray(half, "uint8", data + half)
            spent = self.clock(lambda to=to, source=source: to.copy_to_device(source))
            self.times[size].append(spent * size / (2 * half))

    def table(self):
        return {size: statistics.median(times) for size, times in self.times.items()}

    def milliseconds(self, size):
        """Between two sizes that were measured, on a straight line."""
        points = sorted(self.table().items())
        for (s0, t0), (s1, t1) in zip(points, points[1:], strict=False):
            if size <= s1:
                return max(t0 + (t1 - t0) * (size - s0) / (s1 - s0), t0 * min(1, size / s0))
        return points[-1][1] * size / points[-1][0]


# ---- a run -------------------------------------------------------------------------------------


def say(text):
    print(f"[{time.time() - BEGIN:6.1f} s] {text}", file=sys.stderr, flush=True)


def checked(case, arena, launch, way):
    """The check's verdict of one launch into memory that was filled."""
    if way == "numpy":
        before = arena.bytes(case)
        launch()
        q.synchronize()
        return check.numpy_check(case, before, arena.bytes(case)[-1])
    from . import peers

    storages = peers.storages(case, arena)
    try:
        before = [*storages[:-1], storages[-1].clone()]
        launch()
        q.synchronize()
        return check.torch_check(case, before, storages[-1])
    except peers.OutOfMemoryError:
        return check.NO_MEMORY
    finally:
        peers.let_go()


def run(cases, *, check_way=None, peer=None, batches=7, batch_ms=3.0, seconds=1e9):
    """The rows of all cases that `seconds` from the start are enough for, the floor's table, and
    what was prepared, by index."""
    arena = Arena(cases)
    say(f"{len(cases)} cases, {arena.size >> 20} MiB")
    begin = time.time()
    prepared = compile_all(cases, arena, os.cpu_count())
    say(f"compiled in {time.time() - begin:.1f} s")
    if peer:
        peer.prepare(cases)
        say("torch.compile was run ahead")
    clock = Clock(batches, batch_ms)
    moved = {case.index: traffic.bytes_of(case) for case in cases}
    totals = [sum(m) for m in moved.values()]
    floor = Floor(arena, clock, max(2 * ALIGNMENT, min(totals)), max(totals))
    floor.measure()
    rows = []
    for k, case in enumerate(cases):
        if time.time() - BEGIN > seconds:
            say(f"{seconds} s are over: {len(cases) - k} cases are left out")
            break
        if k and k % 100 == 0:
            say(f"{k} cases were measured")
            floor.measure()
        rows.append(_row(case, arena, prepared[case.index], moved[case.index], clock,
                         check_way, peer))  # fmt: skip
    floor.measure()
    for row in rows:
        row["copy_ms"] = floor.milliseconds(row["bytes"])
        if "ms" in row:
            row["fraction"] = row["copy_ms"] / row["ms"]
            row["gbps"] = row["bytes"] / row["ms"] / 1e6
    say("measured")
    return rows, floor.table(), prepared


def _row(case, arena, prepared, moved, clock, check_way, peer):
    row = {"index": case.index, "line": str(case), "kind": case.kind, "op": case.op,
           "bytes": sum(moved), "bytes_of_operands": moved,
           "bytes_of_elements": traffic.bytes_of_elements(case),
           "bytes_in_part": traffic.bytes_in_part(case),
           "case": case.to_json()}  # fmt: skip
    if isinstance(prepared, str):
        return row | {"error": prepared}
    arena.fill(case)
    try:
        bound = prepared.bind()
        row["ms"] = clock(bound.launch)
        if check_way:
            arena.fill(case)
            wrong = checked(case, arena, bound.launch, check_way)
            row["check"] = wrong or "right"
    except q.Error as error:
        return row | {"error": f"{type(error).__name__}: {error}"}
    if peer:
        row["peers"] = peer.measure(case, arena, clock, bound.launch)
    return row
