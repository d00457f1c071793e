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
k --cooperative >said
# Without that header there is no kernel to launch. It comes with a CUDA Toolkit, and with what ./dev
# fetches: this runs wherever one of them is.
if grep -q '"cooperative_groups.h" was not found' said; then
    echo 'needs the headers of CUDA' >&2
    exit 77
fi
cat said
