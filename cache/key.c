/* SPDX-License-Identifier: MIT
 *
 * The key of an image. In: everything that shapes it. Out: the material, those things one after the
 * other, each with its tag and length, so that no two different inputs give the same bytes; and the
 * hash of the material. key_tags.h says how they are written.
 */
#include "cache/cache_internal.h"
#include "cache/key_tags.h"
#include "cache/little.h"

#define XXH_INLINE_ALL
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#define MAGIC_LENGTH (sizeof QN_KEY_MAGIC - 1)

static void add_bytes(qn_text *out, enum tag tag, const char *data, size_t length)
{
    qn_little_add(out, tag, 4);
    qn_little_add(out, length, 8);
    qn_text_add(out, data, length);
}

static void add_string(qn_text *out, enum tag tag, const char *string)
{
    add_bytes(out, tag, string, strlen(string));
}

static void add_value(qn_text *out, enum tag tag, uint64_t value)
{
    qn_little_add(out, tag, 4);
    qn_little_add(out, 8, 8);
    qn_little_add(out, value, 8);
}

static void add_hash(qn_text *out, enum tag tag, const uint64_t hash[2])
{
    qn_little_add(out, tag, 4);
    qn_little_add(out, 16, 8);
    qn_little_add(out, hash[0], 8);
    qn_little_add(out, hash[1], 8);
}

/* Where headers lie is left out: what is in them is in the key. */
static void add_options(qn_text *out, const qn_key_fields *fields)
{
    for (size_t k = 0; k < fields->option_count; k++) {
        const char *path;
        switch (qn_option_path(fields->options, fields->option_count, &k, &path)) {
        case QN_INCLUDE_FOLDER:
            add_string(out, OPTION, "-I");
            break;
        case QN_INCLUDE_FILE:
            add_string(out, OPTION, "-include");
            break;
        case QN_NO_PATH:
            add_string(out, OPTION, fields->options[k]);
            break;
        }
    }
}

static void add_includes(qn_text *out, const qn_includes *includes)
{
    for (size_t k = 0; k < includes->file_count; k++) {
        add_string(out, INCLUDE_NAME, includes->files[k].name);
        add_hash(out, INCLUDE_HASH, includes->files[k].hash);
    }
    if (includes->cuda) {
        add_value(out, CUDA_HEADERS, includes->cuda);
    }
}

static void add_pieces(qn_text *out, const qn_key_fields *fields)
{
    for (size_t k = 0; k < fields->piece_count; k++) {
        const qn_key_piece *piece = &fields->pieces[k];
        XXH128_hash_t hash = XXH3_128bits(piece->data, piece->size);
        add_value(out, PIECE_KIND, (uint64_t)piece->kind);
        add_hash(out, PIECE_HASH, (uint64_t[]){hash.high64, hash.low64});
    }
    if (fields->linker) {
        add_string(out, LINKER, fields->linker);
    }
}

/* What only users' modules have. */
static void add_users(qn_text *out, const qn_key_fields *fields)
{
    if (fields->file_name) {
        add_string(out, FILE_NAME, qn_base_name(fields->file_name));
    }
    if (fields->includes) {
        add_includes(out, fields->includes);
    }
    if (fields->relocatable) {
        add_value(out, RELOCATABLE, 1);
    }
    add_pieces(out, fields);
}

quern_status qn_key_make(qn_key *out, const qn_key_fields *fields)
{
    *out = (qn_key){0};
    qn_text material = {0};
    qn_text_add(&material, QN_KEY_MAGIC, MAGIC_LENGTH);
    qn_little_add(&material, QN_KEY_FORMAT, 4);
    add_string(&material, SOURCE, fields->source);
    add_options(&material, fields);
    for (size_t k = 0; k < fields->header_count; k++) {
        add_string(&material, HEADER_NAME, fields->headers[k].name);
        add_string(&material, HEADER_TEXT, fields->headers[k].text);
    }
    for (size_t k = 0; k < fields->expression_count; k++) {
        add_string(&material, EXPRESSION, fields->expressions[k]);
    }
    add_value(&material, ARCH, (uint64_t)fields->arch);
    add_value(&material, KIND, (uint64_t)fields->kind);
    add_value(&material, LINE_INFO, fields->line_info);
    add_value(&material, MINIMAL, fields->minimal);
    add_users(&material, fields);
    out->material_size = material.length;
    out->material = qn_text_take(&material);
    if (!out->material) {
        *out = (qn_key){0};
        return qn_fail_memory("making the key of a kernel");
    }
    XXH128_hash_t hash = XXH3_128bits(out->material, out->material_size);
    out->hash[0] = hash.high64;
    out->hash[1] = hash.low64;
    snprintf(out->hex, sizeof out->hex, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
    return QUERN_OK;
}

void qn_key_free(qn_key *key)
{
    qn_free(key->material);
    *key = (qn_key){0};
}

qn_str qn_key_fields_of(qn_str material)
{
    const size_t head = MAGIC_LENGTH + 4;
    const bool known = material.length >= head &&
                       memcmp(material.data, QN_KEY_MAGIC, MAGIC_LENGTH) == 0 &&
                       qn_little_get(material.data + MAGIC_LENGTH, 4) == QN_KEY_FORMAT;
    return known ? (qn_str){material.data + head, material.length - head} : (qn_str){"", 0};
}

bool qn_key_next(qn_key_field *out, qn_str *rest)
{
    const size_t head = 4 + 8;
    if (rest->length < head) {
        return false;
    }
    const uint64_t length = qn_little_get(rest->data + 4, 8);
    if (length > rest->length - head) {
        return false;
    }
    *out = (qn_key_field){qn_little_get(rest->data, 4), {rest->data + head, (size_t)length}};
    rest->data += head + length;
    rest->length -= head + (size_t)length;
    return true;
}

qn_str qn_key_source(qn_str material)
{
    qn_key_field first;
    qn_str rest = qn_key_fields_of(material);
    return qn_key_next(&first, &rest) && first.tag == SOURCE ? first.value : (qn_str){"", 0};
}
