# SPDX-License-Identifier: MIT
# Every way to say where an output goes.
. "$CASE_LIB"
both() {
    quern elementwise 'T x' 'T a, T b' 'a = x + 1; b = x * 2' x=arange:int32:4 "$@"
}
both
both a=a.npy
copy x=a.npy
both a=a.npy b=b.npy
copy x=b.npy
both --quiet
both --quiet a=c.npy
copy x=c.npy
both a=zeros:int32:4
both a=zeros:int32:4:d.npy --quiet
copy x=d.npy
both 'a=zeros:int32:8[::2]:e.npy' 'b=zeros:int32:2x4[1, ::-1]:f.npy'
copy x=e.npy
copy x=f.npy
both 'a=ones:int32:8[::2]:-' b=zeros:int32:4:-
both a=zeros:int32:4:- b=g.npy --quiet
quern elementwise 'T x' 'T y' 'y += x' x=arange:int32:4 y=a.npy:a.npy
copy x=a.npy
ls
