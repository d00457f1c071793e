/* SPDX-License-Identifier: MIT
 *
 * A remote store in memory, which can lie: a table of functions for tests, and what it is to do.
 */
#ifndef QN_TESTS_FAULT_LYING_STORE_H
#define QN_TESTS_FAULT_LYING_STORE_H

#include "cache/entry.h"
#include "cache/fleet.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LIMIT_MS 250 /* of a call: machines that run tests are busy */

typedef enum lie {
    HONEST,
    EMPTY,
    FAILS,
    SLOW,
    GARBAGE,
    CUT,
    FLIPPED,
    OTHERS,   /* another kernel's image */
    UNSIGNED, /* as it was put, without its signature */
    REPLACED, /* other code, with the old signature */
    REJECTED, /* the device does not take it */
    LIES,
    ALTERED /* other code that the device takes */
} lie;

static const char *const lie_names[LIES] = {"honest",   "empty",    "fails",   "slow",
                                            "garbage",  "cut",      "flipped", "others",
                                            "unsigned", "replaced", "rejected"};

typedef struct stored {
    char name[QN_REMOTE_NAME_BYTES];
    char *data;
    size_t bytes;
} stored;

static struct {
    pthread_mutex_t lock;
    stored items[64];
    size_t count;
    lie now;
    qn_text answer[QN_REMOTE_BATCH];
    atomic_int opened, closed;
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

static quern_status memory_open(void **context, const char *url, uint32_t ms)
{
    (void)url, (void)ms;
    *context = &memory;
    atomic_fetch_add(&memory.opened, 1);
    return QUERN_OK;
}

static void memory_close(void *context)
{
    (void)context;
    atomic_fetch_add(&memory.closed, 1);
}

static const stored *find(const char *name)
{
    for (size_t k = 0; k < memory.count; k++) {
        if (strcmp(memory.items[k].name, name) == 0) {
            return &memory.items[k];
        }
    }
    return NULL;
}

/* Another image than that of `name`. */
static const stored *find_other(const char *name)
{
    for (size_t k = 0; k < memory.count; k++) {
        if (strcmp(memory.items[k].name, name) != 0 && !strstr(memory.items[k].name, "recipe")) {
            return &memory.items[k];
        }
    }
    return NULL;
}

/* An envelope like this one around other code: signed again, or with the old signature. */
static void replace_code(qn_text *out, qn_str value, bool sign)
{
    const char nonsense[] = ".version 7.0\n.target sm_75\n.address_size 64\nnonsense;\n";
    qn_text code = {0};
    qn_str bytes;
    qn_entry entry;
    qn_entry_body body;
    const char *why;
    qn_text made = {0};
    qn_signer signer = {0};
    cr_assert_eq(qn_envelope_open(&bytes, QN_CONTENT_IMAGE, value, NULL), QN_SOUND);
    cr_assert(qn_entry_read(&entry, bytes, &why));
    cr_assert(qn_entry_open(&body, &entry, &why));
    char *own = body.room;
    if (memory.now == ALTERED) {
        qn_text_add(&code, body.image.data, body.image.length);
        qn_text_puts(&code, "// somebody was here\n");
    } else {
        qn_text_puts(&code, nonsense);
    }
    body.image = (qn_str){code.data, code.length};
    cr_assert(qn_entry_write_row(&made, &entry, &body, 0));
    cr_assert_eq(qn_signer_read(&signer, "QUERN_REMOTE_SIGN", getenv("QUERN_REMOTE_SIGN")),
                 QUERN_OK);
    qn_envelope_seal(out, QN_CONTENT_IMAGE, (qn_str){made.data, made.length}, &signer);
    if (!sign) {
        memcpy(out->data + out->length - 96, value.data + value.length - 96, 96);
    }
    qn_free(own);
    qn_text_free(&code);
    qn_text_free(&made);
}

static void answer(qn_text *out, const char *name)
{
    const stored *true_one = find(name), *item = true_one;
    if (memory.now == EMPTY || !item) {
        return;
    }
    if (memory.now == OTHERS) {
        item = find_other(name);
        cr_assert_not_null(item);
    }
    qn_str value = {item->data, item->bytes};
    if (memory.now == REPLACED || memory.now == REJECTED || memory.now == ALTERED) {
        replace_code(out, value, memory.now != REPLACED);
        return;
    }
    qn_text_add(out, value.data, value.length);
    if (memory.now == GARBAGE) {
        memset(out->data, 'x', out->length);
    } else if (memory.now == CUT) {
        out->length /= 2;
    } else if (memory.now == FLIPPED) {
        out->data[out->length / 2] ^= 16;
    } else if (memory.now == UNSIGNED) {
        out->data[5] = 0;
        out->length -= 96;
    }
}

static quern_status memory_get(void *context, size_t count, const char *const *names,
                               const void **data, size_t *bytes)
{
    (void)context;
    if (memory.now == FAILS) {
        return QUERN_ERROR_IO;
    }
    if (memory.now == SLOW) {
        usleep(3 * LIMIT_MS * 1000);
    }
    pthread_mutex_lock(&memory.lock);
    for (size_t k = 0; k < count; k++) {
        qn_text_free(&memory.answer[k]);
        answer(&memory.answer[k], names[k]);
        data[k] = memory.answer[k].data;
        bytes[k] = memory.answer[k].length;
    }
    pthread_mutex_unlock(&memory.lock);
    return QUERN_OK;
}

static quern_status memory_put(void *context, const char *name, const void *data, size_t bytes)
{
    (void)context;
    pthread_mutex_lock(&memory.lock);
    if (!find(name) && memory.count < QN_COUNT(memory.items)) {
        stored *s = &memory.items[memory.count++];
        snprintf(s->name, sizeof s->name, "%s", name);
        s->data = malloc(bytes);
        memcpy(s->data, data, bytes);
        s->bytes = bytes;
    }
    pthread_mutex_unlock(&memory.lock);
    return QUERN_OK;
}

static const quern_remote_methods memory_methods = {
    .size = sizeof memory_methods,
    .version = QUERN_REMOTE_VERSION,
    .name = "memory",
    .open = memory_open,
    .get = memory_get,
    .put = memory_put,
    .close = memory_close,
};

#endif /* QN_TESTS_FAULT_LYING_STORE_H */
