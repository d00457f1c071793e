# SPDX-License-Identifier: MIT
# Arguments that do not fit the kernel, or nothing at all.
. "$CASE_LIB"
cat >k.cu <<'END'
struct pair { int a; double b; };
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) { y[0] = a * x[0] + n; }
extern "C" __global__ void take(pair p, double *x) { *x = p.b; }
extern "C" __global__ void none() {}
END
k() {
    try quern raw k.cu --kernel "$@" --grid 1 --block 1
}
x=ones:float32:4
k saxpy
k saxpy float32:2 $x $x
k saxpy float32:2 $x $x int32:4 int32:5
k none int32:1
k none
k saxpy float64:2 $x $x int32:4
k saxpy float32:2 $x $x int64:4
k saxpy float32:2 $x $x $x
k saxpy float32:2 int32:1 $x int32:4
k saxpy float32:2 "${x}[::2]" $x int32:4
k saxpy float32:2 ones:float32:2x2.T $x int32:4
k take struct:int32:1,float64:2 zeros:float64:1:-
k take struct:int32:1,float32:2 zeros:float64:1:-
k take bytes:00 zeros:float64:1
k take int32:1 zeros:float64:1
k take struct:int32:1,float64:2 struct:int32:1
echo '-- texts'
k saxpy 2 $x $x int32:4
k saxpy float32:2 $x $x 4
k saxpy 2.5 $x $x int32:4
k saxpy true $x $x int32:4
k saxpy 1+2j $x $x int32:4
k saxpy flaot32:2 $x $x int32:4
k saxpy int32:2.5 $x $x int32:4
k saxpy int8:200 $x $x int32:4
k saxpy a=float32:2 $x $x int32:4
k saxpy float32:2 $x:out.txt $x int32:4
k saxpy float32:2 nowhere.npy $x int32:4
k saxpy float32:2 "${x}[0, 0]" $x int32:4
k saxpy float32:2 $x:o.npy $x:o.npy int32:4
k saxpy float32:2 $x:nowhere/o.npy $x int32:4
k take struct: $x
k take struct:1,float64:2 $x
k take struct:int32:1,ones:int32:2 $x
k take struct:int32:1,flaot:2 $x
k take struct:int32:1,struct:int8:2 $x
k take bytes: $x
k take bytes:123 $x
k take bytes:12x4 $x
# shellcheck disable=SC2046
k saxpy $(printf 'int8:1 %.0s' $(seq 65))
ls
