/* SPDX-License-Identifier: MIT
 *
 * images: compiled images of this process, shared by its engines, so that several GPUs of one kind
 * compile once and a kernel that is defined again needs no look-up on disk. In: a key and the
 * compiler's identity. Out: a copy of the image. The table lives while any engine does, and forgets
 * the oldest when it has grown large, so that a program may make modules for ever.
 */
#include "engine/engine_internal.h"
#include <string.h>

typedef struct entry {
    struct entry *next;  /* in its bucket */
    struct entry *newer; /* in the order in which they came */
    uint64_t hash[2];
    char *compiler;
    qn_image image;
} entry;

#define BUCKETS    256
#define MOST_BYTES (64u << 20) /* of images: some thousands */

static struct {
    pthread_mutex_t lock;
    unsigned engines;
    entry *buckets[BUCKETS];
    entry *oldest, *newest;
    size_t bytes;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void entry_free(entry *e)
{
    qn_image_free(&e->image);
    qn_free(e->compiler);
    qn_free(e);
}

void qn_images_enter(void)
{
    pthread_mutex_lock(&table.lock);
    table.engines++;
    pthread_mutex_unlock(&table.lock);
}

void qn_images_leave(void)
{
    pthread_mutex_lock(&table.lock);
    if (--table.engines == 0) {
        for (unsigned b = 0; b < BUCKETS; b++) {
            for (entry *e = table.buckets[b], *next; e; e = next) {
                next = e->next;
                entry_free(e);
            }
            table.buckets[b] = NULL;
        }
        table.oldest = table.newest = NULL;
        table.bytes = 0;
    }
    pthread_mutex_unlock(&table.lock);
}

static bool image_copy(qn_image *to, const qn_image *from)
{
    memset(to, 0, sizeof *to);
    to->kind = from->kind;
    to->size = from->size;
    to->compile_ms = from->compile_ms;
    to->data = qn_alloc(from->size + 1);
    to->log = qn_strdup(from->log ? from->log : "");
    to->lowered = qn_calloc(from->lowered_count + 1, sizeof *to->lowered);
    bool ok = to->data && to->log && to->lowered;
    for (size_t k = 0; ok && k < from->lowered_count; k++) {
        to->lowered[k] = qn_strdup(from->lowered[k]);
        to->lowered_count = k + 1;
        ok = to->lowered[k] != NULL;
    }
    if (!ok) {
        qn_image_free(to);
        return false;
    }
    memcpy(to->data, from->data, from->size);
    to->data[from->size] = '\0';
    return true;
}

static entry *find(const qn_key *key, const char *compiler)
{
    entry *e = table.buckets[key->hash[0] % BUCKETS];
    while (e && (e->hash[0] != key->hash[0] || e->hash[1] != key->hash[1] ||
                 strcmp(e->compiler, compiler) != 0)) {
        e = e->next;
    }
    return e;
}

bool qn_images_get(const qn_key *key, const char *compiler, qn_image *out)
{
    pthread_mutex_lock(&table.lock);
    entry *e = find(key, compiler);
    bool found = e && image_copy(out, &e->image);
    pthread_mutex_unlock(&table.lock);
    return found;
}

static void forget_oldest(void)
{
    entry *e = table.oldest;
    entry **link = &table.buckets[e->hash[0] % BUCKETS];
    while (*link != e) {
        link = &(*link)->next;
    }
    *link = e->next;
    table.oldest = e->newer;
    table.bytes -= e->image.size;
    entry_free(e);
}

static void add(entry *e)
{
    entry **bucket = &table.buckets[e->hash[0] % BUCKETS];
    e->next = *bucket;
    *bucket = e;
    *(table.oldest ? &table.newest->newer : &table.oldest) = e;
    table.newest = e;
    table.bytes += e->image.size;
    while (table.bytes > MOST_BYTES && table.oldest != e) {
        forget_oldest();
    }
}

void qn_images_put(const qn_key *key, const char *compiler, const qn_image *image)
{
    entry *e = qn_calloc(1, sizeof *e);
    if (!e) {
        return;
    }
    e->hash[0] = key->hash[0];
    e->hash[1] = key->hash[1];
    e->compiler = qn_strdup(compiler);
    if (!e->compiler || !image_copy(&e->image, image)) {
        entry_free(e);
        return;
    }
    pthread_mutex_lock(&table.lock);
    if (!find(key, compiler)) {
        add(e);
        e = NULL;
    }
    pthread_mutex_unlock(&table.lock);
    if (e) {
        entry_free(e);
    }
}
