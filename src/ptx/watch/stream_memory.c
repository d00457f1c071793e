/* SPDX-License-Identifier: MIT
 *
 * Who touched which byte of device memory. In: accesses of work, by kernels, copies and fills. Out:
 * true, or what the work does not wait for. Each byte has the number of a state: who wrote it, and
 * who read it since. Bytes that were touched alike share one, and a thread that turns one into
 * another remembers that, so that most bytes cost a comparison and no lock.
 */
#include "ptx/watch/streams.h"

#include <stdio.h>
#include <string.h>

/* ---- pages ---------------------------------------------------------------------------------- */

static uint32_t slot_of(const qn_stream_page *pages, uint32_t room, uint64_t number)
{
    uint32_t slot = (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (room - 1);
    while (pages[slot].states && pages[slot].number != number) {
        slot = (slot + 1) & (room - 1);
    }
    return slot;
}

static bool grow(qn_stream_history *history)
{
    const uint32_t room = history->page_room ? 2 * history->page_room : 64;
    qn_stream_page *pages = qn_calloc(room, sizeof *pages);
    if (!pages) {
        return false;
    }
    for (uint32_t k = 0; k < history->page_room; k++) {
        if (history->pages[k].states) {
            pages[slot_of(pages, room, history->pages[k].number)] = history->pages[k];
        }
    }
    qn_free(history->pages);
    history->pages = pages;
    history->page_room = room;
    return true;
}

/* The states of a page; NULL: it has none, and `make` was false or memory ran out. */
static _Atomic(uint32_t) *page_locked(qn_stream_history *history, uint64_t number, bool make)
{
    if (2 * history->page_count >= history->page_room && (!make || !grow(history)) &&
        history->page_room == 0) {
        return NULL;
    }
    const uint32_t slot = slot_of(history->pages, history->page_room, number);
    if (!history->pages[slot].states && make && history->page_count + 1 < history->page_room) {
        history->pages[slot].states = qn_calloc(QN_STREAM_PAGE, sizeof(uint32_t));
        history->pages[slot].number = number;
        history->page_count += history->pages[slot].states != NULL;
    }
    return history->pages[slot].states;
}

/* Pages stay as long as the history, so a thread may remember some. */
static _Atomic(uint32_t) *page_of(qn_stream_history *history, uint64_t number)
{
    static _Thread_local struct {
        uint64_t serial, number;
        _Atomic(uint32_t) *states;
    } seen[16];
    const unsigned k = (unsigned)(number ^ number >> 4) % 16;
    if (seen[k].serial != history->serial || seen[k].number != number) {
        pthread_mutex_lock(&history->lock);
        _Atomic(uint32_t) *states = page_locked(history, number, true);
        pthread_mutex_unlock(&history->lock);
        if (!states) {
            atomic_store(&history->lost, true);
            return NULL;
        }
        seen[k].serial = history->serial;
        seen[k].number = number;
        seen[k].states = states;
    }
    return seen[k].states;
}

/* ---- states --------------------------------------------------------------------------------- */

/* NULL: nothing is known, or it is about to be forgotten. */
static const qn_stream_state *state_of(const qn_stream_history *history, uint32_t id)
{
    const qn_stream_state *state = id ? history->states[id % QN_PAST_STATES] : NULL;
    return state && state->id == id && history->last_state - id < QN_PAST_STATES - 1 ? state : NULL;
}

/* A new one with room for `count` others; NULL: the history is lost. */
static qn_stream_state *new_state(qn_stream_history *history, uint32_t write, uint32_t count)
{
    qn_stream_state *state = qn_alloc(sizeof *state + (size_t)count * sizeof state->others[0]);
    if (!state || history->last_state == UINT32_MAX) {
        qn_free(state);
        atomic_store(&history->lost, true);
        return NULL;
    }
    *state = (qn_stream_state){.id = ++history->last_state, .write = write};
    qn_free(history->states[state->id % QN_PAST_STATES]);
    history->states[state->id % QN_PAST_STATES] = state;
    return state;
}

/* ---- pieces --------------------------------------------------------------------------------- */

/* How many begin at or before `address`. */
static uint32_t pieces_upto(const qn_stream_history *history, uint64_t address)
{
    uint32_t low = 0, high = history->pieces.count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (history->pieces.items[middle].begin <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void forget_bytes(qn_stream_history *history, uint64_t begin, uint64_t end)
{
    for (uint64_t at = begin; at < end;) {
        const uint64_t next = QN_MIN(end, (at / QN_STREAM_PAGE + 1) * QN_STREAM_PAGE);
        _Atomic(uint32_t) *states =
            history->page_room ? page_locked(history, at / QN_STREAM_PAGE, false) : NULL;
        for (uint64_t k = at; states && k < next; k++) {
            atomic_store_explicit(&states[k % QN_STREAM_PAGE], 0, memory_order_relaxed);
        }
        at = next;
    }
}

void qn_stream_memory_add(qn_stream_history *history, const void *base, uint64_t bytes,
                          const void *handle, bool allocated)
{
    qn_stream_work work;
    qn_stream_work_begin(&work, allocated ? history : NULL, handle, "the allocation of the array");
    pthread_mutex_lock(&history->lock);
    const uint64_t begin = (uint64_t)(uintptr_t)base;
    const uint32_t at = pieces_upto(history, begin);
    const qn_stream_state *state = work.history ? new_state(history, work.number, 0) : NULL;
    if (!QN_ROOM(history->pieces)) {
        atomic_store(&history->lost, true);
    } else {
        qn_stream_piece *piece = &history->pieces.items[at];
        memmove(piece + 1, piece, (history->pieces.count - at) * sizeof *piece);
        *piece = (qn_stream_piece){begin, begin + bytes, state ? state->id : 0};
        history->pieces.count++;
        if (allocated) {
            forget_bytes(history, begin, begin + bytes);
        }
    }
    pthread_mutex_unlock(&history->lock);
    qn_stream_work_end(&work);
}

void qn_stream_memory_remove(qn_stream_history *history, const void *base, uint64_t bytes)
{
    const uint64_t begin = (uint64_t)(uintptr_t)base;
    pthread_mutex_lock(&history->lock);
    for (uint32_t k = pieces_upto(history, begin); k > 0; k--) {
        qn_stream_piece *piece = &history->pieces.items[k - 1];
        if (piece->begin == begin && piece->end == begin + bytes) {
            memmove(piece, piece + 1, (history->pieces.count - k) * sizeof *piece);
            history->pieces.count--;
            forget_bytes(history, begin, begin + bytes);
            break;
        }
    }
    pthread_mutex_unlock(&history->lock);
}

/* ---- accesses ------------------------------------------------------------------------------- */

/* What the calling thread has found out of the work that it does. */
typedef struct memo {
    uint64_t serial;
    uint32_t old, fresh;
    uint64_t low, high; /* where `old` 0 means the same */
} memo;

static _Thread_local memo memos[3];

typedef struct access {
    qn_stream_work *work;
    qn_access_kind kind;
    bool lenient; /* volatile: whoever touched it before may be in order by it */
    char *why;
    size_t room;
} access;

static bool refuse(const access *a, uint32_t number, const char *what)
{
    const qn_past_work *past = &a->work->history->past[number % QN_PAST_WORKS];
    snprintf(a->why, a->room, "on %s, which does not wait for %s%s", a->work->stream_name, what,
             past->what);
    return false;
}

/* Does the work wait for another, whose access it must not meet? */
static bool waits_for(const access *a, uint32_t number, const char *what)
{
    if (!qn_stream_in_order(a->work, number)) {
        if (!a->lenient) {
            return refuse(a, number, what);
        }
        qn_stream_learn(a->work, number);
    }
    return true;
}

/* Atomics and the like may be how other work tells that it is done. */
static void meet_atomics(const access *a, const qn_stream_state *state)
{
    for (uint32_t k = 0; k < state->count; k++) {
        if (state->others[k] % 2 == 1 && !qn_stream_in_order(a->work, state->others[k] / 2)) {
            qn_stream_learn(a->work, state->others[k] / 2);
        }
    }
}

static bool check(const access *a, const qn_stream_state *state)
{
    if (a->kind == QN_ATOMIC) {
        meet_atomics(a, state);
    }
    if (!waits_for(a, state->write, "the write by ")) {
        return false;
    }
    for (uint32_t k = 0; k < state->count; k++) {
        const bool atomic = state->others[k] % 2 == 1;
        const bool conflicts = a->kind == QN_WRITE || atomic != (a->kind == QN_ATOMIC);
        if (conflicts && !waits_for(a, state->others[k] / 2,
                                    atomic ? "the atomic access by " : "the read by ")) {
            return false;
        }
    }
    return true;
}

/* The state after a read or an atomic: others of the same kind that are waited for need not be
 * remembered beside this one. 0: as it was. */
static uint32_t with_other(const access *a, const qn_stream_state *state)
{
    const uint32_t own = a->work->number * 2 + (a->kind == QN_ATOMIC);
    const uint32_t count = state ? state->count : 0;
    for (uint32_t k = 0; k < count; k++) {
        if (state->others[k] == own) {
            return 0;
        }
    }
    if (state && state->write == a->work->number) {
        return 0;
    }
    qn_stream_state *fresh = new_state(a->work->history, state ? state->write : 0, count + 1);
    if (!fresh) {
        return 0;
    }
    for (uint32_t k = 0; k < count; k++) {
        if (state->others[k] % 2 != own % 2 || !qn_stream_in_order(a->work, state->others[k] / 2)) {
            fresh->others[fresh->count++] = state->others[k];
        }
    }
    fresh->others[fresh->count++] = own;
    return fresh->id;
}

static uint32_t after_write(qn_stream_work *work, const qn_stream_state *state, uint32_t old)
{
    if (state && state->write == work->number && state->count == 0) {
        return old;
    }
    if (!work->written) {
        const qn_stream_state *fresh = new_state(work->history, work->number, 0);
        work->written = fresh ? fresh->id : 0;
    }
    return work->written;
}

/* With the lock: from one state to the next; false: they are not in order. */
static bool step(const access *a, uint64_t address, uint32_t old, memo *out)
{
    qn_stream_history *history = a->work->history;
    *out = (memo){.serial = a->work->serial, .old = old, .fresh = old, .high = UINT64_MAX};
    uint32_t id = old;
    if (old == 0) {
        const uint32_t upto = pieces_upto(history, address);
        const qn_stream_piece *piece = upto ? &history->pieces.items[upto - 1] : NULL;
        out->low = address;
        out->high = address + 1;
        if (!piece || address >= piece->end) {
            return true; /* of no array */
        }
        id = piece->state;
        out->low = piece->begin;
        out->high = piece->end;
    }
    const qn_stream_state *state = state_of(history, id);
    if (state && !check(a, state)) {
        return false;
    }
    const uint32_t next =
        a->kind == QN_WRITE ? after_write(a->work, state, old) : with_other(a, state);
    out->fresh = next ? next : old;
    return true;
}

static bool touch_byte(const access *a, uint64_t address, _Atomic(uint32_t) *state)
{
    memo *m = &memos[a->kind];
    const uint32_t old = atomic_load_explicit(state, memory_order_relaxed);
    if (m->serial != a->work->serial || m->old != old || address < m->low || address >= m->high) {
        if (m->serial == a->work->serial && m->fresh == old && old != 0) {
            return true;
        }
        qn_stream_history *history = a->work->history;
        pthread_mutex_lock(&history->lock);
        const bool fine = atomic_load(&history->lost) || step(a, address, old, m);
        pthread_mutex_unlock(&history->lock);
        if (!fine || atomic_load(&history->lost)) {
            m->serial = 0;
            return fine;
        }
    }
    if (m->fresh != old) {
        atomic_store_explicit(state, m->fresh, memory_order_relaxed);
    }
    return true;
}

bool qn_stream_touch(qn_stream_work *work, uint64_t address, uint64_t bytes, qn_access_kind kind,
                     bool lenient, char *why, size_t room)
{
    const access a = {work, kind, lenient, why, room};
    for (const uint64_t end = address + bytes; address < end;) {
        _Atomic(uint32_t) *states = page_of(work->history, address / QN_STREAM_PAGE);
        const uint64_t next = QN_MIN(end, (address / QN_STREAM_PAGE + 1) * QN_STREAM_PAGE);
        for (; states && address < next; address++) {
            if (!touch_byte(&a, address, &states[address % QN_STREAM_PAGE])) {
                return false;
            }
        }
        address = next;
    }
    return true;
}
