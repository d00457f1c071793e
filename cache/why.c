/* SPDX-License-Identifier: MIT
 *
 * What differs between two keys. In: the materials of two (key.c). Out: a phrase such as "the
 * source (line 3), the options (-DN=4)".
 *
 * Materials are sequences of tagged fields. Those of one tag are compared in order, and the first
 * that differs is named. A damaged material ends early; nothing is read beyond it.
 */
#include "cache/store.h"

#include "cache/key_tags.h"
#include "cache/little.h"

#include <stdio.h>
#include <string.h>

static bool next_of(qn_str *rest, uint64_t tag, qn_str *out)
{
    qn_key_field f;
    while (qn_key_next(&f, rest)) {
        if (f.tag == tag) {
            *out = f.value;
            return true;
        }
    }
    *out = (qn_str){"", 0};
    return false;
}

/* The first field of that tag that differs, and its number among them; false: none. */
static bool first_difference(qn_str mine, qn_str other, uint64_t tag, qn_str *a, qn_str *b,
                             size_t *number)
{
    for (*number = 0;; ++*number) {
        bool more = next_of(&mine, tag, a), others = next_of(&other, tag, b);
        if (!more && !others) {
            return false;
        }
        if (more != others || !qn_str_same(*a, *b)) {
            return true;
        }
    }
}

/* The line, from 1, in which two texts begin to differ. */
static unsigned first_line(qn_str a, qn_str b)
{
    unsigned line = 1;
    for (size_t k = 0; k < a.length && k < b.length && a.data[k] == b.data[k]; k++) {
        line += a.data[k] == '\n';
    }
    return line;
}

static qn_str numbered(qn_str material, uint64_t tag, size_t number)
{
    qn_str rest = qn_key_fields_of(material), value = {"", 0};
    for (size_t k = 0; k <= number && next_of(&rest, tag, &value); k++) {
    }
    return value;
}

static const struct {
    uint64_t tag;
    const char *what;
    uint64_t named_by; /* 0, or the tag of the field that has its name */
} kinds[] = {
    {SOURCE, "the source", 0},
    {OPTION, "the options", 0},
    {HEADER_TEXT, "the header", HEADER_NAME},
    {HEADER_NAME, "the headers in memory", 0},
    {EXPRESSION, "the name expressions", 0},
    {ARCH, "the target", 0},
    {KIND, "the kind of code", 0},
    {LINE_INFO, "line information", 0},
    {MINIMAL, "--minimal", 0},
    {FILE_NAME, "the file's name", 0},
    {INCLUDE_HASH, "the header", INCLUDE_NAME},
    {INCLUDE_NAME, "the headers on disk", 0},
    {CUDA_HEADERS, "the version of CUDA's headers", 0},
    {RELOCATABLE, "relocatable code", 0},
    {PIECE_KIND, "the kind of a linked piece", 0},
    {PIECE_HASH, "a linked piece", 0},
    {LINKER, "the linker", 0},
};

static void describe(qn_text *out, size_t kind, qn_str mine, qn_str a, qn_str b, size_t number)
{
    const uint64_t tag = kinds[kind].tag;
    qn_text_puts(out, kinds[kind].what);
    if (tag == SOURCE) {
        qn_text_printf(out, " (line %u)", first_line(a, b));
    } else if (kinds[kind].named_by) {
        qn_str name = numbered(mine, kinds[kind].named_by, number);
        qn_text_printf(out, " %.*s", (int)QN_MIN(name.length, 200), name.data);
    } else if (tag == OPTION || tag == FILE_NAME || tag == EXPRESSION) {
        qn_str shown = a.length ? a : b;
        qn_text_printf(out, " (%s%.*s)", a.length ? "" : "without ", (int)QN_MIN(shown.length, 200),
                       shown.data);
    } else if (tag == ARCH) {
        qn_text_printf(out, " (%d, not %d)",
                       (int)qn_little_get(a.data, QN_MIN(a.length, (size_t)8)),
                       (int)qn_little_get(b.data, QN_MIN(b.length, (size_t)8)));
    }
}

size_t qn_key_difference(qn_text *out, qn_str mine, qn_str other)
{
    size_t count = 0;
    for (size_t k = 0; k < QN_COUNT(kinds); k++) {
        qn_str a, b;
        size_t number;
        if (first_difference(qn_key_fields_of(mine), qn_key_fields_of(other), kinds[k].tag, &a, &b,
                             &number)) {
            qn_text_puts(out, count++ == 0 ? "" : ", ");
            describe(out, k, mine, a, b, number);
        }
    }
    return count;
}

/* ---- the nearest entry ---------------------------------------------------------------------- */

#define SHOWN ((size_t)12) /* digits of a key: enough to tell it from others */

/* Columns of NAMED. */
enum { KEY, COMPILER, MATERIAL, INDEXED };

static qn_tally judge(sqlite3_stmt *found, const qn_key *key, const qn_store_row *row, qn_text *out)
{
    const qn_str whole = qn_row_bytes(found, KEY), hex = {whole.data, QN_MIN(whole.length, SHOWN)};
    qn_text differs = {0};
    qn_tally why = QN_TALLY_CHANGED;
    size_t count = qn_key_difference(&differs, (qn_str){key->material, key->material_size},
                                     qn_row_bytes(found, MATERIAL));
    if (count > 0) {
        qn_text_printf(out, "it differs from the '%s' in the cache (%.*s) in %s", row->name,
                       (int)hex.length, hex.data, differs.data ? differs.data : "");
    } else if (row->compiler && row->compiler[0] &&
               !qn_str_same(qn_row_bytes(found, COMPILER), qn_str_of(row->compiler))) {
        qn_text_printf(out, "another NVRTC made the one in the cache (%.*s)", (int)hex.length,
                       hex.data);
        why = QN_TALLY_COMPILER;
    } else if (sqlite3_column_int64(found, INDEXED)) {
        qn_text_puts(out, "another process has made it just now");
        why = QN_TALLY_NEW;
    } else {
        qn_text_puts(out, "it is in the cache, and the index does not lead to it");
        why = QN_TALLY_DAMAGED;
    }
    qn_text_free(&differs);
    return why;
}

static qn_tally compare_nearest(qn_store *store, const qn_key *key, const qn_store_row *row,
                                qn_text *out)
{
    sqlite3_stmt *found = qn_store_statement(store, QN_SQL_NAMED);
    if (!found) {
        return QN_TALLY_UNREAD;
    }
    sqlite3_bind_text(found, 1, row->name, -1, SQLITE_STATIC);
    bool any = sqlite3_step(found) == SQLITE_ROW;
    qn_tally why = any ? judge(found, key, row, out) : QN_TALLY_NEW;
    sqlite3_reset(found);
    sqlite3_clear_bindings(found);
    if (!any) {
        qn_text_printf(out, "nothing named '%s' is among what was kept last", row->name);
    } else if (why == QN_TALLY_DAMAGED) {
        qn_store_fault(store, SQLITE_CORRUPT, "looking up a kernel", false);
    }
    return why;
}

/* What was remembered of the look-up, which is forgotten; QN_TALLIES: nothing. */
static qn_tally take_unlucky(qn_store *store, const qn_key *key)
{
    for (size_t k = 0; k < QN_UNLUCKY; k++) {
        qn_unlucky *u = &store->unlucky[k];
        if (u->why && u->hash[0] == key->hash[0] && u->hash[1] == key->hash[1]) {
            qn_tally why = u->why;
            *u = (qn_unlucky){0};
            return why;
        }
    }
    return QN_TALLIES;
}

static qn_tally find_why(qn_store *store, const qn_key *key, const qn_store_row *row, qn_text *out)
{
    qn_tally why = take_unlucky(store, key);
    if (store->problem[0]) {
        qn_text_printf(out, "there is no cache: %s", store->problem);
        return QN_TALLY_UNREAD;
    }
    if (why == QN_TALLY_DAMAGED) {
        qn_text_puts(out, "what the cache had was damaged, or rejected by the device");
        return why;
    }
    if (why == QN_TALLY_UNREAD || !qn_store_connect(store)) {
        qn_text_puts(out, "the cache could not be read");
        return QN_TALLY_UNREAD;
    }
    return compare_nearest(store, key, row, out);
}

void qn_store_why(qn_store *store, const qn_key *key, const qn_store_row *row, bool opaque,
                  qn_text *out)
{
    pthread_mutex_lock(&store->lock);
    qn_tally why = QN_TALLY_OPAQUE;
    if (opaque) {
        qn_text_puts(out, "it is never kept: which files it reads only the compiler knows");
    } else {
        why = find_why(store, key, row, out);
    }
    store->tally[why]++;
    if (!out->failed) {
        snprintf(store->why, sizeof store->why, "%s: %s", row->name, out->data);
    }
    pthread_mutex_unlock(&store->lock);
}

void qn_store_last_why(qn_store *store, char *out, size_t size)
{
    pthread_mutex_lock(&store->lock);
    snprintf(out, size, "%s", store->why);
    pthread_mutex_unlock(&store->lock);
}
