# SPDX-License-Identifier: MIT
# The place in the snippet, not in the generated source.
. "$CASE_LIB"
try quern elementwise 'float32 x' 'float32 y' 'y = x;
y = undeclared(x);' x=ones:float32:2 | sed 4q
try quern elementwise 'float32 x' 'float32 y' 'y = undeclared' x=ones:float32:2 --show-source |
    grep -c 'y = undeclared' >count
[ "$(cat count)" -ge 1 ] && echo shown
quern elementwise 'float32 x' 'float32 y' 'y = undeclared' x=ones:float32:2 y=o.npy >/dev/null 2>&1
echo "-> $?"
ls o.npy 2>/dev/null
true
