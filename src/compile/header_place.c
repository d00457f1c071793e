/* SPDX-License-Identifier: MIT
 *
 * An error in a header that a user's text includes. In: what the compiler found, and the request
 * that says where headers are looked for. Out: a failure with the header's own line, and the chain
 * of files that led to it.
 */
#include "compile/nvrtc.h"

#include <string.h>
#include <sys/stat.h>

#define DEEPEST 16  /* headers within headers */
#define MOST    200 /* headers that are read for a chain */

/* A search for who includes the file `target`. */
typedef struct search {
    const qn_compile_request *request;
    struct stat target;
    size_t left;   /* headers that may still be read */
    qn_text chain; /* "mid.h:3, from preamble:1", when it was found */
} search;

static bool includes_target(search *s, const char *name, qn_str text, int depth);

static bool is_target(const search *s, const struct stat *facts)
{
    return facts->st_dev == s->target.st_dev && facts->st_ino == s->target.st_ino;
}

/* Is the header in this folder, and is it the target or does it lead there? */
static bool leads_there(search *s, qn_str folder, qn_str name, int depth, bool *exists)
{
    qn_text path = {0};
    if (folder.length > 0 && name.data[0] != '/') {
        qn_text_printf(&path, "%.*s/", (int)folder.length, folder.data);
    }
    qn_text_add(&path, name.data, name.length);
    struct stat facts;
    *exists = path.data && stat(path.data, &facts) == 0 && S_ISREG(facts.st_mode);
    bool found = *exists && is_target(s, &facts);
    if (*exists && !found && depth < DEEPEST && s->left > 0) {
        char *data;
        size_t size;
        s->left--;
        if (qn_file_read(path.data, &data, &size) == QUERN_OK) {
            found = includes_target(s, path.data, (qn_str){data, size}, depth + 1);
            qn_free(data);
        }
    }
    qn_text_free(&path);
    return found;
}

/* The same in the folders where the compiler looks, in its order: the first that has it counts. */
static bool resolves_there(search *s, const char *includer, const qn_directive *d, int depth)
{
    const qn_compile_request *r = s->request;
    const char *slash = strrchr(includer, '/'), *path;
    bool exists = false;
    if (d->quoted) {
        qn_str folder = {includer, slash ? (size_t)(slash - includer) : 0};
        bool found = leads_there(s, folder, d->name, depth, &exists);
        if (exists) {
            return found;
        }
    }
    for (size_t k = 0; k < r->option_count; k++) {
        if (qn_option_path(r->options, r->option_count, &k, &path) == QN_INCLUDE_FOLDER) {
            bool found = leads_there(s, qn_str_of(path), d->name, depth, &exists);
            if (exists) {
                return found;
            }
        }
    }
    return false;
}

static bool includes_target(search *s, const char *name, qn_str text, int depth)
{
    const char *at = text.data;
    qn_directive d;
    while (qn_next_include(text, &at, &d)) {
        if (d.name.length > 0 && resolves_there(s, name, &d, depth)) {
            uint32_t line, column;
            qn_place_of(text.data, d.name.data, &line, &column);
            qn_text_printf(&s->chain, "%s%s:%u", s->chain.data ? ", from " : "", name, line);
            return true;
        }
    }
    return false;
}

static void find_chain(search *s, qn_user_texts texts)
{
    for (size_t k = 0; k < texts.count; k++) {
        const qn_user_text *text = &texts.list[k];
        if (text->file_name && includes_target(s, text->file_name, qn_str_of(text->text), 0)) {
            return;
        }
    }
}

/* Quern's own headers, and the source itself, are no headers of the user's. */
static bool is_ours(qn_str file, const qn_compile_request *r)
{
    bool ours =
        file.length == 0 || file.data[0] == '<' || (r->file_name && qn_str_is(file, r->file_name));
    for (size_t k = 0; k < r->header_count && !ours; k++) {
        ours = qn_str_is(file, r->headers[k].name);
    }
    return ours;
}

bool qn_fail_in_header(const qn_entry *found, qn_str message, qn_user_texts texts,
                       const qn_compile_request *request)
{
    char *path =
        is_ours(found->file, request) ? NULL : qn_strndup(found->file.data, found->file.length);
    search s = {.request = request, .left = MOST};
    char *data = NULL;
    size_t size;
    if (!path || stat(path, &s.target) != 0 || qn_file_read(path, &data, &size) != QUERN_OK) {
        qn_free(path);
        return false;
    }
    find_chain(&s, texts);
    const char *chain = s.chain.data ? s.chain.data : "";
    const char *before = *chain ? " (included from " : "", *behind = *chain ? ")" : "";
    const qn_user_text header = {path, data};
    qn_str line = qn_text_line(data, found->line);
    bool same = line.length > 0 && qn_str_same(qn_trim(found->printed), qn_trim(line)) &&
                found->caret <= line.length;
    if (same) {
        qn_str token = qn_token_at(qn_from(line, line.data + found->caret));
        qn_fail_at_span(&header, token, "%.*s%s%s%s", (int)message.length, message.data, before,
                        chain, behind);
    } else {
        qn_fail_at_line(&header, found->line, "%.*s%s%s%s", (int)message.length, message.data,
                        before, chain, behind);
    }
    qn_text_free(&s.chain);
    qn_free(data);
    qn_free(path);
    return true;
}
