/* SPDX-License-Identifier: MIT
 *
 * Ctrl-C: the first one stops the launch that runs, and the command ends with a message; the second
 * ends the command at once. Either way, and on SIGTERM and SIGHUP, no temporary file is left.
 */
#include "cli.h"

#include <signal.h>
#include <unistd.h>

static quern_engine *volatile running;
static volatile sig_atomic_t interrupts;

static void say_and_exit(void)
{
    static const char message[] = "quern: error: interrupted\n";
    cli_npy_discard();
    ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
    _exit(written < 0 ? CLI_FAILURE + 1 : CLI_FAILURE);
}

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupts = interrupts + 1;
    if (interrupts > 1 || !running) {
        say_and_exit();
    }
    quern_interrupt(running);
}

static void on_end(int signal_number)
{
    cli_npy_discard();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* What the parent wants ignored, as nohup and a shell's background jobs do, stays ignored. */
static void install(int signal_number, void (*handler)(int))
{
    struct sigaction before, action = {.sa_handler = handler};
    if (sigaction(signal_number, NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
        sigaction(signal_number, &action, NULL);
    }
}

void cli_interrupt_install(void)
{
    install(SIGINT, on_interrupt);
    install(SIGTERM, on_end);
    install(SIGHUP, on_end);
}

void cli_interrupt_engine(quern_engine *engine)
{
    running = engine;
}

int cli_interrupted(void)
{
    return interrupts > 0 ? cli_fail("interrupted") : CLI_OK;
}
