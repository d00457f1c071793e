/* SPDX-License-Identifier: MIT
 *
 * What a hit on disk costs, with many rows.
 *
 *     cache_hit FOLDER [ROWS [BYTES]]
 *
 * FOLDER is filled once, with 100,000 rows of 6,000 bytes unless said otherwise, and may be used
 * again. One line for each number: median and 99th percentile, in microseconds. Compare `hit` with
 * `select`.
 *
 * - hit: a look-up in a process that has the database open, of a random row
 * - first: open, first look-up and close, as a new process does (the file is in the page cache)
 * - first_hit: the part of first until the image is there
 * - select: the same row by a bare prepared SELECT of SQLite by rowid: the floor of hit
 * - resident: memory of the process after opening and one hit, and after all of it, in KiB
 */
#include "bench.h"
#include "cache/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MATERIAL_BYTES 4000 /* of source and headers in a key */
#define HITS           20000
#define OPENS          200

static int row_count;

static void report(const char *peer, const char *what, double *times, int count)
{
    char name[64];
    snprintf(name, sizeof name, "%s, %d rows", what, row_count);
    bench_print("cache_hit", peer, name, "median_us", bench_median(times, (size_t)count));
    bench_print("cache_hit", peer, name, "p99_us", times[count - 1 - count / 100]);
}

static long resident_kib(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long total = 0, pages = 0;
    if (file) {
        if (fscanf(file, "%ld %ld", &total, &pages) != 2) {
            pages = 0;
        }
        fclose(file);
    }
    return pages * 4;
}

static void make_key(qn_key *key, int number)
{
    char source[MATERIAL_BYTES];
    memset(source, ' ', sizeof source);
    int length = snprintf(source, sizeof source, "__global__ void k%d() {}", number);
    source[length] = ' ';
    source[sizeof source - 1] = '\0';
    qn_key_fields fields = {.source = source, .arch = 90, .kind = QN_IMAGE_CUBIN};
    if (qn_key_make(key, &fields) != QUERN_OK) {
        exit(1);
    }
}

static void fill(qn_store *store, int rows, size_t bytes)
{
    quern_cache_stats stats = {.size = sizeof stats};
    if (qn_store_stats(store, &stats) != QUERN_OK) {
        fprintf(stderr, "%s", quern_last_error_text());
        exit(1);
    }
    double began = bench_now_us();
    char *data = calloc(1, bytes);
    for (int k = (int)stats.entries; k < rows; k++) {
        qn_key key;
        make_key(&key, k);
        snprintf(data, bytes, "image %d", k);
        qn_image image = {.kind = QN_IMAGE_CUBIN, .data = data, .size = bytes};
        qn_store_row row = {"k", "65be0db342ad51a06876e71e210bccc5aa8322cf", "NVRTC 13.0", 90};
        qn_store_put(store, &key, &image, &row);
        qn_key_free(&key);
    }
    free(data);
    int added = rows - (int)stats.entries;
    if (added > 0) {
        bench_print("cache_hit", "quern", "put", "mean_us", (bench_now_us() - began) / added);
    }
}

static void get(qn_store *store, const qn_key *key)
{
    qn_image image;
    if (!qn_store_get(store, key, "65be0db342ad51a06876e71e210bccc5aa8322cf", &image)) {
        fprintf(stderr, "a row is missing: %s\n", qn_store_problem(store));
        exit(1);
    }
    qn_image_free(&image);
}

static void time_hits(qn_store *store, int rows, double *times)
{
    for (int k = 0; k < HITS; k++) {
        qn_key key;
        make_key(&key, rand() % rows);
        double began = bench_now_us();
        get(store, &key);
        times[k] = bench_now_us() - began;
        qn_key_free(&key);
    }
    report("quern", "hit", times, HITS);
}

static void time_first(const char *folder, int rows, double *times, double *hits)
{
    for (int k = 0; k < OPENS; k++) {
        qn_key key;
        make_key(&key, rand() % rows);
        double began = bench_now_us();
        qn_store *store;
        if (qn_store_open(&store, folder, UINT64_MAX, NULL) != QUERN_OK) {
            exit(1);
        }
        get(store, &key);
        hits[k] = bench_now_us() - began;
        qn_store_close(store);
        times[k] = bench_now_us() - began;
        qn_key_free(&key);
    }
    report("quern", "first", times, OPENS);
    report("quern", "first_hit", hits, OPENS);
}

static void time_select(const char *path, int rows, double *times)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    sqlite3_prepare_v2(db, "SELECT image FROM payload WHERE id = ?1", -1, &row, NULL);
    for (int k = 0; k < HITS; k++) {
        double began = bench_now_us();
        sqlite3_bind_int(row, 1, 1 + rand() % rows);
        if (sqlite3_step(row) != SQLITE_ROW || !sqlite3_column_blob(row, 0)) {
            exit(1);
        }
        sqlite3_reset(row);
        times[k] = bench_now_us() - began;
    }
    sqlite3_finalize(row);
    sqlite3_close(db);
    report("sqlite", "select", times, HITS);
}

int main(int count, char **arguments)
{
    if (count < 2) {
        fprintf(stderr, "usage: cache_hit FOLDER [ROWS [BYTES]]\n");
        return 2;
    }
    int rows = count > 2 ? atoi(arguments[2]) : 100000;
    size_t bytes = count > 3 ? (size_t)atoi(arguments[3]) : 6000;
    row_count = rows;
    double *times = calloc(HITS, sizeof *times), *hits = calloc(OPENS, sizeof *hits);
    qn_store *store;
    if (rows < 1 || bytes < 32 || !times || !hits ||
        qn_store_open(&store, arguments[1], INT64_MAX, NULL) != QUERN_OK) {
        return 1;
    }
    fill(store, rows, bytes);
    qn_store_close(store);

    time_first(arguments[1], rows, times, hits);
    bench_print("cache_hit", "quern", "after first hits", "resident_kib", (double)resident_kib());
    if (qn_store_open(&store, arguments[1], INT64_MAX, NULL) != QUERN_OK) {
        return 1;
    }
    time_hits(store, rows, times);
    bench_print("cache_hit", "quern", "after hits", "resident_kib", (double)resident_kib());
    time_select(qn_store_path(store), rows, times);
    qn_store_close(store);
    free(times);
    free(hits);
    return 0;
}
