/* SPDX-License-Identifier: MIT
 *
 * libcurl as a set of functions, and what all connections have in common. In: nothing. Out: its
 * functions, once per process. It is loaded when the first remote store is opened, so that programs
 * without one do not need it.
 */
#include "cache/fleet.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    bool ready;
    char why[512];
    qn_curl functions;
} curl;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4", NULL};
    static const qn_library_function functions[] = {
#define SYMBOL(name, type, parameters) {"curl_" #name, offsetof(qn_curl, name)},
        QN_CURL_FUNCTIONS(SYMBOL)
#undef SYMBOL
    };
    if (!qn_library_functions(&curl.functions, names, functions, QN_COUNT(functions), curl.why,
                              sizeof curl.why)) {
        return;
    }
    curl.ready = curl.functions.global_init(CURL_GLOBAL_ALL) == CURLE_OK;
    snprintf(curl.why, sizeof curl.why, "%s", curl.ready ? "" : "curl_global_init() failed");
}

quern_status qn_curl_get(const qn_curl **out)
{
    *out = NULL;
    pthread_once(&once, load);
    if (!curl.ready) {
        return qn_fail(QUERN_ERROR_NOT_SUPPORTED,
                       "remote stores need libcurl, which cannot be loaded: %s; install libcurl4",
                       curl.why);
    }
    *out = &curl.functions;
    return QUERN_OK;
}

/* Programs that this one starts do not get the connection. */
static int mark_socket(void *unused, int socket, int purpose)
{
    (void)unused, (void)purpose;
    (void)fcntl(socket, F_SETFD, FD_CLOEXEC);
    return 0;
}

void *qn_curl_easy(const qn_curl *c, uint32_t timeout_ms)
{
    void *easy = c->easy_init();
    if (!easy) {
        return NULL;
    }
    const char *authorities = getenv("QUERN_REMOTE_CA");
    c->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    c->easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    c->easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
    c->easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    c->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)timeout_ms);
    c->easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, mark_socket);
    if (authorities && authorities[0]) {
        c->easy_setopt(easy, CURLOPT_CAINFO, authorities);
    }
    return easy;
}
