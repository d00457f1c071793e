/* SPDX-License-Identifier: MIT
 *
 * wanted: an image that somebody wants, whether it is compiled or linked. In: its key. Out: the
 * image, if it came with the program, or this process or this machine has made it before; and a
 * place to keep a new one. The thing to know: the key is made of everything that shapes the image,
 * so what is found under it is what would be made. Where headers cannot all be known (the source is
 * opaque), no image is looked up or kept.
 */
#include "engine/modules/modules.h"
#include <stdio.h>

bool qn_wanted_find(const qn_wanted *w, qn_image *image, qn_origin *origin)
{
    *image = (qn_image){0};
    *origin = QN_FROM_MEMORY;
    if (w->opaque) {
        return false;
    }
    if (w->far) {
        *origin = QN_FROM_REMOTE;
        return qn_remote_find(w->engine->remote, &w->key, w->compiler.build_id, image);
    }
    if (qn_images_get(&w->key, w->compiler.build_id, image)) {
        return true;
    }
    *origin = QN_FROM_PACK;
    if (!w->again && qn_packs_get(w->engine->packs, &w->key, w->compiler.build_id, image)) {
        return true;
    }
    if (w->shipped) {
        return false;
    }
    *origin = QN_FROM_CACHE;
    return (w->again ? qn_store_again : qn_store_get)(w->engine->store, &w->key,
                                                      w->compiler.build_id, image);
}

static void keep_here(const qn_wanted *w, const qn_image *image, const char *compiler)
{
    qn_store_row row = {w->name, w->compiler.build_id, compiler, w->arch};
    qn_images_put(&w->key, w->compiler.build_id, image);
    qn_store_put(w->engine->store, &w->key, image, &row);
}

void qn_wanted_keep(const qn_wanted *w, const qn_image *image)
{
    if (w->opaque) {
        return;
    }
    int major, minor;
    char version[32];
    qn_compiler_version(&major, &minor);
    snprintf(version, sizeof version, "NVRTC %d.%d", major, minor);
    keep_here(w, image, version);
    qn_store_row row = {w->name, w->compiler.build_id, version, w->arch};
    qn_remote_put(w->engine->remote, &w->key, image, &row);
}

void qn_wanted_keep_found(const qn_wanted *w, const qn_image *image, qn_origin origin)
{
    if (origin == QN_FROM_CACHE || origin == QN_FROM_PACK) {
        qn_images_put(&w->key, w->compiler.build_id, image);
    } else if (origin == QN_FROM_REMOTE) {
        keep_here(w, image, image->compiler ? image->compiler : "");
    }
}

void qn_wanted_reject(const qn_wanted *w, qn_origin origin)
{
    if (origin == QN_FROM_MEMORY) {
        return;
    }
    if (origin == QN_FROM_PACK) {
        qn_log(&w->engine->home.logger, QN_WARN,
               "the device rejected the image of %s in a pack (%s); looking elsewhere", w->name,
               w->key.hex);
        qn_packs_reject(w->engine->packs, &w->key);
        return;
    }
    qn_log(&w->engine->home.logger, QN_WARN,
           "the device rejected a cached image (%s); compiling it again", w->key.hex);
    if (origin == QN_FROM_REMOTE) {
        qn_remote_reject(w->engine->remote);
    } else {
        qn_store_reject(w->engine->store, &w->key, w->compiler.build_id);
    }
}

void qn_wanted_tell(const qn_wanted *w)
{
    if (w->opaque && !atomic_flag_test_and_set(&w->engine->opaque_told)) {
        qn_log(
            &w->engine->home.logger, QN_INFO,
            "%s is compiled each time: which files it needs cannot be known without the compiler "
            "(#include MACRO, #include_next, __has_include, --pch, --fdevice-time-trace)",
            w->name);
    }
}

void qn_wanted_tell_why(const qn_wanted *w)
{
    qn_text why = {0};
    const qn_store_row row = {.name = w->name ? w->name : "", .compiler = w->compiler.build_id};
    qn_store_why(w->engine->store, &w->key, &row, w->opaque, &why);
    if (!why.failed) {
        qn_log(&w->engine->home.logger, QN_DEBUG, "%s is compiled, because %s", w->name, why.data);
    }
    qn_text_free(&why);
}

bool qn_wanted_once(qn_once **out, const qn_wanted *w)
{
    double waited_ms;
    bool maker = qn_once_begin(out, &w->key, w->compiler.build_id, &waited_ms);
    if (waited_ms > 0) {
        qn_store_count(w->engine->store, QN_TALLY_WAITS, 1);
        qn_store_count(w->engine->store, QN_TALLY_WAITED_US, (uint64_t)(waited_ms * 1e3));
        qn_store_count(w->engine->store, QN_TALLY_ALONE, maker);
    }
    return maker;
}

qn_once *qn_wanted_alone(const qn_wanted *w)
{
    qn_once *once;
    while (!qn_wanted_once(&once, w)) {
    }
    return once;
}

bool qn_wanted_begin(qn_machine **out, qn_wanted *w, bool (*find)(void *, const qn_wanted *),
                     void *found)
{
    *out = NULL;
    bool maker = w->opaque, made = false;
    w->again = true;
    for (int round = 0; !maker && !made; round++) {
        maker = qn_machine_begin(out, w->engine->store, &w->key, round);
        made = (!maker || *out) && find(found, w);
    }
    w->again = false;
    if (!made && !w->opaque && !w->ours && w->engine->remote) {
        w->far = true;
        made = find(found, w);
        w->far = false;
    }
    if (made) {
        qn_machine_done(*out);
        *out = NULL;
    }
    return !made;
}
