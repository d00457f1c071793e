# SPDX-License-Identifier: MIT
# Fatbins packed with zstd, as nvcc makes them by default, and with LZ4, as it did before 12.8: with
# the library and where there is none.
. "$CASE_LIB"
cp "$(dirname "$CASE_LIB")/../unit/device/data/zstd.fatbin" "$(dirname "$CASE_LIB")/../unit/device/data/lz4.fatbin" .
gather() {
    try quern raw "$1" --kernel gather --grid 1 --block 1 zeros:int32:1:- --device soft
}
gather zstd.fatbin
gather lz4.fatbin
mkdir broken
for library in libzstd.so.1 libzstd.so liblz4.so.1 liblz4.so; do
    echo 'not a library' >broken/$library
done
LD_LIBRARY_PATH=$PWD/broken
export LD_LIBRARY_PATH
gather zstd.fatbin
gather lz4.fatbin
