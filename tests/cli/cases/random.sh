# SPDX-License-Identifier: MIT
# Random numbers depend only on the seed and the parameter, and are the same on every device.
. "$CASE_LIB"
for dtype in bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 \
    float64 complex64 complex128 float8_e4m3fn float8_e5m2; do
    copy "x=random:$dtype:4"
done
copy x=random:float32:4 --seed 1
copy x=random:float32:2x2
quern elementwise 'T x, T y' 'bool z' 'z = x == y' x=random:int64:4 y=random:int64:4
