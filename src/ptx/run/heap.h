/* SPDX-License-Identifier: MIT
 *
 * heap: the memory that kernels malloc and free. A device has one heap, from the first malloc of a
 * kernel on; a piece lives until a kernel frees it, in whatever launch. Thread-safe.
 */
#ifndef QN_HEAP_H
#define QN_HEAP_H

#include "ptx/run/run.h"

#define QN_HEAP_BYTES (256 << 20)

typedef struct qn_heap qn_heap;
/** NULL: out of memory. */
qn_heap *qn_heap_new(void);
void qn_heap_free(qn_heap *heap);
/** A piece, aligned to 16 bytes; 0: there is none of that size. `unwritten`: remember which of its
 * bytes are written, as qn_memory_map_add_unwritten does. */
uint64_t qn_heap_take(qn_heap *heap, uint64_t bytes, bool unwritten);
/** False: no live piece begins at `address`. */
bool qn_heap_give_back(qn_heap *heap, uint64_t address);
/** The live piece that holds `address`. */
bool qn_heap_find(const qn_heap *heap, uint64_t address, qn_range *out);
/** The piece that held `address` before it was freed, unless its memory is used again. */
bool qn_heap_freed(const qn_heap *heap, uint64_t address, qn_range *out);
/** The live pieces near `address`, sorted: the last that begins at or before it, and the one after
 * that. Returns how many there are. */
size_t qn_heap_around(const qn_heap *heap, uint64_t address, qn_range out[2]);

/** The heap of a device; NULL: no kernel has asked for memory. */
qn_heap *qn_memory_map_heap(const qn_memory_map *map);
/** The same; created if there is none. NULL: out of memory. */
qn_heap *qn_memory_map_heap_new(qn_memory_map *map);

#endif /* QN_HEAP_H */
