/* SPDX-License-Identifier: MIT
 *
 * Reading PTX: literals, operands, declarations, scopes, initial values, locations, and the
 * sentences for what is wrong.
 */
#include "test_ptx_read_corpus.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define HEAD ".version 9.0\n.target sm_75\n.address_size 64\n"
#define KERNEL(text)                                                                               \
    HEAD ".visible .entry k(.param .u64 a, .param .align 8 .b8 s[24])\n"                           \
         "{ .reg .pred %p<20>; .reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n" text "\n}"

/* ---- operands, printed back ----------------------------------------------------------------- */

static void print(qn_text *out, const qn_ptx_function *function, const qn_ptx_operand *o);

static void print_elements(qn_text *out, const qn_ptx_function *function, const qn_ptx_operand *o,
                           const char *open, const char *between, const char *close)
{
    qn_text_puts(out, open);
    for (uint32_t i = 0; i < o->element_count; i++) {
        qn_text_puts(out, i ? between : "");
        print(out, function, &o->elements[i]);
    }
    qn_text_puts(out, close);
}

static void print(qn_text *out, const qn_ptx_function *function, const qn_ptx_operand *o)
{
    qn_text_puts(out, o->negated ? "!" : "");
    switch (o->kind) {
    case QN_OPERAND_REGISTER:
        qn_text_puts(out, function->registers[o->reg].name);
        break;
    case QN_OPERAND_IMMEDIATE:
        if (o->is_float) {
            qn_text_printf(out, "f%u:%llx", o->float_bits, (unsigned long long)o->bits);
        } else {
            qn_text_printf(out, "#%lld", (long long)o->bits);
        }
        break;
    case QN_OPERAND_SPECIAL:
        qn_text_puts(out, o->name);
        break;
    case QN_OPERAND_SYMBOL:
        qn_text_printf(out, "%s+%lld", o->symbol->name, (long long)o->offset);
        break;
    case QN_OPERAND_ADDRESS:
        qn_text_printf(out, "[%s+%lld",
                       o->reg >= 0 ? function->registers[o->reg].name
                       : o->symbol ? o->symbol->name
                                   : "",
                       (long long)o->offset);
        print_elements(out, function, o, o->element_count ? ";" : "", ",", "]");
        break;
    case QN_OPERAND_VECTOR:
        print_elements(out, function, o, "{", ",", "}");
        break;
    case QN_OPERAND_PAIR:
        print_elements(out, function, o, "", "|", "");
        break;
    case QN_OPERAND_LABEL:
        qn_text_printf(out, "->%u", o->target);
        break;
    case QN_OPERAND_SINK:
        qn_text_puts(out, "_");
        break;
    case QN_OPERAND_LIST:
        print_elements(out, function, o, o->name ? o->name : "(", ",", o->name ? "" : ")");
        break;
    }
}

typedef struct operand_case {
    const char *text;     /* of one instruction */
    const char *expected; /* definitions, then operands */
} operand_case;

static const operand_case operands[] = {
    {"mov.b32 %r1, 12;", "1 %r1 #12"},
    {"mov.b32 %r1, -12;", "1 %r1 #-12"},
    {"mov.b32 %r1, 0xfFU;", "1 %r1 #255"},
    {"mov.b32 %r1, 017;", "1 %r1 #15"},
    {"mov.b32 %r1, 0b101;", "1 %r1 #5"},
    {"mov.b64 %rd1, 0xffffffffffffffff;", "1 %rd1 #-1"},
    {"mov.b32 %r1, WARP_SZ;", "1 %r1 #32"},
    {"mov.b32 %r1, (1 << 5) | 3 + 4 * 2;", "1 %r1 #43"},
    {"mov.b32 %r1, 7 / 2 == 3 ? ~0 : 5;", "1 %r1 #-1"},
    {"mov.f32 %f1, 0f3F800000;", "1 %f1 f32:3f800000"},
    {"mov.f32 %f1, -0f3F800000;", "1 %f1 f32:bf800000"},
    {"mov.f64 %rd1, 0d3FF0000000000000;", "1 %rd1 f64:3ff0000000000000"},
    {"mov.f64 %rd1, 1.5;", "1 %rd1 f64:3ff8000000000000"},
    {"mov.f64 %rd1, 2e0;", "1 %rd1 f64:4000000000000000"},
    {"mov.u32 %r1, %tid.x;", "1 %r1 %tid.x"},
    {"mov.u64 %rd1, %envreg1;", "1 %rd1 %envreg1"},
    {"mov.u64 %rd1, a;", "1 %rd1 a+0"},
    {"mov.u64 %rd1, s+8;", "1 %rd1 s+8"},
    {"ld.global.u32 %r1, [%rd1+-8];", "1 %r1 [%rd1+-8]"},
    {"ld.global.u32 %r1, [%rd1-8];", "1 %r1 [%rd1+-8]"},
    {"ld.param.u32 %r1, [s+4];", "1 %r1 [s+4]"},
    {"ld.shared.u32 %r1, [16];", "1 %r1 [+16]"},
    {"ld.global.v2.u32 {%r1, _}, [%rd1];", "1 {%r1,_} [%rd1+0]"},
    {"st.global.v2.u32 [%rd1], {%r1, 2};", "0 [%rd1+0] {%r1,#2}"},
    {"setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;", "1 %p1|%p2 %r1 %r2 !%p3"},
    {"shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1;", "1 %r1|%p1 %r2 #1 #31 #-1"},
    {"tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [a, {%f1, %f2}];",
     "1 {%f1,%f2,%f3,%f4} [a+0;{%f1,%f2}]"},
    {"frobnicate.x::y.z [%rd1], {%r1}, 3;", "1 [%rd1+0] {%r1} #3"},
    {"add .s32 %r1, %r1, 1;", "1 %r1 %r1 #1"},
    {"red.global.add.u32 [%rd1], %r1;", "0 [%rd1+0] %r1"},
    {"atom.global.add.u32 %r1, [%rd1], 1;", "1 %r1 [%rd1+0] #1"},
    {"bar.sync 0;", "0 #0"},
    {"bar.red.popc.u32 %r1, 0, %p1;", "1 %r1 #0 %p1"},
    {"barrier.cta.red.and.pred %p1, 0, !%p2;", "1 %p1 #0 !%p2"},
    {"wmma.store.d.sync.x [%rd1], {%f1}, %r1;", "0 [%rd1+0] {%f1} %r1"},
    {"cp.async.cg.shared.global [%r1], [%rd1], 16;", "0 [%r1+0] [%rd1+0] #16"},
    {"prefetchu.L1 [%rd1];", "0 [%rd1+0]"},
    {"nanosleep.u32 10;", "0 #10"},
    {"call.uni f, (%r1, 2);", "0 f+0 (%r1,#2)"},
    {"call (%r1), f, (%r2);", "1 (%r1) f+0 (%r2)"},
    {"call f;", "0 f+0"},
    {"call (%r1), %rd1, (%r2), proto;", "1 (%r1) %rd1 (%r2) proto"},
};

Test(ptx_read, operands)
{
    for (size_t i = 0; i < QN_COUNT(operands); i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 HEAD ".extern .func f(.param .b32 x);\n%s"
                      "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n%s}",
                 &KERNEL("")[sizeof HEAD - 1], operands[i].text);
        char *brace = strchr(strstr(text, ".entry"), '}');
        *brace = ' '; /* the body goes on */
        qn_ptx_module *module = corpus_read(text);
        const qn_ptx_function *k = qn_ptx_kernel(module, "k");
        const qn_ptx_instruction *instruction = &k->instructions[0];
        qn_text got = {0};
        qn_text_printf(&got, "%u", instruction->definitions);
        for (uint32_t n = 0; n < instruction->operand_count; n++) {
            qn_text_puts(&got, " ");
            print(&got, k, &instruction->operands[n]);
        }
        cr_expect_str_eq(got.data, operands[i].expected, "%s", operands[i].text);
        qn_text_free(&got);
        qn_ptx_free(module);
    }
}

/* ---- declarations --------------------------------------------------------------------------- */

Test(ptx_read, kernel_and_its_memory)
{
    qn_ptx_module *module = corpus_read(
        HEAD ".shared .align 16 .b8 outer[20];\n.extern .shared .align 16 .b8 dynamic[];\n"
             ".visible .entry k(.param .u8 a, .param .u64 .ptr .global .align 4 b,\n"
             "  .param .align 16 .b8 c[24], .param .u32 d)\n"
             ".maxntid 32, 4, 2\n.minnctapersm 2\n{\n"
             ".local .align 8 .b8 depot[12]; .local .u64 more;\n"
             ".shared .align 4 .f32 tile[4][8];\n"
             "{ .param .b32 first; .param .align 8 .b8 second[16]; }\n ret; }");
    const qn_ptx_function *k = qn_ptx_kernel(module, "k");
    cr_assert(k);
    cr_expect(module->version == 90 && module->target == 75);
    cr_expect_eq(k->param_count, 4);
    static const uint64_t offsets[] = {0, 8, 16, 40};
    for (uint32_t i = 0; i < 4; i++) {
        cr_expect_eq(k->params[i]->offset, offsets[i]);
        cr_expect_eq(k->params[i]->space, QN_SPACE_PARAM);
    }
    cr_expect_eq(k->params[2]->size, 24);
    cr_expect_eq(k->param_bytes, 44);
    cr_expect_eq(k->frame_param_bytes, 64);
    cr_expect_eq(k->max_threads, 256);
    cr_expect_eq(k->local_bytes, 24);
    cr_expect_eq(k->shared_bytes, 128);
    cr_expect_eq(module->module_shared_bytes, 20);
    qn_ptx_free(module);
}

Test(ptx_read, names_of_inner_scopes)
{
    qn_ptx_module *module =
        corpus_read(KERNEL("mov.b32 %r1, 1; { .reg .b64 %r<4>; .reg .u16 x; mov.u64 %r1, 2;"
                           " mov.u16 x, 3; } { .reg .b64 x; mov.u64 x, 3; } mov.b32 %r1, 4;"));
    const qn_ptx_function *k = qn_ptx_kernel(module, "k");
    static const uint8_t bits[] = {32, 64, 16, 64, 32};
    for (uint32_t i = 0; i < QN_COUNT(bits); i++) {
        int32_t reg = k->instructions[i].operands[0].reg;
        cr_expect_eq(k->registers[reg].type.bits, bits[i], "instruction %u", i);
    }
    cr_expect_eq(k->instructions[0].operands[0].reg, k->instructions[4].operands[0].reg);
    qn_ptx_free(module);
}

Test(ptx_read, functions_declared_defined_and_aliased)
{
    qn_ptx_module *module = corpus_read(
        HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n"
             ".func (.param .b32 r) f(.param .b32 x);\n.func (.param .b32 r) g(.param .b32 x);\n"
             ".global .align 8 .u64 table[2] = {f, vprintf};\n"
             ".visible .entry k() { .reg .b64 %d<3>; mov.u64 %d1, table; call g; ret; }\n"
             ".func (.param .align 8 .b8 r[12]) f(.param .b32 x, .param .b64 y) { ret; }\n"
             ".alias g, f;\n");
    const qn_ptx_function *k = qn_ptx_kernel(module, "k");
    const qn_ptx_function *f = k->instructions[1].operands[0].symbol->function;
    cr_expect_str_eq(f->name, "f");
    cr_expect(f->has_body && !f->is_kernel);
    cr_expect_eq(f->param_bytes, 16);
    cr_expect_eq(f->returns[0]->offset, 16);
    cr_expect_eq(f->frame_param_bytes, 28);
    uint64_t table[2];
    memcpy(table, module->globals + k->instructions[0].operands[1].symbol->offset, sizeof table);
    cr_expect_eq(table[0], (uint64_t)(uintptr_t)f);
    const qn_ptx_function *vprintf_function = (const qn_ptx_function *)(uintptr_t)table[1];
    cr_expect_str_eq(vprintf_function->name, "vprintf");
    cr_expect(!vprintf_function->has_body);
    qn_ptx_free(module);
}

Test(ptx_read, initial_values)
{
    qn_ptx_module *module = corpus_read(
        HEAD ".visible .global .align 4 .b8 text[] = {104, 105, 0};\n"
             ".visible .const .f32 reals[3] = {0f3F800000, -0f40000000, 1.5};\n"
             ".visible .global .s32 grid[2][3] = {{1, 2, 3}, {-4, (1 << 4), 0x10}};\n"
             ".global .u32 unused[1000000];\n.global .u32 target[4] = {7, 8, 9};\n"
             ".visible .global .align 8 .u64 where[3] = {target, generic(target)+8, target+4};\n"
             ".visible .global .align 8 .b8 packed[8] = {1, 0xff(target), 0xff00(target), 3};\n"
             ".visible .global .f64 one = 0d3FF0000000000000;\n.visible .global .u32 zero[2];\n");
    void *data;
    uint64_t bytes;
    cr_assert(qn_ptx_global(module, "text", &data, &bytes));
    cr_expect(bytes == 3 && memcmp(data, "hi", 3) == 0);
    cr_assert(qn_ptx_global(module, "reals", &data, &bytes));
    cr_expect(memcmp(data, (float[]){1.0f, -2.0f, 1.5f}, 12) == 0);
    cr_assert(qn_ptx_global(module, "grid", &data, &bytes));
    cr_expect(memcmp(data, (int32_t[]){1, 2, 3, -4, 16, 16}, 24) == 0);
    cr_assert(qn_ptx_global(module, "one", &data, &bytes));
    cr_expect(memcmp(data, &(double){1.0}, 8) == 0);
    cr_assert(qn_ptx_global(module, "zero", &data, &bytes));
    cr_expect(memcmp(data, (uint32_t[2]){0, 0}, 8) == 0);
    cr_expect_not(qn_ptx_global(module, "unused", &data, &bytes));
    cr_expect_lt(module->global_bytes, 256);
    void *target, *packed;
    cr_assert(qn_ptx_global(module, "target", &target, &bytes)); /* used by `where` */
    cr_assert(qn_ptx_global(module, "where", &data, &bytes));
    uint64_t at = (uint64_t)(uintptr_t)target;
    cr_expect(memcmp(data, (uint64_t[]){at, at + 8, at + 4}, 24) == 0);
    cr_assert(qn_ptx_global(module, "packed", &packed, &bytes));
    uint8_t expected[8] = {1, (uint8_t)at, (uint8_t)(at >> 8), 3};
    cr_expect(memcmp(packed, expected, 8) == 0);
    qn_ptx_free(module);
}

Test(ptx_read, unknown_directives_are_passed_over)
{
    qn_ptx_module *module = corpus_read(
        HEAD ".surprise 1, 2\n.other {\n 1 }\n.third \"x\";\n"
             ".visible .entry k() .maxnreg 32 .novelty 4\n{\n.reg .b32 %r<3>;\n"
             ".pragma \"nounroll\";\n.strange 4\nmov.b32 %r1, 1;\n.odd { 5 } mov.b32 %r2, 1;"
             "\n.odd 5; ret;\n}\n");
    const qn_ptx_function *k = qn_ptx_kernel(module, "k");
    cr_assert_eq(k->instruction_count, 3);
    cr_expect_str_eq(k->instructions[0].opcode, "mov.b32");
    qn_ptx_free(module);
}

/* ---- locations ------------------------------------------------------------------------------ */

Test(ptx_read, locations_with_their_callers)
{
    qn_ptx_module *module =
        corpus_read(KERNEL(".loc 1 9 2\n mov.b32 %r1, 1;\n .loc 1 0 2\n mov.b32 %r2, %r1;\n"
                           ".loc 1 6 3, function_name $F0, inlined_at 1 12 5\n mov.b32 %r3, %r2;\n"
                           ".loc 2 1 37, function_name $F1+0, inlined_at 1 6 3\n mov.b32 %r4, "
                           "%r3;\n ret;") "\n.file 1 \"operation\"\n.file 2 \"dir/x.cuh\", 123, "
                                          "45\n.section .debug_str {\n$F0: .b8 "
                                          "97, 98, 0\n$F1:\n.b8 99\n.b8 100, 0\n}\n.section "
                                          ".debug_abbrev { .b8 1 }\n");
    static const char *const places[] = {"operation:9:2", "operation:9:2",
                                         "operation:6:3, inlined at operation:12:5",
                                         "x.cuh:1:37, inlined at operation:6:3, inlined at "
                                         "operation:12:5",
                                         "x.cuh:1:37, inlined at operation:6:3, inlined at "
                                         "operation:12:5"};
    const qn_ptx_function *k = qn_ptx_kernel(module, "k");
    cr_assert_eq(k->instruction_count, 5);
    for (uint32_t i = 0; i < k->instruction_count; i++) {
        qn_text got = {0};
        qn_ptx_print_location(&got, module, k->instructions[i].location);
        cr_expect_str_eq(got.data, places[i]);
        qn_text_free(&got);
    }
    cr_expect_str_eq(module->locations[k->instructions[2].location].function, "ab");
    cr_expect_str_eq(module->locations[k->instructions[3].location].function, "cd");
    cr_expect_eq(k->instructions[0].line, 7);
    qn_ptx_free(module);
}

/* ---- what is wrong -------------------------------------------------------------------------- */

typedef struct error_case {
    const char *text, *message; /* message: a part of it */
} error_case;

static const error_case errors[] = {
    {"", "this is not PTX"},
    {"\x7f"
     "ELF",
     "byte 0x7f cannot occur in PTX; is this a text?"},
    {".version 9.0\n\x01", "PTX line 2: byte 0x01 cannot occur in PTX"},
    {".version nine", "expected a version such as 9.0"},
    {HEAD ".address_size 32\n", "only 64-bit addresses"},
    {HEAD ".visible .entry k(", "the text ends here; is it cut off?"},
    {HEAD ".visible .entry k() {", "the text ends here; is it cut off?"},
    {KERNEL("mov.b32 %r1, 1"), "expected ',' or ';', not '}'"},
    {KERNEL("mov.b32 %r1 1;"), "expected ',' or ';', not '1'"},
    {KERNEL("mov.b32 %r1, nothing;"), "PTX line 6: nothing is called 'nothing' here"},
    {KERNEL("bra nowhere;"), "nothing is called 'nowhere' here"},
    {KERNEL("L: mov.b32 %r1, L;"), "nothing is called 'L' here"},
    {KERNEL("bra %r1;"), "bra needs a label"},
    {KERNEL("L: brx.idx %r1, L;"), "nothing is called 'L' here"},
    {KERNEL("brx.idx %r1;"), "brx.idx needs an index and a list of labels"},
    {KERNEL("P: .callprototype _ (); brx.idx %r1, P;"), "nothing is called 'P' here"},
    {KERNEL("P: .branchtargets P; bra P;"), "nothing is called 'P' here"},
    {KERNEL("@%r1 ret;"), "'%r1' guards an instruction but is not a .pred register"},
    {KERNEL("@ret;"), "expected a predicate"},
    {KERNEL("L: L: ret;"), "'L' is declared twice"},
    {KERNEL(".reg .b32 x; .reg .b64 x;"), "'x' is declared twice"},
    {KERNEL(".reg x;"), "registers must have a scalar type"},
    {KERNEL("ret;") HEAD ".visible .entry k() { ret; }", "'k' is defined twice"},
    {KERNEL("mov.b32 %r1, 09;"), "'9' cannot occur in a number"},
    {KERNEL("mov.b64 %rd1, 99999999999999999999;"), "does not fit into 64 bits"},
    {KERNEL("mov.b32 %r1, 1 / 0;"), "division by zero in a constant"},
    {KERNEL("ld.u32 %r1, [%tid.x];"), "'%tid.x' is neither a register nor a variable"},
    {HEAD ".global .u32 x[99999999999];", "variables of more than 1024 MiB"},
    {HEAD ".visible .global .u32 x[2] = {1, 2, 3};", "'x' has more initial values than room"},
    {HEAD ".visible .global .u64 x = y;", "expected a constant, a variable or a function, not 'y'"},
    {HEAD ".global .align 3 .u32 x;", "an alignment must be a power of two"},
    {HEAD ".global .u32 unread[9]; .visible .global .u64 x = \"unread\";", "expected a value, not"},
    {KERNEL(".extern .param .b8 a[100000] = {1};"), "'a' is declared twice"},
    {KERNEL(".shared .b8 x[]; .extern .shared .b8 x[9] = {1};"), "'x' is declared twice"},
    {HEAD ".func f(.reg .b32 x);", "parameters in registers are not supported"},
    {HEAD ".file 1 \"open\n", "this string has no end"},
};

Test(ptx_read, errors_say_where_and_what)
{
    for (size_t i = 0; i < QN_COUNT(errors); i++) {
        qn_ptx_module *module = (qn_ptx_module *)1;
        quern_status status = qn_ptx_read(&module, errors[i].text, strlen(errors[i].text));
        cr_expect_eq(status, QUERN_ERROR_IMAGE, "%s", errors[i].text);
        cr_expect_null(module);
        const char *message = quern_last_error()->message;
        cr_expect(strstr(message, errors[i].message), "%s: %s", errors[i].text, message);
    }
}

Test(ptx_read, deep_nesting_is_refused)
{
    static const char *const repeated[] = {"{",
                                           "mov.b32 {",
                                           "mov.b32 %r1, (",
                                           "mov.b32 %r1, -",
                                           "mov.b32 %r1, !",
                                           "mov.b32 %r1, 1 ? "};
    for (size_t i = 0; i < QN_COUNT(repeated); i++) {
        qn_text text = {0};
        qn_text_puts(&text, HEAD ".visible .entry k() { .reg .b32 %r<2>; ");
        size_t head = strcspn(repeated[i], ",");
        bool has_head = repeated[i][head] == ',';
        qn_text_add(&text, repeated[i], has_head ? head + 1 : i == 1 ? 8 : 0);
        const char *more = has_head ? repeated[i] + head + 1 : repeated[i] + (i == 1 ? 8 : 0);
        for (int n = 0; n < 100000; n++) {
            qn_text_puts(&text, more);
        }
        qn_ptx_module *module;
        cr_assert_not(text.failed);
        cr_expect_eq(qn_ptx_read(&module, text.data, text.length), QUERN_ERROR_IMAGE);
        qn_text_free(&text);
    }
}

Test(ptx_read, a_graph_larger_than_its_text_is_refused)
{
    qn_text text = {0};
    qn_text_puts(&text, HEAD ".visible .entry k() { .reg .b32 %r<2>; ts: .branchtargets L0");
    for (int i = 1; i < 2000; i++) {
        qn_text_printf(&text, ", L%d", i);
    }
    qn_text_puts(&text, ";");
    for (int i = 0; i < 2000; i++) {
        qn_text_printf(&text, " L%d: brx.idx %%r1, ts;", i);
    }
    qn_text_puts(&text, " }");
    qn_ptx_module *module;
    cr_expect_eq(qn_ptx_read(&module, text.data, text.length), QUERN_ERROR_IMAGE);
    cr_expect(strstr(quern_last_error()->message, "too many indexed branches"));
    qn_text_free(&text);
}

Test(ptx_read, cut_off_anywhere_and_out_of_memory_anywhere)
{
    static const char text[] =
        KERNEL("L: mov.b32 %r1, 1; @%p1 bra L; .loc 1 2 3\n st.global.v2.u32 [%rd1], "
               "{%r1, 2};") ".global .u32 x[2] = {1, 2};\n.file 1 \"f\"\n";
    size_t length = sizeof text - 1;
    for (size_t i = 0; i < length; i++) {
        char *cut = qn_strndup(text, i); /* its own block, so that a read past the end shows */
        qn_ptx_module *module;
        if (qn_ptx_read(&module, cut, i) == QUERN_OK) {
            qn_ptx_free(module);
        }
        qn_free(cut);
    }
    quern_status status = QUERN_ERROR_OUT_OF_MEMORY;
    uint64_t n = 1;
    for (; status == QUERN_ERROR_OUT_OF_MEMORY && n < 1000; n++) {
        qn_ptx_module *module;
        qn_memory_fail_after(n, false);
        status = qn_ptx_read(&module, text, length);
        qn_memory_fail_after(0, false);
        cr_expect((!module) == (status != QUERN_OK));
        qn_ptx_free(module);
    }
    cr_expect_eq(status, QUERN_OK);
    cr_expect_gt(n, 10);
}

/* In a time and a memory that grow with the text, not with its square. */
Test(ptx_read, long_rows_of_words, .timeout = 20)
{
    static const struct {
        const char *head, *word, *tail;
    } rows[] = {
        {KERNEL("mov"), " .x", " %r1, 1; ret; }"},
        {HEAD ".visible .entry k(.param .u64", " .ptr", " x) { ret; }"},
    };
    for (size_t i = 0; i < QN_COUNT(rows); i++) {
        qn_text text = {0};
        qn_text_add(&text, rows[i].head, strlen(rows[i].head) - (i == 0 ? 2 : 0));
        for (int n = 0; n < 300000; n++) {
            qn_text_puts(&text, rows[i].word);
        }
        qn_text_puts(&text, rows[i].tail);
        qn_ptx_module *module = corpus_read(text.data);
        cr_expect_not_null(qn_ptx_kernel(module, "k"));
        qn_ptx_free(module);
        qn_text_free(&text);
    }
}

static void ignore(const char *path, const qn_ptx_module *module, void *context)
{
    (void)path, (void)module, (void)context;
}

Test(ptx_read, corpus_is_read)
{
    cr_expect_gt(corpus_visit(ignore, NULL), 20);
}
