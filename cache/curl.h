/* SPDX-License-Identifier: MIT
 *
 * What is used of libcurl, in declarations of our own: the numbers and signatures are part of the
 * binary interface of libcurl.so.4 and do not change. A part of fleet.h.
 */
#ifndef QN_CACHE_CURL_H
#define QN_CACHE_CURL_H

#include <stdint.h>

enum {
    CURL_GLOBAL_ALL = 3,
    CURLE_OK = 0,
    CURLE_AGAIN = 81,
    CURLM_OK = 0,
    CURLMSG_DONE = 1,

    CURLOPT_UPLOAD = 46,
    CURLOPT_HTTP_VERSION = 84,
    CURLOPT_NOSIGNAL = 99,
    CURLOPT_TCP_NODELAY = 121,
    CURLOPT_CONNECT_ONLY = 141,
    CURLOPT_TIMEOUT_MS = 155,
    CURLOPT_CONNECTTIMEOUT_MS = 156,
    CURLOPT_PROTOCOLS = 181,
    CURLOPT_SSL_ENABLE_ALPN = 226,
    CURLOPT_QUICK_EXIT = 322, /* since 7.87; older ones refuse it, which does no harm */
    CURLOPT_WRITEDATA = 10001,
    CURLOPT_URL = 10002,
    CURLOPT_PROXY = 10004,
    CURLOPT_USERPWD = 10005,
    CURLOPT_READDATA = 10009,
    CURLOPT_HTTPHEADER = 10023,
    CURLOPT_CAINFO = 10065,
    CURLOPT_WRITEFUNCTION = 20011,
    CURLOPT_READFUNCTION = 20012,
    CURLOPT_SOCKOPTFUNCTION = 20148,
    CURLOPT_INFILESIZE_LARGE = 30115,

    CURLMOPT_PIPELINING = 3,
    CURLPIPE_MULTIPLEX = 2,
    CURL_HTTP_VERSION_2_0 = 3,
    CURL_HTTP_VERSION_2TLS = 4,
    CURLPROTO_HTTP = 1,
    CURLPROTO_HTTPS = 2,

    CURLINFO_RESPONSE_CODE = 0x200002,
    CURLINFO_HTTP_VERSION = 0x20002e,
    CURLINFO_ACTIVESOCKET = 0x50002c,
};

/** What curl_multi_info_read() gives. */
typedef struct qn_curl_message {
    int kind;
    void *easy;
    union {
        void *pointer;
        int result;
    } data;
} qn_curl_message;

#define QN_CURL_FUNCTIONS(X)                                                                       \
    X(global_init, int, (long flags))                                                              \
    X(easy_init, void *, (void))                                                                   \
    X(easy_setopt, int, (void *easy, int option, ...))                                             \
    X(easy_getinfo, int, (void *easy, int info, ...))                                              \
    X(easy_perform, int, (void *easy))                                                             \
    X(easy_send, int, (void *easy, const void *data, size_t size, size_t *sent))                   \
    X(easy_recv, int, (void *easy, void *data, size_t size, size_t *received))                     \
    X(easy_cleanup, void, (void *easy))                                                            \
    X(easy_strerror, const char *, (int code))                                                     \
    X(multi_init, void *, (void))                                                                  \
    X(multi_setopt, int, (void *multi, int option, ...))                                           \
    X(multi_add_handle, int, (void *multi, void *easy))                                            \
    X(multi_remove_handle, int, (void *multi, void *easy))                                         \
    X(multi_perform, int, (void *multi, int *running))                                             \
    X(multi_poll, int, (void *multi, void *more, unsigned count, int ms, int *events))             \
    X(multi_info_read, qn_curl_message *, (void *multi, int *left))                                \
    X(multi_cleanup, int, (void *multi))                                                           \
    X(slist_append, void *, (void *list, const char *text))                                        \
    X(slist_free_all, void, (void *list))

typedef struct qn_curl {
#define QN_CURL_FIELD(name, type, parameters) type(*name) parameters;
    QN_CURL_FUNCTIONS(QN_CURL_FIELD)
#undef QN_CURL_FIELD
} qn_curl;

#endif /* QN_CACHE_CURL_H */
