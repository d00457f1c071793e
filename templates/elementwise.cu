// SPDX-License-Identifier: MIT
@includes@
@types@
@preamble@
extern "C" __global__ void @name@(@parameters@)
{
@loop_prep@
    auto _quern_op = [&](@operands@) __attribute__((always_inline)) {
        do {
@operation@
        } while (0);
    };
    typedef @index@ _quern_index;
    const _quern_index _quern_step = (_quern_index)gridDim.x * (_quern_index)blockDim.x;
    const _quern_index _quern_t = (_quern_index)blockIdx.x * (_quern_index)blockDim.x + threadIdx.x;
@rest@
    for (_quern_index _quern_p = _quern_t; _quern_p < _quern_s.packs; _quern_p += _quern_step) {
@position@
@body@
    }
@after_loop@
}
