/* SPDX-License-Identifier: MIT
 *
 * Reports of a pointer that is not what it should be. In: the pointer and what was expected. Out: a
 * failure, or a line in the log for functions that return nothing.
 */
#include "base/object.h"

static const char *name_of(uint32_t word)
{
    switch (word) {
#define NAME_CASE(name, number, text)                                                              \
    case name:                                                                                     \
        return text;
        QN_OBJECT_MAP(NAME_CASE)
#undef NAME_CASE
    }
    return NULL;
}

/* What `object` is instead of a living object of `type`. */
typedef struct description {
    const char *is, *name, *but, *wanted;
} description;

static description describe(const void *object, qn_object_type type)
{
    uint32_t word = *(const uint32_t *)object;
    if (name_of(word)) {
        return (description){"is a ", name_of(word), ", not a ", name_of(type)};
    }
    return (description){word == QN_OBJECT_DEAD ? "was freed: it is no longer a "
                                                : "was freed, or never was a ",
                         name_of(type), "", ""};
}

quern_status qn_null_refuse(const char *function, const char *argument)
{
    return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "%s: %s is NULL", function, argument);
}

quern_status qn_object_refuse(const char *function, const char *argument, const void *object,
                              qn_object_type type)
{
    if (!object) {
        return qn_null_refuse(function, argument);
    }
    description d = describe(object, type);
    return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "%s: %s %s%s%s%s", function, argument, d.is,
                   d.name, d.but, d.wanted);
}

bool qn_object_can_free(const char *function, const void *object, qn_object_type type)
{
    if (!object || qn_object_is(object, type)) {
        return object != NULL;
    }
    description d = describe(object, type);
    qn_log(NULL, QN_ERROR, "%s: nothing is freed, because what was passed %s%s%s%s", function, d.is,
           d.name, d.but, d.wanted);
    return false;
}
