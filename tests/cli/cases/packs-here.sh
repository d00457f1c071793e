# SPDX-License-Identifier: MIT
# A pack for the device that is here, whichever it is: its kernels run without NVRTC and without a cache.
. "$CASE_LIB"
sum() { quern reduce 'T x' 'T y' x 'a + b' 'y = a' 0 x=arange:float32:4x3 --axis=0 "$@"; }
running() {
    of=$1 && shift
    quern scan "T x" "T y" x "a + b" "y = a" 0 "x=arange:$of" "$@"
}
target=$(sum --explain | awk '$1 == "target:" { print $2 }')
case $QUERN_DEVICE in soft*) target=soft ;; esac # not all that compiles for compute_75 is for it
QUERN_RECORD=$PWD/KERNELS.toml && export QUERN_RECORD
sum
running int32:5
unset QUERN_RECORD
quern build KERNELS.toml --arch="$target" -o here.qpack | sed 's/, [0-9.]* [a-zA-Z]*, in .*/, ... KiB, in ... s/'
export QUERN_NVRTC=/nonexistent QUERN_CACHE_DIR=off QUERN_PACKS=here.qpack
sum
running int32:5
sum --explain | grep '^image'
try running float64:5 # which was not recorded
