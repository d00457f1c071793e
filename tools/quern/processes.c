/* SPDX-License-Identifier: MIT
 *
 * Tasks done by several processes. In: tasks, and how many processes. Out: an exit status. The
 * thing to know: they are forked while no other thread is there, and die with the process that
 * began them.
 */
#include "processes.h"

#include "files.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_PROCESSES 64

/* What the processes share. */
typedef struct progress {
    atomic_size_t taken, done;
    atomic_bool failed;
} progress;

static pid_t workers[MOST_PROCESSES];
static atomic_size_t worker_count;

void cli_tasks_kill(void)
{
    for (size_t k = 0; k < atomic_load(&worker_count); k++) {
        kill(workers[k], SIGKILL);
    }
}

size_t cli_processes(const cli_number *asked)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return asked->given ? (size_t)asked->value : (size_t)(processors > 0 ? processors : 1);
}

void *cli_shared(size_t bytes)
{
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return data == MAP_FAILED ? NULL : data;
}

const size_t *cli_shuffled(size_t count)
{
    size_t *order = cli_alloc((count + 1) * sizeof *order);
    char host[65] = "";
    struct timespec now;
    (void)gethostname(host, sizeof host - 1);
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t state = (uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 32;
    for (const char *c = host; *c; c++) {
        state = (state ^ (unsigned char)*c) * 0x100000001b3u;
    }
    for (size_t k = 0; k < count; k++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const size_t at = (size_t)((state >> 33) % (k + 1));
        order[k] = order[at];
        order[at] = k;
    }
    return order;
}

/* ---- one process ---------------------------------------------------------------------------- */

static int work(const cli_tasks *tasks, progress *p)
{
    int status = CLI_OK;
    while (tasks->goes_on || (status == CLI_OK && !atomic_load(&p->failed))) {
        const size_t n = atomic_fetch_add(&p->taken, 1);
        if (n >= tasks->count) {
            break;
        }
        const int own = tasks->run(tasks->state, tasks->order ? tasks->order[n] : n);
        status = own == CLI_OK ? status : own;
        atomic_fetch_add(&p->done, 1);
    }
    if (status != CLI_OK) {
        atomic_store(&p->failed, true);
    }
    tasks->end(tasks->state);
    return status;
}

static bool begin_worker(const cli_tasks *tasks, progress *p, pid_t parent)
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
    _exit(work(tasks, p));
}

/* ---- all of them ---------------------------------------------------------------------------- */

static void show(progress *p, const cli_tasks *tasks, bool last)
{
    const size_t weight = tasks->weight ? tasks->weight : 1,
                 all = tasks->weight ? tasks->total : tasks->count;
    size_t done = atomic_load(&p->done) * weight;
    done = done < all ? done : all;
    fprintf(stderr, "\r\033[Kquern: %zu of %zu%s", done, all, last ? "\r\033[K" : "");
    fflush(stderr);
}

/* Wait for the processes. One that died without a word has its death told. */
static int wait_for_all(progress *p, const cli_tasks *tasks, bool tells)
{
    size_t left = atomic_load(&worker_count);
    int status = CLI_OK;
    while (left > 0) {
        int how;
        const pid_t pid = waitpid(-1, &how, tells ? WNOHANG : 0);
        if (pid == 0) {
            show(p, tasks, false);
            usleep(100000);
        } else if (pid < 0 && errno != EINTR) {
            break;
        } else if (pid > 0) {
            left--;
            if (WIFSIGNALED(how)) {
                atomic_store(&p->failed, true);
                status = cli_fail("a process that compiled died by signal %d", WTERMSIG(how));
            } else if (WEXITSTATUS(how) != CLI_OK) {
                status = CLI_FAILURE;
            }
        }
    }
    if (tells) {
        show(p, tasks, true);
    }
    atomic_store(&worker_count, 0);
    return status;
}

int cli_tasks_run(const cli_tasks *tasks, size_t processes)
{
    progress *p = cli_shared(sizeof *p);
    if (!p) {
        return cli_fail("out of memory");
    }
    const pid_t own = getpid();
    size_t count = processes < tasks->count ? processes : tasks->count;
    count = count < MOST_PROCESSES ? count : MOST_PROCESSES;
    fflush(NULL);
    cli_interrupt_pause();
    for (size_t k = 0; k < count && begin_worker(tasks, p, own); k++) {
    }
    cli_interrupt_resume();
    int status = CLI_OK;
    if (atomic_load(&worker_count) > 0) {
        status = wait_for_all(p, tasks, tasks->count > 1 && isatty(STDERR_FILENO));
    } else if (tasks->count > 0) {
        status = work(tasks, p);
    }
    munmap(p, sizeof *p);
    return status;
}
