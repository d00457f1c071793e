# SPDX-License-Identifier: MIT
# Options: help after a command, values that may be left out, tuples, what is given twice.
. "$CASE_LIB"
for line in 'elementwise -h' 'raw k.cu -h' 'raw k.cu -h --quiet' 'cache -h' 'elementwise a b --help' 'scan a b -h'; do
    quern $line | head -1
done
quern -v
quern elementwise 'T h' 'T y' 'y = -h' h=3
quern reduce 'T h' 'T y' -h 'a + b' 'y = a' 0 h=arange:int32:4
sum() {
    quern reduce 'T x' 'T y' x 'a + b' 'y = a' 0 x=arange:int32:2x3x2 "$@"
}
echo '-- axes'
sum '--axis=()'
sum '--axis=(0, 1)'
sum '--axis=(-1,)'
try sum '--axis=(0'
try sum '--axis=(x)'
try sum --axis=
try sum --axis=0 --axis=1
try sum --axis=0 --axis 0
try sum --axis=0,0
try quern scan 'T x' 'T y' x 'a + b' 'y = a' 0 x=arange:int32:2x3 '--axis=()'
try quern raw k.cu --kernel=k '--grid=()' --block=1
echo '-- twice'
try copy x=ones:int32:2 --quiet --quiet
try copy x=ones:int32:2 --name=a --name=b
try copy x=ones:int32:2 --device=soft --device soft:2
try copy x=ones:int32:2 --seed=1 --size=2 --seed=2
copy x=ones:int32:2 --option=-DA=1 --option=-DB=2 --options='-DC=3' --options=-DD=4
echo '-- numbers alone'
quern elementwise 'float32 a, float32 b' 'float32 y, bool z' 'y = a / b; z = a < b' a=1 b=4
quern scan 'T x' 'T y' x 'a + b' 'y = a' '' x=5
quern elementwise 'T x' 'T y' 'y = x' x=2.5 y=one.npy
copy x=one.npy
try quern elementwise 'T x' 'raw T y' 'y[i] = x' x=2
echo '-- ptx, time'
copy x=ones:float32:4 --device=soft --show-ptx | grep -c '^.target sm_75\|\.visible \.entry'
quern elementwise 'T x' 'T y' 'y += x' x=1 y=zeros:int32:2:y.npy --time=7 --explain --device=soft 2>time | grep -c .
copy x=y.npy
sed 's/.*bytes/bytes/' time
for kernel in elementwise 'reduce scan'; do
    for one in $kernel; do
        set -- 'int32 x' 'int32 y'
        if [ "$one" = elementwise ]; then set -- "$@" 'y = x'; else set -- "$@" x 'a + b' 'y = a' ''; fi
        quern "$one" "$@" x=1 --time=3 --quiet 2>&1 | sed 's/.*bytes/bytes/'
        quern "$one" "$@" x=1 --size=5 --time=3 --quiet 2>&1 | sed 's/.*bytes/bytes/'
    done
done
try copy x=ones:int32:2 --time=0
try copy x=ones:int32:2 --time=many
# of a long text the place is shown, in whole characters
try quern elementwise 'T x' 'T y' 'y = x' x=1 --options "éééééééééééééééééééééééééééééééééééééééé 'éééééééééééééééééééééééééééééééééééééééé"
