/* SPDX-License-Identifier: MIT
 *
 * Real servers for tests and benchmarks of remote stores: redis-server and nginx on this machine,
 * on ports that were free, with a folder of their own. A server ends with its server_stop(), and
 * with the program.
 */
#ifndef QN_TESTS_SERVERS_H
#define QN_TESTS_SERVERS_H

#include <stdbool.h>
#include <sys/types.h>

typedef enum server_kind { SERVER_REDIS, SERVER_REDIS_TLS, SERVER_HTTP, SERVER_HTTPS } server_kind;

typedef struct server {
    pid_t pid;
    int port;
    char folder[64];
    char url[128];
} server;

/** Start one and wait until it answers. False: what it needs is not installed, which is told. With
 * TLS, QUERN_REMOTE_CA names its certificate from then on. */
bool server_start(server *out, server_kind kind);
/** Stop answering, without closing anything (SIGSTOP); and go on. */
void server_hang(const server *s, bool hangs);
/** Stop at once. */
void server_stop(server *s);
/** "redis", "redis+tls", "http", "https" */
const char *server_kind_name(server_kind kind);

#endif /* QN_TESTS_SERVERS_H */
