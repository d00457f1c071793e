# SPDX-License-Identifier: MIT
# NAME=VALUE words that do not fit the kernel.
. "$CASE_LIB"
kernel() {
    try quern elementwise 'T left, T right' 'T sum' 'sum = left + right' "$@"
}
x=arange:float32:3
kernel left=$x
kernel left=$x rigth=$x
kernel left=$x right=$x other=2
kernel left=$x right=$x left=$x
kernel left=$x right
kernel left=$x right=
kernel left=$x =2
kernel left=$x right=$x:out.npy
kernel left=$x right=$x:-
kernel left=$x right=$x sum=2
kernel left=$x right=$x 'sum=s.npy[::2]'
try quern elementwise 'T x' 'T a, T b' 'a = b = x' x=$x a=o.npy b=o.npy
try quern elementwise 'T x' 'T y' x=$x
try quern elementwise '' 'raw float32 y' 'y[i] = i' z=2 --size 3
ls
