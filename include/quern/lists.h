/* SPDX-License-Identifier: MIT
 *
 * Lists. What the macros of quern/call.h are made of: how many arguments there are, and a function
 * applied to each. Programs use none of its names.
 *
 * C has no loop over the arguments of a macro, so there is one line for each length. 64 is
 * QUERN_MAX_PARAMETERS.
 */
#ifndef QUERN_LISTS_H
#define QUERN_LISTS_H

#include <quern/array.h> /* QUERN_MAX_PARAMETERS */

/* clang-format off */

#define QUERN_JOIN(a, b)  QUERN_JOIN_(a, b)
#define QUERN_JOIN_(a, b) a##b
#define QUERN_4_TIMES(x)  x, x, x, x
#define QUERN_64_TIMES(x) QUERN_4_TIMES(QUERN_4_TIMES(QUERN_4_TIMES(x)))

/* The 67th argument: n arguments in front of a list choose its entry 67 - n. */
#define QUERN_PICK(...) QUERN_PICK_(__VA_ARGS__)
#define QUERN_PICK_( \
        a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, \
        a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, \
        a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, \
        a33, a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, \
        a44, a45, a46, a47, a48, a49, a50, a51, a52, a53, a54, \
        a55, a56, a57, a58, a59, a60, a61, a62, a63, a64, a65, \
        pick, ...) \
    pick

/* How many there are, 1 to 64. More do not compile, and the compiler quotes these words. */
#define QUERN_COUNT(...) \
    QUERN_PICK(__VA_ARGS__, takes_at_most_64_arguments, takes_at_most_64_arguments, \
        64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, \
        48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, \
        32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, \
        16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)

/* `none` or `some`: whether any arguments, of which there may be 64, follow the 1, 2 or 3 fixed
 * ones. */
#define QUERN_AFTER_1(none, some, ...) \
    QUERN_PICK(__VA_ARGS__, takes_at_most_64_arguments, QUERN_64_TIMES(some), none, 0)
#define QUERN_AFTER_2(none, some, a, ...)    QUERN_AFTER_1(none, some, __VA_ARGS__)
#define QUERN_AFTER_3(none, some, a, b, ...) QUERN_AFTER_1(none, some, __VA_ARGS__)

/* of(a), of(b), ... */
#define QUERN_LIST(of, ...) QUERN_JOIN(QUERN_LIST_, QUERN_COUNT(__VA_ARGS__))(of, __VA_ARGS__)
#define QUERN_LIST_1(of, a)       of(a)
#define QUERN_LIST_2(of, a, ...)  of(a), QUERN_LIST_1(of, __VA_ARGS__)
#define QUERN_LIST_3(of, a, ...)  of(a), QUERN_LIST_2(of, __VA_ARGS__)
#define QUERN_LIST_4(of, a, ...)  of(a), QUERN_LIST_3(of, __VA_ARGS__)
#define QUERN_LIST_5(of, a, ...)  of(a), QUERN_LIST_4(of, __VA_ARGS__)
#define QUERN_LIST_6(of, a, ...)  of(a), QUERN_LIST_5(of, __VA_ARGS__)
#define QUERN_LIST_7(of, a, ...)  of(a), QUERN_LIST_6(of, __VA_ARGS__)
#define QUERN_LIST_8(of, a, ...)  of(a), QUERN_LIST_7(of, __VA_ARGS__)
#define QUERN_LIST_9(of, a, ...)  of(a), QUERN_LIST_8(of, __VA_ARGS__)
#define QUERN_LIST_10(of, a, ...) of(a), QUERN_LIST_9(of, __VA_ARGS__)
#define QUERN_LIST_11(of, a, ...) of(a), QUERN_LIST_10(of, __VA_ARGS__)
#define QUERN_LIST_12(of, a, ...) of(a), QUERN_LIST_11(of, __VA_ARGS__)
#define QUERN_LIST_13(of, a, ...) of(a), QUERN_LIST_12(of, __VA_ARGS__)
#define QUERN_LIST_14(of, a, ...) of(a), QUERN_LIST_13(of, __VA_ARGS__)
#define QUERN_LIST_15(of, a, ...) of(a), QUERN_LIST_14(of, __VA_ARGS__)
#define QUERN_LIST_16(of, a, ...) of(a), QUERN_LIST_15(of, __VA_ARGS__)
#define QUERN_LIST_17(of, a, ...) of(a), QUERN_LIST_16(of, __VA_ARGS__)
#define QUERN_LIST_18(of, a, ...) of(a), QUERN_LIST_17(of, __VA_ARGS__)
#define QUERN_LIST_19(of, a, ...) of(a), QUERN_LIST_18(of, __VA_ARGS__)
#define QUERN_LIST_20(of, a, ...) of(a), QUERN_LIST_19(of, __VA_ARGS__)
#define QUERN_LIST_21(of, a, ...) of(a), QUERN_LIST_20(of, __VA_ARGS__)
#define QUERN_LIST_22(of, a, ...) of(a), QUERN_LIST_21(of, __VA_ARGS__)
#define QUERN_LIST_23(of, a, ...) of(a), QUERN_LIST_22(of, __VA_ARGS__)
#define QUERN_LIST_24(of, a, ...) of(a), QUERN_LIST_23(of, __VA_ARGS__)
#define QUERN_LIST_25(of, a, ...) of(a), QUERN_LIST_24(of, __VA_ARGS__)
#define QUERN_LIST_26(of, a, ...) of(a), QUERN_LIST_25(of, __VA_ARGS__)
#define QUERN_LIST_27(of, a, ...) of(a), QUERN_LIST_26(of, __VA_ARGS__)
#define QUERN_LIST_28(of, a, ...) of(a), QUERN_LIST_27(of, __VA_ARGS__)
#define QUERN_LIST_29(of, a, ...) of(a), QUERN_LIST_28(of, __VA_ARGS__)
#define QUERN_LIST_30(of, a, ...) of(a), QUERN_LIST_29(of, __VA_ARGS__)
#define QUERN_LIST_31(of, a, ...) of(a), QUERN_LIST_30(of, __VA_ARGS__)
#define QUERN_LIST_32(of, a, ...) of(a), QUERN_LIST_31(of, __VA_ARGS__)
#define QUERN_LIST_33(of, a, ...) of(a), QUERN_LIST_32(of, __VA_ARGS__)
#define QUERN_LIST_34(of, a, ...) of(a), QUERN_LIST_33(of, __VA_ARGS__)
#define QUERN_LIST_35(of, a, ...) of(a), QUERN_LIST_34(of, __VA_ARGS__)
#define QUERN_LIST_36(of, a, ...) of(a), QUERN_LIST_35(of, __VA_ARGS__)
#define QUERN_LIST_37(of, a, ...) of(a), QUERN_LIST_36(of, __VA_ARGS__)
#define QUERN_LIST_38(of, a, ...) of(a), QUERN_LIST_37(of, __VA_ARGS__)
#define QUERN_LIST_39(of, a, ...) of(a), QUERN_LIST_38(of, __VA_ARGS__)
#define QUERN_LIST_40(of, a, ...) of(a), QUERN_LIST_39(of, __VA_ARGS__)
#define QUERN_LIST_41(of, a, ...) of(a), QUERN_LIST_40(of, __VA_ARGS__)
#define QUERN_LIST_42(of, a, ...) of(a), QUERN_LIST_41(of, __VA_ARGS__)
#define QUERN_LIST_43(of, a, ...) of(a), QUERN_LIST_42(of, __VA_ARGS__)
#define QUERN_LIST_44(of, a, ...) of(a), QUERN_LIST_43(of, __VA_ARGS__)
#define QUERN_LIST_45(of, a, ...) of(a), QUERN_LIST_44(of, __VA_ARGS__)
#define QUERN_LIST_46(of, a, ...) of(a), QUERN_LIST_45(of, __VA_ARGS__)
#define QUERN_LIST_47(of, a, ...) of(a), QUERN_LIST_46(of, __VA_ARGS__)
#define QUERN_LIST_48(of, a, ...) of(a), QUERN_LIST_47(of, __VA_ARGS__)
#define QUERN_LIST_49(of, a, ...) of(a), QUERN_LIST_48(of, __VA_ARGS__)
#define QUERN_LIST_50(of, a, ...) of(a), QUERN_LIST_49(of, __VA_ARGS__)
#define QUERN_LIST_51(of, a, ...) of(a), QUERN_LIST_50(of, __VA_ARGS__)
#define QUERN_LIST_52(of, a, ...) of(a), QUERN_LIST_51(of, __VA_ARGS__)
#define QUERN_LIST_53(of, a, ...) of(a), QUERN_LIST_52(of, __VA_ARGS__)
#define QUERN_LIST_54(of, a, ...) of(a), QUERN_LIST_53(of, __VA_ARGS__)
#define QUERN_LIST_55(of, a, ...) of(a), QUERN_LIST_54(of, __VA_ARGS__)
#define QUERN_LIST_56(of, a, ...) of(a), QUERN_LIST_55(of, __VA_ARGS__)
#define QUERN_LIST_57(of, a, ...) of(a), QUERN_LIST_56(of, __VA_ARGS__)
#define QUERN_LIST_58(of, a, ...) of(a), QUERN_LIST_57(of, __VA_ARGS__)
#define QUERN_LIST_59(of, a, ...) of(a), QUERN_LIST_58(of, __VA_ARGS__)
#define QUERN_LIST_60(of, a, ...) of(a), QUERN_LIST_59(of, __VA_ARGS__)
#define QUERN_LIST_61(of, a, ...) of(a), QUERN_LIST_60(of, __VA_ARGS__)
#define QUERN_LIST_62(of, a, ...) of(a), QUERN_LIST_61(of, __VA_ARGS__)
#define QUERN_LIST_63(of, a, ...) of(a), QUERN_LIST_62(of, __VA_ARGS__)
#define QUERN_LIST_64(of, a, ...) of(a), QUERN_LIST_63(of, __VA_ARGS__)

/* clang-format on */

#endif /* QUERN_LISTS_H */
