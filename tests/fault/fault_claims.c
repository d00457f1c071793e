/* SPDX-License-Identifier: MIT
 *
 * Claims on web servers, which answer the same two requests in many ways. The promise: one that is
 * sure to be somebody else's is respected, whatever else a server says costs a compilation and no
 * more, and only a server that fails is left alone.
 */
#include "cache/fleet.h"
#include "fault/loopback.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LIMIT_MS 5000
#define CLAIM_MS 10000
#define NAME     "quern:1:0123456789abcdef:compiler"
#define PATH     "/cache/quern/1/0123456789abcdef/compiler.claim"

TestSuite(claims, .timeout = 60);

/* What a server does with the two requests, and what is to come of it. */
typedef struct answers {
    int get;
    const char *claim; /* what it has, if `get` is 200; "+N", "-N": N seconds from now */
    int put;           /* 0: it is not to be asked */
    bool only_new;     /* it is to be asked not to write over anything */
    int claimed;
} answers;

/* ---- a server, on a thread ------------------------------------------------------------------ */

typedef struct server {
    int socket, port, puts;
    const answers *script;
    char claim[64], written[64], line[64];
    bool only_new;
    pthread_t thread;
} server;

/* A request, of which the head ends with an empty line, and what follows it. */
static void read_request(server *s, int connection)
{
    char line[512], body[sizeof s->written] = "";
    FILE *in = fdopen(dup(connection), "r");
    size_t bytes = 0;
    cr_assert(in && fgets(s->line, sizeof s->line, in));
    while (fgets(line, sizeof line, in) && strcmp(line, "\r\n") != 0) {
        if (strncasecmp(line, "content-length:", 15) == 0) {
            bytes = strtoul(line + 15, NULL, 10);
        }
        s->only_new |= strcasecmp(line, "if-none-match: *\r\n") == 0;
    }
    cr_assert_lt(bytes, sizeof body);
    cr_assert_eq(fread(body, 1, bytes, in), bytes);
    if (strncmp(s->line, "PUT ", 4) == 0) {
        s->puts++;
        snprintf(s->written, sizeof s->written, "%s", body);
    }
    fclose(in);
}

static void *serve(void *context)
{
    server *s = context;
    for (int connection; (connection = accept(s->socket, NULL, NULL)) >= 0; close(connection)) {
        char text[256];
        s->only_new = false;
        read_request(s, connection);
        const bool put = strncmp(s->line, "PUT ", 4) == 0;
        const int code = put ? s->script->put : s->script->get;
        const char *body = code == 200 && !put ? s->claim : "";
        int length =
            snprintf(text, sizeof text, "HTTP/1.1 %d As said\r\nConnection: close\r\n", code);
        if (code != 204) {
            length += snprintf(text + length, sizeof text - (size_t)length,
                               "Content-Length: %zu\r\n", strlen(body));
        }
        length += snprintf(text + length, sizeof text - (size_t)length, "\r\n%s", body);
        (void)send(connection, text, (size_t)length, MSG_NOSIGNAL);
    }
    return NULL;
}

static void start(server *s, const answers *script)
{
    *s = (server){.script = script};
    s->socket = loopback_listen(&s->port);
    const char *claim = script->claim ? script->claim : "";
    if (claim[0] == '+' || claim[0] == '-') {
        snprintf(s->claim, sizeof s->claim, "%lld", (long long)(qn_now_seconds() + atoll(claim)));
    } else {
        snprintf(s->claim, sizeof s->claim, "%s", claim);
    }
    cr_assert_eq(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void stop(server *s)
{
    loopback_close(s->socket, s->thread);
}

/* ---- what comes of it ----------------------------------------------------------------------- */

static void try_answers(const answers *a, const char *what)
{
    server s;
    char url[64];
    void *store;
    start(&s, a);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/cache/", s.port);
    cr_assert_eq(qn_http_methods.open(&store, url, LIMIT_MS), QUERN_OK, "%s",
                 quern_last_error()->message);
    const int got = qn_http_methods.claim(store, NAME, CLAIM_MS);
    qn_http_methods.close(store);
    stop(&s);
    cr_expect_eq(got, a->claimed, "%s: %d", what, got);
    cr_expect_eq(s.puts, a->put != 0, "%s: %d puts", what, s.puts);
    cr_expect(strstr(s.line, " " PATH " HTTP/1.1\r\n"), "%s: %s", what, s.line);
    if (a->put) {
        const int64_t age = qn_now_seconds() - atoll(s.written);
        cr_expect(age >= 0 && age < 5, "%s: \"%s\" was written", what, s.written);
        cr_expect_eq(s.only_new, a->only_new, "%s", what);
    }
}

Test(claims, whatever_a_server_says)
{
    static const answers all[] = {
        /* nothing is there */
        {404, NULL, 201, true, 1},
        {404, NULL, 200, true, 1}, /* which S3 says of a new one */
        {410, NULL, 201, true, 1},
        {404, NULL, 412, true, 0},
        {404, NULL, 409, true, 0}, /* of two at once */
        {404, NULL, 204, true, 0}, /* it has been written over, by who does not know conditions */
        /* may not be written, or not this: as of a store without claims */
        {404, NULL, 401, true, 1},
        {404, NULL, 403, true, 1},
        {404, NULL, 405, true, 1},
        {404, NULL, 413, true, 1},
        /* fails */
        {404, NULL, 429, true, -1},
        {404, NULL, 500, true, -1},
        {404, NULL, 507, true, -1},
        {404, NULL, 302, true, -1},
        {500, NULL, 0, false, -1},
        {403, NULL, 0, false, -1},
        /* somebody's */
        {200, "-1", 0, false, 0},
        {200, "-8", 0, false, 0},
        {200, "+8", 0, false, 0}, /* his clock is ahead */
        /* nobody's any more */
        {200, "-10", 204, false, 1},
        {200, "-10", 200, false, 1},
        {200, "+99", 204, false, 1},
        {200, "-99", 403, false, 1},
        {200, "-99", 503, false, -1},
        {200, "", 204, true, 0}, /* an empty one is none */
        {200, "a cat", 204, false, 1},
        {200, "99999999999999999999999999999999999999999999", 204, false, 1},
        {200, "nan", 204, false, 1},
        {200, "inf", 204, false, 1},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        char what[96];
        snprintf(what, sizeof what, "%d, \"%s\", %d", all[k].get, all[k].claim ? all[k].claim : "",
                 all[k].put);
        try_answers(&all[k], what);
    }
}
