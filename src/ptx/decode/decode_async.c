/* SPDX-License-Identifier: MIT
 *
 * Decodes mbarrier, bulk copies and the operations of clusters: here every block is a cluster of
 * its own.
 */
#include "ptx/decode/decode.h"
#include "ptx/run/async.h"

#include <string.h>

/* Are all words from `first` on among `known`, which ends with NULL? */
static bool only_words(const qn_opcode_words *words, unsigned first, const char *const *known)
{
    for (unsigned k = first; k < words->count; k++) {
        const char *const *at = known;
        while (*at && strcmp(*at, words->word[k]) != 0) {
            at++;
        }
        if (!*at) {
            return false;
        }
    }
    return true;
}

/* ---- mbarrier ------------------------------------------------------------------------------- */

static uint8_t object_space(const qn_opcode_words *words)
{
    const bool shared = qn_word_has(words, "shared") || qn_word_has(words, "shared::cta") ||
                        qn_word_has(words, "shared::cluster");
    return shared ? QN_SPACE_SHARED : QN_SPACE_NONE;
}

typedef struct mbarrier_words {
    bool expects, parity;
    uint8_t space;
} mbarrier_words;

static bool read_mbarrier(const qn_opcode_words *words, mbarrier_words *out)
{
    static const char *const known[] = {"relaxed",   "release",    "acquire",         "cta",
                                        "cluster",   "noComplete", "shared",          "shared::cta",
                                        "expect_tx", "parity",     "shared::cluster", "b64",
                                        NULL};
    out->expects = qn_word_is(words, 2, "expect_tx");
    out->parity = qn_word_has(words, "parity");
    out->space = object_space(words);
    return only_words(words, 2, known);
}

static qn_op *emit_mbarrier(qn_decoder *decoder, qn_op_function function, const qn_op *address,
                            uint32_t form)
{
    qn_op *op = qn_emit_function(decoder, function);
    op->a = address->a;
    op->bits = address->bits;
    op->space = address->space;
    op->offset = address->offset;
    op->flags = form;
    op->b = op->c = op->d = QN_NO_PLACE;
    return op;
}

/* arrive(_drop) state, [a] (, count)?     arrive(_drop).expect_tx state, [a], bytes */
static bool bind_arrive(qn_decoder *decoder, const mbarrier_words *words, uint32_t form)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    const unsigned count = instruction->operand_count;
    qn_op address;
    if (count < (words->expects ? 3u : 2u) || count > 3 ||
        !qn_bind_address(decoder, &instruction->operands[1], words->space, 8, &address)) {
        return false;
    }
    const qn_place number =
        count > 2 ? qn_place_source(decoder, &instruction->operands[2], 32) : QN_NO_PLACE;
    qn_op *op = emit_mbarrier(decoder, qn_run_mbarrier, &address, form);
    op->d = qn_place_target(decoder, &instruction->operands[0], 64);
    *(words->expects ? &op->c : &op->b) = number;
    return count == 2 || number != QN_NO_PLACE;
}

/* init [a], count      inval [a]      expect_tx, complete_tx [a], bytes */
static bool bind_plain(qn_decoder *decoder, const mbarrier_words *words, uint32_t form)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    const unsigned wanted = form == QN_MBARRIER_INVAL ? 1 : 2;
    qn_op address;
    if (instruction->operand_count != wanted ||
        !qn_bind_address(decoder, &instruction->operands[0], words->space, 8, &address)) {
        return false;
    }
    const qn_place number =
        wanted == 2 ? qn_place_source(decoder, &instruction->operands[1], 32) : QN_NO_PLACE;
    qn_op *op = emit_mbarrier(
        decoder, form == QN_MBARRIER_INVAL ? qn_run_mbarrier_end : qn_run_mbarrier, &address, form);
    *(form == QN_MBARRIER_INIT ? &op->b : &op->c) = number;
    return wanted == 1 || number != QN_NO_PLACE;
}

/* test_wait, try_wait p, [a], state or parity (, time)? */
static bool bind_test(qn_decoder *decoder, const mbarrier_words *words)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    qn_op address;
    if (instruction->operand_count < 3 || instruction->operand_count > 4 ||
        !qn_bind_address(decoder, &instruction->operands[1], words->space, 8, &address)) {
        return false;
    }
    const qn_place phase =
        qn_place_source(decoder, &instruction->operands[2], words->parity ? 32 : 64);
    qn_op *op = emit_mbarrier(decoder, qn_run_mbarrier_test, &address,
                              words->parity ? QN_MBARRIER_PARITY : QN_MBARRIER_STATE);
    op->b = phase;
    op->d = qn_place_target(decoder, &instruction->operands[0], 1);
    return phase != QN_NO_PLACE && op->d != QN_NO_PLACE;
}

static bool bind_pending(qn_decoder *decoder)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    if (instruction->operand_count != 2) {
        return false;
    }
    const qn_place state = qn_place_source(decoder, &instruction->operands[1], 64);
    qn_op *op = qn_emit_function(decoder, qn_run_mbarrier_pending);
    op->a = state;
    op->d = qn_place_target(decoder, &instruction->operands[0], 32);
    return state != QN_NO_PLACE && op->d != QN_NO_PLACE;
}

bool qn_bind_mbarrier(qn_decoder *decoder)
{
    static const struct {
        const char *word;
        uint8_t form;
    } forms[] = {
        {"init", QN_MBARRIER_INIT},
        {"inval", QN_MBARRIER_INVAL},
        {"expect_tx", QN_MBARRIER_EXPECT},
        {"complete_tx", QN_MBARRIER_COMPLETE},
        {"arrive", QN_MBARRIER_ARRIVE},
        {"arrive_drop", QN_MBARRIER_ARRIVE_DROP},
        {"test_wait", QN_MBARRIER_STATE},
        {"try_wait", QN_MBARRIER_STATE},
        {"pending_count", QN_MBARRIER_PENDING},
    };
    mbarrier_words words;
    size_t k = 0;
    while (k < QN_COUNT(forms) && !qn_word_is(&decoder->words, 1, forms[k].word)) {
        k++;
    }
    if (k == QN_COUNT(forms) || !read_mbarrier(&decoder->words, &words)) {
        return false;
    }
    switch (forms[k].form) {
    case QN_MBARRIER_ARRIVE:
    case QN_MBARRIER_ARRIVE_DROP:
        return bind_arrive(decoder, &words, forms[k].form);
    case QN_MBARRIER_STATE:
        return bind_test(decoder, &words);
    case QN_MBARRIER_PENDING:
        return bind_pending(decoder);
    default:
        return bind_plain(decoder, &words, forms[k].form);
    }
}

/* cp.async.mbarrier.arrive: all copies of the thread are done, so it arrives at once. Without noinc
 * it first raises the count of pending arrivals, so that arriving changes nothing. */
bool qn_bind_copy_arrive(qn_decoder *decoder)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    qn_op address;
    if (instruction->operand_count != 1) {
        return false;
    }
    if (!qn_word_has(&decoder->words, "noinc")) {
        return true;
    }
    if (!qn_bind_address(decoder, &instruction->operands[0], object_space(&decoder->words), 8,
                         &address)) {
        return false;
    }
    emit_mbarrier(decoder, qn_run_mbarrier, &address, QN_MBARRIER_ARRIVE);
    return true;
}

/* ---- bulk copies ---------------------------------------------------------------------------- */

static bool is_shared(const qn_opcode_words *words, unsigned k)
{
    return qn_word_is(words, k, "shared::cluster") || qn_word_is(words, k, "shared::cta");
}

/* cp.async.bulk.TO.FROM.(mbarrier::complete_tx::bytes | bulk_group) [to], [from], bytes, [barrier]?
 */
bool qn_bind_bulk_copy(qn_decoder *decoder)
{
    static const char *const hints[] = {"L2::cache_hint", NULL};
    const qn_ptx_instruction *instruction = decoder->instruction;
    const qn_opcode_words *words = &decoder->words;
    if (qn_word_is(words, 3, "commit_group") || qn_word_is(words, 3, "wait_group")) {
        return true;
    }
    const bool tells = qn_word_is(words, 5, "mbarrier::complete_tx::bytes");
    const bool known =
        tells ? is_shared(words, 3) && (is_shared(words, 4) || qn_word_is(words, 4, "global"))
              : qn_word_is(words, 5, "bulk_group") && qn_word_is(words, 3, "global") &&
                    is_shared(words, 4);
    qn_bulk_copy *copy = qn_decode_alloc(decoder, sizeof *copy);
    if (!copy || !known || !only_words(words, 6, hints) ||
        instruction->operand_count < (tells ? 4u : 3u)) {
        return false;
    }
    const qn_ptx_operand *operands = instruction->operands;
    const uint8_t to = is_shared(words, 3) ? QN_SPACE_SHARED : QN_SPACE_GLOBAL;
    const uint8_t from = is_shared(words, 4) ? QN_SPACE_SHARED : QN_SPACE_GLOBAL;
    const qn_place bytes = qn_place_source(decoder, &operands[2], 32);
    if (bytes == QN_NO_PLACE || !qn_bind_address(decoder, &operands[0], to, 16, &copy->to) ||
        !qn_bind_address(decoder, &operands[1], from, 16, &copy->from) ||
        (tells && !qn_bind_address(decoder, &operands[3], QN_SPACE_SHARED, 8, &copy->barrier))) {
        return false;
    }
    copy->tells = tells;
    copy->barrier.origin = (uint32_t)(instruction - decoder->function->instructions);
    copy->barrier.flags = QN_MBARRIER_COMPLETE;
    copy->barrier.b = copy->barrier.d = QN_NO_PLACE;
    copy->barrier.c = bytes;
    qn_op *op = qn_emit_function(decoder, qn_run_bulk_copy);
    op->c = bytes;
    op->extra = copy;
    return true;
}

/* ---- clusters ------------------------------------------------------------------------------- */

/* mapa d, address, rank: the only rank is 0, and its address is the block's own. */
static bool map_rank(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const uint32_t *ranks = qn_at(warp, op->b);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = qn_first_lane(rest);
        if (ranks[lane] != 0) {
            return qn_fault(warp, op, lane, QUERN_ERROR_LAUNCH,
                            "block %u of a cluster of 1: the software device has no larger ones",
                            ranks[lane]);
        }
    }
    return true;
}

static bool emit_move(qn_decoder *decoder, unsigned bits, qn_place from)
{
    const qn_place d = qn_place_target(decoder, &decoder->instruction->operands[0], bits);
    qn_op *op = qn_emit(decoder, QN_OP_LANES);
    op->lanes = qn_lane_find(bits == 64 ? "mov.b64" : "mov.b32")->function;
    op->d = d;
    op->a = from;
    return d != QN_NO_PLACE && from != QN_NO_PLACE;
}

bool qn_bind_cluster_address(qn_decoder *decoder)
{
    const qn_ptx_instruction *instruction = decoder->instruction;
    const qn_opcode_words *words = &decoder->words;
    const unsigned bits = qn_word_has(words, "u64") ? 64 : 32;
    if (qn_word_is(words, 0, "getctarank")) {
        return instruction->operand_count == 2 &&
               emit_move(decoder, 32, qn_place_constant(decoder, 32, 0, 0));
    }
    if (instruction->operand_count != 3) {
        return false;
    }
    const qn_place rank = qn_place_source(decoder, &instruction->operands[2], 32);
    const qn_place address = qn_place_source(decoder, &instruction->operands[1], bits);
    qn_emit_function(decoder, map_rank)->b = rank;
    return rank != QN_NO_PLACE && emit_move(decoder, bits, address);
}
