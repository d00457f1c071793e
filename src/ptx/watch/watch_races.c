/* SPDX-License-Identifier: MIT
 *
 * Races in shared memory. For each byte the history has who wrote it last, who last accessed it
 * with an atomic, and two readers since. Two accesses by different threads race when at least one
 * of them writes, they are not both atomics, and neither is in the past of the other
 * (watch_order.c). A write of the value that is already there races with no other write: when many
 * threads set the same flag, that is not a mistake.
 *
 * Only two readers are kept, and one that is in the past of a new one is replaced first. So a race
 * is missed only if a third reader alone is in it.
 */
#include "ptx/watch/watch.h"

#include <string.h>
#include <sys/mman.h>

enum { READERS = 2, UNKNOWN = -1 };

typedef struct cell {
    qn_stamp write, atomic, reads[READERS];
    uint32_t block; /* the block, as counted here, that the cell is about; any other: nothing yet */
    int16_t value;  /* what a plain write left, or UNKNOWN */
} cell;

struct qn_history {
    uint32_t bytes, block;
    cell cells[];
};

static size_t history_bytes(uint32_t shared_bytes)
{
    return sizeof(qn_history) + (size_t)shared_bytes * sizeof(cell);
}

/* Mapped: much of it may never be touched. */
qn_history *qn_history_new(uint32_t shared_bytes)
{
    void *memory = mmap(NULL, history_bytes(shared_bytes), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return NULL;
    }
    qn_history *history = memory;
    history->bytes = shared_bytes;
    return history;
}

void qn_history_free(qn_history *history)
{
    if (history) {
        munmap(history, history_bytes(history->bytes));
    }
}

void qn_history_begin(qn_history *history)
{
    history->block++;
}

static cell *cell_at(qn_history *history, uint64_t address)
{
    cell *found = &history->cells[address];
    if (found->block != history->block) {
        memset(found, 0, sizeof *found);
        found->block = history->block;
    }
    return found;
}

static bool report(const qn_touch *touch, const qn_stamp *other, uint32_t lanes,
                   qn_access_kind kind)
{
    qn_text text = {0};
    qn_print_touch(&text, touch);
    qn_text_printf(&text, " races with the %s by ", qn_access_name(kind));
    qn_print_stamp(&text, touch->warp->block, other, lanes);
    qn_text_puts(&text, other->warp == touch->warp->index
                            ? ": neither __syncwarp() nor a barrier is between them"
                            : ": no barrier is between them");
    qn_fault(touch->warp, touch->op, touch->lane, QUERN_ERROR_ACCESS, "%s",
             text.data ? text.data : "race in shared memory");
    qn_text_free(&text);
    return false;
}

/* False after a report. */
static bool check(const qn_touch *touch, const qn_stamp *other, qn_access_kind kind)
{
    const qn_order *order = touch->warp->block->watch->order;
    const uint32_t lanes = qn_order_unknown(order, other, touch->warp, touch->lane);
    return !lanes || report(touch, other, lanes, kind);
}

/* Set a stamp; lanes that do the same at the same time share it. */
static void stamp(qn_stamp *at, const qn_stamp *now)
{
    const uint32_t lanes = at->op == now->op && at->warp == now->warp && at->time == now->time &&
                                   at->epoch == now->epoch
                               ? at->lanes
                               : 0;
    *at = *now;
    at->lanes |= lanes;
}

/* The reader to replace: of the same warp and time, or nobody, or one in the past. */
static qn_stamp *reader_for(const qn_touch *touch, cell *at, const qn_stamp *now)
{
    const qn_order *order = touch->warp->block->watch->order;
    for (unsigned k = 0; k < READERS; k++) {
        const qn_stamp *reader = &at->reads[k];
        if (reader->op == now->op && reader->warp == now->warp && reader->time == now->time) {
            return &at->reads[k];
        }
    }
    for (unsigned k = 0; k < READERS; k++) {
        if (!qn_order_unknown(order, &at->reads[k], touch->warp, touch->lane)) {
            return &at->reads[k];
        }
    }
    return &at->reads[READERS - 1];
}

/* What a store is about to leave in byte `at` of the access. */
static int value_of(const qn_touch *touch, unsigned at)
{
    const qn_transfer *access = qn_watch_elements(touch->op);
    if (!access) {
        return UNKNOWN;
    }
    const unsigned bytes = access->element->memory_bits / 8u, within = at % bytes;
    const unsigned char *place = qn_at(touch->warp, access->places[at / bytes]);
    if (access->element->register_bits == 128) { /* two lines, low and high */
        return place[(within / 8 * QN_LANES + touch->lane) * 8 + within % 8];
    }
    return place[touch->lane * (access->element->register_bits / 8u) + within];
}

/* The lane reads the byte of this cell. */
static bool read_byte(const qn_touch *touch, cell *at, const qn_stamp *now)
{
    if (!check(touch, &at->write, QN_WRITE) ||
        (!touch->strong && !check(touch, &at->atomic, QN_ATOMIC))) {
        return false;
    }
    stamp(reader_for(touch, at, now), now);
    return true;
}

/* The lane writes the byte, or reads and writes it; `value` is what it writes. */
static bool write_byte(const qn_touch *touch, cell *at, const qn_stamp *now, int value)
{
    const bool same = value != UNKNOWN && value == at->value;
    if ((!same && !check(touch, &at->write, QN_WRITE)) ||
        (!touch->strong && !check(touch, &at->atomic, QN_ATOMIC))) {
        return false;
    }
    for (unsigned k = 0; k < READERS; k++) {
        if (!(touch->strong && at->reads[k].strong) && !check(touch, &at->reads[k], QN_READ)) {
            return false;
        }
    }
    stamp(touch->strong ? &at->atomic : &at->write, now);
    at->value = (int16_t)value;
    return true;
}

bool qn_watch_races(const qn_touch *touch)
{
    const qn_watch *watch = touch->warp->block->watch;
    qn_stamp now = qn_order_stamp(watch->order, touch->warp, touch->op, touch->lane);
    now.strong = touch->strong;
    for (unsigned k = 0; k < touch->bytes; k++) {
        cell *at = cell_at(watch->history, touch->address + k);
        if (touch->kind == QN_READ ? !read_byte(touch, at, &now)
                                   : !write_byte(touch, at, &now, value_of(touch, k))) {
            return false;
        }
    }
    return true;
}
