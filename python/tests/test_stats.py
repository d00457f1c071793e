# SPDX-License-Identifier: MIT
#
# What a device's cache and remote store have done. In: calls. Out: counts.
import os

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
    assert after["last_miss"].startswith("counted: ")
    k(np.ones(4))
    assert device.cache_stats()["compiled"] == after["compiled"]


def test_remote_stats(q):
    stats = q.Device().remote_stats()
    assert stats["enabled"] is False and isinstance(stats["problem"], str)
    assert stats["hits"] == stats["puts"] == 0 and stats["waited_ms"] == 0.0
