/* SPDX-License-Identifier: MIT
 *
 * Reports a use of memory that nobody wrote. In: the byte, the instruction that read it, the first
 * that computed with it, and the one for which it matters. Out: the launch's failure: the read in
 * words, where it was and where it was used; and as its place the first of them that is in the
 * user's own text.
 */
#include "ptx/decode/decode.h"
#include "ptx/run/owner.h"
#include "ptx/watch/shadow.h"

#include <string.h>

const qn_ptx_instruction *qn_shadow_instruction(const qn_ptx_module *module, uint32_t number,
                                                const qn_ptx_function **function)
{
    uint32_t index = number - 1;
    for (uint32_t k = 0; k < module->function_count; k++) {
        *function = module->functions[k];
        if (index < (*function)->instruction_count) {
            return &(*function)->instructions[index];
        }
        index -= (*function)->instruction_count;
    }
    *function = module->functions[0];
    return &(*function)->instructions[0];
}

unsigned qn_shadow_load_bytes(const qn_ptx_instruction *load)
{
    const char *dot = strrchr(load->opcode, '.');
    char letter;
    unsigned bits;
    return dot && qn_parse_memory_type(dot + 1, &letter, &bits) ? bits / 8 : 1;
}

/* An operation of the load, if it is in the function that the warp executes; else NULL. */
static const qn_op *find_operation(const qn_warp *warp, const qn_ptx_instruction *load)
{
    const qn_code *code = warp->frame->code;
    for (uint32_t k = 0; k < code->count; k++) {
        if (&code->function->instructions[code->ops[k].origin] == load) {
            return &code->ops[k];
        }
    }
    return NULL;
}

/* Find what to report as read: the whole load, or only its unwritten part when it loads several
 * elements at once. */
static void find_missing(qn_touch *read, uint64_t address)
{
    const unsigned bytes = read->bytes;
    const uint64_t begin = address - address % bytes;
    bool whole = true;
    for (uint64_t at = begin; at < address; at++) {
        qn_watch_locate(read, at);
        whole &= read->written && *read->written != 0xff;
    }
    if (!whole) {
        read->bytes = 0;
        for (uint64_t at = address; at < begin + bytes; at++, read->bytes++) {
            qn_watch_locate(read, at);
            if (!read->written || *read->written == 0xff) {
                break;
            }
        }
        read->bytes = QN_MAX(read->bytes, 1);
    }
    qn_watch_locate(read, whole ? begin : address);
}

static void print_read(qn_text *out, qn_touch *read, uint64_t address,
                       const qn_ptx_instruction *load)
{
    read->kind =
        qn_begins(load->opcode, "atom") || qn_begins(load->opcode, "red") ? QN_ATOMIC : QN_READ;
    read->bytes = read->bytes ? read->bytes : qn_shadow_load_bytes(load);
    read->op = find_operation(read->warp, load);
    find_missing(read, address);
    qn_print_touch(out, read);
    qn_text_puts(out, read->space == QN_SPACE_GLOBAL ? ", which nobody has written"
                      : read->space == QN_SPACE_SHARED
                          ? ", which no thread of the block has written"
                          : ", which it has not written");
}

bool qn_shadow_report(qn_warp *warp, unsigned lane, const qn_source *source, uint32_t use)
{
    return qn_shadow_report_bytes(warp, lane, source, use, 0);
}

bool qn_shadow_report_bytes(qn_warp *warp, unsigned lane, const qn_source *source, uint32_t use,
                            unsigned bytes)
{
    const qn_ptx_module *module = warp->run->kernel->module;
    const qn_ptx_function *function;
    const qn_ptx_instruction *load = qn_shadow_instruction(module, source->load, &function);
    const qn_ptx_instruction *used =
        qn_shadow_instruction(module, source->via ? source->via : use, &function);
    const uint32_t locations[] = {load->location, used->location};
    qn_touch read = {.warp = warp, .lane = lane, .bytes = bytes};
    qn_text text = {0};
    print_read(&text, &read, source->address, load);
    const bool is_placed = locations[0] && qn_user_location(module, locations[0]) == locations[0];
    qn_text_puts(&text, ", at ");
    qn_print_instruction_place(&text, module, load, is_placed ? QN_MARK_PLACE : QN_MARK_OTHER,
                               QN_MARK_PLACE_END);
    if (locations[0] != locations[1] && qn_user_location(module, locations[1])) {
        qn_text_puts(&text, ", and used at ");
        qn_print_instruction_place(&text, module, used, "", "");
    }
    qn_fault_at(warp, lane, locations, QN_COUNT(locations),
                text.data ? text.data : "read of memory that nobody wrote");
    qn_text_free(&text);
    return false;
}
