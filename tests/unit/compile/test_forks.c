/* SPDX-License-Identifier: MIT
 *
 * fork() while another thread compiles: the child compiles, and ends, as any process does.
 */
#include "compile/nvrtc.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 4, FUNCTIONS = 300, PATIENCE = 8 };

static atomic_bool over;
static atomic_int compiled;

#ifdef __SANITIZE_ADDRESS__
/* A child has no such thread, so what that thread had allocated looks lost there: this program does
 * not look for leaks at its end. */
__attribute__((visibility("default"))) const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "leak_check_at_exit=0";
}
#endif

/* So many functions that the compiler takes a while. */
static char *long_source(int number)
{
    qn_text text = {0};
    for (int k = 0; k < FUNCTIONS; k++) {
        qn_text_printf(&text,
                       "extern \"C\" __global__ void f%d(float *x) { for (int i = 0; i < %d; i++)"
                       " x[i] = x[i + 1] / (x[i] + %d); }\n",
                       k, number, k);
    }
    return qn_text_take(&text);
}

static bool compile(const char *source)
{
    qn_image image;
    qn_includes includes = {0};
    const qn_compile_request r = {
        .source = source, .arch = 90, .kind = QN_IMAGE_PTX, .includes = &includes};
    const bool good = qn_compile(&image, &r, NULL, 0) == QUERN_OK;
    if (good) {
        qn_image_free(&image);
    }
    return good;
}

static void *compile_on(void *unused)
{
    for (int number = 1; !atomic_load(&over); number++) {
        char *source = long_source(number);
        if (!source || !compile(source)) {
            atomic_store(&compiled, -1000);
        }
        atomic_fetch_add(&compiled, 1);
        qn_free(source);
    }
    return unused;
}

Test(forks, a_child_compiles_and_exits, .timeout = 120)
{
    const qn_nvrtc *nvrtc;
    if (qn_nvrtc_get(&nvrtc) != QUERN_OK) {
        /* There is nothing to compile with. ./dev test fetches NVRTC, so this is never skipped
         * there. */
        cr_skip_test("no NVRTC on this machine: %s", quern_last_error_text());
    }
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, compile_on, NULL), 0);
    for (int k = 0; k < CHILDREN; k++) {
        usleep(100000); /* in the middle of a compilation, most often */
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            const bool compiles = k % 2 == 1;
            alarm(compiles ? 8 * PATIENCE : PATIENCE);
            exit(!compiles || compile("__global__ void k() {}") ? 0 : 1);
        }
        int status = -1;
        cr_assert_eq(waitpid(child, &status, 0), child);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child %d: %x", k, status);
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    cr_expect_gt(atomic_load(&compiled), 0);
}
