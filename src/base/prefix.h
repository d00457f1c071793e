/* SPDX-License-Identifier: MIT
 *
 * prefix: structures of the interface, which grow from version to version. In: a caller's
 * structure, which begins with its size. Out: a structure of ours, in which what the caller's does
 * not have is 0; or one of ours in the caller's, as far as that goes. The thing to know: a program
 * that knows less than the library, or more, runs as long as it asks for nothing that the library
 * does not know.
 */
#ifndef QN_PREFIX_H
#define QN_PREFIX_H

#include "base/base.h"

/** What is known here of a structure whose first field is `uint32_t size`. */
typedef struct qn_prefix {
    const char *type;
    uint32_t size, alignment;
    uint32_t reserved; /**< offset of its field `reserved`; 0: it has none */
} qn_prefix;

#define QN_PREFIX(type) (&(const qn_prefix){#type, sizeof(type), _Alignof(type), 0})
#define QN_PREFIX_RESERVED(type)                                                                   \
    (&(const qn_prefix){#type, sizeof(type), _Alignof(type), offsetof(type, reserved)})

/** Copy the fields that both sides know from `given` into `own`; the rest of `own` is 0, and all of
 * it when `given` is NULL. `own->size` is ours. Errors: QUERN_ERROR_INVALID_ARGUMENT for an
 * impossible size, for bytes past ours that are not 0, and for `reserved` when it is not 0. */
quern_status qn_prefix_take(void *own, const qn_prefix *prefix, const void *given);
/** Check the size of a structure that is about to be filled. `function` and `argument` are for
 * messages. */
quern_status qn_prefix_check(const qn_prefix *prefix, const char *function, const char *argument,
                             const void *given);
/** Fill a caller's structure from `own`: as much as it has room for, and 0 past what we know. Its
 * `size` stays as it was. */
void qn_prefix_give(void *given, const qn_prefix *prefix, const void *own);

/* At the top of a public function. */

/** Declares `own`: what the caller gave, in our version of the structure. */
#define QN_TAKE(type, own, given)                                                                  \
    type own;                                                                                      \
    QN_TRY(qn_prefix_take(&own, QN_PREFIX(type), (given)))
/** The same for a structure with a field `reserved`. */
#define QN_TAKE_RESERVED(type, own, given)                                                         \
    type own;                                                                                      \
    QN_TRY(qn_prefix_take(&own, QN_PREFIX_RESERVED(type), (given)))
/** The same for the path of every launch: a structure of our own size is used in place; otherwise
 * `given` is redirected to a local copy. */
#define QN_TAKE_IN_PLACE(type, given)                                                              \
    type given##_own_;                                                                             \
    if ((given) != NULL && ((given)->size != sizeof(type) || (given)->reserved != 0)) {            \
        QN_TRY(qn_prefix_take(&given##_own_, QN_PREFIX_RESERVED(type), (given)));                  \
        (given) = &given##_own_;                                                                   \
    }
/** Declares `own`, zeroed, to be filled, and given to the caller by QN_GIVE(). */
#define QN_TO_GIVE(type, own, given)                                                               \
    QN_TRY(qn_prefix_check(QN_PREFIX(type), __func__, #given, (given)));                           \
    type own = {.size = sizeof(type)}
#define QN_GIVE(type, own, given) qn_prefix_give((given), QN_PREFIX(type), &(own))

#endif /* QN_PREFIX_H */
