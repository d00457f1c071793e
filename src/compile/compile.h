/* SPDX-License-Identifier: MIT
 *
 * compile: from CUDA source to an image, through NVRTC, and from several images to one, through
 * nvJitLink. Both are loaded at run time and only when they are needed. Uses base only.
 */
#ifndef QN_COMPILE_H
#define QN_COMPILE_H

#include "base/base.h"

/* ---- image_free.c --------------------------------------------------------------------------- */

/** The first three can be loaded, all can be linked. */
typedef enum qn_image_kind {
    QN_IMAGE_CUBIN = 1,
    QN_IMAGE_PTX = 2,
    QN_IMAGE_FATBIN = 3,
    QN_IMAGE_LTO_IR = 4,
    QN_IMAGE_OBJECT = 5, /**< a host's object file with device code in it */
    QN_IMAGE_LIBRARY = 6 /**< a static library of such object files */
} qn_image_kind;

/** Compiled code. Zero-initialise; freed by qn_image_free. */
typedef struct qn_image {
    qn_image_kind kind;
    char *data; /**< PTX is terminated by a zero byte that `size` does not count */
    size_t size;
    char **lowered; /**< the mangled name of each name expression asked for */
    size_t lowered_count;
    char *log;         /**< its warnings about the user's own texts, as it printed them; or "" */
    double compile_ms; /**< time in NVRTC */
    char *said;        /**< the whole log of the compilation that made it; NULL: not kept */
    char *compiler;    /**< of one that another machine made: "NVRTC 13.0"; else NULL */
} qn_image;
void qn_image_free(qn_image *image);

/* ---- sniff.c: images that a user brings ----------------------------------------------------- */

/** What these bytes are, judged by their head, which is read within bounds; 0 when they are not an
 * image. Only the device or the linker can tell whether the rest is sound. */
qn_image_kind qn_image_kind_of(const void *data, size_t size);
/** "cubin", "PTX", ...; "unknown" for 0. */
const char *qn_image_kind_name(qn_image_kind kind);
/** The kind, when it is one that can be loaded: cubin, PTX or fatbin. False when it is not. */
bool qn_image_sniff(qn_image_kind *kind, const void *data, size_t size);

/* ---- nvrtc.c: finding and loading the library ----------------------------------------------- */

/** Which compiler this process would use: known without loading it. */
typedef struct qn_compiler_identity {
    char path[512]; /**< the file; "" when none was found */
    /** Its GNU build id in hexadecimal, read from the ELF notes; without one, an XXH3-64 of the
     * file's size and first 64 KiB, prefixed "h:"; "" when no file was found. */
    char build_id[64];
} qn_compiler_identity;

/** Find libnvrtc without loading it: QUERN_NVRTC (a file, or a folder with it), quern/cuda/lib and
 * ../cuda/lib beside libquern, CUDA_HOME, CUDA_PATH, LD_LIBRARY_PATH, the active Python
 * environment's nvidia/cu13/lib and nvidia/cuda_nvrtc/lib (VIRTUAL_ENV, CONDA_PREFIX), the folders
 * that were linked into the program (-rpath), the folder of what ./dev fetches as it was when Quern
 * was configured; then the newest of /usr/local/cuda*, /usr/lib/x86_64-linux-gnu,
 * /usr/lib/aarch64-linux-gnu, /usr/lib64. A place that nobody who runs the program has named is
 * used only if qn_folder_is_trusted(). Of several versions in one folder, the newest is taken.
 * Searched once per process; thread-safe. Returns false when none was found; *looked (may be NULL;
 * free with qn_free) then lists the places searched, one per line. When qn_compiler_use() or
 * QUERN_NVRTC names one, nothing else is tried. Those of a major release that the driver does not
 * run are taken only when there is no other. */
bool qn_compiler_find(qn_compiler_identity *out, char **looked);
/** Take the one at `path`, a file or its folder; NULL: search again. Errors:
 * QUERN_ERROR_NVRTC_NOT_FOUND; QUERN_ERROR_NVRTC when another is loaded. */
quern_status qn_compiler_use(const char *path);
/** Until no thread compiles or links, but not forever. */
void qn_compiling_wait(void);
/** A driver of this version (13000) has to run what is compiled. Ignored once one is loaded. */
void qn_compiler_suit_driver(int version);

/** Load it (once per process; thread-safe). Errors: QUERN_ERROR_NVRTC_NOT_FOUND, with the places
 * searched and what to install or set; QUERN_ERROR_NVRTC, with the name of the file, when it is not
 * a usable NVRTC (too old, not a library, the wrong library). */
quern_status qn_compiler_load(void);
/** NVRTC's version once loaded; 0.0 before. */
void qn_compiler_version(int *major, int *minor);
/** True when this NVRTC makes native code for compute capability `arch` (90 for 9.0). Loads it. */
quern_status qn_compiler_supports(int arch, bool *native, int *newest);

/* ---- cuda_headers.c, release.c: CUDA's headers ---------------------------------------------- */

/** A release of CUDA. */
typedef struct qn_release {
    int major; /**< 0: not known */
    int minor; /**< -1: not known */
} qn_release;
/** The folder of CUDA's headers that is searched first, "" when there is none, and their release.
 * Valid until the process ends. */
const char *qn_cuda_headers(qn_release *release);

/* ---- includes.c: what a source includes ----------------------------------------------------- */

/** A header in memory: what #include "name" gives. */
typedef struct qn_header {
    const char *name;
    const char *text;
} qn_header;

/** A file on disk that the source may include. */
typedef struct qn_include {
    const char *name; /**< as in the #include, so without a folder of this machine */
    uint64_t hash[2]; /**< XXH3-128 of the contents; 0, 0 when there is no such file */
} qn_include;

/** Everything on disk that shapes what a source compiles to. Zero-initialise; freed by
 * qn_includes_free. */
typedef struct qn_includes {
    const qn_include *files; /**< the user's own, in the order in which they are found */
    size_t file_count;
    const char *const *folders; /**< of CUDA's and CCCL's headers: searched after the user's own */
    size_t folder_count;
    const qn_header *library; /**< those of the request's library that are included */
    size_t library_count;
    uint64_t cuda; /**< a hash of the versions of CUDA's and CCCL's headers; 0: none is included */
    bool opaque;   /**< the source may include more than is listed here, so the image must not be
                      cached */
    qn_arena arena;
} qn_includes;

typedef struct qn_compile_request qn_compile_request;

/** Find what a compilation will read. Of the request, only source, file_name, options (-I,
 * --include-path, -include, --pre-include), headers and library are looked at.
 *
 * Follows every #include of the source and of what it includes, whatever the conditionals around
 * them say, so the result may name more than the compiler reads; what __has_include asks for counts
 * as included. What cannot be followed (a name that a macro gives, #include_next) makes the result
 * opaque. Headers in memory come first, then (for quotes, without --no-source-include) the folder
 * of the including file, then the user's folders; what is in none of them is looked for in CUDA's
 * and CCCL's folders. CUDA's and CCCL's own headers are identified by their version and not read.
 * Their folders are found once per process: CUDA_HOME, CUDA_PATH, the Toolkit of the NVRTC in use,
 * what ./dev fetched, /usr/local/cuda*, the active Python environment; those of NVRTC's release
 * come first. What is in none of them either is looked for in the library.
 *
 * A header that is nowhere is not an error here: the compiler may never ask for it. A source
 * without #include costs one search for that word. Errors: QUERN_ERROR_OUT_OF_MEMORY. */
quern_status qn_includes_find(qn_includes *out, const qn_compile_request *request);
void qn_includes_free(qn_includes *includes);

/* ---- directives.c --------------------------------------------------------------------------- */

/** A name as it is written, and whether in quotes. */
typedef struct qn_directive {
    qn_str name; /**< empty: not written here, a macro gives it */
    bool quoted;
    bool further; /**< #include_next: the name is that of a later file */
} qn_directive;
/** The next #include from *at on, in a text whose lines are joined. False: there is no more. */
bool qn_next_include(qn_str text, const char **at, qn_directive *out);
/** The next __has_include from *at on, except where the text only asks whether it is defined. */
bool qn_next_question(qn_str text, const char **at, qn_directive *out);
/** The text with lines that end in a backslash joined to the next, as the compiler reads it: *text
 * as it was, or *copy, which the caller frees. False: out of memory. */
bool qn_join_lines(qn_str *text, char **copy);

/* ---- kernels.c: what a source defines ------------------------------------------------------- */

/** Append the names of the `__global__` functions in a source, in order, ", " between them, with
 * their namespaces, and "<...>" after templates: "saxpy, ns::scale<...>". Comments and literals are
 * skipped; macros are not expanded. Returns how many there are. */
size_t qn_source_kernels(qn_text *out, const char *source);

/** The name of parameter `index` of a `__global__` function in a source, whatever its namespace;
 * template arguments after the function's name are skipped. Empty: no such function, or no such
 * named parameter. Borrowed from `source`. */
qn_str qn_source_parameter(const char *source, const char *function, uint32_t index);

/** Whether that parameter is declared as a pointer to what is const, so that the function only
 * reads there. False as well where it is not found, or a typedef or a macro says it. */
bool qn_source_parameter_reads(const char *source, const char *function, uint32_t index);

/** What a parameter is, apart from its bytes. */
typedef enum qn_parameter_handle {
    QN_NO_HANDLE,
    QN_TEXTURE_HANDLE, /**< a cudaTextureObject_t */
    QN_SURFACE_HANDLE  /**< a cudaSurfaceObject_t */
} qn_parameter_handle;
/** Whether that parameter is a texture or surface object; neither where functions of that name are
 * declared with different ones, or a typedef or a macro says it. */
qn_parameter_handle qn_source_parameter_handle(const char *source, const char *function,
                                               uint32_t index);

/** Whether it may have kernels that launch kernels: it has "<<<" somewhere but in
 * comments and literals. */
bool qn_source_may_launch(const char *source);
/** Whether a compilation failed, with this log, because kernels launch kernels, which only
 * relocatable code may. *said (may be NULL) is the compiler's sentence. */
bool qn_log_wants_relocatable(const char *log, const char **said);

/** Append an example of a name expression for the template of a `__global__` function `name`, which
 * may have its namespaces in front: "ns::scale<float, 1>". False: the source has no such template.
 */
bool qn_source_instance(qn_text *out, const char *source, const char *name);

/* ---- compile.c, roomier.c ------------------------------------------------------------------- */

struct qn_compile_request {
    const char *source;
    /** The source's name in messages: "quern_kernel.cu". Headers in quotes are looked for in its
     * folder. */
    const char *file_name;
    /** The user's, in order: all that NVRTC knows. A target (-arch) must be the one of `arch`, or
     * a variant of it (sm_90a), or a virtual one up to it (compute_80), which makes PTX. */
    const char *const *options;
    size_t option_count;
    const qn_header *headers;
    size_t header_count;
    /** Headers in memory that stand in for what is found nowhere else: qn_includes_find() tells
     * which of them are included, and those are to be added to `headers`. */
    const qn_header *library;
    size_t library_count;
    const char *const *expressions; /**< name expressions (templates), or none */
    size_t expression_count;
    int arch;           /**< compute capability: 90 */
    qn_image_kind kind; /**< QN_IMAGE_CUBIN, QN_IMAGE_PTX, or QN_IMAGE_LTO_IR to be linked */
    bool line_info;
    /** Add --minimal where NVRTC knows it (12.4 and later). It leaves out what CUDA's runtime
     * declares (cudaError_t, ...), which headers of CCCL need: for Quern's own sources only. */
    bool minimal;
    bool relocatable;            /**< cubin or PTX that is to be linked: -rdc=true */
    const qn_includes *includes; /**< what qn_includes_find() said; NULL: no folders are added */
    int fewer_blocks;            /**< by which QUERN_BLOCKS(n) is less; qn_compile() chooses it */
    const char *beside; /**< a file in whose folder, which is the user's alone, precompiled headers
                             may be made; NULL or "": there is none */
};

/** #line names the generated code after the text NAME "<after NAME>", so that an error about
 * something missing there can be reported for the text that ends too early. */
#define QN_AFTER "<after "

/** What the error record has as the text, when a kernel of ours cannot have its name because CUDA,
 * a header or a macro has it. */
#define QN_KERNEL_NAME "name"

/** A piece of the source that is the user's own text: messages about file `file_name` (as given by
 * #line) are turned into spans of `text`. */
typedef struct qn_user_text {
    const char *file_name; /**< as in `#line 1 "operation"` */
    const char *text;
} qn_user_text;

/** Compile. Several threads may do so at once. A source of Quern's whose kernel has too few
 * registers is compiled once or twice more, for fewer blocks at once. On QUERN_ERROR_COMPILE the
 * error record has the whole log, the source, and for the first error in a user text the span (line
 * and column; the column from the caret line of the log) and a message such as "operation:2:7:
 * identifier "foo" is undefined". For an option that NVRTC rejects, the message names it; for a
 * missing header, it lists the folders searched and says what to do. out->kind is PTX when an
 * option asked for a virtual target. Errors: also QUERN_ERROR_NAME for a name expression that NVRTC
 * rejects, with its reason and the kernels in the source; QUERN_ERROR_INVALID_ARGUMENT for options
 * that cannot be used. */
quern_status qn_compile(qn_image *out, const qn_compile_request *request,
                        const qn_user_text *user_texts, size_t user_text_count);

/* ---- user_texts.c: places in the user's texts ----------------------------------------------- */

/** Line `number` (from 1) of a text; empty at the text's end when there are fewer. */
qn_str qn_text_line(const char *text, uint32_t number);
uint32_t qn_text_lines(const char *text);
/** Line and column (from 1) of the byte `at` of a text. */
void qn_place_of(const char *text, const char *at, uint32_t *line, uint32_t *column);

/* ---- log_warnings.c ------------------------------------------------------------------------- */

/** Append the warnings of an image's log that `out` does not have yet: for each a sentence with its
 * place, and the user's line with a caret. */
void qn_warnings_print(qn_text *out, qn_str log, const qn_user_text *texts, size_t text_count);

/* ---- nvrtc_options.c ------------------------------------------------------------------------ */

typedef enum qn_path_option { QN_NO_PATH, QN_INCLUDE_FOLDER, QN_INCLUDE_FILE } qn_path_option;
/** What options[*k] names: a folder to search (-I, --include-path), a header to begin with
 * (-include, --pre-include), or no path. *path is the path; when it is the next word, *k moves on
 * to that word. */
qn_path_option qn_option_path(const char *const *options, size_t count, size_t *k,
                              const char **path);
/** True when one of the options is -NAME or --NAME, with or without a value after it. */
bool qn_options_say(const char *const *options, size_t count, const char *name);

/** The value of the last -NAME or --NAME, after "=" or in the next word; NULL when there is
 * none. */
const char *qn_options_value(const char *const *options, size_t count, const char *name);

/* ---- link.c, nvjitlink.c: from several images to one ---------------------------------------- */

typedef struct qn_link_input {
    qn_image_kind kind;
    const char *name; /**< in messages */
    const void *data;
    size_t size;
} qn_link_input;

typedef struct qn_link_request {
    const qn_link_input *inputs;
    size_t input_count;
    /** Those of the compiler. The ones that also shape code at link time are passed on (-lineinfo,
     * -G, -maxrregcount, -ftz, ...), the others are ignored. */
    const char *const *options;
    size_t option_count;
    int arch;           /**< compute capability: 90 */
    qn_image_kind kind; /**< QN_IMAGE_CUBIN, or QN_IMAGE_PTX when all inputs are LTO-IR */
    bool line_info;
} qn_link_request;

/** Link. CUDA source is compiled first: as LTO-IR, or as relocatable cubin. For the software device
 * only LTO-IR can be linked. Several threads may link at once. The log of the image has the
 * linker's warnings. The device's runtime is added where what is linked uses it. Errors:
 * QUERN_ERROR_LINK with the linker's log, or with the places where that runtime was looked for;
 * QUERN_ERROR_NVJITLINK_NOT_FOUND with the places searched; QUERN_ERROR_INVALID_ARGUMENT (no
 * inputs; PTX asked for and an input that is not LTO-IR, which is named). */
quern_status qn_link(qn_image *out, const qn_link_request *request);

/** Find libnvJitLink without loading it: QUERN_NVJITLINK (a file, or a folder with it), the folder
 * of the NVRTC in use, then the places of qn_compiler_find(). Its build id belongs in the key of
 * what is linked. */
bool qn_linker_find(qn_compiler_identity *out, char **looked);
/** Find libcudadevrt.a, which kernels that launch kernels are linked with: QUERN_CUDADEVRT (the
 * file, or its folder), the folder of the NVRTC in use, the places of qn_compiler_find(), those of
 * CUDA's runtime. */
bool qn_device_runtime_find(qn_compiler_identity *out, char **looked);
/** nvJitLink's version once loaded; 0.0 before. */
void qn_linker_version(int *major, int *minor);

#endif /* QN_COMPILE_H */
