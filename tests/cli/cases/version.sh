# SPDX-License-Identifier: MIT
. "$CASE_LIB"
try quern version
try quern --version
try quern version now
