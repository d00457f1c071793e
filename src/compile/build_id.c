/* SPDX-License-Identifier: MIT
 *
 * Which build of a library a file is, without loading it. In: a path. Out: the GNU build id from
 * the ELF notes, in hexadecimal; for a file without one, a hash of its size and first bytes.
 *
 * A cached image is only as good as the compiler that made it, and neither a version number nor a
 * time stamp tells two builds apart for certain: the build id does. It is read in a few system
 * calls, because a program whose kernels are all cached asks for it too.
 */
#include "compile/nvrtc.h"

#define XXH_INLINE_ALL
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define NOTES_MAX  4096       /* bytes of one note segment that are looked at */
#define HASH_BYTES (64 << 10) /* what is hashed of a file without a build id */

static bool read_at(int file, void *out, size_t size, uint64_t offset)
{
    return offset <= INT64_MAX && pread(file, out, size, (off_t)offset) == (ssize_t)size;
}

static size_t padded(size_t size)
{
    return (size + 3) & ~(size_t)3;
}

/* The build id among the notes of one segment. */
static bool find_in_notes(char *out, size_t capacity, const unsigned char *notes, size_t size)
{
    Elf64_Nhdr head;
    while (size >= sizeof head) {
        memcpy(&head, notes, sizeof head);
        size_t name = padded(head.n_namesz), payload = padded(head.n_descsz);
        notes += sizeof head;
        size -= sizeof head;
        if (head.n_namesz > size || name > size || head.n_descsz > size - name) {
            return false;
        }
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && memcmp(notes, "GNU", 4) == 0) {
            if (head.n_descsz == 0 || head.n_descsz * 2u >= capacity) {
                return false;
            }
            for (size_t k = 0; k < head.n_descsz; k++) {
                snprintf(out + 2 * k, 3, "%02x", notes[name + k]);
            }
            return true;
        }
        size_t step = QN_MIN(name + payload, size);
        notes += step;
        size -= step;
    }
    return false;
}

static bool read_notes(char *out, size_t capacity, int file)
{
    Elf64_Ehdr elf;
    if (!read_at(file, &elf, sizeof elf, 0) || memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
        elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_phentsize != sizeof(Elf64_Phdr)) {
        return false;
    }
    for (unsigned k = 0; k < elf.e_phnum; k++) {
        Elf64_Phdr segment;
        unsigned char notes[NOTES_MAX];
        if (!read_at(file, &segment, sizeof segment, elf.e_phoff + k * sizeof segment)) {
            return false;
        }
        size_t size = (size_t)QN_MIN(segment.p_filesz, (uint64_t)sizeof notes);
        if (segment.p_type == PT_NOTE && read_at(file, notes, size, segment.p_offset) &&
            find_in_notes(out, capacity, notes, size)) {
            return true;
        }
    }
    return false;
}

/* The size and the first bytes, for a library that was linked without a build id. */
static void hash_beginning(char *out, size_t capacity, int file)
{
    struct stat facts;
    char *bytes = qn_alloc(HASH_BYTES);
    ssize_t size = bytes ? pread(file, bytes, HASH_BYTES, 0) : -1;
    if (size >= 0 && fstat(file, &facts) == 0) {
        XXH64_hash_t hash = XXH3_64bits_withSeed(bytes, (size_t)size, (XXH64_hash_t)facts.st_size);
        snprintf(out, capacity, "h:%016llx", (unsigned long long)hash);
    }
    qn_free(bytes);
}

void qn_build_id_read(char *out, size_t capacity, const char *path)
{
    out[0] = '\0';
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return;
    }
    if (!read_notes(out, capacity, file)) {
        hash_beginning(out, capacity, file);
    }
    close(file);
}
