# SPDX-License-Identifier: MIT
# Which part of a value is the name of a file.
. "$CASE_LIB"
copy x=arange:int8:4 y=a.npy
copy x=a.npy y=./plain
cmp a.npy plain
copy x=./plain
copy 'x=./plain[::2]'
copy x="$PWD/plain.T"
copy x=./plain y=./plain:-
copy x=a.npy y=zeros:int8:4:./saved
cmp a.npy saved
# names with a view in them, and other marks
for name in x.npy.T.npy 'x.npy[0].npy' 'a:b.npy' 'a,b c.npy' 'k=v.npy' -g.npy ' .npy' "$(printf '\377').npy"; do
    copy x=a.npy "y=$name"
    cmp a.npy "./$name"
    copy "x=$name"
done
copy 'x=x.npy.T.npy[::-1].T'
for name in x.npy.T 'x.npy[0]' - -.npy 2 float32:2 zeros:int8:2 ones file:x a.npy:- a.npy:b.npy; do
    copy x=a.npy "y=file:$name"
    cmp a.npy "./$name"
    copy "x=file:$name" y=file:again
    cmp a.npy again
done
copy x=a.npy 'y=zeros:int8:4:file:saved:-'
cmp a.npy saved:-
ls
try copy x=plain
try copy x=./missing
try copy x=a.npy y=plain
try copy x=a.npy y=./
try copy x=a.npy y=d/
try copy x=file: y=-
for save in 'a.npz[b]c]' 'a.npz[]' "a.npz['b]"; do
    try copy x=a.npy "y=zeros:int8:4:$save"
done
