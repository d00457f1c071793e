/* SPDX-License-Identifier: MIT
 *
 * Whole processes: run commands in turn, many times, and print the median wall time and the largest
 * resident memory of each. Standard output of the commands is dropped. Their order rotates, so that
 * a drift of the machine meets all alike.
 *
 * usage: bench_process RUNS LABEL COMMAND... [-- LABEL COMMAND...]...
 */
#include "bench.h"
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_COMMANDS 8
#define MAX_RUNS     1000

typedef struct command {
    const char *label;
    char **argv;
    double times[MAX_RUNS];
    long resident_kb;
} command;

static command commands[MAX_COMMANDS];

static void run(command *c, int at)
{
    double begin = bench_now_us();
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        execvp(c->argv[0], c->argv);
        perror(c->argv[0]);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
        fprintf(stderr, "bench_process: %s failed\n", c->label);
        exit(1);
    }
    c->times[at] = (bench_now_us() - begin) * 1e-3;
    if (usage.ru_maxrss > c->resident_kb) {
        c->resident_kb = usage.ru_maxrss;
    }
}

int main(int argc, char **argv)
{
    int runs = argc > 3 ? atoi(argv[1]) : 0, count = 0;
    if (runs < 1 || runs > MAX_RUNS) {
        fputs("usage: bench_process RUNS LABEL COMMAND... [-- LABEL COMMAND...]...\n", stderr);
        return 2;
    }
    for (int at = 2; at + 1 < argc && count < MAX_COMMANDS; count++) {
        commands[count].label = argv[at++];
        commands[count].argv = &argv[at];
        while (at < argc && strcmp(argv[at], "--") != 0) {
            at++;
        }
        argv[at++] = NULL;
    }
    for (int r = 0; r < runs; r++) {
        for (int k = 0; k < count; k++) {
            run(&commands[(r + k) % count], r);
        }
    }
    for (int k = 0; k < count; k++) {
        bench_print("process", commands[k].label, "whole process", "ms",
                    bench_median(commands[k].times, (size_t)runs));
        bench_print("process", commands[k].label, "whole process", "resident MiB",
                    (double)commands[k].resident_kb / 1024);
    }
    return 0;
}
