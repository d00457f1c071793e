/* SPDX-License-Identifier: MIT
 *
 * Inside of compile: NVRTC's functions as they were found in the loaded library, and what the files
 * of this folder share. The list of prototypes is all that Quern knows of NVRTC's interface;
 * nvrtc.h of the CUDA Toolkit is not needed to build.
 */
#ifndef QN_COMPILE_NVRTC_H
#define QN_COMPILE_NVRTC_H

#include "base/cpp_text.h"
#include "compile/compile.h"

#include <pthread.h>
#include <signal.h>

#define QN_OLDEST_MAJOR 12 /**< the oldest NVRTC that can be used */

typedef struct nvrtc_program *nvrtc_program;

/* The results of NVRTC's functions that Quern distinguishes. */
enum {
    NVRTC_OK = 0,
    NVRTC_OUT_OF_MEMORY = 1,
    NVRTC_INVALID_OPTION = 5,
    NVRTC_COMPILATION = 6,
    NVRTC_BUILTINS = 7,
    NVRTC_NO_PCH = 13 /* none had to be made */
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
    int (*GetPCHCreateStatus)(nvrtc_program program); /**< NULL before 12.8 */
    int major, minor;
    int *archs; /* compute capabilities, ascending: 75, 80, ... */
    int arch_count;
} qn_nvrtc;

/* ---- load_library.c ------------------------------------------------------------------------- */

/** Add to the error at hand which places were searched; NULL or "": nothing. */
void qn_tell_looked(const char *looked);

/** One of CUDA's libraries, loaded at run time, once per process. */
typedef struct qn_loadable {
    const char *name, *purpose; /**< "NVRTC", "compiler" */
    const char *file;           /**< "libnvrtc" */
    const char *variable;       /**< the environment variable that says where it is */
    const char *package;        /**< the Python package that has it */
    const char *oldest;         /**< the first version that has all functions */
    quern_status not_found, unusable;
    bool (*find)(qn_compiler_identity *out, char **looked);
    const qn_library_function *symbols; /**< the first is in every version */
    size_t symbol_count;
    void *functions; /**< where they go; guarded by `lock` until `ready`, constant after */
    /** Called with the functions in place: reads the version, and fails when it cannot be used. */
    quern_status (*check)(qn_library *library);
    pthread_mutex_t lock;
    atomic_bool ready;
    qn_library *library; /**< never closed: the functions are in it */
} qn_loadable;
/** Load it unless it is loaded; thread-safe. After a failure, each call tries again and reports it
 * again. */
quern_status qn_load(qn_loadable *loadable);
bool qn_is_loaded(const qn_loadable *loadable);

/* ---- ending.c: the end of a process, and fork(), while other threads compile ----------------- */

/** Called when a library of a compiler was loaded: exit() then waits for compilations that run,
 * before the library takes down what is its. */
void qn_compiling_wait_at_exit(void);
/** Fails when the process is ending. After success, qn_compiling_end() follows; fork() waits for
 * it. */
quern_status qn_compiling_begin(const char *what);
void qn_compiling_end(void);

/* ---- nvrtc.c -------------------------------------------------------------------------------- */

/** The loaded library; loads it. Never unloaded, so *out stays valid. */
quern_status qn_nvrtc_get(const qn_nvrtc **out);

/* ---- compile.c ------------------------------------------------------------------------------ */

/** qn_compile() without a second try: for request->fewer_blocks. */
quern_status qn_compile_once(qn_image *out, const qn_compile_request *request,
                             const qn_user_text *user_texts, size_t user_text_count);

/* ---- pch.c: precompiled headers ------------------------------------------------------------- */

/** Where NVRTC may keep those of this compilation; NULL: it shall make and use none. Valid until
 * the process ends. */
const char *qn_pch_folder(const qn_compile_request *request, const qn_nvrtc *nvrtc);
/** After a compilation that had such a folder: where NVRTC could not make one, it is not asked
 * again. True: that may be why the compilation failed, and it is to be done again without. */
bool qn_pch_failed(const qn_nvrtc *nvrtc, nvrtc_program program, int result, const char *log);
/** It was: there are none any more in this process. */
void qn_pch_give_up(void);

/* ---- signals.c: the program's signals while NVRTC compiles ---------------------------------- */

enum { QN_WATCHED_SIGNALS = 3 };
typedef struct qn_signal_guard {
    const qn_nvrtc *nvrtc;
    struct sigaction before[QN_WATCHED_SIGNALS];
    pthread_t thread;
    bool needed; /**< the program has handlers of its own */
    bool runs;   /**< the thread */
    atomic_bool ended;
} qn_signal_guard;
/** Around a compilation: keep the program's handlers in place. */
void qn_signals_guard(qn_signal_guard *guard, const qn_nvrtc *nvrtc);
void qn_signals_unguard(qn_signal_guard *guard);

/* ---- places.c, trust.c ---------------------------------------------------------------------- */

/** Where something may be: the value of `variable`, followed by `below`. The variable is one of the
 * environment, or one of the names that begin with "=" here; NULL: `below` is a whole path. `below`
 * NULL: the value is a list of folders. A pattern with * may match several folders: the highest
 * version comes first. */
typedef struct qn_cuda_place {
    const char *variable, *below;
} qn_cuda_place;
#define QN_BESIDE  "=beside"  /**< the folder of libquern, or of the program it is linked into */
#define QN_FETCHED "=fetched" /**< the folder of what ./dev fetches, as it was when configured */
#define QN_RUNPATH "=runpath" /**< the list that was linked into that file */
/** Look at a folder that exists. True: enough. `trusted`: the user or the system named it, or
 * qn_folder_is_trusted(); load nothing from a folder that is not trusted. */
typedef bool (*qn_folder_visitor)(void *context, const char *folder, bool trusted);
/** Visit the folders of a table until one is enough; true then. */
bool qn_places_visit(const qn_cuda_place *places, size_t count, qn_folder_visitor visitor,
                     void *context);
bool qn_is_folder(const char *path);
/** May only those write to this folder who may write to the program that runs? */
bool qn_folder_is_trusted(const char *folder);

/* ---- find.c --------------------------------------------------------------------------------- */

/** What qn_compiler_use() and qn_compiler_suit_driver() do as long as nothing is loaded. */
quern_status qn_compiler_choose(const char *path);
void qn_compiler_suit(int driver);
/** A number that changes when another compiler is found from now on. */
unsigned qn_compiler_choice(void);
/** The newest that a driver of this version (0: any) runs of all in these places. */
bool qn_compiler_newest(qn_compiler_identity *out, const qn_cuda_place *all, size_t count,
                        int driver);

/* ---- release.c ------------------------------------------------------------------------------ */

/** The release of a libnvrtc file, from its name and those of the files beside it. */
qn_release qn_release_of_compiler(const char *path);
/** How badly headers fit a compiler. 0: they fit, or the compiler's release is not known; 1, 2: an
 * older, a newer minor release; 3: their release is not known; QN_WORST_MISFIT: another major
 * one. */
#define QN_WORST_MISFIT 4
int qn_release_misfit(qn_release compiler, qn_release headers);
/* ---- cuda_headers.c ------------------------------------------------------------------------- */

/** A folder with headers of CUDA or CCCL. */
typedef struct qn_cuda_folder {
    char *path;
    uint64_t version;   /**< a hash of the versions that its headers state */
    qn_release release; /**< of CUDA; CCCL's folder within CUDA's has that of CUDA's */
} qn_cuda_folder;
/** The folders of this machine, in the order in which they are searched: those that fit the
 * compiler best come first, and equals in the order of the table of places. Found once per
 * process. */
size_t qn_cuda_folders(const qn_cuda_folder **out);
/** The first of them that has the header `name`; SIZE_MAX: none. */
size_t qn_cuda_folder_with(const char *name);
/** Does this folder have CUDA's or CCCL's headers? And a hash of their versions. */
bool qn_cuda_folder_is(const char *folder);
uint64_t qn_cuda_version_of(const char *folder);
/** The release of CUDA that the headers in a folder state. */
qn_release qn_cuda_release_of(const char *folder);
/** Is what this name finds in such a folder CUDA's or CCCL's own header, known by that version?
 * All else there is the user's: /usr/include may be such a folder. */
bool qn_cuda_header_is(qn_str name);

/* ---- release_advice.c ----------------------------------------------------------------------- */

/** Add to the recorded error of a failed compilation, whose log is `log`, which headers of another
 * release it used, if any. */
void qn_explain_releases(const qn_compile_request *request, qn_release compiler, const char *log);

/* ---- missing.c ------------------------------------------------------------------------------ */

/** What is wrong and what to do when the compiler did not find the header `name`, which the file
 * `beside` (NULL: an #include with <>) has in quotes. */
void qn_explain_missing(qn_text *out, qn_str name, const qn_str *beside,
                        const qn_compile_request *request);

/* ---- build_id.c ----------------------------------------------------------------------------- */

/** Identify a library file without loading it: see qn_compiler_identity. "" when unreadable. */
void qn_build_id_read(char *out, size_t capacity, const char *path);

/* ---- nvrtc_options.c ------------------------------------------------------------------------ */

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
/** `pch_folder`: as qn_pch_folder() says. */
quern_status qn_options_make(qn_options *out, qn_arena *arena, const qn_compile_request *request,
                             const qn_nvrtc *nvrtc, const char *pch_folder);

/* ---- log_entry.c: the compiler's log -------------------------------------------------------- */

typedef enum qn_severity {
    QN_SAID_OTHER, /**< a line with no place: how many errors there were, ptxas */
    QN_SAID_ERROR,
    QN_SAID_WARNING,
    QN_SAID_NOTE
} qn_severity;

/** One finding. Everything points into the log. */
typedef struct qn_log_entry {
    qn_severity severity;
    qn_str whole;
    qn_str file;    /**< empty: at the end of the source */
    uint32_t line;  /**< 0: at the end of the source */
    qn_str message; /**< its first line, without "error: " */
    qn_str details; /**< its other lines: "argument types are: (int)" */
    qn_str printed; /**< the source line shown below it, or empty */
    size_t caret;   /**< byte of `printed` that the caret is under; SIZE_MAX: not shown */
    qn_str context; /**< "detected during ..." */
} qn_log_entry;
/** Cut the next entry off *log. False: there is no more. */
bool qn_next_entry(qn_str *log, qn_log_entry *out);
bool qn_first_error(qn_str log, qn_log_entry *out);

/* Pieces of text that is not terminated. */
bool qn_next_line(qn_str *rest, qn_str *line); /**< cut the first line off *rest */
const char *qn_find_in(qn_str text, const char *what);
qn_str qn_from(qn_str text, const char *begin); /**< from `begin` to its end */
qn_str qn_trim(qn_str text);

/* ---- user_texts.c: places in the user's texts ----------------------------------------------- */

typedef struct qn_user_texts {
    const qn_user_text *list;
    size_t count;
} qn_user_texts;

/** The text that #line calls `name`; NULL: none. */
const qn_user_text *qn_text_named(qn_user_texts texts, qn_str name);
/** The same by a name that an image keeps: the same source, perhaps from another folder. */
const qn_user_text *qn_text_kept(qn_user_texts texts, qn_str name);
/** The text that the generated code called `name` follows (QN_AFTER); NULL: none. */
const qn_user_text *qn_text_before(qn_user_texts texts, qn_str name);
/** The token at the beginning of `rest`. */
qn_str qn_token_at(qn_str rest);
/** The first `word` in `text` that is not part of a longer word; NULL: it is not there. */
const char *qn_word_in(qn_str text, qn_str word);
/** The last token of a text, comments apart; empty when there is none. */
qn_str qn_last_token(const char *text);
/** The name in the #include of a line, when the compiler did not find the header; else empty. */
qn_str qn_missing_header(const qn_log_entry *found, qn_str line);
/** Record QUERN_ERROR_COMPILE about `span` of a text: its message begins with the place. */
quern_status qn_fail_at_span(const qn_user_text *text, qn_str span, const char *format, ...)
    QN_PRINTF(3, 4);
/** The same about a line of it, where only that is known. */
quern_status qn_fail_at_line(const qn_user_text *text, uint32_t line, const char *format, ...)
    QN_PRINTF(3, 4);

/* ---- header_place.c: places in headers ------------------------------------------------------ */

/** Is this file the source itself or a header in memory, rather than a header in a file? */
bool qn_is_ours(qn_str file, const qn_compile_request *request);

/** Record a finding in a file that a user's text includes: with its line, and who includes it.
 * `any`: one of CUDA's too. False: it is not such a file, or cannot be read. */
bool qn_fail_in_header(const qn_log_entry *found, qn_str message, qn_user_texts texts,
                       const qn_compile_request *request, bool any);
/** The same for a header of the user's that ends too early, so that the compiler stumbles over the
 * first thing after its #include. */
bool qn_fail_in_ended_header(const qn_log_entry *found, qn_str message, qn_user_texts texts,
                             const qn_compile_request *request);

/* ---- log_rest.c: what a log says besides its first error ------------------------------------ */

/** The message of an entry on one line: with the types and the candidates it lists. */
void qn_log_sentence(qn_text *out, const qn_log_entry *entry);
/** What the log adds to an error that was reported, with its line if `told`: notes, how the
 * compiler came there, further errors in what the user wrote. */
void qn_log_rest(qn_text *out, qn_str log, bool told, qn_user_texts texts,
                 const qn_compile_request *request);
/** The warnings of a log that are about the user's own texts, as the compiler printed them. */
void qn_log_warnings(qn_text *out, qn_str log, qn_user_texts texts);

/* ---- diagnose.c ----------------------------------------------------------------------------- */

/** Record QUERN_ERROR_COMPILE from the log of a failed compilation: message, place, span.
 * QUERN_ERROR_NAME when it was for a name expression. */
quern_status qn_diagnose(qn_str log, const qn_compile_request *request,
                         const qn_user_text *user_texts, size_t user_text_count);

/** Record QUERN_ERROR_COMPILE for options that NVRTC refused; names the user's option it means. */
quern_status qn_diagnose_option(qn_str log, const qn_compile_request *request,
                                const qn_nvrtc *nvrtc);

/** The place of a finding in its line of the user's text; NULL when the compiler shows another line
 * than it names, as it does inside a macro of several lines. */
const char *qn_place_in_line(const qn_log_entry *found, qn_str line);

/* ---- brackets.c ----------------------------------------------------------------------------- */

/** Find the first bracket of C-like text that has no partner: its offset in *at. False: all match.
 * Comments, strings and character constants are passed over; an unfinished comment or string counts
 * as one, at its beginning. */
bool qn_bracket_unmatched(const char *text, size_t *at);
/** Find one that explains an error at `place`: it closes nothing, or was opened before `place` and
 * never closed; after an open brace the compiler may read many lines before it stumbles. Texts with
 * #else or #elif are left alone: each branch may have a bracket of its own. */
bool qn_bracket_alone(const qn_user_text *text, const char *place, qn_str message, size_t *at);
/** Record QUERN_ERROR_COMPILE about the bracket or quote at `at`. */
void qn_fail_at_bracket(const qn_user_text *text, size_t at, qn_str message);
/** The same about one that has no partner and that the compiler stumbled over later: in `first`,
 * where it seems to be, or else in another text. False: there is none. */
bool qn_fail_at_brackets(qn_str message, const qn_user_text *first, qn_user_texts texts);
/** The same about a text that ends where more was expected, at its last token. */
quern_status qn_fail_past_end(qn_str message, const qn_user_text *text);

#endif /* QN_COMPILE_NVRTC_H */
