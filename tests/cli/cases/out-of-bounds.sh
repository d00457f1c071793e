# SPDX-License-Identifier: MIT
# The error says where it happened, in the user's own words; nothing is written.
export QUERN_DEVICE=soft # a GPU names no place, and after a bad access works no more
quern elementwise 'raw float32 x, int32 k' 'float32 y' 'y = x[k * 1000000]' x=ones:float32:4 \
    k=arange:int32:4 y=o.npy 2>said
echo "-> $?"
grep -c 'in no allocation' said
grep -c '^ *y = x.k \* 1000000.$' said
ls

# As far away as an index can be: the number of the element, or of the byte if it has none.
far() {
    quern elementwise 'raw int8 x, int64 k' 'int8 y' 'y = x[k]' "x=$1" "k=$2" y=zeros:int8:1 2>&1 |
        sed -n 's/.* at 0x[0-9a-f]*, \([a-z]* [-0-9]* of .x.\), .*/\1/p'
}
far 'ones:int8:8' 9223372036854775807
far 'ones:int8:8[::-1]' -9223372036854775808
far 'ones:int8:8[::-1]' 1000

# A comment or a string that names the array does not count as a use of it.
quern elementwise 'raw int8 x, int64 k' 'int8 y' 'y = /* x[k] is far */ x[k]' x=ones:int8:8 k=20 \
    y=zeros:int8:1 2>&1 | tail -n 2
