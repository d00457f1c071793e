/* SPDX-License-Identifier: MIT
 *
 * The contents of a row: its checksum, and the names that share one column. In: values. Out: bytes
 * as they are stored, and back.
 */
#include "cache/store.h"

#define XXH_INLINE_ALL
#include <string.h>
#include <xxhash.h>

static void big_end_first(unsigned char out[8], uint64_t number)
{
    for (int k = 0; k < 8; k++) {
        out[k] = (unsigned char)(number >> (56 - 8 * k));
    }
}

void qn_row_key(unsigned char out[16], const qn_key *key)
{
    big_end_first(out, key->hash[0]);
    big_end_first(out + 8, key->hash[1]);
}

void qn_row_key_of(unsigned char out[16], qn_str material)
{
    XXH128_hash_t hash = XXH3_128bits(material.data, material.length);
    big_end_first(out, hash.high64);
    big_end_first(out + 8, hash.low64);
}

/* Lengths go in before contents, so that bytes cannot move from one field to the next unseen. */
void qn_row_checksum(unsigned char out[16], const unsigned char key[16], qn_str compiler,
                     int64_t kind, int64_t arch, qn_str material, qn_str lowered, qn_str image)
{
    const uint64_t numbers[] = {(uint64_t)kind,  (uint64_t)arch, compiler.length,
                                material.length, lowered.length, image.length};
    const qn_str pieces[] = {compiler, material, lowered, image};
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    XXH3_128bits_update(&state, key, 16);
    for (size_t k = 0; k < QN_COUNT(numbers); k++) {
        unsigned char bytes[8];
        big_end_first(bytes, numbers[k]);
        XXH3_128bits_update(&state, bytes, sizeof bytes);
    }
    for (size_t k = 0; k < QN_COUNT(pieces); k++) {
        XXH3_128bits_update(&state, pieces[k].data, pieces[k].length);
    }
    XXH128_hash_t hash = XXH3_128bits_digest(&state);
    big_end_first(out, hash.high64);
    big_end_first(out + 8, hash.low64);
}

qn_str qn_row_bytes(sqlite3_stmt *statement, int column)
{
    const char *data = sqlite3_column_blob(statement, column);
    int length = sqlite3_column_bytes(statement, column);
    return data ? (qn_str){data, (size_t)length} : (qn_str){"", 0};
}

bool qn_row_join(qn_text *out, char *const *names, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        qn_text_add(out, names[k], strlen(names[k]) + 1);
    }
    return !out->failed;
}

/* No name begins with this byte. */
#define WARNINGS '\1'

bool qn_row_join_warnings(qn_text *out, const char *warnings)
{
    const char lead = WARNINGS;
    if (warnings && *warnings) {
        qn_text_add(out, &lead, 1);
        qn_text_add(out, warnings, strlen(warnings) + 1);
    }
    return !out->failed;
}

static bool take_warnings(qn_image *out, const char *warnings)
{
    qn_free(out->log);
    out->log = qn_strdup(warnings);
    return out->log != NULL;
}

bool qn_row_split(qn_image *out, qn_str lowered)
{
    size_t count = 0;
    for (size_t k = 0; k < lowered.length; k++) {
        count += lowered.data[k] == '\0';
    }
    if (count == 0) {
        return true;
    }
    out->lowered = qn_calloc(count, sizeof *out->lowered);
    if (!out->lowered) {
        return false;
    }
    const char *name = lowered.data;
    for (size_t k = 0; k < count; k++, name += strlen(name) + 1) {
        if (*name == WARNINGS) {
            return take_warnings(out, name + 1);
        }
        out->lowered[k] = qn_strdup(name);
        if (!out->lowered[k]) {
            return false;
        }
        out->lowered_count++;
    }
    return true;
}
