// SPDX-License-Identifier: MIT
@includes@
@types@
@preamble@
@reduce_type@
#pragma nv_diag_error 940 // a function that ends without its return

extern "C" __global__ void __launch_bounds__(@block@) @name@(@parameters@)
{
@positions@
    const auto _quern_map = [&](@inputs@) __attribute__((always_inline)) -> _type_reduce
@map@
    ;
    const auto _quern_reduce = [&](_type_reduce a, _type_reduce b) -> _type_reduce
@reduce@
    ;
    const auto _quern_post = [&](@outputs@_type_reduce a) __attribute__((always_inline)) {
@post@
    };
    typedef @index@ _quern_index;
    typedef quern::slot<_type_reduce> _quern_slot;
@shared@
@place@
@share@
@kept@
    _quern_slot _quern_v[@values@]; // outputs side by side
    bool _quern_has = false;
    const auto _quern_take = [&](_quern_slot &_quern_to, bool _quern_more, _type_reduce _quern_x)
        __attribute__((always_inline)) {
            _quern_to.value = _quern_more ? _quern_reduce(_quern_to.value, _quern_x) : _quern_x;
        };
@rest@
#pragma unroll @unroll@
    for (_quern_index _quern_u = _quern_first; _quern_u < _quern_last; _quern_u += _quern_step) {
@unit@
        _quern_has = true;
    }
@combine@
    if (_quern_live && _quern_r == 0) {
@finish@
    }
}
