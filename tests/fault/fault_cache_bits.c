/* SPDX-License-Identifier: MIT
 *
 * The cache's files with single bits changed and with their ends cut off, everywhere. The promise:
 * no wrong image is ever returned, nothing crashes, the cache works again afterwards or says why
 * not, and a look-up that failed for it is counted.
 *
 * A part of it; all with QUERN_WHOLE: 10,000 bits over every page, every 512 bytes.
 */
#include "fault/whole.h"
#include "unit/cache/scratch.h"

#include <criterion/criterion.h>

TestSuite(bits, .init = scratch_make, .fini = scratch_delete, .timeout = 600);

#define SIZE    3000
#define ENTRIES 20

typedef struct bytes {
    char *data;
    size_t size;
} bytes;

static bytes read_bytes(const char *name)
{
    bytes out;
    cr_assert_eq(qn_file_read(scratch_path(name), &out.data, &out.size), QUERN_OK);
    return out;
}

static void write_bytes(const char *name, const char *data, size_t size)
{
    FILE *file = fopen(scratch_path(name), "w");
    cr_assert(file && fwrite(data, 1, size, file) == size);
    fclose(file);
}

static size_t size_of(int number)
{
    return number % 7 == 0 ? 20000 : SIZE;
}

/* A closed database, with pages of every kind. */
static bytes make_database(void)
{
    qn_store *store = scratch_store(scratch, 0);
    for (int k = 0; k < ENTRIES + 5; k++) {
        scratch_put(store, k, size_of(k), "abc");
    }
    for (int k = ENTRIES; k < ENTRIES + 5; k++) { /* leaves free pages */
        qn_key key = scratch_key(k);
        qn_store_reject(store, &key, "abc");
        qn_key_free(&key);
    }
    qn_store_close(store);
    return read_bytes(QN_CACHE_FILE);
}

/* Look everything up, which aborts on a wrong image; keep what is missing, and look it up again.
 * (A wrong key in an index may hide other entries then: they are compiled again in their turn.) */
static void use(const char *what, size_t at)
{
    warnings = 0;
    qn_store *store = scratch_store(scratch, 0);
    int missing = 0, after = 0;
    for (int k = 0; k < ENTRIES; k++) {
        missing += !scratch_get(store, k, size_of(k), "abc");
    }
    quern_cache_stats first = scratch_stats(store);
    for (int k = 0; k < ENTRIES && missing > 0; k++) {
        if (!scratch_get(store, k, size_of(k), "abc")) {
            scratch_put(store, k, size_of(k), "abc");
            after += !scratch_get(store, k, size_of(k), "abc");
        }
    }
    cr_expect_eq(first.misses, missing, "%s %zu: each miss is counted", what, at);
    quern_cache_stats last = scratch_stats(store);
    cr_expect(after == 0 || qn_store_problem(store)[0] || last.faults + last.corrupt > 0,
              "%s %zu: %d of %d cannot be kept again, and nothing says why", what, at, after,
              missing);
    qn_store_close(store);
}

static void flip(const char *name, bytes file, size_t at, int bit)
{
    file.data[at] ^= (char)(1 << bit);
    write_bytes(name, file.data, file.size);
    file.data[at] ^= (char)(1 << bit);
}

static void remove_others(void)
{
    remove(scratch_path(QN_CACHE_FILE "-wal"));
    remove(scratch_path(QN_CACHE_FILE "-shm"));
}

Test(bits, flipped_in_every_page)
{
    bytes file = make_database();
    const size_t pages = file.size / QN_PAGE;
    const int flips = whole_or(10000, 300);
    unsigned seed = 11;
    cr_assert_gt(pages, 30);
    for (int k = 0; k < flips; k++) {
        size_t at = (size_t)k % pages * QN_PAGE + (size_t)rand_r(&seed) % QN_PAGE;
        remove_others();
        flip(QN_CACHE_FILE, file, at, rand_r(&seed) % 8);
        use("byte", at);
    }
    qn_free(file.data);
}

/* What a reader relies on in a row is checked byte by byte, so a flip there is always seen. */
Test(bits, flipped_in_images_are_seen)
{
    bytes file = make_database();
    unsigned seed = 5;
    int seen = 0;
    for (int k = 0; k < whole_or(2000, 100); k++) {
        remove_others();
        size_t at = (size_t)rand_r(&seed) % file.size;
        flip(QN_CACHE_FILE, file, at, rand_r(&seed) % 8);
        qn_store *store = scratch_store(scratch, 0);
        int missing = 0;
        for (int n = 0; n < ENTRIES; n++) {
            missing += !scratch_get(store, n, size_of(n), "abc");
        }
        quern_cache_stats stats = scratch_stats(store);
        cr_expect(missing == 0 || stats.misses > 0);
        seen += stats.corrupt > 0;
        qn_store_close(store);
    }
    cr_expect_gt(seen, 20, "%d", seen);
    qn_free(file.data);
}

Test(bits, cut_off)
{
    bytes file = make_database();
    const size_t step = (size_t)whole_or(512, 512 * 9);
    for (size_t size = 0; size < file.size; size += step) {
        remove_others();
        write_bytes(QN_CACHE_FILE, file.data, size);
        use("cut to", size);
    }
    qn_free(file.data);
}

/* The journal of a process that was killed. */
Test(bits, flipped_and_cut_in_the_journal)
{
    qn_store *store = scratch_store(scratch, 0);
    for (int k = 0; k < ENTRIES; k++) {
        scratch_put(store, k, size_of(k), "abc");
    }
    bytes file = read_bytes(QN_CACHE_FILE), journal = read_bytes(QN_CACHE_FILE "-wal");
    qn_store_close(store);
    cr_assert_gt(journal.size, 20 * QN_PAGE);
    unsigned seed = 3;
    for (int k = 0; k < whole_or(2000, 100); k++) {
        remove_others();
        write_bytes(QN_CACHE_FILE, file.data, file.size);
        flip(QN_CACHE_FILE "-wal", journal, (size_t)rand_r(&seed) % journal.size,
             rand_r(&seed) % 8);
        use("journal", (size_t)k);
    }
    for (size_t size = 0; size < journal.size; size += (size_t)whole_or(512, 512 * 41)) {
        remove_others();
        write_bytes(QN_CACHE_FILE, file.data, file.size);
        write_bytes(QN_CACHE_FILE "-wal", journal.data, size);
        use("journal cut to", size);
    }
    qn_free(file.data);
    qn_free(journal.data);
}

/* Files that only serve people and waiting: anything may be in them. */
Test(bits, the_files_beside)
{
    char garbage[5000];
    unsigned seed = 9;
    for (int k = 0; k < 40; k++) {
        for (size_t n = 0; n < sizeof garbage; n++) {
            garbage[n] = (char)rand_r(&seed);
        }
        write_bytes(QN_COUNTS_FILE, garbage, (size_t)rand_r(&seed) % sizeof garbage);
        write_bytes(QN_LOCK_FILE, garbage, (size_t)rand_r(&seed) % sizeof garbage);
        use("files beside", (size_t)k);
        qn_store *store = scratch_store(scratch, 0);
        quern_cache_stats totals = {.size = sizeof totals};
        cr_expect_eq(qn_store_totals(store, &totals), QUERN_OK);
        cr_expect_leq(totals.hits, 3 * ENTRIES, "begun at zero");
        qn_key key = scratch_key(1);
        qn_machine *machine;
        cr_expect(qn_machine_begin(&machine, store, &key, 0));
        cr_expect_not_null(machine);
        qn_machine_done(machine);
        qn_key_free(&key);
        qn_store_close(store);
    }
}

Test(bits, verified)
{
    bytes file = make_database();
    unsigned seed = 21;
    for (int k = 0; k < whole_or(500, 40); k++) {
        uint64_t checked, removed;
        remove_others();
        flip(QN_CACHE_FILE, file, 100 + (size_t)rand_r(&seed) % (file.size - 100),
             rand_r(&seed) % 8);
        qn_store *store = scratch_store(scratch, 0);
        quern_status status = qn_store_verify(store, &checked, &removed, NULL, NULL);
        cr_expect(status == QUERN_OK || status == QUERN_ERROR_CACHE);
        if (status == QUERN_OK) {
            quern_cache_stats stats = scratch_stats(store);
            cr_expect_eq(stats.entries, checked - removed, "the sums are right");
            cr_expect_eq(qn_store_verify(store, &checked, &removed, NULL, NULL), QUERN_OK);
            cr_expect_eq(removed, 0, "nothing damaged is left");
            cr_expect_eq(scratch_stats(store).set_aside, stats.set_aside);
        }
        qn_store_close(store);
    }
    qn_free(file.data);
}
