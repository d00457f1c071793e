/* SPDX-License-Identifier: MIT
 *
 * source: the CUDA source of an elementwise kernel. In: a call whose types are bound and whose walk
 * is planned. Out: the text of templates/elementwise.cu with its holes filled, and the headers it
 * includes. The thing to know: only the form of the plan shapes the text; extents, strides and
 * addresses are parameters. Names that begin with `_quern_` are ours; a snippet cannot have them.
 */
#include "embedded/templates.h"
#include "engine/engine.h"
#include <string.h>

/* ---- headers: only those that a kernel uses ------------------------------------------------- */

typedef enum header_id {
    HEADER_TYPES,
    HEADER_INDEX,
    HEADER_PACK,
    HEADER_RAW,
    HEADER_HALF,
    HEADER_COMPLEX,
    HEADER_COMPLEX_MATH,
    HEADER_MINMAX,
    HEADER_ATOMIC,
    HEADER_COUNT
} header_id;

static const qn_header all_headers[HEADER_COUNT] = {
    [HEADER_TYPES] = {"quern/types.cuh", qn_embedded_types_cuh},
    [HEADER_INDEX] = {"quern/index.cuh", qn_embedded_index_cuh},
    [HEADER_PACK] = {"quern/pack.cuh", qn_embedded_pack_cuh},
    [HEADER_RAW] = {"quern/raw.cuh", qn_embedded_raw_cuh},
    [HEADER_HALF] = {"quern/half.cuh", qn_embedded_half_cuh},
    [HEADER_COMPLEX] = {"quern/complex.cuh", qn_embedded_complex_cuh},
    [HEADER_COMPLEX_MATH] = {"quern/complex_math.cuh", qn_embedded_complex_math_cuh},
    [HEADER_MINMAX] = {"quern/minmax.cuh", qn_embedded_minmax_cuh},
    [HEADER_ATOMIC] = {"quern/atomic.cuh", qn_embedded_atomic_cuh},
};

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

static bool uses_any(const quern_kernel *kernel, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (qn_kernel_uses(kernel, *names)) {
            return true;
        }
    }
    return false;
}

static bool has_raw(const quern_kernel *kernel)
{
    for (uint32_t p = 0; p < kernel->signature.count; p++) {
        if (kernel->signature.parameters[p].raw) {
            return true;
        }
    }
    return false;
}

/** Which headers the call needs, as a set of bits. */
static unsigned needed_headers(const qn_call *call)
{
    static const char *const complex_names[] = {"complex", NULL};
    static const char *const half_names[] = {"float16", "bfloat16", NULL};
    static const char *const minmax_names[] = {"min", "max", NULL};
    static const char *const complex_math[] = {
        "abs",   "arg",   "exp",   "log",   "log2",     "log10", "pow",  "sqrt", "polar", "proj",
        "sin",   "cos",   "tan",   "sinh",  "cosh",     "tanh",  "asin", "acos", "atan",  "asinh",
        "acosh", "atanh", "isnan", "isinf", "isfinite", "min",   "max",  NULL};
    const quern_kernel *k = call->kernel;
    unsigned set = 1u << HEADER_TYPES | 1u << HEADER_INDEX;
    if (call->plan.form.lanes > 1) {
        set |= 1u << HEADER_PACK;
    }
    if (has_raw(k)) {
        set |= 1u << HEADER_RAW;
    }
    if (uses_dtype_kind(call, is_half) || uses_any(k, half_names)) {
        set |= 1u << HEADER_HALF;
    }
    if (uses_dtype_kind(call, is_complex) || uses_any(k, complex_names)) {
        set |= 1u << HEADER_COMPLEX;
        if (uses_any(k, complex_math)) {
            set |= 1u << HEADER_COMPLEX_MATH;
        }
    }
    if (uses_any(k, minmax_names)) {
        set |= 1u << HEADER_MINMAX;
    }
    if (k->uses_atomics) {
        set |= 1u << HEADER_ATOMIC;
    }
    return set;
}

static void includes_hole(qn_text *out, unsigned set)
{
    for (unsigned h = 0; h < HEADER_COUNT; h++) {
        if (set >> h & 1) {
            qn_text_printf(out, "#include <%s>\n", all_headers[h].name);
        }
    }
}

/* The name of what is not the user's; reports leave out places in angle brackets. */
#define GENERATED_LINE "#line 1 \"<generated>\""

/* ---- holes ---------------------------------------------------------------------------------- */

static const char *c_name(const qn_call *call, uint32_t parameter)
{
    return qn_dtype_find(call->types.parameters[parameter])->c_name;
}

static void types_hole(qn_text *out, const qn_call *call)
{
    const qn_signature *s = &call->kernel->signature;
    for (uint32_t l = 0; l < s->letter_count; l++) {
        qn_text_printf(out, "typedef %s %c;\n", qn_dtype_find(call->types.letters[l])->c_name,
                       s->letters[l]);
    }
}

/** The user's text under its own name, so that messages speak of its lines. */
static void user_text(qn_text *out, const char *name, const char *text)
{
    if (text[0] != '\0') {
        qn_text_printf(out, "#line 1 \"%s\"\n%s\n" GENERATED_LINE "\n", name, text);
    }
}

static void raw_type(qn_text *out, const qn_call *call, uint32_t p)
{
    const quern_array *a = call->arrays[p];
    const qn_parameter *parameter = &call->kernel->signature.parameters[p];
    qn_text_printf(out, "quern::raw_array<%s%s, %d, %s>", parameter->output ? "" : "const ",
                   c_name(call, p), a->ndim, a->contiguous ? "true" : "false");
}

static void parameters_hole(qn_text *out, const qn_call *call)
{
    const qn_signature *s = &call->kernel->signature;
    const char *restricted = call->plan.form.aliased ? "" : "__restrict__ ";
    for (uint32_t p = 0; p < s->count; p++) {
        const qn_parameter *q = &s->parameters[p];
        qn_text_puts(out, p == 0 ? "" : ", ");
        if (call->arrays[p] == NULL) {
            qn_text_printf(out, "const %s %.*s", c_name(call, p), (int)q->name.length,
                           q->name.data);
        } else if (q->raw) {
            qn_text_puts(out, "const ");
            raw_type(out, call, p);
            qn_text_printf(out, " %.*s", (int)q->name.length, q->name.data);
        } else {
            qn_text_printf(out, "%s%s *%s_quern_a%u", q->output ? "" : "const ", c_name(call, p),
                           restricted, p);
        }
    }
    qn_text_printf(out, "%sconst quern::space<%s, %d, %u> _quern_s", s->count == 0 ? "" : ", ",
                   call->plan.form.wide ? "long long" : "int", call->plan.form.ndim - 1,
                   call->operand_count);
}

/** The parameters of the lambda: the elements, by the user's names, and the position. */
static void operands_hole(qn_text *out, const qn_call *call)
{
    const qn_signature *s = &call->kernel->signature;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        uint32_t p = call->operand_parameter[k];
        const qn_parameter *q = &s->parameters[p];
        qn_text_printf(out, "%s%s &%.*s, ", q->output ? "" : "const ", c_name(call, p),
                       (int)q->name.length, q->name.data);
    }
    qn_text_puts(out, "const ptrdiff_t i");
}

/** Where the pack lies: `_quern_e`, the first element in its row, and the offset of each operand's
 * row, `_quern_oK`. */
static void position_hole(qn_text *out, const qn_call *call)
{
    const qn_plan_form *f = &call->plan.form;
    bool axes = call->kernel->uses_axes && call->ndim > 0;
    if (f->ndim == 1) {
        qn_text_printf(out,
                       "        const _quern_index _quern_e = _quern_p * %d + _quern_s.head;\n",
                       f->lanes);
        return;
    }
    qn_text_printf(out,
                   "        const _quern_index _quern_row = _quern_s.row.divide(_quern_p);\n"
                   "        const _quern_index _quern_e = (_quern_p - _quern_row * "
                   "_quern_s.row.value) * %d;\n"
                   "        _quern_index _quern_q = _quern_row, _quern_c;\n",
                   f->lanes);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        qn_text_printf(out, "        long long _quern_o%u = 0;\n", k);
    }
    for (int d = f->ndim - 2; d >= 0; d--) {
        if (d > 0) {
            qn_text_printf(out,
                           "        _quern_c = _quern_q;\n"
                           "        _quern_q = _quern_s.outer[%d].divide(_quern_c);\n"
                           "        _quern_c -= _quern_q * _quern_s.outer[%d].value;\n",
                           d, d);
        } else {
            qn_text_puts(out, "        _quern_c = _quern_q;\n");
        }
        for (uint32_t k = 0; k < call->operand_count; k++) {
            qn_text_printf(out,
                           "        _quern_o%u += (long long)_quern_c * _quern_s.stride[%u][%d];\n",
                           k, k, d);
        }
        if (axes) {
            qn_text_printf(out, "        _ind.at[%d] = _quern_c;\n", d);
        }
    }
}

/** The address of operand `k` at element `at` of the row, as a dereferenced pointer. */
static void element(qn_text *out, const qn_call *call, uint32_t k, const char *at)
{
    const qn_plan_form *f = &call->plan.form;
    const qn_operand *o = &call->operands[k];
    const char *constant = o->output ? "" : "const ";
    uint32_t p = call->operand_parameter[k];
    qn_text_printf(out, "*(%s%s *)((%schar *)_quern_a%u", constant, c_name(call, p), constant, p);
    if (f->ndim > 1) {
        qn_text_printf(out, " + _quern_o%u", k);
    }
    switch (f->access[k]) {
    case QN_ACCESS_VECTOR:
    case QN_ACCESS_CONTIGUOUS:
        qn_text_printf(out, " + (long long)(%s) * %u", at, o->item_size);
        break;
    case QN_ACCESS_STRIDED:
        qn_text_printf(out, " + (long long)(%s) * _quern_s.stride[%u][%d]", at, k, f->ndim - 1);
        break;
    case QN_ACCESS_BROADCAST:
        break;
    }
    qn_text_puts(out, ")");
}

/** Begin a line, indented as its block is. */
static void indent(qn_text *out, int levels)
{
    qn_text_printf(out, "%*s", 4 * levels, "");
}

/** The call of the lambda, and `_ind`'s innermost position before it. */
static void invoke(qn_text *out, const qn_call *call, int levels, const char *at, const char *lane)
{
    const quern_kernel *kernel = call->kernel;
    if (kernel->uses_axes && call->ndim > 0) {
        indent(out, levels);
        qn_text_printf(out, "_ind.at[%d] = %s;\n", call->ndim - 1, at);
    }
    indent(out, levels);
    qn_text_puts(out, "_quern_op(");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        bool pack = lane != NULL && call->plan.form.access[k] != QN_ACCESS_BROADCAST;
        if (kernel->uses_by_address[call->operand_parameter[k]]) {
            element(out, call, k, at);
        } else {
            qn_text_printf(out, pack ? "_quern_v%u.v[%s]" : "_quern_v%u", k, lane);
        }
        qn_text_puts(out, ", ");
    }
    if (!kernel->uses_position) {
        qn_text_puts(out, "0");
    } else if (call->plan.form.ndim == 1) {
        qn_text_puts(out, at);
    } else {
        qn_text_printf(out, "(ptrdiff_t)_quern_row * _quern_s.inner + %s", at);
    }
    qn_text_puts(out, ");\n");
}

/** `_quern_vK`, the value of operand k at `at`. */
static void load_one(qn_text *out, const qn_call *call, int levels, uint32_t k, const char *at)
{
    indent(out, levels);
    qn_text_printf(out, "%s%s _quern_v%u = ", call->operands[k].output ? "" : "const ",
                   c_name(call, call->operand_parameter[k]), k);
    element(out, call, k, at);
    qn_text_puts(out, ";\n");
}

/** One element: copies in, the operation, copies of the outputs back. */
static void single(qn_text *out, const qn_call *call, int levels, const char *at)
{
    const bool *by_address = call->kernel->uses_by_address;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (!by_address[call->operand_parameter[k]]) {
            load_one(out, call, levels, k, at);
        }
    }
    invoke(out, call, levels, at, NULL);
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (call->operands[k].output && !by_address[call->operand_parameter[k]]) {
            indent(out, levels);
            element(out, call, k, at);
            qn_text_printf(out, " = _quern_v%u;\n", k);
        }
    }
}

/** The head of a loop over the lanes of a pack. */
static void each_lane(qn_text *out, const qn_call *call, int levels)
{
    qn_text_puts(out, "#pragma unroll\n");
    indent(out, levels);
    qn_text_printf(out, "for (int _quern_l = 0; _quern_l < %d; _quern_l++) {\n",
                   call->plan.form.lanes);
}

/** Bring the pack of operand `k` in, or (when `store`) take it back. */
static void move_pack(qn_text *out, const qn_call *call, int levels, uint32_t k, bool store)
{
    uint8_t access = call->plan.form.access[k];
    if (access == QN_ACCESS_BROADCAST) {
        load_one(out, call, levels, k, "_quern_e");
        return;
    }
    if (!store) {
        indent(out, levels);
        qn_text_printf(out, "quern::pack<%s, %d> _quern_v%u;\n",
                       c_name(call, call->operand_parameter[k]), call->plan.form.lanes, k);
    }
    if (access == QN_ACCESS_VECTOR) {
        indent(out, levels);
        qn_text_printf(out, "_quern_v%u.%s(&", k, store ? "store" : "load");
        element(out, call, k, "_quern_e");
        qn_text_puts(out, ");\n");
        return;
    }
    each_lane(out, call, levels);
    indent(out, levels + 1);
    if (store) {
        element(out, call, k, "_quern_e + _quern_l");
        qn_text_printf(out, " = _quern_v%u.v[_quern_l];\n", k);
    } else {
        qn_text_printf(out, "_quern_v%u.v[_quern_l] = ", k);
        element(out, call, k, "_quern_e + _quern_l");
        qn_text_puts(out, ";\n");
    }
    indent(out, levels);
    qn_text_puts(out, "}\n");
}

/** The elements in front of the first pack and behind the last, one a thread. */
static void rest_hole(qn_text *out, const qn_call *call)
{
    int lanes = call->plan.form.lanes;
    if (lanes == 1 || call->plan.form.ndim > 1) {
        return;
    }
    qn_text_printf(out,
                   "    if (_quern_t < _quern_s.inner - _quern_s.packs * %d) {\n"
                   "        const _quern_index _quern_f =\n"
                   "            _quern_t < _quern_s.head ? _quern_t : _quern_t + _quern_s.packs * "
                   "%d;\n",
                   lanes, lanes);
    single(out, call, 2, "_quern_f");
    qn_text_puts(out, "    }");
}

/** One element, or a pack in registers. */
static void body_hole(qn_text *out, const qn_call *call)
{
    if (call->plan.form.lanes == 1) {
        single(out, call, 2, "_quern_e");
        return;
    }
    for (uint32_t k = 0; k < call->operand_count; k++) {
        move_pack(out, call, 2, k, false);
    }
    each_lane(out, call, 2);
    invoke(out, call, 3, "_quern_e + _quern_l", "_quern_l");
    qn_text_puts(out, "        }\n");
    for (uint32_t k = 0; k < call->operand_count; k++) {
        if (call->operands[k].output) {
            move_pack(out, call, 2, k, true);
        }
    }
}

static void loop_prep_hole(qn_text *out, const qn_call *call)
{
    if (call->kernel->uses_axes) {
        qn_text_printf(out, "    quern::indexer<%d> _ind;\n    _ind.count = _quern_s.count;\n",
                       call->ndim);
    }
    user_text(out, "loop_prep", call->kernel->loop_prep);
}

static void operation_hole(qn_text *out, const qn_call *call)
{
    const char *text = call->kernel->operation;
    /* The closing semicolon belongs to the operation, so that what it lacks is said of it. */
    qn_text_printf(out, "#line 1 \"operation\"\n%s\n;\n" GENERATED_LINE, text);
}

/* ---- the whole ------------------------------------------------------------------------------ */

_Static_assert(HEADER_COUNT <= QN_MAX_HEADERS, "room for all headers");

quern_status qn_elementwise_source(qn_text *out, const qn_call *call, qn_header *headers,
                                   size_t *header_count)
{
    enum {
        INCLUDES,
        TYPES,
        PREAMBLE,
        PARAMETERS,
        LOOP_PREP,
        OPERANDS,
        OPERATION,
        REST,
        POSITION,
        BODY,
        AFTER_LOOP,
        HOLES
    };
    static const char *const names[HOLES] = {
        [INCLUDES] = "includes",    [TYPES] = "types",
        [PREAMBLE] = "preamble",    [PARAMETERS] = "parameters",
        [LOOP_PREP] = "loop_prep",  [OPERANDS] = "operands",
        [OPERATION] = "operation",  [REST] = "rest",
        [POSITION] = "position",    [BODY] = "body",
        [AFTER_LOOP] = "after_loop"};
    const quern_kernel *k = call->kernel;
    unsigned set = needed_headers(call);
    qn_text texts[HOLES] = {{0}};
    includes_hole(&texts[INCLUDES], set);
    types_hole(&texts[TYPES], call);
    user_text(&texts[PREAMBLE], "preamble", k->preamble);
    parameters_hole(&texts[PARAMETERS], call);
    loop_prep_hole(&texts[LOOP_PREP], call);
    operands_hole(&texts[OPERANDS], call);
    operation_hole(&texts[OPERATION], call);
    rest_hole(&texts[REST], call);
    position_hole(&texts[POSITION], call);
    body_hole(&texts[BODY], call);
    user_text(&texts[AFTER_LOOP], "after_loop", k->after_loop);

    qn_hole holes[HOLES + 2];
    bool failed = false;
    for (int h = 0; h < HOLES; h++) {
        holes[h] = (qn_hole){names[h], texts[h].data};
        failed |= texts[h].failed;
    }
    holes[HOLES] = (qn_hole){"name", k->name};
    holes[HOLES + 1] = (qn_hole){"index", call->plan.form.wide ? "long long" : "int"};
    quern_status status = failed ? qn_fail_memory("writing the source of a kernel")
                                 : qn_expand(out, qn_embedded_elementwise_cu, holes, HOLES + 2);
    for (int h = 0; h < HOLES; h++) {
        qn_text_free(&texts[h]);
    }
    QN_TRY(status);
    *header_count = 0;
    for (unsigned h = 0; h < HEADER_COUNT; h++) {
        if (set >> h & 1) {
            headers[(*header_count)++] = all_headers[h];
        }
    }
    return QUERN_OK;
}
