/* SPDX-License-Identifier: MIT
 *
 * The layout of a record. In: what the caller knows of it. Out: its fields in order, its size and
 * alignment, C++ text that defines it, and its identity; or what is wrong with which field.
 *
 * A definition that we write has every byte in a member: gaps are arrays of char, so a copy of a
 * record is a copy of all its bytes. Offsets that are no multiples of what a field wants (NumPy
 * packs unless told otherwise) are met by `#pragma pack`, with which the compiler makes narrower
 * accesses.
 */
#include "lang/records.h"

#include <stdlib.h>
#include <string.h>

#define MOST_FIELDS    4096
#define MOST_ALIGNMENT 256

#define SHOW(str) (int)(str).length, (str).data

/* ---- names ---------------------------------------------------------------------------------- */

static bool is_identifier(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return name[0] != '\0' && !(name[0] >= '0' && name[0] <= '9') &&
           strspn(name, letters) == strlen(name);
}

static quern_status check_name(const char *name)
{
    if (!name) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "a record needs a name");
    }
    if (!is_identifier(name) || name[1] == '\0') {
        return qn_fail(QUERN_ERROR_NAME,
                       "\"%s\" cannot be the name of a record: use two letters, digits or "
                       "underscores or more, and no digit first",
                       name);
    }
    const char *reason = qn_name_refusal(qn_str_of(name));
    return reason ? qn_fail(QUERN_ERROR_NAME, "a record cannot be called \"%s\", which %s", name,
                            reason)
                  : QUERN_OK;
}

static quern_status check_field_name(const qn_record *record, const quern_field *field, size_t k)
{
    if (!field->name || !is_identifier(field->name)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "field %zu of %s is called \"%s\", which is no identifier of C: rename it",
                       k, record->info.name, field->name ? field->name : "(NULL)");
    }
    const char *reason = qn_word_refusal(qn_str_of(field->name));
    if (strncmp(field->name, "_quern_", 7) == 0) {
        reason = "begins as Quern's own names do";
    }
    if (strcmp(field->name, record->info.name) == 0) {
        reason = "is the record's own name";
    }
    return reason ? qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                            "a field of %s cannot be called \"%s\", which %s: rename it",
                            record->info.name, field->name, reason)
                  : QUERN_OK;
}

/* ---- fields --------------------------------------------------------------------------------- */

/* Copy a field with its shape; the bytes that it takes. */
static quern_status take_field(quern_field *out, uint64_t *bytes, qn_record *record,
                               const quern_field *given, size_t k)
{
    *out = *given;
    QN_TRY(check_field_name(record, given, k));
    const qn_dtype_info *info = qn_dtype_find((quern_dtype)given->dtype);
    if (!info) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "field \"%s\" of %s: %d is not a dtype",
                       given->name, record->info.name, given->dtype);
    }
    if (given->ndim < 0 || given->ndim > QUERN_MAX_NDIM || (given->ndim > 0 && !given->shape)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "field \"%s\" of %s has %d dimensions%s: 0 to %d are possible", given->name,
                       record->info.name, given->ndim,
                       given->ndim > 0 && !given->shape ? " and no shape" : "", QUERN_MAX_NDIM);
    }
    int64_t *shape = qn_arena_alloc(&record->arena, (size_t)(given->ndim + 1) * sizeof *shape);
    out->name = qn_arena_strndup(&record->arena, given->name, strlen(given->name));
    if (!shape || !out->name) {
        return qn_fail_memory("making a record");
    }
    *bytes = info->size;
    for (int32_t d = 0; d < given->ndim; d++) {
        shape[d] = given->shape[d];
        if (shape[d] < 1 || shape[d] > QUERN_MAX_RECORD_BYTES) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                           "field \"%s\" of %s has extent %lld: 1 to %d are possible", given->name,
                           record->info.name, (long long)shape[d], QUERN_MAX_RECORD_BYTES);
        }
        *bytes = QN_MIN(*bytes * (uint64_t)shape[d], (uint64_t)QUERN_MAX_RECORD_BYTES + 1);
    }
    out->shape = given->ndim > 0 ? shape : NULL;
    if (given->offset > QUERN_MAX_RECORD_BYTES || *bytes > QUERN_MAX_RECORD_BYTES - given->offset) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "field \"%s\" of %s ends behind byte %d, the last that a record may have",
                       given->name, record->info.name, QUERN_MAX_RECORD_BYTES);
    }
    return QUERN_OK;
}

static uint64_t end_of(const quern_field *field)
{
    return field->offset + qn_field_count(field) * quern_dtype_size((quern_dtype)field->dtype);
}

static int by_offset(const void *a, const void *b)
{
    const quern_field *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static quern_status check_apart(const qn_record *record)
{
    for (size_t k = 0; k < record->field_count; k++) {
        const quern_field *field = &record->fields[k];
        if (k > 0 && end_of(field - 1) > field->offset) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                           "fields \"%s\" and \"%s\" of %s overlap: \"%s\" begins at byte %llu, "
                           "before the end of the other at byte %llu",
                           field[-1].name, field->name, record->info.name, field->name,
                           (unsigned long long)field->offset,
                           (unsigned long long)end_of(field - 1));
        }
        if (qn_record_field(record, qn_str_of(field->name)) != field) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "%s has two fields called \"%s\"",
                           record->info.name, field->name);
        }
    }
    return QUERN_OK;
}

static quern_status take_fields(qn_record *record, const quern_record *given)
{
    if (given->field_count > MOST_FIELDS || (given->field_count > 0 && !given->fields)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       given->fields ? "%s has %zu fields, and %d are the most"
                                     : "%s has %zu fields, but `fields` is NULL",
                       record->info.name, given->field_count, MOST_FIELDS);
    }
    quern_field *fields = qn_arena_alloc(&record->arena, (given->field_count + 1) * sizeof *fields);
    if (!fields) {
        return qn_fail_memory("making a record");
    }
    for (size_t k = 0; k < given->field_count; k++) {
        uint64_t bytes;
        QN_TRY(take_field(&fields[k], &bytes, record, &given->fields[k], k));
    }
    qsort(fields, given->field_count, sizeof *fields, by_offset);
    record->fields = fields;
    record->field_count = given->field_count;
    return check_apart(record);
}

/* ---- size and alignment --------------------------------------------------------------------- */

/* The alignment of the structure when members are packed to `pack`; 0: its fields do not lie so. */
static uint32_t packed_alignment(const qn_record *record, uint32_t pack)
{
    uint32_t all = 1;
    for (size_t k = 0; k < record->field_count; k++) {
        const quern_field *field = &record->fields[k];
        uint32_t own = QN_MIN(pack, qn_dtype_find((quern_dtype)field->dtype)->alignment);
        all = QN_MAX(all, own);
        if (field->offset % own != 0) {
            return 0;
        }
    }
    return all;
}

/* The widest packing with which fields, size and a stated alignment agree: 1 always does. */
static uint32_t choose_pack(const qn_record *record, const quern_record *given)
{
    for (uint32_t pack = MOST_ALIGNMENT; pack > 1; pack /= 2) {
        uint32_t all = packed_alignment(record, pack);
        if (all != 0 && given->bytes % all == 0 &&
            (given->alignment == 0 || all <= given->alignment)) {
            return pack;
        }
    }
    return 1;
}

static quern_status check_sizes(const qn_record *record, const quern_record *given)
{
    const size_t a = given->alignment, end = record->field_count == 0
                                                 ? 0
                                                 : end_of(&record->fields[record->field_count - 1]);
    if (given->bytes > QUERN_MAX_RECORD_BYTES) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "%s has %zu bytes, and %d are the most",
                       record->info.name, given->bytes, QUERN_MAX_RECORD_BYTES);
    }
    if (a > MOST_ALIGNMENT || (a & (a - 1)) != 0 || (a != 0 && given->bytes % a != 0)) {
        return qn_fail(
            QUERN_ERROR_INVALID_ARGUMENT,
            "%s has alignment %zu: a power of two up to %d is wanted, of which its size, "
            "%zu bytes, is a multiple",
            record->info.name, a, MOST_ALIGNMENT, given->bytes);
    }
    if (given->bytes != 0 && end > given->bytes) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "field \"%s\" of %s ends at byte %zu, but the record has only %zu",
                       record->fields[record->field_count - 1].name, record->info.name, end,
                       given->bytes);
    }
    if (given->definition && (given->bytes == 0 || a == 0)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "a record with a definition needs its size and its alignment: sizeof and "
                       "_Alignof of %s",
                       record->info.name);
    }
    if (!given->definition && record->field_count == 0) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "%s needs fields, or a definition",
                       record->info.name);
    }
    return QUERN_OK;
}

/* ---- the definition ------------------------------------------------------------------------- */

static void write_gap(qn_text *out, int *gaps, uint64_t bytes)
{
    if (bytes > 0) {
        qn_text_printf(out, "    char _quern_gap%d[%llu];\n", (*gaps)++, (unsigned long long)bytes);
    }
}

static void write_members(qn_text *out, const qn_record *record)
{
    uint64_t at = 0;
    int gaps = 0;
    for (size_t k = 0; k < record->field_count; k++) {
        const quern_field *field = &record->fields[k];
        const qn_dtype_info *info = qn_dtype_find((quern_dtype)field->dtype);
        write_gap(out, &gaps, field->offset - at);
        qn_text_printf(out, "    %s %s", info->kind == QN_KIND_BOOL ? "quern::flag" : info->c_name,
                       field->name);
        for (int32_t d = 0; d < field->ndim; d++) {
            qn_text_printf(out, "[%lld]", (long long)field->shape[d]);
        }
        qn_text_puts(out, ";\n");
        at = end_of(field);
    }
    write_gap(out, &gaps, record->info.size - at);
}

/* From the fields, with a size and an alignment where none are given. */
static void write_definition(qn_text *out, qn_record *record, const quern_record *given)
{
    uint32_t pack = choose_pack(record, given), all = packed_alignment(record, pack);
    uint64_t end = end_of(&record->fields[record->field_count - 1]);
    uint32_t alignment = given->alignment != 0 ? (uint32_t)given->alignment : all;
    record->info.alignment = alignment;
    record->info.size =
        (uint32_t)(given->bytes != 0 ? given->bytes
                                     : (end + alignment - 1) / alignment * alignment);
    qn_text_printf(out, "#pragma pack(push, %u)\nstruct ", QN_MIN(pack, 16u));
    if (alignment > all) {
        qn_text_printf(out, "alignas(%u) ", alignment);
    }
    qn_text_printf(out, "%s {\n", record->info.name);
    write_members(out, record);
    qn_text_puts(out, "};\n#pragma pack(pop)");
}

/* ---- identity ------------------------------------------------------------------------------- */

/* FNV-1a, of 64 bits. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static void write_identity(qn_text *out, const qn_record *record)
{
    qn_text_printf(out, "%s %u %u\n", record->info.name, record->info.size, record->info.alignment);
    for (size_t k = 0; k < record->field_count; k++) {
        const quern_field *field = &record->fields[k];
        qn_text_printf(out, "%s %s %llu", field->name,
                       qn_dtype_find((quern_dtype)field->dtype)->c_name,
                       (unsigned long long)field->offset);
        for (int32_t d = 0; d < field->ndim; d++) {
            qn_text_printf(out, " %lld", (long long)field->shape[d]);
        }
        qn_text_puts(out, "\n");
    }
    qn_text_puts(out, record->definition);
}

/* Which headers the definition needs. */
static unsigned needs_of(const qn_record *record)
{
    static const struct {
        const char *name;
        unsigned need;
    } names[] = {{"float16", QN_RECORD_HALF},
                 {"bfloat16", QN_RECORD_HALF},
                 {"float8_e4m3fn", QN_RECORD_FLOAT8},
                 {"float8_e5m2", QN_RECORD_FLOAT8},
                 {"complex", QN_RECORD_COMPLEX}};
    unsigned needs = 0;
    for (size_t k = 0; k < QN_COUNT(names); k++) {
        needs |= qn_text_uses(record->definition, names[k].name) ? names[k].need : 0;
    }
    for (size_t k = 0; k < record->field_count; k++) {
        const qn_record *inner = qn_record_find((quern_dtype)record->fields[k].dtype);
        needs |= inner ? inner->needs : 0;
    }
    return needs;
}

/* Move a text into the record's arena. */
static quern_status keep(const char **out, qn_record *record, qn_text *text)
{
    *out = text->failed || !text->data ? NULL
                                       : qn_arena_strndup(&record->arena, text->data, text->length);
    qn_text_free(text);
    return *out ? QUERN_OK : qn_fail_memory("making a record");
}

/* A field lies off its alignment, or may: what a definition packs by itself is not known. */
static bool is_packed(const qn_record *record)
{
    bool packed = !record->own && strstr(record->definition, "pack");
    for (size_t k = 0; k < record->field_count; k++) {
        const qn_dtype_info *info = qn_dtype_find((quern_dtype)record->fields[k].dtype);
        packed |= info->packed || info->alignment > record->info.alignment ||
                  record->fields[k].offset % info->alignment != 0;
    }
    return packed;
}

/* What follows from the definition. */
static quern_status identify(qn_record *record)
{
    qn_text identity = {0}, space = {0}, name = {0}, descr = {0};
    write_identity(&identity, record);
    QN_TRY(keep(&record->identity, record, &identity));
    qn_text_printf(&space, "_quern_%016llx", (unsigned long long)hash_of(record->identity));
    QN_TRY(keep(&record->space, record, &space));
    qn_text_printf(&name, "%s::%s", record->space, record->info.name);
    QN_TRY(keep(&record->info.c_name, record, &name));
    qn_record_descr(&descr, record);
    QN_TRY(keep(&record->descr, record, &descr));
    record->info.descr = record->descr;
    record->info.packed = is_packed(record);
    record->needs = needs_of(record);
    return QUERN_OK;
}

quern_status qn_record_lay_out(qn_record *record, const quern_record *given)
{
    record->info.kind = QN_KIND_RECORD;
    QN_TRY(check_name(given->name));
    record->info.name = qn_arena_strndup(&record->arena, given->name, strlen(given->name));
    if (!record->info.name) {
        return qn_fail_memory("making a record");
    }
    QN_TRY(take_fields(record, given));
    QN_TRY(check_sizes(record, given));
    qn_text text = {0};
    record->own = !given->definition;
    if (record->own) {
        write_definition(&text, record, given);
    } else {
        record->info.size = (uint32_t)given->bytes;
        record->info.alignment = (uint32_t)given->alignment;
        qn_text_puts(&text, given->definition);
    }
    QN_TRY(keep(&record->definition, record, &text));
    return identify(record);
}
