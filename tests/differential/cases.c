/* SPDX-License-Identifier: MIT
 *
 * The table of cases: PTX as NVRTC wrote it for compute capability 7.5, in ptx/, and for 9.0, in
 * ptx/90/ if it differs, with arguments as arguments.c reads them. The kernels have no races that a
 * scheduler could decide; where threads compete on purpose, the result is compared as a set.
 *
 * 32_half_math has one text, for 9.0: for 7.5, NVRTC refuses arithmetic on bfloat16.
 */
#include "differential.h"

/* The argument of the strided kernels: 240 elements as 4 x 5 x 12, the second operand transposed.
 */
#define DIMS "{ i32=3 i64=240 i64*8=4,5,12 i64*8=60,12,1 i64*8=5,1,20 i64*8=60,12,1 } "

/* Bounds of the columns whose functions NVRTC builds on approximate instructions: twice the error
 * that CUDA documents for the function, since two implementations may err to either side; absolute
 * where it is absolute (sine, cosine, logarithms). All other columns are exact. */
#define FLOAT_MATH  "/40;2:8;3:2;7:8;8:10;9:12;13:4;19:2;20:4;25:6;26:4;27:4;30:4"
#define DOUBLE_MATH "/40;13:2;32:4"
#define FAST_MATH                                                                                  \
    "/40;0:0:2e-6;1:0:2e-6;2:4096:4e-6;3:13;4:4:5e-7;5:40;6:4;7:8;8:10;9:12;12:6;13:4;19:2;20:4;"  \
    "21:4:5e-7;22:4:5e-7;25:6;26:4;27:8192;30:4;32:6"
#define HALF_MATH  "/15;0:2;1:2;2:2;3:2;4:2;8:2"
#define INTRINSICS "/12;0:0:2e-6;1:0:2e-6;2:6;3:6:5e-7;4:16;5:4;9:400:2e-6"

/* Two structures by value, with arrays, an address and structures inside. */
#define STRUCTURES                                                                                 \
    "{ i32=1 f32*10=1,2,3,4,5,6,7,8,9,10 f64=0.5 &f32[1]rand:-4:4 { i16=7 i8=1 } "                 \
    "{ i16=-8 i8=2 } { i16=9 i8=-3 } } "                                                           \
    "{ i32=2 f32*10=10,20,30,40,50,60,70,80,90,100 f64=1.5 &f32[1]zero { i16=17 i8=11 } "          \
    "{ i16=-18 i8=12 } { i16=19 i8=-13 } } "

#define STRIDED(name, type, a, b)                                                                  \
    {                                                                                              \
        name, .grid = {2}, .block = {64},                                                          \
              .arguments = DIMS "&" type "[240]" a " &" type "[240]" b " >" type "[240]zero"       \
    }

const diff_case diff_cases[] = {
    {"00_empty", .grid = {2}, .block = {64}},
    {"01_saxpy", .grid = {4}, .block = {64},
     .arguments = "i32=250 f32=2.5 &f32[256]edge >f32[256]edge"},
    STRIDED("02_ew_float", "f32", "edge", "edge"),
    {"03_ew_double", .grid = {2}, .block = {64},
     .arguments = DIMS "&f64[240]edge &f64[240]edge >f64[240]zero~"},
    STRIDED("04_ew_half", "f16", "edge", "edge"),
    STRIDED("05_ew_bf16", "B16", "edge", "edge"),
    STRIDED("06_ew_int8", "i8", "edge", "edge"),
    STRIDED("07_ew_int64", "i64", "edge", "edge"),
    STRIDED("08_ew_bool", "u8", "whole:0:2", "whole:0:2"),
    STRIDED("10_ew_u64div", "u64", "edge", "edge"),
    STRIDED("11_ew_u32", "u32", "edge", "edge"),
    {"09_ew_complex", .grid = {2}, .block = {64},
     .arguments = DIMS "&f32[480]rand:-4:4 &f32[480]rand:-4:4 >f32[480]zero"},
    {"09_ew_complex_edges", "09_ew_complex", .grid = {2}, .block = {64},
     .arguments = DIMS "&f32[480]edge &f32[480]edge >f32[480]zero"},
    {"12_math_f32", .grid = {2}, .block = {64},
     .arguments = "i32=128 &f32[128]rand:-9:9 &f32[128]rand:-9:9 >f32[5120]zero" FLOAT_MATH ""},
    {"12_math_f32_edges", "12_math_f32", .grid = {2}, .block = {64},
     .arguments = "i32=128 &f32[128]edge &f32[128]edge >f32[5120]zero" FLOAT_MATH ""},
    {"13_math_f64", .grid = {2}, .block = {64},
     .arguments = "i32=128 &f64[128]rand:-9:9 &f64[128]rand:-9:9 >f64[5120]zero" DOUBLE_MATH ""},
    {"13_math_f64_edges", "13_math_f64", .grid = {2}, .block = {64},
     .arguments = "i32=128 &f64[128]edge &f64[128]edge >f64[5120]zero" DOUBLE_MATH ""},
    {"14_math_fast", .grid = {2}, .block = {64},
     .arguments = "i32=128 &f32[128]rand:0.01:3 &f32[128]rand:-3:3 >f32[1536]zero" INTRINSICS ""},
    {"15_reduce_shared", .grid = {4}, .block = {256},
     .arguments = "i32=3000 &f32[3000]rand:-4:4 >f32[4]zero"},
    {"16_reduce_shfl", .grid = {4}, .block = {256},
     .arguments = "i32=3000 &f32[3000]whole:-9:9 >f32[1]zero"},
    {"17_redux", .block = {64}, .arguments = "&u32[64]bits >u32[64]zero &i32[64]bits >i32[64]zero"},
    {"18_atomics", .arguments = ">i32[96]zero >u32[96]zero >u64[96]zero >f32[96]zero >f64[96]zero "
                                ">f16[2]zero >f16[2]zero >i64[1]zero >u16[104]=1"},
    {"18_atomics_warp", "18_atomics", .block = {32},
     .arguments = ">i32[96]whole:0:9% >u32[96]zero% >u64[96]=1% >f32[96]zero% >f64[96]zero% "
                  ">f16[2]zero >f16[2]zero >i64[1]zero >u16[104]=1%"},
    {"19_cas_loop", .block = {64},
     .arguments = ">f64[1]=1.5 >f32[5]=-2/5!1,2 &f32[64]=1,2,0.5,1,4,0.25"},
    {"20_vote", .block = {64}, .arguments = "&i32[64]whole:-2:4 >u32[384]zero"},
    {"21_switch", .grid = {2}, .block = {64},
     .arguments = "&i32[128]=0,1,2,3,4,5,6,10,12,-1 &f32[140]rand:0.5:9 >f32[140]zero"},
    {"21_switch_alone", "21_switch", .repeat = 32,
     .arguments = "&i32[1]whole:0:11 &f32[12]rand:0.5:9 >f32[12]zero"},
    {"22_localarr", .block = {32}, .arguments = "&i32[1100]whole:-100:100 >i32[32]zero i32=50"},
    {"23_calls", .block = {64}, .arguments = "&f32[65]rand:-2:2 >u128[64]zero i32=6"},
    {"24_fnptr", .block = {64}, .arguments = "&i32[64]whole:0:3 &f32[65]edge >f32[164]zero"},
    {"25_printf", .block = {64}, .prints = true,
     .arguments = "&f32[64]rand:-2:4 i64=-123456789012"},
    {"27_globals", .block = {32}, .arguments = "&i32[32]whole:0:1000 >f32[32]zero"},
    {"28_dynshared", .block = {64}, .shared = 768,
     .arguments = "&f64[64]rand:-4:4 >f64[64]zero i32=64"},
    {"29_vec128", .block = {7},
     .arguments = "&f32[32]edge &i32[28]bits >f32[56]zero >f64[14]zero >u8[28]iota >i16[14]bits "
                  ">i64[14]bits"},
    {"30_coopgroups", .block = {64}, .arguments = "&i32[64]whole:-1:3 >i32[64]zero"},
    {"31_coopgrid", .grid = {4}, .block = {64}, .cooperative = true, .arguments = ">i32[256]zero"},
    {"32_half_math_90", .repeat = 64,
     .arguments = "&f16[4]rand:-4:4 >f16[15]zero" HALF_MATH " &f16[6]rand:-4:4 >f16[2]zero "
                  "&B16[3]rand:-4:4 >B16[5]zero >f32[1]rand:-4:4 >i32[10]zero"},
    {"32_half_math_90_edges", "32_half_math_90", .repeat = 64,
     .arguments = "&f16[4]edge >f16[15]zero" HALF_MATH "!0 &f16[6]edge >f16[2]zero &B16[3]edge "
                  ">B16[5]zero >f32[1]edge >i32[10]zero"},
    {"33_fp8", .block = {18}, .repeat = 8,
     .arguments = "&u8[18]bits >u8[54]zero &u8[18]bits >u8[18]zero >f32[18]zero"},
    {"34_cub_reduce", .grid = {4}, .block = {256},
     .arguments = "&f32[1024]rand:-4:4 >f32[4]zero &f64[256]rand:-4:4 >f64[4]zero i32=200"},
    {"35_cub_scan", .grid = {2}, .block = {128},
     .arguments = "&i32[1024]bits >i32[1024]zero i32=500"},
    {"36_cub_radix", .block = {128}, .arguments = "&f32[512]edge >f32[512]zero >i32[512]zero"},
    {"37_structval", .repeat = 8, .arguments = STRUCTURES ">f32[2]zero i32=2"},
    {"38_bits", .repeat = 32, .arguments = "&u32[2]edge >u32[8]zero/8!5,7 &u64[2]edge >u64[1]zero"},
    {"39_conv", .repeat = 128,
     .arguments = "&f32[1]edge &f64[1]edge &i32[2]edge &u32[1]edge &i64[1]edge &u64[1]edge "
                  ">f64[1]zero >i64[1]zero >f32[2]zero~ >i16[2]zero >u8[1]zero"},
    {"40_matmul", .grid = {3, 2}, .block = {16, 16},
     .arguments = "&f32[660]rand:-2:2 &f32[1320]rand:-2:2 >f32[1200]zero i32=30 i32=40 i32=22"},
    {"41_wmma", .block = {32},
     .arguments = "&f16[256]whole:-4:4 &f16[256]whole:-4:4 >f32[256]zero"},
    {"42_cpasync", .block = {128}, .arguments = "&f32[512]iota >f32[512]zero"},
    {"43_libcuxx_atomic", .repeat = 2, .arguments = ">i32[1]=31 >u64[1]iota >i32[1]zero"},
    {"44_philox", .grid = {2}, .block = {64},
     .arguments = "u64=123456789012345 u64=77 >f32[400]zero i32=400"},
    {"45_nested_loops", .block = {64},
     .arguments = "&i32[160]whole:-3:50 >i32[64]zero i32=40 i32=30"},
    {"46_softmax", .grid = {5}, .block = {128}, .shared = 16,
     .arguments = "&f32[1500]rand:-6:6 >f32[1500]zero/1;0:32 i32=300"},
    {"47_malloc_alloca", .arguments = ".i32[4]whole:0:9 >u64[2]at:0/2!0 i32=5"},
    {"48_complex_double", .block = {64}, .arguments = "&f64[130]rand:-2:2 >f64[128]zero/2;1:32"},
    {"49_int128", .repeat = 64, .arguments = "&i128[3]edge >i128[2]zero"},
    {"50_conv2d", .grid = {7}, .block = {64},
     .arguments = "&f32[486]rand:-2:2 &f32[108]rand:-2:2 >f32[400]zero i32=2 i32=3 i32=9 i32=9 "
                  "i32=4 i32=3 i32=3 i32=1 i32=2 i32=5 i32=5"},
    {"51_where_argmax", .block = {256},
     .arguments = "&f32[1000]edge &u8[1000]whole:0:2 >i64[1]zero i32=1000"},
    {"52_bigswitch", .block = {20}, .repeat = 4,
     .arguments = "&i32[20]iota:20 &f32[20]rand:0.1:9 >f32[60]zero/1;0:2"},
    {"53_inlinedloc", .block = {64}, .arguments = "{ &f32[65]edge } { >f32[64]zero } i32=60"},
    {"54_stl_like", .block = {256},
     .arguments = "&i16[256]bits >i16[1]zero &f64[256]rand:-4:4 >f64[1]zero"},
    {"55_spinlock", .grid = {3}, .block = {64}, .arguments = ">i32[1]zero"},
    {"56_spinlock2", .grid = {3}, .block = {64}, .arguments = ">i32[1]zero"},
    {"57_lastblock", .grid = {8}, .block = {256},
     .arguments = "&f32[2048]rand:-4:4 >f32[8]zero >f32[1]zero i32=2048"},
    {"fast_12_math_f32", .grid = {2}, .block = {64},
     .arguments = "i32=128 &f32[128]rand:-9:9 &f32[128]rand:-9:9 >f32[5120]zero" FAST_MATH ""},
    {"fast_46_softmax", .grid = {5}, .block = {128}, .shared = 16,
     .arguments = "&f32[1500]rand:-6:6 >f32[1500]zero/1;0:32 i32=300"},
    {"jump_52_bigswitch", .block = {20}, .repeat = 4,
     .arguments = "&i32[20]iota:20 &f32[20]rand:0.1:9 >f32[60]zero/1;0:2"},
    {"debug_15_reduce_shared", .grid = {4}, .block = {256},
     .arguments = "i32=3000 &f32[3000]rand:-4:4 >f32[4]zero"},
    {"debug_20_vote", .block = {64}, .arguments = "&i32[64]whole:-2:4 >u32[384]zero"},
    {"debug_23_calls", .block = {64}, .arguments = "&f32[65]rand:-2:2 >u128[64]zero i32=6"},
    {"debug_24_fnptr", .block = {64}, .arguments = "&i32[64]whole:0:3 &f32[65]edge >f32[164]zero"},
    {"debug_51_where_argmax", .block = {256},
     .arguments = "&f32[1000]edge &u8[1000]whole:0:2 >i64[1]zero i32=1000"},
    {"own_carry", .block = {64}, .arguments = "&u32[192]edge >u32[512]zero"},
    {"own_malloc", .block = {64}, .arguments = "&i32[64]bits >i32[64]zero"},
    {"own_divergence", .grid = {1}, .block = {64}, .arguments = "&i32[64]whole:0:60 >i32[64]zero"},
    {"own_printf", .grid = {2}, .block = {8}, .prints = true,
     .arguments = "&f32[16]edge &i64[16]edge"},
    {"own_barrier", .block = {128}, .arguments = "&i32[128]whole:-5:9 >i32[160]zero"},
    {"own_atomics", .grid = {6}, .block = {96},
     .arguments = "&i32[576]whole:0:4000 >i32[32]=5 >u32[32]=50 >u64[32]=600 >i64[2]zero "
                  ">f32[2]zero >f64[1]zero >f16[2]zero"},
    {"own_memory", .block = {64},
     .arguments = "&f32[64]rand:-4:4 &u8[16]bits >f32[128]zero >i32[192]zero >i64[128]bits"},
    {"own_matrix", .block = {32},
     .arguments = "&f16[512]rand:-4:4 &f16[512]rand:-4:4 &f32[256]rand:-9:9 &f16[256]rand:-9:9 "
                  ">f32[1536]zero >f16[3840]zero &i8[512]bits &i8[512]bits &i32[256]bits "
                  ">i32[1664]zero >i8[3072]zero"},
    {"own_matrix_90", .block = {32},
     .arguments = "&B16[768]rand:-4:4 &f32[256]rand:-9:9 >f32[768]zero &f32[256]rand:-4:4 "
                  "&f64[128]rand:-4:4 >f64[64]zero &f16[384]rand:-4:4 &u8[768]whole:0:120 "
                  ">f32[640]zero"},
    {"own_cub_block", .block = {128},
     .arguments = "&i32[512]whole:-100:156 >i32[2]zero >i32[512]zero >i32[512]zero >i32[512]zero "
                  ">i32[64]zero >i32[512]zero >i32[512]zero"},
    {"own_cub_warp", .block = {128},
     .arguments = "&i32[256]whole:-100:156 >i32[4]zero >i32[128]zero >i32[128]zero >i32[128]zero "
                  ">i32[256]zero"},
    {"own_groups", .block = {128},
     .arguments = "&i32[128]whole:-9:10 >i32[768]zero >i32[384]zero >i32[128]zero"},
    {"own_language", .block = {128},
     .arguments = "&i32[128]bits >i32[128]zero >i32[128]zero >i32[128]zero"},
    {"own_random", .block = {128},
     .arguments = ">u32[256]zero >f32[128]zero >f64[128]zero >f32[128]zero/1;0:4:5e-6"},
    {"26_assert", .block = {32}, .arguments = "&f32[32]rand:-4:4 i32=32 >f32[32]zero"},
    {"26_assert_fails", "26_assert", .block = {32}, .fails = "in range",
     .arguments = "&f32[32]rand:-4:4 i32=20 >f32[32]zero"},
    {"21_switch_trap", "21_switch", .block = {32}, .fails = "trap",
     .arguments = "&i32[32]=3,4,11 &f32[44]rand:0.5:9 >f32[44]zero"},
};
const size_t diff_case_count = QN_COUNT(diff_cases);
