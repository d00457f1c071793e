/* SPDX-License-Identifier: MIT
 *
 * What the command is doing when interrupts.c interrupts it: each phase is a command line with what
 * has to be done around it.
 */
#ifndef INTERRUPTS_H
#define INTERRUPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define BIG         "zeros:float64:8000000"
#define BIG_BYTES   (128 + 8000000 * 8)
#define SMALL_BYTES (128 + 24)
#define COUNT(a)    (sizeof(a) / sizeof((a)[0]))

typedef struct phase {
    const char *name;
    const char *arguments[14];
    bool endless;  /* it never ends by itself */
    bool no_cache; /* it compiles again each time */
    bool saves;    /* old.npy is the old array or the new one afterwards */
    bool in_place; /* old.npy may be incomplete; the command then says so */
    void (*before)(void);
    void (*after)(void);
    const char *input; /* what standard input is; NULL for nothing */
    bool full_output;  /* standard output is a pipe that takes no more */
} phase;

extern const phase phases[];
extern const size_t phase_count;
extern char terms[40000]; /* a snippet that takes NVRTC minutes */

/* Write old.npy, an array of SMALL_BYTES. */
void make_old(void);
/* Start the command of a phase; `errors` is its standard error. */
pid_t start(const phase *p, int errors);
void wait_for(double seconds);
/* End the test unless this is so; errno says why. */
void need(bool good, const char *what);

#endif /* INTERRUPTS_H */
