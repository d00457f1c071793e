/* SPDX-License-Identifier: MIT
 *
 * What kind of image some bytes are. In: bytes that a user brings. Out: a kind, or none. The thing
 * to know: only the head is read; whether the rest is sound is left to whoever reads it.
 */
#include "compile/compile.h"

#include <ctype.h>
#include <elf.h>
#include <string.h>

#ifndef EM_CUDA
#define EM_CUDA 190
#endif

/* An ELF file: device code, or an object file of the host, which may contain some. */
static qn_image_kind kind_of_elf(qn_str bytes)
{
    Elf64_Ehdr head;
    if (bytes.length < sizeof head) {
        return 0;
    }
    memcpy(&head, bytes.data, sizeof head);
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB) {
        return 0;
    }
    if (head.e_machine == EM_CUDA) {
        return QN_IMAGE_CUBIN;
    }
    return head.e_type == ET_REL ? QN_IMAGE_OBJECT : 0;
}

/* Past blanks and comments. */
static qn_str skip_comments(qn_str text)
{
    for (;;) {
        const char *end = NULL;
        if (text.length > 0 && isspace((unsigned char)text.data[0])) {
            end = text.data + 1;
        } else if (qn_str_begins(text, "//")) {
            end = memchr(text.data, '\n', text.length);
        } else if (qn_str_begins(text, "/*")) {
            end = memmem(text.data + 2, text.length - 2, "*/", 2);
            end = end ? end + 2 : NULL;
        }
        if (!end) {
            return text;
        }
        text = (qn_str){end, text.length - (size_t)(end - text.data)};
    }
}

qn_image_kind qn_image_kind_of(const void *data, size_t size)
{
    static const struct {
        const char *magic;
        qn_image_kind kind;
    } heads[] = {
        {"\x50\xed\x55\xba", QN_IMAGE_FATBIN},
        {"\xed\x43\x4e\x7f", QN_IMAGE_LTO_IR},
        {"!<arch>\n", QN_IMAGE_LIBRARY},
    };
    qn_str bytes = {data, data ? size : 0};
    if (qn_str_begins(bytes, ELFMAG)) {
        return kind_of_elf(bytes);
    }
    for (size_t k = 0; k < QN_COUNT(heads); k++) {
        if (qn_str_begins(bytes, heads[k].magic)) {
            return heads[k].kind;
        }
    }
    return qn_str_begins(skip_comments(bytes), ".version") ? QN_IMAGE_PTX : 0;
}

const char *qn_image_kind_name(qn_image_kind kind)
{
    switch (kind) {
    case QN_IMAGE_CUBIN:
        return "cubin";
    case QN_IMAGE_PTX:
        return "PTX";
    case QN_IMAGE_FATBIN:
        return "fatbin";
    case QN_IMAGE_LTO_IR:
        return "LTO-IR";
    case QN_IMAGE_OBJECT:
        return "object file";
    case QN_IMAGE_LIBRARY:
        return "static library";
    }
    return "unknown";
}

bool qn_image_sniff(qn_image_kind *kind, const void *data, size_t size)
{
    *kind = qn_image_kind_of(data, size);
    return *kind >= QN_IMAGE_CUBIN && *kind <= QN_IMAGE_FATBIN;
}
