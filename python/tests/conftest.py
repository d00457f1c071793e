# SPDX-License-Identifier: MIT
#
# What tests share. In: QUERN_DEVICE; the software device where it is not set. Out: `q`, the
# package, and a cache of its own for each run. Tests marked on_soft need the software device, which
# works on memory of the host; those marked on_gpu a GPU.
import atexit
import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest

# Tests of what is in a checkout, and not where a wheel is tried.
REPOSITORY = Path(__file__).resolve().parents[2]
NEEDS = {
    "test_clamps.py": "bench/sweep",
    "test_dev.py": "dev",
    "test_sweep.py": "bench/sweep",
    "test_types.py": "python/pyproject.toml",
}
collect_ignore = [test for test, path in NEEDS.items() if not (REPOSITORY / path).exists()]

os.environ.setdefault("QUERN_DEVICE", "soft")
if "QUERN_CACHE_DIR" not in os.environ:  # kernels of the tests are not the user's
    os.environ["QUERN_CACHE_DIR"] = tempfile.mkdtemp(prefix="pyquern-tests-")
    atexit.register(shutil.rmtree, os.environ["QUERN_CACHE_DIR"], ignore_errors=True)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell starts what it does not wait for
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config):
    config.addinivalue_line("markers", "on_soft: memory of the host is the device's")
    config.addinivalue_line("markers", "on_gpu: the device is a GPU")


def pytest_runtest_setup(item):
    import pyquern

    is_gpu = pyquern.Device().is_gpu
    if item.get_closest_marker("on_soft" if is_gpu else "on_gpu"):
        pytest.skip("not for a GPU" if is_gpu else "for a GPU")


@pytest.fixture
def q():
    import pyquern

    return pyquern
