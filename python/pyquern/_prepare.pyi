# SPDX-License-Identifier: MIT
#
# Types of _prepare.py, for type checkers. In: _prepare.py. Out: nothing at run time.
from collections.abc import Callable, Iterable
from typing import Any

def prepare(
    calls: Iterable[Any],
    *,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> None: ...
