# SPDX-License-Identifier: MIT
# A fatbin packed with zstd, as nvcc makes it by default, with libzstd and where there is none.
. "$CASE_LIB"
cp "$(dirname "$CASE_LIB")/../unit/device/data/zstd.fatbin" .
gather() {
    try quern raw zstd.fatbin --kernel gather --grid 1 --block 1 zeros:int32:1:- --device soft
}
gather
mkdir broken
echo 'not a library' >broken/libzstd.so.1
cp broken/libzstd.so.1 broken/libzstd.so
LD_LIBRARY_PATH=$PWD/broken
export LD_LIBRARY_PATH
gather
