/* SPDX-License-Identifier: MIT
 *
 * pack_bytes: how much of an operand a thread may take at once. In: a call with its operands. Out:
 * a number of bytes, for the planner.
 */
#include "engine/engine_internal.h"

/* A pack of one wide element is better for a sum of costly values: of exp(x), all float64, it takes
 * 0.77 of the time of packs of two on an H200. Elsewhere two take 0.78 to 0.97 of the time of one.
 */
uint32_t qn_call_pack_bytes(const qn_call *call, uint32_t operand_count)
{
    const quern_kernel *k = call->kernel;
    bool wide = false;
    for (uint32_t o = 0; o < operand_count; o++) {
        wide |= call->operands[o].item_size >= 8;
        if (k->uses_by_address[call->operand_parameter[o]]) {
            return 0;
        }
    }
    if (k->loops) {
        return 0;
    }
    const bool sums = k->kind->number == QUERN_KERNEL_REDUCTION;
    return k->heavy > 4 || (k->heavy > 0 && wide && sums) ? 8 : 16;
}
