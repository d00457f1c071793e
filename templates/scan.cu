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
    for (_quern_index _quern_base = _quern_first; _quern_base < _quern_last;
         _quern_base += _quern_s.chunk) {
        _quern_slot _quern_v[_quern_steps][_quern_lanes], _quern_t[_quern_steps][_quern_tracks];
        _quern_slot _quern_total[_quern_tracks];
        int _quern_count[_quern_steps];
@registers@
#pragma unroll
        for (int _quern_j = 0; _quern_j < _quern_steps; _quern_j++) {
            const _quern_index _quern_u =
                _quern_base + (_quern_turn * _quern_steps + _quern_j) * _quern_width + _quern_at;
            _quern_count[_quern_j] =
                (int)max(min(_quern_units - (_quern_u - _quern_at), (_quern_index)_quern_width),
                         (_quern_index)0);
            if (_quern_u < _quern_units) {
@take@
            }
#pragma unroll
            for (int _quern_l = 0; _quern_l < _quern_tracks; _quern_l++)
                _quern_t[_quern_j][_quern_l] =
                    _quern_v[_quern_j][_quern_lanes - _quern_tracks + _quern_l];
        }
        quern::scan_warp(_quern_t, _quern_total, _quern_count, _quern_at, _quern_apart,
                         _quern_width, _quern_scan);
@fronts@
#pragma unroll
        for (int _quern_j = 0; _quern_j < _quern_steps; _quern_j++) {
            const _quern_index _quern_u =
                _quern_base + (_quern_turn * _quern_steps + _quern_j) * _quern_width + _quern_at;
            if (_quern_u < _quern_units) {
@give@
            }
        }
@advance@
    }
}
