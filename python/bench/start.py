# SPDX-License-Identifier: MIT
#
# What a start costs. In: nothing. Out: milliseconds of whole processes, median and least of 20:
# Python itself, `import pyquern`, the demo from a warm cache, and NumPy for comparison.
"""``python python/bench/start.py``"""

import statistics
import subprocess
import sys
import time


def measure(*args, rounds=20):
    """(median, least) in milliseconds; the first one warms the caches."""
    times = []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        subprocess.run([sys.executable, *args], stdout=subprocess.DEVNULL, check=True)
        times.append((time.perf_counter() - began) * 1e3)
    return statistics.median(times[1:]), min(times[1:])


for name, args in {
    "python": ["-c", "pass"],
    "import pyquern": ["-c", "import pyquern"],
    "python -m pyquern.demo": ["-m", "pyquern.demo"],
    "import numpy": ["-c", "import numpy"],
}.items():
    median, least = measure(*args)
    print(f"{name:24} {median:7.1f} {least:7.1f}")
