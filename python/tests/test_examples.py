# SPDX-License-Identifier: MIT
#
# The examples in docstrings and in the README are run, and print what they say. In: the package's
# modules. Out: nothing. The thing to know: none of them needs a GPU.
"""Examples of the documentation."""

import doctest
import importlib
import pathlib
import pkgutil

import pytest

import pyquern

MODULES = [
    m.name for m in pkgutil.iter_modules(pyquern.__path__) if m.name not in ("_core", "demo")
]
README = pathlib.Path(__file__).parent.parent / "README.md"


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    try:
        module = importlib.import_module("pyquern." + name)
    except ImportError as missing:
        pytest.skip(str(missing))
    assert doctest.testmod(module).failed == 0


def test_readme():
    assert doctest.testfile(str(README), module_relative=False).failed == 0
