/* SPDX-License-Identifier: MIT
 *
 * Finding and loading NVRTC when it is absent, broken, elsewhere, or something else. Each test is a
 * process of its own, because the compiler is looked for once.
 */
#include "compile/nvrtc.h"
#include "loading.h"

TestSuite(compiler, .init = scratch_make, .fini = scratch_delete);

static void expect_failure(quern_status status, const char *says)
{
    qn_image image;
    qn_compile_request request = {.source = "", .arch = 90, .kind = QN_IMAGE_PTX};
    cr_expect_eq(qn_compile(&image, &request, NULL, 0), status, "%s", quern_last_error_text());
    cr_expect(strstr(quern_last_error()->message, says), "%s", quern_last_error()->message);
    cr_expect_eq(qn_compiler_load(), status, "the second time as well");
    int major, minor;
    qn_compiler_version(&major, &minor);
    cr_expect_eq(major + minor, 0);
}

static const loading compiler = {
    .name = "NVRTC",
    .file = "libnvrtc.so.13",
    .variable = "QUERN_NVRTC",
    .not_found = QUERN_ERROR_NVRTC_NOT_FOUND,
    .unusable = QUERN_ERROR_NVRTC,
    .find = qn_compiler_find,
    .expect_failure = expect_failure,
};

Test(compiler, asked_for_but_absent)
{
    fails_asked_for_but_absent(&compiler);
}

Test(compiler, asked_for_folder_without_it)
{
    fails_asked_for_folder_without_it(&compiler);
}

Test(compiler, not_a_library)
{
    fails_not_a_library(&compiler);
}

Test(compiler, another_library)
{
    fails_another_library(&compiler);
}

Test(compiler, newest_of_a_folder)
{
    static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.12", "libnvrtc.so.13",
                                        "libnvrtc.so.11.2", "libnvrtc.so.9"};
    for (size_t k = 0; k < QN_COUNT(names); k++) {
        scratch_write(names[k], "");
    }
    setenv("QUERN_NVRTC", scratch, 1);
    expect_found(&compiler, scratch_path("libnvrtc.so.13"));
}

/* ---- the order of the places ---------------------------------------------------------------- */

Test(compiler, virtual_environment_newest_package)
{
    clearenv();
    setenv("VIRTUAL_ENV", scratch, 1);
    scratch_write("lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "");
    expect_found(&compiler,
                 scratch_path("lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"));
}

Test(compiler, virtual_environment_cuda_13)
{
    clearenv();
    setenv("VIRTUAL_ENV", scratch, 1);
    scratch_write("lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "");
    scratch_write("lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13", "");
    expect_found(&compiler,
                 scratch_path("lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13"));
}

Test(compiler, cuda_home_before_the_library_path)
{
    clearenv();
    setenv("CUDA_HOME", scratch_path("home"), 1);
    char list[500];
    snprintf(list, sizeof list, ":relative:%s", scratch_path("list"));
    setenv("LD_LIBRARY_PATH", list, 1);
    scratch_write("list/libnvrtc.so.13", "");
    scratch_write("home/lib64/libnvrtc.so.12", "");
    expect_found(&compiler, scratch_path("home/lib64/libnvrtc.so.12"));
}

Test(compiler, library_path)
{
    clearenv();
    char list[500];
    snprintf(list, sizeof list, "/nowhere:%s:", scratch_path("list"));
    setenv("LD_LIBRARY_PATH", list, 1);
    scratch_write("list/libnvrtc.so.12", "");
    expect_found(&compiler, scratch_path("list/libnvrtc.so.12"));
}

/* ---- several versions, and a driver that does not run all of them ---------------------------- */

#define ENVIRONMENT "lib/python3.12/site-packages/nvidia/"

/* What is found of these files by each driver. */
static const struct {
    const char *variable, *value; /* below scratch */
    const char *files[6];
    struct {
        int driver;
        const char *found;
    } drivers[4];
} choices[] = {
    {"QUERN_NVRTC",
     "a",
     {"a/libnvrtc.so.13", "a/libnvrtc.so.12", "a/libnvrtc.so.14"},
     {{0, "a/libnvrtc.so.14"},
      {13020, "a/libnvrtc.so.13"},
      {12080, "a/libnvrtc.so.12"},
      {14000, "a/libnvrtc.so.14"}}},
    {"QUERN_NVRTC", /* a file is what was asked for */
     "a/libnvrtc.so.14",
     {"a/libnvrtc.so.13", "a/libnvrtc.so.14"},
     {{12080, "a/libnvrtc.so.14"}, {13000, "a/libnvrtc.so.14"}}},
    {"VIRTUAL_ENV",
     "",
     {ENVIRONMENT "cu13/lib/libnvrtc.so.13", ENVIRONMENT "cu14/lib/libnvrtc.so.14",
      ENVIRONMENT "cuda_nvrtc/lib/libnvrtc.so.12"},
     {{0, ENVIRONMENT "cu14/lib/libnvrtc.so.14"},
      {13020, ENVIRONMENT "cu13/lib/libnvrtc.so.13"},
      {12080, ENVIRONMENT "cuda_nvrtc/lib/libnvrtc.so.12"}}},
    {"CUDA_HOME", /* the development link, whose release its neighbour tells */
     "",
     {"lib64/libnvrtc.so", "lib64/libnvrtc-builtins.so.13.1", "lib/libnvrtc.so.12"},
     {{0, "lib64/libnvrtc.so"}, {12080, "lib/libnvrtc.so.12"}}},
    {"QUERN_NVRTC", /* none that runs is better than none: it says itself what is wrong */
     "a",
     {"a/libnvrtc.so.13", "a/libnvrtc.so.14"},
     {{12080, "a/libnvrtc.so.14"}}},
};

Test(compiler, newest_that_the_driver_runs)
{
    for (size_t k = 0; k < QN_COUNT(choices); k++) {
        scratch_delete();
        scratch_make();
        for (size_t n = 0; n < 6 && choices[k].files[n]; n++) {
            scratch_write(choices[k].files[n], "");
        }
        clearenv();
        setenv(choices[k].variable, choices[k].value[0] ? scratch_path(choices[k].value) : scratch,
               1);
        for (size_t n = 0; n < 4 && choices[k].drivers[n].found; n++) {
            cr_assert_eq(qn_compiler_use(NULL), QUERN_OK); /* look again */
            qn_compiler_suit_driver(choices[k].drivers[n].driver);
            qn_compiler_identity found;
            cr_assert(qn_compiler_find(&found, NULL));
            cr_expect_str_eq(found.path, scratch_path(choices[k].drivers[n].found),
                             "%zu: driver %d: %s", k, choices[k].drivers[n].driver, found.path);
        }
        qn_compiler_suit(0);
    }
}

/* Of the system's folders the newest version counts, and not the order. */
Test(compiler, newest_of_the_system)
{
    static const char *const files[] = {"cuda/lib64/libnvrtc.so.12",
                                        "cuda/lib64/libnvrtc-builtins.so.12.4",
                                        "cuda-12.9/lib64/libnvrtc.so.12",
                                        "cuda-12.9/lib64/libnvrtc-builtins.so.12.9",
                                        "cuda-13.1/lib64/libnvrtc.so.13",
                                        "cuda-13.1/lib64/libnvrtc-builtins.so.13.1",
                                        "cuda-13.0/lib64/libnvrtc.so.13",
                                        "cuda-13.0/lib64/libnvrtc-builtins.so.13.0",
                                        "lib/libnvrtc.so.11"};
    for (size_t k = 0; k < QN_COUNT(files); k++) {
        scratch_write(files[k], "");
    }
    const qn_cuda_place all[] = {{NULL, scratch_path("cuda/lib64")},
                                 {NULL, scratch_path("lib")},
                                 {NULL, scratch_path("cuda-13.0/lib64")},
                                 {NULL, scratch_path("cuda-*/lib64")}};
    static const struct {
        int driver;
        size_t places;
        const char *found;
    } cases[] = {{0, 4, "cuda-13.1/lib64/libnvrtc.so.13"},
                 {13000, 4, "cuda-13.1/lib64/libnvrtc.so.13"},
                 {12080, 4, "cuda-12.9/lib64/libnvrtc.so.12"},
                 {13000, 3, "cuda-13.0/lib64/libnvrtc.so.13"},
                 {13000, 1, "cuda/lib64/libnvrtc.so.12"}};
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        qn_compiler_identity found;
        cr_expect(qn_compiler_newest(&found, all, cases[k].places, cases[k].driver));
        cr_expect_str_eq(found.path, scratch_path(cases[k].found), "%zu: %s", k, found.path);
    }
    qn_compiler_identity none;
    cr_expect_not(qn_compiler_newest(&none, all + 1, 1, 0), "of 11 there is no use");
}

/* ---- chosen by the program ------------------------------------------------------------------ */

Test(compiler, chosen_by_the_program)
{
    clearenv();
    setenv("QUERN_NVRTC", scratch_path("asked"), 1);
    scratch_write("asked/libnvrtc.so.13", "");
    scratch_write("known/libnvrtc.so.12", "");
    scratch_write("known/libnvJitLink.so.12", "");
    qn_compiler_identity found;
    cr_assert(qn_compiler_find(&found, NULL));
    cr_expect_str_eq(found.path, scratch_path("asked/libnvrtc.so.13"));
    const unsigned before = qn_compiler_choice();
    cr_assert_eq(qn_compiler_use(scratch_path("known")), QUERN_OK);
    cr_expect_neq(qn_compiler_choice(), before);
    cr_assert(qn_compiler_find(&found, NULL));
    cr_expect_str_eq(found.path, scratch_path("known/libnvrtc.so.12"));
    cr_assert(qn_linker_find(&found, NULL));
    cr_expect_str_eq(found.path, scratch_path("known/libnvJitLink.so.12"), "beside it");
    static const char *const absent[] = {"nowhere", "known/libnvrtc.so.13", ""};
    for (size_t k = 0; k < QN_COUNT(absent); k++) {
        char path[600];
        snprintf(path, sizeof path, "%s", k < 2 ? scratch_path(absent[k]) : "");
        cr_expect_eq(qn_compiler_use(path), QUERN_ERROR_NVRTC_NOT_FOUND);
        cr_expect(strstr(quern_last_error()->message, "there is no libnvrtc at \""), "%s",
                  quern_last_error()->message);
    }
    cr_assert(qn_compiler_find(&found, NULL));
    cr_expect_str_eq(found.path, scratch_path("known/libnvrtc.so.12"), "as before");
    cr_assert_eq(qn_compiler_use(scratch_path("asked/libnvrtc.so.13")), QUERN_OK);
    cr_assert(qn_compiler_find(&found, NULL));
    cr_expect_str_eq(found.path, scratch_path("asked/libnvrtc.so.13"));
}

/* CUDA's headers are those that fit the compiler that was chosen. */
Test(compiler, chosen_with_its_headers)
{
    clearenv();
    static const int majors[] = {12, 13};
    for (size_t k = 0; k < 2; k++) {
        char name[100], text[100];
        snprintf(name, sizeof name, "%d/lib/libnvrtc.so.%d", majors[k], majors[k]);
        scratch_write(name, "");
        snprintf(name, sizeof name, "%d/include/cuda_runtime_api.h", majors[k]);
        snprintf(text, sizeof text, "#define CUDART_VERSION %d000\n", majors[k]);
        scratch_write(name, text);
    }
    for (size_t k = 0; k < 4; k++) {
        char folder[600];
        snprintf(folder, sizeof folder, "%s/%d/lib", scratch, majors[k % 2]);
        cr_assert_eq(qn_compiler_use(folder), QUERN_OK);
        qn_release release;
        cr_expect_neq(qn_cuda_headers(&release)[0], '\0');
        cr_expect_eq(release.major, majors[k % 2]);
    }
}

Test(compiler, chosen_too_late)
{
    qn_compiler_identity real;
    if (qn_compiler_load() != QUERN_OK || !qn_compiler_find(&real, NULL)) {
        /* It compiles for real. Under ./dev it never skips: NVRTC is fetched where there is none.
         */
        cr_skip_test("NVRTC is not on this machine");
    }
    scratch_write("libnvrtc.so.13", "");
    cr_expect_eq(qn_compiler_use(scratch), QUERN_ERROR_NVRTC);
    cr_expect(strstr(quern_last_error()->message, "NVRTC was loaded already, from /"), "%s",
              quern_last_error()->message);
    cr_expect_eq(qn_compiler_use(real.path), QUERN_OK, "the one that it is");
    *strrchr(real.path, '/') = '\0';
    cr_expect_eq(qn_compiler_use(real.path), QUERN_OK, "its folder");
    cr_expect_eq(qn_compiler_use(NULL), QUERN_OK);
}

/* ---- elsewhere ------------------------------------------------------------------------------ */

static void link_file(const char *folder, const char *name)
{
    char from[600];
    snprintf(from, sizeof from, "%s/%s", folder, name);
    cr_assert_eq(symlink(from, scratch_path(name)), 0);
}

Test(compiler, both_libraries_in_a_folder_that_the_loader_does_not_know)
{
    qn_compiler_identity real;
    qn_image image;
    qn_compile_request request = {.source = "__global__ void k(float *x) { *x = sinf(*x); }",
                                  .arch = 90,
                                  .kind = QN_IMAGE_CUBIN};
    /* in a child, so that this process has not looked yet */
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    if (fork() == 0) {
        memset(&real, 0, sizeof real);
        qn_compiler_find(&real, NULL);
        _exit(write(ends[1], &real, sizeof real) == (ssize_t)sizeof real ? 0 : 1);
    }
    close(ends[1]);
    cr_assert_eq(read(ends[0], &real, sizeof real), (ssize_t)sizeof real);
    if (!real.path[0]) {
        /* The test is about how a real NVRTC finds its second library, so nothing can stand in for
         * it. Runs wherever NVRTC is: ./dev test fetches it where it is absent. */
        /* It compiles for real. Under ./dev it never skips: NVRTC is fetched where there is none.
         */
        cr_skip_test("NVRTC is not on this machine");
    }
    char *slash = strrchr(real.path, '/');
    *slash = '\0';
    link_file(real.path, slash + 1);
    glob_t builtins;
    char pattern[600];
    snprintf(pattern, sizeof pattern, "%s/libnvrtc-builtins.so.*", real.path);
    cr_assert_eq(glob(pattern, 0, NULL, &builtins), 0);
    for (size_t k = 0; k < builtins.gl_pathc; k++) {
        link_file(real.path, strrchr(builtins.gl_pathv[k], '/') + 1);
    }
    globfree(&builtins);

    clearenv();
    setenv("QUERN_NVRTC", scratch, 1);
    cr_expect_eq(qn_compile(&image, &request, NULL, 0), QUERN_OK, "%s", quern_last_error_text());
    qn_compiler_identity linked;
    cr_assert(qn_compiler_find(&linked, NULL));
    cr_expect_str_eq(linked.build_id, real.build_id, "the same build by another name");
    qn_image_free(&image);
}
