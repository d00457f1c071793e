# SPDX-License-Identifier: MIT
# Arrays that no machine has room for.
. "$CASE_LIB"
ASAN_OPTIONS=${ASAN_OPTIONS:-}:allocator_may_return_null=1
TSAN_OPTIONS=${TSAN_OPTIONS:-}:allocator_may_return_null=1
export ASAN_OPTIONS TSAN_OPTIONS
try copy x=random:float64:1000000000000000 | grep -c 8000000000000000
try copy x=zeros:float64:1000000000000000 | grep -c 8000000000000000
try quern elementwise 'T x, T y' 'T z' 'z = x + y' x=zeros:int8:100000000x1 y=zeros:int8:1x100000000 |
    grep -c 10000000000000000
