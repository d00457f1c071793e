/* SPDX-License-Identifier: MIT
 *
 * fleet: whole lists of kernels between this machine's cache and the remote store. In: keys. Out:
 * entries there, or here, and a report. The thing to know: kernels that cannot be had are counted,
 * never an error.
 */
#include "cache/entry.h"
#include "cache/fleet.h"
#include "engine/modules/modules.h"

#include <ctype.h>
#include <stdio.h>

#define FLUSH_MS  30e3 /* for a batch to be written */
#define HEX_BYTES 33
#define MOST_KEYS (1 << 24)

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

/* ---- both ----------------------------------------------------------------------------------- */

/* A list on its way. */
typedef struct work {
    quern_engine *engine;
    quern_fleet_report report;
    quern_fleet_progress progress;
    void *context;
    bool stopped;
} work;

static void tell(work *w, const char *key, const char *name)
{
    if (w->progress && !w->stopped) {
        w->stopped = w->progress(w->context, &w->report, key, name) != 0;
    }
}

static void hex_of(char out[HEX_BYTES], const unsigned char key[16])
{
    for (int k = 0; k < 16; k++) {
        snprintf(out + 2 * k, 3, "%02x", key[k]);
    }
}

/* ---- push: from here to there --------------------------------------------------------------- */

/* A row that is to be written, if it is not there. */
typedef struct parcel {
    qn_text bytes; /* the entry with its material; the views below are of it */
    qn_entry entry;
    qn_entry_body body;
    char hex[HEX_BYTES], name[QN_REMOTE_NAME_BYTES], title[128];
    bool there;
} parcel;

typedef struct batch {
    work *work;
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

static void send_parcel(batch *b, const parcel *p)
{
    qn_remote *remote = b->work->engine->remote;
    if (!remote->mode.recipes) {
        qn_text image = {0};
        qn_entry entry = p->entry;
        (void)qn_hash(entry.material_hash, p->body.material.data, p->body.material.length);
        entry.has_material = false;
        entry.material_bytes = p->body.material.length;
        image.failed = !qn_entry_write_row(&image, &entry, &p->body, QN_REMOTE_LEVEL);
        (void)qn_remote_send(remote, p->name, QN_CONTENT_IMAGE, &image);
    }
    if (qn_key_source(p->body.material).length > 0) {
        qn_text recipe = {0};
        char name[QN_REMOTE_NAME_BYTES];
        qn_remote_name(name, p->hex, "recipe");
        (void)qn_recipe_write(&recipe, p->title, p->body.material);
        (void)qn_remote_send(remote, name, QN_CONTENT_RECIPE, &recipe);
    }
}

static quern_status send_batch(batch *b)
{
    work *w = b->work;
    qn_remote *remote = w->engine->remote;
    quern_remote_stats before, after;
    const char *names[QN_REMOTE_BATCH];
    for (size_t k = 0; k < b->count; k++) {
        names[k] = b->parcels[k].name;
    }
    qn_remote_get_stats(remote, &before);
    bool fine = b->count == 0 || qn_remote_look(remote, b->count, names, note_there, b);
    for (size_t k = 0; fine && k < b->count; k++) {
        const parcel *p = &b->parcels[k];
        if (!p->there) {
            send_parcel(b, p);
        }
        *(p->there ? &w->report.had : &w->report.sent) += 1;
        tell(w, p->hex, p->title);
    }
    fine = fine && qn_queue_flush(remote->queue, FLUSH_MS);
    qn_remote_get_stats(remote, &after);
    empty(b);
    return fine && after.dropped == before.dropped
               ? QUERN_OK
               : qn_fail(QUERN_ERROR_CACHE, "the remote store %s failed: the log has said why",
                         remote->url);
}

static quern_status push_rows(work *w, const char *prefix)
{
    batch *b = qn_calloc(1, sizeof *b);
    if (!b) {
        return qn_fail_memory("pushing the cache");
    }
    b->work = w;
    quern_status status = QUERN_OK;
    bool more = true;
    for (int64_t id = INT64_MIN; more && status == QUERN_OK && !w->stopped;) {
        qn_text bytes = {0};
        status = qn_store_next(&bytes, w->engine->store, &id,
                               &(quern_export_options){.key_prefix = prefix});
        more = bytes.length > 0;
        if (status == QUERN_OK && more) {
            w->report.wanted++;
            w->report.left += !add(b, &bytes);
        }
        qn_text_free(&bytes);
        if (status == QUERN_OK && (b->count == QN_REMOTE_BATCH || !more)) {
            status = send_batch(b);
        }
    }
    empty(b);
    qn_free(b);
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
    for (const char *c = key_prefix; c && *c; c++) {
        if (!isxdigit((unsigned char)*c) || c - key_prefix >= 32) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                           "\"%.40s\" is not the beginning of a key, which has 32 hexadecimal "
                           "digits",
                           key_prefix);
        }
    }
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
    work w = {engine, {.size = sizeof w.report}, progress, context, false};
    quern_status status = push_rows(&w, key_prefix);
    if (report) {
        QN_GIVE(quern_fleet_report, w.report, report);
    }
    return status;
}

/* ---- prewarm: from there, or made here ------------------------------------------------------ */

typedef struct dish {
    const char *key; /* as it is listed */
    qn_cooking cooking;
    bool known; /* its recipe was found */
    char name[QN_REMOTE_NAME_BYTES];
} dish;

typedef struct warming {
    work work; /* first */
    dish *dishes;
    const char **names;
    size_t count;
    bool only_receive;
    size_t first; /* of the batch whose recipes are asked for */
    size_t asked[QN_REMOTE_BATCH];
} warming;

static void done(warming *w, const dish *d, uint64_t *counter)
{
    ++*counter;
    tell(&w->work, d->key, d->known ? d->cooking.name : "");
}

/* Take a recipe. It must give its own key here, unless it is for another target. */
static void take_recipe(warming *w, dish *d, const char *name, qn_str material)
{
    qn_cooking *c = &d->cooking;
    if (qn_cooking_begin(c, w->work.engine, name, material, false) != QUERN_OK) {
        qn_error_reset();
        return;
    }
    const qn_making *m = &c->making;
    const bool same_target = m->request->compile.arch == c->recipe.arch &&
                             m->request->compile.kind == c->recipe.kind &&
                             m->request->compile.line_info == c->recipe.line_info;
    d->known = !m->wanted.opaque && (!same_target || strcmp(m->wanted.key.hex, d->key) == 0);
    if (!d->known) {
        qn_cooking_end(c);
    }
}

static void take_remote_recipe(void *context, size_t number, qn_str value)
{
    warming *w = context;
    dish *d = &w->dishes[w->asked[number]];
    char name[QN_REMOTE_NAME_BYTES], title[256];
    qn_str bytes, material;
    qn_remote_name(name, d->key, "recipe");
    if (value.length == 0 ||
        !qn_remote_believe(w->work.engine->remote, name, QN_CONTENT_RECIPE, value, &bytes)) {
        return;
    }
    if (!qn_recipe_read(&material, title, d->key, bytes)) {
        qn_remote_refuse(w->work.engine->remote, name, QN_NOT_ASKED);
        return;
    }
    take_recipe(w, d, title, material);
}

static void take_own_recipe(warming *w, dish *d)
{
    qn_text bytes = {0};
    qn_entry entry;
    qn_entry_body body;
    const char *why;
    char title[128];
    int64_t id = INT64_MIN;
    if (qn_store_next(&bytes, w->work.engine->store, &id,
                      &(quern_export_options){.key_prefix = d->key}) == QUERN_OK &&
        bytes.length > 0 && qn_entry_read(&entry, (qn_str){bytes.data, bytes.length}, &why) &&
        qn_entry_open(&body, &entry, &why)) {
        snprintf(title, sizeof title, "%.*s", (int)QN_MIN(entry.name.length, (size_t)127),
                 entry.name.data);
        take_recipe(w, d, title, body.material);
        qn_entry_body_free(&body);
    }
    qn_error_reset();
    qn_text_free(&bytes);
}

/* Find the recipe of each. */
static void find_recipes(warming *w)
{
    qn_remote *remote = w->work.engine->remote;
    for (size_t at = 0; at < w->count; at += QN_REMOTE_BATCH) {
        char texts[QN_REMOTE_BATCH][QN_REMOTE_NAME_BYTES];
        const char *names[QN_REMOTE_BATCH];
        size_t count = QN_MIN((size_t)QN_REMOTE_BATCH, w->count - at);
        for (size_t k = 0; k < count; k++) {
            w->asked[k] = at + k;
            qn_remote_name(texts[k], w->dishes[at + k].key, "recipe");
            names[k] = texts[k];
        }
        if (remote) {
            (void)qn_remote_look(remote, count, names, take_remote_recipe, w);
        }
    }
    for (size_t k = 0; k < w->count; k++) {
        if (!w->dishes[k].known) {
            take_own_recipe(w, &w->dishes[k]);
        }
    }
}

/* What is here already is not asked for. */
static void sort_out(warming *w)
{
    quern_engine *engine = w->work.engine;
    for (size_t k = 0; k < w->count; k++) {
        dish *d = &w->dishes[k];
        const qn_wanted *wanted = &d->cooking.making.wanted;
        qn_image image;
        if (!d->known) {
            done(w, d, &w->work.report.left);
        } else if (qn_store_again(engine->store, &wanted->key, wanted->compiler.build_id, &image)) {
            qn_image_free(&image);
            done(w, d, &w->work.report.had);
        } else {
            qn_remote_name(d->name, wanted->key.hex, wanted->compiler.build_id);
            w->names[k] = d->name;
        }
    }
}

static bool take_image(void *context, size_t k, qn_str value)
{
    warming *w = context;
    dish *d = &w->dishes[k];
    const qn_wanted *wanted = &d->cooking.making.wanted;
    qn_remote *remote = w->work.engine->remote;
    qn_image image;
    qn_str bytes;
    if (remote->mode.recipes ||
        !qn_remote_believe(remote, d->name, QN_CONTENT_IMAGE, value, &bytes)) {
        return false;
    }
    qn_verdict verdict =
        qn_remote_read_image(&image, &wanted->key, wanted->compiler.build_id, bytes);
    if (verdict != QN_SOUND) {
        qn_remote_refuse(remote, d->name, verdict);
        return false;
    }
    qn_remote_count(remote, true);
    qn_wanted_keep_found(wanted, &image, QN_FROM_REMOTE);
    qn_image_free(&image);
    done(w, d, &w->work.report.received);
    return true;
}

static void make_image(void *context, size_t k)
{
    warming *w = context;
    dish *d = &w->dishes[k];
    bool made = false;
    if (!w->only_receive) {
        const quern_status status = qn_making_warm(&d->cooking.making, &made);
        if (status != QUERN_OK) {
            qn_log(&w->work.engine->home.logger, QN_WARN, "%s is left out: %s", d->cooking.name,
                   quern_last_error()->message);
            qn_error_reset();
            done(w, d, &w->work.report.left);
            return;
        }
    }
    done(w, d,
         w->only_receive ? &w->work.report.left
         : made          ? &w->work.report.compiled
                         : &w->work.report.had);
}

static bool is_stopped(void *context)
{
    return ((const warming *)context)->work.stopped;
}

static quern_status warm(warming *w, const char *const *keys)
{
    w->dishes = qn_calloc(w->count + 1, sizeof *w->dishes);
    w->names = qn_calloc(w->count + 1, sizeof *w->names);
    if (!w->dishes || !w->names) {
        return qn_fail_memory("warming the cache");
    }
    for (size_t k = 0; k < w->count; k++) {
        QN_TRY(keys[k] ? qn_check_key(keys[k])
                       : qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "keys[%zu] is NULL", k));
        w->dishes[k].key = keys[k];
    }
    find_recipes(w);
    sort_out(w);
    const qn_spread spread = {.remote = w->work.engine->remote,
                              .count = w->count,
                              .names = w->names,
                              .take = take_image,
                              .make = make_image,
                              .stop = is_stopped,
                              .context = w};
    return qn_spread_run(&spread) ? QUERN_OK : qn_fail_memory("warming the cache");
}

quern_status quern_prewarm(quern_fleet_report *report, quern_engine *engine,
                           const char *const *keys, size_t count,
                           const quern_prewarm_options *options)
{
    qn_error_reset();
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_TAKE(quern_prewarm_options, o, options);
    if (report) {
        QN_TRY(qn_prefix_check(QN_PREFIX(quern_fleet_report), __func__, "report", report));
    }
    if (count > 0) {
        QN_CHECK_NOT_NULL(keys);
    }
    if (count > MOST_KEYS) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "count is %zu, more than the %d that are allowed", count, MOST_KEYS);
    }
    if (qn_store_problem(engine->store)[0]) {
        return qn_fail(QUERN_ERROR_CACHE, "there is no cache to fill: %s",
                       qn_store_problem(engine->store));
    }
    warming w = {
        .work = {engine, {.size = sizeof(quern_fleet_report)}, o.progress, o.context, false},
        .count = count,
        .only_receive = o.only_receive != 0};
    w.work.report.wanted = count;
    quern_status status = warm(&w, keys);
    for (size_t k = 0; w.dishes && k < count; k++) {
        qn_cooking_end(&w.dishes[k].cooking);
    }
    qn_free(w.dishes);
    qn_free(w.names);
    if (report) {
        QN_GIVE(quern_fleet_report, w.work.report, report);
    }
    return status;
}
