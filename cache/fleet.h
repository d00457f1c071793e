/* SPDX-License-Identifier: MIT
 *
 * Inside of cache: the parts of the second level, over the network.
 *
 *     get:  names -> methods -> envelope -> signature -> entry -> image
 *     put:  image -> entry -> queue -> thread: envelope, signature -> methods
 *
 * The thing to know: no launch ever waits for a put, a get is bounded by the breaker, and what
 * arrives is believed only as far as its checks go.
 */
#ifndef QN_CACHE_FLEET_H
#define QN_CACHE_FLEET_H

#include "cache/cache_internal.h"

#include <quern/remote.h>

#define QN_REMOTE_TIMEOUT_MS   100
#define QN_REMOTE_BYTES_PER_MS 100000
#define QN_REMOTE_OBJECT_BYTES ((size_t)64 << 20)  /* the most that one value may have */
#define QN_REMOTE_ANSWER_BYTES ((size_t)256 << 20) /* and those of one call together */
#define QN_REMOTE_NAME_BYTES   128
#define QN_REMOTE_BATCH        32 /* names of one call */
#define QN_REMOTE_LEVEL        3  /* zstd's, of images there */

/* ---- breaker.c: when to leave a failing store alone, and how long a call may take ------------ */

#define QN_BREAKER_FIRST_MS 10e3
#define QN_BREAKER_LAST_MS  600e3

/** Zero-initialise. Times are qn_now_ms()'s. */
typedef struct qn_breaker {
    double off_until, pause_ms;
} qn_breaker;
bool qn_breaker_is_off(const qn_breaker *breaker, double now);
/** A call failed: off for 10 s, and twice as long after each further failure, up to 10 min. */
void qn_breaker_failed(qn_breaker *breaker, double now);
void qn_breaker_worked(qn_breaker *breaker);

typedef struct qn_deadline {
    double begin, limit_ms;
} qn_deadline;
qn_deadline qn_deadline_begin(uint32_t limit_ms);
/** Milliseconds left for a call that has moved `bytes` so far; 0: none. */
int qn_deadline_left(const qn_deadline *deadline, size_t bytes);

/** Keep a write to a connection that is closed from ending the process, on this thread. */
typedef struct qn_pipe_guard {
    bool pending;
    uint64_t saved[16]; /* a sigset_t */
} qn_pipe_guard;
void qn_pipe_guard_begin(qn_pipe_guard *guard);
void qn_pipe_guard_end(qn_pipe_guard *guard);

/* ---- remote_url.c: addresses and secrets ------------------------------------------------------
 */

typedef struct qn_remote_url {
    char scheme[12];
    char host[256];   /**< with brackets where it is an IPv6 address */
    int port;         /**< 0: not given */
    const char *path; /**< from the first slash on, borrowed; "" for none */
} qn_remote_url;
/** Errors: QUERN_ERROR_INVALID_ARGUMENT for what is no address, or has a user or a password in it.
 */
quern_status qn_remote_url_read(qn_remote_url *out, const char *url);

/** Read a secret: `text` itself, or the file behind "@", which must be the user's own with mode
 * 0600. *out is NULL for none; wipe it with qn_secret_free(). */
quern_status qn_secret_read(char **out, const char *variable, const char *text);
/** The contents of a file that only this user may read. */
quern_status qn_secret_file(char **out, const char *variable, const char *path);
void qn_secret_free(char *secret);
/** Refuse a file that others than this user and root may change. */
quern_status qn_check_owned(const char *variable, const char *path);

/* ---- sign.c: ed25519 and BLAKE2b, by libsodium ------------------------------------------------
 */

#define QN_HASH_BYTES      32
#define QN_PUBLIC_BYTES    32
#define QN_SIGNATURE_BYTES 64

/** True when libsodium can be loaded; *why (may be NULL) else says why not. Borrowed. */
bool qn_sign_ready(const char **why);
/** False, and zeros, without libsodium. */
bool qn_hash(unsigned char out[QN_HASH_BYTES], const void *data, size_t size);

/** Who signs: zero for nobody. */
typedef struct qn_signer {
    bool is;
    unsigned char secret[64], open[QN_PUBLIC_BYTES];
    char name[64];
} qn_signer;
/** Whose signatures count. */
typedef struct qn_trusted {
    unsigned char key[QN_PUBLIC_BYTES];
    char name[64];
} qn_trusted;
typedef QN_LIST(qn_trusted) qn_trust;

/** The file of a secret key, or its line itself. */
quern_status qn_signer_read(qn_signer *out, const char *variable, const char *text);
void qn_signer_wipe(qn_signer *signer);
/** A file of public keys, one a line. */
quern_status qn_trust_read(qn_trust *out, const char *path);
void qn_sign(unsigned char out[QN_SIGNATURE_BYTES], const qn_signer *signer, const void *data,
             size_t size);
bool qn_signature_holds(const unsigned char signature[QN_SIGNATURE_BYTES],
                        const unsigned char key[QN_PUBLIC_BYTES], const void *data, size_t size);

/* ---- envelope.c: what lies there under a name --------------------------------------------------
 */

typedef enum qn_content { QN_CONTENT_IMAGE = 1, QN_CONTENT_RECIPE = 2 } qn_content;

/** Why a value that arrived is not used; QN_SOUND: it is. */
typedef enum qn_verdict {
    QN_SOUND,
    QN_NOT_ENTRY,  /**< another format, cut off, damaged */
    QN_NOT_ASKED,  /**< another kernel's, another compiler's */
    QN_NOT_SIGNED, /**< and only signed ones are believed */
    QN_NOT_KNOWN,  /**< signed by somebody who is not trusted */
    QN_FORGED,     /**< the signature is not that of these bytes */
    QN_VERDICTS
} qn_verdict;
const char *qn_verdict_text(qn_verdict verdict);

#define QN_ENVELOPE_BYTES 128 /* the most that it has beside them */

/** Put bytes into an envelope, signed where `signer` is somebody. */
void qn_envelope_seal(qn_text *out, qn_content content, qn_str bytes, const qn_signer *signer);
/** Take them out; *bytes is borrowed from `value`. `trust`: NULL to believe everybody. */
qn_verdict qn_envelope_open(qn_str *bytes, qn_content content, qn_str value, const qn_trust *trust);

/** "quern:1:HEX:COMPILER", or of a recipe "quern:1:HEX:recipe". */
void qn_remote_name(char out[QN_REMOTE_NAME_BYTES], const char *hex, const char *compiler);

/** A recipe: what a kernel is made of, and its name. */
bool qn_recipe_write(qn_text *out, const char *name, qn_str material);
/** `name` has room for 256 bytes; *material is borrowed. False for what is not the recipe of `hex`:
 * the key is the hash of its material. */
bool qn_recipe_read(qn_str *material, char *name, const char *hex, qn_str bytes);

/* ---- recipe.c: what a material says ------------------------------------------------------------
 */

typedef QN_LIST(const char *) qn_texts;
typedef QN_LIST(qn_header) qn_header_list;

typedef struct qn_recipe {
    const char *source;
    const char *file_name; /**< NULL for sources that Quern wrote */
    qn_texts options, expressions;
    qn_header_list headers;
    int arch;
    qn_image_kind kind;
    bool line_info, minimal, relocatable;
    bool elsewhere; /**< it needs folders or files that it does not have */
    qn_arena arena;
} qn_recipe;
/** Errors: QUERN_ERROR_CACHE, without a record, for what cannot be made from its material alone. */
quern_status qn_recipe_open(qn_recipe *out, qn_str material);
void qn_recipe_free(qn_recipe *recipe);

/* ---- spread.c: a list of kernels over a fleet --------------------------------------------------
 */

/** A list and what is to be done with it, on the caller's thread; 0 <= k < count. */
typedef struct qn_spread {
    qn_remote *remote; /**< NULL: make all of them */
    size_t count;
    const char *const *names; /**< in the remote store; NULL for those that are not wanted */
    bool only_take;           /**< nothing is claimed, and nobody waited for */
    /** A value has come for kernel k: read it. True: it is the right one. The connection is in use
     * meanwhile: nothing here may ask the store, or take long. */
    bool (*take)(void *context, size_t k, qn_str value);
    void (*keep)(void *context, size_t k); /**< the value that was taken */
    /** Make it here, and write it. With `only_take`: it is not there. */
    void (*make)(void *context, size_t k);
    bool (*stop)(void *context); /**< optional: asked now and then */
    void *context;
} qn_spread;
/** Get or make all; each machine goes through the list in an order of its own. False: out of
 * memory. */
bool qn_spread_run(const qn_spread *spread);
/** The numbers below `count`, shuffled, differently in each process; NULL: out of memory. */
size_t *qn_spread_order(size_t count);

/* ---- remote_curl.c: libcurl, loaded at run time -----------------------------------------------
 */

#include "cache/curl.h"

/** The functions of libcurl. Errors: QUERN_ERROR_NOT_SUPPORTED. */
quern_status qn_curl_get(const qn_curl **out);
/** A new handle with what all connections have; NULL: out of memory. */
void *qn_curl_easy(const qn_curl *curl, uint32_t timeout_ms);

/* ---- redis_follow.c: what a Redis server may answer --------------------------------------------
 */

/** An answer on its way. */
typedef struct qn_redis_course {
    const char *expected; /**< borrowed */
    uint64_t lines;       /**< that are to come */
    uint64_t skip;        /**< bytes of a text that are to come */
    bool begun;
    char last, line[24];
    size_t length; /* of the line so far */
} qn_redis_course;
/** An answer that begins with `expected`: "+OK"; "*2", which is the whole line, and is followed by
 * two texts; or "" for a text or a word. Any may be an error instead. */
void qn_redis_follow_begin(qn_redis_course *course, const char *expected);
/** Whether the bytes that came so far are the beginning of such an answer, in whatever pieces. */
bool qn_redis_follow(qn_redis_course *course, qn_str bytes);

/* ---- remote_http.c, remote_redis.c: the stores there are ---------------------------------------
 */

extern const quern_remote_methods qn_http_methods, qn_redis_methods;

/* ---- remote_queue.c: puts, by a thread ---------------------------------------------------------
 */

typedef struct qn_put {
    struct qn_put *next;
    char name[QN_REMOTE_NAME_BYTES];
    qn_content content;
    qn_text bytes;
} qn_put;

/** Write one; false: it was not written. Called for one at a time, on the queue's thread or on that
 * of qn_queue_write(). */
typedef bool (*qn_putter)(void *context, qn_put *put);

typedef struct qn_queue qn_queue;
qn_queue *qn_queue_new(qn_putter putter, void *context); /**< NULL: out of memory */
/** Hand over `put`, which the queue frees. False: it is full, and `put` is freed. */
bool qn_queue_add(qn_queue *queue, qn_put *put);
/** Wait until all is written, at most `ms`; false: some is left. */
bool qn_queue_flush(qn_queue *queue, double ms);
/** Write `put`, which is freed, on this thread, after what is being written; false: it was not
 * written. */
bool qn_queue_write(qn_queue *queue, qn_put *put);
/** Drop what waits, end the thread, and return how many those were. */
uint64_t qn_queue_end(qn_queue *queue);
/** Around a fork: nothing is being written between these; the child begins with an empty queue. */
void qn_queue_before_fork(qn_queue *queue);
void qn_queue_after_fork(qn_queue *queue, bool child);

/* ---- remote.c: the second level ----------------------------------------------------------------
 */

/** What may be done with the store; chosen by QUERN_REMOTE_MODE. */
typedef struct qn_remote_mode {
    bool open;    /**< entries without a signature are believed, and written */
    bool reads;   /**< never written */
    bool recipes; /**< no image is taken: recipes are shared, and compiled here */
} qn_remote_mode;

struct qn_remote {
    qn_remote *next, *previous; /* of those that a fork must know */
    char *url;
    char problem[512]; /* why it is off for good; "" while it is not */
    quern_remote_methods methods;
    qn_logger logger;
    qn_remote_mode mode;
    uint32_t timeout_ms;
    qn_signer signer;
    qn_trust trust;
    bool trusts; /* only signed entries are believed */

    pthread_mutex_t read_lock; /* of reader */
    void *reader;              /* the connection of look-ups; NULL until the first */
    void *writer;              /* of who writes: the queue sees to it that this is one thread */
    qn_queue *queue;

    pthread_mutex_t lock; /* of all that follows */
    qn_breaker breaker;
    bool told_fault, told_refusal, told_drop, told_unwritten;
    quern_remote_stats stats;
};

/** May be written: somebody signs, or all may write. */
bool qn_remote_writes(const qn_remote *remote);
/** It is there, and its breaker lets calls through. */
bool qn_remote_is_on(qn_remote *remote);
/** Close a connection, if there is one; with its lock held. */
void qn_remote_hang_up(const qn_remote *remote, void **connection);
/** Call by way of the breaker, on *connection, which is opened when there is none; with that
 * connection's lock held. False: it is off, or the call failed. */
typedef quern_status (*qn_remote_call)(const qn_remote *remote, void *connection, void *context);
bool qn_remote_do(qn_remote *remote, void **connection, qn_remote_call call, void *context);
/** Ask for `count` names (at most QN_REMOTE_BATCH), and hand over each value: of no bytes for what
 * is not there. It is borrowed from the connection, which is locked until all are handed over: a
 * taker reads, and does what takes long afterwards. False: there was no answer. */
typedef void (*qn_remote_taker)(void *context, size_t number, qn_str value);
bool qn_remote_look(qn_remote *remote, size_t count, const char *const *names, qn_remote_taker take,
                    void *context);
/** 1: the name is ours to make; 0: somebody else is at it. */
int qn_remote_claim(qn_remote *remote, const char *name);
/** Hand one value to the thread that writes; takes what `bytes` has. */
bool qn_remote_send(qn_remote *remote, const char *name, qn_content content, qn_text *bytes);
/** Write one value now, and wait for that; takes what `bytes` has. False: it was not written; then
 * qn_remote_is_on() says whether the store was the reason, or the value. */
bool qn_remote_write(qn_remote *remote, const char *name, qn_content content, qn_text *bytes);
/** Take a value out of its envelope, as this store's mode believes it; counts what it refuses. */
bool qn_remote_believe(qn_remote *remote, const char *name, qn_content content, qn_str value,
                       qn_str *bytes);
/** Count, and tell once, a value that arrived and is not used. */
void qn_remote_refuse(qn_remote *remote, const char *name, qn_verdict verdict);
void qn_remote_count(qn_remote *remote, bool hit);

/* remote_mode.c: what the environment says */
/** Fill in mode, signer, trust and time limit. Errors: settings that contradict each other, keys
 * that cannot be read. */
quern_status qn_remote_settings(qn_remote *remote);

/* remote_image.c: images as values */
/** The entry of an image. False: out of memory. */
bool qn_remote_write_image(qn_text *out, const qn_key *key, const qn_image *image,
                           const qn_store_row *row);
/** An entry as an image, if it is that of `key` and `compiler`. */
qn_verdict qn_remote_read_image(qn_image *out, const qn_key *key, const char *compiler,
                                qn_str bytes);

/* in remote_fork.c: no connection crosses a fork */
void qn_remote_register(qn_remote *remote);
void qn_remote_forget(qn_remote *remote);

#endif /* QN_CACHE_FLEET_H */
