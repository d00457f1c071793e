/* SPDX-License-Identifier: MIT
 *
 * Status and errors. How every function of the library reports failure.
 */
#ifndef QUERN_STATUS_H
#define QUERN_STATUS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define QUERN_API __attribute__((visibility("default")))
#else
#define QUERN_API
#endif

/* Families by tens. Codes are stable: new ones are added, none changes its number. */
#define QUERN_STATUS_MAP(X)                                                                        \
    X(QUERN_OK, 0, "success")                                                                      \
    /* the call itself */                                                                          \
    X(QUERN_ERROR_INVALID_ARGUMENT, 10, "invalid argument")                                        \
    X(QUERN_ERROR_OUT_OF_MEMORY, 11, "out of host memory")                                         \
    X(QUERN_ERROR_NOT_SUPPORTED, 12, "not supported")                                              \
    X(QUERN_ERROR_IO, 13, "input or output failed")                                                \
    X(QUERN_ERROR_INTERNAL, 14, "internal error")                                                  \
    /* signatures and the arguments bound to them */                                               \
    X(QUERN_ERROR_SIGNATURE, 20, "invalid signature")                                              \
    X(QUERN_ERROR_TYPE, 21, "type mismatch")                                                       \
    X(QUERN_ERROR_SHAPE, 22, "shape mismatch")                                                     \
    X(QUERN_ERROR_ARGUMENT_COUNT, 23, "wrong number of arguments")                                 \
    X(QUERN_ERROR_VALUE, 24, "value out of range")                                                 \
    X(QUERN_ERROR_NAME, 25, "no such name")                                                        \
    /* compiling */                                                                                \
    X(QUERN_ERROR_COMPILE, 30, "the snippet does not compile")                                     \
    X(QUERN_ERROR_NVRTC_NOT_FOUND, 31, "NVRTC not found")                                          \
    X(QUERN_ERROR_NVRTC, 32, "NVRTC failed")                                                       \
    X(QUERN_ERROR_IMAGE, 33, "invalid or unsuitable image")                                        \
    X(QUERN_ERROR_LINK, 34, "linking failed")                                                      \
    X(QUERN_ERROR_NVJITLINK_NOT_FOUND, 35, "nvJitLink not found")                                  \
    /* the device */                                                                               \
    X(QUERN_ERROR_NO_DEVICE, 40, "no such device")                                                 \
    X(QUERN_ERROR_DRIVER, 41, "CUDA driver error")                                                 \
    X(QUERN_ERROR_DEVICE_MEMORY, 42, "out of device memory")                                       \
    X(QUERN_ERROR_LAUNCH, 43, "the kernel failed")                                                 \
    X(QUERN_ERROR_ACCESS, 44, "invalid memory access in a kernel")                                 \
    X(QUERN_ERROR_INTERRUPTED, 45, "interrupted")                                                  \
    /* the cache: only ever returned by the quern_cache_ functions */                              \
    X(QUERN_ERROR_CACHE, 50, "cache not usable")

typedef enum quern_status {
#define QUERN_STATUS_ENUM(name, code, text) name = code,
    QUERN_STATUS_MAP(QUERN_STATUS_ENUM)
#undef QUERN_STATUS_ENUM
} quern_status;

/** The fixed text of a status code, such as "shape mismatch"; never NULL. */
QUERN_API const char *quern_status_text(quern_status status);

/** A failure, explained. No string is NULL; an empty one means "does not apply". */
typedef struct quern_error {
    uint32_t size;         /**< sizeof(quern_error) of the library that filled it */
    int32_t status;        /**< a quern_status */
    const char *message;   /**< one sentence: what was wrong and, where it helps, what to do */
    const char *stage;     /**< "signature", "bind", "compile", "load", "launch", ... */
    const char *text;      /**< the caller's own text that `begin` and `end` point into */
    const char *text_name; /**< what that text is: "in", "out", "operation", "preamble", ... */
    uint32_t begin, end;   /**< bytes of `text` that are wrong; equal when there is no span */
    const char *log;       /**< the compiler's log, whole; lines are those of the snippet */
    const char *source;    /**< the generated source that did not compile */
} quern_error;

/** The last failure of a quern function in the calling thread.
 *
 * Every fallible function resets it on entry, so it is never stale: after QUERN_OK its status is
 * QUERN_OK. Borrowed: valid until this thread's next call of a fallible quern function. */
QUERN_API const quern_error *quern_last_error(void);

/** The last failure as text for a person: message, the place in the caller's text with a caret
 * under it, and the compiler's log. Ends with a newline unless empty. Borrowed as
 * quern_last_error() is. */
QUERN_API const char *quern_last_error_text(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_STATUS_H */
