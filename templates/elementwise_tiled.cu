// SPDX-License-Identifier: MIT
@includes@
@types@
@preamble@
extern "C" __global__ void __launch_bounds__(256) @name@(@parameters@)
{
@loop_prep@
    auto _quern_op = [&](@operands@) __attribute__((always_inline)) {
        do {
@operation@
        } while (0);
    };
    typedef @index@ _quern_index;
@shared@
    const int _quern_x = threadIdx.x % @tile@, _quern_y = threadIdx.x / @tile@;
    for (_quern_index _quern_p = blockIdx.x; _quern_p < _quern_s.packs; _quern_p += gridDim.x) {
@position@
        if (_quern_t0 + @tile@ <= _quern_s.head && _quern_e0 + @tile@ <= _quern_s.inner) {
            // A whole tile: no element needs a look at the sides, so many loads are under way at once.
#pragma unroll 8
            for (int _quern_k = _quern_y; _quern_k < @tile@; _quern_k += 256 / @tile@) {
                const _quern_index _quern_t = _quern_t0 + _quern_x, _quern_e = _quern_e0 + _quern_k;
@fetch@
            }
            __syncthreads();
#pragma unroll 4
            for (int _quern_k = _quern_y; _quern_k < @tile@; _quern_k += 256 / @tile@) {
                const _quern_index _quern_t = _quern_t0 + _quern_k, _quern_e = _quern_e0 + _quern_x;
@body@
            }
        } else {
#pragma unroll 1
            for (int _quern_k = _quern_y; _quern_k < @tile@; _quern_k += 256 / @tile@) {
                const _quern_index _quern_t = _quern_t0 + _quern_x, _quern_e = _quern_e0 + _quern_k;
                if (_quern_t < _quern_s.head && _quern_e < _quern_s.inner) {
@fetch@
                }
            }
            __syncthreads();
#pragma unroll 1
            for (int _quern_k = _quern_y; _quern_k < @tile@; _quern_k += 256 / @tile@) {
                const _quern_index _quern_t = _quern_t0 + _quern_k, _quern_e = _quern_e0 + _quern_x;
                if (_quern_t < _quern_s.head && _quern_e < _quern_s.inner) {
@body@
                }
            }
        }
        __syncthreads();
    }
@after_loop@
}
