# SPDX-License-Identifier: MIT
#
# What a start costs: `import pyquern` and the demo load nothing large, NumPy above all, which takes
# longer than both. In: nothing. Out: which modules are loaded. Times are python/bench/start.py's.
import subprocess
import sys

import pytest

LARGE = ("numpy", "torch", "jax", "ctypes", "multiprocessing", "asyncio", "difflib", "inspect",
         "dataclasses", "typing", "re", "json")  # fmt: skip


@pytest.mark.parametrize(
    "program", ["import pyquern", "import pyquern, pyquern.demo; pyquern.demo.main()"]
)
def test_nothing_large_is_loaded(program):
    """Beyond what this Python loads by itself."""
    report = "; import sys; print(' '.join(sys.modules))"
    bare = subprocess.run([sys.executable, "-c", report[2:]], capture_output=True, text=True)
    done = subprocess.run([sys.executable, "-c", program + report], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.splitlines()[-1].split()) - set(bare.stdout.split())
    assert not loaded & set(LARGE)


def test_what_few_programs_use_is_late():
    program = """
import sys, pyquern
late = ["pyquern._pools", "pyquern._runtime", "pyquern._texture"]
print([name for name in late if name in sys.modules])
pyquern.use_rmm, pyquern.cuda.runtime, pyquern.cuda.texture
print([name for name in late if name not in sys.modules])
print({"use_rmm", "ndarray", "cuda"} <= set(dir(pyquern)))
from pyquern import *
print(use_cupy_pool.__name__, hasattr(pyquern, "use_nothing"))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["[]", "[]", "True", "use_cupy_pool False"], done.stderr
