# SPDX-License-Identifier: MIT
# Words that are wrong before any kernel is looked at.
. "$CASE_LIB"
try quern
try quern elementwice
try quern frobnicate
try quern elementwise
try quern elementwise 'T x' 'T y'
try quern elementwise --preambel 'int f();' 'T x' 'T y' 'y = x'
try quern elementwise 'T x' 'T y' 'y = x' -q
try quern elementwise 'T x' 'T y' 'y = x' --quiet=yes
try quern elementwise 'T x' 'T y' 'y = x' --seed
try quern elementwise 'T x' 'T y' 'y = x' --seed=many
try quern elementwise 'T x' 'T y' 'y = x' --seed 99999999999999999999
try quern elementwise 'T x' 'T y' 'y = x' --seed -1
try quern elementwise 'T x' 'T y' 'y = x' --block-size 0
try quern elementwise 'T x' 'T y' 'y = x' --block-size 99999999999
try quern elementwise 'T x' 'T y' 'y = x' --reduce-dims perhaps
try quern elementwise 'T x' 'T y' 'y = x' --options '-DA="1'
try quern devices here
try quern doctor please
try quern cache
try quern cache lst
try quern cache show
try quern cache list all
try quern cache show xyz
