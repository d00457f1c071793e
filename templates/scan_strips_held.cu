// SPDX-License-Identifier: MIT
#include "fold_opening.inc"

extern "C" __global__ void __launch_bounds__(HOLE_bounds) HOLE_name(HOLE_parameters)
{
#include "scan_texts.inc"
    extern __shared__ __align__(128) uint4 _quern_words[];
HOLE_room
#include "strips_tile.inc"
#include "strips_own.inc"
HOLE_begin
    // The thread's first units wait in shared memory, the others in registers.
#pragma unroll HOLE_batch
    for (int _quern_step = 0; _quern_step < _quern_parked; _quern_step++) {
HOLE_bring
    }
#pragma unroll
    for (int _quern_step = _quern_parked; _quern_step < _quern_steps; _quern_step++) {
HOLE_load
    }
    quern::await_words();

    _quern_slot _quern_sum[_quern_lanes], _quern_total;
#pragma unroll 1
    for (int _quern_at = 0; _quern_at < _quern_parked; _quern_at += _quern_batch) {
        constexpr bool _quern_registers = false;
#include "strips_held_sum.inc"
    }
#pragma unroll
    for (int _quern_at = _quern_parked; _quern_at < _quern_steps; _quern_at += _quern_batch) {
        constexpr bool _quern_registers = true;
#include "strips_held_sum.inc"
    }
    const int _quern_there = _quern_strips;
    constexpr int _quern_count = _quern_steps;
#include "strips_front.inc"
    const _quern_index _quern_end =
        _quern_live ? min(_quern_from + _quern_steps, _quern_walk.units) : _quern_from;
#pragma unroll 1
    for (int _quern_at = 0; _quern_at < _quern_parked; _quern_at += _quern_batch) {
        constexpr bool _quern_registers = false;
#include "strips_held_give.inc"
    }
#pragma unroll
    for (int _quern_at = _quern_parked; _quern_at < _quern_steps; _quern_at += _quern_batch) {
        constexpr bool _quern_registers = true;
#include "strips_held_give.inc"
    }
}
