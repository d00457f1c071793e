# SPDX-License-Identifier: MIT
# Texts from files: @FILE, @-, @@; marks, line ends and zero bytes; messages name the file.
. "$CASE_LIB"
printf '\357\273\277y = x\r\n  + K;\r\n' >op.cu
printf 'T x,\r\n T w\r\n' >in
printf 'T y\n\n' >out
printf '// squares\nx * x\n' >map
printf 'a + b' >fold
printf 'y = a;\n' >post
printf '0\n' >zero
printf '#define K 3\r\n' >pre.cuh
quern elementwise 'T x' @out @op.cu x=1 --preamble=@pre.cuh
quern elementwise @in @out 'y = x + w' x=1 w=2 --loop-prep @pre.cuh --after-loop=@pre.cuh
quern reduce 'T x' @out @map @fold @post @zero x=arange:int32:4 --preamble @pre.cuh
quern scan 'T x' @out @map @fold @post @zero x=arange:int32:4
echo 'y = x + 41;' | quern elementwise 'T x' 'T y' @- x=1
printf 'int\n' >type
quern reduce 'bool x' 'int y' x @fold @post @zero x=ones:bool:4 --reduce-type=@type
(printf 'y = x + 20000; /*' && yes ' longer than an argument can be ' | head -5000 && echo '*/') >long
quern elementwise 'T x' 'T y' @long x=1
echo '-- wrong'
printf 'y = x;\r\ny = zz;\r\n' >bad.cu
printf '__device__ int f(int x)\n{\n    return x + ;\n}\n' >bad.cuh
printf 'T x,\n flaot w\n' >bad.in
printf 'y = x;\n\0\n' >zero.cu
printf 'y = w[9];' >past
for line in '@bad.cu x=1' '@nowhere.cu x=1' '@ x=1' '@zero.cu x=1' '@. x=1' '@@op x=1' '@- x=1 --preamble=@-'; do
    # shellcheck disable=SC2086
    try quern elementwise 'T x' 'T y' $line </dev/null
done 2>&1 | sed 's/assertion.*//'
try quern elementwise 'T x' 'T y' 'y = f(x)' x=1 --preamble @bad.cuh
try quern elementwise @bad.in 'T y' 'y = x' x=1
try quern elementwise 'T x' 'T y' 'y = zz' x=1 --preamble @pre.cuh
try quern reduce 'T x' 'T y' @past 'a + b' 'y = a' 0 x=1
printf 'int unused;\ny = x;\n' >warned.cu
try quern elementwise 'T x' 'T y' @warned.cu x=1
