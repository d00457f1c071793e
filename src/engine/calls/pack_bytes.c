/* SPDX-License-Identifier: MIT
 *
 * pack_bytes: how much of an operand a thread may take at once. In: a call with its operands. Out:
 * a number of bytes, for the planner.
 */
#include "engine/engine_internal.h"

#define BUSY   (1 << 18) /* threads that fill a large GPU: with fewer, none has several elements */
#define NARROW 2         /* bytes of an element */
#define HALF   8         /* bytes */

/* True when the loops of an elementwise operation run alike for the elements of a pack. Where they
 * do not, neighbouring threads are better at neighbouring elements: they read what lies side by
 * side, and wait less for each other. Measured on an H100, one element of a thread and packs: seven
 * taps of float32, float16 and uint8 1920, 1110, 566 and 2845, 2490, 2470 GB/s; four steps of
 * Newton's 1015 and 1515; Mandelbrot's set, which ends when it likes, 709 and 628; rows of 16 that
 * each element reads by itself 119 and 62. */
static bool loops_evenly(const qn_call *call, uint32_t narrow)
{
    const quern_kernel *k = call->kernel;
    bool even = k->loop_facts.even;
    for (uint32_t p = 0; p < k->signature.count && even; p++) {
        even = !k->loop_facts.counts[p] || !call->arrays[p];
    }
    const int64_t lanes = QN_MAX(1, (narrow > NARROW ? QN_ACCESS_BYTES : HALF) / narrow);
    return even && call->count / lanes >= BUSY;
}

/* True when half a pack of narrow elements is better: raw arrays are read an element at a time, and
 * of wide packs the accesses of a warp meet many lines. Sums of neighbours go at 2540 instead of
 * 1470 GB/s for uint8 on an H100, 2 x 2 means of float16 at 3010 instead of 2370. What is written
 * to raw arrays goes better so whatever its size: float64 at 2860 instead of 2170. */
static bool wants_half(const quern_kernel *k, uint32_t narrow)
{
    bool gives = false;
    for (uint32_t p = k->signature.input_count; p < k->signature.count; p++) {
        gives |= k->signature.parameters[p].raw;
    }
    return gives || (narrow <= NARROW && (k->loops || k->loop_facts.placed));
}

/* A pack of one wide element is better for a sum of costly values: of exp(x), all float64, it takes
 * 0.77 of the time of packs of two on an H200. Elsewhere two take 0.78 to 0.97 of the time of one.
 */
uint32_t qn_call_pack_bytes(const qn_call *call, uint32_t operand_count)
{
    const quern_kernel *k = call->kernel;
    bool wide = false;
    uint32_t narrow = QN_ACCESS_BYTES;
    for (uint32_t o = 0; o < operand_count; o++) {
        wide |= call->operands[o].item_size >= 8;
        narrow = QN_MIN(narrow, call->operands[o].item_size);
        if (k->uses_by_address[call->operand_parameter[o]]) {
            return 0;
        }
    }
    const bool walk = k->kind->number == QUERN_KERNEL_ELEMENTWISE;
    if (walk ? k->loops && !loops_evenly(call, narrow) : k->loops_apart) {
        return 0;
    }
    const bool sums = k->kind->number == QUERN_KERNEL_REDUCTION;
    const bool half =
        k->heavy > 4 || (k->heavy > 0 && wide && sums) || (walk && wants_half(k, narrow));
    return half ? HALF : QN_ACCESS_BYTES;
}
