# SPDX-License-Identifier: MIT
# A grid whose blocks wait for each other, with a header of the CUDA Toolkit.
. "$CASE_LIB"
cat >k.cu <<'END'
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void turn(int *x, int *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    x[i] *= 2;
    cg::this_grid().sync();
    y[i] = x[n - 1 - i];
}
END
k() {
    quern raw k.cu --kernel turn --grid 4 --block 8 arange:int32:32 empty:int32:32:- "$@" 2>&1
}
k --cooperative >said || {
    grep -q '"cooperative_groups.h" was not found' said || cat said
    echo 'needs the headers of a CUDA Toolkit' >&2
    exit 77
}
cat said
