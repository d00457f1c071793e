/* SPDX-License-Identifier: MIT
 *
 * What the tests of the store share: a folder of their own with files in it, keys and images by
 * number, and a log that counts warnings.
 */
#ifndef QN_TESTS_CACHE_SCRATCH_H
#define QN_TESTS_CACHE_SCRATCH_H

#include "cache/store.h"

#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch[] = "/dev/shm/quern-test-XXXXXX"; /* in memory: a disk only makes it slow */
static int warnings;
static char last_warning[1000];

static inline int scratch_remove(const char *path, const struct stat *facts, int flag,
                                 struct FTW *walk)
{
    (void)facts, (void)flag, (void)walk;
    return remove(path);
}

static inline void scratch_make(void)
{
    if (!mkdtemp(scratch)) {
        snprintf(scratch, sizeof scratch, "/tmp/quern-test-XXXXXX");
        if (!mkdtemp(scratch)) {
            abort();
        }
    }
}

static inline void scratch_delete(void)
{
    nftw(scratch, scratch_remove, 20, FTW_DEPTH | FTW_PHYS);
}

static inline const char *scratch_path(const char *name)
{
    static char path[8][200];
    static int turn;
    turn = (turn + 1) % 8;
    snprintf(path[turn], sizeof path[turn], "%s/%s", scratch, name);
    return path[turn];
}

/* Write a file below the folder, and make the folders that it is in. */
static inline void scratch_write(const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s", scratch_path(name));
    for (char *p = path + strlen(scratch) + 1; *p; p++) {
        if (*p == '/') {
            *p = '\0';
            mkdir(path, 0700);
            *p = '/';
        }
    }
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) {
        abort();
    }
}

static inline void count_warnings(void *context, const char *level, const char *message)
{
    (void)context;
    if (strcmp(level, "warn") == 0) {
        warnings++;
        snprintf(last_warning, sizeof last_warning, "%s", message);
    }
}

static inline qn_store *scratch_store(const char *folder, uint64_t limit)
{
    qn_logger logger = {count_warnings, NULL};
    qn_store *store;
    if (qn_store_open(&store, folder, limit, &logger) != QUERN_OK) {
        abort();
    }
    return store;
}

static inline qn_key scratch_key(int number)
{
    char source[64];
    snprintf(source, sizeof source, "__global__ void k%d() {}", number);
    qn_key_fields fields = {.source = source, .arch = 90, .kind = QN_IMAGE_CUBIN};
    qn_key key;
    if (qn_key_make(&key, &fields) != QUERN_OK) {
        abort();
    }
    return key;
}

/* An image of `size` bytes, whose content follows from `number`. */
static inline qn_image scratch_image(int number, size_t size)
{
    qn_image image = {.kind = QN_IMAGE_CUBIN, .size = size, .data = qn_alloc(size + 1)};
    for (size_t k = 0; k < size; k++) {
        image.data[k] = (char)(number * 31 + (int)k * 7);
    }
    image.lowered = qn_calloc(2, sizeof *image.lowered);
    image.lowered[0] = qn_strdup("_Z1kIfEvPT_");
    image.lowered[1] = qn_strdup("c");
    image.lowered_count = 2;
    image.log = qn_strdup("");
    image.compile_ms = 12.5;
    return image;
}

static inline void scratch_put(qn_store *store, int number, size_t size, const char *compiler)
{
    qn_key key = scratch_key(number);
    qn_image image = scratch_image(number, size);
    qn_store_row row = {"k", compiler, "NVRTC 13.0", 90};
    qn_store_put(store, &key, &image, &row);
    qn_image_free(&image);
    qn_key_free(&key);
}

/* Look up; a hit whose image is wrong aborts the test. */
static inline bool scratch_get(qn_store *store, int number, size_t size, const char *compiler)
{
    qn_key key = scratch_key(number);
    qn_image wanted = scratch_image(number, size), image;
    bool hit = qn_store_get(store, &key, compiler, &image);
    if (hit && (image.size != size || memcmp(image.data, wanted.data, size) != 0 ||
                image.kind != QN_IMAGE_CUBIN || image.lowered_count != 2 ||
                strcmp(image.lowered[0], "_Z1kIfEvPT_") != 0 || image.data[size] != '\0')) {
        fprintf(stderr, "the cache gave a wrong image for %d\n", number);
        abort();
    }
    qn_image_free(&image);
    qn_image_free(&wanted);
    qn_key_free(&key);
    return hit;
}

static inline quern_cache_stats scratch_stats(qn_store *store)
{
    quern_cache_stats stats = {.size = sizeof stats};
    qn_store_stats(store, &stats);
    return stats;
}

/* Run SQL on the database beside the store. */
static inline bool scratch_sql(const char *sql)
{
    sqlite3 *db = NULL;
    char *error = NULL;
    sqlite3_open(scratch_path(QN_CACHE_FILE), &db);
    sqlite3_busy_timeout(db, 5000);
    int code = sqlite3_exec(db, sql, NULL, NULL, &error);
    if (code != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, error);
    }
    sqlite3_free(error);
    sqlite3_close(db);
    return code == SQLITE_OK;
}

#endif /* QN_TESTS_CACHE_SCRATCH_H */
