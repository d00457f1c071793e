/* SPDX-License-Identifier: MIT
 *
 * Which bits of the result of a lane-wise operation are undefined. In: the name of the operation,
 * and for one lane the values of its operands with their undefined bits. Out: the bits of the
 * result that may differ when those do. Exact where programs rely on it: logic, comparisons that
 * the other bits decide, choices between equal values; elsewhere too many bits may be called
 * undefined, but never too few, except for carries from one addition to another.
 */
#include "ptx/watch/shadow.h"

#include <string.h>

/* ---- names ---------------------------------------------------------------------------------- */

static bool is_of_any(const char *name, const char *const *words, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (qn_opcode_of(name, words[k])) {
            return true;
        }
    }
    return false;
}

/* The type after the last dot: "s32", "bf16x2". */
static const char *type_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : "";
}

static bool is_integer(const char *name)
{
    const char *type = type_of(name);
    return (type[0] == 'u' || type[0] == 's' || type[0] == 'b') && type[1] >= '0' && type[1] <= '9';
}

/* An integer becomes one of another width, with nothing done to it. */
static bool is_resize(const char *name)
{
    return qn_opcode_of(name, "cvt") && !strpbrk(name + 4, "f") && !strstr(name, ".sat") &&
           !strchr(name, 'e');
}

#define ANY_OF(name, ...)                                                                          \
    is_of_any(name, (const char *const[]){__VA_ARGS__},                                            \
              sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

qn_shade_rule qn_shade_rule_of(const qn_lane_form *form)
{
    const char *name = form->name;
    const bool pairs = strstr(type_of(name), "16x2") != NULL;
    if (ANY_OF(name, "and", "or", "xor", "not", "lop3") || strcmp(name, "mov.pred") == 0) {
        return QN_SHADE_LOGIC;
    }
    if (ANY_OF(name, "mov", "shl", "shr", "bfe", "brev", "szext") || is_resize(name)) {
        return QN_SHADE_MOVE;
    }
    if (ANY_OF(name, "bfi", "prmt", "shf")) {
        return QN_SHADE_MERGE;
    }
    if (qn_opcode_of(name, "selp")) {
        return QN_SHADE_SELECT;
    }
    if (qn_opcode_of(name, "setp")) {
        return QN_SHADE_COMPARE;
    }
    if (qn_opcode_of(name, "cvt") && strstr(name, "16x2.f32")) {
        return QN_SHADE_TWO;
    }
    if (pairs && form->d_bits == 32 && form->a_bits == 32) {
        return QN_SHADE_HALVES;
    }
    if (is_integer(name) && !strstr(name, ".sat") && !strstr(name, ".hi")) {
        if (ANY_OF(name, "add", "addc", "sub", "subc", "neg")) {
            return QN_SHADE_SUM;
        }
        if (strstr(name, ".lo") || strstr(name, ".wide")) {
            return ANY_OF(name, "mul", "mad") ? QN_SHADE_PRODUCT : QN_SHADE_ANY;
        }
    }
    return QN_SHADE_ANY;
}

/* ---- bits ----------------------------------------------------------------------------------- */

static uint64_t lop3(const qn_shade in[4])
{
    uint64_t ones = 0, zeros = 0; /* what a bit can become */
    for (unsigned k = 0; k < 8; k++) {
        uint64_t possible = ~UINT64_C(0);
        for (unsigned operand = 0; operand < 3; operand++) { /* a is the highest bit of k */
            const qn_shade *x = &in[operand];
            possible &= (k >> (2 - operand) & 1 ? x->value : ~x->value) | x->bits;
        }
        *(in[3].value >> k & 1 ? &ones : &zeros) |= possible;
    }
    return ones & zeros;
}

static uint64_t logic(const char *name, const qn_shade in[4])
{
    const qn_shade *a = &in[0], *b = &in[1];
    if (qn_opcode_of(name, "and")) {
        return (a->bits | b->bits) & (a->value | a->bits) & (b->value | b->bits);
    }
    if (qn_opcode_of(name, "or")) {
        return (a->bits | b->bits) & (~a->value | a->bits) & (~b->value | b->bits);
    }
    if (qn_opcode_of(name, "lop3")) {
        return in[3].bits ? ~UINT64_C(0) : lop3(in);
    }
    return qn_opcode_of(name, "xor") ? a->bits | b->bits : a->bits;
}

static uint64_t from_lowest(uint64_t bits)
{
    return bits | (0 - bits);
}

static uint64_t product(const qn_shade in[4])
{
    const bool zero = (!in[0].bits && !in[0].value) || (!in[1].bits && !in[1].value);
    return from_lowest((zero ? 0 : in[0].bits | in[1].bits) | in[2].bits);
}

/* The least or the greatest value that bits may have, as an unsigned number of the same order. */
static uint64_t extreme(const qn_shade *x, unsigned bits, bool is_signed, bool greatest)
{
    const uint64_t flip = is_signed ? UINT64_C(1) << (bits - 1) : 0;
    const uint64_t value = (x->value ^ flip) & qn_ones(bits);
    return (greatest ? value | x->bits : value & ~x->bits) & qn_ones(bits);
}

/* Does the outcome of an integer comparison depend on undefined bits? */
static bool comparison(const qn_shaded *shaded, const char *how, const qn_shade in[4])
{
    const char *type = type_of(shaded->form->name);
    const unsigned bits = shaded->form->a_bits;
    uint64_t unknown = in[0].bits | in[1].bits;
    if (strstr(type, "16x2")) { /* p is of the low half, q of the high one */
        unknown &= shaded->second ? 0xffff0000u : 0xffff;
    }
    if ((unknown & qn_ones(bits)) == 0) {
        return false;
    }
    if (!strchr("usb", type[0]) || type[1] < '0' || type[1] > '9') {
        return true;
    }
    if (qn_begins(how, "eq") || qn_begins(how, "ne")) {
        return ((in[0].value ^ in[1].value) & ~unknown & qn_ones(bits)) == 0;
    }
    const bool is_signed = type[0] == 's';
    const uint64_t a_least = extreme(&in[0], bits, is_signed, false);
    const uint64_t a_most = extreme(&in[0], bits, is_signed, true);
    const uint64_t b_least = extreme(&in[1], bits, is_signed, false);
    const uint64_t b_most = extreme(&in[1], bits, is_signed, true);
    const bool strict = qn_begins(how, "lt") || qn_begins(how, "lo.") || qn_begins(how, "ge") ||
                        qn_begins(how, "hs");
    return strict ? !(a_most < b_least || a_least >= b_most)  /* a < b, or not */
                  : !(a_most <= b_least || a_least > b_most); /* a <= b, or not */
}

/* setp.lt.and.s32 p|q, a, b, c: p = (a < b) and c; q = !(a < b) and c. */
static uint64_t compare(const qn_shaded *shaded, const qn_shade in[4])
{
    const char *name = shaded->form->name, *how = name + strlen("setp.");
    const bool unknown = comparison(shaded, how, in);
    const bool other = in[2].bits & 1, value = in[2].value & 1;
    if (shaded->form->c_bits != 1) {
        return unknown;
    }
    if (strstr(how, ".and.")) { /* a false c that is known makes both results false */
        return unknown ? other || value : other;
    }
    if (strstr(how, ".or.")) {
        return unknown ? other || !value : other;
    }
    return unknown || other;
}

/* Two operands of 16 bits in each word. */
static uint64_t halves(const qn_shade in[4])
{
    const uint64_t bits = in[0].bits | in[1].bits | in[2].bits;
    return (bits & 0xffff ? 0xffff : 0) | (bits >> 16 & 0xffff ? 0xffff0000u : 0);
}

uint64_t qn_shade_bits(const qn_shaded *shaded, const qn_shade in[4])
{
    uint64_t bits;
    switch ((qn_shade_rule)shaded->rule) {
    case QN_SHADE_LOGIC:
        bits = logic(shaded->form->name, in);
        break;
    case QN_SHADE_SUM:
        bits = from_lowest(in[0].bits | in[1].bits);
        break;
    case QN_SHADE_PRODUCT:
        bits = product(in);
        break;
    case QN_SHADE_SELECT:
        bits = in[2].bits        ? in[0].bits | in[1].bits | (in[0].value ^ in[1].value)
               : in[2].value & 1 ? in[0].bits
                                 : in[1].bits;
        break;
    case QN_SHADE_COMPARE:
        bits = compare(shaded, in);
        break;
    case QN_SHADE_HALVES:
        bits = halves(in);
        break;
    case QN_SHADE_TWO:
        bits = (in[0].bits ? 0xffff0000u : 0) | (in[1].bits ? 0xffff : 0);
        break;
    default:
        bits = in[0].bits | in[1].bits | in[2].bits | in[3].bits ? ~UINT64_C(0) : 0;
        break;
    }
    return bits & qn_ones(shaded->form->d_bits);
}
