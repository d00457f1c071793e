/* SPDX-License-Identifier: MIT
 *
 * The file of a pack: it has no name until it is whole; and how its entries are packed.
 */
#include "cache/pack.h"
#include "scratch.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

TestSuite(pack, .init = scratch_make, .fini = scratch_delete);

/* Who is killed while he writes a pack leaves nothing of it. */
Test(pack, half_a_pack_has_no_name)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        qn_pack_writer writer;
        if (qn_pack_writer_begin(&writer, scratch_path("a.qpack")) == QUERN_OK) {
            raise(SIGKILL);
        }
        _exit(1);
    }
    int status = 0;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    int probe = open(scratch, O_TMPFILE | O_WRONLY, 0600); /* this file system knows such files */
    glob_t found;
    glob(scratch_path("*"), 0, NULL, &found);
    cr_expect_eq(found.gl_pathc, probe >= 0 ? 0 : 1);
    globfree(&found);
    if (probe >= 0) {
        close(probe);
    }
    qn_pack_writer writer;
    cr_assert_eq(qn_pack_writer_begin(&writer, scratch_path("a.qpack")), QUERN_OK);
    cr_assert_eq(qn_pack_writer_end(&writer, QUERN_OK), QUERN_OK);
    glob(scratch_path("*"), 0, NULL, &found);
    cr_assert_eq(found.gl_pathc, probe >= 0 ? 1 : 2);
    cr_expect_str_eq(found.gl_pathv[0], scratch_path("a.qpack"));
    globfree(&found);
}

/* How an export packs the entry of the database. */
static qn_packing packed_by(qn_store *store, int32_t level)
{
    const quern_export_options options = {.level = level};
    const char *why = NULL;
    uint64_t written;
    qn_pack_file pack;
    qn_entry entry;
    char *room;
    cr_assert_eq(qn_store_export(store, scratch_path("b.qpack"), &options, &written), QUERN_OK);
    cr_assert(written == 1 && qn_pack_file_open(&pack, scratch_path("b.qpack"), &why), "%s", why);
    cr_assert(qn_pack_file_entry(&entry, &room, &pack, 0, &why), "%s", why);
    const qn_packing packing = entry.packing;
    qn_free(room);
    qn_pack_file_close(&pack);
    return packing;
}

/* What is sent to a store or read here is not packed for it; a pack is, unless it shall not be. */
Test(pack, a_level_of_0_is_the_usual_one)
{
    qn_store *store = scratch_store(scratch, 0);
    scratch_put(store, 1, 5000, "abc");
    cr_expect_eq(packed_by(store, 0), packed_by(store, 19));
    cr_expect_eq(packed_by(store, 0), QN_PACKED_ZSTD);
    cr_expect_eq(packed_by(store, -1), QN_PACKED_NOT);

    qn_text bytes = {0};
    qn_entry entry;
    const char *why;
    cr_assert_eq(qn_store_entry(&bytes, store, 1, 0, true), QUERN_OK);
    cr_assert(qn_entry_read(&entry, (qn_str){bytes.data, bytes.length}, &why));
    cr_expect_eq(entry.packing, QN_PACKED_NOT);
    cr_expect(entry.has_material);
    qn_text_free(&bytes);
    qn_store_close(store);
}
