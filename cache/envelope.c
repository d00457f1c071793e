/* SPDX-License-Identifier: MIT
 *
 * What lies in a remote store under a name. In: the bytes of an image's entry or of a recipe, and
 * who signs. Out: one value, and back, with a verdict on what cannot be believed.
 *
 * Value = "QNR1" content:u8 signed:u8 0:u16 length:u64 bytes, and where it is signed the public key
 * of the writer and his ed25519 signature of "quern remote 1" content BLAKE2b-256(bytes). Numbers
 * are little-endian. Recipe = length:u16 name material.
 *
 * What arrives may be anything: every length is checked against what is there.
 */
#include "cache/fleet.h"
#include "cache/little.h"

#define XXH_INLINE_ALL
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

static const char magic[4] = "QNR1";
static const char context[14] = "quern remote 1";

#define HEAD_BYTES   16
#define SEAL_BYTES   (QN_PUBLIC_BYTES + QN_SIGNATURE_BYTES)
#define SIGNED_BYTES (sizeof context + 1 + QN_HASH_BYTES)
#define NAME_MOST    255

const char *qn_verdict_text(qn_verdict verdict)
{
    static const char *const texts[QN_VERDICTS] = {
        [QN_SOUND] = "it is sound",
        [QN_NOT_ENTRY] = "it is damaged, or of another format",
        [QN_NOT_ASKED] = "it is another kernel's, or another compiler's",
        [QN_NOT_SIGNED] = "it is not signed",
        [QN_NOT_KNOWN] = "it is signed with a key that QUERN_REMOTE_TRUST does not have",
        [QN_FORGED] = "its signature is not that of its contents",
    };
    return texts[verdict];
}

void qn_remote_name(char out[QN_REMOTE_NAME_BYTES], const char *hex, const char *compiler)
{
    snprintf(out, QN_REMOTE_NAME_BYTES, "quern:1:%s:%s", hex, compiler);
}

/* ---- envelopes ------------------------------------------------------------------------------ */

/* What is signed. False without libsodium. */
static bool digest(unsigned char out[SIGNED_BYTES], qn_content content, qn_str bytes)
{
    memcpy(out, context, sizeof context);
    out[sizeof context] = (unsigned char)content;
    return qn_hash(out + sizeof context + 1, bytes.data, bytes.length);
}

void qn_envelope_seal(qn_text *out, qn_content content, qn_str bytes, const qn_signer *signer)
{
    unsigned char seal[SEAL_BYTES], text[SIGNED_BYTES];
    char head[HEAD_BYTES] = {0};
    bool is_signed = signer->is && digest(text, content, bytes);
    memcpy(head, magic, sizeof magic);
    head[4] = (char)content;
    head[5] = is_signed;
    qn_little_put(head + 8, bytes.length, 8);
    qn_text_add(out, head, sizeof head);
    qn_text_add(out, bytes.data, bytes.length);
    if (is_signed) {
        memcpy(seal, signer->open, QN_PUBLIC_BYTES);
        qn_sign(seal + QN_PUBLIC_BYTES, signer, text, sizeof text);
        qn_text_add(out, (const char *)seal, sizeof seal);
    }
}

static bool is_trusted(const qn_trust *trust, const unsigned char *key)
{
    for (uint32_t k = 0; k < trust->count; k++) {
        if (memcmp(trust->items[k].key, key, QN_PUBLIC_BYTES) == 0) {
            return true;
        }
    }
    return false;
}

static qn_verdict judge_seal(qn_content content, qn_str bytes, bool is_signed,
                             const unsigned char *seal, const qn_trust *trust)
{
    unsigned char text[SIGNED_BYTES];
    if (!is_signed) {
        return QN_NOT_SIGNED;
    }
    if (!is_trusted(trust, seal)) {
        return QN_NOT_KNOWN;
    }
    bool holds = digest(text, content, bytes) &&
                 qn_signature_holds(seal + QN_PUBLIC_BYTES, seal, text, sizeof text);
    return holds ? QN_SOUND : QN_FORGED;
}

qn_verdict qn_envelope_open(qn_str *bytes, qn_content content, qn_str value, const qn_trust *trust)
{
    *bytes = (qn_str){"", 0};
    const unsigned char *head = (const unsigned char *)value.data;
    if (value.length < HEAD_BYTES || memcmp(head, magic, sizeof magic) != 0 ||
        head[4] != (unsigned char)content || head[5] > 1 || head[6] || head[7]) {
        return QN_NOT_ENTRY;
    }
    const uint64_t length = qn_little_get(head + 8, 8);
    const bool is_signed = head[5] != 0;
    const size_t rest = value.length - HEAD_BYTES, seal = is_signed ? SEAL_BYTES : 0;
    if (rest < seal || length != rest - seal) {
        return QN_NOT_ENTRY;
    }
    qn_str inside = {value.data + HEAD_BYTES, (size_t)length};
    qn_verdict verdict =
        trust ? judge_seal(content, inside, is_signed, head + HEAD_BYTES + length, trust)
              : QN_SOUND;
    if (verdict == QN_SOUND) {
        *bytes = inside;
    }
    return verdict;
}

/* ---- recipes -------------------------------------------------------------------------------- */

bool qn_recipe_write(qn_text *out, const char *name, qn_str material)
{
    size_t length = QN_MIN(strlen(name), (size_t)NAME_MOST);
    const char head[2] = {(char)length, 0};
    qn_text_add(out, head, sizeof head);
    qn_text_add(out, name, length);
    qn_text_add(out, material.data, material.length);
    return !out->failed;
}

bool qn_recipe_read(qn_str *material, char *name, const char *hex, qn_str bytes)
{
    const unsigned char *head = (const unsigned char *)bytes.data;
    *material = (qn_str){"", 0};
    if (bytes.length < 2 || head[1] || (size_t)head[0] > bytes.length - 2) {
        return false;
    }
    memcpy(name, bytes.data + 2, head[0]);
    name[head[0]] = '\0';
    qn_str rest = {bytes.data + 2 + head[0], bytes.length - 2 - head[0]};
    XXH128_hash_t hash = XXH3_128bits(rest.data, rest.length);
    char own[33];
    snprintf(own, sizeof own, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
    if (strcmp(own, hex) != 0) {
        return false;
    }
    *material = rest;
    return true;
}
