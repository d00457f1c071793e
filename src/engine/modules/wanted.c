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
    if (qn_images_get(&w->key, w->compiler.build_id, image)) {
        return true;
    }
    *origin = QN_FROM_PACK;
    if (qn_packs_get(w->engine->packs, &w->key, w->compiler.build_id, image)) {
        return true;
    }
    *origin = QN_FROM_CACHE;
    return qn_store_get(w->engine->store, &w->key, w->compiler.build_id, image);
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
    qn_store_row row = {w->name, w->compiler.build_id, version, w->arch};
    qn_images_put(&w->key, w->compiler.build_id, image);
    qn_store_put(w->engine->store, &w->key, image, &row);
}

void qn_wanted_tell(const qn_wanted *w)
{
    if (w->opaque && !atomic_flag_test_and_set(&w->engine->opaque_told)) {
        qn_log(&w->engine->home.logger, QN_INFO,
               "%s is compiled each time: which headers it includes cannot be known without the "
               "compiler (#include MACRO, #include_next, __has_include)",
               w->name);
    }
}

qn_once *qn_wanted_alone(const qn_wanted *w)
{
    qn_once *once;
    while (!qn_once_begin(&once, &w->key, w->compiler.build_id)) {
    }
    return once;
}
