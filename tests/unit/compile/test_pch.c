/* SPDX-License-Identifier: MIT
 *
 * Precompiled headers: where they lie, who has them, that the code is the same, and that a
 * compilation without them is never an error. Skipped where NVRTC or CCCL's headers are absent, or
 * NVRTC is older than 12.8.
 */
#include "compile/nvrtc.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/quern-pch-XXXXXX", beside[64];
static const qn_nvrtc *nvrtc;

static void begin(void)
{
    qn_release release;
    char header[4096];
    if (qn_nvrtc_get(&nvrtc) != QUERN_OK || !nvrtc->GetPCHCreateStatus) {
        /* Runs wherever NVRTC 12.8 or later is: ./dev test fetches it where it is absent. */
        cr_skip_test("NVRTC 12.8 or later is not on this machine");
    }
    const char *cuda = qn_cuda_headers(&release);
    snprintf(header, sizeof header, "%s/cuda/std/cstddef", cuda);
    if (!qn_file_exists(header)) {
        snprintf(header, sizeof header, "%s/cccl/cuda/std/cstddef", cuda);
    }
    if (!qn_file_exists(header)) {
        cr_skip_test("CCCL's headers are not on this machine");
    }
    cr_assert(mkdtemp(folder) != NULL);
    snprintf(beside, sizeof beside, "%s/quern-1.db", folder);
}

static void end(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(pch, .init = begin, .fini = end, .timeout = 120);

/* The folder of this process, in `folder`; "" where there is none. */
static const char *own_folder(void)
{
    static char path[512];
    path[0] = '\0';
    DIR *list = opendir(folder);
    for (struct dirent *e; (e = readdir(list)) != NULL;) {
        if (strncmp(e->d_name, "pch-", 4) == 0) {
            snprintf(path, sizeof path, "%s/%.200s", folder, e->d_name);
        }
    }
    closedir(list);
    return path;
}

static int count_files(const char *path)
{
    int count = 0;
    DIR *list = opendir(path);
    for (struct dirent *e; list && (e = readdir(list)) != NULL;) {
        count += e->d_name[0] != '.';
    }
    if (list) {
        closedir(list);
    }
    return count;
}

#define WITH_LARGE(define)                                                                         \
    define                                                                                         \
        "#include <cuda/std/cstddef>\n"                                                            \
        "extern \"C\" __global__ void k(int *x) { *x = (int)sizeof(cuda::std::size_t) + %d; }\n"

static quern_status try_compile_with(qn_image *out, const char *text, int number,
                                     const char *const *options, size_t count)
{
    char source[512];
    qn_includes includes = {0};
    snprintf(source, sizeof source, text, number); /* NOLINT: the formats are above */
    qn_compile_request r = {.source = source,
                            .file_name = "k.cu",
                            .options = options,
                            .option_count = count,
                            .arch = 90,
                            .kind = QN_IMAGE_PTX,
                            .includes = &includes,
                            .beside = beside};
    quern_status status = qn_includes_find(&includes, &r);
    status = status == QUERN_OK ? qn_compile(out, &r, NULL, 0) : status;
    qn_includes_free(&includes);
    return status;
}

static quern_status try_compile(qn_image *out, const char *text, int number)
{
    return try_compile_with(out, text, number, NULL, 0);
}

/* The image of a source with a number, which the caller frees. */
static qn_image compiled(const char *text, int number, const char *const *options, size_t count)
{
    qn_image image;
    cr_assert_eq(try_compile_with(&image, text, number, options, count), QUERN_OK, "%s",
                 quern_last_error_text());
    cr_expect_str_eq(image.log, "");
    return image;
}

static void compile(const char *text, int number, const char *const *options, size_t count)
{
    qn_image image = compiled(text, number, options, count);
    qn_image_free(&image);
}

Test(pch, the_code_is_the_same)
{
    const char *text = WITH_LARGE("");
    setenv("QUERN_PCH", "0", 1);
    qn_image without = compiled(text, 7, NULL, 0);
    cr_assert_str_empty(own_folder(), "QUERN_PCH=0 makes none");
    unsetenv("QUERN_PCH");
    compile(text, 6, NULL, 0);
    struct stat s;
    cr_assert_eq(stat(own_folder(), &s), 0);
    cr_expect_eq(s.st_mode & 0777, 0700);
    cr_expect_eq(count_files(own_folder()), 1);
    qn_image with = compiled(text, 7, NULL, 0);
    cr_expect_eq(count_files(own_folder()), 1, "the second uses what the first has made");
    cr_assert_eq(with.size, without.size);
    cr_assert_eq(memcmp(with.data, without.data, with.size), 0);
    qn_image_free(&with);
    qn_image_free(&without);
}

/* Each new start makes its kernel slower and takes room, so there are at most four. */
Test(pch, few_starts_are_kept)
{
    static const char *const options[] = {"-DN=1", "-DN=2", "-DN=3", "-DN=4", "-DN=5", "-DN=6"};
    for (int k = 0; k < 6; k++) {
        compile(WITH_LARGE(""), k, &options[k], 1);
        cr_expect_eq(count_files(own_folder()), k < 4 ? k + 1 : 4);
    }
}

Test(pch, others_have_none)
{
    static const struct {
        const char *what, *source, *option;
        qn_header header;
    } cases[] = {
        {"no large header",
         "#include <cuda_fp16.h>\n__global__ void k(int *) {} // %d\n",
         NULL,
         {0}},
        {"none at all", "__global__ void k(int *) {} // %d\n", NULL, {0}},
        {"the user's own option", WITH_LARGE(""), "--pch", {0}},
        {"a header in memory", WITH_LARGE("#include \"own.h\"\n"), NULL, {"own.h", "// own\n"}},
    };
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        qn_includes includes = {0};
        const char *options[] = {cases[k].option};
        qn_compile_request r = {.source = cases[k].source,
                                .options = options,
                                .option_count = cases[k].option != NULL,
                                .headers = &cases[k].header,
                                .header_count = cases[k].header.name != NULL,
                                .arch = 90,
                                .kind = QN_IMAGE_PTX,
                                .beside = beside};
        cr_assert_eq(qn_includes_find(&includes, &r), QUERN_OK);
        r.includes = &includes;
        cr_expect_null(qn_pch_folder(&r, nvrtc), "%s", cases[k].what);
        qn_includes_free(&includes);
    }
    cr_expect_str_empty(own_folder());
}

Test(pch, no_folder_is_no_error)
{
    snprintf(beside, sizeof beside, "%s/nowhere/quern-1.db", folder);
    compile(WITH_LARGE(""), 1, NULL, 0);
    beside[0] = '\0';
    compile(WITH_LARGE(""), 2, NULL, 0);
    cr_expect_str_empty(own_folder());
}

/* In a folder that others write to, one of them could put a folder of their own in its place. */
Test(pch, a_shared_folder_has_none)
{
    cr_assert_eq(chmod(folder, 0770), 0);
    compile(WITH_LARGE(""), 1, NULL, 0);
    cr_expect_str_empty(own_folder());
}

/* NVRTC cannot write into a folder that is gone; from then on it is not asked. */
Test(pch, a_refusal_is_no_error)
{
    compile(WITH_LARGE(""), 1, NULL, 0);
    char path[512], command[600];
    snprintf(path, sizeof path, "%s", own_folder());
    snprintf(command, sizeof command, "rm -rf %s", path);
    cr_assert_eq(system(command), 0);
    compile(WITH_LARGE(""), 2, NULL, 0);
    compile(WITH_LARGE(""), 3, NULL, 0);
    cr_expect_str_empty(own_folder());
}

/* Where files may not be as long, none is begun: a signal would end the process. */
Test(pch, a_limit_of_files_is_no_error)
{
    const struct rlimit small = {100000, 100000};
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    compile(WITH_LARGE(""), 1, NULL, 0);
    cr_expect_eq(count_files(own_folder()), 0);
}

/* What NVRTC says for want of memory, of a header that is nowhere, and of the user's mistakes. */
Test(pch, what_is_tried_again_without)
{
    static const struct {
        int result;
        const char *log;
        bool again;
    } cases[] = {
        {NVRTC_COMPILATION, "Catastrophic error: unable to obtain mapped memory", true},
        {NVRTC_COMPILATION, "k.cu(1): catastrophic error: cannot open source file", true},
        {NVRTC_COMPILATION, "error: the PCH file is of another version", true},
        {NVRTC_COMPILATION, "k.cu(2): error: identifier \"y\" is undefined", false},
        {NVRTC_OUT_OF_MEMORY, "", true},
    };
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        cr_expect_eq(qn_pch_failed(nvrtc, NULL, cases[k].result, cases[k].log), cases[k].again,
                     "%s", cases[k].log);
    }
    compile(WITH_LARGE(""), 1, NULL, 0);
    qn_image image;
    cr_assert_eq(try_compile(&image, WITH_LARGE("#include <nowhere.h>\n"), 1), QUERN_ERROR_COMPILE);
    cr_expect(own_folder()[0] != 0, "that one was not to blame");
    qn_pch_give_up();
    cr_expect_str_empty(own_folder(), "nothing is left of them, as on a full disk");
    compile(WITH_LARGE(""), 2, NULL, 0);
    cr_expect_str_empty(own_folder());
}

/* A child that holds a folder until it is killed. */
static pid_t hold(const char *path)
{
    int ready[2];
    char byte;
    cr_assert_eq(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        const int held = open(path, O_RDONLY | O_DIRECTORY);
        (void)!write(ready[1], "", flock(held, LOCK_EX) == 0);
        close(ready[1]);
        pause();
        _exit(0);
    }
    close(ready[1]);
    cr_assert_eq(read(ready[0], &byte, 1), 1, "it is held");
    close(ready[0]);
    return child;
}

/* A folder that no living process holds is removed, and one that is held stays. */
Test(pch, what_others_left_is_removed)
{
    char left[128], held[128], file[160];
    snprintf(left, sizeof left, "%s/pch-left00", folder);
    snprintf(held, sizeof held, "%s/pch-held00", folder);
    snprintf(file, sizeof file, "%s/k_0.pch", left);
    cr_assert_eq(mkdir(left, 0700) | mkdir(held, 0700), 0);
    fclose(fopen(file, "w"));
    const struct timeval old[2] = {{1000, 0}, {1000, 0}};
    cr_assert_eq(utimes(left, old) | utimes(held, old), 0);
    const pid_t holder = hold(held);
    compile(WITH_LARGE(""), 1, NULL, 0);
    cr_expect_not(qn_file_exists(file));
    cr_expect_eq(rmdir(held), 0, "it was still there");
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
}

/* ---- several threads ------------------------------------------------------------------------ */

enum { THREADS = 4, EACH = 3 };

typedef struct compiling {
    pthread_t thread;
    pthread_barrier_t *start;
    int number;
    qn_image images[EACH];
} compiling;

static void *compile_some(void *context)
{
    compiling *c = context;
    pthread_barrier_wait(c->start);
    for (int k = 0; k < EACH; k++) {
        (void)try_compile(&c->images[k], WITH_LARGE(""), c->number + k);
    }
    return NULL;
}

/* One makes it while others look for it. */
Test(pch, threads_at_once)
{
    compiling all[THREADS];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, THREADS);
    for (int t = 0; t < THREADS; t++) {
        all[t] = (compiling){.start = &start, .number = 10 * t};
        cr_assert_eq(pthread_create(&all[t].thread, NULL, compile_some, &all[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(all[t].thread, NULL);
    }
    pthread_barrier_destroy(&start);
    cr_expect(own_folder()[0] != 0);
    setenv("QUERN_PCH", "0", 1);
    for (int t = 0; t < THREADS; t++) {
        for (int k = 0; k < EACH; k++) {
            qn_image *with = &all[t].images[k], without;
            cr_assert_eq(try_compile(&without, WITH_LARGE(""), 10 * t + k), QUERN_OK);
            cr_assert_eq(with->size, without.size, "thread %d", t);
            cr_assert_eq(memcmp(with->data, without.data, with->size), 0);
            qn_image_free(&without);
            qn_image_free(with);
        }
    }
}

/* ---- processes ------------------------------------------------------------------------------ */

/* Says nothing to Criterion: it is a child. */
static int compile_and_fork(void)
{
    qn_image image;
    if (try_compile(&image, WITH_LARGE(""), 1) != QUERN_OK || count_files(own_folder()) != 1) {
        return 1;
    }
    qn_image_free(&image);
    const pid_t grandchild = fork();
    if (grandchild == 0) {
        exit(0);
    }
    waitpid(grandchild, NULL, 0);
    return own_folder()[0] != '\0' ? 0 : 2;
}

/* A process takes its folder with it; a child does not. */
Test(pch, goes_with_its_process)
{
    pid_t child = fork();
    if (child == 0) {
        exit(compile_and_fork());
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", status);
    cr_expect_str_empty(own_folder());
}
