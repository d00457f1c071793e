/* SPDX-License-Identifier: MIT
 *
 * The calling thread's last failure: how it is recorded on the way up and read by the program.
 *
 * In: a status and its sentence, then whatever the callers add (span, stage, log, source). Out:
 * quern_last_error(). The record itself lies in thread-local storage, so that recording a failure
 * works when memory has run out: only its strings are allocated, and a string that there is no
 * memory for is left out. They are freed when the thread ends.
 */
#include "base/base.h"

#include <quern/quern.h>
#include <stdlib.h>
#include <string.h>

/* The strings of a record that are owned; `public_error` points to them or to "". */
enum { MESSAGE, STAGE, TEXT, TEXT_NAME, LOG, REST, SOURCE, PLACE_FILE, RENDERED, STRING_COUNT };

typedef struct record {
    quern_error public_error;
    char *owned[STRING_COUNT];
    uint32_t place_line, place_column;
    bool has_rest; /* REST is printed in place of LOG */
    qn_error_subject subject;
    bool registered; /* this thread's strings are freed when it ends */
    bool clean;      /* nothing was recorded since the last reset */
} record;

#define NOTHING                                                                                    \
    {                                                                                              \
        sizeof(quern_error), QUERN_OK, "", "", "", "", 0, 0, "", ""                                \
    }

static _Thread_local record last = {.public_error = NOTHING, .clean = true};

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool key_made;

static void free_strings(record *r)
{
    for (int k = 0; k < STRING_COUNT; k++) {
        qn_free(r->owned[k]);
        r->owned[k] = NULL;
    }
}

static void thread_ends(void *pointer)
{
    record *r = pointer;
    free_strings(r);
    r->public_error = (quern_error)NOTHING;
    r->clean = true;
    r->registered = false;
}

static void make_key(void)
{
    key_made = pthread_key_create(&key, thread_ends) == 0;
}

/* Without this, a thread that ends after dlclose() of the library would call code that is gone. */
__attribute__((destructor)) static void library_ends(void)
{
    thread_ends(&last);
    if (key_made) {
        key_made = false;
        pthread_key_delete(key);
    }
}

/* The record, about to be written to. */
static record *touch(void)
{
    if (!last.registered) {
        pthread_once(&key_once, make_key);
        last.registered = key_made && pthread_setspecific(key, &last) == 0;
    }
    last.clean = false;
    return &last;
}

/* Replace one string by `text`, which the record now owns; NULL counts as "". */
static const char *own(record *r, int which, char *text)
{
    qn_free(r->owned[which]);
    r->owned[which] = text;
    return text ? text : "";
}

static const char *own_copy(record *r, int which, qn_str text)
{
    return own(r, which, text.length > 0 ? qn_strndup(text.data, text.length) : NULL);
}

void qn_error_reset(void)
{
    if (last.clean) {
        return;
    }
    free_strings(&last);
    last.public_error = (quern_error)NOTHING;
    last.place_line = last.place_column = 0;
    last.has_rest = false;
    last.subject = (qn_error_subject){0};
    last.clean = true;
}

static quern_status fail(quern_status status, const char *format, va_list arguments)
{
    qn_text message = {0};
    qn_text_vprintf(&message, format, arguments); /* first: it may print parts of the old record */
    qn_error_reset();
    record *r = touch();
    r->public_error.status = (int32_t)status;
    r->public_error.message = own(r, MESSAGE, qn_text_take(&message));
    if (r->public_error.message[0] == '\0') {
        r->public_error.message = quern_status_text(status);
    }
    return status;
}

quern_status qn_fail(quern_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(status, format, arguments);
    va_end(arguments);
    return status;
}

quern_status qn_fail_at(quern_status status, const char *text_name, qn_str text, size_t begin,
                        size_t end, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(status, format, arguments);
    va_end(arguments);
    qn_error_span(text_name, text, begin, end);
    return status;
}

quern_status qn_fail_memory(const char *doing)
{
    return qn_fail(QUERN_ERROR_OUT_OF_MEMORY, "out of host memory while %s", doing);
}

void qn_error_stage(const char *stage)
{
    record *r = touch();
    r->public_error.stage = own_copy(r, STAGE, qn_str_of(stage));
}

void qn_error_log(qn_str log)
{
    record *r = touch();
    r->public_error.log = own_copy(r, LOG, log);
}

void qn_error_rest(qn_str rest)
{
    record *r = touch();
    own_copy(r, REST, rest);
    r->has_rest = true;
}

void qn_error_source(qn_str source)
{
    record *r = touch();
    r->public_error.source = own_copy(r, SOURCE, source);
}

void qn_error_place(const char *file, uint32_t line, uint32_t column)
{
    record *r = touch();
    own_copy(r, PLACE_FILE, qn_str_of(file));
    r->place_line = line;
    r->place_column = column;
}

bool qn_error_get_place(const char **file, uint32_t *line, uint32_t *column)
{
    *file = last.owned[PLACE_FILE];
    *line = last.place_line;
    *column = last.place_column;
    return *file != NULL;
}

void qn_error_span(const char *text_name, qn_str text, size_t begin, size_t end)
{
    record *r = touch();
    quern_error *e = &r->public_error;
    e->text = own_copy(r, TEXT, text);
    e->text_name = own_copy(r, TEXT_NAME, qn_str_of(text_name));
    size_t length = QN_MIN(strlen(e->text), (size_t)UINT32_MAX);
    e->end = (uint32_t)QN_MIN(end, length);
    e->begin = (uint32_t)QN_MIN(begin, (size_t)e->end);
}

/* Make this text the recorded message, if there was memory for it. */
static void own_message(qn_text *message)
{
    char *text = qn_text_take(message);
    if (text) {
        record *r = touch();
        r->public_error.message = own(r, MESSAGE, text);
    }
}

void qn_error_set_subject(const qn_error_subject *subject)
{
    touch()->subject = *subject;
}

void qn_error_get_subject(qn_error_subject *out)
{
    *out = last.subject;
}

void qn_error_reword(size_t begin, size_t end, const char *words)
{
    const char *said = last.public_error.message;
    const size_t length = strlen(said);
    qn_text message = {0};
    end = QN_MIN(end, length);
    qn_text_add(&message, said, QN_MIN(begin, end));
    qn_text_puts(&message, words);
    qn_text_puts(&message, said + end);
    own_message(&message);
}

void qn_error_prefix(const char *format, ...)
{
    qn_text message = {0};
    va_list arguments;
    va_start(arguments, format);
    qn_text_vprintf(&message, format, arguments);
    va_end(arguments);
    qn_text_puts(&message, last.public_error.message);
    own_message(&message);
}

void qn_error_suffix(const char *format, ...)
{
    qn_text message = {0};
    va_list arguments;
    qn_text_puts(&message, last.public_error.message);
    va_start(arguments, format);
    qn_text_vprintf(&message, format, arguments);
    va_end(arguments);
    own_message(&message);
}

/* ---- what programs see ---------------------------------------------------------------------- */

const quern_error *quern_last_error(void)
{
    return &last.public_error;
}

const char *quern_last_error_text(void)
{
    if (last.public_error.status == QUERN_OK) {
        return "";
    }
    qn_text text = {0};
    const char *rest = last.owned[REST] ? last.owned[REST] : "";
    qn_error_print(&text, &last.public_error, last.has_rest ? rest : last.public_error.log);
    char *rendered = qn_text_take(&text);
    return rendered ? own(touch(), RENDERED, rendered) : "error: out of host memory\n";
}

const char *quern_status_text(quern_status status)
{
    switch (status) {
#define STATUS_CASE(name, code, text)                                                              \
    case name:                                                                                     \
        return text;
        QUERN_STATUS_MAP(STATUS_CASE)
#undef STATUS_CASE
    }
    return "unknown status";
}

int quern_version(void)
{
    return QUERN_VERSION_NUMBER;
}
