/* SPDX-License-Identifier: MIT
 *
 * scan: the kind of kernel that combines all elements up to each one, along an axis. In:
 * definitions, and calls on their way. Out: a fold, its grid, its parameters and its workspace. The
 * thing to know: where several blocks share an output, each publishes its values on a board in the
 * cleared part of the workspace. quern::board (templates/scan.cuh) lays it out, and board_bytes()
 * must agree with it.
 */
#include "engine/source/source_folds.h"
#include <string.h>

#define GROUP      32 /* tiles of a group, as in quern::board */
#define LINE_WORDS 16 /* of 8 bytes: the values of a group begin a line of memory */

/* ---- defining ------------------------------------------------------------------------------- */

quern_status quern_scan(quern_kernel **kernel, quern_engine *engine, const char *in,
                        const char *out, const char *map, const char *scan, const char *post,
                        const char *identity, const quern_scan_options *options)
{
    qn_error_reset();
    QN_CHECK_OUT(kernel);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_TRY(qn_check_signature(__func__, in, out));
    QN_TAKE(quern_scan_options, o, options);
    if (o.exclusive != 0 && !identity) {
        return qn_fail(
            QUERN_ERROR_INVALID_ARGUMENT,
            "an exclusive scan needs an identity, because nothing comes before the first element");
    }
    const qn_definition definition = {
        .kind = &qn_scan_kind,
        .in = in,
        .out = out,
        .name = o.name ? o.name : "quern_scan",
        .texts = {[QN_PREAMBLE] = {"preamble", o.preamble},
                  [QN_MAP] = {"map", map},
                  [QN_REDUCE] = {"scan", scan},
                  [QN_POST] = {"post", post},
                  [QN_IDENTITY] = {"identity", identity},
                  [QN_REDUCE_TYPE] = {"scan_type", o.scan_type}},
        .options = o.options,
        .option_count = o.option_count,
        .ordered = true,
        .exclusive = o.exclusive != 0,
    };
    QN_TRY(qn_fold_check_texts(__func__, &definition));
    return qn_kernel_new(kernel, engine, &definition);
}

/* `post` sees all parameters. */
static quern_status check(const quern_kernel *kernel)
{
    return qn_fold_check_signature(kernel, 0);
}

/* ---- planning ------------------------------------------------------------------------------- */

static quern_status check_options(const quern_kernel *kernel, const quern_call_options *options)
{
    if (options->keepdims != 0) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "keepdims is for reductions; the outputs of %s, a scan, have all axes",
                       kernel->name);
    }
    if (options->axes && options->axis_count != 1) {
        return qn_fail(QUERN_ERROR_SHAPE,
                       "%s scans along one axis, or along all elements in C order where none is "
                       "given, but %zu axes were given",
                       kernel->name, options->axis_count);
    }
    return QUERN_OK;
}

/* Bytes that quern::board needs: 16 for the tickets, then 8 for every 4 bytes of a value, which
 * travel with the state of the tile; the values of a group have lines of memory to themselves.
 * Rounded up to a power of two, so that scans of similar size share workspaces; larger than the
 * counters of reductions, so that those never do. */
static size_t board_bytes(const qn_fold *f, uint32_t size)
{
    size_t words = (size + 3) / 4;
    size_t values = f->form.lone      ? 1
                    : f->form.staged  ? (f->workers + 3u) / 4 * 4
                    : f->form.columns ? (size_t)f->form.lanes * (32 / f->workers)
                                      : 1;
    size_t groups = (size_t)f->groups * (size_t)((f->splits + GROUP - 1) / GROUP);
    size_t tiles = (size_t)(f->groups * f->splits);
    size_t line = (values * words + LINE_WORDS - 1) / LINE_WORDS * LINE_WORDS;
    size_t all = f->form.strips ? (size_t)qn_fold_strips_values(f) * words
                                : tiles * values * words + groups * line;
    size_t bytes = 16 + all * 8;
    size_t power = 2 * QN_FOLD_COUNTER_BYTES;
    while (power < bytes) {
        power *= 2;
    }
    return power;
}

/* True when map may be called twice for an element, and post for registers in the place of an
 * output's elements: nothing else is written. */
static bool may_repeat(const qn_call *call)
{
    const quern_kernel *kernel = call->kernel;
    bool plain = !kernel->loops && kernel->heavy == 0 && !kernel->uses_atomics;
    for (uint32_t p = 0; p < kernel->signature.count; p++) {
        const qn_parameter *q = &kernel->signature.parameters[p];
        plain &= !(q->output && (q->raw || kernel->uses_by_address[p]));
    }
    return plain;
}

/* True when no result depends on an input: those of an exclusive scan of single elements are the
 * identity, unless post looks at inputs itself. */
static bool ignores_inputs(const qn_call *call)
{
    bool ignores = call->kernel->exclusive && call->kernel->blind && call->count > 0;
    for (int d = 0; d < call->ndim && ignores; d++) {
        ignores = (call->axes >> d & 1) == 0 || call->shape[d] == 1;
    }
    return ignores && may_repeat(call);
}

static void plan(qn_call *call)
{
    static const int64_t nowhere[QUERN_MAX_NDIM] = {0};
    const quern_kernel *kernel = call->kernel;
    const qn_operand *operands = call->operands;
    qn_operand single[QUERN_MAX_PARAMETERS];
    uint32_t size = qn_scan_value_size(call);
    if (ignores_inputs(call)) { /* one element of each is read */
        memcpy(single, operands, call->operand_count * sizeof *single);
        for (uint32_t k = 0; k < call->input_operands; k++) {
            single[k].strides = nowhere;
        }
        operands = single;
    }
    qn_fold_rules rules = {.axes = call->axes,
                           .scan = true,
                           .ordered = true,
                           .positions = kernel->uses_axes,
                           .located = kernel->uses_axes || kernel->uses_position,
                           .in_turns = !kernel->loops_apart && kernel->heavy == 0,
                           .in_place = call->aliased,
                           .repeats = may_repeat(call),
                           .pack_bytes = qn_call_pack_bytes(call, call->operand_count),
                           .processors = kernel->engine->processors,
                           .shared = kernel->engine->shared_bytes};
    qn_fold_make_scan(&call->fold, operands, call->operand_count, call->ndim, call->shape, &rules,
                      size);
    if (call->fold.form.split) {
        call->zeroed_bytes = board_bytes(&call->fold, size != 0 ? size : QN_VALUE_BYTES);
    }
}

static size_t form(uint8_t *bytes, const qn_call *call)
{
    size_t used = qn_fold_form_bytes(bytes, call);
    bytes[used++] = call->aliased;
    return used;
}

static void print(qn_text *out, const qn_call *call)
{
    qn_fold_print_scan(out, &call->fold, call->operand_count);
    qn_text_puts(out, call->aliased ? ", in place" : "");
}

const qn_kind qn_scan_kind = {
    .number = QUERN_KERNEL_SCAN,
    .position = "_J",
    .has_axes = true,
    .in_place = true,
    .arranges = true,
    .check = check,
    .check_options = check_options,
    .plan = plan,
    .form = form,
    .source = qn_scan_source,
    .geometry = qn_fold_geometry,
    .bases = qn_fold_bases,
    .walk = qn_fold_walk,
    .print = print,
};
