/* SPDX-License-Identifier: MIT
 *
 * What happens when one of CUDA's libraries is absent or broken: the same for NVRTC and for
 * nvJitLink. In: which library, and how it is used. Out: nothing, or a failed expectation. The
 * thing to know: a library is looked for once per process, so a test calls one of these once.
 */
#ifndef QUERN_TEST_LOADING_H
#define QUERN_TEST_LOADING_H

#include "unit/cache/scratch.h"

#include <criterion/criterion.h>
#include <dlfcn.h>

/* A library, how it is found, and what must be said when it cannot be used. */
typedef struct loading {
    const char *name, *file; /* "NVRTC", "libnvrtc.so.13" */
    const char *variable;    /* of the environment, that says where it is */
    quern_status not_found, unusable;
    bool (*find)(qn_compiler_identity *out, char **looked);
    void (*expect_failure)(quern_status status, const char *says); /* of what needs it */
} loading;

static inline void expect_found(const loading *l, const char *path)
{
    qn_compiler_identity identity;
    cr_assert(l->find(&identity, NULL));
    cr_expect_str_eq(identity.path, path);
}

static inline void fails_asked_for_but_absent(const loading *l)
{
    char path[100], line[101], *looked;
    snprintf(path, sizeof path, "/no/such/%s", l->file);
    snprintf(line, sizeof line, "%s\n", path);
    setenv(l->variable, path, 1);
    qn_compiler_identity identity;
    cr_expect_not(l->find(&identity, &looked));
    cr_expect_str_eq(looked, line);
    cr_expect_str_eq(identity.build_id, "");
    qn_free(looked);
    l->expect_failure(l->not_found, path);
}

static inline void fails_asked_for_folder_without_it(const loading *l)
{
    setenv(l->variable, scratch, 1);
    l->expect_failure(l->not_found, scratch);
}

static inline void fails_not_a_library(const loading *l)
{
    qn_compiler_identity identity;
    setenv(l->variable, scratch, 1);
    scratch_write(l->file, "no library");
    expect_found(l, scratch_path(l->file));
    cr_assert(l->find(&identity, NULL));
    cr_expect_eq(strncmp(identity.build_id, "h:", 2), 0, "%s", identity.build_id);
    l->expect_failure(l->unusable, scratch_path(l->file));
}

/* The C library: every machine has it. */
static inline void fails_another_library(const loading *l)
{
    Dl_info libc;
    char says[40];
    cr_assert(dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &libc));
    setenv(l->variable, libc.dli_fname, 1);
    snprintf(says, sizeof says, "is not %s", l->name);
    l->expect_failure(l->unusable, says);
}

#endif /* QUERN_TEST_LOADING_H */
