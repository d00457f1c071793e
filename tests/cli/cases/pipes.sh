# SPDX-License-Identifier: MIT
# Arrays through standard streams, pipes and descriptors.
. "$CASE_LIB"
copy x=arange:int32:5 y=a.npy
copy x=- <a.npy
copy 'x=-[::-2]' y=- <a.npy
copy x=/dev/stdin <a.npy
copy x=/dev/fd/3 3<a.npy
copy x=-.T <a.npy
copy x=a.npy y=-.npy | cmp - a.npy
copy x=a.npy y=/dev/stdout | cmp - a.npy
copy x=a.npy y=/dev/fd/3 3>three
cmp a.npy three
{ copy x=a.npy y=-.npy && copy x=a.npy y=-.npy; } >two.npy
cat a.npy a.npy | cmp - two.npy
# one array after the other, from a pipe and from a file, and what follows is left
for how in cat file; do
    {
        quern elementwise 'T x, T y' 'T z' 'z = x + 10 * y' x=- y=-
        wc -c
    } <two.npy
    [ $how = cat ] && cat two.npy a.npy >three.npy && mv three.npy two.npy
done
quern elementwise 'T x' 'T a, T b' 'a = x; b = -x' x=a.npy a=-.npy b=-.npy |
    quern elementwise 'T x, T y' 'T z' 'z = x - y' x=- y=-
copy x=a.npy y=-.npy | quern reduce 'T x' 'T y' x 'a + b' 'y = a' 0 x=-
copy x=a.npy 'y=-:-' <a.npy
quern elementwise 'T x' 'T y' 'y += x' x=a.npy 'y=-[::-1]:-' <a.npy
# slowly, byte by byte
mkfifo f
for size in 1 9 11 60 128 148; do
    { head -c $size a.npy; sleep 0.01; tail -c +$((size + 1)) a.npy; } >f &
    copy x=./f
    wait
done
# what goes wrong
try copy x=- </dev/null
echo hello | try copy x=-
head -c 100 a.npy | try copy x=-
head -c 140 a.npy | try copy x=-
try copy x=- <&-
for number in 0 3 4 5 6 7 8 9; do # none is open, and files of the command may have them by now
    try copy x=/dev/fd/$number <&-
done
copy x=a.npy y=- 2>&1 >&-
echo "-> $?"
try copy x=a.npy y=/dev/stdin </dev/null
try quern elementwise 'T x' 'T a, T b' 'a = b = x' x=a.npy a=-.npy
quern elementwise 'T x' 'T a, T b' 'a = b = x' x=a.npy a=-.npy --quiet | cmp - a.npy
# a raw kernel's arguments
cat >k.cu <<'END'
extern "C" __global__ void twice(int *x, int *y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }
END
raw() {
    quern raw k.cu --kernel twice --grid 1 --block 5 "$@"
}
raw - empty:int32:5:- <a.npy
raw '-.astype(int32)' empty:int32:5:-.npy <a.npy | raw -:- empty:int32:5
raw zeros:int32:5 '-:-.npy' <a.npy | copy x=-
# an archive that comes through a pipe is kept in memory, of which a limit on files says how much
copy x=zeros:int8:300000 y=large.npz
# shellcheck disable=SC2002 # a pipe
cat large.npz | (
    ulimit -f 100
    export QUERN_CACHE_DIR=off
    try copy 'x=-[:2]'
)
