# SPDX-License-Identifier: MIT
#
# The stubs say what the package has: mypy's stubtest compares them with the modules, and mypy finds
# the mistakes in a program, and no others. In: the stubs. Out: nothing. The thing to know: both run
# with the package's own settings in pyproject.toml.
import os
import pathlib
import subprocess
import sys

import pytest

import pyquern

HOME = pathlib.Path(__file__).parent.parent
PROGRAM = """
import numpy as np
import pyquern as q

square: q.ElementwiseKernel = q.ElementwiseKernel("T x", "T y", "y = x * x", name="square")
total = q.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0")
x: q.ndarray = q.asarray(np.arange(3.0))
with q.Stream(non_blocking=True) as stream:
    bound = square.bind(x, stream=stream)
    bound.launch()
print(total(x, axis=0, keepdims=True), x.sum(axis=0) + 1, x.T.get().mean(), square.nin + 1)
try:
    print(q.evaluate("sqrt(x)", x=x))
except q.CompileError as error:
    print(error.span[0], error.log)
q.RawKernel("", "f")(1, (32, 1), (x, 1.0), shared_mem=4)
"""
WRONG = """
import pyquern as q

q.ElementwiseKernel("T x", "T y")
q.ElementwiseKernel("T x", "T y", "y = x").bind(axis=0)
q.Device().numbr
"""


def checked(*command):
    pytest.importorskip("mypy")
    environment = os.environ | {"MYPYPATH": str(HOME), "PYTHONPATH": str(HOME)}
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=HOME, env=environment, capture_output=True, text=True
    )


def test_stubs():
    options = ("--mypy-config-file", "pyproject.toml", "--allowlist", "tests/stubtest-allow.txt")
    ran = checked("mypy.stubtest", *options, "pyquern")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_programs(tmp_path):
    (tmp_path / "right.py").write_text(PROGRAM)
    (tmp_path / "wrong.py").write_text(WRONG)
    ran = checked("mypy", "--strict", str(tmp_path / "right.py"))
    assert ran.returncode == 0, ran.stdout
    told = checked("mypy", "--strict", str(tmp_path / "wrong.py")).stdout
    for line, what in ((4, "Missing positional argument"), (5, "axis"), (6, "numbr")):
        assert any(f"wrong.py:{line}:" in t and what in t for t in told.splitlines()), told


def test_names():
    assert (HOME / "pyquern/py.typed").exists()
    assert sorted(pyquern.__all__) == pyquern.__all__
    public = {n for n in dir(pyquern) if not n.startswith("_")} - {"magic", "demo", "torch", "jax"}
    assert public == set(pyquern.__all__)
