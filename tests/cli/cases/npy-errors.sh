# SPDX-License-Identifier: MIT
# Files that cannot be read, each with the reason.
. "$CASE_LIB"
bad() {
    npy bad.npy "$@"
    try copy x=bad.npy
}
try copy x=missing.npy
mkdir folder.npy
try copy x=folder.npy
: >empty.npy
try copy x=empty.npy
echo 'not one' >text.npy
try copy x=text.npy
printf 'PK\003\004' >zip.npy
try copy x=zip.npy
printf '\223NUMPY\011\000\000\000\000\000' >version.npy
try copy x=version.npy
bad "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }" '\001'
bad "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }" '\001\002\003\004'
bad "{'descr': '<U3', 'fortran_order': False, 'shape': (1,), }" '\001\002\003\004'
bad "{'descr': '<f16', 'fortran_order': False, 'shape': (1,), }" '\001\002\003\004'
bad "{'descr': '<M8[ns]', 'fortran_order': False, 'shape': (1,), }" '\001\002\003\004'
bad "{'descr': [('a', '<S4')], 'fortran_order': False, 'shape': (1,), }" '\001\002\003\004'
bad "{'descr': [('a b', '<f4')], 'fortran_order': False, 'shape': (1,), }" '\001\002\003\004'
bad "{'descr': [('a', '>f4')], 'fortran_order': False, 'shape': (1,), }" '\001\002\003\004'
bad "{'descr': [('a', '<f4'), 'fortran_order': False, 'shape': (1,), }" '\001\002\003\004'
bad "{'descr': '|V1', 'fortran_order': False, 'shape': (1,), }" '\001'
bad "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }" '\001\002\003\004'
bad "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }"
bad "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }"
bad "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }"
bad "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }"
bad "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), }"
bad "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,), }"
bad "{'descr': '<f4', 'shape': (1,), }"
bad "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }"
bad "{'descr': '<f4', 'fortran_order': False, 'shape': 1, }"
bad "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)"
bad "[1, 2]"
# cut short at every byte of the header
copy x=arange:int32:2 y=whole.npy
size=1
while [ $size -lt 136 ]; do
    head -c $size whole.npy >cut.npy
    quern elementwise 'T x' 'T y' 'y = x' x=cut.npy >said 2>&1
    status=$?
    grep -q -e truncated said || cat said
    [ $status = 1 ] || echo "status $status at $size bytes"
    size=$((size + 1))
done
copy x=whole.npy
