/* SPDX-License-Identifier: MIT
 *
 * Who made an entry. In: bytes, keys. Out: signatures (ed25519) and hashes (BLAKE2b-256), by
 * libsodium, which is loaded when the first is needed.
 *
 * A checksum shows accidents, and TLS who the server is; neither shows who filled it. A shared
 * secret would let every reader write. So each writer has a key of its own, and readers name those
 * whom they believe.
 *
 * A secret key is a line "quern-secret HEX NAME" in a file of mode 0600; a public one is
 * "quern-public HEX NAME", and a file may have many of them, and lines that begin with "#".
 */
#include "base/object.h"
#include "base/prefix.h"
#include "cache/fleet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEED_BYTES 32
#define SECRET     "quern-secret "
#define PUBLIC     "quern-public "

/* ---- libsodium ------------------------------------------------------------------------------ */

#define FUNCTIONS(X)                                                                               \
    X(sodium_init, int, (void))                                                                    \
    X(randombytes_buf, void, (void *out, size_t size))                                             \
    X(crypto_sign_seed_keypair, int,                                                               \
      (unsigned char *open, unsigned char *secret, const unsigned char *seed))                     \
    X(crypto_sign_detached, int,                                                                   \
      (unsigned char *out, unsigned long long *length, const unsigned char *data,                  \
       unsigned long long size, const unsigned char *secret))                                      \
    X(crypto_sign_verify_detached, int,                                                            \
      (const unsigned char *signature, const unsigned char *data, unsigned long long size,         \
       const unsigned char *open))                                                                 \
    X(crypto_generichash, int,                                                                     \
      (unsigned char *out, size_t length, const unsigned char *data, unsigned long long size,      \
       const unsigned char *key, size_t key_length))

typedef struct sodium_functions {
#define FIELD(name, type, parameters) type(*name) parameters;
    FUNCTIONS(FIELD)
#undef FIELD
} sodium_functions;

static struct {
    bool ready;
    char why[512];
    sodium_functions f;
} sodium;

static pthread_once_t sodium_once = PTHREAD_ONCE_INIT;

static void load(void)
{
    static const char *const names[] = {"libsodium.so.23", "libsodium.so.26", "libsodium.so", NULL};
    static const qn_library_function functions[] = {
#define SYMBOL(name, type, parameters) {#name, offsetof(sodium_functions, name)},
        FUNCTIONS(SYMBOL)
#undef SYMBOL
    };
    if (!qn_library_functions(&sodium.f, names, functions, QN_COUNT(functions), sodium.why,
                              sizeof sodium.why)) {
        return;
    }
    sodium.ready = sodium.f.sodium_init() >= 0;
    snprintf(sodium.why, sizeof sodium.why, "%s", sodium.ready ? "" : "sodium_init() failed");
}

bool qn_sign_ready(const char **why)
{
    pthread_once(&sodium_once, load);
    if (why) {
        *why = sodium.why;
    }
    return sodium.ready;
}

static quern_status need_sodium(void)
{
    const char *why;
    return qn_sign_ready(&why) ? QUERN_OK
                               : qn_fail(QUERN_ERROR_NOT_SUPPORTED,
                                         "signatures need libsodium, which cannot be loaded: %s; "
                                         "install libsodium23",
                                         why);
}

bool qn_hash(unsigned char out[QN_HASH_BYTES], const void *data, size_t size)
{
    memset(out, 0, QN_HASH_BYTES);
    return qn_sign_ready(NULL) &&
           sodium.f.crypto_generichash(out, QN_HASH_BYTES, data, size, NULL, 0) == 0;
}

void qn_sign(unsigned char out[QN_SIGNATURE_BYTES], const qn_signer *signer, const void *data,
             size_t size)
{
    (void)sodium.f.crypto_sign_detached(out, NULL, data, size, signer->secret);
}

bool qn_signature_holds(const unsigned char signature[QN_SIGNATURE_BYTES],
                        const unsigned char key[QN_PUBLIC_BYTES], const void *data, size_t size)
{
    return qn_sign_ready(NULL) &&
           sodium.f.crypto_sign_verify_detached(signature, data, size, key) == 0;
}

/* ---- lines ---------------------------------------------------------------------------------- */

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A line: what it begins with, 32 bytes in hexadecimal, and a name. */
static bool read_line(unsigned char bytes[32], char name[64], const char *kind, qn_str line)
{
    size_t lead = strlen(kind);
    if (line.length < lead + 64 || memcmp(line.data, kind, lead) != 0) {
        return false;
    }
    for (size_t k = 0; k < 32; k++) {
        int high = digit(line.data[lead + 2 * k]), low = digit(line.data[lead + 2 * k + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        bytes[k] = (unsigned char)(high << 4 | low);
    }
    qn_str rest = {line.data + lead + 64, line.length - lead - 64};
    if (rest.length > 0 && rest.data[0] != ' ') {
        return false;
    }
    snprintf(name, 64, "%.*s", rest.length ? (int)QN_MIN(rest.length - 1, (size_t)63) : 0,
             rest.length ? rest.data + 1 : "");
    return true;
}

static void write_line(char *out, size_t size, const char *kind, const unsigned char bytes[32],
                       const char *name)
{
    size_t at = (size_t)snprintf(out, size, "%s", kind);
    for (size_t k = 0; k < 32 && at + 2 < size; k++, at += 2) {
        snprintf(out + at, size - at, "%02x", bytes[k]);
    }
    snprintf(out + at, size - at, " %s", name);
}

/* ---- who signs ------------------------------------------------------------------------------ */

static quern_status take_secret(qn_signer *out, const char *variable, const char *line)
{
    unsigned char seed[SEED_BYTES];
    QN_TRY(need_sodium());
    if (!read_line(seed, out->name, SECRET, qn_str_of(line))) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "%s: this is no secret key, which is a line that begins with \"" SECRET
                       "\"; 'quern cache keys FILE' makes one",
                       variable);
    }
    out->is = sodium.f.crypto_sign_seed_keypair(out->open, out->secret, seed) == 0;
    explicit_bzero(seed, sizeof seed);
    return QUERN_OK;
}

quern_status qn_signer_read(qn_signer *out, const char *variable, const char *text)
{
    *out = (qn_signer){0};
    if (!text || !text[0]) {
        return QUERN_OK;
    }
    if (qn_begins(text, SECRET)) {
        return take_secret(out, variable, text);
    }
    char *line;
    const char *path = text + (text[0] == '@');
    if (!qn_file_exists(path)) { /* not repeated: it may be a secret in the wrong place */
        return qn_fail(QUERN_ERROR_IO,
                       "%s is neither a line that begins with \"" SECRET
                       "\" nor a file that can be read",
                       variable);
    }
    QN_TRY(qn_secret_file(&line, variable, path));
    quern_status status = take_secret(out, variable, line);
    qn_secret_free(line);
    return status;
}

void qn_signer_wipe(qn_signer *signer)
{
    explicit_bzero(signer, sizeof *signer);
}

/* ---- who is trusted ------------------------------------------------------------------------- */

static quern_status take_keys(qn_trust *out, const char *path, const char *text)
{
    for (unsigned number = 1; *text; number++) {
        qn_str line = {text, strcspn(text, "\r\n")};
        text += line.length + strspn(text + line.length, "\r");
        text += *text == '\n';
        if (line.length == 0 || line.data[0] == '#') {
            continue;
        }
        if (!QN_ROOM(*out)) {
            return qn_fail_memory("reading the keys that are trusted");
        }
        qn_trusted *key = &out->items[out->count];
        if (!read_line(key->key, key->name, PUBLIC, line)) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                           "QUERN_REMOTE_TRUST: line %u of %s is no public key, which begins with "
                           "\"" PUBLIC "\"; 'quern cache keys FILE' prints that of a secret one",
                           number, path);
        }
        out->count++;
    }
    return out->count > 0 ? QUERN_OK
                          : qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                                    "QUERN_REMOTE_TRUST: there is no key in %s", path);
}

quern_status qn_trust_read(qn_trust *out, const char *path)
{
    char *text;
    size_t size;
    *out = (qn_trust){0};
    QN_TRY(need_sodium());
    QN_TRY(qn_check_owned("QUERN_REMOTE_TRUST", path));
    QN_TRY(qn_file_read(path, &text, &size));
    quern_status status = take_keys(out, path, text);
    qn_free(text);
    return status;
}

/* ---- making keys ---------------------------------------------------------------------------- */

/* A new file, which only the user may read. */
static quern_status write_secret(const char *path, const char *line)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    size_t length = strlen(line);
    bool written = file >= 0 && write(file, line, length) == (ssize_t)length;
    int error = errno;
    if (file >= 0 && close(file) != 0 && written) {
        error = errno;
        written = false;
    }
    if (file >= 0 && !written) {
        (void)unlink(path);
    }
    return written ? QUERN_OK
                   : qn_fail(QUERN_ERROR_IO, "cannot write %s: %s", path, strerror(error));
}

static quern_status make_key(const char *path, const char *name)
{
    unsigned char seed[SEED_BYTES];
    char line[sizeof(quern_public_key) + 1];
    sodium.f.randombytes_buf(seed, sizeof seed);
    write_line(line, sizeof line - 1, SECRET, seed, name);
    strcat(line, "\n");
    quern_status status = write_secret(path, line);
    explicit_bzero(seed, sizeof seed);
    explicit_bzero(line, sizeof line);
    return status;
}

quern_status quern_signing_key(quern_public_key *key, const char *path, const char *name)
{
    qn_error_reset();
    QN_CHECK_NOT_NULL(path);
    QN_TO_GIVE(quern_public_key, own, key);
    QN_TRY(need_sodium());
    name = name ? name : qn_base_name(path);
    if (strlen(name) >= 64 || strpbrk(name, "\r\n")) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "\"%s\" cannot be a key's name: one line, of at most 63 bytes", name);
    }
    if (!qn_file_exists(path)) {
        QN_TRY(make_key(path, name));
    }
    qn_signer signer;
    char *secret;
    QN_TRY(qn_secret_file(&secret, path, path));
    quern_status status = take_secret(&signer, path, secret);
    qn_secret_free(secret);
    QN_TRY(status);
    write_line(own.line, sizeof own.line, PUBLIC, signer.open, signer.name);
    qn_signer_wipe(&signer);
    QN_GIVE(quern_public_key, own, key);
    return QUERN_OK;
}
