/* SPDX-License-Identifier: MIT
 *
 * Compiling ahead: what calls will need, made before the first of them, several at once.
 *
 *     quern_preparation list[] = {{scale, values, 2}, {total, &x, 1}};
 *     quern_prepare(list, 2, NULL);
 *
 * Nothing is launched, and arrays need no memory: quern_value_like() is a dtype and a shape. What
 * is made stays with the kernels and in the cache, as what a call makes does.
 */
#ifndef QUERN_PREPARE_H
#define QUERN_PREPARE_H

#include <quern/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One call to compile for. Initialise it with zeros. */
typedef struct quern_preparation {
    quern_kernel *kernel;
    const quern_value *values;         /**< as for quern_kernel_infer(): outputs may be left out */
    size_t count;                      /**< of the values */
    const quern_call_options *options; /**< of the call; NULL: none */
    int32_t status;                    /**< filled in: a quern_status, what came of it */
    uint32_t reserved;
} quern_preparation;

/** How to prepare. */
typedef struct quern_prepare_options {
    uint32_t size; /**< sizeof(quern_prepare_options) */
    uint32_t
        threads; /**< that compile at once, the caller's among them; 0: one for each processor */
    /** Called when one is done, by the thread that made it, one call at a time: `index` in the
     * list, how many are `done` so far, and what went wrong with this one, or NULL. `error` is
     * valid until the callback calls a function of the library; it must not call quern_prepare().
     */
    void (*progress)(void *context, size_t index, size_t done, const quern_error *error);
    void *context;
} quern_prepare_options;

#define QUERN_PREPARE_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(quern_prepare_options), 0, NULL, NULL                                               \
    }

/** Compile for all `count` calls of the list, or find what is in the cache, and load it; returns
 * when all are done. An array without memory is taken to be aligned, as a new one is: for views at
 * odd places pass those. The list and what it points to must stay as they are meanwhile.
 *
 * Thread-safe, like calls. One that fails keeps no other from being made: each has its status, and
 * the error is the status of the first in the list that failed, with all their messages. After
 * quern_interrupt() those of that engine that were not begun fail with QUERN_ERROR_INTERRUPTED.
 *
 * Errors: those that quern_call_n() finds up to its launch, and QUERN_ERROR_INVALID_ARGUMENT. */
QUERN_API quern_status quern_prepare(quern_preparation *list, size_t count,
                                     const quern_prepare_options *options);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_PREPARE_H */
