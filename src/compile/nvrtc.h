/* SPDX-License-Identifier: MIT
 *
 * Inside of compile: NVRTC's functions as they were found in the loaded library, and what the files
 * of this folder share. The list of prototypes is the whole of what Quern knows of NVRTC's
 * interface; nvrtc.h of the CUDA Toolkit is not needed to build.
 */
#ifndef QN_COMPILE_NVRTC_H
#define QN_COMPILE_NVRTC_H

#include "compile/compile.h"

typedef struct nvrtc_program *nvrtc_program;

/* The results of NVRTC's functions that are told apart. */
enum {
    NVRTC_OK = 0,
    NVRTC_OUT_OF_MEMORY = 1,
    NVRTC_INVALID_OPTION = 5,
    NVRTC_COMPILATION = 6,
    NVRTC_BUILTINS = 7
};

/* X(name after "nvrtc", result, parameters). All are in every NVRTC since 12.0. */
#define QN_NVRTC_FUNCTIONS(X)                                                                      \
    X(Version, int, (int *major, int *minor))                                                      \
    X(GetErrorString, const char *, (int result))                                                  \
    X(GetNumSupportedArchs, int, (int *count))                                                     \
    X(GetSupportedArchs, int, (int *archs))                                                        \
    X(CreateProgram, int,                                                                          \
      (nvrtc_program * program, const char *source, const char *name, int header_count,            \
       const char *const *headers, const char *const *include_names))                              \
    X(DestroyProgram, int, (nvrtc_program * program))                                              \
    X(CompileProgram, int, (nvrtc_program program, int count, const char *const *options))         \
    X(AddNameExpression, int, (nvrtc_program program, const char *expression))                     \
    X(GetLoweredName, int, (nvrtc_program program, const char *expression, const char **lowered))  \
    X(GetProgramLogSize, int, (nvrtc_program program, size_t * size))                              \
    X(GetProgramLog, int, (nvrtc_program program, char *log))                                      \
    X(GetPTXSize, int, (nvrtc_program program, size_t * size))                                     \
    X(GetPTX, int, (nvrtc_program program, char *ptx))                                             \
    X(GetCUBINSize, int, (nvrtc_program program, size_t * size))                                   \
    X(GetCUBIN, int, (nvrtc_program program, char *cubin))                                         \
    X(GetLTOIRSize, int, (nvrtc_program program, size_t * size))                                   \
    X(GetLTOIR, int, (nvrtc_program program, char *ltoir))

typedef struct qn_nvrtc {
#define QN_NVRTC_MEMBER(name, result, parameters) result(*name) parameters;
    QN_NVRTC_FUNCTIONS(QN_NVRTC_MEMBER)
#undef QN_NVRTC_MEMBER
    int major, minor;
    int *archs; /* compute capabilities, ascending: 75, 80, ... */
    int arch_count;
} qn_nvrtc;

/* ---- load.c ------------------------------------------------------------------------------- */

/** A function of a library, and where its pointer goes. */
typedef struct qn_symbol {
    const char *name;
    size_t offset;
} qn_symbol;

/** A library of CUDA's that is loaded at run time, once a process. */
typedef struct qn_loadable {
    const char *name, *purpose; /**< "NVRTC", "compiler" */
    const char *file;           /**< "libnvrtc" */
    const char *variable;       /**< of the environment, that says where it is */
    const char *package;        /**< of Python, that has it */
    const char *oldest;         /**< the first version that has all functions */
    quern_status not_found, unusable;
    bool (*find)(qn_compiler_identity *out, char **looked);
    const qn_symbol *symbols; /**< the first is in every version */
    size_t symbol_count;
    void *functions; /**< where they go; guarded by `lock` until `ready`, constant after */
    /** Called with the functions in place: reads the version, and fails when it is of no use. */
    quern_status (*check)(const char *path);
    pthread_mutex_t lock;
    atomic_bool ready;
    qn_library *library; /**< never closed: the functions are in it */
} qn_loadable;
/** Load it unless it is loaded; thread-safe. A failure is told each time, and tried again. */
quern_status qn_load(qn_loadable *loadable);
bool qn_is_loaded(const qn_loadable *loadable);

/* ---- nvrtc.c ------------------------------------------------------------------------------ */

/** The loaded library; loads it. Never unloaded, so *out stays valid. */
quern_status qn_nvrtc_get(const qn_nvrtc **out);

/* ---- places.c ------------------------------------------------------------------------------ */

/** Where something may be: `below` the value of a variable of the environment (NULL: of nothing, so
 * `below` is a whole path; "": of the folder of libquern). `below` NULL: the value is a list of
 * folders. A pattern with * may match several folders: the highest version comes first. */
typedef struct qn_place {
    const char *variable, *below;
} qn_place;
/** Look at a folder that exists. True: enough. */
typedef bool (*qn_folder_visitor)(void *context, const char *folder);
/** Visit the folders of a table until one is enough; true then. */
bool qn_places_visit(const qn_place *places, size_t count, qn_folder_visitor visitor,
                     void *context);
bool qn_is_folder(const char *path);

/* ---- cuda_headers.c ----------------------------------------------------------------------- */

/** A folder with headers of CUDA or CCCL. */
typedef struct qn_cuda_folder {
    char *path;
    uint64_t version; /**< a hash of the versions that its headers state */
} qn_cuda_folder;
/** The folders of this machine, in the order in which they are searched. Found once a process. */
size_t qn_cuda_folders(const qn_cuda_folder **out);
/** The first of them that has the header `name`; SIZE_MAX: none. */
size_t qn_cuda_folder_with(const char *name);
/** Is a folder of the user's one with CUDA's or CCCL's headers, and of which version? */
bool qn_cuda_folder_is(const char *folder);
uint64_t qn_cuda_version_of(const char *folder);
/** Is what this name finds in such a folder CUDA's or CCCL's own header, known by that version?
 * All else there is the user's: /usr/include may be such a folder. */
bool qn_cuda_header_is(qn_str name);

/* ---- missing.c ---------------------------------------------------------------------------- */

/** What is wrong and what to do when the compiler did not find the header `name`, which the file
 * `beside` (NULL: an #include with <>) has in quotes. */
void qn_explain_missing(qn_text *out, qn_str name, const qn_str *beside,
                        const qn_compile_request *request);

/* ---- build_id.c --------------------------------------------------------------------------- */

/** Identify a library file without loading it: see qn_compiler_identity. "" when unreadable. */
void qn_build_id_read(char *out, size_t capacity, const char *path);

/* ---- options.c ---------------------------------------------------------------------------- */

/** What a user asks for: "sm_90a" is real, of 90, with the variant "a". */
typedef struct qn_target {
    bool is_virtual;
    int arch;
    char variant[2];
} qn_target;
/** The target among a user's options, or `arch` itself. Fails when it does not run on `arch`. */
quern_status qn_target_find(qn_target *out, const char *const *options, size_t count, int arch);

/** The options handed to NVRTC: Quern's, the user's, then the folders of CUDA's headers. Lie in an
 * arena. `kind` is what they ask for: of the request, or PTX for a virtual target. */
typedef struct qn_options {
    const char **list;
    int count;
    qn_image_kind kind;
} qn_options;
quern_status qn_options_make(qn_options *out, qn_arena *arena, const qn_compile_request *request,
                             const qn_nvrtc *nvrtc);

/* ---- diagnose.c --------------------------------------------------------------------------- */

/** Record QUERN_ERROR_COMPILE from the log of a failed compilation: message, place, span.
 * QUERN_ERROR_NAME when it was for a name expression. */
quern_status qn_diagnose(qn_str log, const qn_compile_request *request,
                         const qn_user_text *user_texts, size_t user_text_count);

/** Record QUERN_ERROR_COMPILE for options that NVRTC refused; names the user's option it means. */
quern_status qn_diagnose_option(qn_str log, const qn_compile_request *request,
                                const qn_nvrtc *nvrtc);

/* ---- directives.c ------------------------------------------------------------------------- */

/** A name as it is written, and whether in quotes. */
typedef struct qn_directive {
    qn_str name; /**< empty: not written here, a macro gives it */
    bool quoted;
    bool further; /**< #include_next: the name is that of a later file */
} qn_directive;
/** The next #include from *at on, in a text whose lines are joined. False: there is no more. */
bool qn_next_include(qn_str text, const char **at, qn_directive *out);
/** The next __has_include from *at on, but where the text only asks whether that word is known. */
bool qn_next_question(qn_str text, const char **at, qn_directive *out);
/** The text with lines that end in a backslash joined to the next, as the compiler reads it: *text
 * as it was, or *copy, which the caller frees. False: out of memory. */
bool qn_join_lines(qn_str *text, char **copy);

/* ---- skip.c ------------------------------------------------------------------------------- */

/** Behind the comment, string or character constant that begins at `p` of a text of C++; `p` itself
 * when none begins there; NULL when it has no end. */
const char *qn_skip_inert(qn_str text, const char *p);

/* ---- brackets.c --------------------------------------------------------------------------- */

/** Find the first bracket of C-like text that has no partner: its offset in *at. False: all match.
 * Comments, strings and character constants are passed over; an unfinished comment or string counts
 * as one, at its beginning. */
bool qn_bracket_unmatched(const char *text, size_t *at);

#endif /* QN_COMPILE_NVRTC_H */
