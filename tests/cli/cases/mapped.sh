# SPDX-License-Identifier: MIT
# Large files, which the software device computes on without a copy.
. "$CASE_LIB"
export QUERN_DEVICE=soft
sum() {
    quern reduce 'T x' 'T y' x 'a + b' 'y = a' 0 "$@"
}
copy x=arange:int64:1000000 y=big.npy
cp big.npy kept.npy
sum x=big.npy
sum 'x=big.npy[::1000]'
copy 'x=big.npy[::-1][:3]'
copy 'x=big.npy.reshape(1000, 1000).T[5, ::400]'
copy 'x=big.npy[-2:]' 'y=big.npy[:2]:-'
# what a kernel writes to an argument that is not saved stays its own
cat >k.cu <<'END'
extern "C" __global__ void add(long long *x, long long *y) { y[0] = x[0] += 7; }
END
quern raw k.cu --kernel add --grid 1 --block 1 big.npy zeros:int64:1:-
cmp big.npy kept.npy
# the output is the input, by another name, and is written in place
ln big.npy linked.npy
quern elementwise 'T x' 'T y' 'y = x + 1' x=big.npy y=linked.npy --quiet --time 2>&1 | grep -c '^time: '
sum x=big.npy
# a file that becomes shorter while it is used
mkfifo f
quern elementwise 'T x, T y' 'T z' 'z = x + y' x=big.npy y=./f >said 2>&1 &
exec 3>f # done when it reads there, after big.npy
: >big.npy
copy x=ones:int64:1 y=/dev/fd/3
exec 3>&-
wait $!
echo "-> $?"
cat said
