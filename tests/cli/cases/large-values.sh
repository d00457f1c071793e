# SPDX-License-Identifier: MIT
# Reductions and scans whose values are structures of 64 bytes, the most there may be: whatever the layout,
# GPUs have shared memory enough for what is made of them.
. "$CASE_LIB"
export QUERN_DEVICE=soft
QUERN_CACHE_DIR=off
QUERN_RECORD=$PWD/KERNELS.toml
export QUERN_CACHE_DIR QUERN_RECORD
large=$(awk 'BEGIN {
    for (k = 0; k < 16; k++) {
        fields = fields " float v" k ";"
        sum = sum " a.v" k " += b.v" k ";"
        all = all " r.v" k " = x + " k ";"
    }
    print "struct large {" fields " };\n__device__ large add(large a, large b) {" sum " return a; }"
    print "__device__ large of(float x) { large r;" all " return r; }"
}')
scan() {
    quern scan 'T x' 'T y' 'of((float)x)' 'add(a, b)' 'y = a.v1' '' --scan-type=large --preamble="$large" --quiet "$@"
}
reduce() {
    quern reduce 'T x' 'T y' 'of((float)x)' 'add(a, b)' 'y = a.v1' '' --reduce-type=large --preamble="$large" \
        --quiet "$@"
}
scan x=ones:float32:60000
scan x=ones:float32:60000 'y=empty:float32:120000[::2]'
scan x=ones:float32:64x9000 'y=empty:float32:64x18000[:,::2]' --axis=1
scan x=ones:float32:5000x1000 'y=empty:float32:5000x2000[:,::2]' --axis=1
scan x=ones:int8:9000x64 --axis=0
scan x=ones:float32:300x700 --axis=0
scan x=ones:float32:9000x5 --axis=1
scan x=ones:float32:300x9x7 --axis=1
reduce x=ones:int8:60000
reduce x=ones:float32:3000x77 --axis=1
reduce x=ones:int8:9000x64 --axis=0
reduce x=ones:float32:9000x3 --axis=0
reduce x=ones:float16:3x700x301 --axis=0,2
unset QUERN_RECORD
grep -c '^\[\[kernel.call\]\]' KERNELS.toml
quern build KERNELS.toml --arch=sm_90 --output=gpu.qpack | sed 's/, [0-9.]* [a-zA-Z]*, in .*//'
