/* SPDX-License-Identifier: MIT
 *
 * interrupts QUERN [STEPS]: sends the command SIGINT, SIGTERM and SIGHUP at STEPS moments of
 * everything that it can be doing: compiling, generating, reading, writing, printing, waiting,
 * launching. Each time it must end within 0.3 s and by that signal, print nothing, leave no
 * temporary file, and leave the old output or the whole new one; and at the end its cache must
 * still work.
 *
 * A busy machine may sometimes take longer, so a moment that took too long is tried up to five
 * times; more than two seconds are too long in any case.
 */
#include "interrupts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SOON     0.3 /* seconds */
#define AT_MOST  2.0
#define ATTEMPTS 5
#define LONGEST  0.5 /* how far into a phase the last moment lies, at most */

static const char *quern;
static char folder[] = "/tmp/quern-interrupts.XXXXXX";
static int moments, failures;

void need(bool good, const char *what)
{
    if (!good) {
        perror(what);
        exit(1);
    }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void wait_for(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}
/* ---- one moment ----------------------------------------------------------------------------- */

/* A pipe whose buffer is full. */
static int full_pipe(int *reader)
{
    int ends[2];
    need(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0, "pipe");
    char page[4096] = {0};
    while (write(ends[1], page, sizeof page) > 0) {
    }
    while (write(ends[1], page, 1) > 0) {
    }
    need(fcntl(ends[1], F_SETFL, 0) == 0, "pipe");
    *reader = ends[0];
    return ends[1];
}

pid_t start(const phase *p, int errors)
{
    const char *argv[COUNT(p->arguments) + 2] = {quern};
    for (size_t k = 0; k < COUNT(p->arguments); k++) {
        argv[k + 1] = p->arguments[k];
    }
    int reader = -1;
    int out = p->full_output ? full_pipe(&reader) : open("/dev/null", O_WRONLY | O_CLOEXEC);
    pid_t child = fork();
    need(child >= 0, "fork");
    if (child == 0) {
        setenv("QUERN_CACHE_DIR", p->no_cache ? "off" : "cache", 1);
        dup2(out, STDOUT_FILENO);
        dup2(errors, STDERR_FILENO);
        if (p->full_output) {
            dup2(reader, 20); /* kept open, so that writing waits */
        }
        execv(quern, (char *const *)argv);
        _exit(127);
    }
    close(out);
    if (reader >= 0) {
        close(reader);
    }
    return child;
}

/* Wait until the child ends. Gives its status and returns how many seconds it took. Kills it after
 * AT_MOST. */
static double reap(pid_t child, int *status)
{
    double from = now();
    while (waitpid(child, status, WNOHANG) == 0) {
        if (now() - from > AT_MOST) {
            kill(child, SIGKILL);
            waitpid(child, status, 0);
            return now() - from;
        }
        wait_for(0.0005);
    }
    return now() - from;
}

static int remove_one(const char *path, const struct stat *facts, int flag, struct FTW *walk)
{
    (void)facts, (void)flag, (void)walk;
    return remove(path);
}

/* What the command left in the folder, which is then removed; NULL for nothing. */
static const char *leftover(void)
{
    static char name[256];
    DIR *here = opendir(".");
    need(here != NULL, "folder");
    name[0] = 0;
    for (struct dirent *e; (e = readdir(here));) {
        if (strncmp(e->d_name, ".quern", 6) == 0 || strncmp(e->d_name, "quern-build-", 12) == 0) {
            snprintf(name, sizeof name, "%.200s", e->d_name);
            nftw(name, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        }
    }
    closedir(here);
    return name[0] ? name : NULL;
}

static off_t size_of(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? info.st_size : -1;
}

static bool complain(const phase *p, int signal_number, double delay, const char *what)
{
    printf("WRONG %s, %s after %.3f s: %s\n", p->name, strsignal(signal_number), delay, what);
    return false;
}

/* What is true of the files and messages whenever the command was stopped. */
static bool check_rest(const phase *p, int signal_number, double delay, bool done)
{
    char said[400] = "";
    int errors = open("said", O_RDONLY | O_CLOEXEC);
    ssize_t length = read(errors, said, sizeof said - 1);
    close(errors);
    const char *rest = leftover();
    off_t size = size_of("old.npy");
    bool whole = size == SMALL_BYTES || size == BIG_BYTES;
    bool good = true;
    if (rest) {
        good = complain(p, signal_number, delay, rest);
    }
    bool told = p->in_place && strstr(said, "incomplete");
    if (p->saves && !whole && !told) {
        good =
            complain(p, signal_number, delay, "old.npy is neither the old array nor the new one");
    }
    if (length > 0 && !done && !told) {
        good = complain(p, signal_number, delay, said);
    }
    return good;
}

/* Send the signal after `delay` seconds. False when it took too long, which may be tried again. */
static bool interrupt(const phase *p, int signal_number, double delay, bool last)
{
    char text[100];
    int status;
    make_old();
    if (p->before) {
        p->before();
    }
    int errors = open("said", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    pid_t child = start(p, errors);
    close(errors);
    wait_for(delay);
    kill(child, signal_number);
    double took = reap(child, &status);
    if (p->after) {
        p->after();
    }
    bool done = WIFEXITED(status) && WEXITSTATUS(status) == 0 && !p->endless;
    bool good = check_rest(p, signal_number, delay, done);
    if (!done && !(WIFSIGNALED(status) && WTERMSIG(status) == signal_number)) {
        snprintf(text, sizeof text, "it ended with status 0x%x", (unsigned)status);
        good = complain(p, signal_number, delay, text);
    }
    failures += !good;
    if (took > SOON && last) {
        snprintf(text, sizeof text, "it took %.2f s to end", took);
        complain(p, signal_number, delay, text);
        failures++;
    }
    return took <= SOON || !good;
}

/* How long the phase takes when nothing stops it. */
static double length_of(const phase *p)
{
    int status, errors = open("said", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    make_old();
    if (p->before) {
        p->before();
    }
    double length = p->endless ? LONGEST : reap(start(p, errors), &status);
    if (p->after) {
        p->after();
    }
    close(errors);
    leftover(); /* left by a child that took so long that it was killed */
    return length < LONGEST ? length : LONGEST;
}

static void run_phase(const phase *p, int steps)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    static int turn;
    double length = length_of(p);
    int before = failures;
    for (int k = 0; k < steps; k++) {
        /* the first moment is no earlier than the command's own first steps */
        double delay = 0.01 + length * k / steps;
        int signal_number = signals[turn++ % 3];
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            if (interrupt(p, signal_number, delay, attempt == ATTEMPTS - 1)) {
                break;
            }
        }
        moments++;
    }
    printf("%-36s %d moments within %.2f s%s\n", p->name, steps, length,
           failures > before ? ": WRONG" : "");
}

/* ---- signals that are ignored, and readers that go away ------------------------------------- */

/* What the parent ignores, as nohup does, must not stop the command. */
static void run_ignored(int signal_number)
{
    const phase *p = &phases[2];
    int status;
    signal(signal_number, SIG_IGN);
    for (int k = 0; k < 3; k++) {
        pid_t child = start(p, STDERR_FILENO);
        for (int sent = 0; sent < 10; sent++) {
            wait_for(0.01);
            kill(child, signal_number);
        }
        waitpid(child, &status, 0);
        moments++;
        if (status != 0) {
            complain(p, signal_number, 0, "it is ignored, and ended the command");
            failures++;
        }
    }
    signal(signal_number, SIG_DFL);
}

/* `quern ... | head` ends quietly, and leaves nothing. */
static void run_broken_pipe(void)
{
    static const phase p = {.name = "a reader that goes away",
                            .arguments = {"elementwise", "T x", "T y, T z", "y = z = x", "x=" BIG,
                                          "y=pipe.npy", "z=old.npy"},
                            .saves = true};
    make_old();
    int errors = open("said", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), status;
    pid_t child = start(&p, errors);
    close(errors);
    int reader = open("pipe.npy", O_RDONLY | O_CLOEXEC);
    char byte;
    need(read(reader, &byte, 1) == 1, "pipe.npy");
    close(reader);
    reap(child, &status);
    moments++;
    bool good = check_rest(&p, SIGPIPE, 0, false) && size_of("old.npy") == SMALL_BYTES;
    if (!good || !WIFSIGNALED(status) || WTERMSIG(status) != SIGPIPE) {
        complain(&p, SIGPIPE, 0, "it did not die quietly");
        failures++;
    }
}

/* ---- all ------------------------------------------------------------------------------------ */

/* Run once; exit status 0 is expected. */
static void run(const phase *p)
{
    int status;
    pid_t child = start(p, STDERR_FILENO);
    waitpid(child, &status, 0);
    if (status != 0) {
        printf("WRONG %s: status 0x%x\n", p->name, (unsigned)status);
        failures++;
    }
}

/* A list of three kernels for quern build. */
static void make_list(const char *path, const char *operation)
{
    FILE *list = fopen(path, "w");
    need(list != NULL, path);
    for (int k = 0; k < 3; k++) {
        fprintf(list,
                "[[kernel]]\nname = \"k%d\"\nin = \"T x\"\nout = \"T y\"\noperation = \"%s\"\n"
                "[[kernel.call]]\narguments = [\"float32[8]\", \"-\"]\n",
                k, operation);
    }
    need(fclose(list) == 0, path);
}

static void prepare(void)
{
    static const phase kernels[] = {
        {.name = "one output",
         .arguments = {"elementwise", "T x", "T y", "y = x", "x=" BIG, "y=big.npy"}},
        {.name = "one float32 output",
         .arguments = {"elementwise", "T x", "T y", "y = x", "x=ones:float32:8", "--quiet"}},
        {.name = "two outputs",
         .arguments = {"elementwise", "T x", "T y, T z", "y = z = x", "x=ones:float64:2",
                       "--quiet"}},
    };
    need(mkdtemp(folder) && chdir(folder) == 0, folder);
    need(mkdir("cache", 0700) == 0 && mkfifo("pipe.npy", 0600) == 0, folder);
    setenv("QUERN_DEVICE", "soft", 1);
    setenv("TMPDIR", folder, 1);
    char *p = terms + strlen(terms);
    for (int k = 0; k < 500; k++) {
        p += sprintf(p, "; y += sin(x * %d.5f) * cos(x + %d)", k, k);
    }
    for (size_t k = 0; k < COUNT(kernels); k++) {
        run(&kernels[k]);
    }
    make_list("long.toml", terms);
    make_list("short.toml", "y = x");
}

static void clean(void)
{
    static const char *const files[] = {"old.npy",   "linked.npy", "big.npy",
                                        "z.npy",     "pipe.npy",   "said",
                                        "long.toml", "short.toml", "made.qpack"};
    for (size_t k = 0; k < COUNT(files); k++) {
        unlink(files[k]);
    }
    DIR *cache = opendir("cache");
    for (struct dirent *e; cache && (e = readdir(cache));) {
        unlinkat(dirfd(cache), e->d_name, 0);
    }
    closedir(cache);
    need(rmdir("cache") == 0 && chdir("/") == 0 && rmdir(folder) == 0, folder);
}

int main(int argc, char **argv)
{
    int steps = argc > 2 ? atoi(argv[2]) : 4;
    const char *only = argc > 3 ? argv[3] : "";
    if (argc < 2 || steps < 1) {
        fputs("usage: interrupts QUERN [STEPS [PHASE]]\n", stderr);
        return 2;
    }
    quern = realpath(argv[1], NULL);
    need(quern != NULL, argv[1]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    prepare();
    for (size_t k = 0; k < phase_count; k++) {
        if (strstr(phases[k].name, only)) {
            run_phase(&phases[k], steps);
        }
    }
    if (!*only) {
        run_ignored(SIGINT);
        run_ignored(SIGTERM);
        run_ignored(SIGHUP);
        run_broken_pipe();
    }
    static const phase stats = {.name = "the cache afterwards", .arguments = {"cache", "stats"}};
    static const phase again = {
        .name = "a kernel of the cache afterwards",
        .arguments = {"elementwise", "T x", "T y", "y = x", "x=ones:float32:8", "--quiet"}};
    run(&stats);
    run(&again);
    clean();
    printf("%d moments, %d wrong\n", moments, failures);
    return failures > 0;
}
