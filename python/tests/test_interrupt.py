# SPDX-License-Identifier: MIT
#
# Ctrl-C. In: programs that are at something long, and a SIGINT. Out: KeyboardInterrupt, soon, and a
# library that works on. The thing to know: Python's handler only makes a note until the interpreter
# is back, so the package stands in front of it and stops the software device.
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.on_soft  # a GPU's kernel cannot be stopped

BEGIN = """
import os, signal, sys, threading, time
import numpy as np
import pyquern as q

ENDLESS = q.RawKernel('extern "C" __global__ void f() { while (1); }', "f")
SLOW = "y = x; for (long long k = 0; k < (1LL << 40); k++) y += k & 1;"
slow = q.ElementwiseKernel("T x", "T y", SLOW, "slow")
total = q.ReductionKernel("T x", "T y", "x", "a + b", "y = a; while (y == y) y += 1;", "0")
sums = q.ScanKernel("T x", "T y", "x", "a + b", "y = a; while (y == y) y += 1;", "0", "slow_scan")
add = q.ElementwiseKernel("T x", "T y", "y = x + 1")
x, own, stream = np.ones(4), q.ones(4), q.Stream()
add(x), add(own)

def on_stream():
    with stream:
        slow(own)
    stream.synchronize()

def in_graph():
    with q.graph() as g:
        slow(own)
    g.launch()
    q.Device().synchronize()

def many():
    while True:
        add(x)

def then_wait():
    ENDLESS(1, 1, ())
    q.Device().synchronize()

def raises():
    raise ValueError("the program's own handler")

def ended(function):
    began = None
    def kill():
        nonlocal began
        began = time.perf_counter()
        os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(0.4, kill)
    timer.start()
    try:
        function()
    except BaseException as error:
        name = type(error).__name__
    else:
        name = "nothing"
    seconds = time.perf_counter() - began
    timer.join()
    assert add(x).tolist() == [2, 2, 2, 2] and add(own).tolist() == [2, 2, 2, 2]
    print(name, seconds)

for prepared in (lambda: slow.prepare(own), lambda: slow.prepare(x), lambda: total.prepare(own)):
    prepared()
"""

CALLS = {
    "an elementwise kernel": "slow(own)",
    "arrays of NumPy": "slow(x)",
    "a reduction": "total(own)",
    "a scan": "sums(own)",
    "an endless raw kernel": "ENDLESS(1, 1, ())",
    "many blocks": "ENDLESS(4096, 256, ())",
    "a bound call": "slow.bind(own).launch()",
    "a stream": "on_stream()",
    "a graph": "in_graph()",
    "waiting": "then_wait()",
    "an expression": "(q.evaluate('x + 1', x=own), slow(own))",
    "many short kernels": "many()",
}


def run(program, *args):
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + program, *args], capture_output=True, text=True, timeout=25
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def reports():
    """What ended each of the calls, and how long after the signal: one after the other."""
    program = "".join(f"ended(lambda: {call})\n" for call in CALLS.values())
    return dict(zip(CALLS, run(program), strict=True))


@pytest.mark.parametrize("what", CALLS)
def test_a_call_ends_by_keyboard_interrupt(reports, what):
    name, seconds = reports[what].split()
    assert name == "KeyboardInterrupt"
    assert float(seconds) < 0.3


def test_the_programs_own_handler():
    """Set after the package took its place, as notebooks do for each cell: what it raises
    comes out, and where it raises nothing, the call says that it was stopped."""
    lines = run("""
ended(lambda: slow(own))
time.sleep(0.05)
signal.signal(signal.SIGINT, signal.default_int_handler)
ended(lambda: slow(own))
time.sleep(0.05)
signal.signal(signal.SIGINT, lambda *_: raises())
ended(lambda: slow(own))
time.sleep(0.05)
signal.signal(signal.SIGINT, lambda *_: None)
ended(lambda: slow(own))
""")
    assert [line.split()[0] for line in lines] == [
        "KeyboardInterrupt",
        "KeyboardInterrupt",
        "ValueError",
        "InterruptedError",
    ]


COMPILE = """
import os, signal, threading, time
import pyquern as q

body = "".join(f"y += sin(x * {k}) * cos(y + {k});" for k in range(40))
k = q.ElementwiseKernel("T x", "T y", f"y = {time.time()}; " + body, "large")
x = q.ones(3)
threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    k(x)
    for _ in range(100):
        pass
except KeyboardInterrupt:
    print("KeyboardInterrupt")
try:
    assert k(x).shape == (3,)
except KeyboardInterrupt:
    print("KeyboardInterrupt")
print(q.ones(2).sum().item())
"""


def test_a_compilation():
    """It goes on to its end, and the next line of Python is interrupted."""
    done = subprocess.run(
        [sys.executable, "-c", COMPILE], capture_output=True, text=True, timeout=25
    )
    assert done.stdout.splitlines() == ["KeyboardInterrupt", "2.0"], done.stdout + done.stderr


def test_a_program_that_catches_nothing_dies_of_it():
    """So that loops of a shell end, too."""
    process = subprocess.Popen(
        [sys.executable, "-c", BEGIN + "print('ready', flush=True)\nENDLESS(1, 1, ())"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        began = time.perf_counter()
        _, errors = process.communicate(timeout=20)
    finally:
        process.kill()  # or it would go on for good
    assert process.returncode == -signal.SIGINT and "KeyboardInterrupt" in errors
    assert time.perf_counter() - began < 1
