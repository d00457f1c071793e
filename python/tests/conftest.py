# SPDX-License-Identifier: MIT
#
# What tests share. In: QUERN_DEVICE; the software device where it is not set. Out: `q`, the
# package, and a cache of its own for each run.
import os

import pytest

os.environ.setdefault("QUERN_DEVICE", "soft")


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """Kernels of the tests are not the user's."""
    os.environ.setdefault("QUERN_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def q(cache):
    import pyquern

    return pyquern
