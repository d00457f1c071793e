/* SPDX-License-Identifier: MIT
 *
 * Blocks of LZ4, as fatbins have them. In: a packed block and the size of what is in it. Out: its
 * bytes. A block is a row of sequences; any bytes may come in, and none is read or written outside.
 *
 *     sequence = token literal-length* literal* ( offset match-length* )?     the last has no match
 */
#include "device/image/image.h"

#include <string.h>

enum { SHORTEST_MATCH = 4, LONG_LENGTH = 15 };

/* A length: four bits of the token, and, when they are all set, the bytes after it. */
static bool take_length(size_t *length, unsigned bits, const unsigned char **at,
                        const unsigned char *end)
{
    *length = bits;
    unsigned more = bits == LONG_LENGTH ? 255 : 0;
    while (more == 255) {
        if (*at == end) {
            return false;
        }
        more = *(*at)++;
        *length += more;
    }
    return true;
}

bool qn_lz4_unpack(unsigned char *to, size_t room, const unsigned char *from, size_t bytes)
{
    const unsigned char *at = from, *end = from + bytes;
    size_t done = 0, length;
    while (at < end) {
        unsigned token = *at++;
        if (!take_length(&length, token >> 4, &at, end) || length > (size_t)(end - at) ||
            length > room - done) {
            return false;
        }
        memcpy(to + done, at, length);
        done += length;
        at += length;
        if (at == end) {
            break;
        }
        if (end - at < 2) {
            return false;
        }
        size_t offset = at[0] | (size_t)at[1] << 8;
        at += 2;
        if (!take_length(&length, token & 15, &at, end) || offset == 0 || offset > done) {
            return false;
        }
        length += SHORTEST_MATCH;
        if (length > room - done) {
            return false;
        }
        for (size_t k = 0; k < length; k++, done++) { /* a match may reach into itself */
            to[done] = to[done - offset];
        }
    }
    return done == room;
}
