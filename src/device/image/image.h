/* SPDX-License-Identifier: MIT
 *
 * What an image says of itself, read without a driver: whether it is whole, what it was made for,
 * and which names are in it. Both devices ask.
 */
#ifndef QN_DEVICE_IMAGE_H
#define QN_DEVICE_IMAGE_H

#include "device/device_internal.h"

struct qn_ptx_symbol; /* ptx/ptx.h */

/* ---- image_kind.c: any image ---------------------------------------------------------------- */

/** Whether all of it is there, as far as its headers say. Errors: QUERN_ERROR_IMAGE. */
quern_status qn_image_check(quern_image_kind kind, const void *image, size_t bytes);
/** What a checked image was made for: "sm_90", "sm_90a" or, of a fatbin, "compute_75, sm_90".
 * Nothing when it does not say. */
void qn_image_print_targets(qn_text *out, quern_image_kind kind, const void *image, size_t bytes);
/** 90 for code of sm_90; 0 when it cannot be told, as of a fatbin. */
int qn_image_arch(quern_image_kind kind, const void *image, size_t bytes);

/** The names of an image, without those that the compiler made up. */
typedef struct qn_image_names {
    const char **functions; /**< that can be launched */
    const char **globals;   /**< in global and constant memory */
    size_t function_count, global_count;
    qn_arena arena; /**< all of it */
} qn_image_names;

/** Read the names of a checked image. False when they cannot be read: memory is short, the PTX is
 * not understood, or all code in a fatbin is packed in a way that is not known here. */
bool qn_image_names_read(qn_image_names *out, quern_image_kind kind, const void *image,
                         size_t bytes);
void qn_image_names_free(qn_image_names *names);
/** Whether PTX defines this symbol as a variable of the user's, in global or constant memory. */
bool qn_image_is_variable(const struct qn_ptx_symbol *symbol);

/* ---- fatbin.c: several images in one -------------------------------------------------------- */

typedef enum qn_fatbin_kind {
    QN_FATBIN_PTX = 1,
    QN_FATBIN_CUBIN = 2,
    QN_FATBIN_LTO_IR = 8,
} qn_fatbin_kind;
typedef enum qn_fatbin_packing {
    QN_FATBIN_PLAIN,
    QN_FATBIN_LZ4,
    QN_FATBIN_ZSTD,
} qn_fatbin_packing;

typedef struct qn_fatbin_entry {
    qn_fatbin_kind kind; /**< other values: something unknown */
    qn_fatbin_packing packing;
    int arch;                  /**< 75 for sm_75 and compute_75 */
    const unsigned char *data; /**< as it is packed */
    size_t bytes;
    uint64_t unpacked_bytes;
} qn_fatbin_entry;

/** Begin with `at` 0; false after the last entry. `damaged` is set when an entry is not whole. */
bool qn_fatbin_next(qn_fatbin_entry *entry, const void *image, size_t bytes, size_t *at,
                    bool *damaged);
/** Whether all entries are there. */
bool qn_fatbin_is_whole(const void *image, size_t bytes);
/** As qn_image_print_targets(), of a checked fatbin. */
void qn_fatbin_print_targets(qn_text *out, const void *image, size_t bytes);
/** The code of an entry, terminated by a zero byte that *length does not count; free it with
 * qn_free(). NULL: damaged, memory is short, or packed in a way that this machine has no library
 * for. */
char *qn_fatbin_unpack(const qn_fatbin_entry *entry, size_t *length);
/** The PTX of a checked fatbin that a device of `arch` takes: the newest that is not newer than it,
 * else the oldest. Errors: QUERN_ERROR_IMAGE with what the fatbin holds. */
quern_status qn_fatbin_ptx(char **out, size_t *length, const void *image, size_t bytes, int arch);

/* ---- lz4.c ---------------------------------------------------------------------------------- */

/** Whether there is a liblz4; looked for once. */
bool qn_lz4_found(void);
/** Unpack a block of LZ4 into exactly `room` bytes; false when it is not one of that size, or there
 * is no liblz4. */
bool qn_lz4_unpack(void *to, size_t room, const void *from, size_t bytes);

#endif /* QN_DEVICE_IMAGE_H */
