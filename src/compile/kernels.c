/* SPDX-License-Identifier: MIT
 *
 * The kernels that a source defines, for a message that says which there are. In: CUDA C++. Out:
 * their names. The thing to know: this reads words and brackets, not C++, and does not see what
 * macros make.
 */
#include "compile/nvrtc.h"

#include <string.h>

#define DEPTH_MAX  32  /* nested namespaces that are tracked */
#define LISTED_MAX 600 /* bytes of names; the rest is counted */

/* A reader of words and marks. Literals are skipped; one that has no end ends the text. */
typedef struct reader {
    qn_str rest;
    qn_str token; /* empty at the end */
} reader;

static bool next(reader *r)
{
    qn_cpp_token t;
    do {
        t = qn_cpp_next(&r->rest);
    } while (t.kind == QN_CPP_LITERAL && t.closed);
    bool more = t.kind != QN_CPP_END && t.closed;
    r->rest = more ? r->rest : (qn_str){"", 0};
    r->token = more ? t.text : (qn_str){"", 0};
    return more;
}

static bool at(const reader *r, const char *token)
{
    return qn_str_is(r->token, token);
}

/* From an opening bracket to the one that closes it. */
static void skip_brackets(reader *r, const char *open, const char *close)
{
    int depth = 0;
    do {
        depth += at(r, open) - at(r, close);
    } while (depth > 0 && next(r));
}

/* The namespaces that are open, by the depth of their braces. */
typedef struct scopes {
    qn_str names[DEPTH_MAX];
    size_t depth;
} scopes;

static void open_scope(scopes *s, qn_str name)
{
    if (s->depth < DEPTH_MAX) {
        s->names[s->depth] = name;
    }
    s->depth++;
}

static bool is_attribute(qn_str word)
{
    return qn_str_is(word, "__launch_bounds__") || qn_str_is(word, "__cluster_dims__") ||
           qn_str_is(word, "__block_size__") || qn_str_is(word, "__maxnreg__") ||
           qn_str_is(word, "__attribute__") || qn_str_is(word, "alignas") ||
           qn_str_is(word, "__declspec");
}

/* After __global__: the word before the bracket of the parameters. Empty when there is none. */
static qn_str read_name(reader *r)
{
    qn_str name = {"", 0};
    bool attribute = false;
    while (next(r) && !at(r, ";")) {
        if (at(r, "(") && !attribute) {
            return name;
        }
        if (at(r, "{") || at(r, "}")) {
            r->rest.data--; /* put it back: the caller counts braces */
            r->rest.length++;
            break;
        }
        if (at(r, "(")) {
            skip_brackets(r, "(", ")");
        } else if (at(r, "[")) {
            skip_brackets(r, "[", "]");
        } else if (at(r, "<")) {
            skip_brackets(r, "<", ">"); /* of an explicit specialisation */
            continue;
        }
        attribute = is_attribute(r->token);
        if (qn_is_word(r->token.data[0]) && !attribute) {
            name = r->token;
        }
    }
    return (qn_str){"", 0};
}

/* A list of names being written. */
typedef struct listing {
    qn_text *out;
    size_t begin, count, left_out;
} listing;

static bool is_listed(const listing *l, const char *name, size_t length)
{
    const char *p = l->out->data ? l->out->data + l->begin : "";
    for (; (p = strstr(p, name)); p++) {
        bool from = p == l->out->data + l->begin || p[-1] == ' ';
        if (from && (p[length] == ',' || p[length] == '\0')) {
            return true;
        }
    }
    return false;
}

static void list(listing *l, const scopes *s, qn_str name, bool is_template)
{
    qn_text full = {0};
    for (size_t k = 0; k < QN_MIN(s->depth, (size_t)DEPTH_MAX); k++) {
        if (s->names[k].length > 0) {
            qn_text_printf(&full, "%.*s::", (int)s->names[k].length, s->names[k].data);
        }
    }
    qn_text_printf(&full, "%.*s%s", (int)name.length, name.data, is_template ? "<...>" : "");
    if (full.data && !is_listed(l, full.data, full.length)) {
        l->count++;
        if (l->out->length - l->begin > LISTED_MAX) {
            l->left_out++;
        } else {
            qn_text_printf(l->out, "%s%s", l->out->length > l->begin ? ", " : "", full.data);
        }
    }
    qn_text_free(&full);
}

/* After "namespace": its names are joined, as in "namespace a::b {". */
static void read_namespace(reader *r, scopes *s)
{
    const char *begin = NULL, *end = NULL;
    while (next(r) && !at(r, "{") && !at(r, ";") && !at(r, "=")) {
        begin = begin ? begin : r->token.data;
        end = r->token.data + r->token.length;
    }
    if (at(r, "{")) {
        open_scope(s, begin ? (qn_str){begin, (size_t)(end - begin)} : (qn_str){"", 0});
    }
}

size_t qn_source_kernels(qn_text *out, const char *source)
{
    reader r = {.rest = qn_str_of(source)};
    scopes s = {.depth = 0};
    listing l = {.out = out, .begin = out->length};
    bool is_template = false;
    while (next(&r)) {
        if (at(&r, "#")) {
            r.rest = qn_cpp_skip_line(r.rest);
        } else if (at(&r, "namespace")) {
            read_namespace(&r, &s);
        } else if (at(&r, "{")) {
            open_scope(&s, (qn_str){"", 0});
        } else if (at(&r, "}")) {
            s.depth -= s.depth > 0;
            is_template = false;
        } else if (at(&r, "__global__")) {
            qn_str name = read_name(&r);
            if (name.length > 0) {
                list(&l, &s, name, is_template);
            }
            is_template = false;
        } else {
            is_template = (is_template || at(&r, "template")) && !at(&r, ";");
        }
    }
    if (l.left_out > 0) {
        qn_text_printf(out, " and %zu more", l.left_out);
    }
    return l.count;
}

/* ---- parameters of one of them -------------------------------------------------------------- */

/* "scale" of "ns::scale<float, 2>". */
static qn_str plain_name(const char *function)
{
    size_t length = strcspn(function, "<"), begin = length;
    while (begin > 0 && qn_is_word(function[begin - 1])) {
        begin--;
    }
    return (qn_str){function + begin, length - begin};
}

/* A parameter as it is declared. */
typedef struct declared {
    qn_str name;  /* its last word, in front of what gives it extents or a default */
    qn_str type;  /* the word before that */
    int pointers; /* marks that make it one */
    bool reads;   /* const stands in front of the first of them */
} declared;

/* At the bracket of a list of parameters: the one that is wanted. */
static declared read_parameter(reader *r, uint32_t index)
{
    static const declared nothing = {.name = {"", 0}};
    declared d = nothing;
    int depth = 0;
    bool named = false;
    do {
        depth += at(r, "(") || at(r, "<") || at(r, "{");
        depth -= at(r, ")") || at(r, ">") || at(r, "}");
        if (depth == 1 && at(r, ",")) {
            if (index-- == 0) {
                return d;
            }
            d = nothing;
            named = false;
        } else if (depth == 1 && (at(r, "[") || at(r, "="))) {
            d.pointers += at(r, "[");
            named = true;
        } else if (depth == 1 && at(r, "*")) {
            d.pointers++;
        } else if (depth == 1 && !named && qn_is_word(r->token.data[0])) {
            d.reads |= d.pointers == 0 && at(r, "const");
            d.type = d.name;
            d.name = r->token;
        }
    } while (depth > 0 && next(r));
    return index == 0 ? d : nothing;
}

static declared find_parameter(const char *source, const char *function, uint32_t index)
{
    const qn_str wanted = plain_name(function);
    reader r = {.rest = qn_str_of(source)};
    while (next(&r)) {
        if (at(&r, "#")) {
            r.rest = qn_cpp_skip_line(r.rest);
        } else if (at(&r, "__global__") && qn_str_same(read_name(&r), wanted) && at(&r, "(")) {
            return read_parameter(&r, index);
        }
    }
    return (declared){.name = {"", 0}};
}

qn_str qn_source_parameter(const char *source, const char *function, uint32_t index)
{
    return find_parameter(source, function, index).name;
}

bool qn_source_parameter_reads(const char *source, const char *function, uint32_t index)
{
    const declared d = find_parameter(source, function, index);
    return d.reads && d.pointers == 1;
}

static qn_parameter_handle handle_of(const declared *d)
{
    static const struct {
        const char *type;
        qn_parameter_handle handle;
    } types[] = {
        {"cudaTextureObject_t", QN_TEXTURE_HANDLE},
        {"CUtexObject", QN_TEXTURE_HANDLE},
        {"cudaSurfaceObject_t", QN_SURFACE_HANDLE},
        {"CUsurfObject", QN_SURFACE_HANDLE},
    };
    for (size_t k = 0; k < QN_COUNT(types) && d->pointers == 0; k++) {
        if (qn_str_is(d->type, types[k].type) || qn_str_is(d->name, types[k].type)) {
            return types[k].handle;
        }
    }
    return QN_NO_HANDLE;
}

qn_parameter_handle qn_source_parameter_handle(const char *source, const char *function,
                                               uint32_t index)
{
    const qn_str wanted = plain_name(function);
    reader r = {.rest = qn_str_of(source)};
    qn_parameter_handle handle = QN_NO_HANDLE;
    bool found = false;
    while (next(&r)) {
        if (at(&r, "#")) {
            r.rest = qn_cpp_skip_line(r.rest);
        } else if (at(&r, "__global__") && qn_str_same(read_name(&r), wanted) && at(&r, "(")) {
            const declared d = read_parameter(&r, index);
            if (found && handle_of(&d) != handle) {
                return QN_NO_HANDLE;
            }
            handle = handle_of(&d);
            found = true;
        }
    }
    return handle;
}

/* ---- kernels that launch kernels ------------------------------------------------------------ */

bool qn_source_may_launch(const char *source)
{
    qn_str rest = {source, strlen(source)};
    const char *follows = NULL; /* what the next mark must be to go on with a run of them */
    int marks = 0;
    for (qn_cpp_token t = qn_cpp_next(&rest); t.kind != QN_CPP_END; t = qn_cpp_next(&rest)) {
        const bool mark = t.kind == QN_CPP_MARK && t.text.data[0] == '<';
        marks = !mark ? 0 : t.text.data == follows ? marks + 1 : 1;
        follows = t.text.data + t.text.length;
        if (marks == 3) {
            return true;
        }
    }
    return false;
}

bool qn_log_wants_relocatable(const char *log, const char **said)
{
    static const char *const sentences[] = {
        "device-side kernel launch could not be processed", /* since CUDA 12 */
        "kernel launch from __device__ or __global__ functions requires separate compilation",
    };
    const char *found = NULL;
    for (size_t k = 0; log && !found && k < QN_COUNT(sentences); k++) {
        found = strstr(log, sentences[k]);
    }
    if (said) {
        *said = found;
    }
    return found != NULL;
}

/* ---- an instance of a template -------------------------------------------------------------- */

/* The arguments of an example: a type for a type, a number for a number. */
static void example_arguments(qn_text *out, qn_str parameters)
{
    reader r = {.rest = parameters};
    int depth = 0;
    bool begins = true, given = false;
    const char *separator = "";
    while (next(&r)) {
        depth += at(&r, "<") || at(&r, "(");
        depth -= at(&r, ">") || at(&r, ")");
        if (begins) {
            bool type = at(&r, "class") || at(&r, "typename");
            qn_text_printf(out, "%s%s", separator, type ? "float" : at(&r, "bool") ? "true" : "1");
            separator = ", ";
        }
        begins = depth == 0 && at(&r, ",");
        given |= depth == 0 && at(&r, "="); /* the rest may be left out */
        if (begins && given) {
            return;
        }
    }
}

/* The template's full name in the list of kernels, "ns::scale" of "k, ns::scale<...>", for a name
 * that may lack namespaces in front. Empty: there is none. */
static qn_str full_name(const qn_text *kernels, const char *name)
{
    static const char dots[] = "<...>";
    size_t length = strlen(name);
    const char *p = length > 0 ? kernels->data : NULL;
    for (; p && (p = strstr(p, name)) != NULL; p++) {
        const char *begin = p;
        while (begin > kernels->data && begin[-1] != ' ') {
            begin--;
        }
        bool whole = p == begin || (p - begin > 2 && p[-1] == ':');
        if (whole && qn_begins(p + length, dots)) {
            return (qn_str){begin, (size_t)(p - begin) + length};
        }
    }
    return (qn_str){"", 0};
}

/* The parameters of the first template of a kernel called `word`. */
static bool find_parameters(qn_str *parameters, const char *source, qn_str word)
{
    reader r = {.rest = qn_str_of(source)};
    *parameters = (qn_str){"", 0};
    while (next(&r)) {
        if (at(&r, "#")) {
            r.rest = qn_cpp_skip_line(r.rest);
        } else if (at(&r, "template") && next(&r) && at(&r, "<")) {
            const char *begin = r.rest.data;
            skip_brackets(&r, "<", ">");
            *parameters = (qn_str){begin, (size_t)(r.token.data - begin)};
        } else if (at(&r, "{") || at(&r, ";") || at(&r, "}")) {
            parameters->length = 0;
        } else if (at(&r, "__global__")) {
            if (qn_str_same(read_name(&r), word) && parameters->length > 0) {
                return true;
            }
            parameters->length = 0;
        }
    }
    return false;
}

bool qn_source_instance(qn_text *out, const char *source, const char *name)
{
    const char *plain = strrchr(name, ':');
    qn_text kernels = {0};
    qn_source_kernels(&kernels, source);
    qn_str full = full_name(&kernels, name), parameters;
    bool found = full.length > 0 &&
                 find_parameters(&parameters, source, qn_str_of(plain ? plain + 1 : name));
    if (found) {
        qn_text_printf(out, "%.*s<", (int)full.length, full.data);
        example_arguments(out, parameters);
        qn_text_puts(out, ">");
    }
    qn_text_free(&kernels);
    return found;
}
