# SPDX-License-Identifier: MIT
#
# The parts of ./dev that are about Python: which ones it chooses, and whose environments it uses
# again; and that a wheel is tried with tests that find all they need. In: scripts/python.sh, run
# with stand-ins for Pythons and for pip. Out: paths.
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
SCRIPT = TESTS.parents[1] / "scripts" / "python.sh"

# A Python as far as the script asks it: `no_gil`, `minor`, `micro`; venvs of it are copies of it.
STANDIN = """#!/bin/sh
case "$*" in
    *Py_GIL_DISABLED*) exit {has_gil} ;;
    *ensurepip*) exit {is_old} ;;
    *hexversion*) echo {minor} $((0x030000f0 + {minor} * 65536 + {micro} * 256)) "{path}" ;;
    *base_prefix*) echo "3.{minor}.{micro} {path}" ;;
    *--version*) echo "Python 3.{minor}.{micro}" ;;
    "-m venv "*)
        mkdir -p "$3/bin"
        cp "{path}" "$3/bin/python"
        printf '#!/bin/sh\\necho "$@" >>"%s/installed"\\n' "$3" >"$3/bin/pip"
        chmod +x "$3/bin/pip" ;;
esac
"""


def standin(path, minor, micro=0, no_gil=False):
    path.parent.mkdir(parents=True)
    words = {"minor": minor, "micro": micro, "path": path}
    path.write_text(STANDIN.format(has_gil=int(not no_gil), is_old=int(minor < 12), **words))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def dev(tmp_path):
    """Run a piece of shell after the script, in a folder with nothing else."""

    def run(text, python="", **more):
        lead = """set -eu
say() { echo "$@"; }
fail() { echo "dev: $*" >&2; exit 1; }
step() { shift 2; "$@"; }
"""
        path = "/usr/bin:/bin"
        environment = {"HOME": str(tmp_path), "PATH": path, "python": str(python), **more}
        return subprocess.run(
            ["sh", "-c", f"{lead}. {SCRIPT}\n{text}"],
            cwd=tmp_path, env=environment, capture_output=True, text=True,
        )  # fmt: skip

    return run


def test_one_python_of_each_version(dev, tmp_path):
    versions = tmp_path / ".pyenv" / "versions"
    made = {
        name: standin(versions / name / "bin" / "python3", minor, micro, name.endswith("t"))
        for name, minor, micro in [
            ("3.12.1", 12, 1), ("3.12.10", 12, 10), ("3.12.9", 12, 9), ("3.13.0", 13, 0),
            ("3.13.0t", 13, 0), ("3.13.5t", 13, 5), ("3.14.2t", 14, 2),
        ]
    }  # fmt: skip
    broken = versions / "3.15-dev" / "bin" / "python3"
    broken.parent.mkdir(parents=True)
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    said = dev("every_python", made["3.12.9"])
    assert said.stdout.split() == [str(made["3.12.10"]), str(made["3.13.0"])], said.stderr
    elsewhere = standin(tmp_path / "other" / "python3", 14)
    said = dev("every_python", elsewhere)
    assert said.stdout.split() == [str(made["3.12.10"]), str(made["3.13.0"]), str(elsewhere)]


def test_the_python_that_was_asked_for_or_none(dev, tmp_path):
    standin(tmp_path / ".pyenv" / "versions" / "3.12.1" / "bin" / "python3", 12)
    old = standin(tmp_path / "old" / "python3", 11)
    new = standin(tmp_path / "new" / "python3", 14, no_gil=True)
    assert dev("find_python", QUERN_PYTHON=str(new)).stdout.strip() == str(new)
    assert dev("find_python", QUERN_PYTHON=str(old)).returncode == 1
    said = dev("choose_python", QUERN_PYTHON=str(old))
    assert said.returncode == 1 and f"{old} is no Python of 3.12 or later" in said.stderr


def test_environments_follow_the_python_and_the_packages(dev, tmp_path):
    first = standin(tmp_path / "first" / "python3", 12)
    second = standin(tmp_path / "second" / "python3", 14, no_gil=True)
    folder = tmp_path / "build" / "venv"

    def ready(python, more=""):
        """How often the packages were installed into the environment that there is now."""
        said = dev(f"environment venv numpy pytest{more}", python)
        assert said.returncode == 0, said.stderr
        assert (folder / "bin" / "python").read_text() == python.read_text()
        return (folder / "installed").read_text().count("install --quiet numpy pytest")

    assert [ready(first), ready(first)] == [1, 1]
    (folder / "kept").touch()
    assert ready(first) == 1 and (folder / "kept").exists()
    assert ready(second) == 1 and not (folder / "kept").exists()
    (folder / "complete").unlink()  # it was interrupted
    (folder / "kept").touch()
    assert ready(second) == 1 and not (folder / "kept").exists()
    (folder / "kept").touch()
    assert ready(second, " ruff") == 1 and not (folder / "kept").exists()
    (folder / "kept").touch()
    assert ready(second, " ruff") == 1 and (folder / "kept").exists()


def test_tests_that_a_wheel_is_tried_with(tmp_path):
    """As in build/wheel-tried, they are collected where there is no checkout."""
    shutil.copytree(TESTS, tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(TESTS.parent / "pyproject.toml", tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", "tests"],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(TESTS.parent)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    assert "test_kernels.py" in done.stdout and "test_sweep.py" not in done.stdout
