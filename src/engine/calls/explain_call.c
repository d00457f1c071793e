/* SPDX-License-Identifier: MIT
 *
 * explain: what a call would run, in words and numbers. In: the same values as a call. Out: a
 * quern_explanation. Compiles if needed, launches nothing, and gives outputs no memory.
 */
#include "engine/engine_internal.h"
#include <string.h>

typedef struct explanation {
    quern_explanation public; /* first: the caller's pointer is to this */
    atomic_uint references;
    qn_arena arena; /* all its strings */
} explanation;

static const char *const origins[] = {[QN_FROM_MEMORY] = "memory",
                                      [QN_FROM_PACK] = "pack",
                                      [QN_FROM_CACHE] = "cache",
                                      [QN_FROM_REMOTE] = "remote cache",
                                      [QN_COMPILED] = "compiled"};

static const char *keep(explanation *e, const char *text)
{
    return qn_arena_strndup(&e->arena, text ? text : "", text ? strlen(text) : 0);
}

/* Move a text into the explanation; NULL when out of memory. */
static const char *keep_text(explanation *e, qn_text *text)
{
    const char *kept = text->failed ? NULL : keep(e, text->data);
    qn_text_free(text);
    return kept;
}

static const char *types_text(explanation *e, const qn_call *call)
{
    const qn_signature *s = &call->kernel->signature;
    qn_text text = {0};
    for (uint32_t l = 0; l < s->letter_count; l++) {
        qn_text_printf(&text, "%s%c=%s", l == 0 ? "" : ", ", s->letters[l],
                       quern_dtype_name(call->types.letters[l]));
    }
    if (s->letter_count == 0) {
        qn_text_puts(&text, "no type letters");
    }
    return keep_text(e, &text);
}

static const char *plan_text(explanation *e, const qn_call *call)
{
    qn_text text = {0};
    if (call->empty) {
        qn_text_puts(&text, "no elements: nothing is compiled or launched");
    } else {
        call->kernel->kind->print(&text, call);
    }
    if (call->overlaps) {
        qn_text_puts(&text, ", inputs that an output overlaps are copied first");
    }
    bool in = false, out = false;
    for (uint32_t p = 0; p < call->kernel->signature.count && call->arranged != 0; p++) {
        const bool own = (call->arranged >> p & 1) != 0;
        in |= own && p < call->kernel->signature.input_count;
        out |= own && p >= call->kernel->signature.input_count;
    }
    if (in) {
        qn_text_printf(&text, ", inputs in another order than the %s are copied into it first",
                       !call->kernel->kind->in_place ? "widest"
                       : out                         ? "scan"
                                                     : "output");
    }
    if (out) {
        qn_text_puts(&text, ", outputs in another order are copied afterwards");
    }
    return keep_text(e, &text);
}

/* "pack=8, measured before"; "" where nobody asked. */
static const char *tuned_text(explanation *e, const qn_call *call)
{
    qn_text text = {0};
    if (call->set_by) {
        qn_setting_print(&text, &call->setting);
        qn_text_printf(&text, "%s, %s", text.length == 0 ? "by rule" : "", call->set_by);
    }
    return keep_text(e, &text);
}

static const char *summary(explanation *e, const qn_call *call)
{
    const quern_explanation *x = &e->public;
    qn_text shape = {0}, text = {0};
    qn_shape_print(&shape, call->ndim, call->shape);
    qn_text_printf(&text, "types:     %s\nloop:      %s, %lld elements\nplan:      %s\n", x->types,
                   shape.data ? shape.data : "", (long long)x->elements, x->plan);
    qn_text_free(&shape);
    if (x->tuned[0]) {
        qn_text_printf(&text, "tuned:     %s\n", x->tuned);
    }
    if (!call->empty) {
        qn_text_printf(&text,
                       "target:    %s\nkey:       %s\nimage:     %s%s\n"
                       "launch:    %u block%s of %u threads\n",
                       x->target, x->key,
                       strcmp(x->origin, origins[QN_COMPILED]) == 0 ? "" : "from ", x->origin,
                       x->grid[0], x->grid[0] == 1 ? "" : "s", x->block[0] * x->block[1]);
        if (x->registers != 0) {
            qn_text_printf(&text, "registers: %u a thread\n", x->registers);
        }
        qn_text_printf(&text, "memory:    %u bytes shared a block, %u bytes local a thread\n",
                       x->shared_bytes, x->local_bytes);
        if (x->blocks_per_processor != 0) {
            qn_text_printf(&text, "occupancy: %u block%s a processor\n", x->blocks_per_processor,
                           x->blocks_per_processor == 1 ? "" : "s");
        }
    }
    return keep_text(e, &text);
}

static quern_status describe_function(explanation *e, qn_call *call, const qn_specialization *z)
{
    quern_explanation *x = &e->public;
    quern_engine *engine = call->kernel->engine;
    quern_launch_config config;
    QN_TRY(call->kernel->kind->geometry(&config, call, z));
    quern_function_info info;
    QN_TRY(qn_home_function_info(&info, &engine->home, z->function));
    QN_TRY(engine->home.methods->occupancy(engine->home.device, z->function,
                                           config.block[0] * config.block[1], config.shared_bytes,
                                           &x->blocks_per_processor));
    memcpy(x->grid, config.grid, sizeof x->grid);
    memcpy(x->block, config.block, sizeof x->block);
    x->registers = info.registers;
    x->shared_bytes = info.shared_bytes + config.shared_bytes;
    x->local_bytes = info.local_bytes;
    return QUERN_OK;
}

static quern_status describe(explanation *e, qn_call *call)
{
    quern_explanation *x = &e->public;
    const qn_specialization *z = NULL;
    if (!call->empty) {
        qn_specialization *made;
        QN_TRY(qn_specialize(&made, call));
        QN_TRY(describe_function(e, call, made));
        z = made;
    }
    x->size = sizeof *x;
    x->elements = call->count;
    x->types = types_text(e, call);
    x->plan = plan_text(e, call);
    x->tuned = tuned_text(e, call);
    x->source = keep(e, z ? z->source : NULL);
    x->key = keep(e, z ? z->module->hex : NULL);
    x->origin = keep(e, z ? origins[z->module->origin] : NULL);
    x->target = keep(e, z ? z->module->target : NULL);
    x->ptx = keep(e, z ? z->module->ptx : NULL);
    if (!x->types || !x->plan || !x->source || !x->key || !x->origin || !x->target || !x->ptx ||
        !x->tuned) {
        return qn_fail_memory("explaining a call");
    }
    x->text = summary(e, call);
    return x->text ? QUERN_OK : qn_fail_memory("explaining a call");
}

quern_status quern_explain(quern_explanation **out, quern_kernel *kernel, const quern_value *values,
                           size_t count, const quern_call_options *options)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(kernel, QN_OBJECT_KERNEL);
    QN_TAKE_IN_PLACE(quern_call_options, options);
    explanation *e = qn_calloc(1, sizeof *e);
    if (!e) {
        return qn_fail_memory("explaining a call");
    }
    atomic_init(&e->references, 1);
    qn_call call;
    quern_status status = qn_call_begin(&call, kernel, values, count, options, QN_TO_EXPLAIN);
    if (status == QUERN_OK) {
        status = describe(e, &call);
    }
    qn_call_end(&call);
    if (status != QUERN_OK) {
        quern_explanation_release(&e->public);
        return status;
    }
    *out = &e->public;
    return QUERN_OK;
}

quern_explanation *quern_explanation_retain(quern_explanation *x)
{
    if (x) {
        atomic_fetch_add_explicit(&((explanation *)x)->references, 1, memory_order_relaxed);
    }
    return x;
}

void quern_explanation_release(quern_explanation *x)
{
    explanation *e = (explanation *)x;
    if (e && atomic_fetch_sub_explicit(&e->references, 1, memory_order_acq_rel) == 1) {
        qn_arena_free(&e->arena);
        qn_free(e);
    }
}
