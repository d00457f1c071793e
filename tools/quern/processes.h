/* SPDX-License-Identifier: MIT
 *
 * Work that several processes share, since NVRTC compiles one thing at a time in each. In: tasks by
 * number. Out: all of them are done, or one has failed.
 */
#ifndef QUERN_CLI_PROCESSES_H
#define QUERN_CLI_PROCESSES_H

#include "cli.h"

typedef struct cli_tasks {
    size_t count;
    const size_t *order; /* in which they are taken; NULL: as they are numbered */
    /* In a process, which has a copy of `state` to itself. Prints what fails; CLI_FAILURE. */
    int (*run)(void *state, size_t task);
    void (*end)(void *state); /* of a process, after its last task */
    void *state;
    bool goes_on;         /* after one that failed */
    size_t weight, total; /* a task is so many of what is counted for people; 0: one each */
} cli_tasks;

/* Do them all, by so many processes; each takes what nobody has taken yet. Tells how far it is
 * where standard error is a terminal. CLI_FAILURE when one failed. */
int cli_tasks_run(const cli_tasks *tasks, size_t processes);
/* End the processes, wait for their ends, and take the lock for good: for who is interrupted. */
void cli_tasks_kill(void);
/* The lock of what an interrupt undoes: whoever makes or removes such a thing holds it. */
void cli_interrupt_lock(void);
void cli_interrupt_unlock(void);
/* Does not return once an interrupt has come: what fails from then on is not worth a message. */
void cli_stay_if_interrupted(void);
/* One for each processor. */
size_t cli_processes(const cli_number *asked);
/* Memory that the processes share, all zero; NULL: there is none. It stays. */
void *cli_shared(size_t bytes);
/* The numbers below `count` in an order that differs from process to process and machine to
 * machine. */
const size_t *cli_shuffled(size_t count);

#endif /* QUERN_CLI_PROCESSES_H */
