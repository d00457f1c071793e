/* SPDX-License-Identifier: MIT
 *
 * Chunks of sorted ranges. In: ranges that are added and taken out, one at a time. Out: those
 * around an address. The thing to know: ranges may overlap, as wrapped memory does, so each chunk
 * knows how far its own reach.
 */
#include "ptx/run/ranges.h"

#include <string.h>

/* ---- finding -------------------------------------------------------------------------------- */

/* How many ranges begin at or before `address`. */
static uint32_t range_upto(const qn_range *ranges, size_t count, uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges[middle].begin <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (uint32_t)low;
}

const qn_range *qn_range_before(const qn_range *ranges, size_t count, uint64_t address)
{
    const uint32_t upto = range_upto(ranges, count, address);
    return upto ? &ranges[upto - 1] : NULL;
}

qn_range_cursor qn_ranges_upto(const qn_ranges *ranges, uint64_t address)
{
    uint32_t low = 0, high = ranges->chunks.count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (ranges->chunks.items[middle]->items[0].begin <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return (qn_range_cursor){0, 0};
    }
    const qn_range_chunk *chunk = ranges->chunks.items[low - 1];
    return (qn_range_cursor){low - 1, range_upto(chunk->items, chunk->count, address)};
}

qn_range *qn_ranges_back(const qn_ranges *ranges, qn_range_cursor *cursor)
{
    if (cursor->at == 0) {
        if (cursor->chunk == 0) {
            return NULL;
        }
        cursor->chunk--;
        cursor->at = ranges->chunks.items[cursor->chunk]->count;
    }
    cursor->at--;
    return &ranges->chunks.items[cursor->chunk]->items[cursor->at];
}

qn_range *qn_ranges_next(const qn_ranges *ranges, qn_range_cursor *cursor)
{
    while (cursor->chunk < ranges->chunks.count &&
           cursor->at == ranges->chunks.items[cursor->chunk]->count) {
        cursor->chunk++;
        cursor->at = 0;
    }
    return cursor->chunk < ranges->chunks.count
               ? &ranges->chunks.items[cursor->chunk]->items[cursor->at++]
               : NULL;
}

const qn_range *qn_ranges_holding(const qn_ranges *ranges, uint64_t address)
{
    const qn_range_cursor upto = qn_ranges_upto(ranges, address);
    const qn_range *found = NULL;
    for (uint32_t c = QN_MIN(upto.chunk + 1, ranges->chunks.count); c > 0; c--) {
        const qn_range_chunk *chunk = ranges->chunks.items[c - 1];
        const uint32_t count = c - 1 == upto.chunk ? upto.at : chunk->count;
        for (uint32_t k = chunk->reach > address ? count : 0; k > 0; k--) {
            const qn_range *range = &chunk->items[k - 1];
            if (address < range->end && (!found || range->whole)) {
                found = range;
            }
        }
        if (found && found->whole) {
            break;
        }
    }
    return found;
}

/* ---- changing ------------------------------------------------------------------------------- */

/* Its page is no longer what it was. */
static void changed(qn_range_chunk *chunk)
{
    qn_range_page_release(chunk->own);
    chunk->own = NULL;
}

static void find_reach(qn_range_chunk *chunk)
{
    chunk->reach = 0;
    for (uint32_t k = 0; k < chunk->count; k++) {
        chunk->reach = QN_MAX(chunk->reach, chunk->items[k].end);
    }
}

/* A chunk at `place` of the list. */
static qn_range_chunk *chunk_insert(qn_ranges *ranges, uint32_t place)
{
    qn_range_chunk *made = QN_ROOM(ranges->chunks) ? qn_alloc(sizeof *made) : NULL;
    if (made) {
        made->count = 0;
        made->reach = 0;
        made->own = NULL;
        qn_range_chunk **at = &ranges->chunks.items[place];
        memmove(at + 1, at, (ranges->chunks.count - place) * sizeof(qn_range_chunk *));
        *at = made;
        ranges->chunks.count++;
    }
    return made;
}

static void chunk_drop(qn_ranges *ranges, uint32_t place)
{
    qn_range_chunk **at = &ranges->chunks.items[place];
    changed(*at);
    qn_free(*at);
    ranges->chunks.count--;
    memmove(at, at + 1, (ranges->chunks.count - place) * sizeof(qn_range_chunk *));
}

/* Half of a full chunk goes to a new one behind it. Ranges that are added at the end, as addresses
 * often rise, leave full chunks behind them. */
static bool split(qn_ranges *ranges, qn_range_cursor *cursor)
{
    qn_range_chunk *behind = chunk_insert(ranges, cursor->chunk + 1);
    if (!behind) {
        return false;
    }
    qn_range_chunk *chunk = ranges->chunks.items[cursor->chunk];
    const bool at_end = cursor->at == chunk->count && cursor->chunk + 2 == ranges->chunks.count;
    const uint32_t stay = at_end ? chunk->count : chunk->count / 2;
    behind->count = chunk->count - stay;
    memcpy(behind->items, chunk->items + stay, behind->count * sizeof(qn_range));
    chunk->count = stay;
    changed(chunk);
    find_reach(chunk);
    find_reach(behind);
    if (cursor->at > stay || at_end) {
        cursor->chunk++;
        cursor->at -= stay;
    }
    return true;
}

bool qn_ranges_add(qn_ranges *ranges, const qn_range *range)
{
    qn_range_cursor cursor = qn_ranges_upto(ranges, range->begin);
    if (ranges->chunks.count == 0 ? !chunk_insert(ranges, 0)
                                  : ranges->chunks.items[cursor.chunk]->count == QN_CHUNK_RANGES &&
                                        !split(ranges, &cursor)) {
        return false;
    }
    qn_range_chunk *chunk = ranges->chunks.items[cursor.chunk];
    qn_range *at = &chunk->items[cursor.at];
    memmove(at + 1, at, (chunk->count - cursor.at) * sizeof *at);
    *at = *range;
    chunk->count++;
    chunk->reach = QN_MAX(chunk->reach, range->end);
    changed(chunk);
    return true;
}

/* What is left of two neighbours may fit one. */
static void merge(qn_ranges *ranges, uint32_t place)
{
    if (place + 1 >= ranges->chunks.count) {
        return;
    }
    qn_range_chunk *chunk = ranges->chunks.items[place], *next = ranges->chunks.items[place + 1];
    if (chunk->count + next->count <= QN_CHUNK_RANGES / 2) {
        memcpy(chunk->items + chunk->count, next->items, next->count * sizeof(qn_range));
        chunk->count += next->count;
        chunk->reach = QN_MAX(chunk->reach, next->reach);
        changed(chunk);
        chunk_drop(ranges, place + 1);
    }
}

bool qn_ranges_take(qn_range *out, qn_ranges *ranges, uint64_t begin, uint64_t end)
{
    qn_range_cursor cursor = qn_ranges_upto(ranges, begin);
    const qn_range *range = qn_ranges_back(ranges, &cursor);
    while (range && range->begin == begin && range->end != end) {
        range = qn_ranges_back(ranges, &cursor); /* another that begins there: foreign memory may be
                                                    wrapped several times */
    }
    if (!range || range->begin != begin) {
        return false;
    }
    qn_range_chunk *chunk = ranges->chunks.items[cursor.chunk];
    qn_range *at = &chunk->items[cursor.at];
    *out = *at;
    chunk->count--;
    memmove(at, at + 1, (chunk->count - cursor.at) * sizeof *at);
    changed(chunk);
    if (chunk->count == 0) {
        chunk_drop(ranges, cursor.chunk);
        return true;
    }
    if (out->end == chunk->reach) {
        find_reach(chunk);
    }
    merge(ranges, cursor.chunk);
    return true;
}

void qn_ranges_free(qn_ranges *ranges)
{
    for (uint32_t c = 0; c < ranges->chunks.count; c++) {
        qn_range_chunk *chunk = ranges->chunks.items[c];
        for (uint32_t k = 0; k < chunk->count; k++) {
            qn_free(chunk->items[k].written);
        }
        changed(chunk);
        qn_free(chunk);
    }
    qn_free(ranges->chunks.items);
}
