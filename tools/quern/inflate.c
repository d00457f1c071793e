/* SPDX-License-Identifier: MIT
 *
 * What is in deflated members of archives, unpacked by zlib, which is loaded when it is needed; and
 * the checksum of all members, which is not zlib's, so that stored ones can be read without it.
 */
#include "zip.h"

#include <dlfcn.h>
#include <stdlib.h>

/* ---- checksum ------------------------------------------------------------------------------- */

/* tables[k][b]: the remainder of byte b followed by k zero bytes. */
static uint32_t tables[8][256];

static void make_tables(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t r = b;
        for (int k = 0; k < 8; k++) {
            r = r >> 1 ^ (r & 1 ? 0xedb88320u : 0);
        }
        tables[0][b] = r;
    }
    for (int k = 1; k < 8; k++) {
        for (int b = 0; b < 256; b++) {
            uint32_t r = tables[k - 1][b];
            tables[k][b] = r >> 8 ^ tables[0][r & 0xff];
        }
    }
}

uint32_t cli_crc(uint32_t crc, const void *data, size_t bytes)
{
    const uint8_t *p = data;
    if (tables[0][1] == 0) {
        make_tables();
    }
    crc = ~crc;
    for (; bytes >= 8; bytes -= 8, p += 8) {
        uint32_t next = 0;
        crc ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        for (int k = 0; k < 4; k++) {
            next ^= tables[7 - k][crc >> 8 * k & 0xff] ^ tables[3 - k][p[4 + k]];
        }
        crc = next;
    }
    for (; bytes > 0; bytes--) {
        crc = crc >> 8 ^ tables[0][(crc ^ *p++) & 0xff];
    }
    return ~crc;
}

/* ---- zlib ----------------------------------------------------------------------------------- */

/* zlib's z_stream, as all of its versions 1 have it. */
typedef struct stream {
    const uint8_t *next_in;
    unsigned available_in;
    unsigned long total_in;
    uint8_t *next_out;
    unsigned available_out;
    unsigned long total_out;
    const char *message;
    void *state;
    void *allocate, *release, *context;
    int data_type;
    unsigned long checksum, reserved;
} stream;

enum { NO_FLUSH = 0, GOOD = 0, AT_END = 1, NO_ROOM = -5, RAW_WINDOW = -15 };

struct cli_inflater {
    stream z;
    void *library;
    int (*inflate)(stream *, int);
    int (*end)(stream *);
};

cli_inflater *cli_inflater_new(cli_problem *problem)
{
    cli_inflater *i = calloc(1, sizeof *i);
    void *library = i ? dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*init)(stream *, int, const char *, int) = NULL;
    if (library) {
        i->library = library;
        *(void **)&init = dlsym(library, "inflateInit2_");
        *(void **)&i->inflate = dlsym(library, "inflate");
        *(void **)&i->end = dlsym(library, "inflateEnd");
    }
    if (init && i->inflate && i->end && init(&i->z, RAW_WINDOW, "1", sizeof i->z) == GOOD) {
        return i;
    }
    cli_problem_set(problem, 0, 0,
                    "it is compressed, and zlib (libz.so.1), which unpacks it, was not found; "
                    "install zlib, or write the archive with numpy.savez");
    if (library) {
        dlclose(library);
    }
    free(i);
    return NULL;
}

void cli_inflater_free(cli_inflater *inflater)
{
    if (inflater) {
        inflater->end(&inflater->z);
        dlclose(inflater->library);
        free(inflater);
    }
}

ptrdiff_t cli_inflate(cli_inflater *inflater, const uint8_t **from, size_t *left, void *to,
                      size_t bytes, bool *end)
{
    const size_t most = 1u << 30;
    stream *z = &inflater->z;
    unsigned in = (unsigned)(*left < most ? *left : most);
    unsigned out = (unsigned)(bytes < most ? bytes : most);
    z->next_in = *from;
    z->available_in = in;
    z->next_out = to;
    z->available_out = out;
    int status = inflater->inflate(z, NO_FLUSH);
    *from = z->next_in;
    *left -= in - z->available_in;
    *end = status == AT_END;
    bool good = status == GOOD || status == AT_END || status == NO_ROOM;
    return good ? (ptrdiff_t)(out - z->available_out) : -1;
}
