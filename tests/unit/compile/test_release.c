/* SPDX-License-Identifier: MIT
 *
 * Which release of CUDA a thing belongs to, which headers go with which compiler, and which folders
 * are trusted. The files are made up, their names are real; each test is a process of its own.
 */
#include "../cache/scratch.h"
#include "compile/nvrtc.h"

#include <criterion/criterion.h>

TestSuite(release, .init = scratch_make, .fini = scratch_delete);

/* ---- by names ------------------------------------------------------------------------------- */

static const struct {
    const char *files[4], *link; /* what lies there; the first may be a link to `link` */
    qn_release release;
} compilers[] = {
    {{"libnvrtc.so.13", "libnvrtc-builtins.so.13.0"}, NULL, {13, 0}},
    {{"libnvrtc.so.12", "libnvrtc-builtins.so.12.1"}, NULL, {12, 1}},
    {{"libnvrtc.so.12", "libnvrtc.so.12.8.93"}, "libnvrtc.so.12.8.93", {12, 8}},
    {{"libnvrtc.so", "libnvrtc.so.12.6.20"}, "libnvrtc.so.12.6.20", {12, 6}},
    {{"libnvrtc.so.12", "libnvrtc-builtins.so.13.0", "libnvrtc-builtins.so.12.4",
      "libnvrtc-builtins.so.12.10"},
     NULL,
     {12, 10}},
    {{"libnvrtc.so.12", "libnvrtc-builtins.so.13.0"}, NULL, {12, -1}},
    {{"libnvrtc.so.12", "libnvrtc-builtins.alt.so.12.1"}, NULL, {12, -1}},
    {{"mine.so", "libnvrtc-builtins.so.12.9"}, NULL, {12, 9}},
    {{"mine.so"}, NULL, {0, -1}},
};

Test(release, of_compilers)
{
    for (size_t k = 0; k < QN_COUNT(compilers); k++) {
        char name[40], path[300];
        for (size_t n = compilers[k].link != NULL; n < 4 && compilers[k].files[n]; n++) {
            snprintf(name, sizeof name, "%zu/%s", k, compilers[k].files[n]);
            scratch_write(name, "");
        }
        snprintf(name, sizeof name, "%zu/%s", k, compilers[k].files[0]);
        snprintf(path, sizeof path, "%s", scratch_path(name));
        cr_assert(!compilers[k].link || symlink(compilers[k].link, path) == 0);
        qn_release r = qn_release_of_compiler(path);
        cr_expect_eq(r.major, compilers[k].release.major, "%zu: %d", k, r.major);
        cr_expect_eq(r.minor, compilers[k].release.minor, "%zu: %d", k, r.minor);
    }
    cr_expect_eq(qn_release_of_compiler("/no/such/libnvrtc.so.12").major, 12);
}

Test(release, that_fits_better_has_the_smaller_number)
{
    static const qn_release nvrtc = {12, 4},
                            better_first[] = {{12, 4}, {12, 1}, {12, 8}, {0, -1}, {13, 0}};
    for (size_t k = 0; k < QN_COUNT(better_first); k++) {
        cr_expect_eq(qn_release_misfit(nvrtc, better_first[k]), (int)k);
        cr_expect_eq(qn_release_misfit((qn_release){0, -1}, better_first[k]), 0);
    }
    cr_expect_eq(qn_release_misfit((qn_release){12, -1}, better_first[2]), 0);
    cr_expect_eq(qn_release_misfit(nvrtc, (qn_release){11, 8}), QN_WORST_MISFIT);
}

/* ---- headers for a compiler ----------------------------------------------------------------- */

static void make_headers(const char *folder, const char *number)
{
    char path[120], text[100];
    snprintf(path, sizeof path, "%s/cuda_runtime_api.h", folder);
    snprintf(text, sizeof text, "#define CUDART_VERSION  %s\n", number);
    scratch_write(path, text);
    snprintf(path, sizeof path, "%s/cuda_fp8.h", folder);
    scratch_write(path, "");
}

/* CUDA_HOME has release 13.0, CUDA_PATH 12.8, and the Python environment has 12.1. */
static const struct {
    const char *builtins, *folder;
    qn_release release;
} choices[] = {
    {"libnvrtc-builtins.so.12.1",
     "/venv/lib/python3.11/site-packages/nvidia/cuda_runtime/include",
     {12, 1}},
    {"libnvrtc-builtins.so.12.8", "/path/include", {12, 8}},
    {"libnvrtc-builtins.so.12.9", "/path/include", {12, 8}},
    {"libnvrtc-builtins.so.12.0", "/path/include", {12, 8}},
    {"libnvrtc-builtins.so.13.0", "/home/include", {13, 0}},
    {"nothing", "/home/include", {13, 0}},
    {"libnvrtc-builtins.so.14.2", "/home/include", {13, 0}},
};

static void expect_choice(size_t k)
{
    char name[60];
    qn_release release;
    qn_includes includes;
    qn_compile_request request = {.source = "#include <cuda_fp8.h>"};
    clearenv();
    snprintf(name, sizeof name, "nvrtc%zu/mine.so", k);
    scratch_write(name, "");
    setenv("QUERN_NVRTC", scratch_path(name), 1);
    snprintf(name, sizeof name, "nvrtc%zu/%s", k, choices[k].builtins);
    scratch_write(name, "");
    setenv("CUDA_HOME", scratch_path("home"), 1);
    setenv("CUDA_PATH", scratch_path("path"), 1);
    setenv("VIRTUAL_ENV", scratch_path("venv"), 1);
    cr_expect_str_eq(qn_cuda_headers(&release), scratch_path(choices[k].folder + 1), "%zu", k);
    cr_expect_eq(release.major, choices[k].release.major, "%zu: %d", k, release.major);
    cr_expect_eq(release.minor, choices[k].release.minor, "%zu: %d", k, release.minor);
    cr_assert_eq(qn_includes_find(&includes, &request), QUERN_OK);
    cr_expect_str_eq(includes.folders[0], scratch_path(choices[k].folder + 1), "%zu", k);
    qn_includes_free(&includes);
}

static void make_all_headers(void)
{
    make_headers("home/include", "13000");
    make_headers("path/include", "12080");
    make_headers("venv/lib/python3.11/site-packages/nvidia/cuda_runtime/include", "12010");
}

#define CHOICE(number)                                                                             \
    Test(release, headers_for_a_compiler_##number)                                                 \
    {                                                                                              \
        make_all_headers();                                                                        \
        expect_choice(number);                                                                     \
    }
CHOICE(0)
CHOICE(1)
CHOICE(2)
CHOICE(3)
CHOICE(4)
CHOICE(5)
CHOICE(6)

/* ---- a failure says that they differ -------------------------------------------------------- */

static const struct {
    const char *number, *log, *says; /* the log has the folder for %s */
} failures[] = {
    {"13000", "", "; NVRTC 12.1 read headers of CUDA 13.0 in "},
    {"12080", "%s/cuda_fp8.h(3): error: no", "; NVRTC 12.1 read headers of CUDA 12.8 "},
    {"12080", "operation(3): error: no", NULL},
    {"12010", "%s/cuda_fp8.h(3): error: no", NULL},
    {"nonsense", "%s/cuda_fp8.h(3): error: no", NULL},
};

Test(release, that_differs_is_told_when_a_compilation_fails)
{
    make_headers("mine", "12010");
    for (size_t k = 0; k < QN_COUNT(failures); k++) {
        char log[300], folder[200];
        make_headers("mine", failures[k].number);
        snprintf(folder, sizeof folder, "%s", scratch_path("mine"));
        const char *options[] = {"-I", folder};
        const char *percent = strstr(failures[k].log, "%s");
        snprintf(log, sizeof log, "%s%s", percent ? folder : "",
                 percent ? percent + 2 : failures[k].log);
        qn_compile_request request = {.options = options, .option_count = 2};
        qn_fail(QUERN_ERROR_COMPILE, "failed");
        qn_explain_releases(&request, (qn_release){12, 1}, log);
        const char *message = quern_last_error()->message;
        cr_expect(strncmp(message, "failed", 6) == 0, "%zu: %s", k, message);
        cr_expect(failures[k].says ? strstr(message, failures[k].says) != NULL
                                   : strcmp(message, "failed") == 0,
                  "%zu: %s", k, message);
    }
}

/* ---- which folders are trusted -------------------------------------------------------------- */

/* A folder within another; root can also give them away. */
static const struct {
    mode_t outer, inner;
    uid_t outer_owner, inner_owner; /* 0: oneself */
    bool trusted;
} folders[] = {
    {0755, 0755, 0, 0, true},       {0700, 0700, 0, 0, true},       {0755, 0777, 0, 0, false},
    {0777, 0755, 0, 0, false},      {01777, 0755, 0, 0, true},      {01777, 0777, 0, 0, false},
    {0755, 01777, 0, 0, false},     {0755, 0755, 0, 12345, false},  {0755, 0755, 12345, 0, false},
    {01777, 0755, 0, 12345, false}, {01777, 0755, 12345, 0, false},
};

Test(release, folders_that_are_trusted)
{
    bool root = geteuid() == 0;
    const char *outer = strdup(scratch_path("outer")), *inner = strdup(scratch_path("outer/inner"));
    cr_assert(mkdir(outer, 0700) == 0 && mkdir(inner, 0700) == 0);
    for (size_t k = 0; k < QN_COUNT(folders); k++) {
        if (!root && (folders[k].outer_owner || folders[k].inner_owner)) {
            continue; /* only root can give a folder away */
        }
        cr_assert(!root || (chown(outer, folders[k].outer_owner, 0) == 0 &&
                            chown(inner, folders[k].inner_owner, 0) == 0));
        cr_assert(chmod(outer, folders[k].outer) == 0 && chmod(inner, folders[k].inner) == 0);
        cr_expect_eq(qn_folder_is_trusted(inner), folders[k].trusted, "%zu", k);
        /* through a link it is the same folder */
        cr_assert_eq(symlink(inner, scratch_path("link")), 0);
        cr_expect_eq(qn_folder_is_trusted(scratch_path("link")), folders[k].trusted, "%zu", k);
        cr_assert_eq(unlink(scratch_path("link")), 0);
    }
    cr_expect(qn_folder_is_trusted("/usr/lib"));
    cr_expect(qn_folder_is_trusted(qn_library_own_folder()));
    cr_expect_not(qn_folder_is_trusted("/tmp"));
    cr_expect_not(qn_folder_is_trusted("/no/such/folder"));
}
