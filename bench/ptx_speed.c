/* SPDX-License-Identifier: MIT
 *
 * How fast the software device's processor is on one core: lane-instructions a second for
 * straight-line code, for a divergent loop and for shared memory, `2x+y` over a million float32
 * with 16-byte packs, and the price of a launch. Prints one line per row: its name, the figure, the
 * unit. It uses the library's internals, so it is built with the object libraries, not with the
 * public one.
 */
#include "bench.h"
#include "ptx/ptx.h"

#include <string.h>

#define HEAD           ".version 8.0\n.target sm_75\n.address_size 64\n"
#define REPEAT4(text)  text text text text
#define REPEAT16(text) REPEAT4(text) REPEAT4(text) REPEAT4(text) REPEAT4(text)

enum { N = 1 << 20, LOOPS = 200, STEP = 4 };

/* 64 operations per turn in four independent chains, and three for the loop. */
static const char straight[] = HEAD
    ".visible .entry k(.param .u64 x)\n{\n"
    ".reg .pred %p<2>; .reg .f32 %f<6>; .reg .b32 %r<6>; .reg .b64 %rd<3>;\n"
    "ld.param.u64 %rd1, [x];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\nmov.u32 %r3, %r1;\n"
    "cvt.rn.f32.u32 %f1, %r1;\nmov.f32 %f2, %f1;\n"
    "loop:\n" REPEAT16(
        "fma.rn.f32 %f1, %f1, 0f3F000000, 0f3F800000;\n"
        "add.f32 %f2, %f2, 0f3F800000;\n"
        "add.s32 %r3, %r3, %r1;\nxor.b32 %r1, %r1, %r2;\n") "add.s32 %r2, %r2, 1;\nsetp.lt.u32 "
                                                            "%p1, %r2, 200;\n@%p1 bra loop;\n"
                                                            "add.f32 %f1, %f1, "
                                                            "%f2;\ncvt.rn.f32.u32 %f3, "
                                                            "%r3;\nadd.f32 %f1, %f1, %f3;\n"
                                                            "st.global.f32 [%rd1], %f1;\nret;\n}\n";

static const char shared[] =
    HEAD ".visible .entry k(.param .u64 x)\n{\n"
         ".reg .pred %p<2>; .reg .f32 %f<6>; .reg .b32 %r<6>; .reg .b64 %rd<3>;\n"
         ".shared .align 4 .b8 s[1024];\n"
         "ld.param.u64 %rd1, [x];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\nmov.u32 %r4, s;\n"
         "add.s32 %r2, %r2, %r4;\nmov.u32 %r3, 0;\nmov.f32 %f1, 0f3F800000;\n"
         "loop:\n" REPEAT16(
             "st.shared.f32 [%r2], %f1;\nld.shared.f32 %f2, [%r2];\n"
             "add.f32 %f1, %f1, %f2;\nmul.f32 %f1, %f1, 0f3F000000;\n") "add.s32 %r3, %r3, "
                                                                        "1;\nsetp.lt.u32 %p1, %r3, "
                                                                        "200;\n@%p1 bra loop;\n"
                                                                        "st.global.f32 [%rd1], "
                                                                        "%f1;\nret;\n}\n";

/* Each lane goes one of two ways in every turn. */
static const char divergent[] =
    HEAD ".visible .entry k(.param .u64 x)\n{\n"
         ".reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<3>;\n"
         "ld.param.u64 %rd1, [x];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\n"
         "loop: and.b32 %r3, %r1, 1;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra even;\n"
         "mad.lo.u32 %r1, %r1, 3, 1;\nbra.uni next;\neven: shr.u32 %r1, %r1, 1;\n"
         "next: add.s32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 1000;\n@%p2 bra loop;\n"
         "st.global.u32 [%rd1], %r1;\nret;\n}\n";

static const char axpy[] =
    HEAD ".visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n)\n{\n"
         ".reg .pred %p<2>; .reg .f32 %f<13>; .reg .b32 %r<6>; .reg .b64 %rd<6>;\n"
         "ld.param.u64 %rd1, [x];\nld.param.u64 %rd2, [y];\nld.param.u32 %r1, [n];\n"
         "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"
         "mad.lo.s32 %r5, %r2, %r3, %r4;\nsetp.ge.s32 %p1, %r5, %r1;\n@%p1 bra end;\n"
         "mul.wide.s32 %rd3, %r5, 16;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\n"
         "ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd4];\n"
         "ld.global.v4.f32 {%f5, %f6, %f7, %f8}, [%rd5];\n"
         "fma.rn.f32 %f9, %f1, 0f40000000, %f5;\nfma.rn.f32 %f10, %f2, 0f40000000, %f6;\n"
         "fma.rn.f32 %f11, %f3, 0f40000000, %f7;\nfma.rn.f32 %f12, %f4, 0f40000000, %f8;\n"
         "st.global.v4.f32 [%rd5], {%f9, %f10, %f11, %f12};\nend: ret;\n}\n";

static const char empty[] = HEAD ".visible .entry k(.param .u64 x)\n{\nret;\n}\n";

static double thread_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* The least time of several launches in ms of this thread, or a negative number after a failure. */
static double least_ms(const char *text, unsigned grid, unsigned block, void *const *parameters,
                       qn_memory_map *map)
{
    qn_ptx_module *module;
    double least = -1;
    if (qn_ptx_read(&module, text, strlen(text)) != QUERN_OK) {
        return -1;
    }
    qn_ptx_launch launch = {.kernel = qn_ptx_kernel(module, "k"),
                            .grid = {grid, 1, 1},
                            .block = {block, 1, 1},
                            .parameters = parameters,
                            .memory = map,
                            .threads = 1};
    for (int k = 0; k < 30; k++) {
        double begin = thread_ms();
        if (qn_ptx_run(&launch) != QUERN_OK) {
            least = -1;
            break;
        }
        double ms = thread_ms() - begin;
        least = least < 0 || ms < least ? ms : least;
    }
    qn_ptx_free(module);
    return least;
}

int main(void)
{
    qn_memory_map *map = qn_memory_map_new();
    float *x = qn_calloc(N, sizeof *x), *y = qn_calloc(N, sizeof *y);
    if (!map || !x || !y || !qn_memory_map_add(map, x, N * 4, "x") ||
        !qn_memory_map_add(map, y, N * 4, "y")) {
        return 1;
    }
    const int packs = N / STEP;
    void *const one[] = {&x}, *const three[] = {&x, &y, (void *)&packs};
    const double lanes = 8 * 256;
    const double straight_ms = least_ms(straight, 8, 256, one, map);
    const double shared_ms = least_ms(shared, 8, 256, one, map);
    const double divergent_ms = least_ms(divergent, 8, 256, one, map);
    const double axpy_ms = least_ms(axpy, N / STEP / 256, 256, three, map);
    const double empty_ms = least_ms(empty, 1, 32, one, map);
    if (straight_ms < 0 || shared_ms < 0 || divergent_ms < 0 || axpy_ms < 0 || empty_ms < 0) {
        fprintf(stderr, "%s\n", quern_last_error()->message);
        return 1;
    }
    const char *rate = "giga_lane_instructions_per_second";
    bench_print("ptx_speed", "quern", "straight_line", rate,
                lanes * LOOPS * 67 / straight_ms * 1e-6);
    bench_print("ptx_speed", "quern", "shared_memory", rate, lanes * LOOPS * 67 / shared_ms * 1e-6);
    bench_print("ptx_speed", "quern", "divergent", rate, lanes * 1000 * 7.5 / divergent_ms * 1e-6);
    bench_print("ptx_speed", "quern", "axpy_1M_float32", "ms", axpy_ms);
    bench_print("ptx_speed", "quern", "empty_launch", "us", empty_ms * 1e3);
    qn_free(x);
    qn_free(y);
    qn_memory_map_free(map);
    return 0;
}
