/* SPDX-License-Identifier: MIT
 *
 * base: what every other folder builds on. Nothing here knows about kernels or devices.
 */
#ifndef QN_BASE_H
#define QN_BASE_H

#include <pthread.h>
#include <quern/status.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define QN_PRINTF(string, first) __attribute__((format(printf, string, first)))
#define QN_COUNT(array)          (sizeof(array) / sizeof((array)[0]))
#define QN_MIN(a, b)             ((a) < (b) ? (a) : (b))
#define QN_MAX(a, b)             ((a) > (b) ? (a) : (b))

/* ---- error.c: this thread's last failure ---------------------------------------------------- */

/** A borrowed piece of text, not terminated. */
typedef struct qn_str {
    const char *data;
    size_t length;
} qn_str;

#define QN_STR(literal) ((qn_str){(literal), sizeof(literal) - 1})
qn_str qn_str_of(const char *text);
/** `text` without the byte order mark that some editors put before UTF-8; NULL for NULL. */
const char *qn_behind_mark(const char *text);
bool qn_str_is(qn_str a, const char *text);
bool qn_str_same(qn_str a, qn_str b);
bool qn_str_begins(qn_str text, const char *start);
/** As qn_str_begins, of text that is terminated. */
static inline bool qn_begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/** Pass a failure upward. */
#define QN_TRY(call)                                                                               \
    do {                                                                                           \
        quern_status qn_try_status_ = (call);                                                      \
        if (qn_try_status_ != QUERN_OK) {                                                          \
            return qn_try_status_;                                                                 \
        }                                                                                          \
    } while (0)

/** Record a failure with its sentence and return `status`. Replaces an earlier record, and with it
 * any span, log and source. When there is no memory for the sentence, the status's fixed text takes
 * its place. */
quern_status qn_fail(quern_status status, const char *format, ...) QN_PRINTF(2, 3);

/** As qn_fail, about bytes [begin, end) of `text` (copied), which users know as `text_name`. */
quern_status qn_fail_at(quern_status status, const char *text_name, qn_str text, size_t begin,
                        size_t end, const char *format, ...) QN_PRINTF(6, 7);

/** Out of host memory while `doing`. */
quern_status qn_fail_memory(const char *doing);

/** Add to the record: which stage failed, the compiler's log, the generated source (all copied). */
void qn_error_stage(const char *stage);
void qn_error_log(qn_str log);
void qn_error_source(qn_str source);
/** The part of the log to print with the message, when the message already says the rest. Without
 * this call, all of the log is printed. */
void qn_error_rest(qn_str rest);
/** Add a place that only the engine can turn into a span: line and column (from 1; column 0 if
 * unknown) of the user text that `#line` calls `file`. */
void qn_error_place(const char *file, uint32_t line, uint32_t column);
/** The place recorded, if any; borrowed. */
bool qn_error_get_place(const char **file, uint32_t *line, uint32_t *column);
/** Give the recorded failure the span [begin, end) of `text` (copied). */
void qn_error_span(const char *text_name, qn_str text, size_t begin, size_t end);
/** What a message says about a parameter, in bytes [begin, end), and about a place, in bytes
 * [place_begin, place_end). The engine, which knows the user's names, rewords both. */
typedef struct qn_error_subject {
    uint32_t parameter; /**< of the kernel, from 0 */
    uint64_t address;   /**< of what was accessed */
    int64_t offset;     /**< of `address` from where the parameter points */
    uint32_t named; /**< 1: `index`, in C order, is outside the array; 2 + k: it is outside along
                       axis k; 0: no index is known */
    int64_t index;
    size_t begin, end; /**< both 0: no parameter is known */
    size_t place_begin, place_end;
    bool is_use; /**< the recorded place is where the value that was read is used */
} qn_error_subject;
void qn_error_set_subject(const qn_error_subject *subject);
/** The subject recorded; all zero: none. */
void qn_error_get_subject(qn_error_subject *out);
/** Replace bytes [begin, end) of the recorded message by `words`. */
void qn_error_reword(size_t begin, size_t end, const char *words);
/** Put a text (printf) before or after the recorded message. */
void qn_error_prefix(const char *format, ...) QN_PRINTF(1, 2);
void qn_error_suffix(const char *format, ...) QN_PRINTF(1, 2);

/** Forget the record: first line of every public fallible function. */
void qn_error_reset(void);

/* ---- memory.c: the only file that names malloc ---------------------------------------------- */

/** NULL when out of memory (nothing is recorded: the caller says what it was doing). Size 0 gives a
 * pointer that can be freed. */
void *qn_alloc(size_t size) __attribute__((malloc));
void *qn_calloc(size_t count, size_t size) __attribute__((malloc));
void *qn_realloc(void *pointer, size_t size);
void *qn_alloc_aligned(size_t alignment, size_t size);
char *qn_strdup(const char *text);
char *qn_strndup(const char *text, size_t length);
void qn_free(void *pointer);

/** A growing array: zero-initialise, QN_ROOM before each addition, qn_free(items) at the end. */
#define QN_LIST(type)                                                                              \
    struct {                                                                                       \
        type *items;                                                                               \
        uint32_t count, capacity;                                                                  \
    }
#define QN_ROOM(list)                                                                              \
    qn_room((void **)&(list).items, (list).count, &(list).capacity, sizeof *(list).items)
/** Room for one more element of `size` bytes; false: out of memory, and nothing is changed. */
bool qn_room(void **items, uint32_t count, uint32_t *capacity, size_t size);

/** Fault injection for tests: the `n`-th allocation from now fails (n = 1: the next), and all after
 * it when `sticky`. 0 switches off. Returns the number of allocations counted since the last call.
 * The environment's QUERN_FAIL_ALLOC=N does the same from the start of the process. */
uint64_t qn_memory_fail_after(uint64_t n, bool sticky);

/** Many small allocations that are freed together. Not thread-safe. Zero-initialise. */
typedef struct qn_arena {
    struct qn_arena_block *head;
} qn_arena;
void *qn_arena_alloc(qn_arena *arena, size_t size); /**< zeroed, 16-aligned; NULL: out of memory */
char *qn_arena_strndup(qn_arena *arena, const char *text, size_t length);
void qn_arena_free(qn_arena *arena);

/* ---- text.c: growing text ------------------------------------------------------------------- */

/** Zero-initialise. After an allocation failure `failed` is set and further calls do nothing; check
 * it once at the end. `data` is terminated, or NULL while nothing was added. */
typedef struct qn_text {
    char *data;
    size_t length, capacity;
    bool failed;
} qn_text;
void qn_text_add(qn_text *text, const char *data, size_t length);
void qn_text_puts(qn_text *text, const char *string);
void qn_text_printf(qn_text *text, const char *format, ...) QN_PRINTF(2, 3);
void qn_text_vprintf(qn_text *text, const char *format, va_list arguments);
/** Hand over the string (free with qn_free) and become empty; NULL when out of memory. */
char *qn_text_take(qn_text *text);
void qn_text_free(qn_text *text);

/* ---- error_text.c: a failure as text for a person ------------------------------------------- */

/** Message, place with a caret, then the part of the compiler's log that qn_error_rest() chose. */
void qn_error_print(qn_text *out, const quern_error *error, const char *log);
/** The same for a warning: its message and its place. */
void qn_warning_print(qn_text *out, const quern_error *warning);

/* ---- library.c: shared libraries ------------------------------------------------------------ */

typedef struct qn_library qn_library;
/** Open the first of `names` (NULL-terminated; paths or sonames) that loads. On failure *out is
 * NULL and *why (to be freed) says why each failed, or is NULL when out of memory; no error is
 * recorded. */
bool qn_library_open(qn_library **out, const char *const *names, char **why);
void *qn_library_symbol(qn_library *library, const char *name);
/** The file that was loaded, or the name if unknown. Borrowed. */
const char *qn_library_path(const qn_library *library);
void qn_library_close(qn_library *library);
/** A function of a library, and where its address goes in a table. */
typedef struct qn_library_function {
    const char *name;
    size_t offset;
} qn_library_function;
/** Open the first of `names` that loads and fill `table` with all of `functions`. The library stays
 * loaded: another part of the program may use it. NULL: `why` says what is missing. */
qn_library *qn_library_functions(void *table, const char *const *names,
                                 const qn_library_function *functions, size_t count, char *why,
                                 size_t room);
/** The file that contains libquern itself (the program when linked statically), and its folder with
 * no trailing slash; both without links, "" if unknown. */
const char *qn_library_own_file(void);
const char *qn_library_own_folder(void);
/** The library search path linked into that file (-Wl,-rpath), as it was given: folders with ":"
 * between them, "$ORIGIN" for the file's own folder; "" when there is none. */
const char *qn_library_own_runpath(void);

/* ---- file.c: files -------------------------------------------------------------------------- */

/** Write all of it; false: errno says why not. */
bool qn_write_all(int file, qn_str bytes);
/** Read a whole file; *data is terminated by a zero byte that `size` does not count. */
quern_status qn_file_read(const char *path, char **data, size_t *size);
bool qn_file_exists(const char *path);
/** The part after the last slash. Borrowed from `path`. */
const char *qn_base_name(const char *path);

/* ---- zstd.c: packed bytes ------------------------------------------------------------------- */

/** Whether there is a libzstd; looked for once. */
bool qn_zstd_found(void);
/** Unpack a frame of zstd into exactly `room` bytes; false when it is not one of that size, or
 * there is no libzstd. */
bool qn_zstd_unpack(void *to, size_t room, const void *from, size_t bytes);
/** Pack into a frame, freed with qn_free(); NULL: no libzstd, or no memory. `level`: 1 fastest, 19
 * smallest. */
char *qn_zstd_pack(size_t *packed, const void *from, size_t bytes, int level);

/* ---- log.c: messages to the user ------------------------------------------------------------ */

typedef enum qn_log_level { QN_ERROR, QN_WARN, QN_INFO, QN_DEBUG } qn_log_level;

/** Where messages of one engine go. Zero-initialise for standard error and QUERN_LOG. */
typedef struct qn_logger {
    void (*function)(void *context, const char *level, const char *message);
    void *context;
} qn_logger;
void qn_log(const qn_logger *logger, qn_log_level level, const char *format, ...) QN_PRINTF(3, 4);
/** True when the environment's QUERN_LOG asks for messages of `level`. */
bool qn_log_asked(qn_log_level level);
/** True when a message of `level` would be written: to skip costly preparation. */
bool qn_log_wanted(const qn_logger *logger, qn_log_level level);

/* ---- clock.c -------------------------------------------------------------------------------- */

double qn_now_ms(void);       /**< monotonic */
int64_t qn_now_seconds(void); /**< since 1970 */

#endif /* QN_BASE_H */
