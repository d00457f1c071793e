# SPDX-License-Identifier: MIT
# Headers of another release of CUDA than NVRTC's: a failure says so, and doctor does.
mkdir -p old/include
echo '#define CUDART_VERSION 9020' >old/include/cuda_runtime_api.h
printf '%s\n' '#pragma once' '#error what' >old/include/cuda_fp8.h
quern doctor >said
nvrtc=$(sed -n 's/^  NVRTC \([0-9.]*\),.*/\1/p' said)
error() { "$@" 2>&1 >/dev/null | sed -n "/error: /{s|$PWD|FOLDER|g;s/NVRTC $nvrtc/NVRTC OURS/g;s/CUDA $nvrtc/CUDA OURS/;p;}" | head -n 1; }

echo '#include <cuda_fp8.h>
extern "C" __global__ void k(float *x) { *x = 1; }' >k.cu
error quern raw k.cu --kernel k --grid 1 --block 1 --option=-I"$PWD/old/include" zeros:float32:1
error quern elementwise 'float x' 'float y' 'y = x' x=ones:float32:1 --preamble '#include <cuda_fp8.h>' \
    --option=-I --option="$PWD/old/include"
# A failure that they did not cause, but could have; and one without them.
sed -i '/error/d' old/include/cuda_fp8.h
error quern elementwise 'float x' 'float y' 'y = z' x=ones:float32:1 --preamble '#include <cuda_fp8.h>' \
    --option=-I"$PWD/old/include"
error quern elementwise 'float x' 'float y' 'y = z' x=ones:float32:1

# Of several, those of NVRTC's release are taken, whatever the order of the places.
CUDA_PATH=${CUDA_HOME:-} CUDA_HOME=$PWD/old quern doctor >said
sed -n 's/^  headers of CUDA \([0-9.]*\),.*/\1/p' said | grep -qx "$nvrtc" || cat said
