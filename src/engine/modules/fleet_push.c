/* SPDX-License-Identifier: MIT
 *
 * fleet: this machine's cache to the remote store. In: the first digits of keys. Out: their entries
 * and recipes there, and a report. The thing to know: who pushes waits, so each value is written
 * at once, on his thread, and what is counted as sent is there.
 */
#include "cache/entry.h"
#include "cache/fleet.h"
#include "engine/modules/modules.h"

#include <stdio.h>

#define FLUSH_MS  30e3 /* for what was waiting already */
#define HEX_BYTES 33

quern_status quern_remote_get_stats(quern_remote_stats *stats, quern_engine *engine)
{
    qn_error_reset();
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_TO_GIVE(quern_remote_stats, own, stats);
    qn_remote_get_stats(engine->remote, &own);
    QN_GIVE(quern_remote_stats, own, stats);
    return QUERN_OK;
}

const char *quern_remote_problem(quern_engine *engine)
{
    return qn_object_is(engine, QN_OBJECT_ENGINE) ? qn_remote_problem(engine->remote)
                                                  : "there is no engine";
}

void qn_fleet_tell(qn_fleet_work *w, const char *key, const char *name)
{
    if (w->progress && !w->stopped) {
        w->stopped = w->progress(w->context, &w->report, key, name) != 0;
    }
}

/* ---- a batch -------------------------------------------------------------------------------- */

static void hex_of(char out[HEX_BYTES], const unsigned char key[16])
{
    for (int k = 0; k < 16; k++) {
        snprintf(out + 2 * k, 3, "%02x", key[k]);
    }
}

/* A row that is to be written, if it is not there. */
typedef struct parcel {
    qn_text bytes; /* the entry with its material; the views below are of it */
    qn_entry entry;
    qn_entry_body body;
    char hex[HEX_BYTES], name[QN_REMOTE_NAME_BYTES], title[128];
    bool there;
} parcel;

typedef struct batch {
    qn_fleet_work *work;
    parcel parcels[QN_REMOTE_BATCH];
    size_t count;
} batch;

static void empty(batch *b)
{
    for (size_t k = 0; k < b->count; k++) {
        qn_entry_body_free(&b->parcels[k].body);
        qn_text_free(&b->parcels[k].bytes);
    }
    b->count = 0;
}

/* Take the bytes of a row, which stay as they are. False: they are not sound. */
static bool add(batch *b, qn_text *bytes)
{
    parcel *p = &b->parcels[b->count];
    char compiler[80];
    const char *why;
    *p = (parcel){.bytes = *bytes};
    *bytes = (qn_text){0};
    if (!qn_entry_read(&p->entry, (qn_str){p->bytes.data, p->bytes.length}, &why) ||
        !qn_entry_open(&p->body, &p->entry, &why)) {
        qn_text_free(&p->bytes);
        return false;
    }
    hex_of(p->hex, p->entry.key);
    snprintf(compiler, sizeof compiler, "%.*s", (int)p->entry.compiler.length,
             p->entry.compiler.data);
    snprintf(p->title, sizeof p->title, "%.*s", (int)QN_MIN(p->entry.name.length, (size_t)127),
             p->entry.name.data);
    const bool recipes = b->work->engine->remote->mode.recipes;
    qn_remote_name(p->name, p->hex, recipes ? "recipe" : compiler);
    b->count++;
    return true;
}

static void note_there(void *context, size_t number, qn_str value)
{
    batch *b = context;
    qn_remote *remote = b->work->engine->remote;
    qn_str bytes;
    qn_content content = remote->mode.recipes ? QN_CONTENT_RECIPE : QN_CONTENT_IMAGE;
    b->parcels[number].there =
        value.length > 0 &&
        qn_remote_believe(remote, b->parcels[number].name, content, value, &bytes);
}

/* ---- sending -------------------------------------------------------------------------------- */

static bool send_image(qn_remote *remote, const parcel *p)
{
    qn_text image = {0};
    qn_entry entry = p->entry;
    (void)qn_hash(entry.material_hash, p->body.material.data, p->body.material.length);
    entry.has_material = false;
    entry.material_bytes = p->body.material.length;
    image.failed = !qn_entry_write_row(&image, &entry, &p->body, QN_REMOTE_LEVEL);
    return qn_remote_write(remote, p->name, QN_CONTENT_IMAGE, &image);
}

/* What is linked has no source, and no recipe. */
static bool send_recipe(qn_remote *remote, const parcel *p)
{
    if (qn_key_source(p->body.material).length == 0) {
        return !remote->mode.recipes;
    }
    qn_text recipe = {0};
    char name[QN_REMOTE_NAME_BYTES];
    qn_remote_name(name, p->hex, "recipe");
    (void)qn_recipe_write(&recipe, p->title, p->body.material);
    return qn_remote_write(remote, name, QN_CONTENT_RECIPE, &recipe);
}

/* Send what is not there. False: the store does not answer any more. */
static bool send_missing(batch *b, const parcel *p)
{
    qn_fleet_work *w = b->work;
    qn_remote *remote = w->engine->remote;
    bool sent = p->there || ((remote->mode.recipes || send_image(remote, p)) && //
                             send_recipe(remote, p));
    if (!sent && !qn_remote_is_on(remote)) {
        return false;
    }
    *(p->there ? &w->report.had : sent ? &w->report.sent : &w->report.left) += 1;
    if (sent) {
        qn_fleet_tell(w, p->hex, p->title);
    }
    return true;
}

static quern_status send_batch(batch *b)
{
    qn_remote *remote = b->work->engine->remote;
    const char *names[QN_REMOTE_BATCH];
    for (size_t k = 0; k < b->count; k++) {
        names[k] = b->parcels[k].name;
    }
    bool fine = b->count == 0 || qn_remote_look(remote, b->count, names, note_there, b);
    for (size_t k = 0; fine && k < b->count && !b->work->stopped; k++) {
        fine = send_missing(b, &b->parcels[k]);
    }
    empty(b);
    return fine ? QUERN_OK
                : qn_fail(QUERN_ERROR_CACHE, "the remote store %s failed: the log has said why",
                          remote->url);
}

static quern_status push_rows(batch *b, const qn_row_ids *ids)
{
    qn_fleet_work *w = b->work;
    for (size_t k = 0; k < ids->count && !w->stopped; k++) {
        qn_text bytes = {0};
        quern_status status = qn_store_entry(&bytes, w->engine->store, ids->items[k], 0, true);
        if (status == QUERN_OK && bytes.length > 0) {
            w->report.wanted++;
            w->report.left += !add(b, &bytes);
        }
        qn_text_free(&bytes);
        QN_TRY(status);
        if (b->count == QN_REMOTE_BATCH) {
            QN_TRY(send_batch(b));
        }
    }
    return w->stopped ? QUERN_OK : send_batch(b);
}

static quern_status push(qn_fleet_work *w, const qn_key_range *range)
{
    qn_row_ids ids = {0};
    batch *b = qn_calloc(1, sizeof *b);
    if (!b) {
        return qn_fail_memory("pushing the cache");
    }
    b->work = w;
    (void)qn_queue_flush(w->engine->remote->queue, FLUSH_MS);
    quern_status status = qn_store_ids(w->engine->store, range, &ids);
    if (status == QUERN_OK) {
        status = push_rows(b, &ids);
    }
    empty(b);
    qn_free(b);
    qn_free(ids.items);
    return status;
}

quern_status quern_cache_push(quern_fleet_report *report, quern_engine *engine,
                              const char *key_prefix, quern_fleet_progress progress, void *context)
{
    qn_error_reset();
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    if (report) {
        QN_TRY(qn_prefix_check(QN_PREFIX(quern_fleet_report), __func__, "report", report));
    }
    qn_key_range range;
    QN_TRY(qn_store_prefix(&range, key_prefix));
    const char *problem = qn_remote_problem(engine->remote);
    if (problem[0]) {
        return qn_fail(QUERN_ERROR_CACHE, "there is no remote store: %s",
                       engine->remote ? problem : "QUERN_REMOTE is not set");
    }
    if (!qn_remote_writes(engine->remote)) {
        return qn_fail(QUERN_ERROR_CACHE,
                       "the remote store is only read: set QUERN_REMOTE_SIGN to a secret key, or "
                       "QUERN_REMOTE_MODE=open");
    }
    qn_fleet_work w = {engine, {.size = sizeof w.report}, progress, context, false};
    quern_status status = push(&w, &range);
    if (report) {
        QN_GIVE(quern_fleet_report, w.report, report);
    }
    return status;
}
