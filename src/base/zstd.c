/* SPDX-License-Identifier: MIT
 *
 * Frames of zstd, as nvcc packs fatbins since 12.8, and as packs of compiled kernels have them. In:
 * bytes, or a packed frame and the size of what is in it. Out: a frame, or its bytes. The work is
 * libzstd's, which is loaded when the first is needed and stays; where there is none (Debian's
 * package libzstd1), frames are reported and nothing else suffers.
 *
 * The functions are those of zstd.h, stable since 1.0 (2016); RFC 8878 is the format.
 */
#include "base/base.h"

typedef size_t (*compress_function)(void *to, size_t room, const void *from, size_t bytes,
                                    int level);
typedef size_t (*bound_function)(size_t bytes);
typedef size_t (*decompress_function)(void *to, size_t room, const void *from, size_t bytes);
typedef unsigned (*is_error_function)(size_t result);

static struct {
    qn_library *library; /* stays open */
    compress_function compress;
    bound_function bound;
    decompress_function decompress;
    is_error_function is_error;
} zstd;
static pthread_once_t zstd_once = PTHREAD_ONCE_INIT;

static void load(void)
{
    static const char *const names[] = {"libzstd.so.1", "libzstd.so", NULL};
    char *why;
    if (qn_library_open(&zstd.library, names, &why)) {
        zstd.compress = (compress_function)qn_library_symbol(zstd.library, "ZSTD_compress");
        zstd.bound = (bound_function)qn_library_symbol(zstd.library, "ZSTD_compressBound");
        zstd.decompress = (decompress_function)qn_library_symbol(zstd.library, "ZSTD_decompress");
        zstd.is_error = (is_error_function)qn_library_symbol(zstd.library, "ZSTD_isError");
    }
    qn_free(why);
}

bool qn_zstd_found(void)
{
    pthread_once(&zstd_once, load);
    return zstd.compress && zstd.bound && zstd.decompress && zstd.is_error;
}

bool qn_zstd_unpack(void *to, size_t room, const void *from, size_t bytes)
{
    if (!qn_zstd_found()) {
        return false;
    }
    size_t unpacked = zstd.decompress(to, room, from, bytes);
    return !zstd.is_error(unpacked) && unpacked == room;
}

char *qn_zstd_pack(size_t *packed, const void *from, size_t bytes, int level)
{
    *packed = 0;
    if (!qn_zstd_found()) {
        return NULL;
    }
    size_t room = zstd.bound(bytes);
    char *to = qn_alloc(room);
    if (!to) {
        return NULL;
    }
    size_t length = zstd.compress(to, room, from, bytes, level);
    if (zstd.is_error(length)) {
        qn_free(to);
        return NULL;
    }
    *packed = length;
    return to;
}
