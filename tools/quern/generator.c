/* SPDX-License-Identifier: MIT
 *
 * What a generator is asked for. In: text such as random:float32:1000x200. Out: its kind, dtype,
 * shape and numbers, each checked where it is written; generate.c makes the elements.
 *
 *     generator := ("empty" | "zeros" | "ones" | "random") ":" dtype ":" shape
 *                | "arange" ":" dtype ":" (shape | number ":" number (":" number)?)
 *                | "full" ":" dtype ":" shape ":" number
 *                | "linspace" ":" dtype ":" number ":" number ":" count
 *                | "eye" ":" dtype ":" shape
 *     shape     := "()" | digits ("x" digits)*
 */
#include "cli.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static const struct {
    const char *name, *example; /* of what follows the dtype */
} kinds[] = {
    [CLI_EMPTY] = {"empty", "1000x200"},     [CLI_ZEROS] = {"zeros", "1000x200"},
    [CLI_ONES] = {"ones", "1000x200"},       [CLI_ARANGE] = {"arange", "1000x200 or 0:10:2"},
    [CLI_RANDOM] = {"random", "1000x200"},   [CLI_FULL] = {"full", "1000x200:7"},
    [CLI_LINSPACE] = {"linspace", "0:1:11"}, [CLI_EYE] = {"eye", "4"},
};

static bool find_kind(const char *text, cli_generator_kind *kind)
{
    size_t length = strcspn(text, ":");
    for (size_t k = 0; text[length] && k < CLI_COUNT(kinds); k++) {
        if (strlen(kinds[k].name) == length && memcmp(kinds[k].name, text, length) == 0) {
            *kind = (cli_generator_kind)k;
            return true;
        }
    }
    return false;
}

bool cli_is_generator(const char *text)
{
    cli_generator_kind kind;
    return find_kind(text, &kind);
}

const char *const *cli_generator_names(size_t *count)
{
    static const char *names[CLI_COUNT(kinds)];
    for (size_t k = 0; k < CLI_COUNT(kinds); k++) {
        names[k] = kinds[k].name;
    }
    *count = CLI_COUNT(kinds);
    return names;
}

bool cli_shape_bytes(int64_t *bytes, int ndim, const int64_t *shape, size_t element)
{
    int64_t product = (int64_t)element;
    bool empty = false;
    for (int k = 0; k < ndim; k++) { /* the other extents must fit even if one is zero */
        empty |= shape[k] == 0;
        int64_t extent = shape[k] == 0 ? 1 : shape[k];
        if (extent < 0 || product > INT64_MAX / extent) {
            return false;
        }
        product *= extent;
    }
    *bytes = empty ? 0 : product;
    return true;
}

/* ---- parts of the text ---------------------------------------------------------------------- */

/* Where the parser is. */
typedef struct parser {
    const char *text, *p;
    cli_generator *out;
    cli_problem *problem;
} parser;

static bool wrong(const parser *s, const char *from, const char *to, const char *message)
{
    size_t begin = (size_t)(from - s->text), end = (size_t)(to - s->text);
    return cli_problem_set(s->problem, begin, end > begin ? end : begin + 1, "%s", message);
}

static bool check_size(const parser *s, const char *from)
{
    int64_t bytes;
    const cli_generator *g = s->out;
    return cli_shape_bytes(&bytes, g->ndim, g->shape, quern_dtype_size(g->dtype)) ||
           wrong(s, from, s->p, "an array of this shape is larger than any memory");
}

/* digits; numbers beyond 64 bits become the largest one, which no array has */
static int64_t extent(parser *s)
{
    int64_t value = 0;
    for (; isdigit((unsigned char)*s->p); s->p++) {
        int digit = *s->p - '0';
        value = value > (INT64_MAX - digit) / 10 ? INT64_MAX : value * 10 + digit;
    }
    return value;
}

static bool shape(parser *s)
{
    const char *from = s->p;
    cli_generator *g = s->out;
    int most = g->kind == CLI_EYE ? 2 : QUERN_MAX_NDIM;
    g->ndim = 0;
    if (cli_begins_with(from, "()") && g->kind != CLI_EYE) {
        s->p += 2;
        return true;
    }
    for (;; s->p++) {
        if (*s->p == '-') {
            return wrong(s, s->p, s->p + 1, "an extent of a shape cannot be negative");
        }
        if (!isdigit((unsigned char)*s->p)) {
            return wrong(s, s->p, s->p + 1,
                         g->kind == CLI_EYE
                             ? "the rows, or rows and columns such as 3x4, are expected here"
                             : "a shape such as 1000x200, 5 or () is expected here");
        }
        if (g->ndim == most) {
            return cli_problem_set(s->problem, (size_t)(s->p - s->text),
                                   (size_t)(s->p - s->text) + 1, "%s has more than %d dimensions",
                                   g->kind == CLI_EYE ? "eye" : "the shape", most);
        }
        g->shape[g->ndim++] = extent(s);
        if (*s->p != 'x') {
            break;
        }
    }
    if (g->kind == CLI_EYE && g->ndim == 1) { /* as many columns as rows */
        g->shape[g->ndim++] = g->shape[0];
    }
    return check_size(s, from);
}

/* Where a number ends: a view or another part follows. */
static const char *number_end(const char *p)
{
    while (*p && *p != ':' && !cli_view_begins(p)) {
        p++;
    }
    return p;
}

/* Whether what follows a colon is a number, not the file to save to. */
static bool number_follows(const char *p)
{
    p += *p == '-' || *p == '+';
    p += *p == '.';
    return isdigit((unsigned char)*p);
}

/* A number of a stated dtype. */
static bool number(parser *s, quern_value *out, quern_dtype dtype, const char *what)
{
    const char *end = number_end(s->p);
    size_t at = (size_t)(s->p - s->text);
    if (end == s->p) {
        return cli_problem_set(s->problem, at, at + 1, "%s is expected here", what);
    }
    if (!cli_number_parse(out, cli_strndup(s->p, (size_t)(end - s->p)), dtype, s->problem)) {
        s->problem->begin += at;
        s->problem->end += at;
        return false;
    }
    s->p = end;
    return true;
}

static bool colon(parser *s, const char *what)
{
    if (*s->p != ':') {
        return cli_problem_set(s->problem, (size_t)(s->p - s->text), (size_t)(s->p - s->text) + 1,
                               "a colon and %s are expected here", what);
    }
    s->p++;
    return true;
}

static bool is_integer(quern_dtype dtype)
{
    return dtype >= QUERN_INT8 && dtype <= QUERN_UINT64;
}

/* ---- full, linspace, arange with bounds ----------------------------------------------------- */

static bool full(parser *s)
{
    quern_value value;
    cli_generator *g = s->out;
    if (!shape(s) || !colon(s, "the value of the elements") ||
        !number(s, &value, g->dtype, "the value of the elements")) {
        return false;
    }
    bool is_complex = cli_is_complex(g->dtype);
    bool has_bits = g->dtype == QUERN_BOOL || is_integer(g->dtype);
    cli_element_store(g->element, g->dtype, is_complex ? value.as.parts[0] : value.as.real,
                      is_complex ? value.as.parts[1] : 0, has_bits ? value.as.natural : 0);
    return true;
}

static bool does_not_fit(const parser *s, const char *from)
{
    return cli_problem_set(s->problem, (size_t)(from - s->text), (size_t)(s->p - s->text),
                           "%.*s does not fit into %s", (int)(s->p - from), from,
                           quern_dtype_name(s->out->dtype));
}

/* A number to compute with, in the precision of doubles, which an element can hold. */
static bool real_or_complex(parser *s, double parts[2], const char *what)
{
    const char *from = s->p;
    cli_generator *g = s->out;
    quern_value value;
    bool is_complex = cli_is_complex(g->dtype);
    if (!number(s, &value, is_complex ? QUERN_COMPLEX128 : QUERN_FLOAT64, what)) {
        return false;
    }
    parts[0] = is_complex ? value.as.parts[0] : value.as.real;
    parts[1] = is_complex ? value.as.parts[1] : 0;
    g->is_complex |= is_complex && memchr(from, 'j', (size_t)(s->p - from));
    return (cli_number_fits(parts[0], g->dtype) && cli_number_fits(parts[1], g->dtype)) ||
           does_not_fit(s, from);
}

static bool linspace(parser *s)
{
    cli_generator *g = s->out;
    if (!real_or_complex(s, g->start, "where it starts") || !colon(s, "where it stops") ||
        !real_or_complex(s, g->stop, "where it stops") || !colon(s, "the number of elements")) {
        return false;
    }
    const char *from = s->p;
    if (!isdigit((unsigned char)*from)) {
        return wrong(s, from, from + 1, "the number of elements is expected here");
    }
    g->ndim = 1;
    g->shape[0] = extent(s);
    return check_size(s, from);
}

/* The elements from start to stop, exclusive, of an integer dtype. */
static bool count_integers(parser *s, const char *from, const int64_t bounds[3])
{
    cli_generator *g = s->out;
    int64_t start = bounds[0], stop = bounds[1], step = bounds[2];
    bool rises = step > 0;
    uint64_t span = rises ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    uint64_t stride = rises ? (uint64_t)step : 0 - (uint64_t)step;
    bool some = rises ? stop > start : stop < start;
    uint64_t count = some ? (span - 1) / stride + 1 : 0;
    g->shape[0] = count > INT64_MAX ? INT64_MAX : (int64_t)count;
    g->first = (uint64_t)start;
    g->step = (uint64_t)step;
    int64_t last = (int64_t)(g->first + (count > 0 ? count - 1 : 0) * g->step);
    return check_size(s, from) &&
           ((cli_number_fits((double)start, g->dtype) && cli_number_fits((double)last, g->dtype)) ||
            does_not_fit(s, from));
}

/* The same for the other dtypes. As in NumPy, the first two elements are rounded, and all others
 * follow from them. */
static bool count_reals(parser *s, const char *from, double step)
{
    cli_generator *g = s->out;
    double count = ceil((g->stop[0] - g->start[0]) / step);
    if (!isfinite(g->start[0]) || !isfinite(count)) {
        return wrong(s, from, s->p, "arange needs finite numbers");
    }
    g->stop[0] = g->start[0] + step; /* the second element */
    g->shape[0] = count < 0 ? 0 : count >= 0x1p63 ? INT64_MAX : (int64_t)count;
    double last = g->start[0] + (double)(g->shape[0] - 1) * step;
    return check_size(s, from) &&
           (g->shape[0] == 0 || cli_number_fits(last, g->dtype) || does_not_fit(s, from));
}

/* START ":" STOP (":" STEP)? */
static bool range(parser *s)
{
    static const char *const parts[] = {"where it starts", "where it stops", "its step"};
    const char *from = s->p, *at = from;
    cli_generator *g = s->out;
    bool integers = is_integer(g->dtype);
    int64_t whole[3] = {0, 0, 1};
    double real[3] = {0, 0, 1};
    if (g->dtype == QUERN_BOOL) {
        return wrong(s, from, from + 1, "arange of bool has no start, stop and step");
    }
    for (int k = 0; k < 3 && (k < 2 || (*s->p == ':' && number_follows(s->p + 1))); k++) {
        quern_value value;
        if (k > 0 && !colon(s, parts[k])) {
            return false;
        }
        at = s->p;
        if (!number(s, &value, integers ? QUERN_INT64 : QUERN_FLOAT64, parts[k])) {
            return false;
        }
        whole[k] = integers ? value.as.integer : 0;
        real[k] = integers ? 1 : value.as.real;
    }
    if (integers ? whole[2] == 0 : real[2] == 0) {
        return wrong(s, at, s->p, "the step of arange cannot be zero");
    }
    g->ndim = 1;
    g->bounded = true;
    g->start[0] = real[0];
    g->stop[0] = real[1];
    return integers ? count_integers(s, from, whole) : count_reals(s, from, real[2]);
}

/* Whether arange has bounds instead of a shape: then a second number follows the first. */
static bool has_bounds(const char *p)
{
    const char *end = number_end(p);
    return end > p && *end == ':' && number_follows(end + 1);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static bool dtype(parser *s)
{
    const char *from = s->p, *end = from + strcspn(from, ":");
    const char *name = cli_strndup(from, (size_t)(end - from));
    s->out->dtype = quern_dtype_from_name(name);
    s->p = end;
    if (s->out->dtype == QUERN_DTYPE_NONE) {
        size_t count;
        const char *const *names = cli_dtype_names(&count);
        return wrong(
            s, from, end,
            cli_sprintf("there is no dtype \"%s\"%s", name, cli_did_you_mean(name, names, count)));
    }
    if (!*end) {
        const char *kind = kinds[s->out->kind].name;
        bool shaped = s->out->kind != CLI_LINSPACE;
        return wrong(s, end, end,
                     cli_sprintf("%s missing, such as %s:%s:%s",
                                 shaped ? "a shape is" : "start, stop and count are", kind, name,
                                 kinds[s->out->kind].example));
    }
    s->p++;
    return true;
}

bool cli_generator_parse(cli_generator *out, const char *text, size_t *length, cli_problem *problem)
{
    *out = (cli_generator){0};
    find_kind(text, &out->kind);
    parser s = {text, text + strcspn(text, ":") + 1, out, problem};
    if (!dtype(&s)) {
        return false;
    }
    bool good;
    switch (out->kind) {
    case CLI_FULL:
        good = full(&s);
        break;
    case CLI_LINSPACE:
        good = linspace(&s);
        break;
    case CLI_ARANGE:
        good = has_bounds(s.p) ? range(&s) : shape(&s);
        break;
    default:
        good = shape(&s);
    }
    *length = (size_t)(s.p - text);
    return good;
}
