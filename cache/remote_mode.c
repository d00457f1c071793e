/* SPDX-License-Identifier: MIT
 *
 * Who may write to a remote store, and who is believed. In: the environment. Out: the settings of a
 * store, or what is wrong with them.
 *
 * Whoever can write an entry that is believed runs code on this machine. So somebody has to be
 * named, or "open" said; there is no silent default.
 */
#include "cache/fleet.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST_MS 60000

static const char *variable(const char *name)
{
    const char *text = getenv(name);
    return text && text[0] ? text : NULL;
}

static quern_status read_words(qn_remote_mode *mode, bool *is_signed, const char *words)
{
    while (*words) {
        qn_str word = {words, strcspn(words, ",")};
        if (qn_str_is(word, "open")) {
            mode->open = true;
        } else if (qn_str_is(word, "signed")) {
            *is_signed = true;
        } else if (qn_str_is(word, "read-only")) {
            mode->reads = true;
        } else if (qn_str_is(word, "recipes")) {
            mode->recipes = true;
        } else {
            return qn_fail(
                QUERN_ERROR_INVALID_ARGUMENT,
                "QUERN_REMOTE_MODE has \"%.*s\"; it may have open, signed, read-only and "
                "recipes, with commas between them",
                (int)word.length, word.data);
        }
        words += word.length + (words[word.length] == ',');
    }
    return QUERN_OK;
}

/* The writer believes himself. */
static quern_status trust_signer(qn_remote *remote)
{
    if (!remote->signer.is) {
        return QUERN_OK;
    }
    if (!QN_ROOM(remote->trust)) {
        return qn_fail_memory("reading the keys that are trusted");
    }
    qn_trusted *own = &remote->trust.items[remote->trust.count++];
    memcpy(own->key, remote->signer.open, sizeof own->key);
    memcpy(own->name, remote->signer.name, sizeof own->name);
    return QUERN_OK;
}

static quern_status judge(qn_remote *remote, bool is_signed, const char *trust)
{
    if (remote->mode.open && (is_signed || trust)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "QUERN_REMOTE_MODE says open, so that everybody is believed, and %s: "
                       "choose one",
                       trust ? "QUERN_REMOTE_TRUST names who is" : "signed");
    }
    if (remote->mode.recipes && (is_signed || trust)) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "QUERN_REMOTE_MODE says recipes, which are compiled here whoever wrote "
                       "them, and %s: choose one",
                       trust ? "QUERN_REMOTE_TRUST names who is believed" : "signed");
    }
    if (!remote->mode.open && !remote->mode.recipes && remote->trust.count == 0) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "who is believed? Set QUERN_REMOTE_TRUST to a file with the public keys of "
                       "those who write, or QUERN_REMOTE_MODE=open if whoever can write there may "
                       "run code here");
    }
    remote->trusts = !remote->mode.open && !remote->mode.recipes;
    return QUERN_OK;
}

static quern_status read_timeout(uint32_t *out)
{
    const char *text = variable("QUERN_REMOTE_TIMEOUT");
    *out = QN_REMOTE_TIMEOUT_MS;
    if (text) {
        char *end;
        long ms = strtol(text, &end, 10);
        if (*end || ms < 1 || ms > LONGEST_MS) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                           "QUERN_REMOTE_TIMEOUT is \"%s\"; it is a number of milliseconds from 1 "
                           "to %d",
                           text, LONGEST_MS);
        }
        *out = (uint32_t)ms;
    }
    return QUERN_OK;
}

quern_status qn_remote_settings(qn_remote *remote)
{
    bool is_signed = false;
    const char *words = variable("QUERN_REMOTE_MODE"), *trust = variable("QUERN_REMOTE_TRUST");
    QN_TRY(read_timeout(&remote->timeout_ms));
    if (words) {
        QN_TRY(read_words(&remote->mode, &is_signed, words));
    }
    QN_TRY(qn_signer_read(&remote->signer, "QUERN_REMOTE_SIGN", variable("QUERN_REMOTE_SIGN")));
    if (trust) {
        QN_TRY(qn_trust_read(&remote->trust, trust));
    }
    QN_TRY(trust_signer(remote));
    return judge(remote, is_signed, trust);
}
