/* SPDX-License-Identifier: MIT
 *
 * Bounds. In: a store that holds more than it may. Out: one that holds less. The thing to know: a
 * put stands before a launch, so each removes for some milliseconds only and leaves the rest to the
 * next ones. Above the limit a store begins to drain, and goes on until 80 % of the limit are in
 * use; a step always removes more than was put, so what lies above the limit stays small.
 */
#include "cache/store.h"

#define LOW_PERCENT   80         /* of the limit that eviction leaves in use */
#define STEP_MS       1.5        /* of a put; the longest batch after that is one row */
#define LAST_MS       250        /* when the store is closed, and nothing waits but the end */
#define REWRITE_BYTES (64 << 20) /* in a file of Quern 0.1: rewritten whole when it is closed */
#define SLACK_BYTES   (1 << 20)  /* by which the sum and the file may differ */
#define BATCH         32         /* rows that are looked for at once */
#define ROUNDING      4 /* small rows share pages, and each is counted as pages of its own */

/* The ids of the rows to remove next: those that were used in the future, that is, under a clock
 * that was wrong, then the least recently used. */
static int find_oldest(qn_store *store, int64_t *ids, int *count, int64_t before)
{
    static const qn_sql sources[] = {QN_SQL_FUTURE, QN_SQL_OLDEST};
    int code = SQLITE_OK;
    *count = 0;
    for (size_t s = before == INT64_MAX ? 0 : 1;
         s < QN_COUNT(sources) && *count == 0 && code == SQLITE_OK; s++) {
        sqlite3_stmt *oldest = qn_store_statement(store, sources[s]);
        if (!oldest) {
            return SQLITE_ERROR;
        }
        sqlite3_bind_int64(oldest, 1, BATCH);
        sqlite3_bind_int64(oldest, 2, sources[s] == QN_SQL_FUTURE ? qn_now_seconds() : before);
        while ((code = sqlite3_step(oldest)) == SQLITE_ROW && *count < BATCH) {
            ids[(*count)++] = sqlite3_column_int64(oldest, 0);
        }
        sqlite3_reset(oldest);
        sqlite3_clear_bindings(oldest);
        code = code == SQLITE_DONE || code == SQLITE_ROW ? SQLITE_OK : code;
    }
    return code;
}

static int used_bytes(qn_store *store, int64_t *used)
{
    return qn_store_run(qn_store_statement(store, QN_SQL_BYTES), used);
}

/* Remove a batch, a DELETE for each row, because SQLite holds in memory all that one statement
 * changes. */
static int remove_batch(qn_store *store, qn_drain *d)
{
    int64_t ids[BATCH], used = 0;
    int count = 0;
    sqlite3_stmt *removal = qn_store_statement(store, QN_SQL_REMOVE_ID);
    int code = removal ? used_bytes(store, &used) : SQLITE_ERROR;
    int64_t before = used > d->target ? INT64_MAX : d->before;
    code = code == SQLITE_OK ? find_oldest(store, ids, &count, before) : code;
    d->finished = count == 0;
    for (int k = 0; code == SQLITE_OK && k < count && (k == 0 || qn_now_ms() < d->until); k++) {
        if (used <= d->target && before == INT64_MAX) {
            d->finished = d->before == 0;
            break;
        }
        sqlite3_bind_int64(removal, 1, ids[k]);
        code = qn_store_run(removal, NULL);
        d->removed += code == SQLITE_OK;
        code = code == SQLITE_OK ? used_bytes(store, &used) : code;
    }
    return code;
}

int qn_store_remove_until(qn_store *store, qn_drain *d)
{
    const uint64_t before = d->removed;
    int code = qn_store_run(qn_store_statement(store, QN_SQL_BEGIN), NULL);
    if (code == SQLITE_OK) {
        do {
            code = remove_batch(store, d);
        } while (code == SQLITE_OK && !d->finished && qn_now_ms() < d->until);
        code =
            code == SQLITE_OK ? qn_store_run(qn_store_statement(store, QN_SQL_COMMIT), NULL) : code;
    }
    if (code != SQLITE_OK) {
        d->removed = before;
        d->finished = true;
        if (store->db) {
            qn_store_fault(store, code, "making room", true);
            qn_store_roll_back(store);
        }
        return code;
    }
    store->tally[QN_TALLY_EVICTED] += d->removed - before;
    return code;
}

static bool is_fat(qn_store *store, int64_t *pages)
{
    return qn_store_run(qn_store_statement(store, QN_SQL_PAGES), pages) == SQLITE_OK &&
           (uint64_t)*pages * QN_PAGE > store->limit;
}

/* Removed rows leave free pages, which the next images fill. Only a file that is larger than its
 * limit, because the limit was lowered, gives them back to the system, some at a time. Failure does
 * no harm: the next step tries again. */
static void give_back(qn_store *store, double until)
{
    int64_t before = INT64_MAX, pages;
    while ((store->fat = is_fat(store, &pages)) && pages < before) {
        before = pages; /* the same again: no page is free, or Quern 0.1 made the file */
        if (qn_store_run(qn_store_statement(store, QN_SQL_GIVE_BACK), NULL) != SQLITE_OK ||
            qn_now_ms() > until) {
            return;
        }
    }
}

static int64_t low_mark(const qn_store *store)
{
    return (int64_t)(QN_MIN(store->limit, (uint64_t)INT64_MAX) / 100 * LOW_PERCENT);
}

/* The sum of bytes may be damaged, and no checksum tells: then nothing would ever be evicted, or
 * everything. It must fit the pages in use; if it does not, it is made anew, once. */
static int check_sum(qn_store *store, int64_t *used)
{
    int64_t pages = 0, free_pages = 0;
    int code = qn_store_run(qn_store_statement(store, QN_SQL_PAGES), &pages);
    if (code == SQLITE_OK) {
        code = qn_store_run(qn_store_statement(store, QN_SQL_FREE_PAGES), &free_pages);
    }
    const double held = (double)(pages - free_pages) * QN_PAGE;
    bool fits = *used >= 0 && (double)*used <= held * ROUNDING + SLACK_BYTES &&
                (held <= (double)store->limit || (double)*used >= held / 2 - SLACK_BYTES);
    if (code != SQLITE_OK || fits || store->summed) {
        return code;
    }
    store->summed = true;
    code = qn_store_run(qn_store_statement(store, QN_SQL_BEGIN), NULL);
    code = code == SQLITE_OK ? qn_store_script(store, "SUM") : code;
    code = code == SQLITE_OK ? qn_store_run(qn_store_statement(store, QN_SQL_COMMIT), NULL) : code;
    qn_store_roll_back(store);
    return code == SQLITE_OK ? used_bytes(store, used) : code;
}

/* Remove for some milliseconds, if there is more than may be. */
static void step(qn_store *store, double ms)
{
    const double until = qn_now_ms() + ms;
    int64_t used = 0;
    if (used_bytes(store, &used) != SQLITE_OK || check_sum(store, &used) != SQLITE_OK) {
        return;
    }
    store->draining |= used > 0 && (uint64_t)used > store->limit;
    if (store->draining && (!qn_checkpoint_is_behind(store) || ms > STEP_MS)) {
        qn_drain d = {.target = low_mark(store), .until = until};
        store->draining = qn_store_remove_until(store, &d) == SQLITE_OK && !d.finished;
    }
    give_back(store, until);
}

void qn_store_evict(qn_store *store)
{
    step(store, STEP_MS);
}

void qn_store_drain(qn_store *store)
{
    int64_t used = 0;
    if (!store->db || store->read_only || (!store->draining && !store->fat)) {
        return;
    }
    step(store, LAST_MS);
    if (store->fat && !store->draining && used_bytes(store, &used) == SQLITE_OK &&
        used < REWRITE_BYTES) {
        (void)qn_store_shrink(store);
    }
}
