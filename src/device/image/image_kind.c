/* SPDX-License-Identifier: MIT
 *
 * Images: checked and described by their contents, and their names listed. In: the bytes of a
 * cubin, PTX or fatbin. Out: whether it is whole, its targets, its names.
 *
 * The driver takes an image without its size and reads as far as the headers say, and those before
 * CUDA 12.4 list no names. So headers are checked against the size here, and names are read from
 * the table of symbols of a cubin, and from PTX by the reader of the software device.
 */
#include "device/image/image.h"
#include "ptx/ptx.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY_POINT 0x10 /* in st_other: a function that can be launched */

/* ---- cubins --------------------------------------------------------------------------------- */

static bool inside(uint64_t offset, uint64_t length, size_t bytes)
{
    return offset <= bytes && length <= bytes - offset;
}

static Elf64_Ehdr elf_header(const void *image)
{
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof header);
    return header;
}

static Elf64_Shdr elf_section(const unsigned char *image, size_t index)
{
    Elf64_Shdr section;
    memcpy(&section, image + elf_header(image).e_shoff + index * sizeof section, sizeof section);
    return section;
}

static bool cubin_is_whole(const unsigned char *image, size_t bytes)
{
    if (bytes < sizeof(Elf64_Ehdr)) {
        return false;
    }
    Elf64_Ehdr header = elf_header(image);
    bool whole = memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                 header.e_ident[EI_CLASS] == ELFCLASS64 &&
                 inside(header.e_phoff, (uint64_t)header.e_phnum * sizeof(Elf64_Phdr), bytes) &&
                 inside(header.e_shoff, (uint64_t)header.e_shnum * sizeof(Elf64_Shdr), bytes);
    for (size_t k = 0; whole && k < header.e_shnum; k++) {
        Elf64_Shdr section = elf_section(image, k);
        whole = section.sh_type == SHT_NOBITS || inside(section.sh_offset, section.sh_size, bytes);
    }
    return whole;
}

static int cubin_arch(const void *image)
{
    Elf64_Ehdr header = elf_header(image);
    /* since CUDA 13 the architecture is one byte higher */
    return header.e_ident[EI_ABIVERSION] >= 8 ? header.e_flags >> 8 & 0xff : header.e_flags & 0xff;
}

/* The string at `offset` of a section of strings; "" when it has none there. */
static const char *elf_string(const unsigned char *image, size_t section_index, uint64_t offset)
{
    if (section_index >= elf_header(image).e_shnum) {
        return "";
    }
    Elf64_Shdr section = elf_section(image, section_index);
    if (section.sh_type != SHT_STRTAB || offset >= section.sh_size) {
        return "";
    }
    const char *string = (const char *)image + section.sh_offset + offset;
    return memchr(string, '\0', section.sh_size - offset) ? string : "";
}

/* ---- PTX ------------------------------------------------------------------------------------ */

/* "sm_90a" of ".target sm_90a, debug"; empty when there is no such line. */
static qn_str ptx_target(const char *text, size_t bytes)
{
    static const char blanks[] = " \t", word[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
    const char *end = text + bytes, *at = memmem(text, bytes, ".target", 7);
    if (!at) {
        return (qn_str){"", 0};
    }
    at += 7;
    while (at < end && *at && strchr(blanks, *at)) {
        at++;
    }
    const char *begin = at;
    while (at < end && *at && strchr(word, *at)) {
        at++;
    }
    return (qn_str){begin, (size_t)(at - begin)};
}

static int ptx_arch(const char *text, size_t bytes)
{
    qn_str target = ptx_target(text, bytes);
    int arch = 0;
    for (size_t k = 3; k < QN_MIN(target.length, (size_t)6) && qn_str_begins(target, "sm_") &&
                       target.data[k] >= '0' && target.data[k] <= '9';
         k++) {
        arch = arch * 10 + (target.data[k] - '0');
    }
    return arch;
}

/* ---- any image ------------------------------------------------------------------------------ */

quern_status qn_image_check(quern_image_kind kind, const void *image, size_t bytes)
{
    const char *name = kind == QUERN_IMAGE_CUBIN ? "cubin" : "fatbin";
    bool whole = true;
    switch (kind) {
    case QUERN_IMAGE_PTX:
        break;
    case QUERN_IMAGE_CUBIN:
        whole = cubin_is_whole(image, bytes);
        break;
    case QUERN_IMAGE_FATBIN:
        whole = qn_fatbin_is_whole(image, bytes);
        break;
    default:
        return qn_fail(QUERN_ERROR_IMAGE, "unknown kind of image: %d", (int)kind);
    }
    return whole ? QUERN_OK
                 : qn_fail(QUERN_ERROR_IMAGE,
                           "the image of %zu bytes is not a whole %s: it is damaged, cut short, or "
                           "something else",
                           bytes, name);
}

int qn_image_arch(quern_image_kind kind, const void *image, size_t bytes)
{
    return kind == QUERN_IMAGE_CUBIN ? cubin_arch(image)
           : kind == QUERN_IMAGE_PTX ? ptx_arch(image, bytes)
                                     : 0;
}

void qn_image_print_targets(qn_text *out, quern_image_kind kind, const void *image, size_t bytes)
{
    if (kind == QUERN_IMAGE_CUBIN) {
        qn_text_printf(out, "sm_%d", cubin_arch(image));
    } else if (kind == QUERN_IMAGE_PTX) {
        qn_str target = ptx_target(image, bytes);
        qn_text_add(out, target.data, target.length);
    } else {
        qn_fatbin_print_targets(out, image, bytes);
    }
}

/* ---- names ---------------------------------------------------------------------------------- */

static bool names_begin(qn_image_names *out, size_t most)
{
    out->functions = qn_arena_alloc(&out->arena, (most + 1) * sizeof *out->functions);
    out->globals = qn_arena_alloc(&out->arena, (most + 1) * sizeof *out->globals);
    return out->functions && out->globals;
}

/* A compiler's own name, as that of a string literal: "$str"; or one of the device's runtime, which
 * is linked with kernels that launch kernels and has some itself. */
static bool is_made_up(const char *name)
{
    return name[0] == '$' || name[0] == '.' || name[0] == '\0' ||
           (qn_begins(name, "__nv_static_") && strstr(name, "_cuda_device_runtime_cu_"));
}

static bool add_name(qn_image_names *out, const char **names, size_t *count, const char *name)
{
    if (!is_made_up(name)) {
        names[*count] = qn_arena_strndup(&out->arena, name, strlen(name));
        return names[(*count)++] != NULL;
    }
    return true;
}

/* Whether a section holds variables: ".nv.global", ".nv.global.init", ".nv.constant3". */
static bool holds_variables(const char *section)
{
    return qn_begins(section, ".nv.global") || strcmp(section, ".nv.constant3") == 0;
}

static bool add_symbol(qn_image_names *out, const unsigned char *image, const Elf64_Sym *symbol,
                       const char *name)
{
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= elf_header(image).e_shnum) {
        return true;
    }
    if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC) {
        return !(symbol->st_other & ENTRY_POINT) ||
               add_name(out, out->functions, &out->function_count, name);
    }
    Elf64_Shdr section = elf_section(image, symbol->st_shndx);
    return ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT ||
           !holds_variables(elf_string(image, elf_header(image).e_shstrndx, section.sh_name)) ||
           add_name(out, out->globals, &out->global_count, name);
}

static bool cubin_names(qn_image_names *out, const unsigned char *image)
{
    for (size_t k = 0; k < elf_header(image).e_shnum; k++) {
        Elf64_Shdr table = elf_section(image, k);
        if (table.sh_type != SHT_SYMTAB) {
            continue;
        }
        size_t count = (size_t)table.sh_size / sizeof(Elf64_Sym);
        bool ok = names_begin(out, count);
        for (size_t s = 0; ok && s < count; s++) {
            Elf64_Sym symbol;
            memcpy(&symbol, image + table.sh_offset + s * sizeof symbol, sizeof symbol);
            ok = add_symbol(out, image, &symbol, elf_string(image, table.sh_link, symbol.st_name));
        }
        return ok;
    }
    return false;
}

bool qn_image_is_variable(const qn_ptx_symbol *symbol)
{
    return (symbol->space == QN_SPACE_GLOBAL || symbol->space == QN_SPACE_CONST) &&
           !symbol->external && !is_made_up(symbol->name);
}

static bool ptx_names(qn_image_names *out, const char *text, size_t bytes)
{
    qn_ptx_module *module;
    if (qn_ptx_read(&module, text, strnlen(text, bytes)) != QUERN_OK) {
        qn_error_reset();
        return false;
    }
    bool ok = names_begin(out, (size_t)module->function_count + module->symbol_count);
    for (size_t k = 0; ok && k < module->function_count; k++) {
        const qn_ptx_function *function = module->functions[k];
        ok = !function->is_kernel || !function->has_body ||
             add_name(out, out->functions, &out->function_count, function->name);
    }
    for (size_t k = 0; ok && k < module->symbol_count; k++) {
        ok = !qn_image_is_variable(module->symbols[k]) ||
             add_name(out, out->globals, &out->global_count, module->symbols[k]->name);
    }
    qn_ptx_free(module);
    return ok;
}

static bool names_of_code(qn_image_names *out, quern_image_kind kind, const void *image,
                          size_t bytes)
{
    *out = (qn_image_names){0};
    bool ok = kind == QUERN_IMAGE_PTX ? ptx_names(out, image, bytes) : cubin_names(out, image);
    if (!ok) {
        qn_image_names_free(out);
    }
    return ok;
}

/* Those of the first entry that can be read: all were compiled from one source. */
static bool fatbin_names(qn_image_names *out, const void *image, size_t bytes)
{
    qn_fatbin_entry entry;
    size_t at = 0;
    bool damaged, found = false;
    while (!found && qn_fatbin_next(&entry, image, bytes, &at, &damaged)) {
        quern_image_kind kind = entry.kind == QN_FATBIN_PTX ? QUERN_IMAGE_PTX : QUERN_IMAGE_CUBIN;
        bool known = entry.kind == QN_FATBIN_PTX || entry.kind == QN_FATBIN_CUBIN;
        size_t length;
        char *code = known ? qn_fatbin_unpack(&entry, &length) : NULL;
        found = code && (kind == QUERN_IMAGE_PTX || cubin_is_whole((void *)code, length)) &&
                names_of_code(out, kind, code, length);
        qn_free(code);
    }
    return found;
}

bool qn_image_names_read(qn_image_names *out, quern_image_kind kind, const void *image,
                         size_t bytes)
{
    *out = (qn_image_names){0};
    return kind == QUERN_IMAGE_FATBIN ? fatbin_names(out, image, bytes)
                                      : names_of_code(out, kind, image, bytes);
}

void qn_image_names_free(qn_image_names *names)
{
    qn_arena_free(&names->arena);
    *names = (qn_image_names){0};
}
