# SPDX-License-Identifier: MIT
# Outputs that cannot be written: what was there stays, and nothing else is left.
. "$CASE_LIB"
copy x=arange:int8:3 y=old.npy
cp old.npy kept
try copy x=arange:int8:3 y=missing/o.npy
mkdir folder.npy
try copy x=arange:int8:3 y=folder.npy
(
    ulimit -f 1
    QUERN_CACHE_DIR=off
    export QUERN_CACHE_DIR
    try copy x=zeros:float64:100000 y=old.npy
    try quern elementwise 'T x' 'T a, T b' 'a = b = x' x=zeros:float64:100000 a=new.npy b=old.npy
)
cmp kept old.npy
# the second file fails, so the first is not there either
try quern elementwise 'T x' 'T a, T b' 'a = b = x' x=zeros:int8:3 a=one.npy b=old.npy/two.npy
{ copy x=arange:int8:3 >/dev/full; } 2>&1
echo "-> $?"
ls -A
