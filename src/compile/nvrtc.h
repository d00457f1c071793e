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
    X(GetCUBIN, int, (nvrtc_program program, char *cubin))

typedef struct qn_nvrtc {
#define QN_NVRTC_MEMBER(name, result, parameters) result(*name) parameters;
    QN_NVRTC_FUNCTIONS(QN_NVRTC_MEMBER)
#undef QN_NVRTC_MEMBER
    qn_library *library; /* never closed: the functions are in it */
    int major, minor;
    int *archs; /* compute capabilities, ascending: 75, 80, ... */
    int arch_count;
} qn_nvrtc;

/* ---- nvrtc.c ------------------------------------------------------------------------------ */

/** The loaded library; loads it. Never unloaded, so *out stays valid. */
quern_status qn_nvrtc_get(const qn_nvrtc **out);

/* ---- build_id.c --------------------------------------------------------------------------- */

/** Identify a library file without loading it: see qn_compiler_identity. "" when unreadable. */
void qn_build_id_read(char *out, size_t capacity, const char *path);

/* ---- options.c ---------------------------------------------------------------------------- */

/** The options handed to NVRTC: Quern's, then the user's. Lie in `arena`. */
quern_status qn_options_make(qn_arena *arena, const qn_compile_request *request,
                             const qn_nvrtc *nvrtc, const char *const **options, int *count);

/* ---- diagnose.c --------------------------------------------------------------------------- */

/** Record QUERN_ERROR_COMPILE from the log of a failed compilation: message, place, span. */
quern_status qn_diagnose(qn_str log, const qn_user_text *user_texts, size_t user_text_count);

/** Record QUERN_ERROR_COMPILE for options that NVRTC refused; names the user's option it means. */
quern_status qn_diagnose_option(qn_str log, const qn_compile_request *request,
                                const qn_nvrtc *nvrtc);

/* ---- brackets.c --------------------------------------------------------------------------- */

/** Find the first bracket of C-like text that has no partner: its offset in *at. False: all match.
 * Comments, strings and character constants are passed over; an unfinished comment or string counts
 * as one, at its beginning. */
bool qn_bracket_unmatched(const char *text, size_t *at);

#endif /* QN_COMPILE_NVRTC_H */
