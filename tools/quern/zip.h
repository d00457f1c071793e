/* SPDX-License-Identifier: MIT
 *
 * Zip archives: what is read from and written into .npz files, with a banner for each file.
 */
#ifndef QUERN_CLI_ZIP_H
#define QUERN_CLI_ZIP_H

#include "files.h"

/* ---- zip.c ---------------------------------------------------------------------------------- */

enum { CLI_ZIP_STORED = 0, CLI_ZIP_DEFLATED = 8 };

typedef struct cli_zip_member {
    const char *name; /* "x.npy" */
    unsigned flags, method;
    uint32_t time, crc, attributes;
    uint64_t stored, size; /* bytes in the archive, and once they are unpacked */
    uint64_t offset;       /* of its local header, from the beginning of the archive */
} cli_zip_member;

typedef struct cli_zip {
    int file;
    uint64_t size, base; /* of the file; where the archive begins in it */
    cli_zip_member *members;
    size_t count;
} cli_zip;

/* Read the directory of an archive of `size` bytes. */
bool cli_zip_open(cli_zip *out, int file, uint64_t size, cli_problem *problem);
/* The member `name`, with or without .npy, or the only one when it is NULL; one that can be read.
 */
const cli_zip_member *cli_zip_find(const cli_zip *zip, const char *name, cli_problem *problem);
bool cli_zip_is(const cli_zip_member *member, const char *name);
/* Where its bytes begin in the file. */
bool cli_zip_locate(const cli_zip *zip, const cli_zip_member *member, uint64_t *offset,
                    cli_problem *problem);

/* A member that is stored, NAME.npy, whose local header will lie at `offset`. */
cli_zip_member cli_zip_new(const char *name, uint64_t offset, uint64_t bytes, uint32_t crc);
/* What precedes its bytes; and what follows the last member, whose end is at `offset`. */
cli_piece cli_zip_local(const cli_zip_member *member);
cli_piece cli_zip_end(const cli_zip_member *members, size_t count, uint64_t offset);

/* ---- inflate.c ------------------------------------------------------------------------------ */

/* The checksum of zip archives, of `crc` (0 to begin with) and the bytes that follow. */
uint32_t cli_crc(uint32_t crc, const void *data, size_t bytes);

typedef struct cli_inflater cli_inflater;
/* What unpacks deflated bytes, by libz; NULL, with a problem, where there is no libz. */
cli_inflater *cli_inflater_new(cli_problem *problem);
void cli_inflater_free(cli_inflater *inflater);
/* Unpack from *from, of *left bytes, to `to`. Both are moved on; returns how many bytes came out,
 * or -1 when the bytes are damaged. *end is set at the end of the stream. */
ptrdiff_t cli_inflate(cli_inflater *inflater, const uint8_t **from, size_t *left, void *to,
                      size_t bytes, bool *end);

#endif /* QUERN_CLI_ZIP_H */
