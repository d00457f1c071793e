/* SPDX-License-Identifier: MIT
 *
 * Images in a remote store. In: keys and images. Out: values, and back, or a verdict on what came.
 * Beside each image lies its recipe, from which others who have not met this kernel can make it.
 *
 * The entry is without the key material, which who asks has already: only a hash of it goes along,
 * and is compared. Without libsodium there is no such hash, and the key, which is a hash too, has
 * to do; then nothing is signed either.
 */
#include "cache/entry.h"
#include "cache/fleet.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define POLL_LEAST   10 /* ms between looks at what another makes */
#define POLL_MORE    10
#define WAIT_MOST_MS 2000.0

/* ---- images as values ----------------------------------------------------------------------- */

bool qn_remote_write_image(qn_text *out, const qn_key *key, const qn_image *image,
                           const qn_store_row *row)
{
    unsigned char hash[QN_ENTRY_HASH_BYTES];
    (void)qn_hash(hash, key->material, key->material_size);
    return qn_entry_write(out, &(qn_entry_source){.key = key,
                                                  .image = image,
                                                  .row = row,
                                                  .material_hash = hash,
                                                  .without_material = true,
                                                  .level = QN_REMOTE_LEVEL});
}

/* Is it of the same key material? A hash of zeros says nothing: who wrote it had no libsodium. */
static bool is_of_material(const qn_entry *entry, const qn_key *key)
{
    static const unsigned char none[QN_ENTRY_HASH_BYTES];
    unsigned char hash[QN_ENTRY_HASH_BYTES];
    return memcmp(entry->material_hash, none, sizeof none) == 0 ||
           !qn_hash(hash, key->material, key->material_size) ||
           memcmp(entry->material_hash, hash, sizeof hash) == 0;
}

qn_verdict qn_remote_read_image(qn_image *out, const qn_key *key, const char *compiler,
                                qn_str bytes)
{
    qn_entry entry;
    const char *why;
    *out = (qn_image){0};
    if (!qn_entry_read(&entry, bytes, &why)) {
        return QN_NOT_ENTRY;
    }
    if (!compiler || !qn_str_is(entry.compiler, compiler) || !qn_entry_is(&entry, key, compiler) ||
        !is_of_material(&entry, key)) {
        return QN_NOT_ASKED;
    }
    if (!qn_entry_image(out, &entry, key, &why)) {
        return QN_NOT_ENTRY;
    }
    out->compiler = qn_strndup(entry.compiler_text.data, entry.compiler_text.length);
    return QN_SOUND;
}

/* ---- looking one up ------------------------------------------------------------------------- */

typedef struct search {
    qn_remote *remote;
    const qn_key *key;
    const char *name, *compiler;
    qn_image *image;
    bool found;
} search;

static void take(void *context, size_t number, qn_str value)
{
    search *s = context;
    qn_str bytes;
    (void)number;
    if (value.length == 0 ||
        !qn_remote_believe(s->remote, s->name, QN_CONTENT_IMAGE, value, &bytes)) {
        return;
    }
    qn_verdict verdict = qn_remote_read_image(s->image, s->key, s->compiler, bytes);
    s->found = verdict == QN_SOUND;
    if (!s->found) {
        qn_remote_refuse(s->remote, s->name, verdict);
    }
}

static void rest(void)
{
    static atomic_uint step; /* so that waiting machines and threads do not ask in step */
    unsigned ms = POLL_LEAST + (atomic_fetch_add(&step, 7) + (unsigned)time(NULL)) % POLL_MORE;
    struct timespec pause = {0, (long)ms * 1000000};
    (void)nanosleep(&pause, NULL);
}

/* Somebody else is making it. */
static bool wait_for(search *s)
{
    const double begin = qn_now_ms();
    while (!s->found && qn_now_ms() - begin < WAIT_MOST_MS) {
        rest();
        if (!qn_remote_look(s->remote, 1, &s->name, take, s)) {
            break;
        }
    }
    pthread_mutex_lock(&s->remote->lock);
    s->remote->stats.waits++;
    s->remote->stats.waited_ms += qn_now_ms() - begin;
    pthread_mutex_unlock(&s->remote->lock);
    return s->found;
}

bool qn_remote_find(qn_remote *remote, const qn_key *key, const char *compiler, qn_image *out)
{
    *out = (qn_image){0};
    if (!remote || remote->problem[0] || remote->mode.recipes || !compiler || !compiler[0]) {
        return false;
    }
    char name[QN_REMOTE_NAME_BYTES];
    qn_remote_name(name, key->hex, compiler);
    search s = {remote, key, name, compiler, out, false};
    const char *names[] = {name};
    bool answered = qn_remote_look(remote, 1, names, take, &s);
    if (answered && !s.found && qn_remote_claim(remote, name) == 0) {
        (void)wait_for(&s);
    }
    if (answered) {
        qn_remote_count(remote, s.found);
    }
    return s.found;
}

/* ---- writing one ---------------------------------------------------------------------------- */

void qn_remote_put(qn_remote *remote, const qn_key *key, const qn_image *image,
                   const qn_store_row *row)
{
    if (!qn_remote_writes(remote)) {
        return;
    }
    const bool on = qn_remote_is_on(remote); /* else nothing is packed, and it is dropped */
    char name[QN_REMOTE_NAME_BYTES];
    qn_str material = {key->material, key->material_size};
    if (!remote->mode.recipes && row->compiler && row->compiler[0]) {
        qn_text entry = {0};
        entry.failed = !on || !qn_remote_write_image(&entry, key, image, row);
        qn_remote_name(name, key->hex, row->compiler);
        (void)qn_remote_send(remote, name, QN_CONTENT_IMAGE, &entry);
    }
    if (qn_key_source(material).length > 0) { /* what is linked has no source */
        qn_text recipe = {0};
        recipe.failed = !on || !qn_recipe_write(&recipe, row->name, material);
        qn_remote_name(name, key->hex, "recipe");
        (void)qn_remote_send(remote, name, QN_CONTENT_RECIPE, &recipe);
    }
}

void qn_remote_reject(qn_remote *remote)
{
    pthread_mutex_lock(&remote->lock);
    remote->stats.refused++;
    pthread_mutex_unlock(&remote->lock);
}
