/* SPDX-License-Identifier: MIT
 *
 * Fatbins: PTX and cubins for several GPUs in one image. In: the bytes that nvcc and nvFatbin make.
 * Out: their entries, and the code of one. Entries are plain, packed as LZ4 (nvcc before 12.8, and
 * --compress-mode=speed since), or as zstd (its default since).
 */
#include "device/image/image.h"

#include <string.h>

#define MAGIC 0xba55ed50u

enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000 };

/* The most bytes that one packed byte can become: a damaged header must not ask for all memory.
 * zstd repeats a byte 128 KiB times in a block of 4. */
enum { LZ4_MOST = 255, ZSTD_MOST = 32 << 10 };

typedef struct fatbin_header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* of all entries */
} fatbin_header;

typedef struct entry_header {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes;        /* of the code, padded to a multiple of 8 */
    uint32_t packed_bytes; /* without the padding; 0 when it is plain */
    uint32_t options_at;
    uint16_t minor, major;
    uint32_t arch;
    uint32_t name_at, name_bytes;
    uint64_t flags;
    uint64_t reserved;
    uint64_t unpacked_bytes;
} entry_header;

static bool read_header(fatbin_header *header, const unsigned char *image, size_t bytes)
{
    if (bytes < sizeof *header) {
        return false;
    }
    memcpy(header, image, sizeof *header);
    return header->magic == MAGIC && header->header_bytes >= sizeof *header &&
           header->header_bytes <= bytes && header->bytes <= bytes - header->header_bytes;
}

/* ---- entries -------------------------------------------------------------------------------- */

static void fill_entry(qn_fatbin_entry *entry, const entry_header *header,
                       const unsigned char *data)
{
    *entry = (qn_fatbin_entry){
        .kind = (qn_fatbin_kind)header->kind,
        .packing = header->flags & FLAG_ZSTD  ? QN_FATBIN_ZSTD
                   : header->flags & FLAG_LZ4 ? QN_FATBIN_LZ4
                                              : QN_FATBIN_PLAIN,
        .arch = (int)header->arch,
        .data = data,
        .bytes = (size_t)header->bytes,
        .unpacked_bytes = header->bytes,
    };
    if (entry->packing != QN_FATBIN_PLAIN) {
        entry->bytes = QN_MIN((size_t)header->packed_bytes, entry->bytes);
        entry->unpacked_bytes = header->unpacked_bytes;
    }
}

bool qn_fatbin_next(qn_fatbin_entry *entry, const void *image, size_t bytes, size_t *at,
                    bool *damaged)
{
    fatbin_header whole;
    entry_header header;
    *damaged = !read_header(&whole, image, bytes);
    if (*damaged) {
        return false;
    }
    const unsigned char *begin = (const unsigned char *)image + whole.header_bytes;
    uint64_t left = *at <= whole.bytes ? whole.bytes - *at : 0;
    if (left == 0) {
        return false;
    }
    *damaged = true;
    if (left < sizeof header) {
        return false;
    }
    memcpy(&header, begin + *at, sizeof header);
    if (header.header_bytes < sizeof header || header.header_bytes > left ||
        header.bytes > left - header.header_bytes) {
        return false;
    }
    *damaged = false;
    fill_entry(entry, &header, begin + *at + header.header_bytes);
    *at += header.header_bytes + (size_t)header.bytes;
    return true;
}

bool qn_fatbin_is_whole(const void *image, size_t bytes)
{
    qn_fatbin_entry entry;
    size_t at = 0;
    bool damaged;
    while (qn_fatbin_next(&entry, image, bytes, &at, &damaged)) {
    }
    return !damaged;
}

/* The target of an entry as nvcc's options name it: "sm_90", "compute_90", "lto_90". */
static void print_entry(qn_text *out, const qn_fatbin_entry *entry)
{
    static const char *const kinds[] = {
        [QN_FATBIN_PTX] = "compute", [QN_FATBIN_CUBIN] = "sm", [QN_FATBIN_LTO_IR] = "lto"};
    const char *kind = (size_t)entry->kind < QN_COUNT(kinds) ? kinds[entry->kind] : NULL;
    if (kind) {
        qn_text_printf(out, "%s%s_%d", out->length > 0 ? ", " : "", kind, entry->arch);
    }
}

void qn_fatbin_print_targets(qn_text *out, const void *image, size_t bytes)
{
    qn_fatbin_entry entry;
    size_t at = 0;
    bool damaged;
    while (qn_fatbin_next(&entry, image, bytes, &at, &damaged)) {
        print_entry(out, &entry);
    }
}

static bool unpack(char *to, size_t room, const qn_fatbin_entry *entry)
{
    switch (entry->packing) {
    case QN_FATBIN_LZ4:
        return qn_lz4_unpack(to, room, entry->data, entry->bytes);
    case QN_FATBIN_ZSTD:
        return qn_zstd_unpack(to, room, entry->data, entry->bytes);
    default:
        memcpy(to, entry->data, room);
        return true;
    }
}

char *qn_fatbin_unpack(const qn_fatbin_entry *entry, size_t *length)
{
    static const uint64_t most[] = {
        [QN_FATBIN_PLAIN] = 1, [QN_FATBIN_LZ4] = LZ4_MOST, [QN_FATBIN_ZSTD] = ZSTD_MOST};
    if (entry->unpacked_bytes / most[entry->packing] > entry->bytes) {
        return NULL;
    }
    *length = (size_t)entry->unpacked_bytes;
    char *code = qn_alloc(*length + 1);
    if (!code) {
        return NULL;
    }
    code[*length] = '\0';
    if (!unpack(code, *length, entry)) {
        qn_free(code);
        return NULL;
    }
    return code;
}

/* ---- the PTX for a device ------------------------------------------------------------------- */

/* True when PTX for `a` suits a device of `arch` better than PTX for `b`. */
static bool is_better(int a, int b, int arch)
{
    bool a_fits = a <= arch, b_fits = b <= arch;
    return a_fits != b_fits ? a_fits : a_fits ? a > b : a < b;
}

static bool can_unpack(const qn_fatbin_entry *entry)
{
    return entry->packing == QN_FATBIN_ZSTD  ? qn_zstd_found()
           : entry->packing == QN_FATBIN_LZ4 ? qn_lz4_found()
                                             : true;
}

static quern_status fail_no_ptx(const void *image, size_t bytes)
{
    qn_text targets = {0};
    qn_fatbin_print_targets(&targets, image, bytes);
    quern_status status = qn_fail(
        QUERN_ERROR_IMAGE,
        "this device executes PTX, and the fatbin holds none (%.300s); make it with PTX in it, as "
        "nvcc -gencode arch=compute_75,code=compute_75 does",
        targets.data ? targets.data : "nothing that is known");
    qn_text_free(&targets);
    return status;
}

quern_status qn_fatbin_ptx(char **out, size_t *length, const void *image, size_t bytes, int arch)
{
    qn_fatbin_entry entry, best = {0};
    size_t at = 0;
    bool damaged;
    *out = NULL;
    while (qn_fatbin_next(&entry, image, bytes, &at, &damaged)) {
        bool readable = can_unpack(&entry), best_readable = can_unpack(&best);
        if (entry.kind == QN_FATBIN_PTX &&
            (!best.data ||
             (readable != best_readable ? readable : is_better(entry.arch, best.arch, arch)))) {
            best = entry;
        }
    }
    if (!best.data) {
        return fail_no_ptx(image, bytes);
    }
    if (!can_unpack(&best)) {
        const bool zstd = best.packing == QN_FATBIN_ZSTD;
        return qn_fail(QUERN_ERROR_IMAGE,
                       "the PTX in the fatbin is packed with %s, and %s was not found; install it "
                       "(Debian: %s), or make the fatbin with nvcc --no-compress",
                       zstd ? "zstd" : "LZ4", zstd ? "libzstd.so.1" : "liblz4.so.1",
                       zstd ? "libzstd1" : "liblz4-1");
    }
    *out = qn_fatbin_unpack(&best, length);
    return *out ? QUERN_OK
                : qn_fail(QUERN_ERROR_IMAGE, "the PTX in the fatbin cannot be unpacked: it is "
                                             "damaged, or memory is short");
}
