/* SPDX-License-Identifier: MIT
 *
 * The file of a pack while it is written: it has no name until it is whole.
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
