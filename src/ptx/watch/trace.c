/* SPDX-License-Identifier: MIT
 *
 * The trace of one thread. In: the operations that the decoder put around each instruction, when
 * the thread's warp comes to them. Out: lines on standard error: the place in the source where it
 * changes, then the line of the PTX, the instruction, what it read and what it wrote. A line is
 * begun before the instruction, so that the thread's last step is visible when it fails. The number
 * of lines of a launch is limited.
 */
#include "ptx/watch/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LINES = 10000, COLUMN = 50 };

static void print_line(qn_trace *trace)
{
    if (trace->lines < LINES) {
        fprintf(stderr, "%s\n", trace->line.data ? trace->line.data : "out of memory for a line");
        if (++trace->lines == LINES) {
            fprintf(stderr, "the trace ends here, after %d lines\n", LINES);
        }
    }
    qn_text_free(&trace->line);
    trace->pending = false;
}

static uint64_t number_of(const uint32_t index[3], const uint32_t size[3])
{
    return index[0] + (uint64_t)size[0] * (index[1] + (uint64_t)size[1] * index[2]);
}

void qn_trace_begin(qn_run *run)
{
    const qn_ptx_launch *launch = run->launch;
    const uint32_t *block = launch->aids.trace_block, *thread = launch->aids.trace_thread;
    const uint64_t number = number_of(thread, launch->block);
    bool exists = true;
    for (unsigned k = 0; k < 3; k++) {
        exists &= block[k] < launch->grid[k] && thread[k] < launch->block[k];
    }
    *run->trace = (qn_trace){.block = number_of(block, launch->grid),
                             .warp = (uint32_t)(number / QN_LANES),
                             .lane = (uint32_t)(number % QN_LANES),
                             .lines = exists ? 0 : LINES};
    fprintf(stderr, "%s kernel '%s', block (%u,%u,%u), thread (%u,%u,%u)%s\n",
            exists ? "trace of" : "no trace of", run->kernel->name, block[0], block[1], block[2],
            thread[0], thread[1], thread[2], exists ? "" : ": this launch does not have it");
}

void qn_trace_end(qn_run *run)
{
    if (run->trace->pending) {
        print_line(run->trace);
    }
    qn_text_free(&run->trace->place);
}

static bool is_traced(const qn_warp *warp, uint32_t mask)
{
    const qn_trace *trace = warp->run->trace;
    return warp->block->number == trace->block && warp->index == trace->warp &&
           mask >> trace->lane & 1 && trace->lines < LINES;
}

static void print_place(qn_trace *trace, const qn_traced *traced)
{
    qn_text place = {0};
    qn_ptx_print_location(&place, traced->function->module, traced->instruction->location);
    if (place.data && (!trace->place.data || strcmp(place.data, trace->place.data) != 0)) {
        qn_text_puts(&trace->line, place.data);
        print_line(trace);
        qn_text_free(&trace->place);
        trace->place = place;
    } else {
        qn_text_free(&place);
    }
}

/* Pad the line, so that all values begin in the same column. */
static void begin_values(qn_text *line)
{
    qn_text_printf(line, "%*s  ", line->length < COLUMN ? (int)(COLUMN - line->length) : 0, "");
}

static void print_address(qn_text *line, const qn_warp *warp, const qn_traced *traced,
                          unsigned lane)
{
    const void *place = qn_at(warp, traced->address);
    uint64_t address = traced->address_bits == 64 ? ((const uint64_t *)place)[lane]
                                                  : ((const uint32_t *)place)[lane];
    address += (uint64_t)traced->address_offset;
    qn_text_printf(line, "[0x%" PRIx64 "]", address);
}

bool qn_run_trace_before(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    qn_trace *trace = warp->run->trace;
    const qn_traced *traced = op->extra;
    if (!is_traced(warp, mask)) {
        return true;
    }
    if (trace->pending) {
        print_line(trace);
    }
    print_place(trace, traced);
    if (trace->lines == LINES) {
        return true;
    }
    const unsigned lane = trace->lane;
    qn_text *line = &trace->line;
    qn_text_printf(line, "%6u  ", traced->instruction->line);
    qn_print_instruction(line, traced->function, traced->instruction);
    trace->pending = true;
    if (traced->guard != QN_NO_PLACE && (*(const uint32_t *)qn_at(warp, traced->guard) >> lane &
                                         1) == traced->instruction->guard_negated) {
        begin_values(line);
        qn_text_puts(line, "not executed");
        print_line(trace);
        return true;
    }
    const bool addresses = traced->address != QN_NO_PLACE;
    if (addresses || traced->read_count > 0 || traced->written_count > 0) {
        begin_values(line);
    }
    if (addresses) {
        print_address(line, warp, traced, lane);
    }
    for (uint32_t k = 0; k < traced->read_count; k++) {
        qn_text_puts(line, k > 0 || addresses ? ", " : "");
        qn_print_value(line, warp, &traced->values[k], lane);
    }
    return true;
}

bool qn_run_trace_behind(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    qn_trace *trace = warp->run->trace;
    const qn_traced *traced = op->extra;
    if (!is_traced(warp, mask) || !trace->pending) {
        return true;
    }
    const bool reads = traced->read_count > 0 || traced->address != QN_NO_PLACE;
    qn_text_puts(&trace->line, reads ? " -> " : "-> ");
    for (uint32_t k = 0; k < traced->written_count; k++) {
        qn_text_puts(&trace->line, k ? ", " : "");
        qn_print_value(&trace->line, warp, &traced->values[traced->read_count + k], trace->lane);
    }
    print_line(trace);
    return true;
}
