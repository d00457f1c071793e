/* SPDX-License-Identifier: MIT
 *
 * The record of the last failure, and how it reads.
 */
#include "base/base.h"

#include <criterion/criterion.h>
#include <quern/quern.h>
#include <string.h>

Test(error, nothing_recorded)
{
    const quern_error *e = quern_last_error();
    cr_expect_eq(e->size, sizeof(quern_error));
    cr_expect_eq(e->status, QUERN_OK);
    cr_expect_str_eq(e->message, "");
    cr_expect_str_eq(e->log, "");
    cr_expect_str_eq(quern_last_error_text(), "");
}

Test(error, recorded_and_reset)
{
    cr_expect_eq(qn_fail(QUERN_ERROR_SHAPE, "%d and %s", 3, "four"), QUERN_ERROR_SHAPE);
    qn_error_stage("bind");
    qn_error_log(QN_STR("a log"));
    qn_error_source(QN_STR("a source"));
    const quern_error *e = quern_last_error();
    cr_expect_eq(e->status, QUERN_ERROR_SHAPE);
    cr_expect_str_eq(e->message, "3 and four");
    cr_expect_str_eq(e->stage, "bind");
    cr_expect_str_eq(e->log, "a log");
    cr_expect_str_eq(e->source, "a source");
    cr_expect_eq(e->begin, e->end);
    qn_error_reset();
    cr_expect_eq(quern_last_error()->status, QUERN_OK);
    cr_expect_str_eq(quern_last_error()->source, "");
}

Test(error, new_failure_drops_the_old_ones_parts)
{
    qn_fail_at(QUERN_ERROR_SIGNATURE, "in", QN_STR("T x"), 0, 1, "first");
    qn_error_log(QN_STR("a log"));
    qn_error_place("operation", 3, 4);
    qn_fail(QUERN_ERROR_IO, "second");
    const quern_error *e = quern_last_error();
    const char *file;
    uint32_t line, column;
    cr_expect_str_eq(e->message, "second");
    cr_expect_str_eq(e->text, "");
    cr_expect_str_eq(e->log, "");
    cr_expect_eq(e->end, 0);
    cr_expect_not(qn_error_get_place(&file, &line, &column));
}

Test(error, message_may_quote_the_record_it_replaces)
{
    qn_fail(QUERN_ERROR_IO, "inner");
    qn_fail(QUERN_ERROR_CACHE, "outer: %s", quern_last_error()->message);
    cr_expect_str_eq(quern_last_error()->message, "outer: inner");
    qn_error_prefix("%s: ", "before");
    cr_expect_str_eq(quern_last_error()->message, "before: outer: inner");
}

Test(error, span_is_kept_inside_the_text)
{
    qn_fail(QUERN_ERROR_COMPILE, "m");
    qn_error_span("operation", QN_STR("abc"), 2, 99);
    cr_expect_eq(quern_last_error()->begin, 2);
    cr_expect_eq(quern_last_error()->end, 3);
    qn_error_span("operation", QN_STR("abc"), 50, 99);
    cr_expect_eq(quern_last_error()->begin, 3);
    cr_expect_eq(quern_last_error()->end, 3);
    cr_expect_str_eq(quern_last_error_text(), "error: m\n");
}

Test(error, place)
{
    const char *file;
    uint32_t line, column;
    qn_fail(QUERN_ERROR_COMPILE, "m");
    qn_error_place("operation", 3, 14);
    cr_assert(qn_error_get_place(&file, &line, &column));
    cr_expect_str_eq(file, "operation");
    cr_expect_eq(line, 3);
    cr_expect_eq(column, 14);
}

Test(error, empty_message_is_the_status_text)
{
    qn_fail(QUERN_ERROR_SHAPE, "%s", "");
    cr_expect_str_eq(quern_last_error()->message, "shape mismatch");
    qn_fail_memory("parsing");
    cr_expect_str_eq(quern_last_error()->message, "out of host memory while parsing");
}

Test(error, status_texts)
{
    cr_expect_str_eq(quern_status_text(QUERN_OK), "success");
    cr_expect_str_eq(quern_status_text(QUERN_ERROR_CACHE), "cache not usable");
    cr_expect_str_eq(quern_status_text((quern_status)999), "unknown status");
    cr_expect_eq(quern_version(), QUERN_VERSION_NUMBER);
}

/* ---- the text form -------------------------------------------------------------------------- */

static const struct {
    const char *text;
    size_t begin, end;
    const char *expected; /* after "error: m\n" */
} places[] = {
    {"T x, floot y", 5, 10,
     "  in, line 1, column 6:\n"
     "    T x, floot y\n"
     "         ^~~~~\n"},
    {"T x,", 3, 4,
     "  in, line 1, column 4:\n"
     "    T x,\n"
     "       ^\n"},
    {"a\nbc\n d", 2, 4,
     "  in, line 2, column 1:\n"
     "    bc\n"
     "    ^~\n"},
    {"a\r\nbc\r\nd", 3, 4,
     "  in, line 2, column 1:\n"
     "    bc\n"
     "    ^\n"},
    /* a span over several lines is shown on its first */
    {"ab\ncd", 1, 4,
     "  in, line 1, column 2:\n"
     "    ab\n"
     "     ^\n"},
    /* tabs are widened, in the line and before the caret */
    {"\tx\ty", 3, 4,
     "  in, line 1, column 4:\n"
     "        x   y\n"
     "            ^\n"},
    /* a character of several bytes is one column */
    {"\xc3\xa9\xe2\x82\xac z", 6, 7,
     "  in, line 1, column 4:\n"
     "    \xc3\xa9\xe2\x82\xac z\n"
     "       ^\n"},
    /* what a terminal should not see is escaped: a lone byte, a control, DEL, a C1 control */
    {"\xff\x1b\x7f\xc2\x9b z", 6, 7,
     "  in, line 1, column 7:\n"
     "    \\xff\\x1b\\x7f\\xc2\\x9b z\n"
     "                         ^\n"},
    /* a character whose later bytes do not match its first */
    {"\xe2z\xac y", 4, 5,
     "  in, line 1, column 5:\n"
     "    \\xe2z\\xac y\n"
     "              ^\n"},
    /* a cut character at the end */
    {"z \xe2\x82", 0, 1,
     "  in, line 1, column 1:\n"
     "    z \\xe2\\x82\n"
     "    ^\n"},
    /* the end of a line */
    {"ab\ncd", 2, 3,
     "  in, line 1, column 3:\n"
     "    ab\n"
     "      ^\n"},
    /* no span: no place */
    {"T x", 1, 1, ""},
};

Test(error, text_form)
{
    for (size_t k = 0; k < QN_COUNT(places); k++) {
        qn_fail_at(QUERN_ERROR_SIGNATURE, "in", qn_str_of(places[k].text), places[k].begin,
                   places[k].end, "m");
        char expected[512] = "error: m\n";
        strcat(expected, places[k].expected);
        cr_expect_str_eq(quern_last_error_text(), expected, "case %zu:\n%s", k,
                         quern_last_error_text());
    }
}

Test(error, log_follows_and_ends_with_a_newline)
{
    qn_fail_at(QUERN_ERROR_COMPILE, "operation", QN_STR("z = q"), 4, 5, "m");
    qn_error_log(QN_STR("line 1\nline 2"));
    cr_expect_str_eq(quern_last_error_text(), "error: m\n"
                                              "  operation, line 1, column 5:\n"
                                              "    z = q\n"
                                              "        ^\n"
                                              "line 1\n"
                                              "line 2\n");
}

/* At every place of a long line: the window is narrow, and the caret under the right letter. */
static void check_window(const char *line)
{
    for (size_t k = 0; line[k]; k++) {
        qn_fail_at(QUERN_ERROR_SIGNATURE, "in", qn_str_of(line), k, k + 1, "m");
        const char *shown = strchr(strchr(quern_last_error_text(), '\n') + 1, '\n') + 1;
        const char *end = strchr(shown, '\n');
        const char *caret = strchr(end, '^');
        cr_assert_leq(end - shown, 4 + 3 + 100 + 3);
        cr_assert_lt(caret - end - 1, end - shown, "place %zu", k);
        cr_assert_eq(shown[caret - end - 1], line[k] == '\t' ? ' ' : line[k], "place %zu", k);
    }
}

Test(error, long_lines_are_cut_around_the_span)
{
    char line[1001] = {0};
    for (int k = 0; k < 1000; k++) {
        line[k] = (char)('a' + k % 23);
    }
    check_window(line);
    for (int k = 0; k < 1000; k += 3) { /* tabs: cells that the window's edges cut */
        line[k] = '\t';
    }
    check_window(line);
}

Test(error, long_span_ends_with_the_window)
{
    char line[401] = {0};
    memset(line, 'x', 400);
    qn_fail_at(QUERN_ERROR_SIGNATURE, "in", qn_str_of(line), 0, 400, "m");
    const char *caret = strchr(quern_last_error_text(), '^');
    cr_expect_eq(strlen(caret), 101, "the caret line has %zu columns", strlen(caret) - 1);
}

/* ---- threads and memory --------------------------------------------------------------------- */

static void *fail_in_thread(void *unused)
{
    (void)unused;
    cr_expect_eq(quern_last_error()->status, QUERN_OK);
    qn_fail_at(QUERN_ERROR_IO, "in", QN_STR("T x"), 0, 1, "from the other thread");
    quern_last_error_text();
    return NULL; /* a leak checker sees whether the strings go with the thread */
}

Test(error, each_thread_has_its_own)
{
    qn_fail(QUERN_ERROR_SHAPE, "from this thread");
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, fail_in_thread, NULL), 0);
    pthread_join(thread, NULL);
    cr_expect_str_eq(quern_last_error()->message, "from this thread");
}

Test(error, recording_survives_any_failed_allocation)
{
    for (uint64_t n = 1; n < 40; n++) {
        for (int sticky = 0; sticky < 2; sticky++) {
            qn_memory_fail_after(n, sticky);
            qn_fail_at(QUERN_ERROR_SIGNATURE, "in", QN_STR("T x"), 0, 1, "message");
            qn_error_stage("signature");
            qn_error_log(QN_STR("log"));
            qn_error_prefix("prefix: ");
            const char *text = quern_last_error_text();
            qn_memory_fail_after(0, false);
            const quern_error *e = quern_last_error();
            cr_expect_eq(e->status, QUERN_ERROR_SIGNATURE);
            cr_expect_neq(e->message[0], '\0');
            cr_expect(strncmp(text, "error: ", 7) == 0);
            cr_expect_leq(e->end, strlen(e->text));
            qn_error_reset();
        }
    }
}
