/* SPDX-License-Identifier: MIT
 *
 * memory_lanes: addresses of 32 lanes, and elements that move between them and registers. Built
 * once for each CPU level (memory_lanes.c); nothing is checked here.
 */
#ifndef QN_MEMORY_LANES_H
#define QN_MEMORY_LANES_H

#include "ptx/ptx.h"

typedef struct qn_addresses {
    uint64_t at[QN_LANES]; /**< of lanes outside the mask: some active lane's */
    uint64_t low, high;    /**< least and greatest */
    uint64_t bits;         /**< all addresses or-ed: shows misalignment */
    int64_t stride;        /**< between neighbours, if `strided` */
    bool strided;
    uint64_t base; /**< of the space: to be added to each address */
    uint32_t edge; /**< lanes of a compare-and-swap of two bytes of which only one is memory */
} __attribute__((aligned(64))) qn_addresses;

/** Load or store one element per lane at address + delta, where delta includes the base. */
typedef void (*qn_load_function)(void *d, const qn_addresses *from, uint64_t delta, uint32_t mask);
typedef void (*qn_store_function)(const void *s, const qn_addresses *to, uint64_t delta,
                                  uint32_t mask);

typedef struct qn_element {
    uint8_t memory_bits;
    bool is_signed;
    uint8_t register_bits;
    qn_load_function load;
    qn_store_function store;
} qn_element;

/** The same for all elements of a vector per lane, each as wide as its register in `d` or `s`. */
typedef void (*qn_load_vector)(void *const *d, const qn_addresses *from, uint64_t delta,
                               uint32_t mask);
typedef void (*qn_store_vector)(const void *const *s, const qn_addresses *to, uint64_t delta,
                                uint32_t mask);

typedef struct qn_vector {
    uint8_t bits; /**< of an element */
    uint8_t count;
    qn_load_vector load;
    qn_store_vector store;
} qn_vector;

typedef struct qn_memory_lanes {
    void (*addresses64)(qn_addresses *out, const uint64_t *base, int64_t offset, uint32_t mask);
    void (*addresses32)(qn_addresses *out, const uint32_t *base, int64_t offset, uint32_t mask);
    const qn_element *elements;
    size_t element_count;
    const qn_vector *vectors;
    size_t vector_count;
} qn_memory_lanes;

/** The value of one lane in a register of `register_bits`: 1 for a predicate; 0: no register. */
static inline uint64_t qn_lane_value(const void *place, unsigned register_bits, unsigned lane)
{
    switch (register_bits) {
    case 0:
        return 0;
    case 1:
        return *(const uint32_t *)place >> lane & 1;
    case 16:
        return ((const uint16_t *)place)[lane];
    case 32:
        return ((const uint32_t *)place)[lane];
    default:
        return ((const uint64_t *)place)[lane];
    }
}

/** Give one lane a value, of 16, 32 or 64 bits. */
static inline void qn_lane_put(void *place, unsigned register_bits, unsigned lane, uint64_t value)
{
    switch (register_bits) {
    case 16:
        ((uint16_t *)place)[lane] = (uint16_t)value;
        break;
    case 32:
        ((uint32_t *)place)[lane] = (uint32_t)value;
        break;
    default:
        ((uint64_t *)place)[lane] = value;
    }
}

/** For any level less than qn_lane_level_count(), in memory_check.c. */
const qn_memory_lanes *qn_memory_lanes_level(int level);
/** The best of them, chosen once. */
const qn_memory_lanes *qn_memory_lanes_get(void);
const qn_element *qn_element_find(unsigned memory_bits, bool is_signed, unsigned register_bits);
/** NULL: such a vector moves element by element. */
const qn_vector *qn_vector_find(const qn_element *element, unsigned count);

#endif /* QN_MEMORY_LANES_H */
