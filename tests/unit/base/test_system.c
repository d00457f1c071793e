/* SPDX-License-Identifier: MIT
 *
 * What base asks of the system: libraries, files, the log and the clocks.
 */
#include "base/base.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- libraries ------------------------------------------------------------------------------ */

Test(library, first_that_loads)
{
    qn_library *library;
    char *why;
    const char *const names[] = {"libquern-is-no-such-library.so.9", "libm.so.6", "libc.so.6",
                                 NULL};
    cr_assert(qn_library_open(&library, names, &why));
    cr_expect_null(why);
    cr_expect_not_null(strstr(qn_library_path(library), "libm.so.6"));
    cr_expect_eq(qn_library_path(library)[0], '/');
    cr_expect_not_null(qn_library_symbol(library, "cos"));
    cr_expect_null(qn_library_symbol(library, "quern_is_no_such_symbol"));
    qn_library_close(library);
    qn_library_close(NULL);
}

Test(library, none_loads)
{
    qn_library *library;
    char *why;
    const char *const names[] = {"libquern-a.so.9", "/quern/b.so", NULL};
    cr_assert_not(qn_library_open(&library, names, &why));
    cr_expect_null(library);
    cr_expect_not_null(strstr(why, "libquern-a.so.9"));
    cr_expect_not_null(strstr(why, "/quern/b.so"));
    cr_expect_eq(quern_last_error()->status, QUERN_OK);
    qn_free(why);
}

Test(library, opening_survives_any_failed_allocation)
{
    const char *const names[] = {"libquern-a.so.9", "libm.so.6", NULL};
    for (uint64_t n = 1; n < 8; n++) {
        qn_library *library;
        char *why;
        qn_memory_fail_after(n, false);
        bool opened = qn_library_open(&library, names, &why);
        qn_memory_fail_after(0, false);
        cr_expect_eq(opened, library != NULL);
        qn_library_close(library);
        qn_free(why);
    }
}

Test(library, own_folder_is_the_programs)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    cr_assert_gt(length, 0);
    path[length] = '\0';
    *strrchr(path, '/') = '\0';
    cr_expect_str_eq(qn_library_own_folder(), path);
}

/* ---- files ---------------------------------------------------------------------------------- */

static char *write_temporary(const char *content, size_t size)
{
    static char path[64];
    strcpy(path, "/tmp/quern-test-XXXXXX");
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    cr_assert_eq(write(file, content, size), (ssize_t)size);
    close(file);
    return path;
}

Test(file, whole)
{
    static char content[10000];
    const size_t sizes[] = {0, 1, 4095, 4096, 4097, sizeof content};
    for (size_t k = 0; k < sizeof content; k++) {
        content[k] = (char)(k * 7);
    }
    for (size_t k = 0; k < QN_COUNT(sizes); k++) {
        char *path = write_temporary(content, sizes[k]);
        char *data;
        size_t size;
        cr_expect(qn_file_exists(path));
        cr_assert_eq(qn_file_read(path, &data, &size), QUERN_OK);
        cr_expect_eq(size, sizes[k]);
        cr_expect_eq(memcmp(data, content, size), 0);
        cr_expect_eq(data[size], '\0');
        qn_free(data);
        unlink(path);
        cr_expect_not(qn_file_exists(path));
    }
}

Test(file, without_a_known_size)
{
    char *data;
    size_t size;
    cr_assert_eq(qn_file_read("/proc/self/maps", &data, &size), QUERN_OK);
    cr_expect_gt(size, 1000);
    cr_expect_eq(strlen(data), size);
    qn_free(data);
}

Test(file, failures_name_the_path)
{
    char *data;
    size_t size;
    cr_expect_eq(qn_file_read("/quern/none", &data, &size), QUERN_ERROR_IO);
    cr_expect_null(data);
    cr_expect_str_eq(quern_last_error()->message,
                     "cannot read /quern/none: No such file or directory");
    cr_expect_eq(qn_file_read("/tmp", &data, &size), QUERN_ERROR_IO);
    cr_expect_not_null(strstr(quern_last_error()->message, "Is a directory"));
    qn_memory_fail_after(1, false);
    quern_status status = qn_file_read("/proc/self/maps", &data, &size);
    qn_memory_fail_after(0, false);
    cr_expect_eq(status, QUERN_ERROR_OUT_OF_MEMORY);
    cr_expect_null(data);
}

/* ---- the log -------------------------------------------------------------------------------- */

static char heard[512];

static void hear(void *context, const char *level, const char *message)
{
    cr_expect_eq(context, heard);
    snprintf(heard, sizeof heard, "%s|%s", level, message);
}

Test(log, function_hears_every_level)
{
    qn_logger logger = {hear, heard};
    cr_expect(qn_log_wanted(&logger, QN_DEBUG));
    qn_log(&logger, QN_DEBUG, "%d", 5);
    cr_expect_str_eq(heard, "debug|5");
    qn_log(&logger, QN_WARN, "careful");
    cr_expect_str_eq(heard, "warn|careful");
}

static const char *standard_error(char *buffer, size_t size)
{
    FILE *file = cr_get_redirected_stderr();
    buffer[0] = '\0';
    for (size_t used = 0; fgets(buffer + used, (int)(size - used), file);) {
        used = strlen(buffer);
    }
    return buffer;
}

/* Log one message of each level, with QUERN_LOG as it is, and close standard error. */
static void log_all(void)
{
    cr_redirect_stderr();
    qn_log(NULL, QN_ERROR, "a");
    qn_log(&(qn_logger){0}, QN_WARN, "b");
    qn_log(NULL, QN_INFO, "c");
    qn_log(NULL, QN_DEBUG, "d");
    close(STDERR_FILENO);
}

Test(log, warnings_by_default)
{
    char buffer[512];
    unsetenv("QUERN_LOG");
    log_all();
    cr_expect_not(qn_log_wanted(NULL, QN_INFO));
    cr_expect_str_eq(standard_error(buffer, sizeof buffer), "quern: error: a\nquern: warning: b\n");
}

Test(log, level_from_the_environment)
{
    char buffer[512];
    setenv("QUERN_LOG", "debug", 1);
    log_all();
    cr_expect_str_eq(standard_error(buffer, sizeof buffer),
                     "quern: error: a\nquern: warning: b\nquern: info: c\nquern: debug: d\n");
}

Test(log, unknown_level_is_told)
{
    char buffer[512];
    setenv("QUERN_LOG", "loud", 1);
    log_all();
    cr_expect_str_eq(standard_error(buffer, sizeof buffer),
                     "quern: warning: QUERN_LOG is \"loud\"; it may be error, warn, info or debug\n"
                     "quern: error: a\nquern: warning: b\n");
}

/* ---- the clocks ----------------------------------------------------------------------------- */

Test(clock, runs)
{
    double before = qn_now_ms();
    usleep(2000);
    double passed = qn_now_ms() - before;
    cr_expect_geq(passed, 2.0);
    cr_expect_lt(passed, 60000.0);
    cr_expect_gt(qn_now_seconds(), INT64_C(1700000000));
}
