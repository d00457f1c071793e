/* SPDX-License-Identifier: MIT
 *
 * Sorted ranges in chunks and their snapshots, beside a plain list that is searched from one end to
 * the other: what is added, taken out and found at random, with ranges that overlap, lie in one
 * another or begin alike, and with memory that runs out.
 */
#include "ptx/run/ranges.h"
#include "run_support.h"

enum { MOST = 3000, SPAN = 60000 };

typedef struct pair {
    qn_ranges ranges;
    qn_range list[MOST]; /* the same, in no order but that of begins; equal ones as they came */
    size_t count;
    uint64_t seed;
} pair;

static uint64_t next(pair *p)
{
    p->seed = p->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return p->seed >> 33;
}

static void add(pair *p, uint64_t begin, uint64_t end, bool whole)
{
    static const char *const labels[] = {"a", "b", "c"};
    const qn_range range = {
        .begin = begin, .end = end, .label = labels[next(p) % 3], .whole = whole};
    size_t at = p->count;
    cr_assert(qn_ranges_add(&p->ranges, &range));
    while (at > 0 && p->list[at - 1].begin > begin) {
        p->list[at] = p->list[at - 1];
        at--;
    }
    p->list[at] = range;
    p->count++;
}

static bool is_same(const qn_range *a, const qn_range *b)
{
    return a->begin == b->begin && a->end == b->end && a->label == b->label && a->whole == b->whole;
}

static void take(pair *p, uint64_t begin, uint64_t end)
{
    qn_range out;
    size_t at = p->count;
    while (at > 0 && (p->list[at - 1].begin != begin || p->list[at - 1].end != end)) {
        at--;
    }
    const bool taken = qn_ranges_take(&out, &p->ranges, begin, end);
    cr_assert_eq(taken, at > 0, "%zu to %zu", (size_t)begin, (size_t)end);
    if (taken) {
        cr_assert(is_same(&out, &p->list[at - 1]));
        memmove(&p->list[at - 1], &p->list[at], (p->count - at) * sizeof p->list[0]);
        p->count--;
    }
}

/* ---- comparing ------------------------------------------------------------------------------ */

/* In the same order, and each chunk is as it says. */
static void compare_all(const pair *p)
{
    qn_range_cursor cursor = {0, 0};
    for (size_t k = 0; k < p->count; k++) {
        const qn_range *range = qn_ranges_next(&p->ranges, &cursor);
        cr_assert(range && is_same(range, &p->list[k]), "range %zu of %zu", k, p->count);
    }
    cr_assert_null(qn_ranges_next(&p->ranges, &cursor));
    for (size_t k = p->count; k > 0; k--) {
        const qn_range *range = qn_ranges_back(&p->ranges, &cursor);
        cr_assert(range && is_same(range, &p->list[k - 1]), "range %zu from behind", k);
    }
    cr_assert_null(qn_ranges_back(&p->ranges, &cursor));
    for (uint32_t c = 0; c < p->ranges.chunks.count; c++) {
        const qn_range_chunk *chunk = p->ranges.chunks.items[c];
        uint64_t reach = 0;
        for (uint32_t k = 0; k < chunk->count; k++) {
            reach = QN_MAX(reach, chunk->items[k].end);
        }
        cr_assert(chunk->count > 0 && chunk->count <= QN_CHUNK_RANGES && chunk->reach == reach);
    }
}

/* The list with what overlaps joined. */
static size_t join(qn_range *to, const pair *p)
{
    size_t joined = 0;
    for (size_t k = 0; k < p->count; k++) {
        qn_range *last = joined ? &to[joined - 1] : NULL;
        if (last && p->list[k].begin < last->end) {
            last->end = QN_MAX(last->end, p->list[k].end);
        } else {
            to[joined++] = p->list[k];
        }
    }
    return joined;
}

static void compare_at(const qn_snapshot *snapshot, const qn_range *joined, size_t count,
                       uint64_t address)
{
    size_t upto = 0;
    while (upto < count && joined[upto].begin <= address) {
        upto++;
    }
    const qn_range *before = qn_snapshot_before(snapshot, address);
    const qn_range *after = qn_snapshot_after(snapshot, address);
    cr_assert(upto ? before && is_same(before, &joined[upto - 1]) : !before, "before %zu",
              (size_t)address);
    cr_assert(upto < count ? after && is_same(after, &joined[upto]) : !after, "after %zu",
              (size_t)address);
}

static void compare_snapshot(pair *p, const qn_snapshot *snapshot)
{
    static qn_range joined[MOST];
    const size_t count = join(joined, p);
    for (int k = 0; k < 200; k++) {
        compare_at(snapshot, joined, count, next(p) % (SPAN + 10));
    }
    for (size_t k = 0; k < count; k += 7) {
        compare_at(snapshot, joined, count, joined[k].begin);
        compare_at(snapshot, joined, count, joined[k].end);
    }
}

/* Some range that holds it, if one does, and an allocation if one is. */
static void compare_holding(const pair *p, uint64_t address)
{
    bool held = false, whole = false;
    for (size_t k = 0; k < p->count; k++) {
        const bool holds = address >= p->list[k].begin && address < p->list[k].end;
        held |= holds;
        whole |= holds && p->list[k].whole;
    }
    const qn_range *found = qn_ranges_holding(&p->ranges, address);
    cr_assert_eq(found != NULL, held, "%zu", (size_t)address);
    cr_assert(!found || (address >= found->begin && address < found->end && found->whole == whole));
}

static void compare(pair *p)
{
    compare_all(p);
    for (int k = 0; k < 50; k++) {
        compare_holding(p, next(p) % SPAN);
    }
    qn_snapshot *snapshot = qn_ranges_snapshot(&p->ranges, 1);
    cr_assert_not_null(snapshot);
    compare_snapshot(p, snapshot);
    qn_snapshot_release(snapshot);
}

/* ---- at random ------------------------------------------------------------------------------ */

/* How long the ranges are: apart, touching, often overlapping, and few that span very many. */
static const uint64_t lengths[] = {1, 8, 30, 400, 20000};

static void change(pair *p, uint64_t length, bool grows)
{
    if (p->count < MOST && (p->count == 0 || next(p) % 8 < (grows ? 6 : 2))) {
        const uint64_t begin = next(p) % SPAN, long_one = next(p) % 100 == 0 ? 50 : 1;
        const bool again = p->count && next(p) % 20 == 0;
        const qn_range *other = again ? &p->list[next(p) % p->count] : NULL;
        add(p, other ? other->begin : begin,
            (other ? other->begin : begin) + 1 + next(p) % (length * long_one), next(p) % 4 == 0);
    } else if (next(p) % 30 == 0) {
        take(p, next(p) % SPAN, next(p) % SPAN);
    } else {
        const qn_range *one = &p->list[next(p) % p->count];
        take(p, one->begin, one->end);
    }
}

Test(ptx_ranges, random_changes_beside_a_list)
{
    static pair p;
    for (size_t k = 0; k < QN_COUNT(lengths); k++) {
        p = (pair){.seed = 17 + k};
        for (int step = 0; step < 12000; step++) {
            change(&p, lengths[k], step % 6000 < 4000);
            if (step % 500 == 0 || step < 50) {
                compare(&p);
            }
        }
        while (p.count > 0) {
            take(&p, p.list[p.count / 2].begin, p.list[p.count / 2].end);
        }
        compare(&p);
        cr_assert_eq(p.ranges.chunks.count, 0);
        qn_ranges_free(&p.ranges);
    }
}

/* A snapshot stays as it was, whatever is changed after it. */
Test(ptx_ranges, a_snapshot_stays)
{
    static pair p;
    enum { KEPT = 6 };
    static qn_range before[KEPT][MOST];
    qn_snapshot *snapshots[KEPT];
    size_t counts[KEPT];
    p = (pair){.seed = 5};
    for (int k = 0; k < KEPT; k++) {
        for (int step = 0; step < 700; step++) {
            change(&p, lengths[k % QN_COUNT(lengths)], true);
        }
        snapshots[k] = qn_ranges_snapshot(&p.ranges, (uint64_t)k);
        counts[k] = join(before[k], &p);
    }
    for (int k = 0; k < KEPT; k++) {
        for (size_t r = 0; r < counts[k]; r++) {
            compare_at(snapshots[k], before[k], counts[k], before[k][r].begin);
        }
    }
    qn_ranges_free(&p.ranges);
    for (int k = 0; k < KEPT; k++) {
        compare_at(snapshots[k], before[k], counts[k], SPAN / 2);
        qn_snapshot_release(snapshots[k]);
    }
}

/* Nothing is changed where memory runs out, and all is as it should be when there is some again. */
Test(ptx_ranges, out_of_memory)
{
    static pair p;
    p = (pair){.seed = 9};
    for (int step = 0; step < 4000; step++) {
        change(&p, 30, true);
        if (step % 37 == 0) {
            const qn_range range = {.begin = next(&p) % SPAN, .end = SPAN, .label = "lost"};
            qn_memory_fail_after(1 + (uint64_t)step % 3, true);
            const bool added = qn_ranges_add(&p.ranges, &range);
            qn_snapshot *snapshot = qn_ranges_snapshot(&p.ranges, 1);
            qn_memory_fail_after(0, false);
            qn_snapshot_release(snapshot);
            qn_range out;
            cr_assert(!added || qn_ranges_take(&out, &p.ranges, range.begin, range.end));
        }
        if (step % 400 == 0) {
            compare(&p);
        }
    }
    qn_ranges_free(&p.ranges);
}
