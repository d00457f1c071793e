# SPDX-License-Identifier: MIT
# Numbers take the type of their parameter, or the one that is stated.
. "$CASE_LIB"
show() {
    quern elementwise "$1 a" "$1 y" 'y = a' "a=$2" --size 1
}
show int32 0x10
show int32 -7
show int64 -9223372036854775808
show uint64 18446744073709551615
show float32 2.5
show float64 1e-3
show float64 .5
show float64 -inf
show float64 nan
show float32 3
show bool true
show bool False
show complex64 1+2j
show complex128 -1.5e3-2.5e-1j
show complex64 2
show T float16:0.1
show T int8:-128
show T complex128:1-2j
show T uint64:0xffffffffffffffff
show T 7
show T 7.5
show T true
show T 1j
try quern elementwise 'float32 a' 'float32 y' 'y = a' a=2
try quern elementwise 'uint8 a' 'uint8 y' 'y = a' a=300 --size 1
