/* SPDX-License-Identifier: MIT
 *
 * Tasks done by several processes. In: tasks, and how many processes. Out: an exit status. The
 * thing to know: they are forked while no other thread is there, and die with the process that
 * began them. From an interrupt on, that one does nothing but wait for its own end.
 */
#include "processes.h"

#include "files.h"

#include <errno.h>
#include <pthread.h>
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

/* Guards these, so that no number of a process is used that may belong to another by now. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t workers[MOST_PROCESSES]; /* 0: reaped */
static size_t worker_count;

void cli_interrupt_lock(void)
{
    pthread_mutex_lock(&lock);
}

void cli_interrupt_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void cli_stay_if_interrupted(void)
{
    cli_interrupt_lock();
    cli_interrupt_unlock();
}

void cli_tasks_kill(void)
{
    cli_interrupt_lock();
    for (size_t k = 0; k < worker_count; k++) {
        if (workers[k] > 0) {
            kill(workers[k], SIGKILL);
        }
    }
    for (size_t k = 0; k < worker_count; k++) {
        if (workers[k] > 0) {
            waitpid(workers[k], NULL, 0); /* so that it writes nothing any more */
        }
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
        if (pid > 0) { /* no interrupt is handled meanwhile */
            workers[worker_count++] = pid;
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

/* A process has ended: note that, unless an interrupt has ended it. */
static int reap(pid_t pid)
{
    int how = 0;
    cli_interrupt_lock();
    waitpid(pid, &how, 0);
    for (size_t k = 0; k < worker_count; k++) {
        workers[k] = workers[k] == pid ? 0 : workers[k];
    }
    cli_interrupt_unlock();
    if (WIFSIGNALED(how)) {
        return cli_fail("a process that compiled died by signal %d", WTERMSIG(how));
    }
    return WEXITSTATUS(how) == CLI_OK ? CLI_OK : CLI_FAILURE;
}

/* Wait for the processes. One that died without a word has its death told. */
static int wait_for_all(progress *p, const cli_tasks *tasks, bool tells)
{
    size_t left = worker_count;
    int status = CLI_OK;
    while (left > 0) {
        siginfo_t ended = {0};
        if (waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT | (tells ? WNOHANG : 0)) != 0) {
            if (errno == EINTR) {
                continue;
            }
            cli_stay_if_interrupted(); /* which has waited for them */
            break;
        }
        if (ended.si_pid == 0) {
            show(p, tasks, false);
            usleep(100000);
            continue;
        }
        left--;
        if (reap(ended.si_pid) != CLI_OK) {
            status = CLI_FAILURE;
            atomic_store(&p->failed, true);
        }
    }
    if (tells) {
        show(p, tasks, true);
    }
    cli_interrupt_lock();
    worker_count = 0;
    cli_interrupt_unlock();
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
    if (worker_count > 0) {
        status = wait_for_all(p, tasks, tasks->count > 1 && isatty(STDERR_FILENO));
    } else if (tasks->count > 0) {
        status = work(tasks, p);
    }
    munmap(p, sizeof *p);
    return status;
}
