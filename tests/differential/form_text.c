/* SPDX-License-Identifier: MIT
 *
 * Single instructions as PTX: a kernel for each, in which thread t takes operands t and stores the
 * result; and the operands that they are tried on. In: a form of src/ptx/lanes*.c. Out: text,
 * numbers.
 */
#include "differential.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static bool writes_carry(const qn_lane_form *form)
{
    return strstr(form->name, ".cc.") != NULL;
}

static bool reads_carry(const qn_lane_form *form)
{
    return begins(form->name, "addc") || begins(form->name, "subc") || begins(form->name, "madc");
}

bool diff_form_flags(const qn_lane_form *form)
{
    return form->second || writes_carry(form);
}

/* ---- types by name -------------------------------------------------------------------------- */

static char letter_of(const char *type, size_t length)
{
    return length >= 2 && strncmp(type, "bf", 2) == 0                       ? 'B'
           : type[0] == 'f' || begins(type, "e4m3") || begins(type, "e5m2") ? 'f'
                                                                            : 'u';
}

static bool is_type(const char *part)
{
    return (strchr("bufs", part[0]) && (strchr("0123456789", part[1]) || begins(part, "bf16"))) ||
           begins(part, "e4m3") || begins(part, "e5m2");
}

char diff_form_letter(const char *name, bool of_result)
{
    const char *last = "u32", *first = NULL;
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
        if (is_type(dot + 1)) {
            last = dot + 1;
            first = first ? first : last;
        }
    }
    const char *type = of_result && first ? first : last;
    return letter_of(type, strcspn(type, "."));
}

/* ---- operands ------------------------------------------------------------------------------- */

/* One operand of a form: as the form's type has it, or sometimes any bits. */
static uint64_t operand(char letter, int bits, bool pairs, uint64_t *state)
{
    const uint64_t r = diff_random(state);
    if (bits <= 1) {
        return r & 1;
    }
    if (pairs && bits == 32) {
        return diff_edge(letter, 2, state) | diff_edge(letter, 2, state) << 16;
    }
    return diff_edge((r & 15) == 0 ? 'u' : letter, (uint32_t)bits / 8, state);
}

/* A number of at most 2 in magnitude, or NaN. */
static uint64_t to_half_turn(uint64_t a)
{
    return (a & 0x7f800000) >= 0x40000000 && (a & 0x7f800000) != 0x7f800000
               ? (a & 0xbfffffff) | 0x3f000000
               : a;
}

void diff_form_operands(diff_operands *out, const qn_lane_form *form)
{
    uint64_t state = diff_seed(form->name, 0);
    const char letter = diff_form_letter(form->name, false);
    const bool pairs = strstr(form->name, "16x2") != NULL;
    const bool third_is_integer = begins(form->name, "slct") && strstr(form->name, ".s32");
    for (size_t i = 0; i < FORM_VECTORS; i++) {
        out->a[i] = operand(letter, form->a_bits, pairs, &state);
        out->b[i] = operand(letter, form->b_bits, pairs, &state);
        out->c[i] = operand(third_is_integer ? 'u' : letter, form->c_bits, pairs, &state);
        out->e[i] = diff_edge('u', 4, &state);
        const uint64_t r = diff_random(&state);
        if (begins(form->name, "bfi") && (r & 3)) {
            out->c[i] = r >> 8 & 127;
            out->e[i] = r >> 16 & 127;
        } else if (begins(form->name, "bfe") && (r & 3)) {
            out->b[i] = r >> 8 & 127;
            out->c[i] = r >> 16 & 127;
        } else if (begins(form->name, "fns")) { /* other bases and the least n are undefined */
            out->b[i] = r >> 8 & 31;
            out->c[i] = (uint32_t)((int)(r >> 16 & 127) - 64);
        } else if (begins(form->name, "sin.") || begins(form->name, "cos.")) {
            out->a[i] = to_half_turn(out->a[i]); /* the error is defined within [-pi, pi] */
        } else if (letter != 'u' && (r & 7) == 0) {
            out->b[i] = form->b_bits == form->a_bits ? out->a[i] : out->b[i];
        } else if (letter != 'u' && (r & 7) == 1 && form->c_bits == form->a_bits && !pairs) {
            out->c[i] = out->a[i] ^ (uint64_t)1 << (form->a_bits - 1); /* fma cancels */
        }
    }
}

/* ---- text ----------------------------------------------------------------------------------- */

static void load_operand(qn_text *ptx, char name, int bits)
{
    const int at = (name == 'e' ? 3 : name - 'a') * FORM_VECTORS * 8;
    if (bits == 1) {
        qn_text_printf(ptx, "ld.global.b32 %%u, [%%x+%d];\nsetp.ne.u32 %%p%c, %%u, 0;\n", at, name);
    } else if (bits != 0) {
        qn_text_printf(ptx, "ld.global.b%d %%%c%d, [%%x+%d];\n", bits, name, bits, at);
    }
}

static void name_operand(qn_text *ptx, char name, int bits)
{
    if (bits == 1) {
        qn_text_printf(ptx, ", %%p%c", name);
    } else if (bits != 0) {
        qn_text_printf(ptx, ", %%%c%d", name, bits);
    }
}

/* The condition code from the fourth operand's low bit. */
static void set_carry(qn_text *ptx, bool borrow)
{
    qn_text_puts(ptx, "and.b32 %w, %e32, 1;\n");
    qn_text_puts(ptx, borrow ? "sub.cc.u32 %u, %z, %w;\n" : "add.cc.u32 %u, %w, 0xffffffff;\n");
}

static void instruction(qn_text *ptx, const qn_lane_form *form)
{
    qn_text_printf(ptx, "%s ", form->name);
    if (form->d_bits == 1) {
        qn_text_puts(ptx, form->second ? "%p|%q" : "%p");
    } else {
        qn_text_printf(ptx, "%%d%d", form->d_bits);
    }
    name_operand(ptx, 'a', form->a_bits);
    name_operand(ptx, 'b', form->b_bits);
    name_operand(ptx, 'c', form->c_bits);
    if (form->fourth) {
        qn_text_puts(ptx, begins(form->name, "lop3") ? ", 0xb2" : ", %e32");
    }
    qn_text_puts(ptx, ";\n");
}

static void store_answers(qn_text *ptx, const qn_lane_form *form, bool borrow)
{
    const int flag = FORM_VECTORS * 8;
    if (writes_carry(form)) {
        qn_text_printf(ptx, "%s.u32 %%w, %%z, %%z;\nand.b32 %%w, %%w, 1;\n",
                       borrow ? "subc" : "addc");
        qn_text_printf(ptx, "st.global.b32 [%%y+%d], %%w;\n", flag);
    }
    if (form->d_bits == 1) {
        qn_text_puts(ptx, "selp.b32 %u, 1, 0, %p;\nst.global.b32 [%y], %u;\n");
    } else {
        qn_text_printf(ptx, "st.global.b%d [%%y], %%d%d;\n", form->d_bits, form->d_bits);
    }
    if (form->second) {
        qn_text_printf(ptx, "selp.b32 %%u, 1, 0, %%q;\nst.global.b32 [%%y+%d], %%u;\n", flag);
    }
}

void diff_form_text(qn_text *ptx, const qn_lane_form *form, size_t number, int target)
{
    const bool borrow = begins(form->name, "sub");
    if (ptx->length == 0) {
        qn_text_printf(ptx, ".version 8.3\n.target sm_%d\n.address_size 64\n", target);
    }
    qn_text_printf(ptx, ".visible .entry k%zu(.param .u64 a, .param .u64 d)\n{\n", number);
    qn_text_puts(ptx, ".reg .pred %p, %q, %pa, %pb, %pc;\n.reg .b16 %d16, %a16, %b16, %c16;\n"
                      ".reg .b32 %d32, %a32, %b32, %c32, %e32, %t, %u, %z, %w;\n"
                      ".reg .b64 %d64, %a64, %b64, %c64, %x, %y, %o;\n"
                      "mov.b32 %z, 0;\nmov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, 8;\n"
                      "ld.param.u64 %x, [a];\nadd.u64 %x, %x, %o;\n"
                      "ld.param.u64 %y, [d];\nadd.u64 %y, %y, %o;\n");
    load_operand(ptx, 'a', form->a_bits);
    load_operand(ptx, 'b', form->b_bits);
    load_operand(ptx, 'c', form->c_bits);
    if (form->fourth || reads_carry(form)) {
        load_operand(ptx, 'e', 32);
    }
    if (reads_carry(form)) {
        set_carry(ptx, borrow);
    }
    instruction(ptx, form);
    store_answers(ptx, form, borrow);
    qn_text_puts(ptx, "ret;\n}\n");
}

/* ---- approximate forms ---------------------------------------------------------------------- */

bool diff_form_bound(const qn_lane_form *form, double *ulps, double *absolute)
{
    /* The PTX ISA gives each an error against the true value; two implementations may be twice
     * that apart. */
    static const struct {
        const char *name;
        double ulps, absolute;
    } bounds[] = {
        {"ex2.approx.ftz.bf16", 1, 0},
        {"ex2.approx.f16", 2, 0},
        {"ex2.approx", 4, 0},       /* 2^-22 relative */
        {"lg2.approx", 4, 0x1p-21}, /* 2^-22 */
        {"sin.approx", 0, 0x1p-19}, /* 2^-20.5 within [-pi, pi] */
        {"cos.approx", 0, 0x1p-19},
        {"tanh.approx.f16", 2, 0},
        {"tanh.approx.bf16", 2, 0},
        {"tanh.approx", 0x1p14, 0},        /* 2^-11 relative */
        {"rcp.approx.ftz.f64", 0x1p33, 0}, /* 20 bits */
        {"rsqrt.approx.ftz.f64", 0x1p33, 0},
        {"rsqrt.approx.f64", 0x1p33, 0},
        {"rcp.approx", 2, 0},   /* 1 ulp */
        {"rsqrt.approx", 4, 0}, /* 2^-22.9 relative */
        {"sqrt.approx", 4, 0},  /* 2^-23 relative, and one rounding */
        {"div.approx", 4, 0},   /* 2 ulp */
        {"div.full", 4, 0},     /* 2 ulp */
    };
    for (size_t k = 0; k < QN_COUNT(bounds); k++) {
        if (begins(form->name, bounds[k].name)) {
            *ulps = bounds[k].ulps;
            *absolute = bounds[k].absolute;
            return true;
        }
    }
    return false;
}
