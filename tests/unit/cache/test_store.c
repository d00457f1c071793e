/* SPDX-License-Identifier: MIT
 *
 * The store when nothing goes wrong: hits and misses, compilers, limits, listing, clearing; keys by
 * their first digits, packs that are put into it, and the group that it is shared with.
 */
#include "scratch.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <grp.h>
#include <sys/stat.h>

TestSuite(store, .init = scratch_make, .fini = scratch_delete);

Test(store, gives_back_what_was_put)
{
    qn_store *store = scratch_store(scratch, 0);
    cr_expect_str_eq(qn_store_problem(store), "");
    cr_expect_not(scratch_get(store, 1, 5000, "abc"));
    scratch_put(store, 1, 5000, "abc");
    scratch_put(store, 2, 0, "abc");
    scratch_put(store, 3, 300000, "abc");
    cr_expect(scratch_get(store, 1, 5000, "abc"));
    cr_expect(scratch_get(store, 2, 0, "abc"));
    cr_expect(scratch_get(store, 3, 300000, "abc"));
    qn_store_close(store);

    store = scratch_store(scratch, 0); /* as another process */
    cr_expect(scratch_get(store, 1, 5000, "abc"));
    cr_expect_not(scratch_get(store, 4, 5000, "abc"));
    quern_cache_stats stats = scratch_stats(store);
    cr_expect_eq(stats.enabled, 1);
    cr_expect_eq(stats.entries, 3);
    cr_expect_eq(stats.hits, 1);
    cr_expect_eq(stats.misses, 1);
    cr_expect_eq(stats.faults + stats.corrupt, 0);
    cr_expect_geq(stats.bytes, 305000);
    cr_expect_geq(stats.file_bytes, 305000);
    cr_expect_eq(warnings, 0, "%s", last_warning);
    qn_store_close(store);
}

Test(store, one_image_for_each_compiler)
{
    qn_store *store = scratch_store(scratch, 0);
    scratch_put(store, 1, 100, "old");
    cr_expect_not(scratch_get(store, 1, 100, "new"));
    cr_expect(scratch_get(store, 1, 100, ""), "any compiler");
    cr_expect(scratch_get(store, 1, 100, NULL));
    scratch_put(store, 1, 200, "new");
    cr_expect(scratch_get(store, 1, 100, "old"));
    cr_expect(scratch_get(store, 1, 200, "new"));
    cr_expect(scratch_get(store, 1, 200, NULL), "the newest");
    scratch_put(store, 1, 300, "new");
    cr_expect(scratch_get(store, 1, 300, "new"), "put again replaces");
    cr_expect_eq(scratch_stats(store).entries, 2);
    qn_key key = scratch_key(1);
    qn_store_reject(store, &key, "new");
    cr_expect_not(scratch_get(store, 1, 300, "new"));
    cr_expect(scratch_get(store, 1, 100, "old"));
    cr_expect_eq(scratch_stats(store).corrupt, 1);
    qn_key_free(&key);
    qn_store_close(store);
}

Test(store, same_hash_of_something_else_is_a_miss)
{
    qn_store *store = scratch_store(scratch, 0);
    scratch_put(store, 1, 100, "abc");
    qn_key key = scratch_key(1);
    qn_image image;
    key.material[key.material_size - 1] ^= 1; /* what an attack on the hash would look like */
    cr_expect_not(qn_store_get(store, &key, "abc", &image));
    cr_expect_eq(scratch_stats(store).corrupt, 0);
    cr_expect(scratch_get(store, 1, 100, "abc"));
    qn_key_free(&key);
    qn_store_close(store);
}

static off_t file_size(void)
{
    struct stat facts;
    cr_assert_eq(stat(scratch_path(QN_CACHE_FILE), &facts), 0);
    return facts.st_size;
}

/* Make of the file one that cannot give pages back, as Quern 0.1 did. */
static void make_old(void)
{
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(scratch_path(QN_CACHE_FILE), &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, "PRAGMA auto_vacuum = NONE; VACUUM;", NULL, NULL, NULL),
                 SQLITE_OK);
    sqlite3_close(db);
}

/* A limit that is lowered holds for the file, also for one that Quern 0.1 made. */
/* A store gives room back for some milliseconds at a time, and for longer when it is closed: on a
 * busy machine one end may not be enough. */
static void expect_size_becomes(int64_t limit)
{
    for (int k = 0; k < 50 && file_size() > limit; k++) {
        qn_store *store = scratch_store(scratch, (uint64_t)limit);
        scratch_put(store, 5000 + k, 100, "abc");
        qn_store_close(store);
    }
    cr_expect_leq(file_size(), limit);
}

Test(store, a_lower_limit_makes_the_file_smaller)
{
    for (int old = 0; old < 2; old++) {
        qn_store *store = scratch_store(scratch, 0);
        for (int k = 0; k < 40; k++) {
            scratch_put(store, 100 * old + k, 100000, "abc");
        }
        qn_store_close(store);
        cr_expect_gt(file_size(), 3 << 20);
        if (old) {
            make_old();
        }
        store = scratch_store(scratch, 1 << 20);
        scratch_put(store, 1000 + old, 100000, "abc");
        cr_expect(scratch_get(store, 1000 + old, 100000, "abc"));
        cr_expect_eq(scratch_stats(store).faults, 0);
        qn_store_close(store);
        expect_size_becomes(1 << 20);
    }
    cr_expect_eq(warnings, 0, "%s", last_warning);
}

/* What goes from the file, and what stays of a file of Quern 0.1, are not held in memory. */
Test(store, eviction_takes_little_memory)
{
    qn_store *store = scratch_store(scratch, 0);
    for (int k = 0; k < 30; k++) {
        scratch_put(store, k, 1 << 20, "abc");
    }
    qn_store_close(store);
    make_old();
    store = scratch_store(scratch, 20 << 20);
    (void)sqlite3_memory_highwater(1);
    scratch_put(store, 30, 1 << 20, "abc");
    cr_expect_leq(sqlite3_memory_highwater(0), 8 << 20);
    qn_store_close(store);
    expect_size_becomes(20 << 20);
}

Test(store, limit_holds_and_the_least_used_go)
{
    const uint64_t limit = 1 << 20;
    qn_store *store = scratch_store(scratch, limit);
    for (int k = 0; k < 200; k++) {
        scratch_put(store, k, 10000, "abc");
        quern_cache_stats stats = scratch_stats(store);
        cr_assert_leq(stats.bytes, limit);
        cr_expect(scratch_get(store, k, 10000, "abc"), "the one just put stays");
        if (k == 50) {
            /* all but number 7 were used long ago; number 8 in the future, under a wrong clock */
            cr_assert(scratch_sql("UPDATE image SET last_used = last_used - 1000000 + id;"
                                  "UPDATE image SET last_used = last_used + 2000000 WHERE id = 9"));
            cr_expect(scratch_get(store, 7, 10000, "abc"));
        }
        if (k == 90) {
            cr_expect(scratch_get(store, 7, 10000, "abc"), "used today");
            cr_expect_not(scratch_get(store, 0, 10000, "abc"));
            cr_expect_not(scratch_get(store, 8, 10000, "abc"), "the future counts as old");
        }
    }
    quern_cache_stats stats = scratch_stats(store);
    cr_expect_geq(stats.bytes, limit / 2, "it does not evict more than it must");

    scratch_put(store, 1000, 2 << 20, "abc");
    cr_expect_not(scratch_get(store, 1000, 2 << 20, "abc"), "larger than the limit: declined");
    cr_expect_eq(scratch_stats(store).entries, stats.entries, "and nothing went for it");
    scratch_put(store, 1001, 2 << 20, "abc");
    cr_expect_eq(scratch_stats(store).declined, 2);
    cr_expect_eq(warnings, 1, "told once");
    cr_expect(strstr(last_warning, "is not kept in the cache"), "%s", last_warning);
    qn_store_close(store);

    struct stat facts; /* closed, and so without a journal: the file itself obeys */
    cr_assert_eq(stat(scratch_path(QN_CACHE_FILE), &facts), 0);
    cr_expect_leq((uint64_t)facts.st_size, limit + (64 << 10));
}

Test(store, use_is_written_once_a_day)
{
    qn_store *store = scratch_store(scratch, 0);
    scratch_put(store, 1, 100, "abc");
    cr_assert(scratch_sql("CREATE TABLE writes (n); CREATE TRIGGER w AFTER UPDATE ON image BEGIN "
                          "INSERT INTO writes VALUES (1); END;"
                          "UPDATE image SET last_used = last_used - 90000; DELETE FROM writes;"));
    for (int k = 0; k < 10; k++) {
        cr_expect(scratch_get(store, 1, 100, "abc"));
    }
    cr_expect(scratch_sql("CREATE TABLE once (n CHECK (n = 1));"
                          "INSERT INTO once SELECT count(*) FROM writes;"));
    /* the clock went back by a year */
    cr_assert(
        scratch_sql("UPDATE image SET last_used = last_used + 31536000; DELETE FROM writes;"));
    for (int k = 0; k < 10; k++) {
        cr_expect(scratch_get(store, 1, 100, "abc"));
    }
    cr_expect(scratch_sql("INSERT INTO once SELECT count(*) FROM writes;"));
    qn_store_close(store);
}

typedef struct visited {
    qn_store *store;
    int count, stop_after;
    char names[1000];
} visited;

static int visit(void *context, const quern_cache_entry *entry)
{
    visited *v = context;
    char line[200];
    snprintf(line, sizeof line, "%s %s %s %llu %.1f|", entry->kind, entry->target, entry->compiler,
             (unsigned long long)entry->image_bytes, entry->compile_ms);
    strcat(v->names, line);
    v->count++;
    cr_expect_eq(strlen(entry->key), 32);
    cr_expect(strstr(entry->source, "__global__"));
    cr_expect_gt(entry->created, 1500000000);
    if (v->store) {
        qn_store_clear(v->store, NULL); /* a visitor may use the cache */
    }
    return v->count == v->stop_after;
}

Test(store, visit)
{
    qn_store *store = scratch_store(scratch, 0);
    scratch_put(store, 1, 100, "abc");
    scratch_put(store, 2, 200, "");
    visited all = {0};
    cr_assert_eq(qn_store_visit(store, NULL, visit, &all), QUERN_OK);
    cr_expect_str_eq(all.names,
                     "cubin sm_90 NVRTC 13.0 200 12.5|cubin sm_90 NVRTC 13.0 abc 100 12.5|");

    qn_key key = scratch_key(1);
    char prefix[6] = "";
    memcpy(prefix, key.hex, 5);
    visited some = {0};
    cr_assert_eq(qn_store_visit(store, prefix, visit, &some), QUERN_OK);
    cr_expect_eq(some.count, 1);
    cr_expect_eq(qn_store_visit(store, "xyz", visit, &some), QUERN_ERROR_INVALID_ARGUMENT);
    cr_expect_eq(qn_store_visit(store, "000000000000000000000000000000000", visit, &some),
                 QUERN_ERROR_INVALID_ARGUMENT);
    qn_key_free(&key);

    visited first = {.stop_after = 1};
    cr_assert_eq(qn_store_visit(store, "", visit, &first), QUERN_OK);
    cr_expect_eq(first.count, 1);
    visited clearing = {.store = store};
    cr_assert_eq(qn_store_visit(store, NULL, visit, &clearing), QUERN_OK);
    cr_expect_eq(clearing.count, 1, "the others are gone");
    qn_store_close(store);
}

Test(store, clear)
{
    qn_store *store = scratch_store(scratch, 0);
    for (int k = 0; k < 100; k++) {
        scratch_put(store, k, 20000, "abc");
    }
    uint64_t before = scratch_stats(store).file_bytes, removed = 0;
    cr_assert_eq(qn_store_clear(store, &removed), QUERN_OK);
    cr_expect_eq(removed, 100);
    quern_cache_stats stats = scratch_stats(store);
    cr_expect_eq(stats.entries + stats.bytes, 0);
    cr_expect_lt(stats.file_bytes, before / 10);
    cr_expect_not(scratch_get(store, 1, 20000, "abc"));
    scratch_put(store, 1, 20000, "abc");
    cr_expect(scratch_get(store, 1, 20000, "abc"));
    qn_store_close(store);
}

Test(store, two_stores_of_one_folder)
{
    qn_store *one = scratch_store(scratch, 0), *two = scratch_store(scratch, 0);
    scratch_put(one, 1, 100, "abc");
    cr_expect(scratch_get(two, 1, 100, "abc"));
    scratch_put(two, 1, 100, "abc");
    scratch_put(two, 2, 100, "abc");
    cr_expect(scratch_get(one, 2, 100, "abc"));
    cr_expect_eq(scratch_stats(one).entries, 2);
    qn_store_close(one);
    qn_store_close(two);
}

/* What happens to a file under a process that has it open. */
static const char *const losses[] = {
    "mv %s/" QN_CACHE_FILE " %s/aside; rm -f %s/" QN_CACHE_FILE "-*", "rm %s/" QN_CACHE_FILE "*",
    "rm -r %s #", /* the folder, too */
};

Test(store, a_file_that_lost_its_name_is_left)
{
    for (size_t k = 0; k < QN_COUNT(losses); k++) {
        qn_store *one = scratch_store(scratch, 0);
        scratch_put(one, 1, 100, "abc");
        char command[400];
        snprintf(command, sizeof command, losses[k], scratch, scratch, scratch);
        cr_assert_eq(system(command), 0);
        cr_expect_not(scratch_get(one, 1, 100, "abc"), "%s", command);
        scratch_put(one, 2, 100, "abc");
        qn_store *two = scratch_store(scratch, 0);
        cr_expect(scratch_get(two, 2, 100, "abc"), "what the first keeps, all find: %s", command);
        scratch_put(two, 3, 100, "abc");
        cr_expect(scratch_get(one, 3, 100, "abc"));
        cr_expect_eq(scratch_stats(one).faults, 0);
        qn_store_close(one);
        qn_store_close(two);
    }
    cr_expect_eq(warnings, 0, "%s", last_warning);
}

/* ---- some keys of many ---------------------------------------------------------------------- */

static uint64_t count_of(qn_store *store, const char *prefix)
{
    qn_key_range range;
    qn_row_ids ids = {0};
    cr_assert_eq(qn_store_prefix(&range, prefix), QUERN_OK, "%s", prefix);
    cr_assert_eq(qn_store_ids(store, &range, &ids), QUERN_OK);
    for (uint32_t k = 1; k < ids.count; k++) {
        cr_expect_lt(ids.items[k - 1], ids.items[k], "in the order in which they were put");
    }
    qn_free(ids.items);
    return ids.count;
}

Test(store, keys_by_their_first_digits)
{
    qn_store *store = scratch_store(scratch, 0);
    uint64_t sums[3] = {0};
    qn_key_range range;
    for (int k = 0; k < 300; k++) {
        scratch_put(store, k, 100, "abc");
    }
    for (int k = 0; k < 256; k++) {
        char digits[3];
        snprintf(digits, sizeof digits, k % 2 ? "%02X" : "%02x", (unsigned)k);
        sums[2] += count_of(store, digits);
        digits[1] = '\0';
        sums[1] += k % 16 == 0 ? count_of(store, digits) : 0;
    }
    cr_expect_eq(sums[1], 300);
    cr_expect_eq(sums[2], 300);
    cr_expect_eq(count_of(store, ""), 300);
    cr_expect_eq(count_of(store, NULL), 300);
    qn_key key = scratch_key(7);
    for (size_t length = 12; length <= 32; length++) {
        char digits[33];
        snprintf(digits, sizeof digits, "%.*s", (int)length, key.hex);
        cr_expect_eq(count_of(store, digits), 1, "%s", digits);
    }
    qn_key_free(&key);
    static const char *const bad[] = {"x", "12g", " 1", "0123456789abcdef0123456789abcdef0"};
    for (size_t k = 0; k < QN_COUNT(bad); k++) {
        const quern_export_options o = {.key_prefix = bad[k]};
        uint64_t written;
        cr_expect_eq(qn_store_prefix(&range, bad[k]), QUERN_ERROR_INVALID_ARGUMENT, "%s", bad[k]);
        cr_expect_eq(qn_store_visit(store, bad[k], visit, NULL), QUERN_ERROR_INVALID_ARGUMENT);
        cr_expect_eq(qn_store_export(store, scratch_path("x.qpack"), &o, &written),
                     QUERN_ERROR_INVALID_ARGUMENT);
    }
    cr_expect_neq(access(scratch_path("x.qpack"), F_OK), 0);
    qn_store_close(store);
}

static int note_plan(void *context, int count, char **values, char **names)
{
    (void)names;
    strncat(context, count > 3 && values[3] ? values[3] : "", 300);
    return 0;
}

Test(store, a_key_is_found_by_the_index)
{
    char plan[1000] = "", sql[1000];
    sqlite3 *db;
    qn_store *store = scratch_store(scratch, 0);
    scratch_put(store, 1, 100, "abc");
    qn_store_close(store);
    const qn_str text = qn_sql_text("LIST_RANGE");
    snprintf(sql, sizeof sql, "EXPLAIN QUERY PLAN %.*s", (int)text.length, text.data);
    sqlite3_open(scratch_path(QN_CACHE_FILE), &db);
    cr_assert_eq(sqlite3_exec(db, sql, note_plan, plan, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
    cr_expect(strstr(plan, "SEARCH image USING"), "%s", plan);
}

/* ---- packs into a database ------------------------------------------------------------------ */

Test(store, an_import_that_cannot_be_kept_fails)
{
    char pack[200];
    uint64_t count;
    snprintf(pack, sizeof pack, "%s", scratch_path("three.qpack"));
    qn_store *store = scratch_store(scratch_path("from"), 0);
    for (int k = 0; k < 3; k++) {
        scratch_put(store, k, 100, "abc");
    }
    cr_assert_eq(qn_store_export(store, pack, &(quern_export_options){.level = -1}, &count),
                 QUERN_OK);
    cr_assert_eq(count, 3);
    qn_store_close(store);
    store = scratch_store(scratch_path("to"), 0);
    scratch_put(store, 100, 100, "abc");
    store->read_only = true;
    cr_expect_eq(qn_store_import(store, pack, &count), QUERN_ERROR_CACHE);
    cr_expect_eq(count, 0);
    cr_expect(strstr(quern_last_error()->message, "cannot be written"), "%s",
              quern_last_error()->message);
    store->read_only = false;
    cr_assert_eq(qn_store_import(store, pack, &count), QUERN_OK);
    cr_expect_eq(count, 3);
    cr_assert_eq(qn_store_import(store, pack, &count), QUERN_OK);
    cr_expect_eq(count, 0, "they are there");
    uint64_t removed;
    cr_assert_eq(qn_store_clear(store, &removed), QUERN_OK);
    sqlite3 *db;
    sqlite3_open(scratch_path("to/" QN_CACHE_FILE), &db);
    cr_assert_eq(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    cr_expect_eq(qn_store_import(store, pack, &count), QUERN_ERROR_CACHE, "another has it locked");
    cr_expect_eq(count, 0);
    sqlite3_close(db);
    qn_store_close(store);
    store = scratch_store(scratch_path("small"), 1);
    cr_assert_eq(qn_store_import(store, pack, &count), QUERN_OK, "each is larger than the limit");
    cr_expect_eq(count, 0);
    qn_store_close(store);
}

/* ---- groups with many members --------------------------------------------------------------- */

/* Instead of the C library's: a group whose members take 100,000 bytes. */
int getgrnam_r(const char *name, struct group *out, char *texts, size_t size, struct group **found)
{
    (void)texts;
    *found = NULL;
    if (strcmp(name, "unreachable") == 0) {
        return EIO;
    }
    if (strcmp(name, "large") != 0) {
        return 0;
    }
    if (size < 100000) {
        return ERANGE;
    }
    *out = (struct group){.gr_gid = getegid()};
    *found = out;
    return 0;
}

Test(store, groups_with_many_members)
{
    setenv("QUERN_CACHE_GROUP", "large", 1);
    qn_store *store = scratch_store(scratch, 0);
    cr_expect_str_eq(qn_store_problem(store), "");
    cr_expect(store->shared && store->group == getegid());
    qn_store_close(store);
    setenv("QUERN_CACHE_GROUP", "none", 1);
    store = scratch_store(scratch, 0);
    cr_expect(strstr(qn_store_problem(store), "no such group"), "%s", qn_store_problem(store));
    qn_store_close(store);
    setenv("QUERN_CACHE_GROUP", "unreachable", 1);
    store = scratch_store(scratch, 0);
    cr_expect(strstr(qn_store_problem(store), "cannot be looked up"), "%s",
              qn_store_problem(store));
    qn_store_close(store);
}

Test(store, every_piece_of_sql_is_there)
{
    static const char *const names[] = {
#define NAME(name) #name,
        QN_SQL_MAP(NAME)
#undef NAME
            "SETTINGS",
        "JOURNAL_LOCAL",
        "JOURNAL_NETWORK",
        "CREATE",
        "CLEAR",
        "SHRINK",
        "EMPTY_JOURNAL",
        "LOOK_AT_JOURNAL"};
    for (size_t k = 0; k < QN_COUNT(names); k++) {
        cr_expect_gt(qn_sql_text(names[k]).length, 5, "%s", names[k]);
    }
    cr_expect_eq(qn_sql_text("NO_SUCH").length, 0);
}
