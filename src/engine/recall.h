/* SPDX-License-Identifier: MIT
 *
 * recall: calls that are remembered. In: a kernel, and the values of a call. Out: the launch of an
 * earlier call that was like it, with the addresses and scalars of this one. The thing to know:
 * what is compared is everything on which checks, plan, code and parameters of a call depend, so
 * what is launched is what the whole way would launch; where anything differs, that way is gone.
 */
#ifndef QN_RECALL_H
#define QN_RECALL_H

#include "engine/workspace.h"

#define QN_RECALL_SLOTS 16 /**< calls that a kernel remembers at a time: a power of two */
/** No pack of elements is larger, so addresses that are a multiple of it apart are alike. */
#define QN_RECALL_CLASS 32

/** One parameter of a remembered call. */
typedef struct qn_seen {
    const int64_t *extents; /**< those of an array, then its strides */
    int64_t low, high;      /**< from its address to its first byte, and behind its last */
    int64_t shift;          /**< from its address to where the walk begins */
    uint64_t same;          /**< an output: bit k: input k is the same elements */
    int32_t kind, dtype;    /**< those of the value; the dtype of an array is the array's */
    quern_dtype bound;      /**< of a scalar: what the parameter takes */
    int32_t ndim;
    uint32_t raw_bytes;   /**< of quern::raw_array; 0: not raw */
    uint8_t reach, under; /**< as quern_array.reach; its address in its class */
    bool array, made;     /**< made: there was none, and it was allocated */
} qn_seen;

/** A call that was launched. It never changes. */
typedef struct qn_recalled {
    struct qn_recalled *older; /**< of the same kernel */
    void *function;            /**< NULL: it had no elements, and nothing was launched */
    quern_launch_config config;
    size_t zeroed_bytes, scratch_bytes;
    quern_call_options options; /**< without the stream, and what is called on leaving */
    unsigned tuned_at;          /**< as qn_call.tuned_at, if the options ask for it */
    int64_t loop_size;
    uint32_t pointers; /**< parameters of the device's function, without a workspace */
    int32_t place;     /**< which of the values is a place for an output; -1: none */
    uint32_t *offsets; /**< of those parameters in `bytes` */
    unsigned char *bytes;
    qn_seen parameters[];
} qn_recalled;

/** Those of a kernel: each in the slot that qn_recall_slot() says. */
typedef struct qn_recalls {
    _Atomic(qn_recalled *) slots[QN_RECALL_SLOTS];
    atomic_uint misses, due; /**< calls that were not found; how many must be, to remember one */
    uint32_t made;           /**< under the kernel's lock, as is the next */
    qn_recalled *newest;
} qn_recalls;

static inline uint8_t qn_recall_under(const quern_array *array)
{
    return (uint8_t)((uintptr_t)array->data % QN_RECALL_CLASS);
}

/** Mix something of a call into the number of its slot, which is the upper bits. Calls that differ
 * in what is mixed do not take each other's place; what fits is compared in any case. */
static inline uint64_t qn_recall_mix(uint64_t mixed, uint64_t what)
{
    return (mixed ^ what) * UINT64_C(0x9e3779b97f4a7c15);
}

/** An argument. `array`: NULL where it has none, or will have one that is made for it. */
static inline uint64_t qn_recall_mix_value(uint64_t mixed, const quern_value *value,
                                           const quern_array *array)
{
    if (array) {
        return qn_recall_mix(mixed, (uint64_t)array->count << 16 ^ (uint64_t)array->ndim << 12 ^
                                        (uint64_t)array->dtype << 6 ^ qn_recall_under(array));
    }
    const bool number = value->kind == QUERN_VALUE_LITERAL || value->kind == QUERN_VALUE_SCALAR;
    return number ? qn_recall_mix(mixed, (uint64_t)value->kind << 32 ^ (uint32_t)value->dtype)
                  : mixed;
}

/** Options, with which it begins: 0 where they are NULL or ask for nothing. They may be ill. */
static inline uint64_t qn_recall_mix_options(const quern_call_options *o)
{
    if (!o) {
        return 0;
    }
    uint64_t mixed = (uint64_t)o->block_size << 8 ^ o->keepdims << 1 ^ o->tune;
    mixed = o->loop_size ? qn_recall_mix(mixed, (uint64_t)*o->loop_size) : mixed;
    if (o->axes && o->axis_count <= QUERN_MAX_NDIM) {
        mixed ^= (o->axis_count + 1) << 2;
        for (size_t k = 0; k < o->axis_count; k++) {
            mixed = qn_recall_mix(mixed, (uint32_t)o->axes[k]);
        }
    }
    return mixed;
}

static inline uint32_t qn_recall_slot(uint64_t mixed)
{
    return (uint32_t)(mixed >> 32) % QN_RECALL_SLOTS;
}

/* ---- recall.c ------------------------------------------------------------------------------- */

/** What a call has said to its caller: once, that it may take long. */
typedef struct qn_leaving {
    void (*leave)(void *context); /**< NULL: said, or not asked for */
    void *context;
} qn_leaving;
static inline void qn_leave(qn_leaving *leaving)
{
    if (leaving->leave) {
        leaving->leave(leaving->context);
        leaving->leave = NULL;
    }
}

/** True: a call like this one was remembered, and *status is that of this one. False: nothing was
 * done. Whatever it does while nothing was said of leaving takes no lock and calls no code of the
 * caller's: the caller may hold a lock that others want while they have one of ours. */
bool qn_recall_run(quern_status *status, quern_kernel *kernel, const quern_value *values,
                   size_t count, const quern_call_options *options, qn_leaving *leaving);

/* ---- recall_keep.c -------------------------------------------------------------------------- */

/** Remember a call that was launched so, unless it is of a kind that is not remembered or too many
 * were. One without elements has no function, config and block: NULL. Does nothing where there is
 * no memory. */
void qn_recall_keep(const qn_call *call, const quern_call_options *options, void *function,
                    const quern_launch_config *config, const qn_parameter_block *block);
void qn_recalls_free(quern_kernel *kernel);

#endif /* QN_RECALL_H */
