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

/* ---- names.c: a user's names and the image's ------------------------------------------------ */

typedef struct qn_names {
    const char *what;       /**< "function" or "global", for messages */
    const char *const *own; /**< as the image has them, mangled where they are not extern "C" */
    size_t count;
    const char *const *expressions; /**< name expressions, and what the compiler made of each */
    const char *const *lowered;
    size_t expression_count;
} qn_names;

/** The image's name of what the user calls `name`: of a name expression, exactly, or the only one
 * with this plain name. NULL when there is none, or more than one. */
const char *qn_name_find(const qn_names *names, const char *name);
/** After qn_name_find(): why not, and the names that there are. */
quern_status qn_name_refuse(const qn_names *names, const char *name);
/** "ns::scale" of "_ZN2ns5scaleIdEEvPT_". False when it is not mangled, or not so simply. */
bool qn_plain_name(qn_text *out, const char *own);

/* ---- user_module.c: making and releasing modules -------------------------------------------- */

struct quern_module {
    uint32_t object; /**< QN_OBJECT_MODULE */
    atomic_uint references;
    quern_engine *engine; /**< retained */
    qn_module *loaded;    /**< its own */
    qn_arena arena;       /**< all text below */
    const char **expressions;
    size_t expression_count;
    qn_user_text *texts; /**< what messages may point into: the source and the headers in memory */
    size_t text_count;
};

/** A slot of the device that lists the names of a module. */
typedef quern_status (*qn_name_lister)(quern_device *device, void *module, size_t *count,
                                       const char **names, size_t capacity);
/** A slot of the device that finds something by the image's name; QUERN_ERROR_NAME: it is not
 * there. */
typedef quern_status (*qn_name_getter)(void *context, quern_module *module, const char *own);

/** Find what the user calls `name`: by its name expression, exactly, or by its plain name among
 * those of `list` (NULL: the device has no such slot). Errors: QUERN_ERROR_NAME with the names
 * there are. */
quern_status qn_module_find(quern_module *module, const char *what, const char *name,
                            qn_name_getter get, void *context, qn_name_lister list);

/* ---- function.c: functions of a module ------------------------------------------------------ */

typedef struct qn_function_parameter {
    uint64_t offset, bytes;
} qn_function_parameter;

struct quern_function {
    uint32_t object; /**< QN_OBJECT_FUNCTION */
    atomic_uint references;
    quern_module *module;               /**< retained */
    void *handle;                       /**< the device's */
    char *name;                         /**< as the user asked for it */
    uint32_t parameter_count;           /**< UINT32_MAX: the driver does not tell */
    qn_function_parameter parameters[]; /**< as many, where it does */
};

#endif /* QN_MODULES_H */
