/* SPDX-License-Identifier: MIT
 *
 * Ctrl-C: the first one stops the launch that runs, and the command ends with a message; the second
 * ends the command at once. Either way, and on SIGTERM and SIGHUP, no temporary file is left.
 *
 * The signals are blocked and a thread of their own waits for them: NVRTC puts handlers of its own
 * in place while it compiles, and those end the process without a word.
 */
#include "cli.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static quern_engine *running; /* guarded by `lock` */
static atomic_int interrupts;

static void say_and_exit(void)
{
    static const char message[] = "quern: error: interrupted\n";
    cli_npy_discard();
    ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
    _exit(written < 0 ? CLI_FAILURE + 1 : CLI_FAILURE);
}

static void stop_launch(void)
{
    pthread_mutex_lock(&lock);
    if (running) {
        quern_interrupt(running);
    }
    pthread_mutex_unlock(&lock);
}

/* End as the signal would have ended the command. */
static void end_by(int signal_number)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal_number);
    cli_npy_discard();
    signal(signal_number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    raise(signal_number);
}

static void *watch(void *context)
{
    const sigset_t *signals = context;
    const struct timespec moment = {0, 200000000};
    for (;;) {
        int signal_number = atomic_load(&interrupts) > 0 ? sigtimedwait(signals, NULL, &moment)
                                                         : sigwaitinfo(signals, NULL);
        if (signal_number == SIGINT && atomic_fetch_add(&interrupts, 1) > 0) {
            say_and_exit();
        }
        if (signal_number == SIGTERM || signal_number == SIGHUP) {
            end_by(signal_number);
        }
        if (atomic_load(&interrupts) > 0) {
            stop_launch(); /* again and again: the launch may not have begun at the first time */
        }
    }
    return NULL;
}

void cli_interrupt_install(void)
{
    static const int watched[] = {SIGINT, SIGTERM, SIGHUP};
    static sigset_t signals;
    sigemptyset(&signals);
    for (size_t k = 0; k < CLI_COUNT(watched); k++) {
        struct sigaction action;
        /* What the parent wants ignored, as nohup and a shell's background jobs do, stays so. */
        if (sigaction(watched[k], NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
            sigaddset(&signals, watched[k]);
        }
    }
    pthread_t thread;
    sigset_t before;
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    if (pthread_create(&thread, NULL, watch, &signals) == 0) {
        pthread_detach(thread);
    } else {
        pthread_sigmask(SIG_SETMASK, &before, NULL); /* signals then end the command as usual */
    }
}

void cli_interrupt_engine(quern_engine *engine)
{
    pthread_mutex_lock(&lock);
    running = engine;
    pthread_mutex_unlock(&lock);
}

int cli_interrupted(void)
{
    return atomic_load(&interrupts) > 0 ? cli_fail("interrupted") : CLI_OK;
}
