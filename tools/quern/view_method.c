/* SPDX-License-Identifier: MIT
 *
 * Methods of a view, as NumPy writes them: .T, .reshape(2, -1), .astype(float32), .real. In: text;
 * then a shape and a dtype. Out: an item for the method and one for each of its numbers; then what
 * the step does, with NumPy's checks, each at its place. view_apply.c does it.
 *
 *     method  := ".T" | ".mT" | ".real" | ".imag" | "." name "(" (numbers | dtype)? ")"
 *     numbers := integer ("," integer)* ","? | "(" numbers? ")"
 *     dtype   := quote? ("np." | "numpy.")? name quote?
 */
#include "view_parser.h"

#include <ctype.h>
#include <string.h>

typedef enum arguments { NO_CALL, NUMBERS, DTYPE } arguments;

static const struct {
    const char *name; /* with its dot */
    arguments takes;
    unsigned least, most; /* numbers */
    const char *example;
} methods[] = {
    [CLI_T] = {".T", NO_CALL, 0, 0, ".T"},
    [CLI_MT] = {".mT", NO_CALL, 0, 0, ".mT"},
    [CLI_TRANSPOSE] = {".transpose", NUMBERS, 0, QUERN_MAX_NDIM, ".transpose(1, 0)"},
    [CLI_SWAPAXES] = {".swapaxes", NUMBERS, 2, 2, ".swapaxes(0, 1)"},
    [CLI_RESHAPE] = {".reshape", NUMBERS, 1, QUERN_MAX_NDIM, ".reshape(2, -1)"},
    [CLI_RAVEL] = {".ravel", NUMBERS, 0, 0, ".ravel()"},
    [CLI_FLATTEN] = {".flatten", NUMBERS, 0, 0, ".flatten()"},
    [CLI_SQUEEZE] = {".squeeze", NUMBERS, 0, QUERN_MAX_NDIM, ".squeeze()"},
    [CLI_COPY] = {".copy", NUMBERS, 0, 0, ".copy()"},
    [CLI_REAL] = {".real", NO_CALL, 0, 0, ".real"},
    [CLI_IMAG] = {".imag", NO_CALL, 0, 0, ".imag"},
    [CLI_ASTYPE] = {".astype", DTYPE, 0, 0, ".astype(float32)"},
    [CLI_VIEW] = {".view", DTYPE, 0, 0, ".view(uint8)"},
};

/* ---- parsing -------------------------------------------------------------------------------- */

static size_t name_length(const char *s)
{
    size_t length = 1; /* the dot */
    while (isalnum((unsigned char)s[length]) || s[length] == '_') {
        length++;
    }
    return length;
}

static bool find(const char *s, cli_method *out)
{
    size_t length = *s == '.' ? name_length(s) : 0;
    for (size_t k = 0; k < CLI_COUNT(methods); k++) {
        if (strlen(methods[k].name) == length && memcmp(methods[k].name, s, length) == 0) {
            *out = (cli_method)k;
            return true;
        }
    }
    return false;
}

bool cli_method_begins(const char *s)
{
    cli_method method;
    return find(s, &method);
}

static bool unknown(cli_view_parser *p, const char *s)
{
    const char *names[CLI_COUNT(methods)], *list = "";
    for (size_t k = 0; k < CLI_COUNT(methods); k++) {
        names[k] = methods[k].name;
        list = cli_sprintf("%s%s%s", list, k > 0 ? ", " : "", names[k]);
    }
    size_t length = name_length(s);
    const char *name = cli_strndup(s, length);
    return cli_view_wrong(p, s, s + length, "%s is not known here%s (there are %s)", name,
                          cli_did_you_mean(name, names, CLI_COUNT(methods)), list);
}

/* A shape or a list of axes, which may have parentheses of its own. */
static bool takes_list(cli_method method)
{
    return methods[method].most == QUERN_MAX_NDIM;
}

/* Check that there are as many numbers as the method takes; they end at `s`. */
static bool check_numbers(const cli_view_parser *p, const char *open, const char *s,
                          cli_method method, unsigned count)
{
    if (count < methods[method].least) {
        return cli_view_wrong(p, open, s, "%s needs %s: %s", methods[method].name,
                              takes_list(method) ? "a shape" : "two axes", methods[method].example);
    }
    if (count > methods[method].most) {
        const char *takes = methods[method].most == 0 ? "no numbers" : "two axes";
        return cli_view_wrong(p, open, s, "%s takes %s: %s", methods[method].name,
                              takes_list(method) ? cli_sprintf("at most %d numbers", QUERN_MAX_NDIM)
                                                 : takes,
                              methods[method].example);
    }
    return true;
}

/* One number, and the comma after it. */
static bool one_number(cli_view_parser *p, const char **rest, const char *s, cli_method method)
{
    cli_view_item *item = cli_view_add(p, s);
    if (!item) {
        return false;
    }
    item->begin = p->at + (size_t)(s - p->text);
    if (!cli_view_integer(&s, s, &item->slice.start)) {
        return cli_view_wrong(p, s, s + strcspn(s, ",) "), "%s takes %s: %s", methods[method].name,
                              methods[method].most == 0 ? "no numbers" : "whole numbers",
                              methods[method].example);
    }
    item->end = p->at + (size_t)(s - p->text);
    s = cli_skip_space(s);
    *rest = s + (*s == ',');
    return *s == ',' || *s == ')' ||
           cli_view_wrong(p, s, s + 1, "a comma or a closing parenthesis is expected here");
}

/* The numbers of a method; `s` is after "(", and *rest after ")". */
static bool numbers(cli_view_parser *p, const char **rest, const char *s, cli_method method)
{
    const char *open = s - 1;
    unsigned count = 0;
    s = cli_skip_space(s);
    const bool list = *s == '(' && takes_list(method);
    for (s = cli_skip_space(s + list); *s != ')'; s = cli_skip_space(s), count++) {
        if (!one_number(p, &s, s, method)) {
            return false;
        }
    }
    s++;
    if (list && *(s = cli_skip_space(s)) != ')') {
        return cli_view_wrong(p, s, s + (*s != 0), "a closing parenthesis is expected here");
    }
    *rest = s + list;
    if (list && count == 0) { /* no axis does not mean all of them */
        return methods[method].least > 0 ||
               cli_view_wrong(p, open, *rest, "an axis is expected between the parentheses");
    }
    return check_numbers(p, open, *rest, method, count);
}

/* Python's own types differ from C's types of the same name. */
static const char *python_type(const char *name)
{
    static const char *const names[][2] = {
        {"int", "int64, or int32, which is C's int"},
        {"float", "float64, or float32, which is C's float"},
        {"complex", "complex128 or complex64"},
        {"uint", "uint64, or uint32, which is C's unsigned int"},
    };
    for (size_t k = 0; k < CLI_COUNT(names); k++) {
        if (strcmp(names[k][0], name) == 0) {
            return names[k][1];
        }
    }
    return NULL;
}

static bool dtype_of_name(cli_view_parser *p, const char *s, size_t length, quern_dtype *out)
{
    const char *name = cli_strndup(s, length);
    const char *instead = python_type(name);
    if (instead) {
        return cli_view_wrong(p, s, s + length, "\"%s\" may mean two things: write %s", name,
                              instead);
    }
    *out = cli_dtype_of_code(name + (*name == '<' || *name == '=' || *name == '|')); /* <i8 */
    if (*out == QUERN_DTYPE_NONE) {
        *out = quern_dtype_from_name(name);
    }
    if (*out != QUERN_DTYPE_NONE) {
        return true;
    }
    size_t count;
    const char *const *names = cli_dtype_names(&count);
    return cli_view_wrong(p, s, s + length, "there is no dtype \"%s\"%s", name,
                          cli_did_you_mean(name, names, count));
}

/* The dtype between the parentheses; `s` is after "(". */
static bool dtype(cli_view_parser *p, const char **rest, const char *s, cli_method method,
                  quern_dtype *out)
{
    const char *open = s - 1, *close = s + strcspn(s, ")");
    if (!*close) {
        return cli_view_wrong(p, open, open + 1, "the parenthesis is not closed");
    }
    *rest = close + 1;
    s = cli_skip_space(s);
    const char *end = close;
    while (end > s && (end[-1] == ' ' || end[-1] == '\t')) {
        end--;
    }
    if (end - s >= 2 && (*s == '\'' || *s == '"') && end[-1] == *s) {
        s++;
        end--;
    } else {
        s += cli_begins_with(s, "np.") ? 3 : cli_begins_with(s, "numpy.") ? 6 : 0;
    }
    if (end <= s) {
        return cli_view_wrong(p, open, close + 1, "%s needs a dtype: %s", methods[method].name,
                              methods[method].example);
    }
    return dtype_of_name(p, s, (size_t)(end - s), out);
}

bool cli_method_parse(cli_view_parser *p, const char **rest, const char *s)
{
    cli_method method;
    if (!find(s, &method)) {
        return unknown(p, s);
    }
    cli_view_item *item = cli_view_add(p, s);
    if (!item) {
        return false;
    }
    item->kind = CLI_ITEM_METHOD;
    item->method = method;
    const char *end = s + name_length(s);
    bool good = true;
    if (methods[method].takes == NO_CALL) {
        *rest = end;
    } else if (*end != '(') {
        good = cli_view_wrong(p, s, end, "%s is called: %s", methods[method].name,
                              methods[method].example);
    } else if (methods[method].takes == DTYPE) {
        good = dtype(p, rest, end + 1, method, &item->dtype);
    } else {
        good = numbers(p, rest, end + 1, method);
    }
    if (good) {
        item->begin = p->at + (size_t)(s - p->text);
        item->end = p->at + (size_t)(*rest - p->text);
    }
    return good;
}

/* ---- planning ------------------------------------------------------------------------------- */

/* An array whose shape a method changes. */
typedef struct operand {
    const cli_view_item *items; /* of the numbers */
    unsigned count;
    int ndim;
    const int64_t *shape;
    cli_problem *problem;
} operand;

static void keep_shape(cli_view_plan *out, const operand *o)
{
    out->ndim = o->ndim;
    memcpy(out->shape, o->shape, (size_t)o->ndim * sizeof *o->shape);
}

/* An axis that was given, counted from the end if negative. */
static bool axis_of(const operand *o, unsigned which, int *out)
{
    const cli_view_item *item = &o->items[which];
    int64_t axis = item->slice.start;
    *out = (int)(axis < 0 ? axis + o->ndim : axis);
    return (axis >= -o->ndim && axis < o->ndim) ||
           cli_problem_set(o->problem, item->begin, item->end,
                           "axis %lld is out of bounds for an array of %d dimension%s",
                           (long long)axis, o->ndim, o->ndim == 1 ? "" : "s");
}

/* Take the axes of the plan; the shape follows from them. */
static bool permute(cli_view_plan *out, const operand *o)
{
    out->kind = CLI_PLAN_TRANSPOSE;
    out->ndim = o->ndim;
    for (int k = 0; k < o->ndim; k++) {
        out->shape[k] = o->shape[out->axes[k]];
    }
    return true;
}

static bool reorder(cli_view_plan *out, const operand *o)
{
    const cli_view_item *method = o->items - 1;
    bool given = method->method == CLI_TRANSPOSE && o->count > 0;
    bool seen[QUERN_MAX_NDIM] = {0};
    if (given && o->count != (unsigned)o->ndim) {
        return cli_problem_set(o->problem, method->begin, method->end,
                               "%u axes do not match an array of %d dimension%s", o->count, o->ndim,
                               o->ndim == 1 ? "" : "s");
    }
    for (int k = 0; k < o->ndim; k++) {
        out->axes[k] =
            method->method == CLI_SWAPAXES || method->method == CLI_MT ? k : o->ndim - 1 - k;
        if (given && !axis_of(o, (unsigned)k, &out->axes[k])) {
            return false;
        }
        if (given && seen[out->axes[k]]) {
            return cli_problem_set(o->problem, o->items[k].begin, o->items[k].end,
                                   "axis %d is named twice", out->axes[k]);
        }
        seen[out->axes[k]] = true;
    }
    return true;
}

static bool swap_axes(cli_view_plan *out, const operand *o, int one, int other)
{
    int axis = out->axes[one];
    out->axes[one] = out->axes[other];
    out->axes[other] = axis;
    return permute(out, o);
}

/* "(2, 3)" */
static const char *shape_text(int ndim, const int64_t *shape)
{
    const char *text = "(";
    for (int k = 0; k < ndim; k++) {
        text = cli_sprintf("%s%s%lld", text, k > 0 ? ", " : "", (long long)shape[k]);
    }
    return cli_sprintf("%s%s)", text, ndim == 1 ? "," : "");
}

/* The shape that the numbers give; one of them may be -1. */
static bool reshape(cli_view_plan *out, const operand *o)
{
    const cli_view_item *method = o->items - 1;
    int unknown_axis = -1;
    int64_t have, known;
    out->kind = CLI_PLAN_RESHAPE;
    out->ndim = (int)o->count;
    for (unsigned k = 0; k < o->count; k++) {
        int64_t extent = out->shape[k] = o->items[k].slice.start;
        if (extent < -1) {
            return cli_problem_set(o->problem, o->items[k].begin, o->items[k].end,
                                   "an extent of a shape cannot be negative, but for one -1");
        }
        if (extent == -1 && unknown_axis >= 0) {
            return cli_problem_set(o->problem, o->items[k].begin, o->items[k].end,
                                   "only one extent can be -1");
        }
        if (extent == -1) {
            unknown_axis = (int)k;
            out->shape[k] = 1;
        }
    }
    bool fits = cli_shape_bytes(&have, o->ndim, o->shape, 1) &&
                cli_shape_bytes(&known, out->ndim, out->shape, 1);
    if (fits && unknown_axis >= 0) {
        fits = known > 0 && have % known == 0;
        out->shape[unknown_axis] = fits ? have / known : -1;
    } else {
        fits = fits && have == known;
    }
    return fits ||
           cli_problem_set(o->problem, method->begin, method->end,
                           "an array of shape %s has no shape %s", shape_text(o->ndim, o->shape),
                           shape_text(out->ndim, out->shape));
}

static bool flatten(cli_view_plan *out, const operand *o, cli_plan_kind kind)
{
    const cli_view_item *method = o->items - 1;
    out->kind = kind;
    out->ndim = 1;
    return cli_shape_bytes(&out->shape[0], o->ndim, o->shape, 1) ||
           cli_problem_set(o->problem, method->begin, method->end,
                           "the array has too many elements for one axis");
}

static bool squeeze(cli_view_plan *out, const operand *o)
{
    bool drop[QUERN_MAX_NDIM] = {0};
    for (unsigned k = 0; k < o->count; k++) {
        int axis;
        if (!axis_of(o, k, &axis)) {
            return false;
        }
        if (o->shape[axis] != 1) {
            return cli_problem_set(o->problem, o->items[k].begin, o->items[k].end,
                                   "axis %d has %lld elements; only an axis of one can be "
                                   "squeezed out",
                                   axis, (long long)o->shape[axis]);
        }
        drop[axis] = true;
    }
    out->kind = CLI_PLAN_RESHAPE;
    for (int k = 0; k < o->ndim; k++) {
        if (o->count > 0 ? !drop[k] : o->shape[k] != 1) {
            out->shape[out->ndim++] = o->shape[k];
        }
    }
    return true;
}

static bool part(cli_view_plan *out, const operand *o, bool imaginary)
{
    keep_shape(out, o);
    bool is_complex = cli_is_complex(out->dtype);
    out->kind = is_complex ? CLI_PLAN_REINTERPRET : imaginary ? CLI_PLAN_ZEROS : CLI_PLAN_RESHAPE;
    if (is_complex) {
        out->offset = imaginary ? quern_dtype_size(out->dtype) / 2 : 0;
        out->dtype = out->dtype == QUERN_COMPLEX64 ? QUERN_FLOAT32 : QUERN_FLOAT64;
    }
    return true;
}

/* The same bytes as elements of another dtype: the last axis gets longer or shorter. */
static bool reinterpret(cli_view_plan *out, const operand *o)
{
    const cli_view_item *method = o->items - 1;
    size_t from = quern_dtype_size(out->dtype), to = quern_dtype_size(method->dtype);
    out->kind = CLI_PLAN_REINTERPRET;
    out->dtype = method->dtype;
    keep_shape(out, o);
    if (from == to) {
        return true;
    }
    if (o->ndim == 0) {
        return cli_problem_set(o->problem, method->begin, method->end,
                               "an array without dimensions can only be viewed as a dtype of the "
                               "same size");
    }
    int64_t *last = &out->shape[o->ndim - 1], bytes;
    if (!cli_shape_bytes(&bytes, o->ndim, o->shape, from) || *last > INT64_MAX / 16 ||
        *last * (int64_t)from % (int64_t)to != 0) {
        return cli_problem_set(
            o->problem, method->begin, method->end,
            "the last axis has %lld elements of %zu bytes, which are not a whole "
            "number of elements of %zu bytes",
            (long long)*last, from, to);
    }
    *last = *last * (int64_t)from / (int64_t)to;
    return true;
}

bool cli_method_plan(cli_view_plan *out, const cli_view_item *items, unsigned count, int ndim,
                     const int64_t *shape, cli_problem *problem)
{
    const operand o = {items + 1, count - 1, ndim, shape, problem};
    int one, other;
    switch (items->method) {
    case CLI_T:
    case CLI_TRANSPOSE:
        return reorder(out, &o) && permute(out, &o);
    case CLI_MT:
        if (ndim < 2) {
            return cli_problem_set(problem, items->begin, items->end,
                                   ".mT needs two dimensions or more");
        }
        return reorder(out, &o) && swap_axes(out, &o, ndim - 2, ndim - 1);
    case CLI_SWAPAXES:
        return axis_of(&o, 0, &one) && axis_of(&o, 1, &other) && reorder(out, &o) &&
               swap_axes(out, &o, one, other);
    case CLI_RESHAPE:
        return reshape(out, &o);
    case CLI_RAVEL:
        return flatten(out, &o, CLI_PLAN_RESHAPE);
    case CLI_FLATTEN:
        return flatten(out, &o, CLI_PLAN_COPY);
    case CLI_SQUEEZE:
        return squeeze(out, &o);
    case CLI_COPY:
        keep_shape(out, &o);
        out->kind = CLI_PLAN_COPY;
        return true;
    case CLI_REAL:
    case CLI_IMAG:
        return part(out, &o, items->method == CLI_IMAG);
    case CLI_ASTYPE:
        keep_shape(out, &o);
        out->kind = CLI_PLAN_CAST;
        out->dtype = items->dtype;
        return true;
    case CLI_VIEW:
        return reinterpret(out, &o);
    }
    return true;
}
