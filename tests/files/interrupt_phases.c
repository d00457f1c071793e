/* SPDX-License-Identifier: MIT
 *
 * The phases of interrupts.c: what the command can be doing, and how to make it do that.
 */
#include "interrupts.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

char terms[40000] = "y = x";
static pid_t compiling; /* another process that compiles it */
static int held[8];     /* descriptors that `after` closes */
static int held_count;

void make_old(void)
{
    static const char header[] =
        "\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }";
    char file[SMALL_BYTES] = {0};
    memset(file, ' ', 128);
    memcpy(file, header, sizeof header - 1);
    file[127] = '\n';
    unlink("old.npy");
    int to = open("old.npy", O_WRONLY | O_CREAT | O_TRUNC, 0640);
    need(to >= 0 && write(to, file, sizeof file) == sizeof file && close(to) == 0, "old.npy");
}

static void make_linked(void)
{
    make_old();
    unlink("linked.npy");
    need(link("old.npy", "linked.npy") == 0, "link");
}

static void hold_pipe(void)
{
    held[held_count++] = open("pipe.npy", O_RDWR | O_CLOEXEC); /* so that opening does not wait */
    need(held[0] >= 0, "pipe.npy");
}

static void release(void)
{
    while (held_count > 0) {
        close(held[--held_count]);
    }
}

static const phase other = {.name = "another process",
                            .arguments = {"elementwise", "T x", "T y", terms, "x=ones:float32:8"}};

static void start_other(void)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    compiling = start(&other, nowhere);
    close(nowhere);
    wait_for(0.1);
}

static void end_other(void)
{
    kill(compiling, SIGKILL);
    waitpid(compiling, NULL, 0);
}

/* Take the locks of SQLite's files, like a process that writes for a long time. */
static void lock_database(void)
{
    struct flock whole = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0x40000000, .l_len = 512};
    DIR *cache = opendir("cache");
    need(cache != NULL, "cache");
    for (struct dirent *e; (e = readdir(cache));) {
        size_t length = strlen(e->d_name);
        bool shared = length > 4 && strcmp(e->d_name + length - 4, "-shm") == 0;
        if (shared || (length > 3 && strcmp(e->d_name + length - 3, ".db") == 0)) {
            char path[300];
            snprintf(path, sizeof path, "cache/%s", e->d_name);
            struct flock part = {
                .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 120, .l_len = 8};
            int file = open(path, O_RDWR | O_CLOEXEC);
            held[held_count++] = file;
            need(file >= 0 && fcntl(file, F_SETLK, shared ? &part : &whole) == 0, path);
        }
    }
    closedir(cache);
}

const phase phases[] = {
    {.name = "compiling",
     .arguments = {"elementwise", "T x", "T y", terms, "x=ones:float32:8"},
     .endless = true,
     .no_cache = true},
    {.name = "compiling, with a cache",
     .arguments = {"elementwise", "T x", "T y", terms, "x=ones:float32:8"},
     .endless = true},
    {.name = "compiling a small kernel",
     .arguments = {"elementwise", "T x", "T y", "y = x + 1", "x=ones:float32:8", "--quiet"},
     .no_cache = true},
    {.name = "generating",
     .arguments = {"elementwise", "T x", "T y", "y = x", "x=random:float64:20000000", "--quiet"}},
    {.name = "reading a pipe that gives nothing",
     .arguments = {"elementwise", "T x", "T y", "y = x", "x=pipe.npy", "y=old.npy"},
     .endless = true,
     .saves = true,
     .before = hold_pipe,
     .after = release},
    {.name = "opening a pipe that nobody writes",
     .arguments = {"elementwise", "T x", "T y", "y = x", "x=pipe.npy"},
     .endless = true},
    {.name = "reading a large file",
     .arguments = {"elementwise", "T x", "T y", "y = x", "x=big.npy", "--quiet"}},
    {.name = "writing",
     .arguments = {"elementwise", "T x", "T y", "y = x", "x=" BIG, "y=old.npy"},
     .saves = true},
    {.name = "writing two files",
     .arguments = {"elementwise", "T x", "T y, T z", "y = z = x", "x=" BIG, "y=old.npy", "z=z.npy"},
     .saves = true},
    {.name = "writing in place",
     .arguments = {"elementwise", "T x", "T y", "y = x", "x=" BIG, "y=old.npy", "--quiet"},
     .saves = true,
     .in_place = true,
     .before = make_linked},
    {.name = "writing to a pipe that nobody reads",
     .arguments = {"elementwise", "T x", "T y, T z", "y = z = x", "x=" BIG, "y=pipe.npy",
                   "z=old.npy"},
     .endless = true,
     .saves = true,
     .before = hold_pipe,
     .after = release},
    {.name = "opening a pipe that nobody reads",
     .arguments = {"elementwise", "T x", "T y, T z", "y = z = x", "x=" BIG, "y=pipe.npy",
                   "z=old.npy"},
     .endless = true,
     .saves = true},
    {.name = "printing where nobody reads",
     .arguments = {"elementwise", "T x", "T y", "y = x", "x=arange:float64:900"},
     .endless = true,
     .full_output = true},
    {.name = "waiting for a compilation",
     .arguments = {"elementwise", "T x", "T y", terms, "x=ones:float32:8"},
     .endless = true,
     .before = start_other,
     .after = end_other},
    {.name = "waiting for the cache",
     .arguments = {"elementwise", "T x", "T y", "y = x", "x=ones:float32:8", "--quiet"},
     .before = lock_database,
     .after = release},
    {.name = "launching",
     .arguments = {"elementwise", "float32 x", "float32 y", "y = 0; while (y >= 0) y += x",
                   "x=ones:float32:64", "y=old.npy"},
     .endless = true,
     .saves = true},
    {.name = "measuring",
     .arguments = {"reduce", "T x", "T y", "x", "a + b", "y = a", "0", "x=ones:float32:3000000",
                   "--time", "--quiet"}},
    {.name = "quern build",
     .arguments = {"build", "long.toml", "--arch=sm_90", "--jobs=3", "--output=made.qpack"},
     .endless = true},
    {.name = "quern build, with one process",
     .arguments = {"build", "long.toml", "--arch=sm_90", "--jobs=1", "--output=made.qpack"},
     .endless = true},
    {.name = "quern build, to its end",
     .arguments = {"build", "short.toml", "--arch=sm_90", "--jobs=2", "--output=made.qpack"}},
    {.name = "quern prewarm",
     .arguments = {"prewarm", "long.toml", "--device=soft", "--jobs=3"},
     .endless = true},
    {.name = "quern doctor", .arguments = {"doctor"}, .no_cache = true},
};
const size_t phase_count = COUNT(phases);
