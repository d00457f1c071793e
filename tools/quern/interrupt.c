/* SPDX-License-Identifier: MIT
 *
 * Ctrl-C, SIGTERM and SIGHUP end the command at once, whatever it is doing, and it dies by that
 * very signal, so that a shell's loop ends with it. Before that, temporary files are removed.
 * Nothing is said, unless a file is left incomplete because it could only be written in place.
 *
 * The signals are blocked and a thread of their own waits for them: NVRTC puts handlers of its own
 * in place while it compiles, and those end the process without a word.
 */
#include "files.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 50 /* for a launch to end and to print what its kernel has said so far */
#define STEP_MS     5

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t launch_ended = PTHREAD_COND_INITIALIZER;
static quern_engine *launching; /* guarded by `lock`, as is the next */
static bool ending;

static void (*_Atomic on_interrupt)(void);

void cli_on_interrupt(void (*function)(void))
{
    atomic_store(&on_interrupt, function);
}

void cli_launch_begins(quern_engine *engine)
{
    pthread_mutex_lock(&lock);
    launching = engine;
    pthread_mutex_unlock(&lock);
}

void cli_launch_ends(void)
{
    pthread_mutex_lock(&lock);
    launching = NULL;
    pthread_cond_signal(&launch_ended);
    while (ending) { /* its failure is not worth a message, and nothing is to come after it */
        pthread_cond_wait(&launch_ended, &lock);
    }
    pthread_mutex_unlock(&lock);
}

static struct timespec after_ms(struct timespec moment, long ms)
{
    long ns = moment.tv_nsec + ms * 1000000;
    return (struct timespec){moment.tv_sec + ns / 1000000000, ns % 1000000000};
}

static bool is_before(struct timespec a, struct timespec b)
{
    return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

/* Stop a launch on the software device, so that it prints what its kernel has said so far. */
static void stop_launch(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct timespec end = after_ms(now, PATIENCE_MS);
    pthread_mutex_lock(&lock);
    ending = true;
    for (int k = 0; k < PATIENCE_MS / STEP_MS && launching && is_before(now, end); k++) {
        struct timespec next = after_ms(now, STEP_MS);
        quern_interrupt(launching); /* again and again: the launch may not have begun yet */
        pthread_cond_timedwait(&launch_ended, &lock, &next);
        clock_gettime(CLOCK_REALTIME, &now);
    }
    pthread_mutex_unlock(&lock);
}

/* Pass on what was printed, unless that would mean waiting for a reader. */
static void flush_without_waiting(void)
{
    struct pollfd out = {STDOUT_FILENO, POLLOUT, 0};
    if (ftrylockfile(stdout) == 0 && poll(&out, 1, 0) == 1 && (out.revents & POLLOUT)) {
        fflush_unlocked(stdout);
    }
}

void cli_die_by(int signal_number)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal_number);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    for (int k = 0; k < 100; k++) { /* NVRTC may put its own handler back at this moment */
        signal(signal_number, SIG_DFL);
        raise(signal_number);
        pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    }
    _exit(128 + signal_number);
}

static sigset_t awaited, blocked_before;
static pthread_t watcher;
static bool watching;

static void *watch(void *context)
{
    int signal_number;
    while (sigwait(context, &signal_number) != 0) {
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL); /* it came first: nothing goes on */
    cli_save_abandon();
    void (*function)(void) = atomic_load(&on_interrupt);
    if (function) {
        function();
    }
    stop_launch();
    flush_without_waiting();
    cli_die_by(signal_number);
    return NULL;
}

void cli_signals_as_before(void)
{
    signal(SIGXFSZ, SIG_DFL);
    pthread_sigmask(SIG_SETMASK, &blocked_before, NULL);
}

void cli_interrupt_install(void)
{
    static const int watched[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t blocked;
    sigemptyset(&awaited);
    sigemptyset(&blocked);
    for (size_t k = 0; k < CLI_COUNT(watched); k++) {
        struct sigaction action;
        sigaddset(&blocked, watched[k]);
        /* Signals that the parent wants ignored (nohup, a shell's background jobs) stay so; they
         * are blocked as well, because of NVRTC's handlers. */
        if (sigaction(watched[k], NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
            sigaddset(&awaited, watched[k]);
        }
    }
    pthread_sigmask(SIG_BLOCK, &blocked, &blocked_before);
    cli_interrupt_resume();
}

void cli_interrupt_pause(void)
{
    if (watching) {
        pthread_cancel(watcher);
        pthread_join(watcher, NULL);
        watching = false;
    }
}

void cli_interrupt_resume(void)
{
    watching = pthread_create(&watcher, NULL, watch, &awaited) == 0;
    if (!watching) {
        pthread_sigmask(SIG_SETMASK, &blocked_before, NULL); /* they end the command as usual */
    }
}
