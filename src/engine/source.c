/* SPDX-License-Identifier: MIT
 *
 * source: the CUDA source of an elementwise kernel. In: a call whose types are bound and whose walk
 * is planned. Out: the text of templates/elementwise.cu with its holes filled, and the headers it
 * includes. The thing to know: only the form of the plan shapes the text; extents, strides and
 * addresses are parameters. Names that begin with `_quern_` are ours; a snippet cannot have them.
 */
#include "engine/source.h"
#include "embedded/templates.h"
#include <stdio.h>
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
                   qn_source_type(call, p), a->ndim, a->contiguous ? "true" : "false");
}

static void parameters_hole(qn_text *out, const qn_call *call)
{
    const qn_signature *s = &call->kernel->signature;
    const char *restricted = call->plan.form.aliased ? "" : "__restrict__ ";
    for (uint32_t p = 0; p < s->count; p++) {
        const qn_parameter *q = &s->parameters[p];
        qn_text_puts(out, p == 0 ? "" : ", ");
        if (call->arrays[p] == NULL) {
            qn_text_printf(out, "const %s %.*s", qn_source_type(call, p), (int)q->name.length,
                           q->name.data);
        } else if (q->raw) {
            qn_text_puts(out, "const ");
            raw_type(out, call, p);
            qn_text_printf(out, " %.*s", (int)q->name.length, q->name.data);
        } else {
            qn_text_printf(out, "%s%s *%s_quern_a%u", q->output ? "" : "const ",
                           qn_source_type(call, p), restricted, p);
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
        qn_text_printf(out, "%s%s &%.*s, ", q->output ? "" : "const ", qn_source_type(call, p),
                       (int)q->name.length, q->name.data);
    }
    qn_text_puts(out, "const ptrdiff_t i");
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
    SHARED,
    FETCH,
    BODY,
    AFTER_LOOP,
    HOLES
};

static const char *const hole_names[HOLES] = {
    [INCLUDES] = "includes",     [TYPES] = "types",         [PREAMBLE] = "preamble",
    [PARAMETERS] = "parameters", [LOOP_PREP] = "loop_prep", [OPERANDS] = "operands",
    [OPERATION] = "operation",   [REST] = "rest",           [POSITION] = "position",
    [SHARED] = "shared",         [FETCH] = "fetch",         [BODY] = "body",
    [AFTER_LOOP] = "after_loop"};

static void write_holes(qn_text texts[HOLES], const qn_call *call, unsigned headers)
{
    includes_hole(&texts[INCLUDES], headers);
    types_hole(&texts[TYPES], call);
    user_text(&texts[PREAMBLE], "preamble", call->kernel->preamble);
    parameters_hole(&texts[PARAMETERS], call);
    loop_prep_hole(&texts[LOOP_PREP], call);
    operands_hole(&texts[OPERANDS], call);
    operation_hole(&texts[OPERATION], call);
    if (call->plan.form.tile != 0) {
        qn_source_tile_shared(&texts[SHARED], call);
        qn_source_tile_position(&texts[POSITION], call);
        qn_source_tile_fetch(&texts[FETCH], call);
        qn_source_tile_body(&texts[BODY], call);
    } else {
        qn_source_rest(&texts[REST], call);
        qn_source_position(&texts[POSITION], call);
        qn_source_body(&texts[BODY], call);
    }
    user_text(&texts[AFTER_LOOP], "after_loop", call->kernel->after_loop);
}

quern_status qn_elementwise_source(qn_text *out, const qn_call *call, qn_header *headers,
                                   size_t *header_count)
{
    unsigned set = needed_headers(call);
    qn_text texts[HOLES] = {{0}};
    write_holes(texts, call, set);

    enum { NAME = HOLES, INDEX, TILE, ALL };
    qn_hole holes[ALL];
    char tile[4];
    bool failed = false;
    for (int h = 0; h < HOLES; h++) {
        holes[h] = (qn_hole){hole_names[h], texts[h].data};
        failed |= texts[h].failed;
    }
    snprintf(tile, sizeof tile, "%u", call->plan.form.tile);
    holes[NAME] = (qn_hole){"name", call->kernel->name};
    holes[INDEX] = (qn_hole){"index", call->plan.form.wide ? "long long" : "int"};
    holes[TILE] = (qn_hole){"tile", tile};
    quern_status status =
        failed ? qn_fail_memory("writing the source of a kernel")
               : qn_expand(out,
                           call->plan.form.tile != 0 ? qn_embedded_elementwise_tiled_cu
                                                     : qn_embedded_elementwise_cu,
                           holes, ALL);
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
