/* SPDX-License-Identifier: MIT
 *
 * Large input files as memory of the software device, without a copy: if a kernel looks at a part
 * of a file, the system reads only that part. In: an input whose header was read. Out: memory that
 * holds its data. What a kernel writes there stays its own.
 *
 * A page that cannot be read, of a file that became shorter or whose disk failed, arrives as
 * SIGBUS; it ends the command with a message that names the file.
 */
#include "files.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LEAST_BYTES (4 << 20) /* smaller ones are read as fast */

typedef struct mapping {
    char *memory;
    size_t bytes;
    const char *message;
} mapping;

/* All that there ever were; the handler of SIGBUS reads the first mapping_count. */
static mapping mappings[QUERN_MAX_PARAMETERS];
static atomic_int mapping_count;
static atomic_flag told = ATOMIC_FLAG_INIT; /* several threads may read there at once */

static void on_bus_error(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    const char *address = info->si_addr;
    for (int k = 0; k < mapping_count; k++) {
        const mapping *m = &mappings[k];
        if (address >= m->memory && address < m->memory + m->bytes) {
            while (atomic_flag_test_and_set(&told)) {
                pause(); /* another thread ends the program */
            }
            ssize_t written = write(STDERR_FILENO, m->message, strlen(m->message));
            _exit(written < 0 ? CLI_FAILURE + 1 : CLI_FAILURE);
        }
    }
    signal(signal_number, SIG_DFL); /* not ours: it comes again, and ends the program */
}

/* Files on other machines may change or disappear at any time, so those are read. */
static bool is_local(int file)
{
    static const unsigned remote[] = {
        0x6969,     /* NFS */
        0x517b,     /* SMB */
        0xff534d42, /* CIFS */
        0xfe534d42, /* SMB 2 */
        0x65735546, /* FUSE */
        0x01021997, /* 9P */
        0x00c36400, /* Ceph */
    };
    struct statfs info;
    bool local = fstatfs(file, &info) == 0;
    for (size_t k = 0; k < CLI_COUNT(remote) && local; k++) {
        local = (unsigned)info.f_type != remote[k];
    }
    return local;
}

static void unmap(void *context)
{
    mapping *m = context;
    munmap(m->memory, m->bytes);
    m->bytes = 0;
}

void *cli_input_map(cli_input *in, void (**release)(void *), void **context)
{
    struct stat info;
    off_t at = lseek(in->file, 0, SEEK_CUR), page = (off_t)sysconf(_SC_PAGESIZE);
    size_t bytes = (size_t)in->npy.bytes, element = quern_dtype_size(in->npy.dtype);
    bool plain = in->opened && !in->archive && at >= 0 && bytes >= LEAST_BYTES &&
                 mapping_count < QUERN_MAX_PARAMETERS && at % (off_t)element == 0 &&
                 fstat(in->file, &info) == 0 && S_ISREG(info.st_mode) &&
                 info.st_size - at >= (off_t)bytes && is_local(in->file);
    if (!plain) {
        return NULL;
    }
    off_t begin = at / page * page;
    mapping m = {.bytes = bytes + (size_t)(at - begin)};
    void *memory =
        mmap(NULL, m.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, in->file, begin);
    if (memory == MAP_FAILED) {
        return NULL;
    }
    m.memory = memory;
    m.message =
        cli_sprintf("quern: error: %s: \"%s\" cannot be read any more: it became shorter, or "
                    "its disk failed\n",
                    in->name, in->path);
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &action, NULL);
    mappings[mapping_count] = m;
    *context = &mappings[mapping_count++];
    *release = unmap;
    return m.memory + (at - begin);
}
