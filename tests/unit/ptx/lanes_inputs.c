/* SPDX-License-Identifier: MIT
 *
 * The operands that lane-wise operations are tested with, and one run of a form over them.
 */
#include "lanes_inputs.h"
#include <string.h>

static const uint64_t edges64[] = {0,
                                   1,
                                   2,
                                   3,
                                   7,
                                   31,
                                   32,
                                   33,
                                   63,
                                   64,
                                   127,
                                   128,
                                   255,
                                   0x7fff,
                                   0x8000,
                                   0xffff,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   0x100000000,
                                   0xffffffffffffffff,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   0x8000000000000001,
                                   0x3ff0000000000000,
                                   0xbff0000000000000,
                                   0x4000000000000000,
                                   0x7ff0000000000000,
                                   0xfff0000000000000,
                                   0x7ff8000000000000,
                                   0xfff8000000000001,
                                   0x7ff0000000000001,
                                   0x0010000000000000,
                                   0x000fffffffffffff,
                                   0x7fefffffffffffff,
                                   0x3fe0000000000000,
                                   0x41dfffffffc00000,
                                   0x41e0000000000000,
                                   0xc1e0000000000000,
                                   0x43e0000000000000,
                                   0xc3e0000000000000,
                                   0x43f0000000000000,
                                   0x4330000000000001,
                                   0x3ff8000000000000,
                                   0x4004000000000000,
                                   0x36a0000000000000,
                                   0x380fffffe0000000,
                                   0x47efffffe0000000,
                                   0x47efffffefffffff,
                                   0x47effffff0000000};
static const uint32_t edges32[] = {
    0,          1,          2,          3,          5,          7,          31,         32,
    33,         127,        128,        255,        256,        0x7fff,     0x8000,     0xffff,
    0x10000,    0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 0x3f800000, 0xbf800000,
    0x40000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc12345, 0x00800000, 0x007fffff,
    0x807fffff, 0x7f7fffff, 0xff7fffff, 0x3f000000, 0xbf000000, 0x3fc00000, 0x40200000, 0x4f000000,
    0xcf000000, 0x4f800000, 0x5f000000, 0xdf000000, 0x5f800000, 0x477fe000, 0x477ff000, 0x33800000,
    0x33000000, 0x387fc000, 0x43e00000, 0x43e80000, 0x437f0000, 0x3c003c00, 0x7c007e00, 0xfc000001,
    0x80000400, 0x7bff3c00, 0x3f803f80, 0x7f807fc0, 0x0080ff80, 0x38383838, 0x7e7f7c7b};
static const uint16_t edges16[] = {0,      1,      2,      7,      15,     16,     31,     32,
                                   127,    128,    255,    0x7fff, 0x8000, 0xffff, 0x3c00, 0xbc00,
                                   0x7c00, 0xfc00, 0x7e00, 0x7c01, 0x0400, 0x03ff, 0x8001, 0x7bff,
                                   0xfbff, 0x3800, 0x3e00, 0x4100, 0x3f80, 0xbf80, 0x7f80, 0xff80,
                                   0x7fc0, 0x0080, 0x007f, 0x7f7f, 0x7e7e, 0x7b7c, 0x5bff, 0x7800};

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 2685821657736338717u;
}

static uint64_t edge(int bits, uint64_t r)
{
    return bits == 64   ? edges64[r % QN_COUNT(edges64)]
           : bits == 32 ? edges32[r % QN_COUNT(edges32)]
                        : edges16[r % QN_COUNT(edges16)];
}

/* A floating-point number of moderate size, or for odd `half` a small multiple of a half. */
static uint64_t moderate(int bits, uint64_t r, bool halves)
{
    if (bits == 64 && halves) {
        const double x = (double)(int64_t)(r >> 40) * 0.5 - 4194304.0;
        memcpy(&r, &x, sizeof r);
        return r;
    }
    if (bits == 32 && halves) {
        const float x = (float)(int)(r >> 48) * 0.5f - 16384.0f;
        uint32_t u;
        memcpy(&u, &x, sizeof u);
        return u;
    }
    return bits == 64   ? (r & 0x800fffffffffffff) | (uint64_t)(1023 - 64 + (r >> 52 & 127)) << 52
           : bits == 32 ? (r & 0x807fffff) | (uint64_t)(127 - 32 + (r >> 40 & 63)) << 23
                        : r;
}

static uint64_t operand(int bits, uint64_t *state)
{
    const uint64_t r = next(state), s = next(state);
    uint64_t x;
    switch (r & 7) {
    case 0:
    case 1:
    case 2:
        x = edge(bits, s >> 8);
        break;
    case 3:
        x = s;
        break;
    case 4:
        x = s & 1 ? s >> (r >> 8 & 63) : 0 - (s >> (r >> 8 & 63));
        break;
    case 5:
        x = moderate(bits, s, false);
        break;
    case 6:
        x = moderate(bits, s, true);
        break;
    default:
        x = edge(bits, s >> 8) + (r >> 8 & 7) - 4;
        break;
    }
    return bits <= 1 ? s >> 9 & 1 : bits == 64 ? x : x & (((uint64_t)1 << bits) - 1);
}

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

void lanes_make_inputs(lanes_inputs *in, const qn_lane_form *form)
{
    uint64_t state = 0x9e3779b97f4a7c15u;
    for (const char *c = form->name; *c != '\0'; c++) {
        state = (state ^ (unsigned char)*c) * 0x100000001b3u;
    }
    state |= 1;
    const uint64_t table = next(&state) >> 56;
    for (size_t i = 0; i < LANES_VECTORS; i++) {
        in->a[i] = operand(form->a_bits, &state);
        in->b[i] = operand(form->b_bits, &state);
        in->c[i] = operand(form->c_bits, &state);
        in->e[i] = operand(32, &state);
        const uint64_t r = next(&state), small = r >> 8 & 127, smaller = r >> 16 & 127;
        if (begins(form->name, "lop3")) {
            in->e[i] = table;
        } else if (begins(form->name, "bfi") && (r & 3)) {
            in->c[i] = small, in->e[i] = smaller;
        } else if (begins(form->name, "bfe") && (r & 3)) {
            in->b[i] = small, in->c[i] = smaller;
        } else if (begins(form->name, "fns")) {
            in->b[i] &= 31; /* other bases and the least n are undefined */
            in->c[i] = (uint32_t)(small - 64);
        }
    }
}

bool lanes_uses_carry(const qn_lane_form *form, bool *writes)
{
    *writes = strstr(form->name, ".cc.") != NULL;
    return *writes || begins(form->name, "addc") || begins(form->name, "subc") ||
           begins(form->name, "madc");
}

/* Put `words` into a register of 32 lanes, or take them out. */
static void to_register(void *reg, const uint64_t *words, int bits)
{
    memset(reg, 0, 256);
    for (int l = 0; l < QN_LANES; l++) {
        if (bits > 1) {
            memcpy((unsigned char *)reg + l * bits / 8, &words[l], (size_t)bits / 8);
        } else if (words[l] & 1) {
            ((unsigned char *)reg)[l / 8] |= (unsigned char)(1u << l % 8);
        }
    }
}

static uint64_t lane_of(const void *reg, int l, int bits)
{
    uint64_t x = 0;
    if (bits == 1) {
        return ((const unsigned char *)reg)[l / 8] >> l % 8 & 1;
    }
    memcpy(&x, (const unsigned char *)reg + l * bits / 8, (size_t)bits / 8);
    return x;
}

void lanes_run(lanes_results *out, const qn_lane_form *form, const lanes_inputs *in, uint32_t mask,
               uint64_t before)
{
    _Alignas(64) unsigned char a[256], b[256], c[256], d[256], e[256], q[256];
    uint64_t old[QN_LANES];
    bool writes_carry;
    lanes_uses_carry(form, &writes_carry);
    const uint32_t borrows = begins(form->name, "sub"); /* the code is their carry: no borrow */
    for (int l = 0; l < QN_LANES; l++) {
        old[l] = before;
    }
    for (size_t i = 0; i < LANES_VECTORS; i += QN_LANES) {
        to_register(a, &in->a[i], form->a_bits);
        to_register(b, &in->b[i], form->b_bits);
        to_register(c, &in->c[i], form->c_bits);
        to_register(e, &in->e[i], 32);
        to_register(d, old, form->d_bits);
        to_register(q, old, 1);
        uint32_t carry = 0;
        for (int l = 0; l < QN_LANES; l++) {
            carry |= ((uint32_t)(in->e[i + (size_t)l] & 1) ^ borrows) << l;
        }
        const qn_lane_more more = {c, e};
        const void *third = form->fourth ? (const void *)&more : c;
        if (form->second) {
            form->second(q, a, b, third, mask, &carry);
        }
        form->function(d, a, b, third, mask, &carry);
        for (int l = 0; l < QN_LANES; l++) {
            uint64_t x = lane_of(d, l, form->d_bits);
            x |= form->second != NULL ? lane_of(q, l, 1) << 32 : 0;
            x |= writes_carry && form->d_bits == 32 ? (uint64_t)((carry >> l & 1) ^ borrows) << 32
                                                    : 0;
            out->d[i + (size_t)l] = x;
        }
    }
}

uint64_t lanes_hash(const lanes_results *results)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < LANES_VECTORS; i++) {
        h = (h ^ results->d[i]) * 0x100000001b3u;
        h ^= h >> 29;
    }
    return h;
}
