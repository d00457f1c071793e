/* SPDX-License-Identifier: MIT
 *
 * What XLA passes to a function that a program of its calls: the structures of its typed foreign
 * function interface, version 0, as far as pyquern reads them. They are declared here in our own
 * words, so that building needs no header of XLA; each begins with its size, and newer versions add
 * at the end.
 */
#ifndef PYQUERN_XLA_H
#define PYQUERN_XLA_H

#include <stddef.h>
#include <stdint.h>

typedef struct xla_extension {
    size_t struct_size;
    int32_t type; /* 1: of metadata */
    struct xla_extension *next;
} xla_extension;

typedef struct xla_version {
    size_t struct_size;
    xla_extension *extensions;
    int32_t major, minor;
} xla_version;

/* Asked for when a function is registered. */
typedef struct xla_metadata {
    size_t struct_size;
    xla_version version;
    uint32_t traits;
} xla_metadata;

typedef struct xla_metadata_extension {
    xla_extension base;
    xla_metadata *metadata;
} xla_metadata_extension;

#define XLA_TRAIT_COMMAND_BUFFER 1u /* each call launches the same, so that it may be recorded */

typedef struct xla_buffer {
    size_t struct_size;
    xla_extension *extensions;
    int32_t dtype;
    void *data;
    int64_t rank;
    const int64_t *dims;
} xla_buffer;

/* Arguments, and results in the same form. */
typedef struct xla_list {
    size_t struct_size;
    xla_extension *extensions;
    int64_t count;
    const int32_t *types; /* 1: a buffer */
    void *const *items;
} xla_list;

typedef struct xla_span {
    const char *data;
    size_t length;
} xla_span;

#define XLA_ATTRIBUTE_STRING 4 /* an item is an xla_span */

typedef struct xla_attributes {
    size_t struct_size;
    xla_extension *extensions;
    int64_t count;
    const int32_t *types;
    xla_span *const *names;
    void *const *items;
} xla_attributes;

typedef struct xla_error xla_error;
typedef struct xla_context xla_context;

typedef struct xla_error_args {
    size_t struct_size;
    xla_extension *extensions;
    const char *message;
    int32_t code;
} xla_error_args;

#define XLA_ERROR_INTERNAL 13

/* The same for what the context is asked for: a stream, or the number of a device. */
typedef struct xla_stream_args {
    size_t struct_size;
    xla_extension *extensions;
    xla_context *context;
    void *stream;
} xla_stream_args;

typedef struct xla_ordinal_args {
    size_t struct_size;
    xla_extension *extensions;
    xla_context *context;
    int32_t ordinal;
} xla_ordinal_args;

typedef struct xla_error_message_args {
    size_t struct_size;
    xla_extension *extensions;
    xla_error *error;
} xla_error_message_args;

typedef struct xla_api {
    size_t struct_size;
    xla_extension *extensions;
    xla_version version;
    const void *internal;
    xla_error *(*error_create)(xla_error_args *args);
    void (*error_get)(void *args);
    void (*error_destroy)(xla_error_message_args *args);
    void *(*handler_register)(void *args);
    xla_error *(*stream_get)(xla_stream_args *args);
    void (*others[12])(void);
    xla_error *(*ordinal_get)(xla_ordinal_args *args); /* not in older ones: see struct_size */
} xla_api;

#define XLA_STAGE_EXECUTE 3

typedef struct xla_call {
    size_t struct_size;
    xla_extension *extensions;
    const xla_api *api;
    xla_context *context;
    int32_t stage;
    xla_list args, results;
    xla_attributes attributes;
} xla_call;

#endif /* PYQUERN_XLA_H */
