/* SPDX-License-Identifier: MIT
 *
 * reduction: the kind of kernel that combines elements along axes. In: definitions, and calls on
 * their way. Out: a fold, its grid, its parameters and its workspace. The thing to know: where
 * several blocks share an output, each leaves its value in the workspace, and the last to finish
 * combines them. Their order, and so every bit of the result, does not depend on which block was
 * last; with `ordered` it is the order of the blocks.
 */
#include "engine/source/source_folds.h"
#include <string.h>

/* ---- defining ------------------------------------------------------------------------------- */

quern_status quern_reduction(quern_kernel **kernel, quern_engine *engine, const char *in,
                             const char *out, const char *map, const char *reduce, const char *post,
                             const char *identity, const quern_reduction_options *options)
{
    qn_error_reset();
    QN_CHECK_OUT(kernel);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_TRY(qn_check_signature(__func__, in, out));
    QN_TAKE(quern_reduction_options, o, options);
    const qn_definition definition = {
        .kind = &qn_reduction_kind,
        .in = in,
        .out = out,
        .name = o.name ? o.name : "quern_reduction",
        .texts = {[QN_PREAMBLE] = {"preamble", o.preamble},
                  [QN_MAP] = {"map", map},
                  [QN_REDUCE] = {"reduce", reduce},
                  [QN_POST] = {"post", post},
                  [QN_IDENTITY] = {"identity", identity},
                  [QN_REDUCE_TYPE] = {"reduce_type", o.reduce_type}},
        .options = o.options,
        .option_count = o.option_count,
        .ordered = o.ordered != 0,
    };
    QN_TRY(qn_fold_check_texts(__func__, &definition));
    return qn_kernel_new(kernel, engine, &definition);
}

/* `post` sees only outputs. An input called `a` or `b` is fine if map uses it: there it is the
 * input, elsewhere the names mean combined values. */
static quern_status check(const quern_kernel *kernel)
{
    QN_TRY(qn_fold_check_signature(kernel, kernel->signature.input_count));
    const qn_signature *s = &kernel->signature;
    for (uint32_t p = 0; p < s->input_count; p++) {
        const qn_parameter *q = &s->parameters[p];
        const char *hidden = qn_str_is(q->name, "a") ? "a" : qn_str_is(q->name, "b") ? "b" : NULL;
        if (hidden && !qn_text_uses(kernel->texts[QN_MAP].text, hidden)) {
            return qn_fail_at(QUERN_ERROR_SIGNATURE, "in", qn_str_of(s->in_text), q->name_begin,
                              q->name_end,
                              "'%s' is a combined value in %s's reduce and post, and map does not "
                              "use the input: give it another name",
                              hidden, kernel->name);
        }
    }
    return QUERN_OK;
}

/* ---- planning ------------------------------------------------------------------------------- */

static quern_status check_identity(const qn_call *call, int64_t outputs)
{
    if (call->count == 0 && outputs != 0 && !call->kernel->has_identity) {
        return qn_fail(QUERN_ERROR_SHAPE,
                       "%s has nothing to reduce: the reduced axes have no elements, and there is "
                       "no identity to give instead",
                       call->kernel->name);
    }
    return QUERN_OK;
}

static quern_status output_shape(int *ndim, int64_t *shape, int64_t *count, const qn_call *call)
{
    *ndim = 0;
    for (int d = 0; d < call->ndim; d++) {
        bool reduced = call->axes >> d & 1;
        if (!reduced || call->keepdims) {
            shape[(*ndim)++] = reduced ? 1 : call->shape[d];
        }
    }
    QN_TRY(qn_shape_check(count, *ndim, shape, 1));
    return check_identity(call, *count);
}

/* True when post sees an output itself, and no copy of it. */
static bool outputs_by_address(const qn_call *call)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        if (call->kernel->uses_by_address[call->operand_parameter[k]]) {
            return true;
        }
    }
    return false;
}

/* True when map may be called twice for an element: it writes nothing. */
static bool may_repeat(const qn_call *call)
{
    const quern_kernel *kernel = call->kernel;
    bool plain = !kernel->uses_atomics;
    for (uint32_t p = 0; p < kernel->signature.count; p++) {
        plain &= !(kernel->signature.parameters[p].output && kernel->signature.parameters[p].raw);
    }
    return plain;
}

/* Blocks that share an output leave their values to the last of them. */
static void count_scratch(qn_call *call)
{
    const qn_fold *f = &call->fold;
    if (f->form.split) {
        call->zeroed_bytes = QN_FOLD_COUNTER_BYTES;
        call->scratch_bytes = f->form.joined
                                  ? (size_t)qn_fold_joined_left(f, qn_scan_value_size(call))
                                  : (size_t)(f->outputs * f->splits) * QN_VALUE_BYTES;
    }
}

static void plan(qn_call *call)
{
    const quern_kernel *kernel = call->kernel;
    qn_fold_rules rules = {.axes = call->axes,
                           .keepdims = call->keepdims,
                           .counted = kernel->uses_position,
                           .ordered = kernel->ordered,
                           .positions = kernel->uses_axes,
                           .in_turns = !kernel->loops_apart && kernel->heavy == 0,
                           .loops = kernel->loops,
                           .repeats = may_repeat(call),
                           .pack_bytes = qn_call_pack_bytes(call, call->input_operands),
                           .by_address = outputs_by_address(call),
                           .processors = kernel->engine->processors,
                           .compound = qn_scan_value_size(call) == 0,
                           .chooses = kernel->choice.field != NULL,
                           .ranked = kernel->choice.value != NULL,
                           .keyed = qn_call_key(call) >= 0,
                           .paired =
                               qn_call_key(call) >= 0 && kernel->engine->arch >= QN_PAIRS_ARCH,
                           .adds_narrow = qn_fold_adds_narrow(call),
                           .dear = kernel->divides,
                           .value_size = qn_scan_value_size(call),
                           .exact = qn_fold_is_exact(call),
                           .setting = call->setting};
    qn_fold_make(&call->fold, call->operands, call->operand_count, call->ndim, call->shape, &rules);
    count_scratch(call);
}

static void fit(qn_call *call, uint32_t blocks)
{
    if (call->setting.blocks == 0) {
        qn_fold_fit(&call->fold, call->kernel->engine->processors, blocks,
                    qn_fold_is_light(&call->fold.form, qn_scan_value_size(call)));
        count_scratch(call);
    }
}

static void print(qn_text *out, const qn_call *call)
{
    qn_fold_print(out, &call->fold, call->input_operands);
    qn_text_puts(out, qn_source_chooses(call) ? ", no positions compared" : "");
}

const qn_kind qn_reduction_kind = {
    .number = QUERN_KERNEL_REDUCTION,
    .position = "_J",
    .has_axes = true,
    .arranges = true,
    .check = check,
    .output_shape = output_shape,
    .plan = plan,
    .fit = fit,
    .form = qn_fold_form_bytes,
    .source = qn_reduction_source,
    .geometry = qn_fold_geometry,
    .bases = qn_fold_bases,
    .walk = qn_fold_walk,
    .print = print,
};
