# SPDX-License-Identifier: MIT
#
# What a device's cache and remote store have done. In: calls. Out: counts.
import os
import subprocess
import sys

import numpy as np


def test_cache_stats(q):
    device = q.Device()
    before = device.cache_stats()
    k = q.ElementwiseKernel("T x", "T y", f"y = x + {os.getpid()}", "counted")
    k(np.ones(3))
    after = device.cache_stats()
    assert after["compiled"] == before["compiled"] + 1 and after["misses"] > before["misses"]
    assert after["compile_ms"] > before["compile_ms"] and after["compiled_new"] > 0
    assert after["path"].startswith(os.environ["QUERN_CACHE_DIR"]) and after["problem"] == ""
    assert after["enabled"] is True
    assert after["last_miss"].startswith("counted: ")
    k(np.ones(4))
    assert device.cache_stats()["compiled"] == after["compiled"]


def test_stats_of_a_cache_that_cannot_be_used():
    program = """
import numpy, pyquern
pyquern.ElementwiseKernel("T x", "T y", "y = x + 1")(numpy.ones(3))
stats = pyquern.Device().cache_stats()
assert stats["enabled"] is False and stats["problem"] != "" and stats["compiled"] > 0, stats
"""
    where = dict(os.environ, QUERN_CACHE_DIR="/dev/null")
    subprocess.run([sys.executable, "-c", program], env=where, check=True)


def test_remote_stats(q):
    stats = q.Device().remote_stats()
    assert stats["enabled"] is False and isinstance(stats["problem"], str)
    assert stats["hits"] == stats["puts"] == 0 and stats["waited_ms"] == 0.0
