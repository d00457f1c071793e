/* SPDX-License-Identifier: MIT
 *
 * The program's signals while NVRTC compiles. In: where a compilation begins and ends. Out:
 * nothing. The thing to know: NVRTC's front end puts handlers of its own in place of the program's,
 * and these end the process with status 4: Ctrl-C in a notebook would take the notebook. A thread
 * puts the program's handlers back as soon as they are gone. Signals that the program leaves alone
 * are left to NVRTC.
 */
#include "compile/nvrtc.h"

#include <dlfcn.h>
#include <time.h>

#define TURN_NS 100000 /* how often it looks */

static const int watched[QN_WATCHED_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};

static bool is_handled(const struct sigaction *a)
{
    return (a->sa_flags & SA_SIGINFO) || (a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN);
}

/* Another thread of the program may have chosen another handler meanwhile: that one stays. */
static bool is_nvrtcs(const qn_signal_guard *g, const struct sigaction *a)
{
    Dl_info its, nvrtcs;
    return is_handled(a) && !(a->sa_flags & SA_SIGINFO) &&
           dladdr((void *)(uintptr_t)a->sa_handler, &its) != 0 &&
           dladdr((void *)(uintptr_t)g->nvrtc->CompileProgram, &nvrtcs) != 0 &&
           its.dli_fbase == nvrtcs.dli_fbase;
}

static void put_back(const qn_signal_guard *g)
{
    for (int k = 0; k < QN_WATCHED_SIGNALS; k++) {
        struct sigaction now;
        if (is_handled(&g->before[k]) && sigaction(watched[k], NULL, &now) == 0 &&
            now.sa_handler != g->before[k].sa_handler && is_nvrtcs(g, &now)) {
            sigaction(watched[k], &g->before[k], NULL);
        }
    }
}

static void *watch(void *context)
{
    qn_signal_guard *g = context;
    while (!atomic_load(&g->ended)) {
        put_back(g);
        nanosleep(&(struct timespec){0, TURN_NS}, NULL);
    }
    return NULL;
}

void qn_signals_guard(qn_signal_guard *g, const qn_nvrtc *nvrtc)
{
    bool any = false;
    g->nvrtc = nvrtc;
    atomic_init(&g->ended, false);
    for (int k = 0; k < QN_WATCHED_SIGNALS; k++) {
        sigaction(watched[k], NULL, &g->before[k]);
        any |= is_handled(&g->before[k]) && !is_nvrtcs(g, &g->before[k]);
    }
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* handlers run in the program's own threads */
    g->needed = any;
    g->runs = any && pthread_create(&g->thread, NULL, watch, g) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void qn_signals_unguard(qn_signal_guard *g)
{
    if (g->runs) {
        atomic_store(&g->ended, true);
        pthread_join(g->thread, NULL);
    }
    if (g->needed) { /* the compilation may have been shorter than a turn of the thread */
        put_back(g);
    }
}
