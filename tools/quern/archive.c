/* SPDX-License-Identifier: MIT
 *
 * Outputs that are members of an .npz archive. In: the arrays that go into one. Out: the pieces of
 * the archive. Members that were in it before and are not written again stay, byte for byte as they
 * are stored.
 */
#include "zip.h"

#include <fcntl.h>
#include <unistd.h>

typedef struct archive {
    cli_zip_member *members;
    size_t count;
    cli_piece *pieces;
    size_t piece_count;
    uint64_t bytes; /* so far */
} archive;

static void add_piece(archive *a, cli_piece piece)
{
    a->pieces[a->piece_count++] = piece;
    a->bytes += piece.bytes;
}

static bool is_replaced(const cli_zip_member *m, const cli_array_file *files, size_t count)
{
    bool replaced = false;
    for (size_t k = 0; k < count; k++) {
        replaced |= cli_zip_is(m, files[k].member);
    }
    return replaced;
}

/* Take over a member of the existing archive. */
static bool keep(archive *a, const cli_zip *zip, const cli_zip_member *m, cli_problem *problem)
{
    uint64_t offset, done = 0;
    if (!cli_zip_locate(zip, m, &offset, problem)) {
        return false;
    }
    char *data = cli_alloc((size_t)m->stored + 1);
    while (done < m->stored) {
        ssize_t got =
            pread(zip->file, data + done, (size_t)(m->stored - done), (off_t)(offset + done));
        if (got <= 0) {
            return cli_problem_set(problem, 0, 0, "\"%s\" cannot be read", m->name);
        }
        done += (uint64_t)got;
    }
    cli_zip_member *kept = &a->members[a->count++];
    *kept = *m;
    kept->flags &= ~8u; /* the sizes are in the header */
    kept->offset = a->bytes;
    add_piece(a, cli_zip_local(kept));
    add_piece(a, (cli_piece){data, (size_t)m->stored});
    return true;
}

static bool keep_others(archive *a, int file, uint64_t size, const cli_array_file *files,
                        size_t count, cli_problem *problem)
{
    cli_zip zip;
    if (!cli_zip_open(&zip, file, size, problem)) {
        return false;
    }
    a->members = cli_alloc((zip.count + count) * sizeof *a->members);
    a->pieces = cli_alloc((2 * zip.count + 3 * count + 1) * sizeof *a->pieces);
    for (size_t k = 0; k < zip.count; k++) {
        if (!is_replaced(&zip.members[k], files, count) &&
            !keep(a, &zip, &zip.members[k], problem)) {
            return false;
        }
    }
    return true;
}

/* Begin with what the archive already holds. */
static int begin(archive *a, const char *path, const cli_array_file *files, size_t count)
{
    struct stat info;
    cli_problem problem;
    *a = (archive){
        .members = cli_alloc(count * sizeof *a->members),
        .pieces = cli_alloc((3 * count + 1) * sizeof *a->pieces),
    };
    bool there = cli_descriptor_of(path, true) < 0 && stat(path, &info) == 0 &&
                 S_ISREG(info.st_mode) && info.st_size > 0;
    if (!there) {
        return CLI_OK;
    }
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file < 0) {
        return cli_fail_errno(NULL, "read", path);
    }
    bool kept = keep_others(a, file, (uint64_t)info.st_size, files, count, &problem);
    close(file);
    return kept ? CLI_OK
                : cli_fail(
                      "cannot write \"%s\": what is there would be lost, for it cannot be read: %s",
                      path, problem.text);
}

int cli_archive_stage(const char *path, const cli_array_file *files, size_t count)
{
    archive a;
    CLI_TRY(begin(&a, path, files, count));
    for (size_t k = 0; k < count; k++) {
        const cli_array_file *f = &files[k];
        uint32_t crc =
            cli_crc(cli_crc(0, f->header.data, f->header.bytes), f->data.data, f->data.bytes);
        cli_zip_member *m = &a.members[a.count++];
        *m = cli_zip_new(f->member, a.bytes, f->header.bytes + f->data.bytes, crc);
        add_piece(&a, cli_zip_local(m));
        add_piece(&a, f->header);
        add_piece(&a, f->data);
    }
    add_piece(&a, cli_zip_end(a.members, a.count, a.bytes));
    return cli_save_stage(path, a.pieces, a.piece_count);
}
