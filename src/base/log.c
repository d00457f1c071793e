/* SPDX-License-Identifier: MIT
 *
 * Messages to the user that are not failures of a call. In: a level and a sentence. Out: the
 * engine's log function, which sees every level, or one line on standard error up to the level of
 * QUERN_LOG (error, warn, info, debug; warn when it is not set).
 *
 * Each message is one write(), so that lines of several threads and processes do not mix.
 */
#include "base/base.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;  /* in QUERN_LOG, and passed to a log function */
    const char *title; /* on standard error */
} levels[] = {
    [QN_ERROR] = {"error", "error"},
    [QN_WARN] = {"warn", "warning"},
    [QN_INFO] = {"info", "info"},
    [QN_DEBUG] = {"debug", "debug"},
};

static qn_log_level highest = QN_WARN;
static pthread_once_t highest_once = PTHREAD_ONCE_INIT;

static void write_line(const char *line, size_t length)
{
    while (length > 0) {
        ssize_t written = write(STDERR_FILENO, line, length);
        if (written < 0 && errno != EINTR) {
            return;
        }
        line += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
}

static void read_environment(void)
{
    const char *wanted = getenv("QUERN_LOG");
    if (!wanted || !wanted[0]) {
        return;
    }
    for (size_t k = 0; k < QN_COUNT(levels); k++) {
        if (strcmp(wanted, levels[k].name) == 0) {
            highest = (qn_log_level)k;
            return;
        }
    }
    char line[200];
    snprintf(line, sizeof line - 1,
             "quern: warning: QUERN_LOG is \"%.40s\"; it may be error, warn, info or debug",
             wanted);
    size_t length = strlen(line);
    line[length++] = '\n';
    write_line(line, length);
}

bool qn_log_asked(qn_log_level level)
{
    pthread_once(&highest_once, read_environment);
    return level <= highest;
}

bool qn_log_wanted(const qn_logger *logger, qn_log_level level)
{
    return (logger && logger->function) || qn_log_asked(level);
}

void qn_log(const qn_logger *logger, qn_log_level level, const char *format, ...)
{
    if (!qn_log_wanted(logger, level)) {
        return;
    }
    int saved_errno = errno;
    bool own = !(logger && logger->function);
    qn_text message = {0};
    if (own) {
        qn_text_printf(&message, "quern: %s: ", levels[level].title);
    }
    va_list arguments;
    va_start(arguments, format);
    qn_text_vprintf(&message, format, arguments);
    va_end(arguments);
    if (own) {
        qn_text_puts(&message, "\n");
    }
    char *text = qn_text_take(&message);
    if (text && own) {
        write_line(text, strlen(text));
    } else if (text) {
        logger->function(logger->context, levels[level].name, text);
    }
    qn_free(text);
    errno = saved_errno;
}
