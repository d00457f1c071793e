/* SPDX-License-Identifier: MIT
 *
 * source: what the sources of all kinds of kernels share: the headers that a text needs, the type
 * letters, the user's texts under their own names, the parameters of the signature. In: a call
 * whose types are bound and whose walk is planned. Out: parts of the source, and the whole once a
 * kind has filled the holes of its template. The thing to know: names that begin with `_quern_` are
 * ours; a snippet cannot have them.
 */
#include "engine/source/source.h"
#include "lang/records.h"

/* ---- headers: only those that a kernel uses ------------------------------------------------- */

static bool uses_dtype_kind(const qn_call *call, bool (*is)(const qn_dtype_info *))
{
    for (uint32_t p = 0; p < call->kernel->signature.count; p++) {
        if (is(qn_dtype_find(call->types.parameters[p]))) {
            return true;
        }
    }
    return false;
}

static bool is_complex(const qn_dtype_info *info)
{
    return info->kind == QN_KIND_COMPLEX;
}

static bool is_half(const qn_dtype_info *info)
{
    return info->kind == QN_KIND_FLOAT && info->size == 2;
}

static bool is_float8(const qn_dtype_info *info)
{
    return info->kind == QN_KIND_FLOAT && info->size == 1;
}

static bool is_bool(const qn_dtype_info *info)
{
    return info->kind == QN_KIND_BOOL;
}

static bool uses_any(const quern_kernel *kernel, const char *const *names)
{
    for (; *names; names++) {
        if (qn_kernel_uses(kernel, *names)) {
            return true;
        }
    }
    return false;
}

/* A raw parameter may also be given a number, which is that number and nothing else. */
static bool has_raw_array(const qn_call *call)
{
    for (uint32_t p = 0; p < call->kernel->signature.count; p++) {
        if (call->kernel->signature.parameters[p].raw && call->arrays[p]) {
            return true;
        }
    }
    return false;
}

/* Arrays whose elements lie otherwise than their type does. */
static bool has_reach(const qn_call *call)
{
    for (uint32_t p = 0; p < call->kernel->signature.count; p++) {
        if (call->arrays[p] && call->arrays[p]->reach != 0) {
            return true;
        }
    }
    return false;
}

/* The headers of the complex functions that a text names, and the headers which those include. */
static qn_header_set complex_headers(const quern_kernel *k)
{
    static const char *const math[] = {"abs",      "arg",  "polar", "proj", "isnan", "isinf",
                                       "isfinite", "rint", "min",   "max",  "sqrt",  NULL};
    static const char *const exp[] = {"exp", "expm1", "sinh", "cosh", "tanh",
                                      "sin", "cos",   "tan",  NULL};
    static const char *const log[] = {"log", "log2", "log10", "log1p", NULL};
    static const char *const inverse[] = {"asin", "acos", "atan", "asinh", "acosh", "atanh", NULL};
    static const char *const pow[] = {"pow", NULL};
    const struct {
        const char *const *names;
        qn_header_set headers;
    } groups[] = {
        {math, QN_HEADER(QN_HEADER_COMPLEX_MATH)},
        {exp, QN_HEADER(QN_HEADER_COMPLEX_EXP)},
        {log, QN_HEADER(QN_HEADER_COMPLEX_LOG)},
        {inverse, QN_HEADER(QN_HEADER_COMPLEX_LOG) | QN_HEADER(QN_HEADER_COMPLEX_INVERSE)},
        {pow, QN_HEADER(QN_HEADER_COMPLEX_LOG) | QN_HEADER(QN_HEADER_COMPLEX_POW)},
    };
    qn_header_set set = QN_HEADER(QN_HEADER_COMPLEX);
    for (size_t g = 0; g < QN_COUNT(groups); g++) {
        set |= uses_any(k, groups[g].names) ? groups[g].headers : 0;
    }
    return set;
}

/* Which headers the texts and types of the call need, as a set of bits. */
static qn_header_set needed_headers(const qn_call *call)
{
    static const char *const complex_names[] = {"complex", NULL};
    static const char *const half_names[] = {"float16", "bfloat16", NULL};
    static const char *const float8_names[] = {"float8_e4m3fn", "float8_e5m2", NULL};
    static const char *const minmax_names[] = {"min", "max", NULL};
    const quern_kernel *k = call->kernel;
    const bool records = qn_source_has_records(call);
    const unsigned needs = records ? qn_source_record_needs(call) : 0;
    qn_header_set set = QN_HEADER(QN_HEADER_TYPES) | QN_HEADER(QN_HEADER_LAYOUT) |
                        (qn_header_set)records << QN_HEADER_RECORD;
    if (has_raw_array(call)) {
        set |= QN_HEADER(k->names & QN_NAMES_CARRAY ? QN_HEADER_CARRAY
                         : k->engine->checks_bounds ? QN_HEADER_RAW_CHECKED
                                                    : QN_HEADER_RAW);
    }
    if (k->names & (QN_NAMES_CARRAY | QN_NAMES_CUPY | QN_NAMES_INDEXER | QN_NAMES_ARRAYS)) {
        set |= QN_HEADER(QN_HEADER_CARRAY);
    }
    if (k->names & QN_NAMES_CONSTANTS) {
        set |= QN_HEADER(QN_HEADER_CONSTANTS);
    }
    if (k->names & QN_NAMES_DIVIDE) {
        set |= QN_HEADER(QN_HEADER_FLOOR_DIVIDE);
    }
    if (has_reach(call)) {
        set |= QN_HEADER(QN_HEADER_REACH);
    }
    if (uses_dtype_kind(call, is_bool)) {
        set |= QN_HEADER(QN_HEADER_BOOL);
    }
    if (needs & QN_RECORD_HALF || uses_dtype_kind(call, is_half) || uses_any(k, half_names)) {
        set |= QN_HEADER(QN_HEADER_HALF);
    }
    if (needs & QN_RECORD_FLOAT8 || uses_dtype_kind(call, is_float8) || uses_any(k, float8_names)) {
        set |= QN_HEADER(QN_HEADER_FLOAT8);
    }
    if ((set & (QN_HEADER(QN_HEADER_HALF) | QN_HEADER(QN_HEADER_FLOAT8))) &&
        qn_kernel_uses(k, "nextafter")) {
        set |= QN_HEADER(QN_HEADER_NEXTAFTER);
    }
    bool thrust = (k->names & QN_NAMES_THRUST) != 0;
    if (needs & QN_RECORD_COMPLEX || uses_dtype_kind(call, is_complex) || thrust ||
        uses_any(k, complex_names)) {
        set |= complex_headers(k) | (qn_header_set)thrust << QN_HEADER_THRUST;
    }
    if (uses_any(k, minmax_names)) {
        set |= QN_HEADER(QN_HEADER_MINMAX);
    }
    if (k->uses_atomics) {
        set |= QN_HEADER(QN_HEADER_ATOMIC);
    }
    return set;
}

static void includes_hole(qn_text *out, qn_header_set set)
{
    size_t count;
    const qn_header *all = qn_device_headers(&count);
    for (unsigned h = 0; h < QN_HEADER_COUNT; h++) {
        if (set >> h & 1) {
            qn_text_printf(out, "#include <%s>\n", all[h].name);
        }
    }
}

/* ---- parts ---------------------------------------------------------------------------------- */

static void types_hole(qn_text *out, const qn_call *call)
{
    const qn_signature *s = &call->kernel->signature;
    if (qn_source_has_records(call)) {
        qn_source_records(out, call);
    }
    for (uint32_t l = 0; l < s->letter_count; l++) {
        qn_text_printf(out, "typedef %s %c;\n", qn_dtype_find(call->types.letters[l])->c_name,
                       s->letters[l]);
    }
}

void qn_source_user(qn_text *out, const qn_call *call, qn_text_id id)
{
    const qn_user_text *text = &call->kernel->texts[id];
    if (text->text[0] != '\0') {
        qn_source_closed(out, call, id, "");
    }
}

void qn_source_closed(qn_text *out, const qn_call *call, qn_text_id id, const char *close)
{
    qn_source_closed_text(out, call, id, call->kernel->texts[id].text, close);
}

void qn_source_closed_text(qn_text *out, const qn_call *call, qn_text_id id, const char *text,
                           const char *close)
{
    const char *name = call->kernel->texts[id].file_name;
    qn_text_printf(out, "#line 1 \"%s\"\n%s\n%s\n#line 1 \"" QN_AFTER "%s>\"\n", name, text, close,
                   name);
}

const char *qn_source_index(bool wide)
{
    return wide ? "long long" : "int";
}

void qn_source_index_type(qn_text *out, bool wide)
{
    qn_text_printf(out, "    typedef %s _quern_index;\n", qn_source_index(wide));
}

void qn_source_number(qn_text *out, const char *name, int value)
{
    qn_text_printf(out, "    constexpr int _quern_%s = %d;\n", name, value);
}

void qn_source_flag(qn_text *out, const char *name, bool value)
{
    qn_text_printf(out, "    constexpr bool _quern_%s = %s;\n", name, value ? "true" : "false");
}

const char *qn_source_type(const qn_call *call, uint32_t parameter)
{
    return qn_dtype_find(call->types.parameters[parameter])->c_name;
}

static void raw_type(qn_text *out, const qn_call *call, uint32_t p)
{
    const quern_array *a = call->arrays[p];
    const qn_parameter *parameter = &call->kernel->signature.parameters[p];
    if (call->kernel->names & QN_NAMES_CARRAY) {
        qn_text_printf(out, "%sCArray<%s, %d, %s, %s>", parameter->output ? "" : "const ",
                       qn_source_type(call, p), a->ndim, a->contiguous ? "true" : "false",
                       qn_array_is_narrow(a) ? "true" : "false");
        return;
    }
    bool boolean = call->types.parameters[p] == QUERN_BOOL && !call->kernel->uses_reference[p];
    const char *type = boolean ? "quern::boolean" : qn_source_type(call, p);
    qn_text_printf(out, "const quern::raw_array<%s", parameter->output ? "" : "const ");
    if (qn_array_is_packed(a)) {
        qn_text_printf(out, "quern::packed<%s, %s>", type, qn_source_word(a->reach));
    } else {
        qn_text_puts(out, type);
    }
    qn_text_printf(out, ", %d, %s>", a->ndim, a->contiguous ? "true" : "false");
}

void qn_source_parameters(qn_text *out, const qn_call *call, bool restricted)
{
    const qn_signature *s = &call->kernel->signature;
    for (uint32_t p = 0; p < s->count; p++) {
        const qn_parameter *q = &s->parameters[p];
        if (!call->arrays[p]) {
            qn_text_printf(out, "const %s %.*s, ", qn_source_type(call, p), (int)q->name.length,
                           q->name.data);
        } else if (q->raw) {
            raw_type(out, call, p);
            qn_text_printf(out, " %.*s, ", (int)q->name.length, q->name.data);
        } else {
            qn_text_printf(out, "%s%s *%s_quern_array%u, ", q->output ? "" : "const ",
                           qn_source_type(call, p), restricted ? "__restrict__ " : "", p);
        }
    }
}

const char *qn_source_word(uint32_t bytes)
{
    switch (bytes) {
    case 1:
        return "unsigned char";
    case 2:
        return "unsigned short";
    case 4:
        return "unsigned";
    case 8:
        return "uint2";
    default:
        return "uint4";
    }
}

void qn_source_place_begin(qn_text *out, const qn_call *call, uint32_t k)
{
    const uint32_t p = call->operand_parameter[k];
    const quern_array *a = call->arrays[p];
    const char *constant = call->operands[k].output ? "" : "const ";
    const char *type = qn_source_type(call, p);
    if (a->reach == 0) {
        qn_text_printf(out, "*(%s%s *)(", constant, type);
    } else if (qn_array_is_packed(a)) {
        qn_text_printf(out, "*(%squern::packed<%s, %s> *)(", constant, type,
                       qn_source_word(a->reach));
    } else {
        qn_text_printf(out, "((%squern::aligned<%s, %u> *)(", constant, type, a->reach);
    }
}

void qn_source_place_end(qn_text *out, const qn_call *call, uint32_t k)
{
    const quern_array *a = call->arrays[call->operand_parameter[k]];
    qn_text_puts(out, a->reach == 0 || qn_array_is_packed(a) ? ")" : "))->value");
}

bool qn_source_is_bool(const qn_call *call, uint32_t k)
{
    return call->types.parameters[call->operand_parameter[k]] == QUERN_BOOL;
}

const char *qn_source_held_type(const qn_call *call, uint32_t k)
{
    return qn_source_is_bool(call, k) ? "unsigned char"
                                      : qn_source_type(call, call->operand_parameter[k]);
}

void qn_source_read_begin(qn_text *out, const qn_call *call, uint32_t k)
{
    qn_text_puts(out, qn_source_is_bool(call, k) ? "quern::truth(&" : "");
}

void qn_source_read_end(qn_text *out, const qn_call *call, uint32_t k)
{
    qn_text_puts(out, qn_source_is_bool(call, k) ? ")" : "");
}

void qn_source_operands(qn_text *out, const qn_call *call, uint32_t first, uint32_t count)
{
    const qn_signature *s = &call->kernel->signature;
    for (uint32_t k = first; k < first + count; k++) {
        uint32_t p = call->operand_parameter[k];
        const qn_parameter *q = &s->parameters[p];
        qn_text_printf(out, "%s%s &%.*s, ", q->output ? "" : "const ", qn_source_type(call, p),
                       (int)q->name.length, q->name.data);
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

_Static_assert(QN_HEADER_COUNT <= QN_MAX_HEADERS, "room for all headers");

#define COMMON_HOLES 4

/* Expand with the common holes first, then the template's own. */
static quern_status expand(qn_text *out, const qn_call *call, const qn_source_template *template,
                           const qn_text *common)
{
    qn_hole holes[COMMON_HOLES + QN_TEMPLATE_HOLES] = {{"includes", common[0].data},
                                                       {"types", common[1].data},
                                                       {"preamble", common[2].data},
                                                       {"name", call->entry}};
    bool failed = common[0].failed || common[1].failed || common[2].failed;
    for (size_t h = 0; h < template->hole_count; h++) {
        holes[COMMON_HOLES + h] = (qn_hole){template->hole_names[h], template->holes[h].data};
        failed |= template->holes[h].failed;
    }
    return failed ? qn_fail_memory("writing the source of a kernel")
                  : qn_expand(out, template->text, holes, COMMON_HOLES + template->hole_count);
}

quern_status qn_source_expand(qn_text *out, const qn_call *call, const qn_source_template *template,
                              qn_header *headers, size_t *header_count)
{
    size_t count;
    const qn_header *all = qn_device_headers(&count);
    qn_text common[3] = {{0}};
    qn_header_set set = needed_headers(call) | template->headers |
                        (qn_header_set)qn_source_math(&common[1], call->kernel) << QN_HEADER_MATH;
    includes_hole(&common[0], set);
    types_hole(&common[1], call);
    qn_source_thrust(&common[1], call->kernel);
    qn_source_user(&common[2], call, QN_PREAMBLE);
    quern_status status = expand(out, call, template, common);
    for (size_t k = 0; k < QN_COUNT(common); k++) {
        qn_text_free(&common[k]);
    }
    for (size_t h = 0; h < template->hole_count; h++) {
        qn_text_free(&template->holes[h]);
    }
    *header_count = 0;
    for (unsigned h = 0; h < QN_HEADER_COUNT; h++) {
        if (set >> h & 1) {
            headers[(*header_count)++] = all[h];
        }
    }
    return status;
}

/* Begin a line, indented as its block is. */
void qn_source_indent(qn_text *out, int levels)
{
    qn_text_printf(out, "%*s", 4 * levels, "");
}
