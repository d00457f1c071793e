# SPDX-License-Identifier: MIT
# Values that are wrong in themselves.
. "$CASE_LIB"
for value in x.npz nothing 2.5.5 1e 0x 1+2 1+2i 2j3 + . 18446744073709551616 \
    -9223372036854775809 \
    float31:2 float32: float32:two int8:128 int8:-129 uint8:-1 uint64:18446744073709551616 \
    int32:2.5 int8:1.7 int8:nan int8:1.28e2 uint8:-1.0 int64:9223372036854775808.0 bool:0j float32:1+2j \
    float16:65520 float32:-3.5e38 bfloat16:1e39 complex64:1+1e39j float64:1e400 1e400 1-1e400j \
    zero:int8:3 linspec:float64:0:1:3 arrange:int8:3 one:float32:1.5 zeros:flaot32:3 zeros:float32 zeros:float32: zeros:float32:3x zeros:float32:x3 \
    zeros:float32:3y4 zeros:float64:4294967296x4294967296 zeros::3 \
    random:float32:3:out x.npy:out.txt x.npy:.npy 'x.npy[0' 'x.npy[0]]' 'x.npy.Tx' x.npyy; do
    try copy "x=$value" y=o.npy
done
