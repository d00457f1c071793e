/* SPDX-License-Identifier: MIT
 *
 * Tuning. Choices of a kernel's launch that are measured instead of made by rule.
 *
 * How a kernel goes through its arrays follows from their shapes and strides, and is meant to be
 * right without this. Where a kernel's own work makes another choice better, measuring finds it:
 * which walk, how many bytes of an operand and how many packs a thread takes, the side of tiles,
 * the threads of a block, and for reductions of integers how many threads and blocks share an
 * output. What is chosen never changes an answer, not by a bit.
 *
 * A call with quern_call_options.tune = 1 uses what was measured before for that kernel, device,
 * dtypes, layout and size (to a power of two), and measures where nothing was. What was measured is
 * kept in the cache, so that later processes find it.
 */
#ifndef QUERN_TUNE_H
#define QUERN_TUNE_H

#include <quern/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One choice that was measured. */
typedef struct quern_tuning_trial {
    const char *setting; /**< "pack=8 block=128"; "" for what follows from the rules */
    double us;           /**< device time of one launch, in microseconds: the best of some */
} quern_tuning_trial;

/** What was measured. Nothing in it changes. No string is NULL. */
typedef struct quern_tuning {
    uint32_t size;       /**< sizeof(quern_tuning) of the library that filled it */
    uint32_t complete;   /**< 0: time was up, or a trial failed, before all were tried */
    const char *setting; /**< the one that calls with `tune` use from now on; "" for the rules' */
    const char *about;   /**< the calls that it is for: "3 operands of 2^20, float32" */
    const char *text;    /**< all that was tried, as lines for a person */
    double us;           /**< of that setting */
    double rule_us;      /**< of what follows from the rules */
    size_t trial_count;
    const quern_tuning_trial *trials; /**< in the order in which they were made; the first is "" */
} quern_tuning;

/** Measure the choices for the call that quern_call_n() would make, whether or not they were
 * measured before, and keep the best one. `options.tune_ms` says how long it may take.
 *
 * The kernel runs many times: on copies of the outputs that are given, so that no argument changes,
 * and with whatever else it does done as often. No output is made. Waits for the device, and
 * compiles each variant. A scan, and a call without elements, have nothing to choose. The caller
 * owns *out; give it back with quern_tuning_release(). Thread-safe: one thread of an engine
 * measures at a time.
 *
 * Errors: those of quern_call_n(); QUERN_ERROR_INVALID_ARGUMENT while the stream is captured. */
QUERN_API quern_status quern_tune(quern_tuning **out, quern_kernel *kernel,
                                  const quern_value *values, size_t count,
                                  const quern_call_options *options);
/** One more reference; returns `tuning`. Thread-safe. */
QUERN_API quern_tuning *quern_tuning_retain(quern_tuning *tuning);
/** One reference less; the last one frees. Accepts NULL. Thread-safe. */
QUERN_API void quern_tuning_release(quern_tuning *tuning);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_TUNE_H */
