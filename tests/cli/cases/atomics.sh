# SPDX-License-Identifier: MIT
#
# Atomics beside others. What tests/table/atomics.c does not do: a byte whose neighbour another thread
# writes as it likes, memory of one byte, a value of another type, a preamble with a function of the
# same name, and mistakes that must still be found.
. "$CASE_LIB"

# One thread stores s[2] while others add to s[1], in the same two bytes: no race, and no reading of
# what nobody wrote. -1 cannot come from a lost update.
beside='__shared__ signed char s[5];
if (i < 2) s[i] = 0;
__syncthreads();
if (i == 40) s[2] = 7; else if (i == 41) s[3] = 8; else atomicAdd(&s[i % 2], 1);
__syncthreads();
y[i] = s[i % 4]'
try quern elementwise '' 'raw int y' "$beside" y=zeros:int32:82:- --device soft:check=all --size 82 \
    --block-size 128
beside='__shared__ double s[1];
if (i == 0) s[0] = 0;
__syncthreads();
atomicMax(&s[0], 0.5 * i);
__syncthreads();
y[i] = s[0]'
try quern elementwise '' 'raw double y' "$beside" y=zeros:float64:4:- --device soft:check=all --size 4

# A real race on the byte is found, and so is a byte that nobody wrote.
race='__shared__ signed char s[2];
if (i < 2) s[i] = 0;
if (i >= 0) atomicAdd(&s[0], 1);
y[i] = 1'
quern elementwise '' 'raw int y' "$race" y=zeros:int32:40 --device soft:check=races --size 40 2>&1 |
    grep -o "races with the [a-z]* by" | head -1
quern elementwise '' 'raw int8 y' 'atomicAdd(&y[2], 1)' y=empty:int8:4 --device soft:check=init \
    --size 1 2>&1 | grep -o "of 1 byte.*" | grep -o "which nobody has written"

# Swapping two bytes of which one is in no array: only while that one stays as it is.
cat >two.cu <<'END'
extern "C" __global__ void keep(unsigned char *x)
{
    atomicCAS((unsigned short *)x, 0, 5);
}
extern "C" __global__ void spill(unsigned char *x)
{
    atomicCAS((unsigned short *)x, 0, 0x105);
}
END
try quern raw two.cu --kernel keep --grid 1 --block 1 zeros:uint8:1
quern raw two.cu --kernel spill --grid 1 --block 1 zeros:uint8:1 --device soft 2>&1 |
    grep -o "past the end of array of 1 byte"

# The value is converted to the element's type, and a preamble's own function goes first.
try quern elementwise 'double x' 'raw float16 y' 'atomicMax(&y[0], x); atomicSub(&y[1], 2)' x=ones:float64:3 \
    y=zeros:float16:2:-
own='__device__ float atomicMax(float *at, float by) { return atomicExch(at, by + 77); }'
try quern elementwise 'float x' 'raw float y' 'atomicMax(&y[0], x)' x=ones:float32:3 y=zeros:float32:1:- \
    --preamble "$own"

# A bool is any byte but 0, and becomes 0 or 1.
npy seven.npy "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }" '\007\000\377'
try quern elementwise '' 'raw bool y, raw int8 z' \
    'z[0] = atomicAnd(&y[0], true); z[1] = atomicOr(&y[1], false); z[2] = atomicCAS(&y[2], true, false)' \
    y=seven.npy:- z=zeros:int8:3:- --size 1
