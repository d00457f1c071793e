/* SPDX-License-Identifier: MIT
 *
 * Blocks of LZ4, as fatbins have them. In: a packed block and the size of what is in it. Out: its
 * bytes. The work is liblz4's, which is loaded when the first such block comes and stays; where
 * there is none (Debian's package liblz4-1), blocks are reported and nothing else suffers.
 *
 * The function is that of lz4.h, stable since r129 (2015).
 */
#include "device/image/image.h"

#include <limits.h>

typedef int (*decompress_function)(const char *from, char *to, int bytes, int room);

static qn_library *library; /* stays open */
static decompress_function decompress;
static pthread_once_t lz4_once = PTHREAD_ONCE_INIT;

static void load(void)
{
    static const char *const names[] = {"liblz4.so.1", "liblz4.so", NULL};
    char *why;
    if (qn_library_open(&library, names, &why)) {
        decompress = (decompress_function)qn_library_symbol(library, "LZ4_decompress_safe");
    }
    qn_free(why);
}

bool qn_lz4_found(void)
{
    pthread_once(&lz4_once, load);
    return decompress != NULL;
}

bool qn_lz4_unpack(void *to, size_t room, const void *from, size_t bytes)
{
    if (!qn_lz4_found() || bytes > INT_MAX || room > INT_MAX) {
        return false;
    }
    return decompress(from, to, (int)bytes, (int)room) == (int)room;
}
