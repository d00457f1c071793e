/* SPDX-License-Identifier: MIT
 *
 * object: telling apart the handles that programs hold. The first word of every object says what it
 * is while it lives, and that it is dead once it is freed; public functions look at it before
 * anything else. In: a pointer from a program. Out: yes, or a failure that names the function and
 * its argument. The thing to know: the check is one compare on a cache line that the function needs
 * anyway; it cannot detect freed memory that now holds another object of the same kind.
 */
#ifndef QN_OBJECT_H
#define QN_OBJECT_H

#include "base/base.h"

#define QN_OBJECT_MAP(X)                                                                           \
    X(QN_OBJECT_ENGINE, 0x514e4501, "quern_engine")                                                \
    X(QN_OBJECT_ARRAY, 0x514e4502, "quern_array")                                                  \
    X(QN_OBJECT_KERNEL, 0x514e4503, "quern_kernel")                                                \
    X(QN_OBJECT_BOUND, 0x514e4504, "quern_bound")                                                  \
    X(QN_OBJECT_STREAM, 0x514e4505, "quern_stream")                                                \
    X(QN_OBJECT_EVENT, 0x514e4506, "quern_event")                                                  \
    X(QN_OBJECT_MODULE, 0x514e4507, "quern_module")                                                \
    X(QN_OBJECT_FUNCTION, 0x514e4508, "quern_function")                                            \
    X(QN_OBJECT_TENSOR, 0x514e4509, "tensor")                                                      \
    X(QN_OBJECT_GRAPH, 0x514e450a, "quern_graph")                                                  \
    X(QN_OBJECT_CUDA_ARRAY, 0x514e450b, "quern_cuda_array")                                        \
    X(QN_OBJECT_TEXTURE, 0x514e450c, "quern_texture")                                              \
    X(QN_OBJECT_SURFACE, 0x514e450d, "quern_surface")

typedef enum qn_object_type {
    QN_OBJECT_DEAD = 0x514e4500,
#define QN_OBJECT_ENUM(name, word, text) name = word,
    QN_OBJECT_MAP(QN_OBJECT_ENUM)
#undef QN_OBJECT_ENUM
} qn_object_type;

/** True for a living object of `type`; false for NULL. */
static inline bool qn_object_is(const void *object, qn_object_type type)
{
    return object && *(const uint32_t *)object == (uint32_t)type;
}

/** Before the memory of an object is freed. */
static inline void qn_object_end(uint32_t *word)
{
    *(volatile uint32_t *)word = QN_OBJECT_DEAD; /* a plain write would be optimised away */
}

/** Record what is wrong with an argument that is not a living object of `type`. */
quern_status qn_object_refuse(const char *function, const char *argument, const void *object,
                              qn_object_type type);
/** For functions that free and return nothing: true for a living object, false for NULL; anything
 * else is written to standard error. */
bool qn_object_can_free(const char *function, const void *object, qn_object_type type);
quern_status qn_null_refuse(const char *function, const char *argument);

/* The checks at the top of a public function; messages name that function and the argument. */
#define QN_CHECK_OBJECT(object, type)                                                              \
    do {                                                                                           \
        if (!qn_object_is((object), (type))) {                                                     \
            return qn_object_refuse(__func__, #object, (object), (type));                          \
        }                                                                                          \
    } while (0)
#define QN_CHECK_NOT_NULL(pointer)                                                                 \
    do {                                                                                           \
        if ((pointer) == NULL) {                                                                   \
            return qn_null_refuse(__func__, #pointer);                                             \
        }                                                                                          \
    } while (0)
/** For an output: checks the pointer and sets the output to NULL. */
#define QN_CHECK_OUT(out)                                                                          \
    do {                                                                                           \
        QN_CHECK_NOT_NULL(out);                                                                    \
        *(out) = NULL;                                                                             \
    } while (0)

#endif /* QN_OBJECT_H */
