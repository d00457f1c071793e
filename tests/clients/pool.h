/* SPDX-License-Identifier: MIT
 *
 * What the allocator of pool.c tells of itself. Its two functions are found by their names alone,
 * as Quern finds them; a program gets this one in the same way.
 */
#ifndef POOL_H
#define POOL_H

#include <sys/types.h>

typedef struct pool_stats {
    int allocated, live;
    ssize_t bytes;   /* of those that are live */
    int wrong;       /* pieces that came back otherwise than they went, or never went */
    int elsewhere;   /* calls while another device was current */
    int last_device; /* of the last allocation */
    void *last_stream;
} pool_stats;

pool_stats pool_get_stats(void);

#endif /* POOL_H */
