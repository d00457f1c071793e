/* SPDX-License-Identifier: MIT
 *
 * Decodes branches, calls, returns and exits, barriers, and operations among the lanes of a warp.
 */
#include "ptx/decode/decode.h"

#include "ptx/lanes/exchange_lanes.h"
#include "ptx/lanes/lanes.h"
#include "ptx/watch/watch.h"

#include <string.h>

/* ---- branches ------------------------------------------------------------------------------- */

bool qn_bind_branch(qn_decoder *decoder)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    if (instruction->operand_count != 1 || instruction->operands[0].kind != QN_OPERAND_LABEL) {
        return false;
    }
    qn_op *op = qn_emit(decoder, instruction->guard >= 0 ? QN_OP_BRANCH : QN_OP_JUMP);
    op->a = op->guard; /* the branch itself reads its predicate */
    op->guard = QN_NO_PLACE;
    op->target = instruction->operands[0].target;
    return true;
}

bool qn_bind_branch_index(qn_decoder *decoder)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    const qn_place index = qn_place_source(decoder, &instruction->operands[0], 32);
    if (index == QN_NO_PLACE) {
        return false;
    }
    const qn_ptx_targets *targets =
        &decoder->function->targets[instruction->operands[1].target]; /* checked when read */
    uint32_t *table = qn_decode_alloc(decoder, targets->count * sizeof *table);
    if (table) {
        memcpy(table, targets->instructions, targets->count * sizeof *table);
    }
    qn_op *op = qn_emit(decoder, QN_OP_BRANCH_INDEX);
    op->a = index;
    op->flags = targets->count;
    op->extra = table;
    return true;
}

static bool trap(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    return qn_fault(warp, op, qn_first_lane(mask), QUERN_ERROR_LAUNCH, "the kernel gave up (trap)");
}

bool qn_bind_leave(qn_decoder *decoder)
{
    if (qn_word_is(&decoder->words, 0, "ret")) {
        qn_emit(decoder, QN_OP_RETURN);
    } else if (qn_word_is(&decoder->words, 0, "exit")) {
        qn_emit(decoder, QN_OP_EXIT);
    } else {
        qn_emit_function(decoder, trap);
    }
    return true;
}

/* ---- calls ---------------------------------------------------------------------------------- */

/* The parameter variables of a call as copies to make; NULL: something else is passed. */
static qn_call_copy *list_copies(qn_decoder *decoder, const qn_ptx_operand *list)
{
    qn_call_copy *copies = qn_decode_alloc(decoder, (list->element_count + 1u) * sizeof *copies);
    for (unsigned k = 0; copies && k < list->element_count; k++) {
        const qn_ptx_symbol *symbol = list->elements[k].symbol;
        if (!symbol || symbol->space != QN_SPACE_PARAM ||
            symbol->offset + symbol->size > decoder->function->frame_param_bytes) {
            return NULL;
        }
        copies[k] = (qn_call_copy){(uint32_t)symbol->offset, (uint32_t)symbol->size};
    }
    return copies;
}

/* call ((returns),)? callee (, (arguments))? (, prototype)? */
static bool read_call(qn_decoder *decoder, qn_call_info *info, const qn_ptx_operand **callee)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    *callee = NULL;
    for (unsigned k = 0; k < instruction->operand_count; k++) {
        const qn_ptx_operand *operand = &instruction->operands[k];
        if (operand->kind == QN_OPERAND_SYMBOL || operand->kind == QN_OPERAND_REGISTER) {
            *callee = *callee ? *callee : operand;
        } else if (operand->kind == QN_OPERAND_LIST && !operand->name) {
            qn_call_copy *copies = list_copies(decoder, operand);
            if (!copies) {
                return false;
            }
            if (*callee) {
                info->parameters = copies;
                info->parameter_count = operand->element_count;
            } else {
                info->returns = copies;
                info->return_count = operand->element_count;
            }
        }
    }
    return *callee != NULL;
}

bool qn_bind_call(qn_decoder *decoder)
{
    const qn_ptx_operand *callee;
    qn_call_info *info = qn_decode_alloc(decoder, sizeof *info);
    if (!info || !read_call(decoder, info, &callee)) {
        return false;
    }
    qn_place address = 0;
    if (callee->kind == QN_OPERAND_REGISTER) {
        address = qn_place_source(decoder, callee, 64);
    } else {
        const qn_ptx_function *function = callee->symbol ? callee->symbol->function : NULL;
        if (!function || !function->has_body) {
            const char *name = callee->symbol ? callee->symbol->name : "";
            qn_builtin builtin = qn_builtin_find(name, info->parameter_count);
            if (!builtin) {
                return false;
            }
            qn_emit_function(decoder, builtin)->extra = info;
            return true;
        }
        info->callee = function;
    }
    qn_op *op = qn_emit(decoder, QN_OP_CALL);
    op->a = address;
    op->extra = info;
    return true;
}

/* ---- barriers ------------------------------------------------------------------------------- */

static bool bind_warp_barrier(qn_decoder *decoder)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    const qn_place members = instruction->operand_count > 0
                                 ? qn_place_source(decoder, &instruction->operands[0], 32)
                                 : qn_place_constant(decoder, 32, QN_ALL_LANES, 0);
    qn_op *op = qn_emit(decoder, QN_OP_SYNC);
    op->a = QN_NO_PLACE;
    op->d = QN_NO_PLACE;
    op->members = members;
    op->flags = QN_SYNC_BARRIER;
    return members != QN_NO_PLACE;
}

/* barrier.cluster: of a cluster of one block. */
static bool bind_cluster_barrier(qn_decoder *decoder)
{
    const bool waits = qn_word_is(&decoder->words, 2, "wait");
    if (!waits && !qn_word_is(&decoder->words, 2, "arrive")) {
        return false;
    }
    qn_op *op = qn_emit(decoder, QN_OP_BARRIER);
    op->flags = waits ? QN_BARRIER_CLUSTER_WAIT : QN_BARRIER_CLUSTER_ARRIVE;
    return true;
}

/* bar.sync a, b?    bar.arrive a, b    bar.red.op d, a, b?, c */
bool qn_bind_barrier(qn_decoder *decoder)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    const qn_opcode_words *words = &decoder->words;
    const qn_ptx_operand *operands = instruction->operands;
    unsigned count = instruction->operand_count;
    uint32_t form = QN_BARRIER_SYNC;
    if (qn_word_is(words, 1, "warp")) {
        return bind_warp_barrier(decoder);
    }
    if (qn_word_is(words, 1, "cluster")) {
        return bind_cluster_barrier(decoder);
    }
    if (qn_word_has(words, "red")) {
        form = qn_word_has(words, "popc")  ? QN_BARRIER_POPC
               : qn_word_has(words, "and") ? QN_BARRIER_AND
                                           : QN_BARRIER_OR;
    } else if (qn_word_has(words, "arrive")) {
        form = QN_BARRIER_ARRIVE;
    } else if (!qn_word_has(words, "sync")) {
        return false;
    }
    const bool reduces = form >= QN_BARRIER_POPC;
    if (count < (reduces ? 3u : 1u)) {
        return false;
    }
    qn_place d = 0, c = 0, b = QN_NO_PLACE;
    if (reduces) {
        d = qn_place_target(decoder, &operands[0], form == QN_BARRIER_POPC ? 32 : 1);
        c = qn_place_source(decoder, &operands[count - 1], 1);
        operands++;
        count -= 2;
    }
    const qn_place a = qn_place_source(decoder, &operands[0], 32);
    if (count > 1 && (b = qn_place_source(decoder, &operands[1], 32)) == QN_NO_PLACE) {
        return false;
    }
    qn_op *op = qn_emit(decoder, QN_OP_BARRIER);
    op->a = a;
    op->b = b;
    op->c = c;
    op->d = d;
    op->flags = form;
    return a != QN_NO_PLACE && c != QN_NO_PLACE && d != QN_NO_PLACE;
}

/* ---- operations among lanes ----------------------------------------------------------------- */

static bool active_mask(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    uint32_t *d = qn_at(warp, op->d);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        d[qn_first_lane(rest)] = mask;
    }
    return true;
}

/* The forms, by their words without "sync"; how many sources lie between d and the member mask, and
 * the widths of the first and of d. */
static const struct {
    const char *words;
    uint8_t form, sources, bits, result_bits;
} sync_forms[] = {
    {"shfl.up.b32", QN_SYNC_SHFL_UP, 3, 32, 32},
    {"shfl.down.b32", QN_SYNC_SHFL_DOWN, 3, 32, 32},
    {"shfl.bfly.b32", QN_SYNC_SHFL_BFLY, 3, 32, 32},
    {"shfl.idx.b32", QN_SYNC_SHFL_IDX, 3, 32, 32},
    {"vote.all.pred", QN_SYNC_VOTE_ALL, 1, 1, 1},
    {"vote.any.pred", QN_SYNC_VOTE_ANY, 1, 1, 1},
    {"vote.uni.pred", QN_SYNC_VOTE_UNI, 1, 1, 1},
    {"vote.ballot.b32", QN_SYNC_VOTE_BALLOT, 1, 1, 32},
    {"match.any.b32", QN_SYNC_MATCH_ANY, 1, 32, 32},
    {"match.any.b64", QN_SYNC_MATCH_ANY, 1, 64, 32},
    {"match.all.b32", QN_SYNC_MATCH_ALL, 1, 32, 32},
    {"match.all.b64", QN_SYNC_MATCH_ALL, 1, 64, 32},
    {"redux.add.u32", QN_SYNC_REDUX_ADD, 1, 32, 32},
    {"redux.add.s32", QN_SYNC_REDUX_ADD, 1, 32, 32},
    {"redux.min.u32", QN_SYNC_REDUX_UMIN, 1, 32, 32},
    {"redux.min.s32", QN_SYNC_REDUX_MIN, 1, 32, 32},
    {"redux.max.u32", QN_SYNC_REDUX_UMAX, 1, 32, 32},
    {"redux.max.s32", QN_SYNC_REDUX_MAX, 1, 32, 32},
    {"redux.and.b32", QN_SYNC_REDUX_AND, 1, 32, 32},
    {"redux.or.b32", QN_SYNC_REDUX_OR, 1, 32, 32},
    {"redux.xor.b32", QN_SYNC_REDUX_XOR, 1, 32, 32},
    {"elect", QN_SYNC_ELECT, 0, 0, 32},
};

static int find_sync(const qn_opcode_words *words)
{
    char text[128] = "";
    bool sync = false;
    for (unsigned k = 0; k < words->count; k++) {
        if (strcmp(words->word[k], "sync") == 0) {
            sync = true;
            continue;
        }
        if (k > 0) {
            strcat(text, ".");
        }
        strcat(text, words->word[k]); /* not longer than words->text */
    }
    for (size_t k = 0; sync && k < QN_COUNT(sync_forms); k++) {
        if (strcmp(text, sync_forms[k].words) == 0) {
            return (int)k;
        }
    }
    return -1;
}

/* Votes and reductions need their one result, an election its predicate; all other results may be
 * `_`. */
static bool has_results(const qn_op *op)
{
    switch (op->flags) {
    case QN_SYNC_SHFL_UP:
    case QN_SYNC_SHFL_DOWN:
    case QN_SYNC_SHFL_BFLY:
    case QN_SYNC_SHFL_IDX:
    case QN_SYNC_MATCH_ANY:
    case QN_SYNC_MATCH_ALL:
        return true;
    case QN_SYNC_ELECT:
        return op->target != QN_NO_PLACE;
    default:
        return op->d != QN_NO_PLACE;
    }
}

bool qn_bind_sync(qn_decoder *decoder)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    const qn_ptx_operand *operands = instruction->operands;
    if (qn_word_is(&decoder->words, 0, "activemask") && instruction->operand_count == 1) {
        const qn_place d = qn_place_target(decoder, &operands[0], 32);
        qn_emit_function(decoder, active_mask)->d = d;
        return d != QN_NO_PLACE;
    }
    int found = find_sync(&decoder->words);
    if (found < 0 || instruction->operand_count != 2u + sync_forms[found].sources) {
        return false;
    }
    const unsigned sources = sync_forms[found].sources;
    qn_place from[4] = {QN_NO_PLACE, 0, 0, 0};
    for (unsigned k = 0; k < sources; k++) {
        from[k] = qn_place_source(decoder, &operands[1 + k], k ? 32 : sync_forms[found].bits);
        if (from[k] == QN_NO_PLACE) {
            return false;
        }
    }
    const qn_place members = qn_place_source(decoder, &operands[1 + sources], 32);
    const bool pair = operands[0].kind == QN_OPERAND_PAIR;
    qn_op *op = qn_emit(decoder, QN_OP_SYNC);
    op->d = qn_place_target(decoder, pair ? &operands[0].elements[0] : &operands[0],
                            sync_forms[found].result_bits);
    op->target = pair ? qn_place_target(decoder, &operands[0].elements[1], 1) : QN_NO_PLACE;
    op->a = from[0];
    op->b = from[1];
    op->c = from[2];
    op->members = members;
    op->bits = sync_forms[found].bits;
    op->flags = sync_forms[found].form;
    op->extra = qn_exchange_lanes_level(qn_lane_level_count() - 1);
    return members != QN_NO_PLACE && has_results(op);
}

/* ---- the rest ------------------------------------------------------------------------------- */

static bool fence(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    (void)op, (void)mask;
    atomic_thread_fence(memory_order_seq_cst);
    qn_watch_fence(warp);
    return true;
}

bool qn_bind_fence(qn_decoder *decoder)
{
    qn_emit_function(decoder, fence);
    return true;
}

/* A thread that sleeps waits for others, so its turn ends with its next jump backwards. */
static bool nap(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    (void)op, (void)mask;
    warp->fuel = 1;
    return true;
}

bool qn_bind_sleep(qn_decoder *decoder)
{
    qn_emit_function(decoder, nap);
    return true;
}

/* Hints: nothing to do. */
bool qn_bind_nothing(qn_decoder *decoder)
{
    (void)decoder;
    return true;
}
