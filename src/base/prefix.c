/* SPDX-License-Identifier: MIT
 *
 * Copying structures from a caller and to a caller. In: a structure that may be of an older or a
 * newer version of the header. Out: ours, or a failure that says which byte asks for something
 * unknown.
 */
#include "base/prefix.h"
#include "base/object.h"

#include <ctype.h>
#include <quern/quern.h>
#include <string.h>

#define LEAST 8    /* bytes: `size` and what shares its word */
#define MORE  4096 /* bytes that a newer header may add; a larger `size` was never initialised */

/* The macro that initialises a structure: QUERN_OPTIONS_INIT. */
static void init_macro(char *out, size_t room, const char *type)
{
    size_t length = 0;
    for (; type[length] != '\0' && length + sizeof "_INIT" < room; length++) {
        out[length] = (char)toupper((unsigned char)type[length]);
    }
    memcpy(out + length, "_INIT", sizeof "_INIT");
}

static quern_status check_size(const qn_prefix *prefix, uint32_t size)
{
    if (size >= LEAST && size <= prefix->size + MORE && size % prefix->alignment == 0) {
        return QUERN_OK;
    }
    char macro[64];
    init_macro(macro, sizeof macro, prefix->type);
    return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                   "%s.size is %u, and sizeof(%s) is %u here: start from %s, which sets it",
                   prefix->type, size, prefix->type, prefix->size, macro);
}

/* Fields of a newer header, which this library does not know, must be 0. */
static quern_status check_tail(const qn_prefix *prefix, const unsigned char *bytes, uint32_t size)
{
    for (uint32_t at = prefix->size; at < size; at++) {
        if (bytes[at] != 0) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                           "%s: byte %u is not 0, and this library, %s, does not know what it "
                           "asks for: it knows the first %u bytes; leave newer fields 0, or use a "
                           "newer library",
                           prefix->type, at, QUERN_VERSION_STRING, prefix->size);
        }
    }
    return QUERN_OK;
}

static quern_status check_reserved(const qn_prefix *prefix, const unsigned char *own)
{
    uint32_t reserved = 0;
    if (prefix->reserved != 0) {
        memcpy(&reserved, own + prefix->reserved, sizeof reserved);
    }
    return reserved == 0 ? QUERN_OK
                         : qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "%s.reserved is %u, and must be 0",
                                   prefix->type, reserved);
}

quern_status qn_prefix_take(void *own, const qn_prefix *prefix, const void *given)
{
    memset(own, 0, prefix->size);
    if (given) {
        uint32_t size = *(const uint32_t *)given;
        QN_TRY(check_size(prefix, size));
        memcpy(own, given, QN_MIN(size, prefix->size));
        QN_TRY(check_tail(prefix, given, size));
        QN_TRY(check_reserved(prefix, own));
    }
    *(uint32_t *)own = prefix->size;
    return QUERN_OK;
}

quern_status qn_prefix_check(const qn_prefix *prefix, const char *function, const char *argument,
                             const void *given)
{
    return given ? check_size(prefix, *(const uint32_t *)given)
                 : qn_null_refuse(function, argument);
}

void qn_prefix_give(void *given, const qn_prefix *prefix, const void *own)
{
    uint32_t size = *(const uint32_t *)given, both = QN_MIN(size, prefix->size);
    memcpy(given, own, both);
    memset((char *)given + both, 0, size - both);
    *(uint32_t *)given = size;
}
