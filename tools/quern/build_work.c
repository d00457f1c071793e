/* SPDX-License-Identifier: MIT
 *
 * Compiling a list for several targets by several processes, since NVRTC compiles one thing at a
 * time in each. In: a list and targets. Out: images in a cache that all of them share. Each process
 * takes what nobody has taken yet. An interrupt ends them all and removes the folder.
 */
#include "build.h"
#include "files.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_PROCESSES = 64, MOST_ENGINES = 8 };

/* What the processes share. */
typedef struct progress {
    atomic_size_t taken, done;
    atomic_bool failed;
} progress;

typedef struct work {
    const build_list *list;
    const build_target *targets;
    size_t target_count;
    const char *cache;
    progress *progress;
} work;

/* ---- the folder ----------------------------------------------------------------------------- */

static char folder[4096];
static pid_t workers[MOST_PROCESSES];
static atomic_size_t worker_count;

static int remove_one(const char *path, const struct stat *facts, int flag, struct FTW *walk)
{
    (void)facts, (void)flag, (void)walk;
    return remove(path);
}

static void give_up(void)
{
    for (size_t k = 0; k < atomic_load(&worker_count); k++) {
        kill(workers[k], SIGKILL);
    }
    build_folder_remove();
}

void build_folder_remove(void)
{
    if (*folder) {
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        *folder = '\0';
    }
}

int build_folder_make(const char **out)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/quern-build-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(folder)) {
        const int status = cli_fail_errno(NULL, "make the folder", folder);
        *folder = '\0';
        return status;
    }
    cli_on_interrupt(give_up);
    *out = folder;
    return CLI_OK;
}

/* ---- one process ---------------------------------------------------------------------------- */

/* The engines of one target: one for each number of processors that its GPUs have. */
typedef struct engines {
    const build_target *target;
    quern_engine *list[MOST_ENGINES];
    size_t count;
} engines;

static void engines_close(engines *e)
{
    for (size_t k = 0; k < e->count; k++) {
        quern_close(e->list[k]);
    }
    e->count = 0;
}

static int engines_open(engines *e, const build_target *target, const char *cache)
{
    const uint32_t *counts = build_processors(target);
    engines_close(e);
    e->target = target;
    do {
        if (build_engine_open(&e->list[e->count], target, counts[e->count], cache) != QUERN_OK) {
            return cli_fail_library(target->name);
        }
        e->count++;
    } while (target->arch != 0 && e->count < MOST_ENGINES && counts[e->count] != 0);
    return CLI_OK;
}

/* Item and part of call number `n` of the list. */
static const build_item *find(const build_list *list, size_t n, size_t *part)
{
    const build_item *item = list->items;
    for (;; item++) {
        const size_t own = item->module ? 1 : item->part_count;
        if (n < own) {
            *part = n;
            return item;
        }
        n -= own;
    }
}

/* Elementwise kernels and modules do not depend on the number of processors. */
static bool depends(const build_item *item)
{
    const toml_value *kind = toml_find(item->table, "kind");
    return !item->module && kind && strcmp(kind->text, "elementwise") != 0;
}

static int do_one(const work *w, engines *e, size_t n)
{
    size_t part;
    const build_target *target = &w->targets[n / w->list->calls];
    const build_item *item = find(w->list, n % w->list->calls, &part);
    if (e->target != target) {
        CLI_TRY(engines_open(e, target, w->cache));
    }
    for (size_t k = 0; k < (depends(item) ? e->count : 1); k++) {
        CLI_TRY(build_replay(w->list, item, part, e->list[k], target));
    }
    return CLI_OK;
}

static int be_worker(const work *w)
{
    engines e = {0};
    const size_t all = w->target_count * w->list->calls;
    int status = CLI_OK;
    while (status == CLI_OK && !atomic_load(&w->progress->failed)) {
        const size_t n = atomic_fetch_add(&w->progress->taken, 1);
        if (n >= all) {
            break;
        }
        status = do_one(w, &e, n);
        atomic_fetch_add(&w->progress->done, 1);
    }
    if (status != CLI_OK) {
        atomic_store(&w->progress->failed, true);
    }
    engines_close(&e);
    return status;
}

/* ---- all of them ---------------------------------------------------------------------------- */

static bool begin_worker(const work *w, pid_t parent)
{
    const pid_t pid = fork();
    if (pid != 0) {
        if (pid > 0) {
            workers[atomic_load(&worker_count)] = pid;
            atomic_fetch_add(&worker_count, 1);
        }
        return pid > 0;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(CLI_FAILURE);
    }
    _exit(be_worker(w));
}

static void show(const work *w, size_t all, bool last)
{
    fprintf(stderr, "\r\033[Kquern: %zu of %zu%s", atomic_load(&w->progress->done), all,
            last ? "\r\033[K" : "");
    fflush(stderr);
}

/* Wait for the processes. One that died without a word has its death told. */
static int wait_for_all(const work *w, bool tells)
{
    const size_t all = w->target_count * w->list->calls;
    size_t left = atomic_load(&worker_count);
    int status = CLI_OK;
    while (left > 0) {
        int how;
        const pid_t pid = waitpid(-1, &how, tells ? WNOHANG : 0);
        if (pid == 0) {
            show(w, all, false);
            usleep(100000);
        } else if (pid < 0 && errno != EINTR) {
            break;
        } else if (pid > 0) {
            left--;
            if (WIFSIGNALED(how)) {
                atomic_store(&w->progress->failed, true);
                status = cli_fail("a process that compiled died by signal %d", WTERMSIG(how));
            } else if (WEXITSTATUS(how) != CLI_OK) {
                status = CLI_FAILURE;
            }
        }
    }
    if (tells) {
        show(w, all, true);
    }
    atomic_store(&worker_count, 0);
    return status;
}

int build_work(const build_list *list, const build_target *targets, size_t target_count,
               const char *cache, size_t processes)
{
    progress *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return cli_fail("out of memory");
    }
    const work w = {list, targets, target_count, cache, shared};
    const size_t all = target_count * list->calls;
    const pid_t own = getpid();
    size_t count = processes < all ? processes : all;
    count = count < MOST_PROCESSES ? count : MOST_PROCESSES;
    fflush(NULL);
    cli_interrupt_pause();
    for (size_t k = 0; k < count && begin_worker(&w, own); k++) {
    }
    cli_interrupt_resume();
    int status =
        atomic_load(&worker_count) > 0 ? wait_for_all(&w, isatty(STDERR_FILENO)) : be_worker(&w);
    munmap(shared, sizeof *shared);
    return status;
}
