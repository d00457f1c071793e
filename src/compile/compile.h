/* SPDX-License-Identifier: MIT
 *
 * compile: from CUDA source to an image, through NVRTC, which is loaded at run time and only when
 * something must be compiled. Uses base only.
 */
#ifndef QN_COMPILE_H
#define QN_COMPILE_H

#include "base/base.h"

/* ---- image.c ------------------------------------------------------------------------------ */

typedef enum qn_image_kind {
    QN_IMAGE_CUBIN = 1,
    QN_IMAGE_PTX = 2,
    QN_IMAGE_FATBIN = 3
} qn_image_kind;

/** Compiled code. Zero-initialise; freed by qn_image_free. */
typedef struct qn_image {
    qn_image_kind kind;
    char *data; /**< PTX is terminated by a zero byte that `size` does not count */
    size_t size;
    char **lowered; /**< the mangled name of each name expression asked for */
    size_t lowered_count;
    char *log;         /**< what the compiler said, warnings included; "" from the cache */
    double compile_ms; /**< time in NVRTC */
} qn_image;
void qn_image_free(qn_image *image);

/* ---- nvrtc.c: finding and loading the library --------------------------------------------- */

/** Which compiler this process would use: known without loading it. */
typedef struct qn_compiler_identity {
    char path[512]; /**< the file; "" when none was found */
    char
        build_id[64]; /**< its GNU build id in hexadecimal (read from the ELF notes); else a XXH3-64
                           of the file's size and first 64 KiB, prefixed "h:"; "" when not found */
} qn_compiler_identity;

/** Find libnvrtc without loading it: QUERN_NVRTC (a file, or a folder with it),
 * ../cuda/lib beside libquern, CUDA_HOME, CUDA_PATH, LD_LIBRARY_PATH, the active Python
 * environment's nvidia/cuda_nvrtc/lib and nvidia/cu13/lib (VIRTUAL_ENV, CONDA_PREFIX),
 * /usr/local/cuda*, /usr/lib/x86_64-linux-gnu, /usr/lib64. Of several versions in one folder the
 * newest. Done once a process and remembered; thread-safe. Returns false when there is none, and
 * *looked (may be NULL; free with qn_free) then lists where it looked, a line each. When
 * QUERN_NVRTC is set, nothing else is tried. */
bool qn_compiler_find(qn_compiler_identity *out, char **looked);

/** Load it (once a process; thread-safe). Errors: QUERN_ERROR_NVRTC_NOT_FOUND with where it was
 * looked for and what to install or set, QUERN_ERROR_NVRTC when the file is no usable NVRTC (too
 * old, not a library, wrong library) with the file named. */
quern_status qn_compiler_load(void);
/** NVRTC's version once loaded; 0.0 before. */
void qn_compiler_version(int *major, int *minor);
/** True when this NVRTC makes native code for compute capability `arch` (90 for 9.0). Loads it. */
quern_status qn_compiler_supports(int arch, bool *native, int *newest);

/* ---- compile.c ---------------------------------------------------------------------------- */

/** A header in memory: what #include "name" gives. */
typedef struct qn_header {
    const char *name;
    const char *text;
} qn_header;

typedef struct qn_compile_request {
    const char *source;
    const char *file_name;      /**< what the source is called in messages: "quern_kernel.cu" */
    const char *const *options; /**< the user's, in order */
    size_t option_count;
    const qn_header *headers;
    size_t header_count;
    const char *const *expressions; /**< name expressions (templates), or none */
    size_t expression_count;
    int arch;           /**< compute capability: 90 */
    qn_image_kind kind; /**< QN_IMAGE_CUBIN (-arch=sm_) or QN_IMAGE_PTX (-arch=compute_) */
    bool line_info;
    bool minimal; /**< add --minimal where NVRTC knows it (12.4 and later) */
} qn_compile_request;

/** A piece of the source that is the user's own text: messages about file `file_name` (as given by
 * #line) are turned into spans of `text`. */
typedef struct qn_user_text {
    const char *file_name; /**< as in `#line 1 "operation"` */
    const char *text;
} qn_user_text;

/** Compile. Several threads may do so at once. On QUERN_ERROR_COMPILE the error record has the
 * whole log, the source, and for the first error in a user text the span (line and column; the
 * column from the caret line of the log) and a message such as "operation:2:7: identifier "foo" is
 * undefined". An option that NVRTC rejects is named in the message. */
quern_status qn_compile(qn_image *out, const qn_compile_request *request,
                        const qn_user_text *user_texts, size_t user_text_count);

#endif /* QN_COMPILE_H */
