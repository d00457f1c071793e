/* SPDX-License-Identifier: MIT
 *
 * Runs the tests of a program, each in a fork of its own, one after the other
 * (criterion/criterion.h). In: the tests, which add themselves before main. Out: a line for each
 * failure and each test that was skipped, the counts, and the exit status.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>

#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

#define SKIPPED       77
#define USUAL_TIMEOUT 600

static emulated_test *tests;
static bool failed; /* in the process of a test */

void emulated_add(emulated_test *test)
{
    test->next = tests;
    tests = test;
}

/* ---- what a test says ----------------------------------------------------------------------- */

void emulated_fail(bool at_once, const char *file, int line, const char *what, const char *form,
                   ...)
{
    fprintf(stderr, "%s:%d: not so: %s: ", file, line, what);
    va_list rest;
    va_start(rest, form);
    vfprintf(stderr, form, rest);
    va_end(rest);
    fputc('\n', stderr);
    failed = true;
    if (at_once) {
        exit(1);
    }
}

void emulated_skip(const char *form, ...)
{
    fputs("[SKIP] ", stderr);
    va_list rest;
    va_start(rest, form);
    vfprintf(stderr, form, rest);
    va_end(rest);
    fputc('\n', stderr);
    exit(SKIPPED);
}

/* ---- what a test prints --------------------------------------------------------------------- */

static FILE *caught_stdout;
static FILE *caught_stderr;

/* What goes to `stream` goes to a file, which is returned for reading. */
static FILE *redirect(FILE *stream)
{
    char name[] = "/tmp/quern-test-XXXXXX";
    const int file = mkstemp(name);
    FILE *reader = file >= 0 ? fopen(name, "r") : NULL;
    if (!reader || fflush(stream) != 0 || dup2(file, fileno(stream)) < 0) {
        perror("a file for what is printed");
        exit(1);
    }
    unlink(name);
    close(file);
    return reader;
}

void cr_redirect_stdout(void)
{
    caught_stdout = redirect(stdout);
}

void cr_redirect_stderr(void)
{
    caught_stderr = redirect(stderr);
}

FILE *cr_get_redirected_stderr(void)
{
    fflush(stderr);
    return caught_stderr;
}

bool emulated_stdout_is(const char *text)
{
    fflush(stdout);
    rewind(caught_stdout);
    for (; *text != '\0'; text++) {
        if (fgetc(caught_stdout) != (unsigned char)*text) {
            return false;
        }
    }
    return fgetc(caught_stdout) == EOF;
}

/* ---- running -------------------------------------------------------------------------------- */

static const emulated_test *common_of(const char *suite)
{
    static const emulated_test nothing;
    for (const emulated_test *test = tests; test; test = test->next) {
        if (!test->name && strcmp(test->suite, suite) == 0) {
            return test;
        }
    }
    return &nothing;
}

static void call(void (*function)(void))
{
    if (function) {
        function();
    }
}

static _Noreturn void run(const emulated_test *test)
{
    const emulated_test *common = common_of(test->suite);
    alarm(test->timeout != 0 ? test->timeout : USUAL_TIMEOUT);
    call(common->init);
    call(test->init);
    test->run();
    call(test->fini);
    call(common->fini);
    exit(failed ? 1 : 0);
}

/* The exit status of the test, or the signal that ended it as a shell shows it. */
static int result_of(const emulated_test *test)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        run(test);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("fork");
        return 1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(void)
{
    int passed = 0, skipped = 0, wrong = 0;
    for (const emulated_test *test = tests; test; test = test->next) {
        if (!test->name) {
            continue;
        }
        const int result = result_of(test);
        passed += result == 0;
        skipped += result == SKIPPED;
        if (result != 0 && result != SKIPPED) {
            printf("FAIL %s::%s (%d)\n", test->suite, test->name, result);
            wrong++;
        }
    }
    printf("%d passed, %d skipped, %d failed\n", passed, skipped, wrong);
    return wrong != 0 || passed + skipped == 0;
}
