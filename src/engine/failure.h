/* SPDX-License-Identifier: MIT
 *
 * failure_place.c, subject.c: where in a user's text a kernel failed, and about what. In: what a
 * launch was made of, and what the device recorded. Out: an error that speaks of the user's text
 * and arguments.
 */
#ifndef QN_FAILURE_H
#define QN_FAILURE_H

#include "array/array_internal.h"
#include "compile/compile.h"

/** What a launch was made of. */
typedef struct qn_failure {
    const qn_user_text *texts; /**< of the user */
    size_t text_count;
    /** Name and array of the kernel's parameter `index`: an empty name if it has none, as the walk;
     * NULL if it is not an array. */
    void (*argument)(const void *context, uint32_t index, qn_str *name, const quern_array **array);
    const void *context;
} qn_failure;

/** After a failed launch: turn the place that the device recorded, if it is in one of the texts,
 * into a span, and what the message says of a parameter into its name and element. */
void qn_explain_failure(const qn_failure *about);

/** After a module was refused because it uses an undefined name: say that name as the user wrote
 * it, and make its place in one of the texts a span. */
void qn_explain_undefined(const qn_user_text *texts, size_t count);

/** The number in C order of the element that was accessed, or that would be there beyond the
 * array's ends; INT64_MIN if there is none. */
int64_t qn_subject_element(const qn_error_subject *subject, const quern_array *array);
/** Make the message say the argument's name (if empty, its number) and the element. */
void qn_explain_subject(const qn_error_subject *subject, qn_str name, const quern_array *array);

#endif /* QN_FAILURE_H */
