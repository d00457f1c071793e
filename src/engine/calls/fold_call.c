/* SPDX-License-Identifier: MIT
 *
 * fold: what reductions and scans share in a call: their axes, and the parameters of their walk.
 * In: options, a planned fold. Out: a set of axes, the bytes that decide the code, the fields of
 * quern::fold.
 */
#include "array/fold_scans.h"
#include "engine/folding.h"
#include <string.h>

quern_status qn_fold_check_signature(const quern_kernel *kernel, uint32_t seen)
{
    const qn_signature *s = &kernel->signature;
    if (s->count == s->input_count) {
        return qn_fail_at(QUERN_ERROR_SIGNATURE, "out", qn_str_of(s->out_text), 0, 0,
                          "%s has no output; write one, such as \"T y\"", kernel->name);
    }
    for (uint32_t p = seen; p < s->count; p++) {
        const qn_parameter *q = &s->parameters[p];
        if (qn_str_is(q->name, "a")) {
            return qn_fail_at(QUERN_ERROR_SIGNATURE, q->output ? "out" : "in",
                              qn_str_of(q->output ? s->out_text : s->in_text), q->name_begin,
                              q->name_end,
                              "'a' is the combined value in %s's post: give the %s another name",
                              kernel->name, q->output ? "output" : "input");
        }
    }
    return QUERN_OK;
}

/* A definition's texts, checked before anything is compiled. */
quern_status qn_fold_check_texts(const char *function, const qn_definition *d)
{
    static const qn_text_id needed[] = {QN_MAP, QN_REDUCE, QN_POST};
    for (size_t k = 0; k < QN_COUNT(needed); k++) {
        const qn_user_text *text = &d->texts[needed[k]];
        if (!text->text || qn_text_is_blank(text->text)) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "%s: %s is %s", function, text->file_name,
                           !text->text ? "NULL" : "empty");
        }
    }
    const char *identity = d->texts[QN_IDENTITY].text;
    if (identity && qn_text_is_blank(identity)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "%s: identity is empty; pass NULL for no identity", function);
    }
    return QUERN_OK;
}

quern_status qn_call_axes(qn_call *call, const quern_call_options *options)
{
    int ndim = call->ndim;
    if (call->block_size != 0) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "%s chooses its own blocks: block_size is for elementwise kernels",
                       call->kernel->name);
    }
    call->axes = ndim == 32 ? UINT32_MAX : (1u << ndim) - 1;
    if (!options || !options->axes) {
        return QUERN_OK;
    }
    call->axes = 0;
    for (size_t k = 0; k < options->axis_count; k++) {
        int axis = options->axes[k];
        if (axis < -ndim || axis >= ndim) {
            return qn_fail(QUERN_ERROR_SHAPE,
                           "axis %d is out of range: the inputs of %s have %d dimension%s", axis,
                           call->kernel->name, ndim, ndim == 1 ? "" : "s");
        }
        uint32_t bit = 1u << (axis < 0 ? axis + ndim : axis);
        if ((call->axes & bit) != 0) {
            return qn_fail(QUERN_ERROR_SHAPE, "axis %d is given twice", axis);
        }
        call->axes |= bit;
    }
    return QUERN_OK;
}

const qn_dtype_info *qn_fold_value(const qn_call *call)
{
    const quern_kernel *kernel = call->kernel;
    const char *type = kernel->texts[QN_REDUCE_TYPE].text;
    quern_dtype dtype = kernel->value_dtype;
    if (type[0] == '\0') {
        dtype = call->types.parameters[kernel->signature.input_count];
    }
    for (uint32_t l = 0; l < kernel->signature.letter_count; l++) {
        if (type[0] == kernel->signature.letters[l] && type[1] == '\0') {
            dtype = call->types.letters[l];
        }
    }
    return qn_dtype_find(dtype);
}

uint32_t qn_scan_value_size(const qn_call *call)
{
    const qn_dtype_info *info = qn_fold_value(call);
    return info && info->kind != QN_KIND_RECORD ? info->size : 0;
}

bool qn_fold_is_exact(const qn_call *call)
{
    const qn_dtype_info *info = qn_fold_value(call);
    return info && info->dtype >= QUERN_BOOL && info->dtype <= QUERN_UINT64;
}

quern_status qn_fold_check_value(const qn_call *call)
{
    const quern_kernel *kernel = call->kernel;
    const char *type = kernel->texts[QN_REDUCE_TYPE].text;
    for (uint32_t p = 0; p < kernel->signature.count; p++) {
        const qn_dtype_info *info = qn_dtype_find(call->types.parameters[p]);
        const qn_parameter *q = &kernel->signature.parameters[p];
        bool combined =
            type[0] == '\0' ? p == kernel->signature.input_count : qn_str_is(q->type, type);
        if (info->kind != QN_KIND_RECORD || !combined) {
            continue;
        }
        if (info->size > QN_VALUE_BYTES || info->packed) {
            return qn_fail(QUERN_ERROR_NOT_SUPPORTED,
                           "%s combines values of %s, which has %u bytes%s; they may have %d, and "
                           "fields that are aligned: state another %s",
                           kernel->name, info->name, info->size,
                           info->packed ? " and fields off their alignment" : "", QN_VALUE_BYTES,
                           kernel->texts[QN_REDUCE_TYPE].file_name);
        }
    }
    return QUERN_OK;
}

uint32_t qn_fold_rows(const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    return call->operand_count + (f->reordered || (f->joined && call->kernel->uses_position));
}

/* All of the form: a field that shapes the text and were left out would have calls take each
 * other's code. */
size_t qn_fold_form_bytes(uint8_t *bytes, const qn_call *call)
{
    enum { FIXED = offsetof(qn_fold_form, access) };
    const qn_fold_form *f = &call->fold.form;
    const uint32_t axes = call->kernel->uses_axes ? call->axes : 0;
    _Static_assert(FIXED + sizeof axes + 2 + 5 * QUERN_MAX_PARAMETERS <= QN_FORM_BYTES,
                   "room for the form, the axes, and what a kind adds");
    memcpy(bytes, f, FIXED);
    memcpy(bytes + FIXED, &axes, sizeof axes);
    memcpy(bytes + FIXED + sizeof axes, f->access, call->operand_count);
    const size_t used = FIXED + sizeof axes + call->operand_count;
    const size_t ways = f->boxed ? call->operand_count * sizeof f->way[0] : 0;
    memcpy(bytes + used, f->way, ways);
    return used + ways;
}

quern_status qn_fold_geometry(quern_launch_config *config, const qn_call *call,
                              const qn_specialization *z)
{
    (void)z;
    int64_t blocks = call->fold.groups * call->fold.splits;
    if (blocks > INT32_MAX) {
        return qn_fail(QUERN_ERROR_NOT_SUPPORTED, "%s would need %lld blocks, more than a grid has",
                       call->kernel->name, (long long)blocks);
    }
    *config = (quern_launch_config){.size = sizeof *config,
                                    .grid = {(uint32_t)blocks, 1, 1},
                                    .block = {qn_fold_threads(&call->fold.form), 1, 1},
                                    .shared_bytes = call->fold.shared};
    return QUERN_OK;
}

char *const *qn_fold_bases(const qn_call *call)
{
    return call->fold.base;
}

static int exponent(uint32_t power)
{
    int n = 0;
    while (1u << n < power) {
        n++;
    }
    return n;
}

quern_status qn_fold_walk(qn_parameter_block *block, const qn_call *call)
{
    const qn_fold *f = &call->fold;
    int dims = f->form.kept + f->form.reduced + f->form.placed, lane = qn_fold_lane_dim(&f->form);
    qn_fold_fields w;
    w.outputs = qn_fold_packs(f);
    w.units = f->units;
    w.head = f->head;
    w.rest = f->rest;
    w.covered = f->length - f->rest;
    w.chunk = f->chunk;
    w.splits = f->splits;
    w.workers = f->workers;
    w.shift = exponent(f->workers);
    w.results = f->outputs;
    w.place = f->place;
    w.beside = w.across = w.run = 0;
    if (f->form.spans || f->form.phases) {
        w.outputs = f->groups;
        w.shift = qn_fold_span_meeting(f);
        w.beside = f->beside;
        w.across = f->across;
        w.run = f->run;
    }
    if (f->form.packed || f->form.joined || f->form.boxed) {
        w.beside = f->beside;
        w.across = f->across;
        w.run = f->run;
    }
    if (f->form.scan) {
        w.beside = f->beside;
    }
    for (int d = 0; d < dims; d++) {
        const int64_t packs = f->form.swath                    ? qn_fold_row_swaths(f)
                              : f->form.parts                  ? qn_fold_row_parts(f)
                              : f->form.runs || f->form.search ? f->extent[d]
                              : f->form.whole || f->form.cut ? qn_over(f->extent[d], f->form.lanes)
                              : qn_fold_is_lined(&f->form)   ? qn_fold_line_units(f)
                                                             : f->extent[d] / f->form.lanes;
        w.extent[d] = QN_MAX(1, d == lane ? packs : f->extent[d]);
    }
    w.stride = f->stride;
    return qn_put_fold(block, call, &w, f->form.wide, dims, (int)qn_fold_rows(call));
}
