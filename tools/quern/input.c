/* SPDX-License-Identifier: MIT
 *
 * Where arrays are read from: files, pipes and other streams, members of archives. In: a path and
 * perhaps the name of a member. Out: the header of one NPY array, and then its data, piece by
 * piece.
 *
 * The contents decide what it is, not the name. A stream is never read past the end of the array,
 * so that another one can follow. A file that becomes shorter meanwhile is a failed read; map.c
 * says what happens to files that are mapped instead.
 */
#include "zip.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEAD = 8, BUFFER = 1 << 16 };

/* ---- bytes ---------------------------------------------------------------------------------- */

/* Up to `bytes` of the file as it is; 0 at its end, -1 with errno. */
static ssize_t take(cli_input *in, void *to, size_t bytes)
{
    bytes = in->left < bytes ? (size_t)in->left : bytes;
    bytes = bytes < SSIZE_MAX ? bytes : SSIZE_MAX;
    for (;;) {
        ssize_t got =
            in->archive ? pread(in->file, to, bytes, (off_t)in->at) : read(in->file, to, bytes);
        if (got < 0 && errno == EAGAIN) { /* a pipe that someone has made non-blocking */
            struct pollfd ready = {in->file, POLLIN, 0};
            poll(&ready, 1, -1);
        } else if (got >= 0 || errno != EINTR) {
            in->at += got > 0 ? (uint64_t)got : 0;
            in->left -= got > 0 && in->left != UINT64_MAX ? (uint64_t)got : 0;
            return got;
        }
    }
}

/* The same of a deflated member, unpacked. */
static ssize_t unpack(cli_input *in, void *to, size_t bytes)
{
    for (;;) {
        if (in->buffered == 0) {
            ssize_t got = take(in, in->buffer, BUFFER);
            if (got < 0) {
                return -1;
            }
            in->from = in->buffer;
            in->buffered = (size_t)got;
        }
        size_t before = in->buffered;
        ptrdiff_t out =
            in->ended ? 0
                      : cli_inflate(in->inflater, &in->from, &in->buffered, to, bytes, &in->ended);
        if (out != 0 || in->ended || before == 0) {
            errno = EBADMSG;
            return out;
        }
    }
}

/* As many of `bytes` as there are; false when reading fails. */
static bool fill(cli_input *in, void *to, size_t bytes, size_t *got)
{
    uint8_t *p = to;
    for (*got = 0; *got < bytes;) {
        ssize_t more =
            in->inflater ? unpack(in, p + *got, bytes - *got) : take(in, p + *got, bytes - *got);
        if (more < 0) {
            return false;
        }
        if (more == 0) {
            break;
        }
        *got += (size_t)more;
    }
    if (in->archive) {
        in->crc = cli_crc(in->crc, to, *got);
    }
    return true;
}

static int fail_damaged(const cli_input *in)
{
    return cli_fail("%s: \"%s\": the data of \"%s\" are damaged", in->name, in->path, in->member);
}

static int fail_read(const cli_input *in)
{
    return in->archive && errno == EBADMSG ? fail_damaged(in)
                                           : cli_fail_errno(in->name, "read", in->path);
}

static int fail_problem(const cli_input *in, const cli_problem *problem)
{
    return cli_fail("%s: \"%s\": %s", in->name, in->path, problem->text);
}

/* ---- archives ------------------------------------------------------------------------------- */

/* The directory at the end of an archive must be read first, which a pipe does not allow: take all
 * of it into memory. */
static int keep_stream(cli_input *in, const uint8_t *head, size_t length)
{
    int memory = memfd_create("archive", MFD_CLOEXEC);
    static uint8_t buffer[BUFFER];
    memcpy(buffer, head, length);
    ssize_t got = (ssize_t)length;
    while (got > 0 && memory >= 0 && cli_write_all(memory, buffer, (size_t)got)) {
        got = take(in, buffer, sizeof buffer);
    }
    if (got > 0) {
        int status = cli_fail_errno(in->name, "keep a copy of", in->path);
        if (memory >= 0) {
            close(memory);
        }
        return status;
    }
    if (in->opened) {
        close(in->file);
    }
    in->file = memory;
    in->opened = true;
    return got == 0 ? CLI_OK : fail_read(in);
}

/* Turn to the bytes of one member. */
static int open_member(cli_input *in, const char *name, const uint8_t *head, size_t length)
{
    struct stat info;
    cli_zip zip;
    cli_problem problem;
    if (in->size == UINT64_MAX) {
        CLI_TRY(keep_stream(in, head, length));
    }
    if (fstat(in->file, &info) != 0) {
        return fail_read(in);
    }
    if (!cli_zip_open(&zip, in->file, (uint64_t)info.st_size, &problem)) {
        return fail_problem(in, &problem);
    }
    const cli_zip_member *m = cli_zip_find(&zip, name, &problem);
    if (!m || !cli_zip_locate(&zip, m, &in->at, &problem)) {
        return fail_problem(in, &problem);
    }
    in->archive = true;
    in->member = m->name;
    in->left = m->stored;
    in->size = m->size;
    in->wanted_crc = m->crc;
    if (m->method == CLI_ZIP_DEFLATED) {
        in->buffer = cli_alloc(BUFFER);
        in->inflater = cli_inflater_new(&problem);
        return in->inflater ? CLI_OK : fail_problem(in, &problem);
    }
    return CLI_OK;
}

static bool is_archive(const uint8_t *head, size_t length)
{
    return length >= 4 && head[0] == 'P' && head[1] == 'K' && head[2] < 9 && head[3] < 9;
}

/* ---- arrays --------------------------------------------------------------------------------- */

static int open_path(cli_input *in)
{
    struct stat info;
    in->file = cli_descriptor_of(in->path, false);
    if (in->file < 0) {
        in->file = open(in->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        in->opened = in->file >= 0;
    }
    if (in->file < 0 || fstat(in->file, &info) != 0) {
        return cli_fail_errno(in->name, "read", in->path);
    }
    if (S_ISDIR(info.st_mode)) {
        return cli_fail("%s: \"%s\" is a folder, not a file", in->name, in->path);
    }
    in->left = in->size = UINT64_MAX;
    off_t at = S_ISREG(info.st_mode) ? lseek(in->file, 0, SEEK_CUR) : -1;
    if (at >= 0) {
        in->size = info.st_size > at ? (uint64_t)(info.st_size - at) : 0;
    }
    return CLI_OK;
}

/* Read the header, of which `head` has the first `have` bytes. */
static int read_header(cli_input *in, const uint8_t *head, size_t have, quern_dtype wanted)
{
    size_t room = 4096, got, size = in->size < SIZE_MAX ? (size_t)in->size : SIZE_MAX;
    uint8_t *header = cli_data_new(room);
    bool good = header != NULL, ended = have < HEAD;
    if (good) {
        memcpy(header, head, have);
    }
    while (good && !ended) {
        size_t want = cli_npy_header_bytes(header, have);
        want = want < size ? want : size;
        if (have >= want) {
            break;
        }
        if (have == room) { /* a length is believed only as far as bytes follow */
            room *= 2;
            header = cli_data_grow(header, room);
            good = header != NULL;
        }
        want = want < room ? want : room;
        good = good && fill(in, header + have, want - have, &got);
        ended = good && got < want - have;
        have += good ? got : 0;
    }
    cli_problem problem;
    size = ended ? have : size;
    int status = !good ? fail_read(in)
                 : cli_npy_parse(&in->npy, header, size, wanted, &problem)
                     ? CLI_OK
                     : fail_problem(in, &problem);
    cli_data_free(header);
    return status;
}

int cli_input_open(cli_input *in, const char *name, const char *path, const char *member,
                   quern_dtype wanted)
{
    uint8_t head[HEAD];
    size_t length;
    *in = (cli_input){.name = name, .path = path, .file = -1};
    CLI_TRY(open_path(in));
    if (!fill(in, head, HEAD, &length)) {
        return fail_read(in);
    }
    bool is_npy = length > 0 && head[0] == 0x93;
    if (is_archive(head, length) || (member && !is_npy)) { /* which may follow a program */
        CLI_TRY(open_member(in, member, head, length));
        if (!fill(in, head, HEAD, &length)) {
            return fail_read(in);
        }
    } else if (member) {
        return cli_fail("%s: \"%s\": this is not an archive of numpy.savez", name, path);
    }
    return read_header(in, head, length, wanted);
}

int cli_input_read(cli_input *in, void *to, size_t bytes)
{
    size_t got;
    if (!fill(in, to, bytes, &got)) {
        return fail_read(in);
    }
    if (got < bytes) {
        return cli_fail("%s: \"%s\": the data end early: the header states %" PRId64 " bytes",
                        in->name, in->path, in->npy.bytes);
    }
    return CLI_OK;
}

int cli_input_finish(cli_input *in)
{
    static uint8_t rest[BUFFER];
    size_t got = in->archive ? sizeof rest : 0;
    while (got > 0) { /* the checksum covers what follows the array, too */
        if (!fill(in, rest, sizeof rest, &got)) {
            return fail_read(in);
        }
    }
    return in->archive && in->crc != in->wanted_crc ? fail_damaged(in) : CLI_OK;
}

void cli_input_close(cli_input *in)
{
    cli_inflater_free(in->inflater);
    if (in->opened) {
        close(in->file);
    }
    *in = (cli_input){.file = -1};
}
