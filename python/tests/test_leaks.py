# SPDX-License-Identifier: MIT
#
# Calls leave memory as it was. In: every kind of argument, outputs that are given and new, numbers,
# and wrong calls, many times, in a process of their own each. Out: resident memory that does not
# grow, and no more memory and pieces of it in the engine than before. PYQUERN_TEST_CALLS says how
# many calls: 1000000 of each take some minutes.
import os
import subprocess
import sys

import pytest

import pyquern

PROGRAM = """
import gc, sys
import numpy as np
import pyquern as q

add = q.ElementwiseKernel("T x, T y", "T z", "z = x + y")
total = q.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0")
sums = q.ScanKernel("T x", "T y", "x", "a + b", "y = a", "0")
strict = q.ElementwiseKernel("float32 x", "float32 y", "y = x")
broken = q.ElementwiseKernel("T x", "T y", "y = nothing_of_that_name")
raw = q.RawKernel('extern "C" __global__ void f(float *p, int n) { if (n < 0) *p = n; }', "f")

def arrays(kind):
    x = np.ones(SIZE, np.float32)
    if kind == "numpy":
        return x
    if kind == "own":
        return q.array(x)
    if kind == "buffer":
        return memoryview(x)
    if kind == "torch":
        import torch
        return torch.ones(SIZE, device="cuda" if q.Device().is_gpu else "cpu")
    if kind == "cupy":
        import cupy
        return cupy.ones(SIZE, "float32")
    if kind == "numba":
        from numba import cuda
        return cuda.to_device(x)
    if kind == "jax":
        import jax.numpy
        return jax.numpy.ones(SIZE, "float32")
    if kind == "tensorflow":
        import tensorflow
        return tensorflow.ones(SIZE)
    if kind == "tvm_ffi":
        import tvm_ffi
        return tvm_ffi.from_dlpack(x)
    if kind == "number":
        return np.float32(2)
    class Capsule:
        def __dlpack__(self, **words):
            return x.__dlpack__(**words)
    return Capsule()

def refused(call, *args, **words):
    try:
        call(*args, **words)
    except (TypeError, ValueError, q.Error):
        return
    raise AssertionError("it is wrong, and was taken")

def resident():
    gc.collect()
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096

kind, way, calls = sys.argv[1], sys.argv[2], int(sys.argv[3])
SIZE = 0 if way == "new" else 5
x = arrays(kind)
fixed = np.ones(SIZE, np.float32)
fixed.flags.writeable = False
integers = np.ones(3, np.int8)
writable = kind not in ("number", "jax", "tensorflow", "capsule")
out = arrays(kind) if writable else np.ones(SIZE, np.float32)
many = kind != "number"

def new(n):
    for _ in range(n):
        add(x, x if many else fixed)
        add(x if many else fixed, 1.5)
        add(fixed, x)

def given(n):
    for _ in range(n):
        add(x, x, out)
        add(fixed, x, out)
        if many:
            sums(x, out=out)

def others(n):
    for _ in range(n // 4):
        if many:
            total(x)
            total(x, axis=0, keepdims=True)
            if writable:
                raw(1, 1, (x, 3))
            if kind == "own" or not q.Device().is_gpu:
                q._core.take(x)
        add.explain(fixed, x) if _ % 50 == 0 else None

def wrong(n):
    for k in range(n // 4):
        refused(add, x, [1])
        refused(add, x)
        refused(add, x, x, fixed)
        refused(add, x, x, siez=3)
        refused(strict, integers)
        refused(total, x, axis=7)
        if many:
            refused(add, x, np.ones(7, np.float32))
        if k % 2000 == 0:
            refused(broken, np.ones(3))

some = globals()[way]
for _ in range(8 if way == "wrong" else 0):
    refused(broken, np.ones(3))  # some versions of the compiler take memory the first few times
some(max(calls // 20, 200))
before, pieces = resident(), q.memory_stats()
some(calls // 2)
grown, after = resident() - before, q.memory_stats()
print(kind, way, "grew by", grown, "bytes;", pieces, after)
assert grown < 400_000, grown
assert (after.used, after.allocations) == (pieces.used, pieces.allocations)
"""

CALLS = {"numpy": 60_000, "own": 100_000, "buffer": 60_000, "capsule": 20_000, "number": 60_000,
         "torch": 60_000, "jax": 3_000, "tensorflow": 4_000, "tvm_ffi": 30_000,
         "cupy": 20_000, "numba": 4_000}  # fmt: skip


@pytest.mark.parametrize("way", ["new", "given", "others", "wrong"])
@pytest.mark.parametrize("kind", list(CALLS))
def test_calls_leave_memory_as_it_was(kind, way):
    if kind in ("torch", "jax", "tensorflow", "tvm_ffi", "cupy", "numba"):
        pytest.importorskip(kind)
    if kind in ("cupy", "numba") and not pyquern.Device().is_gpu:
        pytest.skip("for a GPU")
    calls = int(os.environ.get("PYQUERN_TEST_CALLS", CALLS[kind] // (1 if way == "new" else 3)))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, kind, way, str(calls)],
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout + done.stderr
