/* SPDX-License-Identifier: MIT
 *
 * elementwise: the kind of kernel whose operation runs for every element. In: definitions, and
 * calls on their way. Out: a walk over the broadcast operands, its grid, and its parameters. The
 * thing to know: here quern::space gets its values; device_layout.c knows its layout.
 */
#include "engine/folding.h"
#include "engine/source/source.h"
#include <string.h>

/* ---- defining ------------------------------------------------------------------------------- */

quern_status quern_elementwise(quern_kernel **kernel, quern_engine *engine, const char *in,
                               const char *out, const char *operation,
                               const quern_kernel_options *options)
{
    qn_error_reset();
    QN_CHECK_OUT(kernel);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_TRY(qn_check_signature(__func__, in, out));
    QN_CHECK_NOT_NULL(operation);
    QN_TAKE(quern_kernel_options, o, options);
    return qn_kernel_new(kernel, engine,
                         &(qn_definition){
                             .kind = &qn_elementwise_kind,
                             .in = in,
                             .out = out,
                             .name = o.name ? o.name : "quern_kernel",
                             .texts = {[QN_OPERATION] = {"operation", operation},
                                       [QN_PREAMBLE] = {"preamble", o.preamble},
                                       [QN_LOOP_PREP] = {"loop_prep", o.loop_prep},
                                       [QN_AFTER_LOOP] = {"after_loop", o.after_loop}},
                             .options = o.options,
                             .option_count = o.option_count,
                             .separate_axes = o.separate_axes != 0,
                         });
}

/* ---- planning ------------------------------------------------------------------------------- */

static quern_status check_options(const quern_kernel *kernel, const quern_call_options *options)
{
    if (options->axes || options->keepdims != 0) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "axes and keepdims are for reductions and scans; %s is elementwise",
                       kernel->name);
    }
    return QUERN_OK;
}

/* Bytes of shared memory of a block. GPUs of compute capability 8.0 and later have more, the
 * software device only where it is asked to be like them. */
#define SMALL_SHARED (64 << 10)
#define HEAVY        40 /* instructions of a costly function, about */

/* The texts do not ask where an element lies, and the caller has not chosen the walk. */
static bool may_map(const qn_call *call, const qn_plan_rules *rules)
{
    static const qn_setting chosen = {0};
    const quern_kernel *kernel = call->kernel;
    bool may = !rules->ordered && !rules->keep_dims && !rules->no_tiles && !rules->loops &&
               rules->pack_bytes != 0 && rules->torn && !kernel->counts &&
               (kernel->names & (QN_NAMES_SET | QN_NAMES_ARRAYS)) == 0 &&
               memcmp(&rules->setting, &chosen, sizeof chosen) == 0;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        may &= !kernel->uses_by_address[call->operand_parameter[k]];
    }
    return may;
}

/* Have a call go by boxes as scans have them, where that takes less than what is planned. */
static void map(qn_call *call, const qn_plan_rules *rules)
{
    const quern_engine *engine = call->kernel->engine;
    qn_fold fold;
    call->mapped =
        may_map(call, rules) &&
        qn_fold_make_map(&fold, &call->plan, call->operands, call->operand_count, call->ndim,
                         call->shape, engine->processors, engine->shared_bytes);
    if (call->mapped) {
        call->fold = fold;
    }
}

static void plan(qn_call *call)
{
    const quern_kernel *kernel = call->kernel;
    qn_plan_rules rules = {.ordered = kernel->uses_position,
                           .keep_dims = kernel->separate_axes || kernel->uses_axes,
                           .no_tiles = call->block_size != 0,
                           .loops = kernel->loops,
                           .pack_bytes = qn_call_pack_bytes(call, call->operand_count),
                           .work = kernel->heavy * HEAVY,
                           .torn = kernel->engine->shared_bytes > SMALL_SHARED,
                           .setting = call->setting};
    qn_plan_make(&call->plan, call->operands, call->operand_count, call->ndim, call->shape,
                 call->count, &rules);
    call->plan.form.aliased = call->aliased;
    map(call, &rules);
}

static size_t form(uint8_t *bytes, const qn_call *call)
{
    enum { FIXED = offsetof(qn_plan_form, access) };
    const qn_plan_form *f = &call->plan.form;
    _Static_assert(FIXED + 2 + QUERN_MAX_PARAMETERS + sizeof f->way <= QN_FORM_BYTES,
                   "room for the form");
    *bytes++ = call->mapped;
    if (call->mapped) {
        const size_t used = qn_fold_form_bytes(bytes, call);
        bytes[used] = call->aliased;
        return used + 2;
    }
    memcpy(bytes, f, FIXED);
    bytes[FIXED] = (uint8_t)call->ndim;
    memcpy(bytes + FIXED + 1, f->access, call->operand_count);
    const bool ways = f->pool != 0 || f->words;
    if (ways) {
        memcpy(bytes + FIXED + 1 + call->operand_count, f->way, sizeof f->way);
    }
    return FIXED + 2 + call->operand_count + (ways ? sizeof f->way : 0);
}

static void print(qn_text *out, const qn_call *call)
{
    if (call->mapped) {
        qn_fold_print_map(out, &call->fold, call->operand_count);
    } else {
        qn_plan_print(out, &call->plan, call->operand_count);
    }
}

/* ---- launching ------------------------------------------------------------------------------ */

/* Threads of a block: any function can have so many, and they fill a processor.
 * templates/elementwise_tiled.cu, _tiled_packs.cu, _boxed.cu, _boxed_runs.cu
 * and _boxed_words.cu rely on this. */
#define DEFAULT_BLOCK 256
#define WARP          32
#define BOXED_BLOCKS                                                                               \
    12                 /* for a processor: a few after one another, so that all end at about once */
#define SMALL       8  /* bytes of a pack, for which to find its place is much */
#define LOOPS       8  /* packs of a thread, where it has much to prepare for the first */
#define LOOP_BLOCKS 64 /* for a processor, before threads take so many */
#define MANY        (1 << 20) /* elements or packs, of which there are enough for such blocks */

/* Packs that a thread stands for: in phases threads are counted as they are. */
static uint32_t turns_at_once(const qn_plan_form *f)
{
    return qn_plan_in_phases(f) ? 1 : f->turns;
}

/* With few elements, blocks that take as many of them as others do with one turn a thread: else the
 * processors would have less to do at once. */
static uint32_t default_block(const qn_plan *p, int64_t threads)
{
    if (p->form.tile != 0 || p->form.boxed || threads >= MANY) {
        return DEFAULT_BLOCK;
    }
    uint32_t most = DEFAULT_BLOCK / turns_at_once(&p->form);
    return threads < most ? (uint32_t)(threads + WARP - 1) / WARP * WARP : most;
}

/* A thread by packs that has much to prepare takes several, one after another: it has many numbers
 * to read that say where they lie, or the constants of costly functions, which the compiler keeps
 * for the next pack, or shares between two (an element of tanh of float64 takes 108 instructions
 * then, and by itself 155). */
static int64_t loop_over(const qn_call *call, int64_t blocks)
{
    const qn_plan_form *f = &call->plan.form;
    uint32_t widest = 1;
    for (uint32_t k = 0; k < call->operand_count; k++) {
        widest = QN_MAX(widest, call->operands[k].item_size);
    }
    const bool small = f->ndim > 1 && f->lanes > 1 && f->lanes * widest <= SMALL;
    const bool once = f->tile != 0 || f->boxed || f->thin || qn_plan_in_phases(f);
    if (once || !(f->flat || small || call->kernel->heavy > 0)) {
        return blocks;
    }
    const int64_t enough = (int64_t)call->kernel->engine->processors * LOOP_BLOCKS;
    return QN_MIN(blocks, QN_MAX(enough, (blocks - 1) / LOOPS + 1));
}

static quern_status geometry(quern_launch_config *config, const qn_call *call,
                             const qn_specialization *z)
{
    if (call->mapped) {
        return qn_fold_geometry(config, call, z);
    }
    const qn_plan *p = &call->plan;
    const int64_t all = qn_plan_in_phases(&p->form) ? qn_plan_threads(p) : p->packs;
    int64_t threads = QN_MAX(all, p->rest); /* at least one */
    uint32_t block = call->block_size;
    if (block > z->max_threads) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "a block of %u threads was asked for, but %s can have at most %u on this "
                       "device",
                       block, call->kernel->name, z->max_threads);
    }
    if (p->form.rows || p->form.slab != 0) {
        *config = (quern_launch_config){
            .size = sizeof *config,
            .grid = {(uint32_t)QN_MIN(p->packs, (int64_t)INT32_MAX), 1, 1},
            .block = {(uint32_t)p->across, (uint32_t)p->down, 1},
        };
        return QUERN_OK;
    }
    const bool own = p->form.tile != 0 || p->form.boxed; /* their template says how many threads */
    if (block == 0 && !own && call->setting.block != 0) {
        block = QN_MIN(call->setting.block, z->max_threads / WARP * WARP);
    }
    if (block == 0) {
        block = default_block(p, threads);
    }
    const int64_t taken = (int64_t)block * turns_at_once(&p->form);
    int64_t blocks = p->form.tile != 0 ? p->packs : (threads - 1) / taken + 1;
    if (p->form.boxed) { /* a block finds out where its elements lie, and takes several boxes */
        blocks = QN_MIN(p->packs, (int64_t)call->kernel->engine->processors * BOXED_BLOCKS);
    }
    *config = (quern_launch_config){
        .size = sizeof *config,
        .grid = {(uint32_t)QN_MIN(loop_over(call, blocks), (int64_t)INT32_MAX), 1, 1},
        .block = {block, 1, 1},
    };
    return QUERN_OK;
}

static char *const *bases(const qn_call *call)
{
    return call->mapped ? call->fold.base : call->plan.base;
}

static quern_status walk(qn_parameter_block *block, const qn_call *call)
{
    if (call->mapped) {
        return qn_fold_walk(block, call);
    }
    const qn_plan *p = &call->plan;
    int outer = p->form.ndim - 1;
    const int64_t inner = p->extent[outer];
    const int64_t step = p->form.flat ? 1 : QN_MAX(p->form.tile, p->form.lanes);
    qn_space s;
    s.packs = p->packs;
    s.inner = p->form.flat ? p->count : inner;
    s.head = p->head;
    s.count = p->count;
    if (p->form.boxed) {
        s.head = p->last[0] | (int64_t)p->stir << 16 | (int64_t)p->by_runs << 23 |
                 (int64_t)p->group << 24;
        s.inner = p->last[1] | p->last[2] << 16; /* none has more than a box */
    }
    s.row = p->form.boxed  ? inner
            : p->form.rows ? (p->form.crosses ? p->head : p->parts)
                           : (inner + p->form.slack - 1) / step + 1; /* in parts, packs, or tiles */
    for (int d = 0; d < outer; d++) {
        bool tiles = p->form.tile != 0 && d + 1 == outer;
        s.outer[d] = tiles ? (p->extent[d] - 1) / p->form.tile + 1 : p->extent[d];
    }
    if (qn_plan_in_phases(&p->form)) { /* nothing is divided by the first extent */
        s.outer[0] = qn_plan_period(p);
    }
    s.stride = p->stride;
    return qn_put_space(block, call, &s, p->form.wide, outer);
}

const qn_kind qn_elementwise_kind = {
    .number = QUERN_KERNEL_ELEMENTWISE,
    .position = "i",
    .outputs_broadcast = true,
    .in_place = true,
    .check_options = check_options,
    .plan = plan,
    .form = form,
    .source = qn_elementwise_source,
    .geometry = geometry,
    .bases = bases,
    .walk = walk,
    .print = print,
};
