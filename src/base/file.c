/* SPDX-License-Identifier: MIT
 *
 * Whole files. In: a path, or bytes. Out: its bytes, terminated; or a file that has them. Sizes are
 * found by reading, so that pipes and files of /proc, which report no size, can be read as well.
 */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static quern_status fail_reading(const char *path, int error)
{
    return qn_fail(QUERN_ERROR_IO, "cannot read %s: %s", path, strerror(error));
}

bool qn_write_all(int file, qn_str bytes)
{
    for (size_t done = 0; done < bytes.length;) {
        ssize_t wrote = write(file, bytes.data + done, bytes.length - done);
        if (wrote < 0 && errno != EINTR) {
            return false;
        }
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

/* Read `file` to its end; `hint` is how much is expected. */
static quern_status read_all(int file, const char *path, size_t hint, qn_text *out)
{
    size_t capacity = hint + 1; /* one byte more, to see the end without growing */
    for (;;) {
        if (capacity >= PTRDIFF_MAX) {
            return fail_reading(path, EFBIG);
        }
        char *data = qn_realloc(out->data, capacity + 1);
        if (!data) {
            return qn_fail_memory("reading a file");
        }
        out->data = data;
        while (out->length < capacity) {
            ssize_t got = read(file, data + out->length, capacity - out->length);
            if (got == 0) {
                data[out->length] = '\0';
                return QUERN_OK;
            }
            if (got < 0 && errno != EINTR) {
                return fail_reading(path, errno);
            }
            out->length += got > 0 ? (size_t)got : 0;
        }
        capacity = QN_MAX(capacity * 2, (size_t)4096);
    }
}

quern_status qn_file_read(const char *path, char **data, size_t *size)
{
    *data = NULL;
    *size = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return fail_reading(path, errno);
    }
    struct stat facts;
    size_t hint = 0;
    if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0) {
        hint = (size_t)facts.st_size;
    }
    qn_text content = {0};
    quern_status status = read_all(file, path, hint, &content);
    close(file);
    if (status != QUERN_OK) {
        qn_text_free(&content);
        return status;
    }
    *data = content.data;
    *size = content.length;
    return QUERN_OK;
}

bool qn_file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

const char *qn_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
