# SPDX-License-Identifier: MIT
#
# A cache, packs, a remote store: what they have done and what is done to them. In: calls, and
# processes with caches of their own. Out: counts, entries, answers.
import os

import numpy as np
import pytest
from programs_apart import program


def test_stats(q):
    cache = q.Device().cache
    before = cache.stats()
    k = q.ElementwiseKernel("T x", "T y", f"y = x + {os.getpid()}", "counted")
    k(np.ones(3))
    after = cache.stats()
    assert after["compiled"] == before["compiled"] + 1 and after["misses"] > before["misses"]
    assert after["compile_ms"] > before["compile_ms"] and after["compiled_new"] > 0
    assert after["path"].startswith(os.environ["QUERN_CACHE_DIR"]) and after["problem"] == ""
    assert after["enabled"] is True and cache.path == after["path"] and cache.problem == ""
    assert after["last_miss"].startswith("counted: ")
    k(np.ones(4))
    assert cache.stats()["compiled"] == after["compiled"]
    assert cache.path in repr(cache)


def test_a_cache_that_cannot_be_used(tmp_path):
    text = """
pyquern.ElementwiseKernel("T x", "T y", "y = x + 1")(numpy.ones(3))
cache = pyquern.Device().cache
stats = cache.stats()
assert stats["enabled"] is False and stats["problem"] != "" and stats["compiled"] > 0, stats
calls = (cache.entries, cache.clear, cache.prune, cache.verify, cache.push)
for refused in (*calls, lambda: cache.prewarm([])):
    try:
        refused()
    except pyquern.CacheError as error:
        assert str(error)
    else:
        raise AssertionError(refused)
"""
    (tmp_path / "cache").write_text("a file, where a folder should be")
    program(text, tmp_path)


KERNELS = """
add = pyquern.ElementwiseKernel("T x", "T y", "y = x + 1", "first")
total = pyquern.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "second")
def run():
    assert add(numpy.arange(3)).tolist() == [1, 2, 3] and total(numpy.arange(4)) == 6
"""


def test_entries_and_what_becomes_of_them(tmp_path):
    text = """
run()
cache = pyquern.Device().cache
second, first = cache.entries()
assert {first["name"], second["name"]} == {"first", "second"}
assert "x + 1" in {first["name"]: first, second["name"]: second}["first"]["source"]
assert first["image_bytes"] > 0 and first["days"] == 1 and first["compile_ms"] > 0
assert cache.entries(first["key"][:20]) == [first] and cache.entries("0" * 32) == []
assert cache.verify() == (2, 0)
assert cache.prune() == cache.prune(unused=1) == 0
assert cache.export_pack("all.qpack") == 2
assert cache.export_pack(b"one.qpack", digits=first["key"], source=False, level=-1) == 1
assert cache.import_pack("all.qpack") == 0
assert cache.prune(to=0) == 2 and cache.import_pack("all.qpack") == 2
assert cache.clear() == 2 and cache.clear() == 0 and cache.entries() == []
for wrong in ({"to": -1}, {"unused": -1}, {"unused": 2**33}):
    try:
        cache.prune(**wrong)
    except ValueError as error:
        assert "days" in str(error)
    else:
        raise AssertionError(wrong)
for refused in (lambda: cache.import_pack("absent.qpack"), lambda: cache.export_pack("no/a")):
    try:
        refused()
    except pyquern.Error as error:
        assert "absent.qpack" in str(error) or "no/a" in str(error), error
    else:
        raise AssertionError(refused)
run()
"""
    program(KERNELS + text, tmp_path)


def test_packs(tmp_path):
    program(KERNELS + 'run(); pyquern.Device().cache.export_pack("app.qpack")', tmp_path)
    text = """
run()
stats = pyquern.Device().cache.stats()
assert stats["compiled"] == 0 and stats["pack_hits"] == 2 and stats["packs"] == 1, stats
try:
    pyquern.use_packs()
except ValueError as error:
    assert "open already" in str(error)
else:
    raise AssertionError
"""
    (tmp_path / "cache").rename(tmp_path / "elsewhere")
    program('pyquern.use_packs("app.qpack")' + KERNELS + text, tmp_path)


def test_packs_that_are_no_paths(q):
    with pytest.raises(TypeError):
        q.use_packs(3)


def test_remote_stats(q):
    stats = q.Device().remote_stats()
    assert stats["enabled"] is False and isinstance(stats["problem"], str)
    assert stats["hits"] == stats["puts"] == 0 and stats["waited_ms"] == 0.0
