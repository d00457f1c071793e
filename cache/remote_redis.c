/* SPDX-License-Identifier: MIT
 *
 * A remote store in Redis or Valkey. In: names. Out: values; claims. hiredis, loaded at run time,
 * writes commands and reads answers; libcurl has the connection, so that names are looked up,
 * connected to and waited for within one limit, and TLS is the same as for web servers.
 *
 * The thing to know: hiredis has its structure of an answer in two layouts, before and since 1.0;
 * an answer that is known tells which.
 */
#include "cache/fleet.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORT      6379
#define ARGUMENTS (QN_REMOTE_BATCH + 1)

/* ---- hiredis -------------------------------------------------------------------------------- */

enum { IS_STRING = 1, IS_ARRAY, IS_INTEGER, IS_NIL, IS_STATUS, IS_ERROR };

/* redisReply before 1.0 */
typedef struct reply_0 {
    int type;
    long long integer;
    size_t length;
    char *text;
    size_t count;
    void **items;
} reply_0;

/* redisReply since 1.0 */
typedef struct reply_1 {
    int type;
    long long integer;
    double number;
    size_t length;
    char *text;
    char kind[4];
    size_t count;
    void **items;
} reply_1;

/* What is used of either. */
typedef struct answer {
    int type;
    qn_str text;
    size_t count;
    void **items;
} answer;

#define FUNCTIONS(X)                                                                               \
    X(redisFormatCommandArgv, int,                                                                 \
      (char **out, int count, const char **arguments, const size_t *lengths))                      \
    X(redisFreeCommand, void, (char *command))                                                     \
    X(redisReaderCreate, void *, (void))                                                           \
    X(redisReaderFree, void, (void *reader))                                                       \
    X(redisReaderFeed, int, (void *reader, const char *data, size_t size))                         \
    X(redisReaderGetReply, int, (void *reader, void **reply))                                      \
    X(freeReplyObject, void, (void *reply))

typedef struct hiredis_functions {
#define FIELD(name, type, parameters) type(*name) parameters;
    FUNCTIONS(FIELD)
#undef FIELD
} hiredis_functions;

static struct {
    bool ready, old;
    char why[512];
    hiredis_functions f;
} hiredis;

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Which layout, from the length of a string of three bytes: what lies there since 1.0 is 0. */
static bool find_layout(void)
{
    static const char abc[] = "$3\r\nabc\r\n";
    const hiredis_functions *f = &hiredis.f;
    void *reader = f->redisReaderCreate(), *reply = NULL;
    bool known = reader && f->redisReaderFeed(reader, abc, sizeof abc - 1) == 0 &&
                 f->redisReaderGetReply(reader, &reply) == 0 && reply;
    if (known) {
        const reply_0 *old = reply;
        const reply_1 *new = reply;
        hiredis.old = old->length == 3;
        known = (hiredis.old || new->length == 3) &&
                memcmp(hiredis.old ? old->text : new->text, "abc", 3) == 0;
        f->freeReplyObject(reply);
    }
    if (reader) {
        f->redisReaderFree(reader);
    }
    return known;
}

static void load(void)
{
    /* each version has a name of its own; the last belongs to the files for compilers */
    static const char *const names[] = {"libhiredis.so.1.4.0",
                                        "libhiredis.so.1.3.0",
                                        "libhiredis.so.1.1.0",
                                        "libhiredis.so.1.0.0",
                                        "libhiredis.so.0.14",
                                        "libhiredis.so",
                                        NULL};
    static const qn_library_function functions[] = {
#define SYMBOL(name, type, parameters) {#name, offsetof(hiredis_functions, name)},
        FUNCTIONS(SYMBOL)
#undef SYMBOL
    };
    if (!qn_library_functions(&hiredis.f, names, functions, QN_COUNT(functions), hiredis.why,
                              sizeof hiredis.why)) {
        return;
    }
    hiredis.ready = find_layout();
    if (!hiredis.ready) {
        snprintf(hiredis.why, sizeof hiredis.why, "hiredis has answers of a form not known here");
    }
}

static answer answer_of(const void *reply)
{
    const reply_0 *old = reply;
    const reply_1 *new = reply;
    return hiredis.old ? (answer){old->type, {old->text, old->length}, old->count, old->items}
                       : (answer){new->type, {new->text, new->length}, new->count, new->items};
}

/* ---- a connection --------------------------------------------------------------------------- */

typedef struct redis {
    const qn_curl *curl;
    void *easy, *reader, *reply; /* the last reply, whose bytes the caller may have */
    char *where;                 /* for messages */
    uint32_t timeout_ms;
    int socket;
} redis;

static void redis_close(void *context)
{
    redis *r = context;
    if (!r) {
        return;
    }
    if (r->reply) {
        hiredis.f.freeReplyObject(r->reply);
    }
    if (r->reader) {
        hiredis.f.redisReaderFree(r->reader);
    }
    if (r->easy) {
        qn_pipe_guard guard;
        qn_pipe_guard_begin(&guard);
        r->curl->easy_cleanup(r->easy);
        qn_pipe_guard_end(&guard);
    }
    qn_free(r->where);
    qn_free(r);
}

static quern_status fail(const redis *r, const char *why)
{
    return qn_fail(QUERN_ERROR_CACHE, "%s: %s", r->where, why);
}

/* Wait until the socket is ready, or fail because the time is over. */
static quern_status wait(const redis *r, short events, const qn_deadline *deadline, size_t moved)
{
    struct pollfd one = {.fd = r->socket, .events = events};
    int left = qn_deadline_left(deadline, moved);
    return left > 0 && poll(&one, 1, left) != 0 ? QUERN_OK : fail(r, "did not answer in time");
}

static quern_status send_all(redis *r, qn_str data, const qn_deadline *deadline)
{
    for (size_t at = 0, sent; at < data.length; at += sent) {
        sent = 0;
        int code = r->curl->easy_send(r->easy, data.data + at, data.length - at, &sent);
        if (code == CURLE_AGAIN) {
            QN_TRY(wait(r, POLLOUT, deadline, at));
        } else if (code != CURLE_OK) {
            return fail(r, r->curl->easy_strerror(code));
        }
    }
    return QUERN_OK;
}

static quern_status receive(redis *r, const char *expected, const qn_deadline *deadline,
                            size_t moved)
{
    char data[1 << 14];
    size_t total = 0;
    qn_redis_course course;
    qn_redis_follow_begin(&course, expected);
    for (;;) {
        if (hiredis.f.redisReaderGetReply(r->reader, &r->reply) != 0) {
            return fail(r, "what it answers is not the protocol of Redis");
        }
        if (r->reply) {
            return QUERN_OK;
        }
        size_t got = 0;
        int code = r->curl->easy_recv(r->easy, data, sizeof data, &got);
        if (code == CURLE_AGAIN) {
            QN_TRY(wait(r, POLLIN, deadline, moved + total));
            continue;
        }
        if (code != CURLE_OK || got == 0) {
            return fail(r, code ? r->curl->easy_strerror(code) : "closed the connection");
        }
        if (!qn_redis_follow(&course, (qn_str){data, got}) ||
            total + got > QN_REMOTE_ANSWER_BYTES) {
            return fail(r, "what it answers is not what was asked for");
        }
        total += got;
        if (hiredis.f.redisReaderFeed(r->reader, data, got) != 0) {
            return qn_fail_memory("asking a remote store");
        }
    }
}

/* One command and its answer. `expected` is how that begins. */
static quern_status ask(redis *r, answer *out, int count, const qn_str *arguments,
                        const char *expected)
{
    const char *texts[ARGUMENTS + 5];
    size_t lengths[ARGUMENTS + 5];
    for (int k = 0; k < count; k++) {
        texts[k] = arguments[k].data;
        lengths[k] = arguments[k].length;
    }
    if (r->reply) {
        hiredis.f.freeReplyObject(r->reply);
        r->reply = NULL;
    }
    char *command;
    int length = hiredis.f.redisFormatCommandArgv(&command, count, texts, lengths);
    if (length < 0) {
        return qn_fail_memory("asking a remote store");
    }
    qn_deadline deadline = qn_deadline_begin(r->timeout_ms);
    qn_pipe_guard guard;
    qn_pipe_guard_begin(&guard);
    quern_status status = send_all(r, (qn_str){command, (size_t)length}, &deadline);
    if (status == QUERN_OK) {
        status = receive(r, expected, &deadline, (size_t)length);
    }
    qn_pipe_guard_end(&guard);
    hiredis.f.redisFreeCommand(command);
    QN_TRY(status);
    *out = answer_of(r->reply);
    if (out->type == IS_ERROR) {
        return qn_fail(QUERN_ERROR_CACHE, "%s answered \"%.*s\"%s", r->where,
                       (int)QN_MIN(out->text.length, (size_t)200), out->text.data,
                       qn_str_begins(out->text, "NOAUTH") || qn_str_begins(out->text, "WRONGPASS")
                           ? ": look at QUERN_REMOTE_AUTH"
                           : "");
    }
    return QUERN_OK;
}

/* ---- opening -------------------------------------------------------------------------------- */

static quern_status connect_to(redis *r, const qn_remote_url *url)
{
    bool secure = strcmp(url->scheme, "rediss") == 0 || strcmp(url->scheme, "valkeys") == 0;
    qn_text address = {0};
    qn_text_printf(&address, "%s://%s:%d", secure ? "https" : "http", url->host,
                   url->port ? url->port : PORT);
    r->easy = qn_curl_easy(r->curl, r->timeout_ms);
    if (!r->easy || address.failed) {
        qn_text_free(&address);
        return qn_fail_memory("opening a remote store");
    }
    r->curl->easy_setopt(r->easy, CURLOPT_URL, address.data);
    qn_text_free(&address);
    r->curl->easy_setopt(r->easy, CURLOPT_CONNECT_ONLY, 1L);
    r->curl->easy_setopt(r->easy, CURLOPT_SSL_ENABLE_ALPN, 0L);
    r->curl->easy_setopt(r->easy, CURLOPT_PROXY, "");
    r->curl->easy_setopt(r->easy, CURLOPT_TIMEOUT_MS, (long)r->timeout_ms);
    qn_pipe_guard guard;
    qn_pipe_guard_begin(&guard);
    int code = r->curl->easy_perform(r->easy);
    qn_pipe_guard_end(&guard);
    if (code != CURLE_OK ||
        r->curl->easy_getinfo(r->easy, CURLINFO_ACTIVESOCKET, &r->socket) != CURLE_OK ||
        r->socket < 0) {
        return fail(r, code ? r->curl->easy_strerror(code) : "there is no connection");
    }
    return QUERN_OK;
}

static quern_status log_in(redis *r)
{
    char *secret;
    QN_TRY(qn_secret_read(&secret, "QUERN_REMOTE_AUTH", getenv("QUERN_REMOTE_AUTH")));
    if (!secret) {
        return QUERN_OK;
    }
    const char *colon = strchr(secret, ':');
    const char *password = colon ? colon + 1 : secret;
    qn_str user = {secret, colon ? (size_t)(colon - secret) : 0};
    answer unused;
    quern_status status =
        user.length > 0
            ? ask(r, &unused, 3, (qn_str[]){QN_STR("AUTH"), user, qn_str_of(password)}, "+OK")
            : ask(r, &unused, 2, (qn_str[]){QN_STR("AUTH"), qn_str_of(password)}, "+OK");
    qn_secret_free(secret);
    return status;
}

static quern_status start(redis *r, const char *address, uint32_t timeout_ms)
{
    qn_remote_url url;
    answer unused;
    pthread_once(&once, load);
    if (!hiredis.ready) {
        return qn_fail(QUERN_ERROR_NOT_SUPPORTED,
                       "redis:// needs hiredis, which cannot be loaded: %s; install libhiredis0.14 "
                       "or libhiredis1.1.0",
                       hiredis.why);
    }
    QN_TRY(qn_curl_get(&r->curl));
    QN_TRY(qn_remote_url_read(&url, address));
    r->timeout_ms = timeout_ms;
    r->where = qn_strdup(address);
    r->reader = hiredis.f.redisReaderCreate();
    if (!r->where || !r->reader) {
        return qn_fail_memory("opening a remote store");
    }
    QN_TRY(connect_to(r, &url));
    QN_TRY(log_in(r));
    return url.path[0] && url.path[1]
               ? ask(r, &unused, 2, (qn_str[]){QN_STR("SELECT"), qn_str_of(url.path + 1)}, "+OK")
               : QUERN_OK;
}

static quern_status redis_open(void **context, const char *url, uint32_t timeout_ms)
{
    *context = NULL;
    redis *r = qn_calloc(1, sizeof *r);
    quern_status status = r ? start(r, url, timeout_ms) : qn_fail_memory("opening a remote store");
    if (status != QUERN_OK) {
        redis_close(r);
        return status;
    }
    *context = r;
    return QUERN_OK;
}

/* ---- values --------------------------------------------------------------------------------- */

static quern_status redis_get(void *context, size_t count, const char *const *names,
                              const void **data, size_t *bytes)
{
    redis *r = context;
    qn_str arguments[ARGUMENTS] = {QN_STR("MGET")};
    char expected[32];
    answer all;
    if (count > QN_REMOTE_BATCH) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "%zu names at once are too many", count);
    }
    for (size_t k = 0; k < count; k++) {
        arguments[k + 1] = qn_str_of(names[k]);
    }
    snprintf(expected, sizeof expected, "*%zu", count);
    QN_TRY(ask(r, &all, (int)count + 1, arguments, expected));
    if (all.type != IS_ARRAY || all.count != count) {
        return fail(r, "what it answers is not what was asked for");
    }
    for (size_t k = 0; k < count; k++) {
        answer one = answer_of(all.items[k]);
        bool is = one.type == IS_STRING;
        data[k] = is ? one.text.data : NULL;
        bytes[k] = is ? one.text.length : 0;
    }
    return QUERN_OK;
}

/* The server is well, and writing is what it does not do; reading may go on. */
static bool is_of_writing(const answer *a)
{
    static const char *const kinds[] = {"OOM ", "READONLY ", "NOPERM ", "MISCONF "};
    bool is = false;
    for (size_t k = 0; a->type == IS_ERROR && k < QN_COUNT(kinds); k++) {
        is |= qn_str_begins(a->text, kinds[k]);
    }
    return is;
}

static quern_status redis_put(void *context, const char *name, const void *data, size_t bytes)
{
    answer got = {0};
    quern_status status =
        ask(context, &got, 3, (qn_str[]){QN_STR("SET"), qn_str_of(name), {data, bytes}}, "+OK");
    return status != QUERN_OK && is_of_writing(&got) ? QUERN_ERROR_NOT_SUPPORTED : status;
}

static int redis_claim(void *context, const char *name, uint32_t ms)
{
    qn_text key = {0};
    char expiry[16];
    answer got = {0};
    snprintf(expiry, sizeof expiry, "%u", ms);
    qn_text_printf(&key, "%s:claim", name);
    if (key.failed) {
        return -1;
    }
    quern_status status = ask(context, &got, 6,
                              (qn_str[]){QN_STR("SET"), qn_str_of(key.data), QN_STR("1"),
                                         QN_STR("NX"), QN_STR("PX"), qn_str_of(expiry)},
                              "");
    qn_text_free(&key);
    if (status != QUERN_OK && is_of_writing(&got)) {
        qn_error_reset();
        return 1; /* as of a store that has no claims */
    }
    return status != QUERN_OK ? -1 : got.type != IS_NIL;
}

const quern_remote_methods qn_redis_methods = {
    .size = sizeof qn_redis_methods,
    .version = QUERN_REMOTE_VERSION,
    .name = "redis",
    .open = redis_open,
    .get = redis_get,
    .put = redis_put,
    .claim = redis_claim,
    .close = redis_close,
};
