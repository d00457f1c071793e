/* SPDX-License-Identifier: MIT
 *
 * Reports: what a kernel did wrong, who did it, and where. The first report of a launch is kept in
 * the launch and becomes the caller's error when the launch returns; the others are dropped.
 */
#include "ptx/run/heap.h"
#include "ptx/run/owner.h"
#include "ptx/watch/element.h"
#include "ptx/watch/watch.h"

#include <string.h>

void qn_print_instruction_place(qn_text *out, const qn_ptx_module *module,
                                const qn_ptx_instruction *instruction, const char *begin,
                                const char *end)
{
    if (instruction->location) {
        qn_text_puts(out, begin);
        qn_ptx_print_location(out, module, instruction->location);
        qn_text_printf(out, "%s ", end);
    }
    qn_text_printf(out, "('%s', PTX line %u)", instruction->opcode, instruction->line);
}

static void print_place(qn_text *out, const qn_frame *frame, const qn_op *op, const char *begin,
                        const char *end)
{
    const qn_ptx_function *function = frame->code->function;
    qn_print_instruction_place(out, function->module, &function->instructions[op->origin], begin,
                               end);
}

void qn_print_place(qn_text *out, const qn_frame *frame, const qn_op *op)
{
    print_place(out, frame, op, "", "");
}

static bool is_header(const char *file)
{
    const char *dot = file ? strrchr(file, '.') : NULL;
    return dot && (strcmp(dot, ".cuh") == 0 || strcmp(dot, ".h") == 0 || strcmp(dot, ".hpp") == 0);
}

uint32_t qn_user_location(const qn_ptx_module *module, uint32_t location)
{
    uint32_t index = location;
    for (unsigned depth = 0; depth < 64 && index > 0 && index < module->location_count; depth++) {
        const char *file = module->locations[index].file;
        if (!is_header(file) && !(file && qn_base_name(file)[0] == '<')) {
            return index;
        }
        index = module->locations[index].inlined_at;
    }
    return 0;
}

static void set_place(qn_fault_record *fault, const qn_ptx_module *module, uint32_t index)
{
    if (index > 0 && index < module->location_count) {
        const qn_ptx_location *location = &module->locations[index];
        fault->file = location->file;
        fault->line = location->line;
        fault->column = location->column;
    }
}

static void print_thread(qn_text *out, const qn_warp *warp, unsigned lane)
{
    const uint32_t *block = warp->block->index;
    qn_text_printf(out,
                   "kernel '%s', block (%u,%u,%u), thread (%u,%u,%u): ", warp->run->kernel->name,
                   block[0], block[1], block[2], warp->thread[0][lane], warp->thread[1][lane],
                   warp->thread[2][lane]);
}

/* Frees the text. Always false. */
static bool keep_at(const qn_warp *warp, uint32_t location, quern_status status, qn_text *text)
{
    qn_run *run = warp->run;
    pthread_mutex_lock(&run->lock);
    if (!run->fault.happened) {
        run->fault = (qn_fault_record){.happened = true, .status = status};
        run->fault.message = qn_text_take(text);
        set_place(&run->fault, run->kernel->module, location);
    }
    pthread_mutex_unlock(&run->lock);
    qn_text_free(text);
    atomic_store(&run->ended, true);
    return false;
}

static bool keep(const qn_warp *warp, const qn_op *op, quern_status status, qn_text *text)
{
    const qn_ptx_function *function = warp->frame->code->function;
    const uint32_t location = function->instructions[op->origin].location;
    const uint32_t user = qn_user_location(function->module, location);
    return keep_at(warp, user ? user : location, status, text);
}

bool qn_fault(qn_warp *warp, const qn_op *op, unsigned lane, quern_status status,
              const char *format, ...)
{
    qn_text text = {0};
    print_thread(&text, warp, lane);
    va_list arguments;
    va_start(arguments, format);
    qn_text_vprintf(&text, format, arguments);
    va_end(arguments);
    qn_text_puts(&text, ", at ");
    print_place(&text, warp->frame, op, QN_MARK_PLACE, QN_MARK_PLACE_END);
    return keep(warp, op, status, &text);
}

bool qn_fault_placed(qn_warp *warp, const qn_op *op, unsigned lane, quern_status status,
                     const char *what)
{
    qn_text text = {0};
    print_thread(&text, warp, lane);
    qn_text_puts(&text, what);
    return keep(warp, op, status, &text);
}

bool qn_fault_at(qn_warp *warp, unsigned lane, const uint32_t *locations, size_t count,
                 const char *what)
{
    qn_text text = {0};
    uint32_t user = 0;
    for (size_t k = 0; k < count && !user; k++) {
        user = qn_user_location(warp->run->kernel->module, locations[k]);
    }
    print_thread(&text, warp, lane);
    qn_text_puts(&text, what);
    return keep_at(warp, user, QUERN_ERROR_ACCESS, &text);
}

const char *qn_access_name(qn_access_kind kind)
{
    static const char *const names[] = {
        [QN_READ] = "read", [QN_WRITE] = "write", [QN_ATOMIC] = "atomic access"};
    return names[kind];
}

/* How far `address` is from `range`; 0: inside. */
static uint64_t distance(const qn_range *range, uint64_t address)
{
    if (address < range->begin) {
        return range->begin - address;
    }
    return address < range->end ? 0 : address - range->end + 1;
}

static void take_nearer(const qn_range **best, const qn_range *range, uint64_t address)
{
    if (range && (!*best || distance(range, address) < distance(*best, address))) {
        *best = range;
    }
}

static void nearer(const qn_range **best, const qn_range *ranges, size_t count, uint64_t address)
{
    const qn_range *before = qn_range_before(ranges, count, address);
    const qn_range *after = before ? before + 1 : ranges;
    take_nearer(best, before, address);
    take_nearer(best, after < ranges + count ? after : NULL, address);
}

void qn_print_range(qn_text *out, const qn_range *range)
{
    static const char sized[] = " of";
    const unsigned long long bytes = range->end - range->begin;
    if (!range->label) {
        qn_text_printf(out, "%llu bytes from malloc", bytes);
        return;
    }
    const size_t length = strlen(range->label);
    qn_text_puts(out, range->label);
    if (length >= strlen(sized) && strcmp(range->label + length - strlen(sized), sized) == 0) {
        qn_text_printf(out, " %llu byte%s", bytes, bytes == 1 ? "" : "s");
    }
}

static void print_near(qn_text *out, const qn_range *range, uint64_t address, uint64_t bytes)
{
    if (address >= range->begin && address < range->end && range->end - address >= bytes) {
        qn_text_puts(out, ", inside ");
    } else if (address < range->begin) {
        qn_text_printf(out, ", %llu bytes before the beginning of ",
                       (unsigned long long)(range->begin - address));
    } else if (address >= range->end) {
        qn_text_printf(out, ", %llu bytes past the end of ",
                       (unsigned long long)(address - range->end));
    } else {
        qn_text_printf(out, ", of which the last %llu are past the end of ",
                       (unsigned long long)(bytes - (range->end - address)));
    }
    qn_print_range(out, range);
    qn_text_printf(out, " at 0x%llx", (unsigned long long)range->begin);
}

/* Global and generic addresses: freed, inside of what, or near what? */
static void explain_global(qn_text *out, qn_warp *warp, uint64_t address, uint64_t bytes)
{
    enum { NEAR = 1 << 20 };
    const qn_snapshot *snapshot = warp->block->worker->snapshot;
    const qn_heap *heap = qn_memory_map_heap(warp->run->launch->memory);
    qn_range freed, pieces[2];
    const qn_range *best = NULL;
    if (address < 4096) {
        qn_text_puts(out, address == 0 ? ", which is a null pointer" : ", next to a null pointer");
        return;
    }
    take_nearer(&best, qn_snapshot_before(snapshot, address), address);
    take_nearer(&best, qn_snapshot_after(snapshot, address), address);
    nearer(&best, warp->run->code->variables, warp->run->code->variable_count, address);
    nearer(&best, pieces, heap ? qn_heap_around(heap, address, pieces) : 0, address);
    if (qn_memory_map_freed(warp->run->launch->memory, address, &freed) &&
        !(best && distance(best, address) == 0)) {
        qn_text_puts(out, ", inside ");
        qn_print_range(out, &freed);
        qn_text_printf(out, " at 0x%llx, which was freed", (unsigned long long)freed.begin);
    } else if (best && distance(best, address) <= NEAR) {
        print_near(out, best, address, bytes);
    } else {
        qn_text_puts(out, ", which is in no allocation");
    }
}

static const char *space_of(const qn_warp *warp, uint64_t address)
{
    uint64_t shared = (uint64_t)(uintptr_t)warp->block->shared;
    uint64_t local = (uint64_t)(uintptr_t)warp->local;
    if (address - shared < warp->run->shared_bytes) {
        return "shared";
    }
    return address - local < warp->run->local_stride * QN_LANES ? "local" : NULL;
}

bool qn_fault_access(qn_warp *warp, const qn_op *op, unsigned lane, uint64_t address,
                     uint64_t bytes, qn_access_kind kind)
{
    qn_text text = {0};
    const unsigned long long size = bytes;
    const char *other = op->space == QN_SPACE_SHARED ? NULL : space_of(warp, address);
    qn_text_printf(&text, "%s of %llu byte%s at 0x%llx", qn_access_name(kind), size,
                   size == 1 ? "" : "s", (unsigned long long)address);
    const bool misaligned = (bytes & (bytes - 1)) == 0 && address % bytes != 0 && bytes <= 32;
    const bool owned = op->space != QN_SPACE_SHARED && op->space != QN_SPACE_LOCAL && !other;
    if (owned && !misaligned) {
        qn_print_owner(&text, warp, op, address);
    }
    if (misaligned) {
        qn_text_printf(&text, ", which is misaligned: it must be a multiple of %llu", size);
        if (owned) {
            qn_print_owner(&text, warp, op, address);
        }
    } else if (op->space == QN_SPACE_SHARED) {
        qn_text_printf(&text, " of shared memory, of which the block has %u bytes",
                       warp->run->shared_bytes);
    } else if (op->space == QN_SPACE_LOCAL) {
        qn_text_puts(&text, ", outside of the thread's local memory");
    } else if (other) {
        qn_text_printf(&text, ", which is in %s memory%s", other,
                       op->space == QN_SPACE_NONE ? " but not in what this thread may touch"
                                                  : ", not in global memory");
    } else {
        explain_global(&text, warp, address, bytes);
    }
    qn_fault(warp, op, lane, QUERN_ERROR_ACCESS, "%s", text.data ? text.data : "invalid access");
    qn_text_free(&text);
    return false;
}

bool qn_fault_element(qn_warp *warp, const qn_op *op, unsigned lane, uint64_t address,
                      uint64_t bytes, qn_access_kind kind, uint64_t what, int64_t index)
{
    qn_text text = {0};
    qn_text_printf(&text, "%s of %llu byte%s at 0x%llx", qn_access_name(kind),
                   (unsigned long long)bytes, bytes == 1 ? "" : "s", (unsigned long long)address);
    qn_print_element(&text, what, address, index);
    explain_global(&text, warp, address, bytes);
    qn_fault(warp, op, lane, QUERN_ERROR_ACCESS, "%s", text.data ? text.data : "invalid access");
    qn_text_free(&text);
    return false;
}

bool qn_fault_order(qn_warp *warp, const qn_op *op, unsigned lane, uint64_t address, uint64_t bytes,
                    qn_access_kind kind, const char *why)
{
    qn_text text = {0};
    qn_text_printf(&text, "%s of %llu byte%s at 0x%llx", qn_access_name(kind),
                   (unsigned long long)bytes, bytes == 1 ? "" : "s", (unsigned long long)address);
    qn_print_owner(&text, warp, op, address);
    explain_global(&text, warp, address, bytes);
    qn_text_printf(&text, ", %s", why);
    qn_fault(warp, op, lane, QUERN_ERROR_ACCESS, "%s", text.data ? text.data : "invalid access");
    qn_text_free(&text);
    return false;
}
