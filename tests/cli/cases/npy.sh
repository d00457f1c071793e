# SPDX-License-Identifier: MIT
# Files of every version, order and dtype.
. "$CASE_LIB"
for dtype in bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 \
    complex64 complex128; do
    copy "x=arange:$dtype:2x3" y=$dtype.npy
    copy x=$dtype.npy y=again.npy
    cmp $dtype.npy again.npy
    copy x=$dtype.npy
done
head -c 128 float32.npy | tail -c 118 | head -n 1
copy x=arange:bfloat16:5 y=b.npy
try copy x=b.npy
quern elementwise 'bfloat16 x' 'bfloat16 y' 'y = x' x=b.npy
npy fortran.npy "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }" '\001\002\003\004\005\006'
copy x=fortran.npy
copy 'x=fortran.npy[1]'
copy x=fortran.npy.T
npy keys.npy '{"shape":(2,),"fortran_order":False,"descr":"|i1"}' '\001\377'
copy x=keys.npy
npy scalar.npy "{'descr': '<i2', 'fortran_order': False, 'shape': ()}" '\001\001'
copy x=scalar.npy
npy empty.npy "{'descr': '<i2', 'fortran_order': False, 'shape': (0, 7), }"
copy x=empty.npy y=out.npy
tail -c 118 out.npy
header="{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }"
for version in 2 3; do
    printf "\\223NUMPY\\00$version\\000\\$(printf %03o $((${#header} + 1)))\\000\\000\\000%s\\n\\007\\010\\011" \
        "$header" >v.npy
    copy x=v.npy
done
mkdir 'a [folder]'
copy x=arange:int8:3 'y=a [folder]/o.npy'
copy 'x=a [folder]/o.npy[::-1]'
