# SPDX-License-Identifier: MIT
# Kernels of all kinds, and every way to pass an argument.
. "$CASE_LIB"
cat >k.cu <<'END'
struct pair { float weight; double bias; signed char sign; };
extern "C" __global__ void saxpy(float a, const float *x, const float *y, float *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = a * x[i] + y[i];
}
extern "C" __global__ void reverse(int *x)
{
    extern __shared__ int s[];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void place(int *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    out[(z * gridDim.y * blockDim.y + y) * gridDim.x * blockDim.x + x] = 100 * z + 10 * y + x;
}
extern "C" __global__ void by_value(pair p, float4 v, float2 c, const int *nothing, bool b, double *out)
{
    double all[] = {p.weight, p.bias, (double)p.sign, v.x, v.y, v.z, v.w, c.x, c.y,
                    (double)(nothing == nullptr), (double)b};
    out[threadIdx.x] = all[threadIdx.x];
}
extern "C" __global__ void bits(unsigned short half, int *out) { *out = half; }
template <typename T, int K> __global__ void scale(const T *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * K;
}
namespace deep { __global__ void one(int *x) { *x += 1; } }
__global__ void both(int *x) { *x = 1; }
__global__ void both(float *x) { *x = 2; }
END
k() {
    kernel=$1 grid=$2 block=$3
    shift 3
    quern raw k.cu --kernel "$kernel" --grid "$grid" --block "$block" "$@"
}
k saxpy 2 4 float32:2 arange:float32:7 ones:float32:7 zeros:float32:7:z.npy int32:6
copy x=z.npy
k saxpy 2 4 float32:-1 'z.npy[1:]' ones:float32:7 zeros:float32:8:- int32:6
k saxpy 2 4 float32:-1 z.npy z.npy z.npy:z.npy int32:7
copy x=z.npy
k saxpy 1 32 float32:1 z.npy:- ones:float32:7:- empty:float32:7:- int32:7
k saxpy 1 32 float32:1 z.npy:- ones:float32:7:- empty:float32:7:- int32:7 --quiet
k reverse 1 8 --shared 32 arange:int32:8:-
k reverse 1 4 --shared=16 'arange:int32:8[2:6]:-'
k place 2,1,2 2,2 empty:int32:2x2x4:-
k place 1,2 3 empty:int32:2x3:-
k by_value 1 11 struct:float32:1.5,float64:2.5,int8:-3 struct:float32:4,float32:5,float32:6,float32:7 \
    complex64:8+9j null bool:true zeros:float64:11:-
k by_value 1 11 bytes:0000c03f000000000000000000000440fd00000000000000 \
    bytes:000000000000000000000000000080BF complex64:0 int64:1 uint8:0 zeros:float64:11:-
k bits 1 1 float16:1.25 zeros:int32:1:-
k bits 1 1 bfloat16:1.25 zeros:int32:1:-
k 'scale<double, 3>' 1 32 arange:float64:5 zeros:float64:5:- int32:5
k 'scale<int, -2>' 1 32 arange:int32:5 zeros:int32:5:- int32:5
k one 1 1 arange:int32:3:-
k deep::one 1 1 arange:int32:3:-
k '(void (*)(float *))both' 1 1 arange:float32:3:-
k place 1 1 'zeros:int32:2x2.T:-' --any-strides
quern raw k.cu --kernel one --grid 1 --block 1 --show-source | cmp - k.cu
ls
