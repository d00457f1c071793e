/* SPDX-License-Identifier: MIT
 *
 * Images of data/gather.cu, read from their files.
 */
#ifndef IMAGE_DATA_H
#define IMAGE_DATA_H

#include "device/image/image.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

typedef struct image_data {
    char *bytes;
    size_t size;
} image_data;

static inline image_data read_image(const char *name)
{
    char path[1024];
    image_data data;
    snprintf(path, sizeof path, IMAGE_FOLDER "/%s", name);
    cr_assert_eq(qn_file_read(path, &data.bytes, &data.size), QUERN_OK, "%s",
                 quern_last_error()->message);
    return data;
}

/** A fatbin whose entries are in place and the packed code in them is not what it was. */
static inline image_data damage_packed(const char *name)
{
    enum { ENTRY_AT = 16, CODE_AT = ENTRY_AT + 64 };
    image_data image = read_image(name);
    for (size_t at = ENTRY_AT; at + CODE_AT - ENTRY_AT < image.size;) {
        uint32_t header_bytes;
        uint64_t code_bytes;
        memcpy(&header_bytes, image.bytes + at + 4, sizeof header_bytes);
        memcpy(&code_bytes, image.bytes + at + 8, sizeof code_bytes);
        memset(image.bytes + at + header_bytes, 0xff, QN_MIN(8, (size_t)code_bytes));
        at += header_bytes + code_bytes;
    }
    return image;
}

/** A fatbin around one cubin, as nvcc makes it. */
static inline image_data wrap_cubin(image_data cubin, uint32_t arch)
{
    struct {
        uint32_t magic;
        uint16_t version, header_bytes;
        uint64_t bytes;
        uint16_t kind, entry_version;
        uint32_t entry_header_bytes;
        uint64_t code_bytes;
        uint32_t packed_bytes, options_at;
        uint16_t minor, major;
        uint32_t arch, name_at, name_bytes;
        uint64_t flags, reserved, unpacked_bytes;
    } header = {
        0xba55ed50, 1, 16, 64 + cubin.size, 2, 0x101, 64, cubin.size, 0, 0, 8, 1, arch, 0, 0,
        17,         0, 0};
    image_data fatbin = {qn_alloc(sizeof header + cubin.size), sizeof header + cubin.size};
    memcpy(fatbin.bytes, &header, sizeof header);
    memcpy(fatbin.bytes + sizeof header, cubin.bytes, cubin.size);
    return fatbin;
}

#endif /* IMAGE_DATA_H */
