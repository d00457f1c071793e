/* SPDX-License-Identifier: MIT
 *
 * modules: what programs bring themselves: CUDA source and images, and the functions and globals in
 * them (section 6 of quern.h).
 *
 *     source --make--> image, module --find--> function --check arguments--> launch
 *
 * The thing to know: kernels' modules are the engine's, one a key, and live as long as it does;
 * each user's module is loaded for itself, from an image that all share. So two modules of one
 * source have two sets of globals, and one that is released is unloaded.
 */
#ifndef QN_MODULES_H
#define QN_MODULES_H

#include "engine/engine.h"

/* ---- module.c: loaded images ---------------------------------------------------------------- */

/** Find or make the image of a request, as qn_module_get() does, and load it anew. Free it with
 * qn_module_free(). */
quern_status qn_module_make(qn_module **out, quern_engine *engine, qn_module_request *request);
/** Load an image that is there. Free it with qn_module_free(). */
quern_status qn_module_load(qn_module **out, quern_engine *engine, const qn_image *image);
/** Unload. Accepts NULL. */
void qn_module_free(quern_engine *engine, qn_module *module);

#endif /* QN_MODULES_H */
