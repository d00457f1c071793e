# SPDX-License-Identifier: MIT
# What one thread executes, on standard error; results stay on standard output.
. "$CASE_LIB"
QUERN_DEVICE=soft:1,trace=0/0
export QUERN_DEVICE
quern elementwise 'float32 x' 'float32 y' 'y = 2 * x + 1' x=ones:float32:5 2>said
sed -n 1p said
grep -q '^operation:1:1$' said && echo 'the snippet is in it'
grep 'fma.rn.f32' said | sed -n '1s/.*-> %f[0-9]* = /fma: /p'
tail -n 1 said | sed 's/^ *[0-9]* *//'
QUERN_DEVICE=soft:1,trace=7/0
quern elementwise 'float32 x' 'float32 y' 'y = x' x=ones:float32:2 2>&1
QUERN_DEVICE=soft:trace=0
try quern elementwise 'float32 x' 'float32 y' 'y = x' x=ones:float32:2 | cut -c1-70
