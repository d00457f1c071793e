/* SPDX-License-Identifier: MIT
 *
 * The names of Quern 0.2, which the documents use, in terms of 0.1's. Nothing where the library is
 * 0.2 already.
 */
#ifndef DOCUMENT_NAMES_H
#define DOCUMENT_NAMES_H

#include <quern/quern.h>

#if QUERN_VERSION_NUMBER < 200
#define quern_stream_release              quern_stream_free
#define quern_event_release               quern_event_free
#define quern_bound_release               quern_bound_free
#define quern_explanation_release         quern_explanation_free
#define quern_array_fill(array, value, n) (quern_array_fill)(array, value)
#define quern_device_list                 quern_list_devices
#define quern_device_get_info(i, e)       quern_get_device_info(e, i)
#define quern_cache_get_stats(stats, e)   (quern_cache_get_stats)(e, stats)
#define quern_cache_clear(removed, e)     (quern_cache_clear)(e, removed)
#define quern_call_with(kernel, options, ...)                                                      \
    quern_call_n(kernel, (quern_value[]){QUERN_VALUES(__VA_ARGS__)},                               \
                 sizeof((quern_value[]){QUERN_VALUES(__VA_ARGS__)}) / sizeof(quern_value),         \
                 options)
#define quern_bind_with(out, kernel, options, ...)                                                 \
    quern_bind(out, kernel, (quern_value[]){QUERN_VALUES(__VA_ARGS__)},                            \
               sizeof((quern_value[]){QUERN_VALUES(__VA_ARGS__)}) / sizeof(quern_value), options)
#endif

#endif /* DOCUMENT_NAMES_H */
