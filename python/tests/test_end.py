# SPDX-License-Identifier: MIT
#
# Threads, processes, and the end of the interpreter. In: programs of their own, which end while
# work is queued, threads are inside of calls, or objects are still held. Out: an exit, soon, with
# status 0; what forked and spawned processes compute.
import multiprocessing
import os
import subprocess
import sys
import sysconfig
import threading

import numpy as np
import pytest

import pyquern as q

BEGIN = """
import atexit, ctypes, sys, threading, time, warnings
import numpy as np
import pyquern as q

warnings.simplefilter("ignore", q.TransferWarning)
endless = q.RawKernel('extern "C" __global__ void f() { while (1); }', "f")
short = q.ElementwiseKernel("T x", "T y", "y = x + 1", "short")
long = q.ElementwiseKernel("T x", "T y", "y = x; for (int k = 0; k < 2000000; k++) y += k & 1;")
x = np.ones(4)

def daemons(function, count=8):
    def forever():
        while True:
            function()
    for _ in range(count):
        threading.Thread(target=forever, daemon=True).start()
    time.sleep(0.2)

def compile_new():
    text = f"y = x + {time.time()} + {threading.get_ident()}"
    q.ElementwiseKernel("T x", "T y", text)(x)
"""

ENDS = {
    "work on a stream": "with q.Stream() as s: y = long(q.ones(4))",
    "calls": "daemons(lambda: short(x))",
    "arrays": "daemons(lambda: q.ones(100).sum().get())",
    "first calls": "daemons(compile_new, 3)",
    "a first compilation": "threading.Thread(target=compile_new, daemon=True).start()",
    "endless kernels": "daemons(lambda: endless(1, 1, ()), 2)" if not q.Device().is_gpu else "",
    "wrong calls": "\ndef wrong():\n  try: short([])\n  except TypeError: pass\ndaemons(wrong)",
    "callbacks": "s = q.Stream(); daemons(lambda: s.launch_host_func(lambda a: None, None), 4)",
    "a slow callback": "s = q.Stream(); s.launch_host_func(lambda a: time.sleep(.2), None)",
    "a recording": "s = q.Stream(); s.begin_capture()",
    "streams": "daemons(lambda: q.Stream().synchronize())",
    "kernels": "daemons(lambda: q.ElementwiseKernel('T x', 'T y', 'y = x + 1'))",
    "an atexit of before": "",
    "an object that calls": """
class Last:
    def __del__(self): short(np.ones(2))
sys.kept = Last()""",
    "an allocator": """
held = {}
def malloc(size, device=0, *more):
    held[len(held)] = b = ctypes.create_string_buffer(size + 512)
    return -(-ctypes.addressof(b) // 512) * 512
q.set_allocator(q.PythonFunctionAllocator(malloc, lambda *_: None).malloc)
sys.kept = q.ones(10)""" if not q.Device().is_gpu else "",
    "views of others": "a = q.ones(5); sys.kept = np.asarray(a), np.from_dlpack(a), a.__dlpack__()"
    if not q.Device().is_gpu else "sys.kept = q.ones(5).__dlpack__()",
    "a bound call": "sys.kept = short.bind(q.ones(3)); sys.kept.launch()",
}  # fmt: skip


@pytest.mark.parametrize("what", ENDS)
def test_the_interpreter_ends(what):
    first = "import atexit; atexit.register(lambda: print(short(x).tolist()))\n"
    program = (first if what == "an atexit of before" else "") + BEGIN + ENDS[what]
    for _ in range(int(os.environ.get("PYQUERN_TEST_ENDS", 1))):
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, timeout=30
        )
        assert done.returncode == 0, f"status {done.returncode}: {done.stderr}"
        assert done.stderr == ""
        assert done.stdout == ("[2.0, 2.0, 2.0, 2.0]\n" if "atexit" in what else "")


# ---- threads -----------------------------------------------------------------------------------


def work(turn):
    """A bit of everything that threads share: new kernels, new types, streams, errors."""

    class Mine(np.ndarray):
        pass

    x = np.full(50, float(turn))
    scale = q.ElementwiseKernel("T x", "T y", f"y = x * {turn % 7}")
    total = q.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0")
    assert (scale(x) == x * (turn % 7)).all() and (scale(x.view(Mine)) == x * (turn % 7)).all()
    assert total(x) == 50 * turn and total(q.asarray(x)).item() == 50 * turn
    with q.Stream() as stream:
        ours = scale(q.asarray(x))
        assert ours.get(stream).tolist() == (x * (turn % 7)).tolist()
    if not q.Device().is_gpu:
        assert np.from_dlpack(scale(q.asarray(x)))[0] == turn * (turn % 7)
    assert scale(memoryview(x)).tolist()[0] == turn * (turn % 7)
    with pytest.raises(q.CompileError, match="nowhere"):
        q.ElementwiseKernel("T x", "T y", "y = nowhere")(x)
    with pytest.raises(TypeError, match="argument 1"):
        scale([turn])
    raw = q.RawKernel('extern "C" __global__ void f(int *p, int v) { *p = v; }', "f")
    out = q.zeros(1, "int32")
    raw(1, 1, (out, turn))
    assert out.item() == turn


def test_eight_threads():
    """All at once, on what none has used before."""
    wrong, turns = [], int(os.environ.get("PYQUERN_TEST_TURNS", 12))
    begin = threading.Barrier(8)
    shared = q.ElementwiseKernel("T x, T y", "T z", "z = x + y + 1")

    def run(seed):
        try:
            begin.wait()
            for turn in range(turns):
                assert shared(np.full(9, float(seed)), turn).tolist() == [seed + turn + 1.0] * 9
                work(seed * turns + turn)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong, wrong


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has a GIL")
def test_no_gil_is_taken_back():
    """By the package, or by what a call loads; in a process of its own, where nothing else does."""
    program = "import sys, pyquern as q; q.ones(3).sum().get(); print(sys._is_gil_enabled())"
    environment = {k: v for k, v in os.environ.items() if k != "PYTHON_GIL"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == "False\n", done.stderr


# ---- processes ---------------------------------------------------------------------------------


def child(queue, kind):
    try:
        add = q.ElementwiseKernel("T x", "T y", "y = x + 1")
        with q.Stream() as stream:
            own = add(q.ones(2)).get(stream)
        new = q.ElementwiseKernel("T x", "T y", f"y = x + {os.getpid()}")(np.zeros(1))
        queue.put((add(np.ones(2)).tolist(), own.tolist(), new[0] == os.getpid()))
    except q.Error as error:
        queue.put((type(error).__name__, str(error)))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*fork.*:RuntimeWarning")
@pytest.mark.parametrize("way", ["spawn", "fork", "forkserver"])
def test_processes(way):
    """A GPU does not survive fork(), and the child is told; the software device does."""
    q.ElementwiseKernel("T x", "T y", "y = x + 1")(q.ones(3))
    context = multiprocessing.get_context(way)
    queue = context.Queue()
    process = context.Process(target=child, args=(queue, way))
    process.start()
    try:
        got = queue.get(timeout=60)
    finally:
        process.join(10)
        process.kill()
    if way == "fork" and q.Device().is_gpu:
        assert got[0] in ("DriverError", "NoDeviceError") and "fork" in got[1]
    else:
        assert got == ([2, 2], [2, 2], True)
    assert process.exitcode == 0


def test_pool():
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(square, range(4)) == [0, 1, 4, 9]


def square(n):
    return q.ElementwiseKernel("T x", "T y", "y = x * x")(np.array([float(n)])).tolist()[0]
