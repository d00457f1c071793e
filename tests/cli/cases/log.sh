# SPDX-License-Identifier: MIT
# QUERN_LOG=debug reports what is opened, where images come from, and what is launched.
. "$CASE_LIB"
QUERN_CACHE_DIR=$PWD/cache QUERN_LOG=debug
export QUERN_CACHE_DIR QUERN_LOG
told() { # without what changes from machine to machine
    "$@" 2>&1 | sed -e 's/in [0-9.]* ms by NVRTC.*/in N ms by NVRTC/' -e 's/image [0-9a-f]* for/image KEY for/' \
        -e 's/, [0-9]* bytes, was/, N bytes, was/' -e "s:$PWD:.:"
}
told copy x=ones:int32:3 --quiet --device soft
told copy x=ones:int32:3 --quiet --device soft
told env QUERN_CACHE_DIR=off quern reduce 'T x' 'T y' x 'a + b' 'y = a' 0 x=ones:int32:3 --quiet --device soft
cat >k.cu <<'END_OF_SOURCE'
extern "C" __global__ void k(int n) {}
END_OF_SOURCE
told quern raw k.cu --kernel k --grid 2,3 --block 4 --shared 64 int32:1 --device soft
QUERN_LOG=info
told copy x=ones:int32:3 --quiet --device soft
