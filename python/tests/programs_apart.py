# SPDX-License-Identifier: MIT
#
# Programs in processes of their own. In: a text, a folder. Out: it has run there, and has a cache
# in it.
import os
import subprocess
import sys


def program(text, folder, **environment):
    """Run a program in a folder, with a cache there."""
    where = dict(os.environ, QUERN_CACHE_DIR=str(folder / "cache"), **environment)
    text = f"import numpy, os, pyquern; os.chdir({str(folder)!r})\n{text}"
    subprocess.run([sys.executable, "-c", text], env=where, check=True)
