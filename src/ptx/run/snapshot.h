/* SPDX-License-Identifier: MIT
 *
 * snapshot: the ranges of a memory map at one moment, as launches read them. In: nothing. Out: two
 * structures that nobody changes once they are there.
 */
#ifndef QN_SNAPSHOT_H
#define QN_SNAPSHOT_H

#include "ptx/ptx.h"
#include <stdatomic.h>

/** Host memory that a kernel may touch, and what to call it. */
typedef struct qn_range {
    uint64_t begin, end;
    unsigned char *written; /**< marks, as watch.h says; NULL: all count as written */
    const char *label;      /**< borrowed, as ptx.h says; NULL: a piece of the heap */
    bool whole;             /**< an allocation: what is adopted lies in it or outside of it */
} qn_range;

/** Some ranges that follow one another; snapshots share it. */
typedef struct qn_range_page {
    atomic_uint references;
    uint32_t count; /**< of a snapshot's: never 0 */
    qn_range ranges[];
} qn_range_page;

/** The ranges at one moment, sorted; none overlaps another. */
typedef struct qn_snapshot {
    atomic_uint references;
    uint32_t count; /**< of pages */
    uint64_t version;
    struct {
        uint64_t begin; /**< of its first range */
        qn_range_page *page;
    } pages[];
} qn_snapshot;

#endif /* QN_SNAPSHOT_H */
