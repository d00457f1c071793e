/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: the directory of an .npz archive, and what is deflated in it. In: any bytes as a
 * file. Holds: a member that is found lies within the file; unpacking it ends, and gives no more
 * than there is room for; a directory written for the same members reads back the same.
 */
#include "zip.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGEST (1 << 16) /* of what is unpacked */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool condition)
{
    if (!condition) {
        abort();
    }
}

static int file_of(const void *data, size_t size)
{
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    check(file >= 0 && write(file, data, size) == (ssize_t)size);
    return file;
}

static void unpack(const uint8_t *data, uint64_t stored)
{
    static uint8_t out[4096];
    cli_problem problem = {.text = ""};
    cli_inflater *inflater = cli_inflater_new(&problem);
    size_t left = (size_t)stored, total = 0;
    bool end = false;
    while (inflater && !end && total < LARGEST) {
        size_t before = left;
        ptrdiff_t got = cli_inflate(inflater, &data, &left, out, sizeof out, &end);
        check(got <= (ptrdiff_t)sizeof out && left <= before);
        if (got < 0 || (got == 0 && left == before)) {
            break;
        }
        total += (size_t)got;
    }
    cli_inflater_free(inflater);
}

static void check_members(const cli_zip *zip, const uint8_t *data, size_t size)
{
    for (size_t k = 0; k < zip->count; k++) {
        cli_problem problem = {.text = ""};
        uint64_t offset;
        const cli_zip_member *m = cli_zip_find(zip, zip->members[k].name, &problem);
        check(m || problem.text[0]);
        if (m && cli_zip_locate(zip, m, &offset, &problem)) {
            check(offset <= size && m->stored <= size - offset);
            if (m->method == CLI_ZIP_DEFLATED && k < 8) {
                unpack(data + offset, m->stored);
            }
        }
    }
}

/* The directory alone, as one that is written. */
static void check_written(const cli_zip *zip)
{
    cli_zip again;
    cli_problem problem = {.text = ""};
    cli_piece end = cli_zip_end(zip->members, zip->count, 0);
    int file = file_of(end.data, end.bytes);
    check(cli_zip_open(&again, file, end.bytes, &problem) && again.count == zip->count);
    for (size_t k = 0; k < zip->count; k++) {
        const cli_zip_member *a = &zip->members[k], *b = &again.members[k];
        check(strcmp(a->name, b->name) == 0 && a->size == b->size && a->stored == b->stored);
        check(a->offset == b->offset && a->crc == b->crc && a->method == b->method);
    }
    close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cli_zip zip;
    cli_problem problem = {.text = ""};
    int file = file_of(data, size);
    if (cli_zip_open(&zip, file, size, &problem)) {
        check_members(&zip, data, size);
        check_written(&zip);
    } else {
        check(problem.text[0] != 0);
    }
    close(file);
    cli_free_all();
    return 0;
}
