/* SPDX-License-Identifier: MIT
 *
 * The operations before lane-wise operations and before moves to and from vectors. In: the shadows
 * of the operands and, where that matters, their values. Out: the shadow of the result. Operands
 * without undefined bits, nearly all, cost a look at one word each.
 *
 * For operations that only move bits, the operation itself is run on the undefined bits in place of
 * the values. Where each byte went is found in the same way: the bytes are numbered, and the
 * numbers moved.
 */
#include "ptx/watch/shadow.h"

#include <string.h>

enum { FROM_B = 8 }; /* bytes of b are numbered after those of a */

/* ---- one lane ------------------------------------------------------------------------------- */

void qn_shade_get(const qn_frame *frame, uint32_t k, unsigned lane, qn_shade *out)
{
    out->bits = 0;
    if (frame->undefined[k] >> lane & 1) {
        out->bits = frame->shadows[k].bits[lane];
        memcpy(out->from, frame->shadows[k].from[lane], sizeof out->from);
    }
}

void qn_shade_put(const qn_frame *frame, uint32_t k, unsigned lane, const qn_shade *shade)
{
    if (k == 0 || !shade->bits) {
        frame->undefined[k] &= ~(1u << lane);
        return;
    }
    frame->undefined[k] |= 1u << lane;
    frame->shadows[k].bits[lane] = shade->bits;
    memcpy(frame->shadows[k].from[lane], shade->from, sizeof shade->from);
}

const qn_source *qn_shade_source(const qn_shade *shade)
{
    return shade->bits ? &shade->from[__builtin_ctzll(shade->bits) / 8] : NULL;
}

void qn_shade_derive(qn_shade *out, unsigned bits, const qn_source *source, uint32_t instruction)
{
    const uint32_t via = source->via ? source->via : instruction;
    const qn_source derived = {source->address, source->load, via};
    out->bits = qn_ones(bits);
    for (unsigned k = 0; k < 8; k++) {
        out->from[k] = derived;
    }
}

bool qn_shade_mask(qn_warp *warp, const qn_op *op, uint32_t *mask)
{
    const qn_shaded *shaded = op->extra;
    const uint32_t unknown = warp->frame->undefined[shaded->guard] & *mask;
    if (unknown) {
        qn_shade guard;
        qn_shade_get(warp->frame, shaded->guard, qn_first_lane(unknown), &guard);
        return qn_shadow_report(warp, qn_first_lane(unknown), qn_shade_source(&guard),
                                shaded->instruction);
    }
    if (op[1].guard != QN_NO_PLACE) {
        *mask &= *(const uint32_t *)qn_at(warp, op[1].guard) ^ op[1].guard_flip;
    }
    return true;
}

static const qn_source *any_source(const qn_shade *in, unsigned count)
{
    const qn_source *source = NULL;
    for (unsigned k = 0; k < count && !source; k++) {
        source = qn_shade_source(&in[k]);
    }
    return source;
}

/* ---- lane-wise ------------------------------------------------------------------------------ */

static unsigned bits_of(const qn_lane_form *form, unsigned operand)
{
    const unsigned bits[] = {form->a_bits, form->b_bits, form->c_bits, form->fourth ? 32 : 0};
    return bits[operand];
}

/* The operands of one lane. */
static void gather(const qn_warp *warp, const qn_shaded *shaded, const qn_op *own, unsigned lane,
                   qn_shade in[4])
{
    const uint32_t shadows[] = {shaded->a, shaded->b, shaded->c, shaded->e};
    const qn_place places[] = {own->a, own->b, own->c, own->target};
    for (unsigned k = 0; k < 4; k++) {
        const unsigned bits = bits_of(shaded->form, k);
        in[k].bits = in[k].value = 0;
        if (bits) {
            in[k].value = qn_lane_value(qn_at(warp, places[k]), bits, lane);
            qn_shade_get(warp->frame, shadows[k], lane, &in[k]);
        }
    }
}

/* For each byte, keep the source of the first operand that is undefined there. */
static void keep_sources(qn_shade *out, const qn_shade in[4])
{
    const qn_source *other = any_source(in, 4);
    for (unsigned k = 0; k < 8; k++) {
        out->from[k] = *other;
        for (unsigned operand = 3; operand-- > 0;) {
            if (in[operand].bits >> 8 * k & 0xff) {
                out->from[k] = in[operand].from[k];
            }
        }
    }
}

/* Note that the bytes were computed with, so are no longer just what was loaded. */
static void mark(qn_shade *out, uint32_t instruction)
{
    for (unsigned k = 0; k < 8; k++) {
        out->from[k].via = out->from[k].via ? out->from[k].via : instruction;
    }
}

static void compute(qn_shade *out, const qn_shaded *shaded, const qn_shade in[4])
{
    const char *name = shaded->form->name;
    out->bits = qn_shade_bits(shaded, in);
    if (!out->bits) {
        return;
    }
    if (shaded->rule == QN_SHADE_LOGIC) {
        keep_sources(out, in);
        if (name[0] == 'x' || name[0] == 'n' || name[0] == 'l') { /* xor, not, lop3 */
            mark(out, shaded->instruction);
        }
    } else if (shaded->rule == QN_SHADE_SELECT && !in[2].bits) {
        memcpy(out->from, in[in[2].value & 1 ? 0 : 1].from, sizeof out->from);
    } else {
        const uint64_t bits = out->bits;
        qn_shade_derive(out, 64, any_source(in, 4), shaded->instruction);
        out->bits = bits;
    }
}

/* Run the operation on what takes the place of a, and of b if both are merged. */
static void moved(const qn_warp *warp, const qn_shaded *shaded, const qn_op *own, const void *a,
                  const void *b, void *d, uint32_t mask)
{
    const bool merges = shaded->rule == QN_SHADE_MERGE;
    uint32_t carry = 0;
    if (own->kind == QN_OP_LANES_MORE) {
        const qn_lane_more more = {qn_at(warp, own->c), qn_at(warp, own->target)};
        own->lanes(d, a, merges ? b : qn_at(warp, own->b), &more, mask, &carry);
    } else {
        own->lanes(d, a, merges ? b : qn_at(warp, own->b), qn_at(warp, own->c), mask, &carry);
    }
}

/* Set where each byte of a result is from; `numbers` are those of the bytes that were moved
 * there. */
static void move_sources(qn_shade *out, uint64_t numbers, const qn_shade in[4])
{
    for (unsigned k = 0; k < 8; k++) {
        const unsigned number = (unsigned)(numbers >> 8 * k & 0xff);
        const qn_shade *from = &in[number > FROM_B];
        const unsigned byte = (number - 1) % 8;
        const bool known = number > 0 && number <= 2 * FROM_B && from->bits >> 8 * byte & 0xff;
        out->from[k] = known ? from->from[byte] : *any_source(in, 2);
    }
}

static void move(qn_warp *warp, const qn_shaded *shaded, const qn_op *own, uint32_t mask)
{
    const qn_lane_form *form = shaded->form;
    const unsigned first_control = shaded->rule == QN_SHADE_MERGE ? 2 : 1;
    _Alignas(64) uint64_t bits[3][QN_LANES] = {0}, numbers[3][QN_LANES] = {0};
    const uint64_t one = UINT64_C(0x0807060504030201), two = UINT64_C(0x100f0e0d0c0b0a09);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = qn_first_lane(rest);
        qn_shade in[4];
        gather(warp, shaded, own, lane, in);
        for (unsigned k = 0; k < 2; k++) {
            qn_lane_put(bits[k], form->a_bits, lane, in[k].bits);
            qn_lane_put(numbers[k], form->a_bits, lane, k ? two : one);
        }
    }
    moved(warp, shaded, own, bits[0], bits[1], bits[2], mask);
    moved(warp, shaded, own, numbers[0], numbers[1], numbers[2], mask);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = qn_first_lane(rest);
        qn_shade in[4], out;
        gather(warp, shaded, own, lane, in);
        if (any_source(in + first_control, 4 - first_control)) { /* moved nobody knows how far */
            qn_shade_derive(&out, form->d_bits, any_source(in, 4), shaded->instruction);
        } else {
            out.bits = qn_lane_value(bits[2], form->d_bits, lane);
            if (out.bits) {
                move_sources(&out, qn_lane_value(numbers[2], form->d_bits, lane), in);
            }
        }
        qn_shade_put(warp->frame, shaded->d, lane, &out);
    }
}

bool qn_run_shade_lanes(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_shaded *shaded = op->extra;
    const qn_op *own = op + 1;
    uint32_t *undefined = warp->frame->undefined;
    if (!qn_shade_mask(warp, op, &mask)) {
        return false;
    }
    const uint32_t maybe = mask & (undefined[shaded->a] | undefined[shaded->b] |
                                   undefined[shaded->c] | undefined[shaded->e]);
    undefined[shaded->d] &= ~(mask & ~maybe);
    if (!maybe) {
        return true;
    }
    if (shaded->rule == QN_SHADE_MOVE || shaded->rule == QN_SHADE_MERGE) {
        move(warp, shaded, own, maybe);
        return true;
    }
    for (uint32_t rest = maybe; rest; rest &= rest - 1) {
        const unsigned lane = qn_first_lane(rest);
        qn_shade in[4], out;
        gather(warp, shaded, own, lane, in);
        compute(&out, shaded, in);
        qn_shade_put(warp->frame, shaded->d, lane, &out);
    }
    return true;
}

/* ---- vectors -------------------------------------------------------------------------------- */

/* `bits` of one value become those of another, with where they are from. */
static void take_part(qn_shade *to, unsigned to_bit, const qn_shade *from, unsigned from_bit,
                      unsigned bits)
{
    const uint64_t part = from->bits >> from_bit & qn_ones(bits);
    if (part) {
        to->bits |= part << to_bit;
        memcpy(to->from + to_bit / 8, from->from + from_bit / 8, bits / 8 * sizeof *to->from);
    }
}

bool qn_run_shade_pack(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_shaded *shaded = op->extra;
    const unsigned bits = op[1].bits;
    if (!qn_shade_mask(warp, op, &mask)) {
        return false;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = qn_first_lane(rest);
        qn_shade whole[2] = {0}, part;
        for (unsigned k = 0; k < shaded->uses; k++) {
            qn_shade_get(warp->frame, shaded->list[k], lane, &part);
            take_part(&whole[k * bits / 64], k * bits % 64, &part, 0, bits);
        }
        qn_shade_put(warp->frame, shaded->d, lane, &whole[0]);
        qn_shade_put(warp->frame, shaded->e, lane, &whole[1]);
    }
    return true;
}

bool qn_run_shade_unpack(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_shaded *shaded = op->extra;
    const unsigned bits = op[1].bits;
    if (!qn_shade_mask(warp, op, &mask)) {
        return false;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = qn_first_lane(rest);
        qn_shade whole[2];
        qn_shade_get(warp->frame, shaded->d, lane, &whole[0]);
        qn_shade_get(warp->frame, shaded->e, lane, &whole[1]);
        for (unsigned k = 0; k < shaded->uses; k++) {
            qn_shade part = {0};
            take_part(&part, 0, &whole[k * bits / 64], k * bits % 64, bits);
            qn_shade_put(warp->frame, shaded->list[k], lane, &part);
        }
    }
    return true;
}
