/* SPDX-License-Identifier: MIT
 *
 * roomier: kernels that have more values than registers. In: a source that asks a processor to hold
 * QUERN_BLOCKS(n) blocks of it at once (templates/types.cuh), which limits a thread's registers.
 * Out: its image; where the compiler had to keep values in memory, the one for fewer blocks, if
 * that keeps fewer there. The thing to know: what a text needs no list of plans can know, but a
 * cubin says how many bytes of memory a thread has to itself. On an H200 sums of rows of complex128
 * went from 0.63 of a copy's speed to 0.79 so, of int16 down strips into int32 from 0.65 to 0.80.
 */
#include "compile/nvrtc.h"

#include <elf.h>
#include <string.h>

#define MARK           "QUERN_BLOCKS("
#define MOST_FEWER     2   /* blocks */
#define LEAST_BYTES    16  /* of a thread, in memory: fewer blocks cost more than less of it does */
#define MOST_REGISTERS 127 /* with which a processor holds two blocks: fewer are not asked for */

/* The section with what a cubin's kernels need: records of 4 bytes, and of those in this format of
 * 8 more, a symbol and a number. Format and attributes as `cuobjdump -elf` prints them. */
#define INFO_TYPE        0x70000000
#define INFO_NAME        ".nv.info"
#define FORMAT_SIZED     4
#define ATTRIBUTE_FRAME  0x11 /* EIATTR_FRAME_SIZE: bytes of memory of a thread */
#define ATTRIBUTE_NUMBER 0x2f /* EIATTR_REGCOUNT */

typedef struct record {
    uint8_t format, attribute;
    uint16_t size; /* of what follows; of other formats a value */
} record;

/* What one kernel needs; of several the most. */
typedef struct needs {
    uint32_t frame, registers;
} needs;

static bool copy_at(void *to, size_t size, qn_str from, uint64_t at)
{
    const bool there = at <= from.length && size <= from.length - at;
    if (there) {
        memcpy(to, from.data + at, size);
    }
    return there;
}

static void read_info(needs *n, qn_str info)
{
    record r;
    for (uint64_t at = 0; copy_at(&r, sizeof r, info, at);) {
        uint32_t pair[2];
        at += sizeof r;
        if (r.format != FORMAT_SIZED) {
            continue;
        }
        if (r.size == sizeof pair && copy_at(pair, sizeof pair, info, at)) {
            n->frame = r.attribute == ATTRIBUTE_FRAME ? QN_MAX(n->frame, pair[1]) : n->frame;
            n->registers =
                r.attribute == ATTRIBUTE_NUMBER ? QN_MAX(n->registers, pair[1]) : n->registers;
        }
        at += r.size;
    }
}

/* Of bytes that are no sound cubin nothing is known. */
static needs needs_of(const qn_image *image)
{
    const qn_str file = {image->data, image->size};
    needs n = {0};
    Elf64_Ehdr head;
    Elf64_Shdr names, section;
    if (image->kind != QN_IMAGE_CUBIN || !copy_at(&head, sizeof head, file, 0) ||
        head.e_shentsize != sizeof section ||
        !copy_at(&names, sizeof names, file,
                 head.e_shoff + (uint64_t)head.e_shstrndx * sizeof section)) {
        return n;
    }
    for (uint64_t k = 0; k < head.e_shnum; k++) {
        char name[sizeof INFO_NAME];
        if (copy_at(&section, sizeof section, file, head.e_shoff + k * sizeof section) &&
            section.sh_type == INFO_TYPE && section.sh_size <= file.length &&
            section.sh_offset <= file.length - section.sh_size &&
            copy_at(name, sizeof name, file, names.sh_offset + section.sh_name) &&
            memcmp(name, INFO_NAME, sizeof name) == 0) {
            read_info(&n, (qn_str){file.data + section.sh_offset, (size_t)section.sh_size});
        }
    }
    return n;
}

/* Limits of registers are multiples of 8; who keeps values in memory for want of them has them all,
 * or but for one. Others have arrays there, which no number of registers would hold. */
static bool is_cramped(const needs *n)
{
    return n->frame >= LEAST_BYTES && (n->registers + 1) % 8 < 2 && n->registers < MOST_REGISTERS;
}

quern_status qn_compile(qn_image *out, const qn_compile_request *request,
                        const qn_user_text *user_texts, size_t user_text_count)
{
    QN_TRY(qn_compile_once(out, request, user_texts, user_text_count));
    qn_compile_request again = *request;
    while (strstr(request->source, MARK) && again.fewer_blocks < MOST_FEWER) {
        const needs before = needs_of(out);
        qn_image roomier;
        again.fewer_blocks++;
        if (!is_cramped(&before)) {
            break;
        }
        if (qn_compile_once(&roomier, &again, user_texts, user_text_count) != QUERN_OK) {
            qn_error_reset(); /* what there is will do */
            break;
        }
        roomier.compile_ms += out->compile_ms;
        if (needs_of(&roomier).frame >= before.frame) {
            qn_image_free(&roomier);
            break;
        }
        qn_image_free(out);
        *out = roomier;
    }
    return QUERN_OK;
}
