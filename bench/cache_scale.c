/* SPDX-License-Identifier: MIT
 *
 * The cache beside a directory of files, with as many entries as a fleet may have.
 *
 *     cache_scale FOLDER [ROWS...]        1000 100000 unless said otherwise
 *
 * FOLDER is made, and emptied at the end. For each number of rows, of 2,000 bytes each (800 of
 * material, 1,200 of image), in microseconds unless the name says otherwise; the cpu_ figures are
 * the time of a processor, without that of other work on the machine:
 *
 * - put: an insertion, the mean of all of them; not of more than 200,000
 * - hit: a look-up of a random row by a process that has the cache open: median, 99.9th percentile
 * - evict: a put into a full cache, which removes rows until 10 % are gone: median, 99th
 * percentile, greatest; and the time of all those puts together, in ms. Once as fast as they go,
 * and once, of another tenth, with 20 ms before each, which any compilation takes, beside as much
 * mere computing as often: what the machine adds by itself; not of more than 200,000
 * - bytes: what the files take on the disk
 *
 * The other is CuPy's scheme: a file for each entry, named by its key in hexadecimal digits,
 * written under another name and renamed, with a checksum at its beginning that is compared when it
 * is read. It has no limit: `evict` is a walk over all files by their times, and the removal.
 */
#include "bench.h"
#include "cache/store.h"

#define XXH_INLINE_ALL
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#define MATERIAL_BYTES 700 /* of source; the other fields of the key take 100 */
#define IMAGE_BYTES    1200
#define HITS           50000
#define MOST_PUTS      200000 /* beyond that both are filled at once */
#define MAKERS         4
#define COMPILE_US     20000
#define COMPILER       "65be0db342ad51a06876e71e210bccc5aa8322cf"

static char data[IMAGE_BYTES];

static void print(const char *peer, const char *what, int rows, const char *metric, double value)
{
    char name[64];
    snprintf(name, sizeof name, "%s, %d rows", what, rows);
    bench_print("cache_scale", peer, name, metric, value);
}

static void make_key(qn_key *key, int number)
{
    char source[MATERIAL_BYTES];
    memset(source, ' ', sizeof source);
    int length = snprintf(source, sizeof source, "__global__ void k%d() {}", number);
    source[length] = ' ';
    source[sizeof source - 1] = '\0';
    qn_key_fields fields = {.source = source, .arch = 90, .kind = QN_IMAGE_CUBIN};
    bench_check(qn_key_make(key, &fields));
}

static void must(bool fine, const char *what)
{
    if (!fine) {
        perror(what);
        exit(1);
    }
}

/* What this thread took of a processor: other work on the machine is not in it. */
static double cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* ---- the two stores ------------------------------------------------------------------------- */

typedef struct peer {
    const char *name;
    void (*put)(void *context, const qn_key *key);
    bool (*get)(void *context, const qn_key *key);
    void *context;
} peer;

static void store_put(void *context, const qn_key *key)
{
    qn_image image = {.kind = QN_IMAGE_CUBIN, .data = data, .size = sizeof data};
    qn_store_row row = {"k", COMPILER, "NVRTC 13.0", 90};
    qn_store_put(context, key, &image, &row);
}

static bool store_get(void *context, const qn_key *key)
{
    qn_image image;
    bool hit = qn_store_get(context, key, COMPILER, &image);
    qn_image_free(&image);
    return hit;
}

static void file_name(char *out, size_t size, const char *folder, const qn_key *key)
{
    snprintf(out, size, "%s/%s.cubin", folder, key->hex);
}

static void file_put(void *context, const qn_key *key)
{
    char path[300], other[320];
    file_name(path, sizeof path, context, key);
    snprintf(other, sizeof other, "%s.tmp", path);
    XXH128_hash_t hash = XXH3_128bits(data, sizeof data);
    int file = open(other, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    must(file >= 0 && write(file, &hash, sizeof hash) == sizeof hash &&
             write(file, data, sizeof data) == sizeof data && close(file) == 0 &&
             rename(other, path) == 0,
         path);
}

static bool file_get(void *context, const qn_key *key)
{
    char path[300], image[sizeof(XXH128_hash_t) + IMAGE_BYTES];
    XXH128_hash_t stored;
    file_name(path, sizeof path, context, key);
    int file = open(path, O_RDONLY);
    struct stat facts;
    bool fine = file >= 0 && fstat(file, &facts) == 0 &&
                read(file, image, sizeof image) == (ssize_t)sizeof image;
    memcpy(&stored, image, sizeof stored);
    close(file);
    return fine && XXH128_isEqual(XXH3_128bits(image + sizeof stored, IMAGE_BYTES), stored);
}

/* ---- what is measured ----------------------------------------------------------------------- */

static void measure_puts(const peer *p, int rows)
{
    double sum = 0;
    for (int k = 0; k < rows; k++) {
        qn_key key;
        make_key(&key, k);
        double began = bench_now_us();
        p->put(p->context, &key);
        sum += bench_now_us() - began;
        qn_key_free(&key);
    }
    print(p->name, "put", rows, "mean_us", sum / rows);
}

static void measure_hits(const peer *p, int rows, double *times)
{
    double *cpu = times + HITS;
    for (int k = 0; k < HITS; k++) {
        qn_key key;
        make_key(&key, rand() % rows);
        double began = bench_now_us(), cpu_began = cpu_us();
        must(p->get(p->context, &key), "a row is missing");
        cpu[k] = cpu_us() - cpu_began;
        times[k] = bench_now_us() - began;
        qn_key_free(&key);
    }
    double median = bench_median(times, HITS);
    print(p->name, "hit", rows, "median_us", median);
    print(p->name, "hit", rows, "p999_us", times[HITS - 1 - HITS / 1000]);
    print(p->name, "hit", rows, "cpu_median_us", bench_median(cpu, HITS));
    print(p->name, "hit", rows, "cpu_p999_us", cpu[HITS - 1 - HITS / 1000]);
}

/* Put many rows in a few transactions, which takes seconds in place of minutes. */
static void fill_at_once(qn_store *store, int rows)
{
    sqlite3_stmt *small, *large;
    must(qn_store_connect(store), "connect");
    for (int k = 0; k < rows; k++) {
        qn_key key;
        unsigned char stored[16], checksum[16];
        make_key(&key, k);
        if (k % 20000 == 0) {
            sqlite3_exec(store->db, k == 0 ? "BEGIN" : "COMMIT; BEGIN", NULL, NULL, NULL);
        }
        const qn_str material = {key.material, key.material_size};
        qn_row_key(stored, &key);
        qn_row_checksum(checksum, stored, qn_str_of(COMPILER), QN_IMAGE_CUBIN, 90, material,
                        (qn_str){"", 0}, (qn_str){data, sizeof data});
        small = qn_store_statement(store, QN_SQL_ADD_IMAGE);
        large = qn_store_statement(store, QN_SQL_ADD_PAYLOAD);
        sqlite3_bind_blob(small, 1, stored, sizeof stored, SQLITE_STATIC);
        sqlite3_bind_text(small, 2, COMPILER, -1, SQLITE_STATIC);
        sqlite3_bind_text(small, 3, "NVRTC 13.0", -1, SQLITE_STATIC);
        sqlite3_bind_int(small, 4, QN_IMAGE_CUBIN);
        sqlite3_bind_int(small, 5, 90);
        sqlite3_bind_blob(small, 6, checksum, sizeof checksum, SQLITE_STATIC);
        sqlite3_bind_text(small, 7, "k", -1, SQLITE_STATIC);
        sqlite3_bind_double(small, 8, 0);
        sqlite3_bind_int(small, 9, QN_PAGE);
        sqlite3_bind_int64(small, 10, qn_now_seconds());
        must(qn_store_run(small, NULL) == SQLITE_OK, "insert");
        sqlite3_bind_blob(large, 1, key.material, (int)key.material_size, SQLITE_STATIC);
        sqlite3_bind_blob(large, 2, "", 0, SQLITE_STATIC);
        sqlite3_bind_blob(large, 3, data, sizeof data, SQLITE_STATIC);
        must(qn_store_run(large, NULL) == SQLITE_OK, "insert");
        qn_key_free(&key);
    }
    sqlite3_exec(store->db, "COMMIT", NULL, NULL, NULL);
}

/* The same for files: several processes make them. */
static void make_files_at_once(void *folder, int rows)
{
    pid_t children[MAKERS];
    for (int c = 0; c < MAKERS; c++) {
        children[c] = fork();
        for (int k = c; children[c] == 0 && k < rows; k += MAKERS) {
            qn_key key;
            make_key(&key, k);
            file_put(folder, &key);
            qn_key_free(&key);
        }
        if (children[c] == 0) {
            _exit(0);
        }
    }
    for (int c = 0; c < MAKERS; c++) {
        waitpid(children[c], NULL, 0);
    }
}

static void print_times(const char *peer, const char *what, int rows, double *times, int count)
{
    print(peer, what, rows, "median_us", bench_median(times, (size_t)count));
    print(peer, what, rows, "p99_us", times[count - 1 - count / 100]);
    print(peer, what, rows, "greatest_us", times[count - 1]);
}

/* As much computing as a put takes, as often: how long this machine makes that wait at worst. */
static void measure_floor(int rows, double work_us, unsigned pause_us, double *times, int count)
{
    for (int k = 0; k < count; k++) {
        usleep(pause_us);
        const double began = bench_now_us(), until = cpu_us() + work_us;
        while (cpu_us() < until) {
        }
        times[k] = bench_now_us() - began;
    }
    print_times("floor", "computing for a put's time", rows, times, count);
}

/* The cache is full: puts go on until a tenth of it is gone. */
static void measure_eviction(const char *folder, int rows, const char *what, unsigned pause_us,
                             double *times)
{
    static int first; /* key that is not there yet, but for those of `rows` */
    qn_store *store;
    quern_cache_stats stats = {.size = sizeof stats};
    bench_check(qn_store_open(&store, folder, INT64_MAX, NULL));
    bench_check(qn_store_stats(store, &stats));
    qn_store_close(store);
    bench_check(qn_store_open(&store, folder, stats.bytes * 100 / 90, NULL));
    store->limit = stats.bytes;
    sync(); /* what was put before is not to be written now */
    int count = 0;
    double sum = 0, *cpu = times + HITS;
    for (uint64_t removed = 0; removed < (uint64_t)rows / 10 && count < HITS; count++) {
        qn_key key;
        make_key(&key, rows + first++);
        usleep(pause_us);
        double began = bench_now_us(), cpu_began = cpu_us();
        store_put(store, &key);
        cpu[count] = cpu_us() - cpu_began;
        times[count] = bench_now_us() - began;
        sum += times[count];
        qn_key_free(&key);
        removed = store->tally[QN_TALLY_EVICTED];
    }
    qn_store_close(store);
    print("quern", what, rows, "count", count);
    print("quern", what, rows, "sum_ms", sum / 1e3);
    print_times("quern", what, rows, times, count);
    print("quern", what, rows, "cpu_median_us", bench_median(cpu, (size_t)count));
    print("quern", what, rows, "cpu_p99_us", cpu[count - 1 - count / 100]);
    print("quern", what, rows, "cpu_greatest_us", cpu[count - 1]);
    if (pause_us > 0) {
        measure_floor(rows, bench_median(cpu, (size_t)count), pause_us, times, count);
    }
}

typedef struct old_file {
    int64_t time;
    char name[48];
} old_file;

static int compare_files(const void *a, const void *b)
{
    int64_t x = ((const old_file *)a)->time, y = ((const old_file *)b)->time;
    return (x > y) - (x < y);
}

static void measure_file_eviction(const char *folder, int rows)
{
    double began = bench_now_us();
    old_file *files = calloc((size_t)rows + 1, sizeof *files);
    int count = 0;
    char path[600];
    DIR *all = opendir(folder);
    must(all && files, folder);
    for (struct dirent *e; (e = readdir(all)) && count < rows;) {
        struct stat facts;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.' && stat(path, &facts) == 0) {
            files[count].time = (int64_t)facts.st_mtim.tv_sec * 1000000000 + facts.st_mtim.tv_nsec;
            snprintf(files[count++].name, sizeof files[0].name, "%.47s", e->d_name);
        }
    }
    closedir(all);
    qsort(files, (size_t)count, sizeof *files, compare_files);
    for (int k = 0; k < count / 10; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[k].name);
        unlink(path);
    }
    free(files);
    print("files", "evict 10 %, all at once", rows, "ms", (bench_now_us() - began) / 1e3);
}

static double disk_bytes(const char *folder)
{
    double sum = 0;
    char path[600];
    DIR *all = opendir(folder);
    must(all != NULL, folder);
    for (struct dirent *e; (e = readdir(all));) {
        struct stat facts;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        sum += stat(path, &facts) == 0 && strcmp(e->d_name, "..") != 0
                   ? (double)facts.st_blocks * 512
                   : 0;
    }
    closedir(all);
    return sum;
}

static void remove_folder(const char *folder)
{
    char path[600];
    DIR *all = opendir(folder);
    for (struct dirent *e; all && (e = readdir(all));) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        unlink(path);
    }
    if (all) {
        closedir(all);
    }
    rmdir(folder);
}

static void measure(const char *folder, int rows, double *times)
{
    char database[300], files[300];
    qn_store *store;
    snprintf(database, sizeof database, "%s/database", folder);
    snprintf(files, sizeof files, "%s/files", folder);
    bench_check(qn_store_open(&store, database, INT64_MAX, NULL));
    must(mkdir(files, 0700) == 0, files);
    const peer peers[] = {{"quern", store_put, store_get, store},
                          {"files", file_put, file_get, files}};
    for (size_t k = 0; k < QN_COUNT(peers); k++) {
        if (rows > MOST_PUTS && k == 0) {
            fill_at_once(store, rows);
        } else if (rows > MOST_PUTS) {
            make_files_at_once(files, rows);
        } else {
            measure_puts(&peers[k], rows);
        }
        measure_hits(&peers[k], rows, times);
    }
    qn_store_close(store);
    print("quern", "bytes", rows, "bytes", disk_bytes(database));
    print("files", "bytes", rows, "bytes", disk_bytes(files));
    if (rows <= MOST_PUTS) {
        measure_eviction(database, rows, "evict 10 %, puts one after another", 0, times);
        measure_eviction(database, rows, "evict 10 %, a put every 20 ms", COMPILE_US, times);
        measure_file_eviction(files, rows);
    }
    remove_folder(database);
    remove_folder(files);
}

int main(int count, char **arguments)
{
    if (count < 2) {
        fprintf(stderr, "usage: cache_scale FOLDER [ROWS...]\n");
        return 2;
    }
    double *times = calloc(2 * HITS, sizeof *times);
    must(times && mkdir(arguments[1], 0700) == 0, arguments[1]);
    for (size_t k = 0; k < sizeof data; k++) {
        data[k] = (char)(k * k);
    }
    if (count == 2) {
        measure(arguments[1], 1000, times);
        measure(arguments[1], 100000, times);
    }
    for (int k = 2; k < count; k++) {
        measure(arguments[1], atoi(arguments[k]), times);
    }
    rmdir(arguments[1]);
    free(times);
    return 0;
}
