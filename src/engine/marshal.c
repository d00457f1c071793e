/* SPDX-License-Identifier: MIT
 *
 * marshal: the parameter block. In: a planned call. Out: the bytes of every parameter of the
 * generated kernel, in its order: the signature's parameters, then the walk. The thing to know: the
 * layouts of quern::raw_array and quern::space (templates/raw.cuh, templates/index.cuh) are written
 * here by hand; both sides change together.
 */
#include "engine/engine.h"
#include <string.h>

/** Room for the next parameter, or NULL when the block is full. */
static unsigned char *reserve(qn_block *block, uint32_t bytes, uint32_t alignment)
{
    uint32_t at = (block->used + alignment - 1) / alignment * alignment;
    if (bytes > QN_PARAMETER_BYTES || at > QN_PARAMETER_BYTES - bytes) {
        return NULL;
    }
    block->offsets[block->count] = at;
    block->pointers[block->count++] = block->bytes + at;
    block->used = at + bytes;
    return block->bytes + at;
}

static quern_status too_large(const qn_call *call)
{
    return qn_fail(QUERN_ERROR_NOT_SUPPORTED,
                   "%s needs more than the %d bytes that a kernel's parameters may take: use fewer "
                   "parameters, or arrays with fewer dimensions",
                   call->kernel->name, QN_PARAMETER_BYTES);
}

/* ---- raw arrays: quern::raw_array ----------------------------------------------------------- */

static quern_status put_raw(qn_block *block, const qn_call *call, const quern_array *a)
{
    uint32_t dims = a->ndim > 0 ? (uint32_t)a->ndim : 1;
    unsigned char *to = reserve(block, 16 + 16 * dims, 8);
    if (to == NULL) {
        return too_large(call);
    }
    memset(to, 0, 16 + 16 * (size_t)dims);
    memcpy(to, &a->data, 8);
    memcpy(to + 8, &a->count, 8);
    memcpy(to + 16, a->shape, (size_t)a->ndim * 8);
    memcpy(to + 16 + 8 * (size_t)dims, a->strides, (size_t)a->ndim * 8);
    return QUERN_OK;
}

/* ---- the walk: quern::space ----------------------------------------------------------------- */

/** Write one index number, 4 or 8 bytes wide. */
static unsigned char *put_index(unsigned char *to, bool wide, int64_t value)
{
    if (wide) {
        memcpy(to, &value, 8);
        return to + 8;
    }
    int32_t narrow = (int32_t)value;
    memcpy(to, &narrow, 4);
    return to + 4;
}

/** Write a quern::divider. 32 bits: the smallest shift with 2^shift >= divisor, and
 * magic = 2^32 (2^shift - divisor) / divisor + 1. */
static unsigned char *put_divider(unsigned char *to, bool wide, int64_t divisor)
{
    if (wide) {
        to = put_index(to, true, divisor);
        return put_index(to, true, 0);
    }
    uint32_t shift = 0;
    while ((INT64_C(1) << shift) < divisor) {
        shift++;
    }
    uint64_t magic =
        (UINT64_C(1) << 32) * ((UINT64_C(1) << shift) - (uint64_t)divisor) / (uint64_t)divisor + 1;
    uint32_t words[4] = {(uint32_t)divisor, (uint32_t)magic, shift, 0};
    memcpy(to, words, sizeof words);
    return to + sizeof words;
}

static quern_status put_space(qn_block *block, const qn_call *call)
{
    const qn_plan *p = &call->plan;
    bool wide = p->form.wide != 0;
    uint32_t width = wide ? 8 : 4, outer = p->form.ndim - 1u;
    uint32_t operands = QN_MAX(1u, call->operand_count);
    uint32_t bytes = 4 * width + 16 * (1 + QN_MAX(1u, outer)) + width * operands * (outer + 1);
    unsigned char *to = reserve(block, bytes, width);
    if (to == NULL) {
        return too_large(call);
    }
    int64_t inner = p->extent[outer], step = QN_MAX(p->form.tile, p->form.lanes);
    to = put_index(to, wide, p->packs);
    to = put_index(to, wide, inner);
    to = put_index(to, wide, p->head);
    to = put_index(to, wide, p->count);
    /* a row of packs, or of tiles */
    to = put_divider(to, wide, (inner - 1) / step + 1);
    for (uint32_t d = 0; d < QN_MAX(1u, outer); d++) {
        bool tiles = p->form.tile != 0 && d + 1 == outer;
        int64_t extent = outer > 0 ? p->extent[d] : 1;
        to = put_divider(to, wide, tiles ? (extent - 1) / step + 1 : extent);
    }
    for (uint32_t k = 0; k < operands; k++) {
        for (uint32_t d = 0; d <= outer; d++) {
            to = put_index(to, wide, k < call->operand_count ? p->stride[k][d] : 0);
        }
    }
    return QUERN_OK;
}

/* ---- scalars and the whole ------------------------------------------------------------------ */

quern_status qn_marshal_scalar(void *bytes, const quern_kernel *kernel, uint32_t parameter,
                               quern_dtype dtype, const quern_value *value)
{
    unsigned char converted[16];
    QN_TRY(
        qn_scalar_convert(converted, dtype, value, kernel->signature.parameters[parameter].name));
    memcpy(bytes, converted, quern_dtype_size(dtype));
    return QUERN_OK;
}

quern_status qn_marshal(qn_block *block, const qn_call *call)
{
    const qn_signature *s = &call->kernel->signature;
    block->count = block->used = 0;
    for (uint32_t p = 0, k = 0; p < s->count; p++) {
        const quern_array *a = call->arrays[p];
        if (a != NULL && s->parameters[p].raw) {
            QN_TRY(put_raw(block, call, a));
            continue;
        }
        uint32_t size = a != NULL ? 8 : qn_dtype_find(call->types.parameters[p])->size;
        unsigned char *to = reserve(block, size, size);
        if (to == NULL) {
            return too_large(call);
        }
        if (a != NULL) {
            memcpy(to, &call->plan.base[k++], 8);
        } else {
            QN_TRY(qn_marshal_scalar(to, call->kernel, p, call->types.parameters[p],
                                     &call->values[p]));
        }
    }
    return put_space(block, call);
}
