# SPDX-License-Identifier: MIT
. "$CASE_LIB"
try quern help
try quern help elementwise
try quern help reduce
try quern help scan
try quern help eval
try quern help raw
try quern help build
try quern help cache
try quern --help >first
try quern help >second
cmp first second
try quern elementwise --help >first
try quern help elementwise >second
cmp first second
try quern help cache show
try quern help cache export
try quern help cache import
try quern help cache record
try quern help cache show list
try quern help elementwise cache
try quern help elementwize
