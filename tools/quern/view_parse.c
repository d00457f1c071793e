/* SPDX-License-Identifier: MIT
 *
 * Views in NumPy's basic syntax. In: text such as [::2, 1:].T[None]. Out: a list of items, and for
 * a given shape what each step does to it. Nothing here touches an array, so all of it is fuzzed.
 *
 *     view  := (method | "[" (item ("," item)* ","?)? "]")*
 *     item  := "..." | "None" | "newaxis" | integer | slice
 *     slice := integer? ":" integer? (":" integer?)?
 *
 * Methods, such as .T and .reshape(2, -1), are in view_method.c. The position of every item is
 * kept, because an index is known to be out of bounds only once the file is read, and the message
 * must still point at it.
 */
#include "view_parser.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool cli_view_wrong(const cli_view_parser *p, const char *from, const char *to, const char *format,
                    ...)
{
    char message[sizeof p->problem->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    size_t begin = (size_t)(from - p->text), end = (size_t)(to - p->text);
    return cli_problem_set(p->problem, p->at + begin, p->at + (end > begin ? end : begin + 1), "%s",
                           message);
}

const char *cli_skip_space(const char *s)
{
    while (*s == ' ' || *s == '\t') {
        s++;
    }
    return s;
}

/* A number beyond 64 bits is beyond every axis, so the largest stands for it. */
bool cli_view_integer(const char **rest, const char *s, int64_t *out)
{
    bool negative = *s == '-';
    const char *digits = cli_skip_space(s + (negative || *s == '+'));
    if (!isdigit((unsigned char)*digits)) {
        return false;
    }
    int64_t value = 0;
    const char *p = digits;
    for (; isdigit((unsigned char)*p); p++) {
        int digit = *p - '0';
        value = value > (INT64_MAX - digit) / 10 ? INT64_MAX : value * 10 + digit;
    }
    *out = negative ? -value : value;
    *rest = p;
    return true;
}

/* A bound of a slice, which may be left out. */
static const char *bound(const char *s, int64_t *out)
{
    const char *rest;
    s = cli_skip_space(s);
    if (cli_view_integer(&rest, s, out)) {
        s = rest;
    } else if (cli_begins_with(s, "None")) {
        s += 4;
    }
    return cli_skip_space(s);
}

static bool slice(cli_view_parser *p, const char **rest, const char *s, cli_view_item *item)
{
    const char *from = s;
    item->kind = CLI_ITEM_SLICE;
    item->slice = (quern_slice)QUERN_SLICE_ALL;
    s = bound(s, &item->slice.start) + 1; /* the caller has found the colon */
    s = bound(s, &item->slice.stop);
    if (*s == ':') {
        s = bound(s + 1, &item->slice.step);
    }
    *rest = s;
    return item->slice.step != 0 ||
           cli_view_wrong(p, from, s, "the step of a slice cannot be zero");
}

static bool is_word(const char *s, const char *word)
{
    size_t length = strlen(word);
    return strncmp(s, word, length) == 0 && !isalnum((unsigned char)s[length]) && s[length] != '_';
}

static bool item_at(cli_view_parser *p, const char **rest, const char *s, cli_view_item *item)
{
    int64_t unused = 0;
    if (*bound(s, &unused) == ':') {
        return slice(p, rest, s, item);
    }
    if (cli_begins_with(s, "...")) {
        item->kind = CLI_ITEM_ELLIPSIS;
        *rest = s + 3;
    } else if (is_word(s, "None") || is_word(s, "newaxis")) {
        item->kind = CLI_ITEM_NEW_AXIS;
        *rest = s + (*s == 'N' ? 4 : 7);
    } else if (is_word(s, "np.newaxis")) {
        item->kind = CLI_ITEM_NEW_AXIS;
        *rest = s + 10;
    } else if (cli_view_integer(rest, s, &item->slice.start)) {
        item->kind = CLI_ITEM_INTEGER;
    } else {
        return cli_view_wrong(
            p, s, s + strcspn(s, ",]"),
            "this is not one of NumPy's basic indices: an integer, start:stop:step, ..., "
            "None or newaxis");
    }
    return true;
}

cli_view_item *cli_view_add(cli_view_parser *p, const char *s)
{
    if (p->view->count == CLI_VIEW_ITEMS) {
        cli_view_wrong(p, s, s + 1, "the view is too long");
        return NULL;
    }
    cli_view_item *item = &p->view->items[p->view->count++];
    *item = (cli_view_item){.step = p->view->steps};
    return item;
}

/* The items of a bracket; `s` is after "[". */
static bool bracket(cli_view_parser *p, const char **rest, const char *s)
{
    const char *open = s - 1;
    s = cli_skip_space(s);
    if (*s == ']') {
        return cli_view_wrong(p, open, s + 1, "an index is missing between the brackets");
    }
    while (*s != ']') {
        cli_view_item *item = *s ? cli_view_add(p, s) : NULL;
        if (!*s) {
            return cli_view_wrong(p, open, open + 1, "the bracket is not closed");
        }
        if (!item || !item_at(p, rest, s, item)) {
            return false;
        }
        item->begin = p->at + (size_t)(s - p->text);
        item->end = p->at + (size_t)(*rest - p->text);
        s = cli_skip_space(*rest);
        if (*s == ',') {
            s = cli_skip_space(s + 1);
        } else if (*s && *s != ']') {
            return cli_view_wrong(p, s, s + 1, "a comma or a closing bracket is expected here");
        }
    }
    *rest = s + 1;
    return true;
}

bool cli_view_begins(const char *text)
{
    return *text == '[' || cli_method_begins(text);
}

bool cli_view_parse(cli_view *out, const char *text, size_t at, size_t *length,
                    cli_problem *problem)
{
    cli_view_parser p = {text, at, out, problem};
    const char *s = text;
    out->count = out->steps = 0;
    for (;; out->steps++) {
        bool good;
        if (*s == '[') {
            good = bracket(&p, &s, s + 1);
        } else if (*s == '.' && isalpha((unsigned char)s[1])) {
            good = cli_method_parse(&p, &s, s);
        } else {
            *length = (size_t)(s - text);
            return true;
        }
        if (!good) {
            return false;
        }
    }
}

/* How many elements a slice takes of an axis, by Python's rules. */
static int64_t slice_count(const quern_slice *slice, int64_t size)
{
    int64_t step = slice->step, low = step < 0 ? -1 : 0, high = step < 0 ? size - 1 : size;
    int64_t bounds[2] = {step < 0 ? high : low, step < 0 ? low : high};
    const int64_t given[2] = {slice->start, slice->stop};
    for (int k = 0; k < 2; k++) {
        if (given[k] != QUERN_SLICE_NONE) {
            int64_t position = given[k] < 0 ? given[k] + size : given[k];
            bounds[k] = position < low ? low : position > high ? high : position;
        }
    }
    int64_t span = step < 0 ? bounds[0] - bounds[1] : bounds[1] - bounds[0];
    int64_t stride = step < 0 ? -step : step;
    return span > 0 ? (span - 1) / stride + 1 : 0;
}

static bool add_extent(cli_view_plan *out, int64_t extent, const cli_view_item *item,
                       cli_problem *problem)
{
    if (out->ndim == QUERN_MAX_NDIM) {
        return cli_problem_set(problem, item->begin, item->end,
                               "the view has more than %d dimensions", QUERN_MAX_NDIM);
    }
    out->shape[out->ndim++] = extent;
    return true;
}

/* One integer or slice on axis `axis` of `size` elements. */
static bool plan_item(cli_view_plan *out, const cli_view_item *item, int axis, int64_t size,
                      cli_problem *problem)
{
    out->slices[axis] = item->slice;
    if (item->kind == CLI_ITEM_SLICE) {
        return add_extent(out, slice_count(&item->slice, size), item, problem);
    }
    int64_t position = item->slice.start;
    if (position < -size || position >= size) {
        return cli_problem_set(problem, item->begin, item->end,
                               "index %lld is out of bounds for axis %d with size %lld",
                               (long long)position, axis, (long long)size);
    }
    out->slices[axis].start = position < 0 ? position + size : position;
    out->slices[axis].stop = 0;
    out->slices[axis].step = 0; /* takes the element and drops the axis */
    return true;
}

/* Take `count` axes from `axis` on whole. */
static bool plan_whole(cli_view_plan *out, const cli_view_item *item, int axis, int count,
                       const int64_t *shape, cli_problem *problem)
{
    for (int k = axis; k < axis + count; k++) {
        out->slices[k] = (quern_slice)QUERN_SLICE_ALL;
        if (!add_extent(out, shape[k], item, problem)) {
            return false;
        }
    }
    return true;
}

/* Count the axes that a bracket's items index; refuse a second ellipsis and too many indices. */
static bool count_axes(const cli_view_item *items, unsigned count, int ndim, int *axes,
                       cli_problem *problem)
{
    bool ellipsis = false;
    *axes = 0;
    for (unsigned k = 0; k < count; k++) {
        const cli_view_item *item = &items[k];
        if (item->kind == CLI_ITEM_ELLIPSIS && ellipsis) {
            return cli_problem_set(problem, item->begin, item->end,
                                   "an index can have only one ellipsis");
        }
        ellipsis |= item->kind == CLI_ITEM_ELLIPSIS;
        *axes += item->kind == CLI_ITEM_INTEGER || item->kind == CLI_ITEM_SLICE;
        if (*axes > ndim) {
            return cli_problem_set(problem, item->begin, item->end,
                                   "too many indices: the array has %d dimension%s", ndim,
                                   ndim == 1 ? "" : "s");
        }
    }
    return true;
}

bool cli_view_plan_step(cli_view_plan *out, const cli_view *view, unsigned step, quern_dtype dtype,
                        int ndim, const int64_t *shape, cli_problem *problem)
{
    *out = (cli_view_plan){.kind = CLI_PLAN_SLICE, .dtype = dtype};
    unsigned first = 0, count = 0;
    while (view->items[first].step < step) {
        first++;
    }
    const cli_view_item *items = &view->items[first];
    while (first + count < view->count && items[count].step == step) {
        count++;
    }
    out->item = items;
    if (items[0].kind == CLI_ITEM_METHOD) {
        return cli_method_plan(out, items, count, ndim, shape, problem);
    }
    int axes, axis = 0;
    if (!count_axes(items, count, ndim, &axes, problem)) {
        return false;
    }
    for (unsigned k = 0; k < count; k++) {
        bool good;
        if (items[k].kind == CLI_ITEM_NEW_AXIS) {
            out->new_axes = true;
            good = add_extent(out, 1, &items[k], problem);
        } else if (items[k].kind == CLI_ITEM_ELLIPSIS) {
            good = plan_whole(out, &items[k], axis, ndim - axes, shape, problem);
            axis += ndim - axes;
        } else {
            good = plan_item(out, &items[k], axis, shape[axis], problem);
            axis++;
        }
        if (!good) {
            return false;
        }
    }
    return plan_whole(out, &items[count - 1], axis, ndim - axis, shape, problem);
}
