# SPDX-License-Identifier: MIT
# Structured arrays, whose elements are records: read, computed with, printed as NumPy prints them (the
# lines here are NumPy 2.4's), written; and 8-bit floats, for which NumPy has no name.
. "$CASE_LIB"
npy p.npy "{'descr': [('x', '<f4'), ('id', '<i2'), ('ok', '|b1'), ('', '|V1'), ('v', '<f8', (2,))], 'fortran_order': False, 'shape': (2,), }" \
    '\000\000\240\077\003\000\001\007\000\000\000\000\000\000\370\077\000\000\000\000\000\000\100\300\000\000\000\300\366\377\000\010\000\000\000\000\000\000\000\000\000\000\000\000\000\000\044\100'
copy x=p.npy
copy 'x=p.npy[1]'
copy 'x=p.npy[::-1]' y=back.npy
head -c 192 back.npy | tail -c 182 | head -n 1
copy x=back.npy
tail -c 48 back.npy | od -An -tx1 # the bytes between fields are copied too
quern elementwise 'T p' 'float64 y, T q' 'y = p.v[0] + p.v[1] * p.x; q = p; q.id = p.ok ? -p.id : 0' p=p.npy
quern reduce 'T p' 'float64 y' 'p.x * p.id' 'a + b' 'y = a' 0 p=p.npy
quern elementwise 'raw T p, int64 k' 'int16 y' 'y = p[k].id' p=p.npy 'k=arange:int64:2'
try quern elementwise 'T p' 'T q' 'q.z = p.x' p=p.npy
try quern elementwise 'record p' 'T q' 'q = p.x' p=p.npy
npy nested.npy "{'descr': [('in', [('a', '|u1'), ('z', '<c8')]), ('b', '|i1')], 'fortran_order': False, 'shape': (1,), }" \
    '\001\000\000\200\077\000\000\000\300\377'
copy x=nested.npy
copy 'x=nested.npy[0]'
npy one.npy "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 2), }" '\000\000\200\077\000\000\000\300'
copy x=one.npy
copy x=arange:float8_e4m3fn:9 y=e4m3.npy
head -n 1 e4m3.npy | tail -c 118
try copy x=e4m3.npy
quern elementwise 'float8_e4m3fn x' 'float8_e4m3fn y' 'y = x * 100 - 60' x=e4m3.npy
copy x=linspace:float8_e5m2:0:1:6 y=e5m2.npy
copy x=e5m2.npy
quern elementwise 'float32 x' 'float8_e4m3fn a, float8_e5m2 b' 'a = x; b = x' x=linspace:float32:-1e6:1e6:5
try quern elementwise 'float8_e4m3fn x, T y' 'T z' 'z = x + y' x=500 y=ones:float32:2
try copy x=full:float8_e4m3fn:2:465
try quern elementwise 'fp8_e5m2 x' 'T z' 'z = x' x=1
