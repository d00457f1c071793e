/* SPDX-License-Identifier: MIT
 *
 * streams: check=streams. What work on one stream may know of work on others, and who touched each
 * byte of device memory last; ptx.h has what the device calls.
 *
 *     stream_order.c   clocks: of each stream, of the host, of events
 *     stream_memory.c  a number for each byte, which names what is known of it
 *
 * A stream counts its work, and has for every stream the number up to which it waits for that one's
 * work: a vector of clocks. Waits join vectors. Two accesses of a byte, one of which writes, are in
 * order if the later work's vector has reached the number of the earlier. The thing to know:
 * nothing that is in order is ever reported; where something is forgotten, or an order cannot be
 * seen, it counts as one. So all threads of the host are one, which knows what any of them has
 * waited for.
 */
#ifndef QN_STREAMS_H
#define QN_STREAMS_H

#include "ptx/ptx.h"

enum {
    QN_PAST_WORKS = 1 << 14,   /**< that are remembered */
    QN_PAST_STATES = 1 << 16,  /**< likewise */
    QN_STREAM_PAGE = 1 << 12,  /**< bytes */
    QN_STREAMS_AT_ONCE = 1024, /**< of more of them nothing is reported */
};

/** Of each stream, by its index, the number of its work that is waited for. */
typedef struct qn_stream_mark {
    uint32_t *items;
    uint32_t count, capacity;
} qn_clocks;

typedef struct qn_known_stream {
    const void *handle;
    bool gone, non_blocking;
    char name[64];
    qn_clocks clocks;
} qn_known_stream;

/** Work that was done. */
typedef struct qn_past_work {
    uint32_t number, stream, clock;
    char what[120]; /**< with its stream */
} qn_past_work;

/** What is known of bytes that were touched alike. */
typedef struct qn_stream_state {
    uint32_t id;
    uint32_t write; /**< the number of the work that wrote them; 0: none */
    uint32_t count;
    uint32_t others[]; /**< that read them since: number x 2, + 1: by atomics */
} qn_stream_state;

typedef struct qn_stream_piece {
    uint64_t begin, end;
    uint32_t state; /**< of its bytes that nothing has touched */
} qn_stream_piece;

typedef struct qn_stream_page {
    uint64_t number;
    _Atomic(uint32_t) *states; /**< of each byte; 0: as its piece */
} qn_stream_page;

struct qn_stream_history {
    pthread_mutex_t lock;
    uint64_t serial;  /**< of all histories of the process */
    atomic_bool lost; /**< memory ran out: nothing is reported any more */
    qn_clocks host;
    QN_LIST(qn_known_stream) streams;
    uint32_t works, last_state;      /**< so far */
    qn_past_work *past;              /**< by number, modulo */
    qn_stream_state **states;        /**< by id, modulo */
    QN_LIST(qn_stream_piece) pieces; /**< sorted */
    qn_stream_page *pages;           /**< a table of hashes */
    uint32_t page_count, page_room;
};

/** Both know what either knew; false: out of memory, and the history is lost. */
bool qn_clocks_join(qn_stream_history *history, qn_clocks *to, const qn_clocks *from);
/** Is work `number` waited for by this work, or forgotten, or itself? With the lock. */
bool qn_stream_in_order(const qn_stream_work *work, uint32_t number);
/** Work learns all that the stream of another knows: it has seen what that one wrote. With the
 * lock.
 */
void qn_stream_learn(qn_stream_work *work, uint32_t number);

#endif /* QN_STREAMS_H */
