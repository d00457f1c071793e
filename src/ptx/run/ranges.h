/* SPDX-License-Identifier: MIT
 *
 * ranges: a sorted set of ranges that changes often and is read as it was at one moment. In: ranges
 * that are added and taken out. Out: the one at an address, and snapshots.
 *
 * The ranges lie in chunks of bounded size, so that a change moves a few of them however many there
 * are. A snapshot is a list of pages, one of each chunk, that nobody changes: it shares those of
 * chunks that are as they were with the snapshot before. The caller locks.
 */
#ifndef QN_RANGES_H
#define QN_RANGES_H

#include "ptx/run/run.h"

enum { QN_CHUNK_RANGES = 128 };

typedef struct qn_range_chunk {
    uint32_t count;     /**< never 0 */
    uint64_t reach;     /**< the greatest end */
    qn_range_page *own; /**< of the chunk by itself, retained; NULL: it has changed */
    qn_range items[QN_CHUNK_RANGES];
} qn_range_chunk;

/** Zero-initialise. */
typedef struct qn_ranges {
    QN_LIST(qn_range_chunk *) chunks;
} qn_ranges;

/** A place between two ranges: before `items[at]` of a chunk, or at its end. */
typedef struct qn_range_cursor {
    uint32_t chunk, at;
} qn_range_cursor;

/** Behind all ranges that begin at or before `address`. */
qn_range_cursor qn_ranges_upto(const qn_ranges *ranges, uint64_t address);
/** The range before the cursor, or behind it, which steps over it; NULL: there is none. */
qn_range *qn_ranges_back(const qn_ranges *ranges, qn_range_cursor *cursor);
qn_range *qn_ranges_next(const qn_ranges *ranges, qn_range_cursor *cursor);
/** Put a range behind those that begin at or before it. False: out of memory, and nothing is
 * changed. */
bool qn_ranges_add(qn_ranges *ranges, const qn_range *range);
/** Take out the last range with this begin and end. False: there is none. */
bool qn_ranges_take(qn_range *out, qn_ranges *ranges, uint64_t begin, uint64_t end);
/** A range that holds `address`, and (there is one) that is an allocation; NULL: none. */
const qn_range *qn_ranges_holding(const qn_ranges *ranges, uint64_t address);
void qn_ranges_free(qn_ranges *ranges);

/* ---- snapshot.c ----------------------------------------------------------------------------- */

/** How they are now. NULL: out of memory. */
qn_snapshot *qn_ranges_snapshot(const qn_ranges *ranges, uint64_t version);
/** Accepts NULL. */
void qn_range_page_release(qn_range_page *page);

#endif /* QN_RANGES_H */
