/* SPDX-License-Identifier: MIT
 *
 * For tests that run kernels: one engine on the device that QUERN_DEVICE names, arrays from and to
 * host memory, and a skip, with the reason, where there is no compiler.
 */
#ifndef QUERN_TEST_WHOLE_H
#define QUERN_TEST_WHOLE_H

#include <criterion/criterion.h>
#include <quern/quern.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static quern_engine *engine;

/* Open the engine on the device that QUERN_DEVICE names. Skips the test if there is no NVRTC,
 * because then no kernel can be made and there are no results to check. ./dev fetches NVRTC when
 * none is found, so these tests run in every ./dev test. */
static inline void whole_open(void)
{
    quern_compiler_info compiler = {.size = sizeof compiler};
    cr_assert_eq(quern_compiler_get_info(&compiler, 0), QUERN_OK);
    if (!compiler.found) {
        cr_skip_test("no NVRTC on this machine: %s", compiler.problem);
    }
    cr_assert_eq(quern_open(&engine, NULL), QUERN_OK, "%s", quern_last_error_text());
}

/* The same on `soft`, a software device that is unlike the machine, with the checks that
 * QUERN_DEVICE asks for, or on a GPU, where the tests run there. */
static inline void whole_open_on(const char *soft)
{
    const char *device = getenv("QUERN_DEVICE");
    if (!device || strncmp(device, "cuda", 4) != 0) {
        const char *check = device && !strstr(soft, "check=") ? strstr(device, "check=") : NULL;
        char both[200];
        snprintf(both, sizeof both, "%s%s%.*s", soft, check ? "," : "",
                 check ? (int)strcspn(check, ",") : 0, check ? check : "");
        setenv("QUERN_DEVICE", both, 1);
    }
    whole_open();
}

/* The same on two processors, for tests that count plans of small arrays. */
static inline void whole_open_small(void)
{
    whole_open_on("soft:2");
}

/* The same on as many processors as a large GPU has. */
static inline void whole_open_large(void)
{
    whole_open_on("soft:132");
}

/* Which plan a shape gets depends on the device: tests count plans on this one, which is the same
 * on every machine. */
static inline bool whole_is_soft(void)
{
    quern_device_info info = QUERN_DEVICE_INFO_INIT;
    cr_assert_eq(quern_device_get_info(&info, engine), QUERN_OK, "%s", quern_last_error_text());
    return strcmp(info.id, "soft") == 0;
}

static inline void whole_close(void)
{
    quern_close(engine);
    engine = NULL;
}

#define OK(call) cr_assert_eq((call), QUERN_OK, "%s: %s", #call, quern_last_error_text())
#define FAILS(expected, call)                                                                      \
    cr_assert_eq((call), (expected), "%s: got %s", #call, quern_last_error_text())
#define SAYS(part)                                                                                 \
    cr_assert_not_null(strstr(quern_last_error_text(), (part)), "expected \"%s\" in: %s", (part),  \
                       quern_last_error_text())

#define SHAPE(...)                                                                                 \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[])                         \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static inline quern_array *array_of(quern_dtype dtype, int ndim, const int64_t *shape,
                                    const void *host)
{
    quern_array *a;
    OK(quern_array_from(&a, engine, dtype, ndim, shape, host));
    return a;
}

static inline quern_kernel *kernel_of(const char *in, const char *out, const char *operation)
{
    quern_kernel *k;
    OK(quern_elementwise(&k, engine, in, out, operation, NULL));
    return k;
}

/** Read an array of `count` elements of `size` bytes and compare with `expected`. */
static inline void expect_bytes(quern_array *a, const void *expected, size_t bytes,
                                const char *what)
{
    unsigned char *got = malloc(bytes + 1);
    OK(quern_array_read(a, got, bytes));
    for (size_t b = 0; b < bytes; b++) {
        cr_assert_eq(got[b], ((const unsigned char *)expected)[b], "%s: byte %zu of %zu differs",
                     what, b, bytes);
    }
    free(got);
}

#define EXPECT(array, type, ...)                                                                   \
    do {                                                                                           \
        type expected_[] = {__VA_ARGS__};                                                          \
        expect_bytes((array), expected_, sizeof expected_, #array);                                \
    } while (0)

#endif /* QUERN_TEST_WHOLE_H */
