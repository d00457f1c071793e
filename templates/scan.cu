// SPDX-License-Identifier: MIT
@includes@
@types@
@preamble@
@scan_type@
#pragma nv_diag_error 940 // a function that ends without its return

extern "C" __global__ void __launch_bounds__(@block@) @name@(@parameters@)
{
@positions@
    const auto _quern_map = [&](@inputs@) __attribute__((always_inline)) -> _type_reduce
@map@
    ;
    const auto _quern_scan = [&](_type_reduce a, _type_reduce b) -> _type_reduce
@scan@
    ;
    const auto _quern_post = [&](@operands@_type_reduce a) __attribute__((always_inline)) {
@post@
    };
    typedef @index@ _quern_index;
    typedef quern::slot<_type_reduce> _quern_slot;
    constexpr int _quern_steps = @steps@, _quern_tracks = @tracks@, _quern_lanes = @lanes@;
@begin@
    {
        quern::shelf<_type_reduce, _quern_steps, _quern_lanes, _quern_park> _quern_shelf;
        _quern_slot _quern_t[_quern_rounds][_quern_tracks], _quern_total[_quern_tracks];
@registers@
#pragma unroll
        for (int _quern_j = 0; _quern_j < _quern_steps; _quern_j++) {
            // Without a condition, so that all loads are under way together.
            const _quern_index _quern_u =
                min(_quern_base + _quern_from + _quern_j * _quern_pace, _quern_length - 1);
@load@
        }
#pragma unroll
        for (int _quern_j = 0; _quern_j < _quern_steps; _quern_j++) {
            const _quern_index _quern_i = _quern_base + _quern_from + _quern_j * _quern_pace;
            const _quern_index _quern_u = min(_quern_i, _quern_length - 1);
            // A unit that is not there repeats the last one. A tile lets that stand: conditions would
            // have every load wait for the one before. Elsewhere, in place, it may be a result by now.
            if (_quern_tiles || _quern_i < _quern_units) {
@take@
            }
        }
        quern::scan_warp(_quern_t, _quern_total, _quern_count, _quern_at, _quern_apart,
                         _quern_width, _quern_scan);
@fronts@
        const _quern_index _quern_again = quern::anew(_quern_base + _quern_from);
#pragma unroll
        for (int _quern_j = 0; _quern_j < _quern_steps; _quern_j++) {
            const _quern_index _quern_u = _quern_again + _quern_j * _quern_pace;
            if (_quern_u < _quern_units) {
@give@
            }
        }
@advance@
    }
}
