/* SPDX-License-Identifier: MIT
 *
 * An argument of a call in a list of kernels: its dtype and, for an array, its layout. In:
 * "float32" for a number, "float32[1000,1000]" for an array, or "-" for an output that the call
 * makes. Behind an array may stand, in this order, strides=BYTES,BYTES and at=BYTES, how far from
 * an aligned address it begins, and same=N: it has the memory of argument N, counted from 0. Out:
 * all of that as numbers.
 */
#include "build.h"

#include <ctype.h>
#include <string.h>

static bool wrong(cli_problem *problem, const char *text, const char *at, const char *what)
{
    const size_t begin = (size_t)(at - text);
    return cli_problem_set(problem, begin, begin + (*at != '\0'), "%s", what);
}

/* A number, which ends before *at. */
static bool read_number(int64_t *out, const char **at)
{
    const bool negative = **at == '-';
    const char *digit = *at + negative;
    uint64_t number = 0;
    if (!isdigit((unsigned char)*digit)) {
        return false;
    }
    for (; isdigit((unsigned char)*digit); digit++) {
        if (number > (INT64_MAX - 9) / 10) {
            return false;
        }
        number = 10 * number + (uint64_t)(*digit - '0');
    }
    *out = negative ? -(int64_t)number : (int64_t)number;
    *at = digit;
    return true;
}

/* Numbers with commas between them, at most QUERN_MAX_NDIM, up to `end`. */
static bool read_numbers(int *count, int64_t *out, const char **at, const char *ends)
{
    *count = 0;
    while (**at == ' ') {
        ++*at;
    }
    while (!strchr(ends, **at)) {
        if (*count == QUERN_MAX_NDIM || !read_number(&out[*count], at)) {
            return false;
        }
        ++*count;
        if (**at == ',') {
            ++*at;
            *at += **at == ' ' && *ends == ']';
        } else if (!strchr(ends, **at)) {
            return false;
        }
    }
    return true;
}

static bool read_word(build_argument *out, const char *text, const char **at, cli_problem *problem)
{
    int count;
    const char *begin = *at;
    if (cli_begins_with(*at, "strides=")) {
        *at += strlen("strides=");
        out->strided = true;
        return (read_numbers(&count, out->strides, at, " ") && count == out->ndim) ||
               wrong(problem, text, begin, "one stride in bytes for each axis is expected here");
    }
    const bool same = cli_begins_with(*at, "same=");
    if (!same && !cli_begins_with(*at, "at=")) {
        return wrong(problem, text, begin,
                     "strides=BYTES,..., at=BYTES or same=N is expected here");
    }
    int64_t *number = same ? &out->same : &out->at;
    *at += strlen(same ? "same=" : "at=");
    if (!read_number(number, at) || *number < 0 || *number > 4095 || !strchr(" ", **at)) {
        return wrong(problem, text, begin, "a number from 0 to 4095 is expected here");
    }
    return true;
}

bool build_argument_parse(build_argument *out, const char *text, cli_problem *problem)
{
    *out = (build_argument){.same = -1};
    if (strcmp(text, "-") == 0) {
        return true;
    }
    const size_t length = strcspn(text, "[ ");
    const char *name = cli_strndup(text, length), *at = text + length;
    out->dtype = quern_dtype_from_name(name);
    if (out->dtype == QUERN_DTYPE_NONE) {
        size_t count;
        const char *const *names = cli_dtype_names(&count);
        return cli_problem_set(problem, 0, length, "\"%s\" is no dtype%s", name,
                               cli_did_you_mean(name, names, count));
    }
    if (*at == '\0') {
        return true;
    }
    if (*at != '[') {
        return wrong(problem, text, at, "the shape of an array in [ ] is expected here");
    }
    const char *begin = at++;
    out->array = true;
    if (!read_numbers(&out->ndim, out->shape, &at, "]") || *at != ']') {
        return wrong(problem, text, begin, "a shape such as [1000,3] is expected here");
    }
    for (int k = 0; k < out->ndim; k++) {
        if (out->shape[k] < 0) {
            return wrong(problem, text, begin, "no extent is negative");
        }
    }
    for (at++; *at != '\0';) {
        if (*at != ' ') {
            return wrong(problem, text, at, "a blank is expected here");
        }
        at++;
        if (!read_word(out, text, &at, problem)) {
            return false;
        }
    }
    return true;
}
