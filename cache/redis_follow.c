/* SPDX-License-Identifier: MIT
 *
 * What a Redis server says, byte by byte, before hiredis sees it. In: how an answer is to begin,
 * and the bytes as they arrive. Out: whether they still are such an answer.
 *
 * hiredis gives a list its memory before any of it has come, and a list may hold lists. So only the
 * list that was asked for is let through, with texts in it and nothing else, and nothing after it.
 */
#include "cache/fleet.h"

#include <string.h>

void qn_redis_follow_begin(qn_redis_course *c, const char *expected)
{
    *c = (qn_redis_course){.expected = expected, .lines = 1};
}

/* The number in a line such as "$12"; -1: nothing is there. False for anything else. */
static bool read_number(int64_t *out, qn_str digits)
{
    *out = -1;
    if (qn_str_is(digits, "-1")) {
        return true;
    }
    uint64_t number = 0;
    for (size_t k = 0; k < digits.length; k++) {
        const char c = digits.data[k];
        if (c < '0' || c > '9' || number > QN_REMOTE_OBJECT_BYTES) {
            return false;
        }
        number = 10 * number + (uint64_t)(c - '0');
    }
    *out = (int64_t)number;
    return digits.length > 0 && number <= QN_REMOTE_OBJECT_BYTES;
}

/* A line is there, without its end. */
static bool judge_line(qn_redis_course *c, qn_str line)
{
    int64_t number;
    const bool first = !c->begun;
    c->begun = true;
    c->lines--;
    if (first && qn_str_begins(line, "-")) {
        return true;
    }
    if (first && !qn_str_begins(line, c->expected)) {
        return false;
    }
    if (first && qn_str_begins(line, "*")) {
        const bool same = qn_str_is(line, c->expected) &&
                          read_number(&number, (qn_str){line.data + 1, line.length - 1});
        c->lines = same && number > 0 ? (uint64_t)number : 0;
        return same;
    }
    if (qn_str_begins(line, "$")) {
        if (!read_number(&number, (qn_str){line.data + 1, line.length - 1})) {
            return false;
        }
        c->skip = number < 0 ? 0 : (uint64_t)number + 2; /* with its end */
        return true;
    }
    return first && (qn_str_begins(line, "+") || qn_str_begins(line, ":"));
}

/* A byte of a line. */
static bool take_byte(qn_redis_course *c, char byte)
{
    if (byte != '\n') {
        if (c->length < sizeof c->line) {
            c->line[c->length] = byte;
        }
        c->length++;
        c->last = byte;
        return c->lines > 0;
    }
    const size_t length = QN_MIN(c->length, sizeof c->line);
    const bool whole = c->length > 1 && c->last == '\r' && c->lines > 0,
               fits = c->length <= sizeof c->line || c->line[0] == '-' || c->line[0] == '+';
    const size_t end = c->length <= sizeof c->line ? 1 : 0;
    c->length = 0;
    return whole && fits && judge_line(c, (qn_str){c->line, length - end});
}

bool qn_redis_follow(qn_redis_course *c, qn_str bytes)
{
    for (size_t k = 0; k < bytes.length;) {
        if (c->skip > 0) {
            const uint64_t skipped = QN_MIN(c->skip, (uint64_t)(bytes.length - k));
            c->skip -= skipped;
            k += (size_t)skipped;
        } else if (!take_byte(c, bytes.data[k++])) {
            return false;
        }
    }
    return true;
}
