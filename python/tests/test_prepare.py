# SPDX-License-Identifier: MIT
#
# prepare() of lists of calls, and of calls whose arrays are pairs. In: kernels of each kind. Out:
# what was compiled, what was told and raised.
import functools
import signal
import threading

import numpy as np
import pytest

import pyquern as cp

ROWS = ("float32", (30, 5))


def kernels():
    return (
        cp.ElementwiseKernel("T x, S a", "T y", "y = a * x", "scaled"),
        cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total"),
        cp.ScanKernel("T x", "T y", "x", "a + b", "y = a", "0", "sums"),
        cp.RawKernel('extern "C" __global__ void raw(float *x) { *x = 1; }', "raw"),
    )


def compiled():
    return cp.Device().cache.stats()["compiled"]


def test_pairs_in_place_of_arrays():
    scaled, total, sums, _ = kernels()
    assert scaled.prepare(ROWS, 2.0) is scaled and total.prepare(ROWS, axis=1) is total
    sums.prepare(ROWS, axis=0)
    before = compiled()
    x = np.ones((30, 5), "float32")
    assert scaled(x, 2.0)[0, 0] == 2 and total(x, axis=1)[0] == 5 and sums(x, axis=0)[-1, 0] == 30
    assert compiled() == before
    with pytest.raises(ValueError):
        scaled.prepare(("float32", (2, 3)), ("float32", (3, 2)))
    with pytest.raises(TypeError):
        scaled.prepare(("no dtype", 3), 2)
    with pytest.raises(TypeError, match="a pair: its dtype and its shape"):
        scaled.prepare(("int8",), 2)


@pytest.mark.parametrize("threads", [None, 1, 7])
def test_a_list(threads):
    scaled, total, sums, raw = kernels()
    told = []
    here = threading.get_ident()

    def tell(done, all):
        told.append((done, all, threading.get_ident() == here))

    calls = [
        (scaled, ROWS, 2.0),
        (scaled, cp.ones(3), 2),
        functools.partial(total, ROWS, axis=1, keepdims=True),
        (sums, ROWS),
        raw,
    ]
    assert cp.prepare(iter(calls), threads=threads, progress=tell) is None
    assert told == [(k, 5, True) for k in range(1, 6)]
    assert [len(k.cached_codes) for k in (scaled, total, sums)] == [2, 1, 1]
    before = compiled()
    scaled(cp.ones((30, 5), "float32"), 2.0)
    raw((1,), (1,), (cp.ones(1, "float32"),))
    assert compiled() == before
    assert cp.prepare([]) is None


def test_what_cannot_be_prepared():
    scaled, total, _, _ = kernels()
    bad = cp.ElementwiseKernel("T x", "T y", "y = 2 * z", "bad")
    calls = [(scaled, ROWS, 1), (bad, ROWS), (total, ("int8", (2, 2))), (bad, ("int8", 3))]
    with pytest.raises(cp.CompileError, match='"z" is undefined') as caught:
        cp.prepare(calls)
    assert len(caught.value.__notes__) == 1 and "call 3" in caught.value.__notes__[0]
    assert caught.value.log and caught.value.span
    assert len(scaled.cached_codes) == len(total.cached_codes) == 1


@pytest.mark.parametrize("wrong", [3, None, (), [1, 2], "scaled", kernels()[0], (3, 4), (len,)])
def test_what_is_no_call(wrong):
    with pytest.raises(TypeError, match="a call to prepare is a tuple of a kernel"):
        cp.prepare([wrong])


def test_who_is_told_may_end_it():
    def end(done, all):
        raise RuntimeError("enough")

    made = [cp.ElementwiseKernel("T x", "T y", f"y = x - {k}") for k in range(20)]
    with pytest.raises(RuntimeError, match="enough"):
        cp.prepare([(k, ROWS) for k in made], threads=1, progress=end)
    assert sum(len(k.cached_codes) for k in made) < 20


def test_ctrl_c_ends_what_has_not_begun():
    made = [cp.ElementwiseKernel("T x", "T y", f"y = x * {k}") for k in range(40)]
    with pytest.raises(KeyboardInterrupt):
        cp.prepare(
            [(k, ROWS) for k in made],
            threads=1,
            progress=lambda done, all: signal.raise_signal(signal.SIGINT) if done == 1 else None,
        )
    assert sum(len(k.cached_codes) for k in made) < 40
