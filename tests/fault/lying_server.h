/* SPDX-License-Identifier: MIT
 *
 * Servers that are no servers. In: what is wrong with one. Out: its port, where it answers as a web
 * server or a Redis would not.
 */
#ifndef QN_TESTS_FAULT_LYING_SERVER_H
#define QN_TESTS_FAULT_LYING_SERVER_H

#include "fault/loopback.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum trick {
    HANGS,
    CLOSES,
    BABBLES,
    DIES,
    DRIPS,
    BOASTS,
    NESTS,
    TRICKS,
    REFUSES /* to write, and nothing else is wrong with it */
} trick;

static const char *const trick_names[TRICKS] = {"hangs", "closes", "babbles", "dies in the middle",
                                                "drips", "boasts", "nests"};

typedef struct server {
    int socket, port;
    trick trick;
    bool redis;
    pthread_t thread;
    atomic_bool stop;
} server;

static void say(int connection, const char *text)
{
    (void)send(connection, text, strlen(text), MSG_NOSIGNAL);
}

/* One command; *reads: it asks for values, as many as *count. False: there is none any more. */
static bool read_command(FILE *in, int *count, bool *reads)
{
    char line[64], name[8] = "";
    if (!fgets(line, sizeof line, in) || line[0] != '*') {
        return false;
    }
    *count = atoi(line + 1) - 1;
    for (int k = 0; k <= *count; k++) {
        if (!fgets(line, sizeof line, in) || line[0] != '$') {
            return false;
        }
        const long bytes = atol(line + 1) + 2;
        for (long b = 0; b < bytes; b++) {
            const int c = fgetc(in);
            if (k == 0 && b < 7) {
                name[b] = (char)c;
            }
        }
    }
    *reads = strncmp(name, "MGET", 4) == 0;
    return !feof(in);
}

/* A Redis without room: it has nothing, and takes nothing. */
static void refuse_to_write(int connection)
{
    FILE *in = fdopen(dup(connection), "r");
    int count;
    bool reads;
    while (in && read_command(in, &count, &reads)) {
        char head[16];
        snprintf(head, sizeof head, "*%d\r\n", count);
        say(connection,
            reads ? head : "-OOM command not allowed when used memory > 'maxmemory'.\r\n");
        for (int k = 0; reads && k < count; k++) {
            say(connection, "$-1\r\n");
        }
    }
    if (in) {
        fclose(in);
    }
}

static void play(server *s, int connection)
{
    char request[4096];
    const char *const head =
        s->redis ? "*1\r\n$100000\r\nabc" : "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nabc";
    if (s->trick == CLOSES) {
        return;
    }
    (void)recv(connection, request, sizeof request, 0);
    switch (s->trick) {
    case BABBLES:
        say(connection, "I am something else altogether\r\n\r\n");
        break;
    case DIES:
        say(connection, head);
        break;
    case BOASTS:
        say(connection, s->redis ? "*1000000000\r\n"
                                 : "HTTP/1.1 200 OK\r\nContent-Length: 900000000000\r\n\r\nabc");
        break;
    case NESTS: /* in pieces */
        say(connection, s->redis ? "*1\r" : "HTTP/1.1 200 OK\r\nContent-");
        usleep(20000);
        say(connection, s->redis ? "\n*1000000000\r\n" : "Length: 900000000000\r\n\r\nabc");
        break;
    case REFUSES:
        say(connection,
            strncmp(request, "GET", 3) == 0
                ? "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                : "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n"
                  "Connection: close\r\n\r\n");
        break;
    case DRIPS:
        say(connection, head);
        for (int k = 0; k < 600 && !atomic_load(&s->stop); k++) {
            say(connection, "x");
            usleep(10000);
        }
        break;
    default:
        break;
    }
    while (s->trick == HANGS && !atomic_load(&s->stop)) {
        usleep(10000);
    }
}

/* A connection to a Redis that refuses lasts, and there are several: each has a thread. */
static void *refuse(void *context)
{
    const int connection = (int)(intptr_t)context;
    refuse_to_write(connection);
    close(connection);
    return NULL;
}

static void *serve(void *context)
{
    server *s = context;
    for (int connection; (connection = accept(s->socket, NULL, NULL)) >= 0;) {
        pthread_t thread;
        if (s->trick == REFUSES && s->redis) {
            cr_assert_eq(pthread_create(&thread, NULL, refuse, (void *)(intptr_t)connection), 0);
            pthread_detach(thread);
            continue;
        }
        play(s, connection);
        close(connection);
    }
    return NULL;
}

static void start(server *s, trick t, bool redis)
{
    *s = (server){.trick = t, .redis = redis};
    s->socket = loopback_listen(&s->port);
    cr_assert_eq(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void stop(server *s)
{
    atomic_store(&s->stop, true);
    loopback_close(s->socket, s->thread);
}

#endif /* QN_TESTS_FAULT_LYING_SERVER_H */
