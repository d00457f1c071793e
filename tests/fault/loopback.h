/* SPDX-License-Identifier: MIT
 *
 * The socket of a server of a test, on this machine alone. In: nothing. Out: a port that was free,
 * on which a thread of the test accepts connections until it is closed.
 */
#ifndef QN_TESTS_FAULT_LOOPBACK_H
#define QN_TESTS_FAULT_LOOPBACK_H

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static inline int loopback_listen(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert_geq(s, 0);
    cr_assert_eq(bind(s, (struct sockaddr *)&address, size), 0);
    cr_assert_eq(listen(s, 8), 0);
    cr_assert_eq(getsockname(s, (struct sockaddr *)&address, &size), 0);
    *port = ntohs(address.sin_port);
    return s;
}

/* Ends accept() on `thread`, and waits for it. */
static inline void loopback_close(int s, pthread_t thread)
{
    shutdown(s, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(s);
}

#endif /* QN_TESTS_FAULT_LOOPBACK_H */
