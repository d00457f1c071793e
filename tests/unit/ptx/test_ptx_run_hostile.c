/* SPDX-License-Identifier: MIT
 *
 * Kernels that no compiler writes, or that go wrong as far as can be: each ends with a report or
 * does what PTX says, and none touches memory that is not its own or takes memory without end.
 */
#include "run_support.h"

#include <criterion/redirect.h>

/* A kernel `k` with an array, a pair of registers of each width, and this body. */
#define MODULE(globals, body)                                                                      \
    ".version 8.0\n.target sm_90\n.address_size 64\n" globals                                      \
    "\n.visible .entry k(.param .u64 array)\n{\n.reg .pred %p<4>; .reg .b16 %rs<4>;\n"             \
    ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<4>; .reg .b128 %rq<3>;\n"                     \
    "ld.param.u64 %rd1, [array];\nmov.u32 %r1, %tid.x;\n" body "\nret;\n}\n"
#define KERNEL(body) MODULE("", body)

/* For one_lane_that_leaves_its_memory: where 16 bytes of a space are, and a read there. */
#define OWN_BEGIN(space, address)                                                                  \
    "." space " .align 16 .b8 own[16];\nmul.wide.u32 %rd2, %r1, 8;\nadd.s64 %rd2, %rd1, %rd2;\n"   \
    "ld.global.s64 %rd4, [%rd2];\nsetp.ne.s64 %p1, %rd4, -1;\n" address "\n"
#define OWN_READ(space)                                                                            \
    "add.s64 %rd3, %rd3, %rd4;\n@%p1 ld" space ".u32 %r2, [%rd3];\n"                               \
    "@%p1 st.global.u32 [%rd2], %r2;"

/* Run by one warp on an array of 256 bytes. */
static void run_bad(const char *text, quern_status status, const char *says)
{
    bench b = bench_of(text);
    void *array = bench_buffer(&b, 256);
    bench_bad(&b, "k", PARAMETERS(&array), status, says);
    qn_free(array);
    bench_close(&b);
}

/* ---- addresses ------------------------------------------------------------------------------ */

/* The first lanes lie before the memory and the last within it: 2^64 is between them. */
Test(ptx_run_hostile, addresses_that_wrap)
{
    run_bad(KERNEL(".shared .align 4 .b8 s[128];\nmul.wide.u32 %rd2, %r1, 4;\nmov.u64 %rd3, s;\n"
                   "add.s64 %rd3, %rd3, %rd2;\nld.shared.u32 %r2, [%rd3+-64];\n"
                   "st.global.u32 [%rd1], %r2;"),
            QUERN_ERROR_ACCESS,
            "thread (0,0,0): read of 4 bytes at 0xffffffffffffffc0 of shared memory");
    run_bad(KERNEL(".shared .align 4 .b8 s[128];\nmul.wide.u32 %rd2, %r1, 4;\nmov.u64 %rd3, s;\n"
                   "add.s64 %rd3, %rd3, %rd2;\nst.shared.u32 [%rd3+-64], %r1;"),
            QUERN_ERROR_ACCESS, "write of 4 bytes at 0xffffffffffffffc0 of shared memory");
    /* 31 of these steps make 8 bytes */
    run_bad(KERNEL("cvt.u64.u32 %rd2, %r1;\nmul.lo.u64 %rd2, %rd2, 0x7bdef7bdef7bdef8;\n"
                   "add.s64 %rd3, %rd1, %rd2;\nst.global.u64 [%rd3], %rd2;"),
            QUERN_ERROR_ACCESS, "thread (1,0,0): write of 8 bytes");
}

/* Each lane reads 4 bytes at its own offset in 16 bytes of a space; one whose offset is -1 reads
 * nothing. Lanes are looked up together, and any of them that leaves its memory must be found. */
static const struct {
    const char *space;
    const char *text;
    int bytes;
} spaces[] = {
    {"local", KERNEL(OWN_BEGIN("local", "mov.u64 %rd3, own;") OWN_READ(".local")), 16},
    {"local, generic", KERNEL(OWN_BEGIN("local", "cvta.local.u64 %rd3, own;") OWN_READ("")), 16},
    {"shared", KERNEL(OWN_BEGIN("shared", "mov.u64 %rd3, own;") OWN_READ(".shared")), 16},
    {"shared, generic", KERNEL(OWN_BEGIN("shared", "cvta.shared.u64 %rd3, own;") OWN_READ("")), 16},
    {"parameters, generic",
     KERNEL(OWN_BEGIN("local", "mov.b64 %rd3, array;\ncvta.param.u64 %rd3, %rd3;") OWN_READ("")),
     8},
};

static void read_at(const char *text, const int64_t offsets[32], int bad_lane)
{
    bench b = bench_of(text);
    int64_t *array = bench_buffer(&b, 256);
    memcpy(array, offsets, 256);
    if (bad_lane < 0) {
        bench_good(&b, "k", PARAMETERS(&array));
    } else {
        char says[32];
        snprintf(says, sizeof says, "thread (%d,0,0): read of 4", bad_lane);
        bench_bad(&b, "k", PARAMETERS(&array), QUERN_ERROR_ACCESS, says);
    }
    qn_free(array);
    bench_close(&b);
}

Test(ptx_run_hostile, one_lane_that_leaves_its_memory)
{
    uint32_t seed = 1;
    for (size_t k = 0; k < QN_COUNT(spaces); k++) {
        const int places = spaces[k].bytes / 4;
        for (int round = 0; round < 24; round++) {
            int64_t offsets[32];
            for (int lane = 0; lane < 32; lane++) {
                seed = seed * 1664525 + 1013904223;
                offsets[lane] = round % 3 == 0    ? 4 * (round % places)
                                : seed >> 30 == 0 ? -1
                                                  : 4 * (int64_t)((seed >> 16) % (unsigned)places);
            }
            read_at(spaces[k].text, offsets, -1);
            const int lane = (int)(seed >> 9) % 32;
            offsets[lane] = round & 1 ? spaces[k].bytes : -4;
            read_at(spaces[k].text, offsets, lane);
        }
    }
}

Test(ptx_run_hostile, a_bulk_copy_of_no_bytes_touches_nothing)
{
    bench b = bench_of(KERNEL(".shared .align 16 .b8 s[32];\nmov.b32 %r2, 0;\nmov.u32 %r3, s;\n"
                              "mov.b64 %rd2, 0;\nadd.s64 %rd3, %rd1, 256;\n"
                              "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r3], %r2;\n"
                              "cp.async.bulk.global.shared::cta.bulk_group [%rd3], [%r3], %r2;"));
    void *array = bench_buffer(&b, 256);
    bench_good(&b, "k", PARAMETERS(&array));
    b.launch.aids = (qn_ptx_aids){.check_init = true, .check_races = true};
    bench_good(&b, "k", PARAMETERS(&array));
    qn_free(array);
    bench_close(&b);
}

/* Whatever alloca took, a called function's own memory is aligned. */
Test(ptx_run_hostile, a_call_behind_an_odd_alloca)
{
    bench b = bench_of(
        MODULE(".func f(.param .u64 p)\n{\n.local .align 16 .b8 own[16];\n.reg .b32 %r<5>;\n"
               ".reg .b64 %rd<3>;\nld.param.u64 %rd1, [p];\nmov.u64 %rd2, own;\nmov.b32 %r1, 7;\n"
               "st.local.v4.b32 [%rd2], {%r1, %r1, %r1, %r1};\nld.local.b32 %r2, [%rd2+12];\n"
               "st.global.b32 [%rd1], %r2;\nret;\n}\n",
               "alloca.u64 %rd2, 20;\n{ .param .b64 p0; st.param.b64 [p0], %rd1; "
               "call f, (p0); }"));
    int *array = bench_buffer(&b, 256);
    bench_good(&b, "k", PARAMETERS(&array));
    cr_expect_eq(array[0], 7);
    qn_free(array);
    bench_close(&b);
}

/* The frame of `g` was that of `f`; nothing is known of a value that `g` never loads. */
Test(ptx_run_hostile, a_copy_of_what_was_not_loaded)
{
    bench b = bench_of(
        MODULE(".func f(.param .u64 p)\n{\n.reg .b64 %rd<10>;\nld.param.u64 %rd0, [p];\n"
               "not.b64 %rd1, 0;\nor.b64 %rd2, %rd1, %rd0;\nor.b64 %rd3, %rd1, %rd2;\n"
               "or.b64 %rd4, %rd2, %rd3;\nor.b64 %rd5, %rd3, %rd4;\nor.b64 %rd6, %rd4, %rd5;\n"
               "and.b64 %rd7, %rd1, %rd2;\nand.b64 %rd7, %rd7, %rd3;\n"
               "and.b64 %rd7, %rd7, %rd4;\nand.b64 %rd7, %rd7, %rd5;\n"
               "and.b64 %rd7, %rd7, %rd6;\nst.global.u64 [%rd0], %rd7;\nret;\n}\n"
               ".func g(.param .u64 p)\n{\n.local .align 4 .b8 own[4];\n.reg .pred %p;\n"
               ".reg .b32 %r; .reg .b64 %rd;\nld.param.u64 %rd, [p];\nsetp.eq.u64 %p, %rd, 0;\n"
               "@%p ld.local.u32 %r, [own];\nst.global.u32 [%rd], %r;\nret;\n}\n",
               "{ .param .b64 q; st.param.b64 [q], %rd1; call f, (q); }\n"
               "{ .param .b64 q; st.param.b64 [q], %rd1; call g, (q); }"));
    void *array = bench_buffer(&b, 256);
    b.launch.aids.check_init = true;
    bench_good(&b, "k", PARAMETERS(&array));
    qn_free(array);
    bench_close(&b);
}

/* ---- names ---------------------------------------------------------------------------------- */

/* Two lists of one name, as code with inline assembly has them: each in its own braces. */
Test(ptx_run_hostile, lists_of_labels_have_scopes)
{
    bench b = bench_of(KERNEL("mov.b32 %r2, 1;\n"
                              "{ ts: .branchtargets A, B;\nbrx.idx %r2, ts;\n"
                              "A: mov.b32 %r3, 10;\nbra C;\nB: mov.b32 %r3, 20;\nC: }\n"
                              "{ ts: .branchtargets A, B;\nbrx.idx %r2, ts;\n"
                              "A: mov.b32 %r4, 30;\nbra C;\nB: mov.b32 %r4, 40;\nC: }\n"
                              "add.s32 %r5, %r3, %r4;\nst.global.u32 [%rd1], %r5;"));
    int *array = bench_buffer(&b, 256);
    b.launch.limit = 5;
    bench_good(&b, "k", PARAMETERS(&array));
    cr_expect_eq(array[0], 60);
    qn_free(array);
    bench_close(&b);
}

/* ---- registers ------------------------------------------------------------------------------ */

/* Registers of another width than the instruction works on. */
Test(ptx_run_hostile, registers_of_wrong_widths)
{
    static const char *const bodies[] = {
        KERNEL("shfl.sync.down.b32 %rs1, %r1, 1, 31, -1;"),
        KERNEL("shfl.sync.down.b32 %r2, %rd1, 1, 31, -1;"),
        KERNEL("vote.sync.any.pred %r2, %p1, -1;"),
        KERNEL("vote.sync.ballot.b32 %p1, %p2, -1;"),
        KERNEL("atom.global.add.u32 %rs1, [%rd1], 1;"),
        KERNEL("atom.global.add.u64 %rd2, [%rd1], %r1;"),
        KERNEL("atom.global.cas.b32 %r2, [%rd1], %r1, %p1;"),
        KERNEL("bar.red.popc.u32 %p1, 0, %p2;"),
        KERNEL("bar.sync %p1;"),
        KERNEL("mov.b64 {%r2, %rs1}, %rd1;"),
        KERNEL("mov.b64 %rd2, {%r1, %rd1};"),
        KERNEL("mov.b32 %r2, %p1;"),
        KERNEL("mov.b128 %rq1, {%r1, %r1};"),
        KERNEL("add.s64 %rd2, %rd1, %p1;"),
        KERNEL("add.s32 %r2, %r1, %rq1;"),
        KERNEL("and.pred %p1, %p2, %r1;"),
        KERNEL("add.s32 %p1, %r1, %r1;"),
        KERNEL("ld.global.v2.u32 {%r2, %rd2}, [%rd1];"),
        KERNEL("st.global.v2.u32 [%rd1], {%r1, %p1};"),
        KERNEL("ld.global.u32 %rs1, [%rd1];"),
        KERNEL("ld.param.u32 %p1, [array];"),
        KERNEL("alloca.u64 %rd2, %r1;"),
        KERNEL("cvta.shared.u64 %rd2, %r1;"),
        KERNEL("isspacep.shared %r2, %rd1;"),
        KERNEL("activemask.b32 %p1;"),
        KERNEL("cp.async.ca.shared.global [%r1], [%rd1], 4, %rd2;"),
        KERNEL("cp.async.ca.shared.global [%r1], [%rd1], 4, %rs1;"),
        KERNEL("setp.eq.s32 %r2, %r1, 0;"),
        KERNEL("selp.b32 %r2, %r1, %r1, %r1;"),
        KERNEL("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f1}, "
               "{%rd1, %rd2}, {%r1}, {%f1, %f2, %f3, %f1};"),
    };
    for (size_t k = 0; k < QN_COUNT(bodies); k++) {
        run_bad(bodies[k], QUERN_ERROR_NOT_SUPPORTED, "registers of the wrong width");
    }
}

/* The policy of a hint is not a number of bytes. */
Test(ptx_run_hostile, a_hint_is_no_size)
{
    bench b = bench_of(KERNEL(".shared .align 16 .b8 s[16];\nmov.u32 %r2, s;\nmov.b64 %rd2, 0;\n"
                              "cp.async.ca.shared.global.L2::cache_hint [%r2], [%rd1], 4, %rd2;\n"
                              "ld.shared.u32 %r3, [%r2];\nst.global.u32 [%rd1+4], %r3;\n"));
    int *array = bench_buffer(&b, 256);
    array[0] = 9;
    bench_good(&b, "k", PARAMETERS(&array));
    cr_expect_eq(array[1], 9);
    qn_free(array);
    bench_close(&b);
}

/* Lanes that ignore the source get zeros, wherever that is. */
Test(ptx_run_hostile, a_copy_may_ignore_its_source)
{
    static const struct {
        const char *text;
        int even, odd;
    } cases[] = {
#define COPY(ignore)                                                                               \
    KERNEL(".shared .align 4 .b8 s[128];\nmov.u32 %r2, s;\nmad.lo.u32 %r2, %r1, 4, %r2;\n"         \
           "st.shared.u32 [%r2], 5;\nand.b32 %r3, %r1, 1;\nsetp.eq.u32 %p1, %r3, 1;\nsetp.eq.u32 " \
           "%p2, %r3, 2;\n"                                                                        \
           "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\nmov.b64 %rd3, %rd2;\n"          \
           "@%p1 mov.b64 %rd3, 64;\n"                                                              \
           "cp.async.ca.shared.global [%r2], [%rd3], 4" ignore                                     \
           ";\ncp.async.wait_all;\nld.shared.u32 %r4, [%r2];\nst.global.u32 [%rd2], %r4;")
        {COPY(", %p1"), 9, 0},
        {COPY(", !%p2"), 0, 0},
        {COPY(", 0"), 0, 0},
    };
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        bench b = bench_of(cases[k].text);
        int *array = bench_buffer(&b, 256);
        for (int lane = 0; lane < 32; lane++) {
            array[lane] = 9;
        }
        bench_good(&b, "k", PARAMETERS(&array));
        for (int lane = 0; lane < 32; lane++) {
            cr_expect_eq(array[lane], lane % 2 ? cases[k].odd : cases[k].even, "case %zu", k);
        }
        qn_free(array);
        bench_close(&b);
    }
    run_bad(COPY(", %p2"), QUERN_ERROR_ACCESS, "thread (1,0,0): read of 4 bytes at 0x40");
    run_bad(COPY(""), QUERN_ERROR_ACCESS, "thread (1,0,0): read of 4 bytes at 0x40");
#undef COPY
}

/* Its parameters would be those of its own launch. */
Test(ptx_run_hostile, a_kernel_is_no_function)
{
    static const char *const bodies[] = {
        KERNEL("{ .param .b64 q; st.param.b64 [q], %rd1; call k, (q); }"),
        KERNEL("mov.u64 %rd2, k;\n{ .param .b64 q; st.param.b64 [q], %rd1;\n"
               "call %rd2, (q), proto;\nproto: .callprototype _ (.param .b64 _); }"),
    };
    for (size_t k = 0; k < QN_COUNT(bodies); k++) {
        run_bad(bodies[k], QUERN_ERROR_NOT_SUPPORTED,
                "call of 'k', which is a kernel: only a .func can be called");
    }
}

/* ---- memory without end --------------------------------------------------------------------- */

Test(ptx_run_hostile, printf_with_a_huge_width, .init = cr_redirect_stdout)
{
    bench b = bench_of(MODULE(
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
        /* "%2000000000d|%.2000000000f" */
        ".global .align 1 .b8 text[] = {37, 50, 48, 48, 48, 48, 48, 48, 48, 48, 48, 100, 124, "
        "37, 46, 50, 48, 48, 48, 48, 48, 48, 48, 48, 48, 102, 0};\n",
        ".local .align 8 .b8 values[16];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 ret;\n"
        "mov.u64 %rd2, values;\nst.local.u32 [%rd2], %r1;\nmov.b64 %rd3, 0;\n"
        "st.local.u64 [%rd2+8], %rd3;\n"
        "mov.u64 %rd4, text;\n{ .param .b64 f; .param .b64 a; .param .b32 r;\n"
        "st.param.b64 [f], %rd4;\nst.param.b64 [a], %rd2;\ncall (r), vprintf, (f, a); }"));
    void *array = bench_buffer(&b, 256);
    bench_good(&b, "k", PARAMETERS(&array));
    char *expected = qn_alloc(2 * 4096 + 4);
    memset(expected, ' ', 4095);
    memcpy(expected + 4095, "0|0.", 4);
    memset(expected + 4099, '0', 4096);
    expected[4099 + 4096] = '\0';
    cr_assert_stdout_eq_str(expected);
    qn_free(expected);
    qn_free(array);
    bench_close(&b);
}

/* Calls of 1023 frames of 32 MiB each. */
Test(ptx_run_hostile, frames_have_a_limit, .timeout = 60)
{
    run_bad(
        MODULE(".func f(.param .b8 p[1000000])\n{\n{ .param .b8 q[4]; call f, (q); }\nret;\n}\n",
               "{ .param .b8 q[4]; call f, (q); }"),
        QUERN_ERROR_LAUNCH, "stack overflow");
}

Test(ptx_run_hostile, shared_memory_has_a_limit)
{
    run_bad(MODULE(".func f()\n{\n.shared .b8 x[1000000000];\nret;\n}\n", "call f;"),
            QUERN_ERROR_INVALID_ARGUMENT, "bytes of shared memory");
}
