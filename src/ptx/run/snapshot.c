/* SPDX-License-Identifier: MIT
 *
 * Snapshots of ranges. In: chunks. Out: a page for each, which the next snapshot shares where the
 * chunk is as it was. Ranges that overlap, as wrapped memory may, become one, so that the last
 * range that begins at or before an address is the only one that can hold it. Where those of
 * several chunks overlap, pages are made for one snapshot alone.
 */
#include "ptx/run/ranges.h"

/* ---- reading -------------------------------------------------------------------------------- */

/* How many pages begin at or before `address`. */
static uint32_t pages_upto(const qn_snapshot *snapshot, uint64_t address)
{
    uint32_t low = 0, high = snapshot->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (snapshot->pages[middle].begin <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const qn_range *qn_snapshot_before(const qn_snapshot *snapshot, uint64_t address)
{
    /* most programs have few arrays */
    const uint32_t upto = snapshot->count == 1 ? 1 : pages_upto(snapshot, address);
    const qn_range_page *page = upto ? snapshot->pages[upto - 1].page : NULL;
    return page ? qn_range_before(page->ranges, page->count, address) : NULL;
}

const qn_range *qn_snapshot_after(const qn_snapshot *snapshot, uint64_t address)
{
    const uint32_t upto = pages_upto(snapshot, address);
    const qn_range_page *page = upto ? snapshot->pages[upto - 1].page : NULL;
    const qn_range *before = qn_snapshot_before(snapshot, address);
    if (before && before + 1 < page->ranges + page->count) {
        return before + 1;
    }
    return upto < snapshot->count ? snapshot->pages[upto].page->ranges : NULL;
}

void qn_range_page_release(qn_range_page *page)
{
    if (page && atomic_fetch_sub(&page->references, 1) == 1) {
        qn_free(page);
    }
}

void qn_snapshot_release(qn_snapshot *snapshot)
{
    if (snapshot && atomic_fetch_sub(&snapshot->references, 1) == 1) {
        for (uint32_t k = 0; k < snapshot->count; k++) {
            qn_range_page_release(snapshot->pages[k].page);
        }
        qn_free(snapshot);
    }
}

/* ---- making --------------------------------------------------------------------------------- */

/* The ranges of a chunk, joined with one another and with `carry`, the last before them (or NULL),
 * which may grow. The page may be empty. */
static qn_range_page *make_page(const qn_range_chunk *chunk, qn_range *carry)
{
    qn_range_page *page = qn_alloc(sizeof *page + chunk->count * sizeof *page->ranges);
    if (!page) {
        return NULL;
    }
    atomic_init(&page->references, 1);
    page->count = 0;
    for (uint32_t k = 0; k < chunk->count; k++) {
        const qn_range *range = &chunk->items[k];
        qn_range *last = page->count ? &page->ranges[page->count - 1] : carry;
        if (last && range->begin < last->end) {
            last->end = QN_MAX(last->end, range->end);
            last->written = NULL;
        } else {
            page->ranges[page->count++] = *range;
        }
    }
    return page;
}

/* The page of a chunk that has nothing to do with others. */
static qn_range_page *own_page(qn_range_chunk *chunk)
{
    if (!chunk->own) {
        chunk->own = make_page(chunk, NULL);
    }
    if (chunk->own) {
        atomic_fetch_add(&chunk->own->references, 1);
    }
    return chunk->own;
}

/* Add a page, which it takes: *carry becomes the last range. */
static void append(qn_snapshot *to, qn_range_page *page, qn_range **carry)
{
    if (page->count == 0) {
        qn_range_page_release(page);
        return;
    }
    to->pages[to->count].begin = page->ranges[0].begin;
    to->pages[to->count++].page = page;
    *carry = &page->ranges[page->count - 1];
}

/* Does the chunk reach into the next? */
static bool meets_next(const qn_ranges *ranges, uint32_t place)
{
    return place + 1 < ranges->chunks.count &&
           ranges->chunks.items[place]->reach > ranges->chunks.items[place + 1]->items[0].begin;
}

static bool add_chunk(qn_snapshot *to, const qn_ranges *ranges, uint32_t place, qn_range **carry)
{
    qn_range_chunk *chunk = ranges->chunks.items[place];
    const bool meets = *carry && chunk->items[0].begin < (*carry)->end;
    if (meets && chunk->reach <= (*carry)->end) {
        (*carry)->written = NULL; /* it is inside */
        return true;
    }
    /* the last range of a page that is shared may not grow */
    qn_range_page *page = meets || meets_next(ranges, place)
                              ? make_page(chunk, meets ? *carry : NULL)
                              : own_page(chunk);
    if (!page) {
        return false;
    }
    append(to, page, carry);
    return true;
}

qn_snapshot *qn_ranges_snapshot(const qn_ranges *ranges, uint64_t version)
{
    qn_snapshot *fresh = qn_alloc(sizeof *fresh + ranges->chunks.count * sizeof *fresh->pages);
    if (!fresh) {
        return NULL;
    }
    atomic_init(&fresh->references, 1);
    fresh->version = version;
    fresh->count = 0;
    qn_range *carry = NULL;
    for (uint32_t c = 0; c < ranges->chunks.count; c++) {
        if (!add_chunk(fresh, ranges, c, &carry)) {
            qn_snapshot_release(fresh);
            return NULL;
        }
    }
    return fresh;
}
