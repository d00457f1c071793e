/* SPDX-License-Identifier: MIT
 *
 * source_names: names of CuPy's that a kernel's texts use: CArray, CIndexer, CUPY_FOR, thrust::,
 * CUDART_PI, _raw_x and their like. In: a kernel. Out: which of them it needs, and the lines that
 * give them. The thing to know: a name that a text or an option defines itself is the text's own,
 * and so is any that a header may define; then nothing is given, and the source is what it is
 * without this file.
 */
#include "base/cpp_text.h"
#include "embedded/templates.h"
#include "engine/source/source.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_one_of(qn_str name, const char *const *names)
{
    for (; *names; names++) {
        if (qn_str_is(name, *names)) {
            return true;
        }
    }
    return false;
}

/* ---- headers that may define them ----------------------------------------------------------- */

/* A folder among the options has such a file. */
static bool is_in_folder(const quern_kernel *kernel, qn_str name)
{
    const char *path;
    char file[PATH_MAX];
    for (size_t k = 0; k < kernel->option_count; k++) {
        if (qn_option_path(kernel->options, kernel->option_count, &k, &path) == QN_INCLUDE_FOLDER &&
            snprintf(file, sizeof file, "%s/%.*s", path, (int)name.length, name.data) < PATH_MAX &&
            access(file, F_OK) == 0) {
            return true;
        }
    }
    return false;
}

/* Ours, or one of CUDA's that has none of the names. */
static bool is_harmless(const quern_kernel *kernel, const qn_directive *d)
{
    static const char *const harmless[] = {"cuda_fp16.",         "cuda_bf16.", "cuda_fp8.",
                                           "cooperative_groups", "curand",     "mma.h"};
    for (size_t k = 0; k < QN_COUNT(harmless); k++) {
        if (qn_str_begins(d->name, harmless[k])) {
            return true;
        }
    }
    return qn_str_begins(d->name, "cupy/") && !is_in_folder(kernel, d->name);
}

static bool includes_others(const quern_kernel *kernel)
{
    const char *path;
    for (size_t k = 0; k < kernel->option_count; k++) {
        if (qn_option_path(kernel->options, kernel->option_count, &k, &path) == QN_INCLUDE_FILE) {
            return true;
        }
    }
    for (int t = 0; t < QN_TEXTS; t++) {
        const qn_str text = qn_str_of(kernel->texts[t].text);
        qn_directive d;
        for (const char *at = text.data; qn_next_include(text, &at, &d);) {
            if (!is_harmless(kernel, &d)) {
                return true;
            }
        }
    }
    return false;
}

/* ---- definitions in the texts --------------------------------------------------------------- */

/* Does a word in front of a name make it that of something new? `next` is the token behind it. */
static bool declares(qn_str before, qn_cpp_token next, qn_str rest)
{
    static const char *const kinds[] = {"class", "struct",    "union",  "enum",
                                        "using", "namespace", "define", NULL};
    static const char *const values[] = {"return", "else", "case", "throw",
                                         "and",    "or",   "not",  NULL};
    bool assigned = qn_str_is(next.text, "=") && !(rest.length > 0 && rest.data[0] == '=');
    bool object = assigned || qn_str_is(next.text, ";") || qn_str_is(next.text, "{") ||
                  qn_str_is(next.text, "[");
    return is_one_of(before, kinds) || (object && !is_one_of(before, values));
}

static bool text_declares(const char *text, qn_str name)
{
    qn_str rest = qn_str_of(text);
    qn_cpp_token before = {.kind = QN_CPP_END};
    for (qn_cpp_token t = qn_cpp_next(&rest); t.kind != QN_CPP_END; t = qn_cpp_next(&rest)) {
        if (t.kind == QN_CPP_WORD && qn_str_same(t.text, name) && before.kind == QN_CPP_WORD) {
            qn_str further = rest;
            qn_cpp_token next = qn_cpp_next(&further);
            if (declares(before.text, next, further)) {
                return true;
            }
        }
        before = t;
    }
    return false;
}

/* A text or an option (-DNAME) gives the name a meaning of its own. */
static bool is_declared(const quern_kernel *kernel, qn_str name)
{
    for (int t = 0; t < QN_TEXTS; t++) {
        if (text_declares(kernel->texts[t].text, name)) {
            return true;
        }
    }
    for (size_t k = 0; k < kernel->option_count; k++) {
        const char *option = kernel->options[k];
        const char *behind = strstr(option, "-D") == option ? option + 2 : option;
        if (strncmp(behind, name.data, name.length) == 0 && !qn_is_word(behind[name.length])) {
            return true;
        }
    }
    return false;
}

/* ---- uses ----------------------------------------------------------------------------------- */

/* A name in a text, with what is around it. */
typedef struct place {
    qn_str name;
    bool member; /* behind decltype(...):: */
    bool scopes; /* in front of :: */
    bool opened; /* using namespace NAME */
    qn_str rest; /* the text behind it */
} place;

static bool is_scope(qn_str rest)
{
    rest = qn_cpp_skip_blank(rest);
    return qn_str_begins(rest, "::");
}

/* CUDART_PI, but not CUDART_VERSION. */
static bool is_constant(qn_str name)
{
    char line[64];
    int length = snprintf(line, sizeof line, "#define %.*s ", (int)name.length, name.data);
    return qn_str_begins(name, "CUDART_") && length < (int)sizeof line &&
           strstr(qn_embedded_constants_cuh, line);
}

/* What a place in a text needs; 0 for what is no name of CuPy's. */
static unsigned names_at(const quern_kernel *kernel, const place *p)
{
    static const char *const carray[] = {"CArray", NULL};
    static const char *const members[] = {"index_t", "c_contiguous", NULL};
    static const char *const cupy[] = {"CIndexer", "CUPY_FOR", NULL};
    static const char *const divide[] = {"_floor_divide", "iszero", NULL};
    static const char *const inds[] = {"_ind", "_in_ind", "_out_ind", NULL};
    if (is_one_of(p->name, carray) || (p->member && is_one_of(p->name, members))) {
        return QN_NAMES_CARRAY;
    }
    if (is_one_of(p->name, cupy) || (qn_str_is(p->name, "cupy") && p->scopes)) {
        return QN_NAMES_CUPY;
    }
    if (qn_str_is(p->name, "thrust") && (p->scopes || p->opened)) {
        return QN_NAMES_THRUST;
    }
    if (is_one_of(p->name, divide)) {
        return QN_NAMES_DIVIDE;
    }
    if (is_constant(p->name)) {
        return QN_NAMES_CONSTANTS;
    }
    if (qn_str_is(p->name, "_j") && kernel->kind->number == QUERN_KERNEL_REDUCTION) {
        return QN_NAMES_J;
    }
    if (!is_one_of(p->name, inds)) {
        return 0;
    }
    qn_str rest = p->rest;
    qn_cpp_token mark = qn_cpp_next(&rest), member = qn_cpp_next(&rest);
    if (qn_str_is(mark.text, ".") &&
        (qn_str_is(member.text, "size") || qn_str_is(member.text, "get"))) {
        return 0;
    }
    return QN_NAMES_INDEXER | (qn_str_is(member.text, "ndim") ? 0u : (unsigned)QN_NAMES_SET);
}

static unsigned names_in(const quern_kernel *kernel, const char *text)
{
    unsigned names = 0;
    qn_str rest = qn_str_of(text);
    qn_cpp_token back[3] = {{.kind = QN_CPP_END}}; /* the three before, the nearest first */
    for (qn_cpp_token t = qn_cpp_next(&rest); t.kind != QN_CPP_END; t = qn_cpp_next(&rest)) {
        const place p = {.name = t.text,
                         .member = qn_str_is(back[0].text, ":") && qn_str_is(back[1].text, ":") &&
                                   qn_str_is(back[2].text, ")"),
                         .scopes = is_scope(rest),
                         .opened = qn_str_is(back[0].text, "namespace") &&
                                   qn_str_is(back[1].text, "using"),
                         .rest = rest};
        unsigned found = t.kind == QN_CPP_WORD ? names_at(kernel, &p) & ~names : 0;
        names |= found != 0 && (p.member || !is_declared(kernel, p.name)) ? found : 0;
        back[2] = back[1];
        back[1] = back[0];
        back[0] = t;
    }
    return names;
}

/* `_raw_x` in an elementwise kernel, where x is not raw. */
static unsigned arrays_in(quern_kernel *kernel, const char *text)
{
    static const qn_str prefix = QN_STR("_raw_");
    unsigned names = 0;
    qn_str rest = qn_str_of(text), word;
    while (kernel->kind->number == QUERN_KERNEL_ELEMENTWISE && qn_text_next_name(&rest, &word)) {
        if (!qn_str_begins(word, prefix.data)) {
            continue;
        }
        const qn_str name = {word.data + prefix.length, word.length - prefix.length};
        for (uint32_t p = 0; p < kernel->signature.count; p++) {
            const qn_parameter *q = &kernel->signature.parameters[p];
            if (!q->raw && qn_str_same(name, q->name) && !is_declared(kernel, word)) {
                kernel->uses_array[p] = true;
                names = QN_NAMES_ARRAYS;
            }
        }
    }
    return names;
}

void qn_names_study(quern_kernel *kernel)
{
    kernel->names = 0;
    for (int t = 0; t < QN_TEXTS; t++) {
        kernel->names |= names_in(kernel, kernel->texts[t].text);
        kernel->names |= arrays_in(kernel, kernel->texts[t].text);
    }
    const unsigned always =
        QN_NAMES_INDEXER | QN_NAMES_SET | QN_NAMES_J | QN_NAMES_ARRAYS; /* no header has these */
    if ((kernel->names & ~always) != 0 && includes_others(kernel)) {
        kernel->names &= always;
    }
}

/* ---- lines ---------------------------------------------------------------------------------- */

void qn_source_thrust(qn_text *out, const quern_kernel *kernel)
{
    static const char *const functions[] = {
        "abs",  "acos", "acosh", "arg",  "asin", "asinh", "atan", "atanh", "conj",
        "cos",  "cosh", "exp",   "imag", "log",  "log10", "norm", "polar", "pow",
        "proj", "real", "sin",   "sinh", "sqrt", "tan",   "tanh"};
    for (size_t k = 0; (kernel->names & QN_NAMES_THRUST) && k < QN_COUNT(functions); k++) {
        if (qn_kernel_uses(kernel, functions[k])) {
            qn_text_printf(out, "QUERN_THRUST(%s)\n", functions[k]);
        }
    }
}

void qn_source_indexer(qn_text *out, const qn_call *call, int ndim)
{
    const bool more = call->kernel->names & QN_NAMES_INDEXER;
    const bool moves = more && call->kernel->kind->number == QUERN_KERNEL_ELEMENTWISE;
    qn_text_printf(out, "%s<%d>",
                   moves  ? "CIndexer"
                   : more ? "quern::axes"
                          : "quern::indexer",
                   ndim);
}
