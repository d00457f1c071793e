/* SPDX-License-Identifier: MIT
 *
 * fleet: a list of kernels into this machine's cache, before they are needed. In: keys. Out: what
 * the remote store has is taken, the rest is made here from its recipe and written there; and a
 * report. The thing to know: kernels that cannot be had are counted, never an error, and recipes
 * are large, so only some hundred kernels are at hand at a time.
 */
#include "cache/entry.h"
#include "cache/fleet.h"
#include "engine/modules/modules.h"

#include <stdio.h>

#define MOST_KEYS (1 << 24)
#define TABLE     512 /* kernels that are at hand */

typedef struct dish {
    const char *key; /* as it is listed */
    qn_cooking cooking;
    bool known; /* its recipe was found */
    char name[QN_REMOTE_NAME_BYTES];
    qn_text recipe; /* that came, until it is read */
    qn_image image; /* that came, until it is kept */
} dish;

typedef struct warming {
    qn_fleet_work work; /* first */
    bool only_receive;
    dish dishes[TABLE];
    const char *names[TABLE];
    size_t count; /* of dishes */
    size_t first; /* of the batch whose recipes are asked for */
} warming;

static void done(warming *w, const dish *d, uint64_t *counter)
{
    ++*counter;
    qn_fleet_tell(&w->work, d->key, d->known ? d->cooking.name : "");
}

/* ---- recipes -------------------------------------------------------------------------------- */

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

static void take_value(void *context, size_t number, qn_str value)
{
    warming *w = context;
    dish *d = &w->dishes[w->first + number];
    char name[QN_REMOTE_NAME_BYTES];
    qn_str bytes;
    qn_remote_name(name, d->key, "recipe");
    if (value.length > 0 &&
        qn_remote_believe(w->work.engine->remote, name, QN_CONTENT_RECIPE, value, &bytes)) {
        qn_text_add(&d->recipe, bytes.data, bytes.length);
    }
}

static void read_recipe(warming *w, dish *d)
{
    char name[QN_REMOTE_NAME_BYTES], title[256];
    qn_str material;
    if (d->recipe.length == 0 || d->recipe.failed) {
        return;
    }
    if (qn_recipe_read(&material, title, d->key, (qn_str){d->recipe.data, d->recipe.length})) {
        take_recipe(w, d, title, material);
    } else {
        qn_remote_name(name, d->key, "recipe");
        qn_remote_refuse(w->work.engine->remote, name, QN_NOT_ASKED);
    }
}

/* Ask for the recipes of a batch. */
static void ask_for_recipes(warming *w, size_t first, size_t count)
{
    char texts[QN_REMOTE_BATCH][QN_REMOTE_NAME_BYTES];
    const char *names[QN_REMOTE_BATCH];
    for (size_t k = 0; k < count; k++) {
        qn_remote_name(texts[k], w->dishes[first + k].key, "recipe");
        names[k] = texts[k];
    }
    w->first = first;
    (void)qn_remote_look(w->work.engine->remote, count, names, take_value, w);
    for (size_t k = 0; k < count; k++) {
        read_recipe(w, &w->dishes[first + k]);
        qn_text_free(&w->dishes[first + k].recipe);
    }
}

static void take_row(warming *w, dish *d, qn_str bytes)
{
    qn_entry entry;
    qn_entry_body body;
    const char *why;
    char title[128];
    if (qn_entry_read(&entry, bytes, &why) && qn_entry_open(&body, &entry, &why)) {
        snprintf(title, sizeof title, "%.*s", (int)QN_MIN(entry.name.length, (size_t)127),
                 entry.name.data);
        take_recipe(w, d, title, body.material);
        qn_entry_body_free(&body);
    }
}

/* Look among this machine's entries. */
static void take_own_recipe(warming *w, dish *d)
{
    qn_store *store = w->work.engine->store;
    qn_key_range range;
    qn_row_ids ids = {0};
    if (qn_store_prefix(&range, d->key) == QUERN_OK &&
        qn_store_ids(store, &range, &ids) == QUERN_OK) {
        for (size_t k = 0; k < ids.count && !d->known; k++) {
            qn_text bytes = {0};
            if (qn_store_entry(&bytes, store, ids.items[k], 0, true) == QUERN_OK &&
                bytes.length > 0) {
                take_row(w, d, (qn_str){bytes.data, bytes.length});
            }
            qn_text_free(&bytes);
        }
    }
    qn_free(ids.items);
    qn_error_reset();
}

/* Find the recipe of each. */
static void find_recipes(warming *w)
{
    for (size_t at = 0; w->work.engine->remote && at < w->count; at += QN_REMOTE_BATCH) {
        ask_for_recipes(w, at, QN_MIN((size_t)QN_REMOTE_BATCH, w->count - at));
    }
    for (size_t k = 0; k < w->count; k++) {
        if (!w->dishes[k].known) {
            take_own_recipe(w, &w->dishes[k]);
        }
    }
}

/* ---- images --------------------------------------------------------------------------------- */

static bool is_here(const qn_wanted *wanted)
{
    qn_image image;
    const bool here =
        qn_store_again(wanted->engine->store, &wanted->key, wanted->compiler.build_id, &image);
    qn_image_free(&image);
    return here;
}

/* The same, once it is settled what this machine can make: a compiler that is older than the GPU
 * makes something with another key. */
static bool is_here_settled(dish *d)
{
    bool changed;
    if (qn_making_settle(&d->cooking.making, &changed) != QUERN_OK) {
        qn_error_reset(); /* told when it is to be made */
        return false;
    }
    return changed && is_here(&d->cooking.making.wanted);
}

/* What is here already is not asked for. */
static void sort_out(warming *w)
{
    for (size_t k = 0; k < w->count; k++) {
        dish *d = &w->dishes[k];
        const qn_wanted *wanted = &d->cooking.making.wanted;
        if (!d->known) {
            done(w, d, &w->work.report.left);
        } else if (is_here(wanted) || is_here_settled(d)) {
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
    qn_str bytes;
    if (!qn_remote_believe(remote, d->name, QN_CONTENT_IMAGE, value, &bytes)) {
        return false;
    }
    qn_verdict verdict =
        qn_remote_read_image(&d->image, &wanted->key, wanted->compiler.build_id, bytes);
    if (verdict != QN_SOUND) {
        qn_remote_refuse(remote, d->name, verdict);
    }
    return verdict == QN_SOUND;
}

static void keep_image(void *context, size_t k)
{
    warming *w = context;
    dish *d = &w->dishes[k];
    qn_remote_count(w->work.engine->remote, true);
    qn_wanted_keep_found(&d->cooking.making.wanted, &d->image, QN_FROM_REMOTE);
    qn_image_free(&d->image);
    done(w, d, &w->work.report.received);
}

static void make_image(void *context, size_t k)
{
    warming *w = context;
    dish *d = &w->dishes[k];
    bool made = false;
    if (w->only_receive) {
        done(w, d, &w->work.report.left);
        return;
    }
    if (qn_making_warm(&d->cooking.making, &made) != QUERN_OK) {
        qn_log(&w->work.engine->home.logger, QN_WARN, "%s is left out: %s", d->cooking.name,
               quern_last_error()->message);
        qn_error_reset();
        done(w, d, &w->work.report.left);
        return;
    }
    done(w, d, made ? &w->work.report.compiled : &w->work.report.had);
}

static bool is_stopped(void *context)
{
    return ((const warming *)context)->work.stopped;
}

/* ---- the list ------------------------------------------------------------------------------- */

/* The images of those whose recipes are known. Where only recipes are taken there are none to ask
 * for, and nobody who makes one makes it for others. */
static bool get_images(warming *w)
{
    qn_remote *remote = w->work.engine->remote;
    const qn_spread spread = {.remote = remote && remote->mode.recipes ? NULL : remote,
                              .count = w->count,
                              .names = w->names,
                              .only_take = w->only_receive,
                              .take = take_image,
                              .keep = keep_image,
                              .make = make_image,
                              .stop = is_stopped,
                              .context = w};
    return qn_spread_run(&spread);
}

/* Some hundred of them. */
static quern_status serve(warming *w, const char *const *keys, size_t count)
{
    w->count = count;
    for (size_t k = 0; k < count; k++) {
        w->dishes[k] = (dish){.key = keys[k]};
        w->names[k] = NULL;
    }
    find_recipes(w);
    sort_out(w);
    const bool served = get_images(w);
    for (size_t k = 0; k < count; k++) {
        qn_image_free(&w->dishes[k].image);
        qn_cooking_end(&w->dishes[k].cooking);
    }
    return served ? QUERN_OK : qn_fail_memory("warming the cache");
}

/* All of them; each machine begins elsewhere. */
static quern_status warm(warming *w, const char *const *keys, size_t count)
{
    const size_t tables = (count + TABLE - 1) / TABLE;
    size_t *order = qn_spread_order(tables);
    quern_status status = order ? QUERN_OK : qn_fail_memory("warming the cache");
    for (size_t k = 0; k < tables && status == QUERN_OK && !w->work.stopped; k++) {
        const size_t first = order[k] * TABLE;
        status = serve(w, keys + first, QN_MIN((size_t)TABLE, count - first));
    }
    qn_free(order);
    return status;
}

static quern_status check_keys(const char *const *keys, size_t count)
{
    if (count > 0) {
        QN_CHECK_NOT_NULL(keys);
    }
    if (count > MOST_KEYS) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "count is %zu, more than the %d that are allowed", count, MOST_KEYS);
    }
    for (size_t k = 0; k < count; k++) {
        QN_TRY(keys[k] ? qn_check_key(keys[k])
                       : qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "keys[%zu] is NULL", k));
    }
    return QUERN_OK;
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
    QN_TRY(check_keys(keys, count));
    if (qn_store_problem(engine->store)[0]) {
        return qn_fail(QUERN_ERROR_CACHE, "there is no cache to fill: %s",
                       qn_store_problem(engine->store));
    }
    warming *w = qn_calloc(1, sizeof *w);
    if (!w) {
        return qn_fail_memory("warming the cache");
    }
    w->work =
        (qn_fleet_work){engine, {.size = sizeof w->work.report}, o.progress, o.context, false};
    w->work.report.wanted = count;
    w->only_receive = o.only_receive != 0;
    quern_status status = warm(w, keys, count);
    if (report) {
        QN_GIVE(quern_fleet_report, w->work.report, report);
    }
    qn_free(w);
    return status;
}
