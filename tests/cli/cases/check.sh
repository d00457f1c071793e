# SPDX-License-Identifier: MIT
# What the software device looks for on request, and not otherwise.
. "$CASE_LIB"
# run CHECK SNIPPET ARGUMENT...; the instruction and its line depend on the compiler
run() {
    QUERN_DEVICE=$1
    export QUERN_DEVICE
    shift
    try quern elementwise 'int32 x' 'int32 y' "$@" | sed "s/ ('[^)]*)//g"
}
gap='__shared__ volatile int s[64];
if (x != 3) s[x] = x;
y = s[x] + 1'
race='__shared__ volatile int s[64];
s[x] = x;
y = s[x ^ 1]'
right='__shared__ volatile int s[64];
s[x] = x;
y = s[x]'
run soft:check=init "$gap" x=arange:int32:5
run soft:2,check=races "$race" x=arange:int32:6
run soft:check=all "$right" x=arange:int32:6
run soft:check=races "$gap" x=arange:int32:5 | tail -n 1
run soft:check=init 'y = x' x=empty:int32:3 | sed 's/0x[0-9a-f]*/ADDRESS/; s/, at .*//'
run soft:check=twice 'y = x' x=arange:int32:3 | cut -c1-60
