/* SPDX-License-Identifier: MIT
 *
 * A remote store behind a web server: GET and PUT, with or without TLS, through libcurl. In: names.
 * Out: values. "quern:1:HEX:COMPILER" is BASE/quern/1/HEX/COMPILER.
 *
 * Several names are asked for at once: over one connection where the server speaks HTTP/2, which
 * the first of them tells, over a few otherwise. No more are given to libcurl than it may begin:
 * those that it keeps waiting for a connection it may forget (7.88).
 *
 * A claim is a value beside the entry, NAME.claim, that holds when it was made. It is written only
 * where there is none (RFC 9110, 13.1.2: If-None-Match: *); a server that does not know of that
 * still says whether it has made or replaced it (9.3.4: 201, 204). Servers forget nothing, so who
 * finds an old one writes over it.
 */
#include "cache/fleet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECTIONS 8 /* to a server without HTTP/2 */

/* One request on its way. */
typedef struct transfer {
    void *easy;
    qn_text body;     /* what arrives */
    const char *left; /* what is still to be sent */
    size_t left_bytes;
    int result; /* libcurl's, once it is done */
    struct http *store;
} transfer;

typedef struct http {
    const qn_curl *curl;
    void *multi, *headers, *only_new; /* lists of lines; `only_new`: nothing is written over */
    char *base, *password;
    uint32_t timeout_ms;
    QN_LIST(transfer *) transfers;
    size_t moved; /* bytes of this call */
} http;

static void http_close(void *context)
{
    http *h = context;
    if (!h) {
        return;
    }
    qn_pipe_guard guard;
    qn_pipe_guard_begin(&guard);
    for (uint32_t k = 0; k < h->transfers.count; k++) {
        transfer *t = h->transfers.items[k];
        h->curl->easy_cleanup(t->easy);
        qn_text_free(&t->body);
        qn_free(t);
    }
    if (h->multi) {
        h->curl->multi_cleanup(h->multi);
    }
    qn_pipe_guard_end(&guard);
    if (h->headers) {
        h->curl->slist_free_all(h->headers);
    }
    if (h->only_new) {
        h->curl->slist_free_all(h->only_new);
    }
    qn_free(h->transfers.items);
    qn_secret_free(h->password);
    qn_free(h->base);
    qn_free(h);
}

/* ---- opening -------------------------------------------------------------------------------- */

static bool append(const http *h, void **list, const char *text)
{
    void *longer = h->curl->slist_append(*list, text);
    *list = longer ? longer : *list;
    return longer != NULL;
}

static bool add_header(http *h, const char *text)
{
    return append(h, &h->headers, text) && append(h, &h->only_new, text);
}

/* "USER:PASSWORD" is for libcurl, "Bearer TOKEN" a header of its own. */
static quern_status take_secret(http *h)
{
    char *secret;
    QN_TRY(qn_secret_read(&secret, "QUERN_REMOTE_AUTH", getenv("QUERN_REMOTE_AUTH")));
    bool added = add_header(h, "Expect:") && /* do not wait to be told to go on */
                 append(h, &h->only_new, "If-None-Match: *");
    if (secret && qn_begins(secret, "Bearer ")) {
        qn_text header = {0};
        qn_text_printf(&header, "Authorization: %s", secret);
        added = added && !header.failed && add_header(h, header.data);
        if (header.data) {
            explicit_bzero(header.data, header.length);
        }
        qn_text_free(&header);
        qn_secret_free(secret);
    } else {
        h->password = secret;
    }
    return added ? QUERN_OK : qn_fail_memory("opening a remote store");
}

static quern_status start(http *h, const char *url, uint32_t timeout_ms)
{
    QN_TRY(qn_curl_get(&h->curl));
    size_t length = strlen(url);
    while (length > 0 && url[length - 1] == '/') {
        length--;
    }
    h->base = qn_strndup(url, length);
    h->multi = h->curl->multi_init();
    h->timeout_ms = timeout_ms;
    if (!h->base || !h->multi) {
        return qn_fail_memory("opening a remote store");
    }
    h->curl->multi_setopt(h->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    return take_secret(h);
}

static quern_status http_open(void **context, const char *url, uint32_t timeout_ms)
{
    *context = NULL;
    http *h = qn_calloc(1, sizeof *h);
    quern_status status = h ? start(h, url, timeout_ms) : qn_fail_memory("opening a remote store");
    if (status != QUERN_OK) {
        http_close(h);
        return status;
    }
    *context = h;
    return QUERN_OK;
}

/* ---- requests ------------------------------------------------------------------------------- */

static size_t take_bytes(char *data, size_t size, size_t count, void *context)
{
    transfer *t = context;
    size_t bytes = size * count;
    t->store->moved += bytes;
    if (t->body.length + bytes > QN_REMOTE_OBJECT_BYTES ||
        t->store->moved > QN_REMOTE_ANSWER_BYTES) {
        return 0; /* which ends it */
    }
    qn_text_add(&t->body, data, bytes);
    return t->body.failed ? 0 : bytes;
}

static size_t give_bytes(char *data, size_t size, size_t count, void *context)
{
    transfer *t = context;
    size_t bytes = QN_MIN(size * count, t->left_bytes);
    memcpy(data, t->left, bytes);
    t->left += bytes;
    t->left_bytes -= bytes;
    t->store->moved += bytes;
    return bytes;
}

/* Transfer `number`, made when it is first needed; NULL: out of memory. */
static transfer *transfer_of(http *h, size_t number)
{
    if (number < h->transfers.count) {
        return h->transfers.items[number];
    }
    transfer *t = qn_calloc(1, sizeof *t);
    void *easy = t ? qn_curl_easy(h->curl, h->timeout_ms) : NULL;
    if (!easy || !QN_ROOM(h->transfers)) {
        if (easy) {
            h->curl->easy_cleanup(easy);
        }
        qn_free(t);
        return NULL;
    }
    *t = (transfer){.easy = easy, .store = h};
    h->curl->easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    h->curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_bytes);
    h->curl->easy_setopt(easy, CURLOPT_WRITEDATA, t);
    h->curl->easy_setopt(easy, CURLOPT_READFUNCTION, give_bytes);
    h->curl->easy_setopt(easy, CURLOPT_READDATA, t);
    if (h->password) {
        h->curl->easy_setopt(easy, CURLOPT_USERPWD, h->password);
    }
    h->transfers.items[h->transfers.count++] = t;
    return t;
}

/* Get a request ready, with these headers: of a value to send, or to receive one. */
static quern_status prepare(http *h, size_t number, const char *name, qn_str value,
                            const void *headers)
{
    transfer *t = transfer_of(h, number);
    qn_text url = {0};
    qn_text_printf(&url, "%s/%s", h->base, name);
    for (char *c = url.data ? url.data + strlen(h->base) : NULL; c && *c; c++) {
        *c = *c == ':' ? '/' : *c;
    }
    if (!t || url.failed) {
        qn_text_free(&url);
        return qn_fail_memory("asking a remote store");
    }
    qn_text_free(&t->body);
    t->result = -1;
    t->left = value.data;
    t->left_bytes = value.length;
    h->curl->easy_setopt(t->easy, CURLOPT_URL, url.data);
    h->curl->easy_setopt(t->easy, CURLOPT_HTTPHEADER, headers);
    h->curl->easy_setopt(t->easy, CURLOPT_UPLOAD, value.data ? 1L : 0L);
    h->curl->easy_setopt(t->easy, CURLOPT_INFILESIZE_LARGE,
                         value.data ? (int64_t)value.length : (int64_t)-1);
    qn_text_free(&url);
    return QUERN_OK;
}

static void collect(http *h, size_t count)
{
    int left;
    for (qn_curl_message *m; (m = h->curl->multi_info_read(h->multi, &left));) {
        for (size_t k = 0; m->kind == CURLMSG_DONE && k < count; k++) {
            transfer *t = h->transfers.items[k];
            t->result = t->easy == m->easy ? m->data.result : t->result;
        }
    }
}

/* How many requests the server takes at once, which the first has shown. */
static size_t at_once(http *h)
{
    long version = 0;
    (void)h->curl->easy_getinfo(h->transfers.items[0]->easy, CURLINFO_HTTP_VERSION, &version);
    return version == CURL_HTTP_VERSION_2_0 ? QN_REMOTE_BATCH : CONNECTIONS;
}

/* Run the first `count` transfers to their ends; those that have no time left keep -1. */
static void run(http *h, size_t count)
{
    qn_deadline deadline = qn_deadline_begin(h->timeout_ms);
    qn_pipe_guard guard;
    qn_pipe_guard_begin(&guard);
    h->moved = 0;
    size_t begun = 0, most = 1;
    for (int running = 0, left; running > 0 || begun < count;) {
        for (; begun < count && (size_t)running < most; running++) {
            (void)h->curl->multi_add_handle(h->multi, h->transfers.items[begun++]->easy);
        }
        if (h->curl->multi_perform(h->multi, &running) != CURLM_OK ||
            (left = qn_deadline_left(&deadline, h->moved)) == 0) {
            break;
        }
        if (running > 0 && (begun == count || (size_t)running == most)) {
            (void)h->curl->multi_poll(h->multi, NULL, 0, left, NULL);
        } else if (most == 1) { /* the first is done */
            most = at_once(h);
        }
    }
    collect(h, count);
    for (size_t k = 0; k < begun; k++) {
        (void)h->curl->multi_remove_handle(h->multi, h->transfers.items[k]->easy);
    }
    qn_pipe_guard_end(&guard);
}

/* What became of a request: *code is the server's answer. */
static quern_status outcome(http *h, const transfer *t, long *code)
{
    *code = 0;
    if (t->result < 0) {
        return qn_fail(QUERN_ERROR_CACHE, "%s did not answer in time", h->base);
    }
    if (t->result != CURLE_OK) {
        return qn_fail(QUERN_ERROR_CACHE, "%s: %s", h->base, h->curl->easy_strerror(t->result));
    }
    (void)h->curl->easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, code);
    return QUERN_OK;
}

static quern_status refused(const http *h, quern_status status, const char *what, long code)
{
    return qn_fail(status, "%s answered %s with %ld%s", h->base, what, code,
                   code == 401 || code == 403 ? ": look at QUERN_REMOTE_AUTH"
                   : code == 405              ? ": let it take PUT"
                   : code == 413              ? ": let it take larger values"
                                              : "");
}

/* The server is well, and does not take this value or this writer; reading may go on. Not so when
 * it had to wait, or has too much to do. */
static bool is_of_value(long code)
{
    return code >= 400 && code < 500 && code != 408 && code != 425 && code != 429;
}

static quern_status http_get(void *context, size_t count, const char *const *names,
                             const void **data, size_t *bytes)
{
    http *h = context;
    for (size_t k = 0; k < count; k++) {
        QN_TRY(prepare(h, k, names[k], (qn_str){0}, h->headers));
    }
    run(h, count);
    for (size_t k = 0; k < count; k++) {
        const transfer *t = h->transfers.items[k];
        long code;
        QN_TRY(outcome(h, t, &code));
        if (code != 200 && code != 404 && code != 410) {
            return refused(h, QUERN_ERROR_CACHE, "GET", code);
        }
        data[k] = code == 200 ? t->body.data : NULL;
        bytes[k] = code == 200 ? t->body.length : 0;
    }
    return QUERN_OK;
}

/* Send a value: *code is the server's answer. */
static quern_status send_value(http *h, const char *name, qn_str value, const void *headers,
                               long *code)
{
    QN_TRY(prepare(h, 0, name, value, headers));
    run(h, 1);
    return outcome(h, h->transfers.items[0], code);
}

static quern_status http_put(void *context, const char *name, const void *data, size_t bytes)
{
    http *h = context;
    long code;
    QN_TRY(send_value(h, name, (qn_str){data, bytes}, h->headers, &code));
    if (code >= 200 && code < 300) {
        return QUERN_OK;
    }
    return refused(h, is_of_value(code) ? QUERN_ERROR_NOT_SUPPORTED : QUERN_ERROR_CACHE, "PUT",
                   code);
}

/* ---- claims --------------------------------------------------------------------------------- */

#define CLAIM_CHARS 20 /* of seconds since 1970 */

/* Whether a claim was made in the last `ms` milliseconds. Clocks of machines differ, so one of the
 * near future counts as well. */
static bool is_fresh(const char *data, size_t bytes, uint32_t ms)
{
    char text[CLAIM_CHARS + 1];
    snprintf(text, sizeof text, "%.*s", (int)QN_MIN(bytes, (size_t)CLAIM_CHARS), data);
    const double age = (double)qn_now_seconds() - strtod(text, NULL);
    return age * 1000 < ms && -age * 1000 < ms;
}

/* What became of writing a claim where there was none, or an old one. */
static int claimed(const http *h, long code, bool was_there)
{
    if (code == 412 || code == 409 || (code == 204 && !was_there)) {
        return 0; /* somebody came first */
    }
    if ((code >= 200 && code < 300) || is_of_value(code)) {
        return 1; /* or as of a store that has no claims */
    }
    (void)refused(h, QUERN_ERROR_CACHE, "PUT", code);
    return -1;
}

static int claim_name(http *h, const char *name, uint32_t ms)
{
    char now[CLAIM_CHARS + 1];
    const void *data;
    size_t bytes;
    long code;
    if (http_get(h, 1, &name, &data, &bytes) != QUERN_OK) {
        return -1;
    }
    if (bytes > 0 && is_fresh(data, bytes, ms)) {
        return 0;
    }
    snprintf(now, sizeof now, "%lld", (long long)qn_now_seconds());
    if (send_value(h, name, qn_str_of(now), bytes > 0 ? h->headers : h->only_new, &code) !=
        QUERN_OK) {
        return -1;
    }
    return claimed(h, code, bytes > 0);
}

static int http_claim(void *context, const char *name, uint32_t ms)
{
    qn_text key = {0};
    qn_text_printf(&key, "%s.claim", name);
    const int got = key.failed ? -1 : claim_name(context, key.data, ms);
    qn_text_free(&key);
    return got;
}

const quern_remote_methods qn_http_methods = {
    .size = sizeof qn_http_methods,
    .version = QUERN_REMOTE_VERSION,
    .name = "http",
    .open = http_open,
    .get = http_get,
    .put = http_put,
    .claim = http_claim,
    .close = http_close,
};
