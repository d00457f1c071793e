/* SPDX-License-Identifier: MIT
 *
 * NPY files on disk, mapped for reading.
 */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Map an open file; an empty one is left unmapped. */
static int map_file(cli_npy_map *out, const char *name, const char *path, int file)
{
    struct stat info;
    if (fstat(file, &info) != 0) {
        return cli_fail_errno(name, "read", path);
    }
    if (!S_ISREG(info.st_mode)) {
        return cli_fail("%s: \"%s\" is %s, not a file", name, path,
                        S_ISDIR(info.st_mode) ? "a folder" : "a device or pipe");
    }
    out->mapped = (size_t)info.st_size;
    if (out->mapped > 0) {
        void *mapping = mmap(NULL, out->mapped, PROT_READ, MAP_PRIVATE, file, 0);
        if (mapping == MAP_FAILED) {
            return cli_fail_errno(name, "read", path);
        }
        out->mapping = mapping;
    }
    return CLI_OK;
}

int cli_npy_open(cli_npy_map *out, const char *name, const char *path, quern_dtype wanted)
{
    *out = (cli_npy_map){0};
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        return cli_fail_errno(name, "read", path);
    }
    int status = map_file(out, name, path, file);
    close(file);
    CLI_TRY(status);
    cli_problem problem;
    if (!cli_npy_parse(&out->npy, out->mapping, out->mapped, wanted, &problem)) {
        cli_npy_close(out);
        return cli_fail("%s: \"%s\": %s", name, path, problem.text);
    }
    out->data = (const char *)out->mapping + out->npy.data_offset;
    return CLI_OK;
}

void cli_npy_close(cli_npy_map *map)
{
    if (map->mapping) {
        munmap(map->mapping, map->mapped);
    }
    *map = (cli_npy_map){0};
}
