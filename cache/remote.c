/* SPDX-License-Identifier: MIT
 *
 * The second level of the cache: opening, and calling by way of the breaker. In: an address or a
 * table of functions; names and values. Out: values, or none.
 *
 * Nothing here makes a kernel fail, and nothing waits long: a call that fails or is slow turns the
 * store off for a while, which is counted, and told once.
 */
#include "cache/fleet.h"

#include "base/prefix.h"

#include <quern/quern.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#define CLAIM_MS 10000
#define CLOSE_MS 2000

/* ---- opening -------------------------------------------------------------------------------- */

/* The table of a scheme; NULL: there is none. */
static const quern_remote_methods *methods_of(const char *scheme)
{
    static const struct {
        const char *scheme;
        const quern_remote_methods *methods;
    } known[] = {
        {"http", &qn_http_methods},    {"https", &qn_http_methods},
        {"redis", &qn_redis_methods},  {"rediss", &qn_redis_methods},
        {"valkey", &qn_redis_methods}, {"valkeys", &qn_redis_methods},
    };
    for (size_t k = 0; k < QN_COUNT(known); k++) {
        if (strcmp(known[k].scheme, scheme) == 0) {
            return known[k].methods;
        }
    }
    return NULL;
}

quern_status qn_remote_methods_take(quern_remote_methods *out, const quern_remote_methods *given)
{
    *out = (quern_remote_methods){0};
    if (!given) {
        return QUERN_OK;
    }
    QN_TRY(qn_prefix_take(out, QN_PREFIX(quern_remote_methods), given));
    if (out->version != QUERN_REMOTE_VERSION) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "quern_remote_methods.version is %u, and this library, %s, knows %d",
                       out->version, QUERN_VERSION_STRING, QUERN_REMOTE_VERSION);
    }
    const char *missing = !out->name    ? "name"
                          : !out->open  ? "open"
                          : !out->get   ? "get"
                          : !out->put   ? "put"
                          : !out->close ? "close"
                                        : NULL;
    return missing
               ? qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "quern_remote_methods.%s is NULL", missing)
               : QUERN_OK;
}

static quern_status choose_methods(qn_remote *remote, const quern_remote_methods *given)
{
    if (given) {
        remote->methods = *given;
        return QUERN_OK;
    }
    qn_remote_url url;
    QN_TRY(qn_remote_url_read(&url, remote->url));
    const quern_remote_methods *methods = methods_of(url.scheme);
    if (!methods) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "\"%s\" is no kind of remote store: there are http, https, redis and rediss",
                       url.scheme);
    }
    remote->methods = *methods;
    return QUERN_OK;
}

static quern_status prepare(qn_remote *remote, const quern_remote_methods *methods)
{
    if (getauxval(AT_SECURE)) {
        return qn_fail(QUERN_ERROR_CACHE, "this program runs with another user's rights (set-uid)");
    }
    QN_TRY(choose_methods(remote, methods));
    return qn_remote_settings(remote);
}

static bool write_put(void *context, qn_put *put);

quern_status qn_remote_open(qn_remote **out, const char *url, const quern_remote_methods *methods,
                            const qn_logger *logger)
{
    *out = NULL;
    url = url ? url : getenv("QUERN_REMOTE");
    url = url ? url : "";
    if (strcmp(url, "off") == 0 || (!url[0] && !methods)) {
        return QUERN_OK;
    }
    qn_remote *remote = qn_calloc(1, sizeof *remote);
    if (!remote || !(remote->url = qn_strdup(url)) ||
        !(remote->queue = qn_queue_new(write_put, remote))) {
        qn_free(remote ? remote->url : NULL);
        qn_free(remote);
        return qn_fail_memory("opening a remote store");
    }
    remote->logger = logger ? *logger : (qn_logger){0};
    pthread_mutex_init(&remote->read_lock, NULL);
    pthread_mutex_init(&remote->lock, NULL);
    if (prepare(remote, methods) != QUERN_OK) {
        snprintf(remote->problem, sizeof remote->problem, "%s", quern_last_error()->message);
        qn_error_reset();
        qn_log(&remote->logger, QN_WARN, "the remote store is not used: %s", remote->problem);
    }
    qn_remote_register(remote);
    *out = remote;
    return QUERN_OK;
}

void qn_remote_close(qn_remote *remote)
{
    if (!remote) {
        return;
    }
    (void)qn_queue_flush(remote->queue, qn_remote_is_on(remote) ? CLOSE_MS : 0);
    qn_remote_forget(remote); /* before the queue ends, which a fork would touch */
    uint64_t dropped = qn_queue_end(remote->queue);
    if (dropped > 0) {
        qn_log(&remote->logger, QN_INFO, "%llu kernels were not written to the remote store",
               (unsigned long long)dropped);
    }
    qn_remote_hang_up(remote, &remote->reader);
    qn_remote_hang_up(remote, &remote->writer);
    qn_signer_wipe(&remote->signer);
    qn_free(remote->trust.items);
    pthread_mutex_destroy(&remote->read_lock);
    pthread_mutex_destroy(&remote->lock);
    qn_free(remote->url);
    qn_free(remote);
}

const char *qn_remote_problem(const qn_remote *remote)
{
    return remote ? remote->problem : "off";
}

bool qn_remote_writes(const qn_remote *remote)
{
    return remote && !remote->problem[0] && !remote->mode.reads &&
           (remote->mode.open || remote->mode.recipes || remote->signer.is);
}

bool qn_remote_is_on(qn_remote *remote)
{
    if (!remote || remote->problem[0]) {
        return false;
    }
    pthread_mutex_lock(&remote->lock);
    bool off = qn_breaker_is_off(&remote->breaker, qn_now_ms());
    pthread_mutex_unlock(&remote->lock);
    return !off;
}

/* ---- calling -------------------------------------------------------------------------------- */

/* Turn it off for a while; the error record says why. */
static void note_failure(qn_remote *remote, const char *why)
{
    pthread_mutex_lock(&remote->lock);
    remote->stats.faults++;
    qn_breaker_failed(&remote->breaker, qn_now_ms());
    double pause = remote->breaker.pause_ms;
    bool first = !remote->told_fault;
    remote->told_fault = true;
    pthread_mutex_unlock(&remote->lock);
    qn_log(&remote->logger, first ? QN_WARN : QN_DEBUG,
           "the remote store is left alone for %.0f s: %s", pause / 1e3, why);
}

void qn_remote_hang_up(const qn_remote *remote, void **connection)
{
    if (*connection) {
        remote->methods.close(*connection);
        *connection = NULL;
    }
}

static quern_status attempt(qn_remote *remote, void **connection, qn_remote_call call,
                            void *context)
{
    if (!*connection) {
        QN_TRY(remote->methods.open(connection, remote->url, remote->timeout_ms));
    }
    return call(remote, *connection, context);
}

bool qn_remote_do(qn_remote *remote, void **connection, qn_remote_call call, void *context)
{
    if (!qn_remote_is_on(remote)) {
        return false;
    }
    const double begin = qn_now_ms();
    const bool kept = *connection != NULL;
    qn_error_reset();
    quern_status status = attempt(remote, connection, call, context);
    if (status != QUERN_OK && kept && qn_now_ms() - begin < remote->timeout_ms / 2.0) {
        qn_remote_hang_up(remote, connection); /* the server may have closed what was idle */
        qn_error_reset();
        status = attempt(remote, connection, call, context);
    }
    if (status != QUERN_OK) {
        const char *message = quern_last_error()->message;
        note_failure(remote, message[0] ? message : quern_status_text(status));
        qn_error_reset();
        qn_remote_hang_up(remote, connection);
        return false;
    }
    pthread_mutex_lock(&remote->lock);
    qn_breaker_worked(&remote->breaker);
    pthread_mutex_unlock(&remote->lock);
    return true;
}

/* ---- look-ups ------------------------------------------------------------------------------- */

typedef struct request {
    size_t count;
    const char *const *names;
    const void *data[QN_REMOTE_BATCH];
    size_t bytes[QN_REMOTE_BATCH];
} request;

static quern_status call_get(const qn_remote *remote, void *connection, void *context)
{
    request *q = context;
    const double begin = qn_now_ms();
    memset(q->bytes, 0, sizeof q->bytes);
    QN_TRY(remote->methods.get(connection, q->count, q->names, q->data, q->bytes));
    size_t total = 0;
    for (size_t k = 0; k < q->count; k++) {
        total += q->bytes[k];
    }
    const double took = qn_now_ms() - begin;
    const double limit = remote->timeout_ms + (double)total / QN_REMOTE_BYTES_PER_MS;
    return took <= 2 * limit
               ? QUERN_OK
               : qn_fail(QUERN_ERROR_CACHE, "it took %.0f ms to answer, and has %.0f", took, limit);
}

bool qn_remote_look(qn_remote *remote, size_t count, const char *const *names, qn_remote_taker take,
                    void *context)
{
    request q = {.count = count, .names = names};
    const double begin = qn_now_ms();
    pthread_mutex_lock(&remote->read_lock);
    const bool answered = qn_remote_do(remote, &remote->reader, call_get, &q);
    for (size_t k = 0; answered && k < count; k++) {
        take(context, k, (qn_str){q.bytes[k] ? q.data[k] : "", q.bytes[k]});
    }
    pthread_mutex_unlock(&remote->read_lock);
    pthread_mutex_lock(&remote->lock);
    remote->stats.looking_ms += qn_now_ms() - begin;
    remote->stats.skipped += answered ? 0 : count;
    pthread_mutex_unlock(&remote->lock);
    return answered;
}

typedef struct claim {
    const char *name;
    int got;
} claim;

static quern_status call_claim(const qn_remote *remote, void *connection, void *context)
{
    claim *c = context;
    c->got = remote->methods.claim(connection, c->name, CLAIM_MS);
    return c->got >= 0 ? QUERN_OK : QUERN_ERROR_CACHE;
}

int qn_remote_claim(qn_remote *remote, const char *name)
{
    claim c = {name, 1};
    if (!qn_remote_writes(remote) || !remote->methods.claim) {
        return 1;
    }
    pthread_mutex_lock(&remote->read_lock);
    const bool answered = qn_remote_do(remote, &remote->reader, call_claim, &c);
    pthread_mutex_unlock(&remote->read_lock);
    return answered ? c.got : 1;
}

void qn_remote_count(qn_remote *remote, bool hit)
{
    pthread_mutex_lock(&remote->lock);
    remote->stats.hits += hit;
    remote->stats.misses += !hit;
    pthread_mutex_unlock(&remote->lock);
}

void qn_remote_refuse(qn_remote *remote, const char *name, qn_verdict verdict)
{
    pthread_mutex_lock(&remote->lock);
    remote->stats.refused++;
    bool first = !remote->told_refusal;
    remote->told_refusal = true;
    pthread_mutex_unlock(&remote->lock);
    qn_log(&remote->logger, first ? QN_WARN : QN_DEBUG,
           "the remote store's entry %s is not used: %s", name, qn_verdict_text(verdict));
}

bool qn_remote_believe(qn_remote *remote, const char *name, qn_content content, qn_str value,
                       qn_str *bytes)
{
    qn_verdict verdict =
        qn_envelope_open(bytes, content, value, remote->trusts ? &remote->trust : NULL);
    if (verdict != QN_SOUND) {
        qn_remote_refuse(remote, name, verdict);
    }
    return verdict == QN_SOUND;
}

/* ---- writing -------------------------------------------------------------------------------- */

typedef struct parcel {
    const char *name;
    qn_str value;
    char refused[256]; /* why the store, which is well, does not take it; "" where it does */
} parcel;

static quern_status call_put(const qn_remote *remote, void *connection, void *context)
{
    parcel *p = context;
    quern_status status = remote->methods.put(connection, p->name, p->value.data, p->value.length);
    if (status == QUERN_ERROR_NOT_SUPPORTED) {
        const char *why = quern_last_error()->message;
        snprintf(p->refused, sizeof p->refused, "%s", why[0] ? why : "it says nothing more");
        qn_error_reset();
        return QUERN_OK;
    }
    return status;
}

static void note_drop(qn_remote *remote, bool *told, qn_log_level level, const char *why)
{
    pthread_mutex_lock(&remote->lock);
    remote->stats.dropped++;
    bool first = !*told;
    *told = true;
    pthread_mutex_unlock(&remote->lock);
    qn_log(&remote->logger, first ? level : QN_DEBUG,
           "a kernel is not written to the remote store: %s", why);
}

/* On the queue's thread, or on that of who waits for it. */
static bool write_put(void *context, qn_put *put)
{
    qn_remote *remote = context;
    qn_text value = {0};
    qn_envelope_seal(&value, put->content, (qn_str){put->bytes.data, put->bytes.length},
                     &remote->signer);
    parcel p = {put->name, {value.data, value.length}, ""};
    const bool done = !value.failed && qn_remote_do(remote, &remote->writer, call_put, &p),
               written = done && !p.refused[0];
    qn_text_free(&value);
    if (written) {
        pthread_mutex_lock(&remote->lock);
        remote->stats.puts++;
        pthread_mutex_unlock(&remote->lock);
    } else if (p.refused[0]) {
        note_drop(remote, &remote->told_unwritten, QN_WARN, p.refused);
    } else {
        note_drop(remote, &remote->told_drop, QN_INFO, "the store is off, or memory is short");
    }
    return written;
}

/* NULL: it cannot be written. Takes what `bytes` has. */
static qn_put *new_put(qn_remote *remote, const char *name, qn_content content, qn_text *bytes)
{
    const bool fits = bytes->length <= QN_REMOTE_OBJECT_BYTES - QN_ENVELOPE_BYTES;
    qn_put *put = NULL;
    if (!fits) {
        note_drop(remote, &remote->told_unwritten, QN_WARN,
                  "it has more than 64 MiB, which nobody would take");
    } else if (bytes->failed || !qn_remote_is_on(remote) || !(put = qn_calloc(1, sizeof *put))) {
        note_drop(remote, &remote->told_drop, QN_INFO, "the store is off, or memory is short");
    } else {
        *put = (qn_put){.content = content, .bytes = *bytes};
        *bytes = (qn_text){0};
        snprintf(put->name, sizeof put->name, "%s", name);
    }
    qn_text_free(bytes);
    return put;
}

bool qn_remote_send(qn_remote *remote, const char *name, qn_content content, qn_text *bytes)
{
    qn_put *put = new_put(remote, name, content, bytes);
    const bool sent = put && qn_queue_add(remote->queue, put);
    if (put && !sent) {
        note_drop(remote, &remote->told_drop, QN_INFO, "too many wait to be written");
    }
    return sent;
}

bool qn_remote_write(qn_remote *remote, const char *name, qn_content content, qn_text *bytes)
{
    qn_put *put = new_put(remote, name, content, bytes);
    return put && qn_queue_write(remote->queue, put);
}

void qn_remote_get_stats(qn_remote *remote, quern_remote_stats *stats)
{
    *stats = (quern_remote_stats){.size = sizeof *stats};
    if (remote) {
        pthread_mutex_lock(&remote->lock);
        *stats = remote->stats;
        stats->size = sizeof *stats;
        stats->enabled = !remote->problem[0];
        pthread_mutex_unlock(&remote->lock);
    }
}
