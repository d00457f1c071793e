# SPDX-License-Identifier: MIT
# Where it happened is told, in the user's own words; nothing is written.
export QUERN_DEVICE=soft # a GPU names no place, and after a bad access works no more
quern elementwise 'raw float32 x, int32 k' 'float32 y' 'y = x[k * 1000000]' x=ones:float32:4 \
    k=arange:int32:4 y=o.npy 2>said
echo "-> $?"
grep -c 'in no allocation' said
grep -c '^ *y = x.k \* 1000000.$' said
ls
