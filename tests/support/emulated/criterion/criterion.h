/* SPDX-License-Identifier: MIT
 *
 * A stand-in for Criterion where programs run under an emulator: as much of its interface as the
 * unit tests use. Criterion starts the program again for each test, which QEMU's user mode cannot
 * do; here (criterion.c) each test is a fork.
 */
#ifndef QN_EMULATED_CRITERION_H
#define QN_EMULATED_CRITERION_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct emulated_test {
    const char *suite;
    const char *name; /* NULL: what all tests of the suite have in common */
    void (*run)(void);
    void (*init)(void);
    void (*fini)(void);
    unsigned timeout; /* seconds; 0: the usual */
    struct emulated_test *next;
} emulated_test;

void emulated_add(emulated_test *test);
void emulated_fail(bool at_once, const char *file, int line, const char *what, const char *form,
                   ...);
_Noreturn void emulated_skip(const char *form, ...);
bool emulated_stdout_is(const char *text);

#define EMULATED_ADD(id, ...)                                                                      \
    static __attribute__((constructor)) void id##_add(void)                                        \
    {                                                                                              \
        static emulated_test test = {__VA_ARGS__};                                                 \
        emulated_add(&test);                                                                       \
    }
#define Test(suite_, name_, ...)                                                                   \
    static void suite_##_##name_##_test(void);                                                     \
    EMULATED_ADD(suite_##_##name_, .suite = #suite_, .name = #name_,                               \
                 .run = suite_##_##name_##_test, __VA_ARGS__)                                      \
    static void suite_##_##name_##_test(void)
#define TestSuite(suite_, ...)                                                                     \
    EMULATED_ADD(suite_##_common, .suite = #suite_, __VA_ARGS__)                                   \
    struct emulated_test /* so that a semicolon may follow */

#define EMULATED_CHECK(at_once, truth, what, ...)                                                  \
    do {                                                                                           \
        if (!(truth)) {                                                                            \
            emulated_fail(at_once, __FILE__, __LINE__, what, "" __VA_ARGS__);                      \
        }                                                                                          \
    } while (0)

#define cr_assert(truth, ...)       EMULATED_CHECK(true, truth, #truth, __VA_ARGS__)
#define cr_assert_not(truth, ...)   EMULATED_CHECK(true, !(truth), "not " #truth, __VA_ARGS__)
#define cr_assert_eq(a, b, ...)     EMULATED_CHECK(true, (a) == (b), #a " == " #b, __VA_ARGS__)
#define cr_assert_neq(a, b, ...)    EMULATED_CHECK(true, (a) != (b), #a " != " #b, __VA_ARGS__)
#define cr_assert_lt(a, b, ...)     EMULATED_CHECK(true, (a) < (b), #a " < " #b, __VA_ARGS__)
#define cr_assert_leq(a, b, ...)    EMULATED_CHECK(true, (a) <= (b), #a " <= " #b, __VA_ARGS__)
#define cr_assert_gt(a, b, ...)     EMULATED_CHECK(true, (a) > (b), #a " > " #b, __VA_ARGS__)
#define cr_assert_geq(a, b, ...)    EMULATED_CHECK(true, (a) >= (b), #a " >= " #b, __VA_ARGS__)
#define cr_assert_null(p, ...)      EMULATED_CHECK(true, (p) == NULL, #p " == NULL", __VA_ARGS__)
#define cr_assert_not_null(p, ...)  EMULATED_CHECK(true, (p) != NULL, #p " != NULL", __VA_ARGS__)
#define cr_assert_str_empty(a, ...) EMULATED_CHECK(true, !*(a), #a " is empty", __VA_ARGS__)
#define cr_expect_str_empty(a, ...) EMULATED_CHECK(false, !*(a), #a " is empty", __VA_ARGS__)
#define cr_assert_str_eq(a, b, ...) EMULATED_CHECK(true, !strcmp(a, b), #a " is " #b, __VA_ARGS__)
#define cr_assert_arr_eq(a, b, n, ...)                                                             \
    EMULATED_CHECK(true, !memcmp(a, b, n), #a " is " #b, __VA_ARGS__)
#define cr_assert_float_eq(a, b, e, ...)                                                           \
    EMULATED_CHECK(true, fabs((a) - (b)) <= (e), #a " is about " #b, __VA_ARGS__)
#define cr_assert_stdout_eq_str(text)                                                              \
    EMULATED_CHECK(true, emulated_stdout_is(text), "standard output is " #text, )
#define cr_assert_fail(...) EMULATED_CHECK(true, false, "reached", __VA_ARGS__)

#define cr_expect(truth, ...)       EMULATED_CHECK(false, truth, #truth, __VA_ARGS__)
#define cr_expect_not(truth, ...)   EMULATED_CHECK(false, !(truth), "not " #truth, __VA_ARGS__)
#define cr_expect_eq(a, b, ...)     EMULATED_CHECK(false, (a) == (b), #a " == " #b, __VA_ARGS__)
#define cr_expect_neq(a, b, ...)    EMULATED_CHECK(false, (a) != (b), #a " != " #b, __VA_ARGS__)
#define cr_expect_lt(a, b, ...)     EMULATED_CHECK(false, (a) < (b), #a " < " #b, __VA_ARGS__)
#define cr_expect_leq(a, b, ...)    EMULATED_CHECK(false, (a) <= (b), #a " <= " #b, __VA_ARGS__)
#define cr_expect_gt(a, b, ...)     EMULATED_CHECK(false, (a) > (b), #a " > " #b, __VA_ARGS__)
#define cr_expect_geq(a, b, ...)    EMULATED_CHECK(false, (a) >= (b), #a " >= " #b, __VA_ARGS__)
#define cr_expect_null(p, ...)      EMULATED_CHECK(false, (p) == NULL, #p " == NULL", __VA_ARGS__)
#define cr_expect_not_null(p, ...)  EMULATED_CHECK(false, (p) != NULL, #p " != NULL", __VA_ARGS__)
#define cr_expect_str_eq(a, b, ...) EMULATED_CHECK(false, !strcmp(a, b), #a " is " #b, __VA_ARGS__)
#define cr_expect_str_neq(a, b, ...)                                                               \
    EMULATED_CHECK(false, strcmp(a, b) != 0, #a " is not " #b, __VA_ARGS__)
#define cr_expect_arr_eq(a, b, n, ...)                                                             \
    EMULATED_CHECK(false, !memcmp(a, b, n), #a " is " #b, __VA_ARGS__)

#define cr_expect_float_eq(a, b, e, ...)                                                           \
    EMULATED_CHECK(false, fabs((a) - (b)) <= (e), #a " is about " #b, __VA_ARGS__)

#define cr_log_info(...) ((void)0)

#define cr_skip_test(...) emulated_skip("" __VA_ARGS__)

#endif /* QN_EMULATED_CRITERION_H */
