/* SPDX-License-Identifier: MIT
 *
 * slots: a place in the frame for every register.
 */
#include "ptx/reader.h"
quern_status qn_ptx_allocate_slots(qn_ptx_function *function, qn_arena *arena)
{
    (void)arena;
    for (uint32_t i = 0; i < function->register_count; i++) {
        qn_ptx_register *reg = &function->registers[i];
        reg->slot = function->frame_bytes;
        function->frame_bytes += QN_MAX(64u, QN_MAX(reg->type.bits, 16u) * 4u);
    }
    return QUERN_OK;
}
