# SPDX-License-Identifier: MIT
#
# Types of _operators.py, for type checkers. In: _operators.py. Out: nothing at run time.
def install(cls: type) -> None: ...
