/* SPDX-License-Identifier: MIT
 *
 * recall_keep: remembers calls. In: a call that was launched, or found to have no elements. Out: an
 * entry of its kernel's list, in which recall.c looks. The thing to know: a kernel has few entries
 * to look through, and makes new ones ever more seldom, so that calls that all differ cost nothing
 * more; none is freed before the kernel, so that no reader needs a lock.
 */
#include "engine/recall.h"
#include <string.h>

/* From an array's address to its first byte, and behind its last. */
static void reach_of(int64_t *low, int64_t *high, const quern_array *a)
{
    *low = 0;
    *high = a->item_size;
    for (int d = 0; d < a->ndim; d++) {
        const int64_t reach = a->strides[d] * (a->shape[d] - 1);
        *(reach < 0 ? low : high) += reach;
    }
}

/* What an output has to do with an input: nothing (0), it is the same elements (1), or something
 * else (-1). */
static int relation(const quern_array *output, const quern_array *input)
{
    int64_t low, high, other_low, other_high;
    reach_of(&low, &high, output);
    reach_of(&other_low, &other_high, input);
    const uintptr_t to = (uintptr_t)output->data, from = (uintptr_t)input->data;
    if (to + (uintptr_t)high <= from + (uintptr_t)other_low ||
        from + (uintptr_t)other_high <= to + (uintptr_t)low) {
        return 0;
    }
    const bool same =
        to == from && output->item_size == input->item_size && output->ndim == input->ndim &&
        memcmp(output->shape, input->shape, 2 * (size_t)input->ndim * sizeof(int64_t)) == 0;
    return same ? 1 : -1;
}

/* Which inputs are the same elements as output `o`. False: one is so in part. */
static bool find_same(uint64_t *same, const qn_call *call, uint32_t o)
{
    *same = 0;
    for (uint32_t k = 0; k < call->kernel->signature.input_count; k++) {
        const int found = call->arrays[k] ? relation(call->arrays[o], call->arrays[k]) : 0;
        if (found < 0) {
            return false;
        }
        *same |= (uint64_t)found << k;
    }
    return true;
}

/* Was it a call of a kind that is remembered? Records by value are not, nor are elements that are
 * larger than a class, copies of inputs, outputs that are dropped, and several places for outputs,
 * which must be told apart. Without elements nothing overlaps. */
static bool may_keep(const qn_call *call)
{
    const qn_signature *s = &call->kernel->signature;
    uint32_t places = 0;
    for (uint32_t p = 0; p < s->count; p++) {
        const int32_t kind = call->values[p].kind;
        const quern_array *a = call->arrays[p];
        uint64_t same;
        places += kind == QUERN_VALUE_OUTPUT;
        if ((kind != QUERN_VALUE_ARRAY && kind != QUERN_VALUE_OUTPUT &&
             kind != QUERN_VALUE_LITERAL && kind != QUERN_VALUE_SCALAR) ||
            (a && a->item_size > QN_RECALL_CLASS) ||
            (p >= s->input_count && !call->empty && !find_same(&same, call, p))) {
            return false;
        }
    }
    return places <= 1 && !call->overlaps && call->arranged == 0 && !call->structures;
}

/* The offset of the next piece of one allocation. */
static size_t carve(size_t *used, size_t bytes)
{
    const size_t at = *used;
    *used += (bytes + 15) / 16 * 16;
    return at;
}

/* The parts of a remembered call behind `r`, and how many bytes it all takes; `r` NULL: only that.
 * `block`: NULL where nothing was launched. */
static size_t lay_out(qn_recalled *r, const qn_call *call, const qn_parameter_block *block,
                      const quern_call_options *options)
{
    const uint32_t count = call->kernel->signature.count;
    const size_t axes_bytes = options->axes ? options->axis_count * sizeof *options->axes : 0;
    unsigned char *base = (unsigned char *)r;
    size_t used = 0;
    (void)carve(&used, sizeof(qn_recalled) + count * sizeof(qn_seen));
    const size_t bytes = carve(&used, block ? block->used : 0);
    const size_t offsets = carve(&used, block ? block->count * sizeof *block->offsets : 0);
    const size_t axes = carve(&used, axes_bytes);
    for (uint32_t p = 0; p < count; p++) {
        const quern_array *a = call->arrays[p];
        const size_t extents_bytes = a ? 2 * (size_t)a->ndim * sizeof *a->shape : 0;
        const size_t extents = carve(&used, extents_bytes);
        if (r && a) {
            r->parameters[p].extents = memcpy(base + extents, a->shape, extents_bytes);
        }
    }
    if (r && block) {
        r->bytes = memcpy(base + bytes, block->bytes, block->used);
        r->offsets = memcpy(base + offsets, block->offsets, block->count * sizeof *block->offsets);
    }
    if (r) {
        r->options = *options;
        r->options.stream = NULL;
        r->options.leave = NULL;
        r->options.leave_context = NULL;
        r->options.axes = options->axes ? memcpy(base + axes, options->axes, axes_bytes) : NULL;
        if (options->loop_size) {
            r->loop_size = *options->loop_size;
            r->options.loop_size = &r->loop_size;
        }
    }
    return used;
}

/* Every parameter of `r`, whose parts are laid out; how it is launched, unless `block` is NULL. */
static void see(qn_recalled *r, const qn_call *call, const qn_parameter_block *block)
{
    const qn_signature *sig = &call->kernel->signature;
    char *const *bases = block ? call->kernel->kind->bases(call) : NULL;
    for (uint32_t p = 0, operand = 0; p < sig->count; p++) {
        const quern_array *a = call->arrays[p];
        const quern_value *v = &call->values[p];
        qn_seen *s = &r->parameters[p];
        s->kind = v->kind;
        s->dtype = a ? (int32_t)a->dtype : v->dtype;
        s->bound = call->types.parameters[p];
        r->place = v->kind == QUERN_VALUE_OUTPUT ? (int32_t)p : r->place;
        if (!a) {
            continue;
        }
        s->array = true;
        s->made = v->kind == QUERN_VALUE_OUTPUT && !*v->as.output;
        s->ndim = a->ndim;
        s->reach = a->reach;
        s->under = qn_recall_under(a);
        if (!block) {
            continue;
        }
        reach_of(&s->low, &s->high, a);
        if (sig->parameters[p].raw) {
            s->raw_bytes = block->offsets[p + 1] - block->offsets[p];
        } else {
            s->shift = bases[operand++] - (char *)a->data;
        }
        if (p >= sig->input_count) {
            (void)find_same(&s->same, call, p);
        }
    }
}

static qn_recalled *make(const qn_call *call, const quern_call_options *options, void *function,
                         const quern_launch_config *config, const qn_parameter_block *block)
{
    static const quern_call_options none = QUERN_CALL_OPTIONS_INIT;
    options = options ? options : &none;
    qn_recalled *r = qn_calloc(1, lay_out(NULL, call, block, options));
    if (!r) {
        return NULL;
    }
    (void)lay_out(r, call, block, options);
    if (block) {
        r->function = function;
        r->config = *config;
        r->zeroed_bytes = call->zeroed_bytes;
        r->scratch_bytes = call->scratch_bytes;
        r->pointers = block->count - (call->zeroed_bytes != 0);
    }
    r->tuned_at = call->tuned_at;
    r->place = -1;
    see(r, call, block);
    return r;
}

/* As many as there are slots, then ever more seldom: a kernel whose calls all differ is not slowed
 * down, and what is kept stays small. */
static uint32_t wait_after(uint32_t made)
{
    const uint32_t rounds = made / QN_RECALL_SLOTS;
    return rounds == 0 ? 0 : 1u << QN_MIN(2 * rounds, 30u);
}

/* The slot in which the call will be looked for. */
static uint32_t slot_of(const qn_call *call, const qn_recalled *r)
{
    uint64_t mixed = qn_recall_mix_options(&r->options);
    for (uint32_t p = 0; p < call->kernel->signature.count; p++) {
        const quern_array *a = r->parameters[p].made ? NULL : call->arrays[p];
        mixed = qn_recall_mix_value(mixed, &call->values[p], a);
    }
    return qn_recall_slot(mixed);
}

static void add(quern_kernel *kernel, qn_recalls *all, qn_recalled *r, uint32_t slot)
{
    pthread_mutex_lock(&kernel->lock);
    r->older = all->newest;
    all->newest = r;
    atomic_store_explicit(&all->slots[slot], r, memory_order_release);
    all->made++;
    atomic_store_explicit(
        &all->due, atomic_load_explicit(&all->misses, memory_order_relaxed) + wait_after(all->made),
        memory_order_relaxed);
    pthread_mutex_unlock(&kernel->lock);
}

/* The kernel's list, made when it is first needed. */
static qn_recalls *recalls_of(quern_kernel *kernel)
{
    qn_recalls *all = atomic_load_explicit(&kernel->recalls, memory_order_acquire);
    if (all) {
        return all;
    }
    qn_recalls *made = qn_calloc(1, sizeof *made);
    if (made && !atomic_compare_exchange_strong(&kernel->recalls, &all, made)) {
        qn_free(made); /* another thread was faster */
        return all;
    }
    return made;
}

void qn_recall_keep(const qn_call *call, const quern_call_options *options, void *function,
                    const quern_launch_config *config, const qn_parameter_block *block)
{
    qn_recalls *all = recalls_of(call->kernel);
    if (!all) {
        return;
    }
    const unsigned misses = atomic_load_explicit(&all->misses, memory_order_relaxed) + 1;
    atomic_store_explicit(&all->misses, misses, memory_order_relaxed);
    const unsigned due = atomic_load_explicit(&all->due, memory_order_relaxed);
    if ((int)(misses - due) <= 0 || !may_keep(call)) {
        return;
    }
    qn_recalled *r = make(call, options, function, config, block);
    if (r) {
        add(call->kernel, all, r, slot_of(call, r));
    }
}

void qn_recalls_free(quern_kernel *kernel)
{
    qn_recalls *all = atomic_load(&kernel->recalls);
    for (qn_recalled *r = all ? all->newest : NULL, *older; r; r = older) {
        older = r->older;
        qn_free(r);
    }
    qn_free(all);
}
