/* SPDX-License-Identifier: MIT
 *
 * modules: what programs bring themselves: CUDA source and images, and the functions and globals in
 * them (quern/module.h).
 *
 *     source --make--> image, module --find--> function --check arguments--> launch
 *     pieces --link-->
 *
 * The thing to know: kernels' modules are the engine's, one per key, and live as long as it does;
 * each user's module is loaded separately, from an image that all share. So two modules of one
 * source have two sets of globals, and releasing a module unloads it.
 */
#ifndef QN_MODULES_H
#define QN_MODULES_H

#include "cache/fleet.h"
#include "engine/engine_internal.h"

/* ---- wanted.c: an image that is wanted, whatever it is made of ------------------------------ */

typedef struct qn_wanted {
    quern_engine *engine;
    const char *name; /**< for the cache's list, and messages */
    qn_key key;
    qn_compiler_identity compiler;
    int arch;     /**< the architecture that it is for */
    bool opaque;  /**< the key does not cover all that is included: made each time, kept nowhere */
    bool shipped; /**< only what came with the program is looked for, not in the database */
    bool again;   /**< it was looked for before: another miss is not counted */
    bool ours;    /**< the remote store was asked, and it is this machine's to make */
    bool far;     /**< it is nowhere on this machine: look into the remote store */
} qn_wanted;

/** An image of this key made before, in this process or on this machine, or where it is `far`, on
 * another; never when opaque. */
bool qn_wanted_find(const qn_wanted *wanted, qn_image *image, qn_origin *origin);
/** Remember an image in memory, on disk and in the remote store, unless opaque. */
void qn_wanted_keep(const qn_wanted *wanted, const qn_image *image);
/** Remember one that was found, as that of `origin`: in memory, and on disk if it comes from
 * another machine. */
void qn_wanted_keep_found(const qn_wanted *wanted, const qn_image *image, qn_origin origin);
/** The device rejected one that was found: it is not used again. */
void qn_wanted_reject(const qn_wanted *wanted, qn_origin origin);
/** Before it is made: log, once, that an opaque one is made each time. */
void qn_wanted_tell(const qn_wanted *wanted);
/** Before it is compiled: count and log why it was not found. */
void qn_wanted_tell_why(const qn_wanted *wanted);
/** As qn_once_begin(), and count the time that it took. */
bool qn_wanted_once(qn_once **out, const qn_wanted *wanted);
/** Wait until no other thread is making it. End this with qn_once_done(). */
qn_once *qn_wanted_alone(const qn_wanted *wanted);
/** After it was not found, by `find`: true when this process is to make it, and then it ends with
 * qn_machine_done(). False when another process has made it meanwhile, and `find` has found it. */
bool qn_wanted_begin(qn_machine **out, qn_wanted *wanted, bool (*find)(void *, const qn_wanted *),
                     void *found);

/* ---- making.c: from a source to an image ---------------------------------------------------- */

/** An image that is compiled, on its way. */
typedef struct qn_making {
    qn_wanted wanted;
    qn_module_request *request;
    qn_includes includes;
    const qn_header *headers; /**< the request's own */
    size_t header_count;
    qn_arena arena; /**< those of the library that are added */
} qn_making;

/** Fill in the request and make its key. qn_making_end() must follow, also after a failure. */
quern_status qn_making_begin(qn_making *making, quern_engine *engine, qn_module_request *request);
void qn_making_end(qn_making *making);
/** Want it for another architecture: native code, or PTX. */
quern_status qn_making_aim(qn_making *making, bool native, int arch);
/** Before something is made: a compiler that is older than the GPU can only make PTX for it; then
 * the key becomes that of this PTX, and *changed is true. */
quern_status qn_making_settle(qn_making *making, bool *changed);
/** Make the key again, after the request was changed. */
quern_status qn_making_rekey(qn_making *making);
/** Make it for others and for later, unless this machine has it; *made says which. */
quern_status qn_making_warm(qn_making *making, bool *made);
/** Compile. */
quern_status qn_making_produce(qn_making *making, qn_image *out);
/** All of this, and looking for it first, for an image that is not loaded: one thread makes it,
 * others wait. */
quern_status qn_image_make(qn_image *out, quern_engine *engine, qn_module_request *request);

/* ---- recipes.c: from the material of a key back to a compilation -------------------------------
 */

typedef struct qn_cooking {
    qn_recipe recipe;
    qn_module_request request;
    qn_making making;
    char name[256];
    bool begun;
} qn_cooking;
/** What a material says, for this engine's device, or `as_it_was`. It stays where it is until
 * qn_cooking_end(). Errors: it cannot be made from its material alone. */
quern_status qn_cooking_begin(qn_cooking *cooking, quern_engine *engine, const char *name,
                              qn_str material, bool as_it_was);
void qn_cooking_end(qn_cooking *cooking);
/** Refuse what is not a whole key. */
quern_status qn_check_key(const char *key);

/* ---- fleet_push.c, fleet_warm.c: whole lists of kernels -------------------------------------- */

/** A list on its way. */
typedef struct qn_fleet_work {
    quern_engine *engine;
    quern_fleet_report report;
    quern_fleet_progress progress;
    void *context;
    bool stopped; /**< by `progress` */
} qn_fleet_work;
/** Tell the caller of a kernel that is done; no lock is held. */
void qn_fleet_tell(qn_fleet_work *work, const char *key, const char *name);

/* ---- linking.c: from several pieces to an image --------------------------------------------- */

/** What to link. */
typedef struct qn_link_job {
    const quern_link_input *inputs;
    size_t count;
    const quern_module_options *options;
    qn_image_kind pieces; /**< what sources are compiled to: QN_IMAGE_LTO_IR or QN_IMAGE_CUBIN */
    const char *name;     /**< of the first piece */
    const qn_user_text *user_texts;
    size_t user_text_count;
} qn_link_job;

/** An image that is linked, on its way. */
typedef struct qn_linking {
    qn_wanted wanted;
    const qn_link_job *job;
    qn_image_kind kind;
    bool line_info;
} qn_linking;

/** What a piece is called. */
const char *qn_link_input_name(const quern_link_input *input);
/** Make the key. qn_linking_end() must follow, also after a failure. */
quern_status qn_linking_begin(qn_linking *linking, quern_engine *engine, const qn_link_job *job);
void qn_linking_end(qn_linking *linking);
/** Compile the sources among the pieces, or find them compiled, and link all. */
quern_status qn_linking_produce(const qn_linking *linking, qn_image *out);

/* ---- module_make.c: loaded images ----------------------------------------------------------- */

/** Find or make the image of a request, as qn_module_get() does, and always load a new module from
 * it. Free it with qn_module_free(). */
quern_status qn_module_make(qn_module **out, quern_engine *engine, qn_module_request *request);
/** The same of what is linked. */
quern_status qn_module_link(qn_module **out, quern_engine *engine, const qn_link_job *job);
/** Only if that image was made before. Leaves no error. */
bool qn_module_link_known(qn_module **out, quern_engine *engine, const qn_link_job *job);
/** Load an image that the caller has. Free it with qn_module_free(). */
quern_status qn_module_load(qn_module **out, quern_engine *engine, const qn_image *image);
/** Unload. Accepts NULL. */
void qn_module_free(quern_engine *engine, qn_module *module);

/* ---- user_names.c: a user's names and the image's ------------------------------------------- */

typedef struct qn_user_names {
    const char *what;       /**< "function" or "global", for messages */
    const char *const *own; /**< as the image has them, mangled where they are not extern "C" */
    size_t count;
    const char *const *expressions; /**< name expressions, and what the compiler made of each */
    const char *const *lowered;
    size_t expression_count;
} qn_user_names;

/** The image's name of what the user calls `name`: of a name expression, exactly, or the only one
 * with this plain name. NULL when there is none, or more than one. */
const char *qn_name_find(const qn_user_names *names, const char *name);
/** After qn_name_find() found nothing: say why, with the names that there are. */
quern_status qn_name_refuse(const qn_user_names *names, const char *name);
/** "ns::scale" of "_ZN2ns5scaleIdEEvPT_". False when it is not mangled, or not so simply. */
bool qn_plain_name(qn_text *out, const char *own);

/* ---- user_module.c: making and releasing modules -------------------------------------------- */

struct quern_module {
    uint32_t object; /**< QN_OBJECT_MODULE */
    atomic_uint references;
    qn_deferred deferred; /**< its end, while a stream is being captured */
    quern_engine *engine; /**< retained */
    qn_module *loaded;    /**< its own */
    qn_arena arena;       /**< all text below */
    const char **expressions;
    size_t expression_count;
    const char *warnings; /**< "" for none */
    qn_user_text *texts;  /**< what messages may point into: the source and the headers in memory */
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

/** Refuse a size that nothing in memory has. */
quern_status qn_check_bytes(uint64_t bytes);
/** Take a user's options, and check what they point to. */
quern_status qn_module_options_take(quern_module_options *out, const quern_module_options *options);
/** Begin a module that is still to be loaded; end by publishing it or, if `status` is a failure, by
 * dropping it. */
quern_status qn_user_module_begin(quern_module **out, quern_engine *engine);
quern_status qn_user_module_end(quern_module **out, quern_module *module, quern_status status);
/** Keep copies of the name expressions, for look-ups, and of `count` texts and then the headers in
 * memory, for messages. */
quern_status qn_user_module_keep(quern_module *module, const qn_user_text *texts, size_t count,
                                 const quern_module_options *options);

/* ---- launching.c: kernels that launch kernels ------------------------------------------------ */

/** As qn_module_make(), for a source that may launch kernels, or whose options make relocatable
 * code: then it is linked. */
quern_status qn_module_make_linked(qn_module **out, quern_engine *engine,
                                   qn_module_request *request, const quern_module_options *options);

/* ---- function.c: functions of a module ------------------------------------------------------ */

typedef struct qn_function_parameter {
    uint64_t offset, bytes;
} qn_function_parameter;

struct quern_function {
    uint32_t object; /**< QN_OBJECT_FUNCTION */
    atomic_uint references;
    quern_module *module;         /**< retained */
    void *handle;                 /**< the device's */
    char *name;                   /**< as the user asked for it */
    _Atomic(uint64_t) only_reads; /**< bit k: parameter k is a pointer to what is const, as was
                                       found when a read-only array came there */
    uint64_t textures, surfaces;  /**< bit k: that is what parameter k is declared as */
    size_t parameter_count;       /**< SIZE_MAX: the driver does not tell */
    qn_function_parameter parameters[]; /**< as many, where it does */
};
/** A parameter's name in the source; of length 0 where that does not tell. */
qn_str qn_function_parameter_name(const quern_function *function, uint32_t index);

/* ---- handle_argument.c: parameters that are textures and surfaces --------------------------- */

/** Find which of its parameters are, as far as the source tells. */
void qn_function_find_handles(quern_function *function);
/** Refuse what is passed for parameter `index` where that is one, and the value is not. */
quern_status qn_function_check_handle(const quern_function *function, size_t index,
                                      const quern_value *value);

#endif /* QN_MODULES_H */
