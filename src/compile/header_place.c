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

static bool is_file(const char *path, struct stat *facts)
{
    return stat(path, facts) == 0 && S_ISREG(facts->st_mode);
}

/* The path of a header in a folder, to be freed; NULL when it is not there. */
static char *header_in(qn_str folder, qn_str name)
{
    qn_text path = {0};
    if (folder.length > 0 && name.data[0] != '/') {
        qn_text_printf(&path, "%.*s/", (int)folder.length, folder.data);
    }
    qn_text_add(&path, name.data, name.length);
    struct stat facts;
    if (path.data && is_file(path.data, &facts)) {
        return qn_text_take(&path);
    }
    qn_text_free(&path);
    return NULL;
}

/* The header that an #include in the file `includer` means, among the user's: in the folders where
 * the compiler looks, in its order. To be freed; NULL when it is in none. */
static char *find_header(const char *includer, const qn_directive *d, const qn_compile_request *r)
{
    const char *slash = strrchr(includer, '/'), *path;
    char *found = NULL;
    if (d->quoted) {
        found = header_in((qn_str){includer, slash ? (size_t)(slash - includer) : 0}, d->name);
    }
    for (size_t k = 0; k < r->option_count && !found; k++) {
        if (qn_option_path(r->options, r->option_count, &k, &path) == QN_INCLUDE_FOLDER) {
            found = header_in(qn_str_of(path), d->name);
        }
    }
    return found;
}

/* ---- who includes the header ---------------------------------------------------------------- */

static bool includes_target(search *s, const char *name, qn_str text, int depth);

/* Is this header the target, or does it lead there? */
static bool leads_there(search *s, const char *path, int depth)
{
    struct stat facts;
    if (!is_file(path, &facts)) {
        return false;
    }
    if (facts.st_dev == s->target.st_dev && facts.st_ino == s->target.st_ino) {
        return true;
    }
    char *data;
    size_t size;
    if (depth == DEEPEST || s->left == 0 || qn_file_read(path, &data, &size) != QUERN_OK) {
        return false;
    }
    s->left--;
    bool found = includes_target(s, path, (qn_str){data, size}, depth + 1);
    qn_free(data);
    return found;
}

static bool includes_target(search *s, const char *name, qn_str text, int depth)
{
    const char *at = text.data;
    qn_directive d;
    bool found = false;
    while (!found && qn_next_include(text, &at, &d)) {
        char *path = d.name.length > 0 ? find_header(name, &d, s->request) : NULL;
        found = path && leads_there(s, path, depth);
        qn_free(path);
    }
    if (found) {
        uint32_t line, column;
        qn_place_of(text.data, d.name.data, &line, &column);
        qn_text_printf(&s->chain, "%s%s:%u", s->chain.data ? ", from " : "", name, line);
    }
    return found;
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

/* ---- whose header it is --------------------------------------------------------------------- */

bool qn_is_ours(qn_str file, const qn_compile_request *r)
{
    bool ours =
        file.length == 0 || file.data[0] == '<' || (r->file_name && qn_str_is(file, r->file_name));
    for (size_t k = 0; k < r->header_count && !ours; k++) {
        ours = qn_str_is(file, r->headers[k].name);
    }
    return ours;
}

static bool is_cudas(qn_str file)
{
    const qn_cuda_folder *all;
    size_t count = qn_cuda_folders(&all);
    bool is = false;
    for (size_t k = 0; k < count; k++) {
        is |= qn_str_begins(file, all[k].path);
    }
    return is;
}

static void fail_with_chain(const qn_log_entry *found, qn_str message, const qn_user_text *header,
                            const search *s)
{
    const char *chain = s->chain.data ? s->chain.data : "";
    const char *before = *chain ? " (included from " : "", *behind = *chain ? ")" : "";
    qn_text said = {0};
    qn_text_printf(&said, "%.*s%s%s%s", (int)message.length, message.data, before, chain, behind);
    qn_str line = qn_text_line(header->text, found->line);
    bool same = line.length > 0 && qn_str_same(qn_trim(found->printed), qn_trim(line)) &&
                found->caret <= line.length;
    qn_str missing = qn_missing_header(found, line);
    size_t at;
    bool bracket =
        qn_str_begins(message, "expected a") || qn_str_begins(message, "closing brace of ");
    if (bracket && qn_bracket_unmatched(header->text, &at)) {
        qn_fail_past_end((qn_str){said.data, said.length}, header);
    } else if (missing.length > 0) {
        qn_fail_at_span(header, missing, "%s", said.data ? said.data : "");
    } else if (same) {
        qn_str token = qn_token_at(qn_from(line, line.data + found->caret));
        qn_fail_at_span(header, token, "%s", said.data ? said.data : "");
    } else {
        qn_fail_at_line(header, found->line, "%s", said.data ? said.data : "");
    }
    qn_text_free(&said);
}

bool qn_fail_in_header(const qn_log_entry *found, qn_str message, qn_user_texts texts,
                       const qn_compile_request *request, bool any)
{
    bool theirs = !qn_is_ours(found->file, request) && (any || !is_cudas(found->file));
    char *path = theirs ? qn_strndup(found->file.data, found->file.length) : NULL;
    search s = {.request = request, .left = MOST};
    char *data = NULL;
    size_t size;
    bool read = path && is_file(path, &s.target) && qn_file_read(path, &data, &size) == QUERN_OK;
    if (read) {
        find_chain(&s, texts);
        fail_with_chain(found, message, &(qn_user_text){path, data}, &s);
    }
    qn_text_free(&s.chain);
    qn_free(data);
    qn_free(path);
    return read;
}

/* ---- a header that ends too early ----------------------------------------------------------- */

/* The #include in the last line before `place`, if there are only blanks between. */
static bool include_before(const char *text, const char *place, qn_directive *d)
{
    qn_str before = qn_trim((qn_str){text, (size_t)(place - text)});
    const char *newline = before.length > 0 ? memrchr(before.data, '\n', before.length) : NULL;
    qn_str line = qn_trim(newline ? qn_from(before, newline) : before);
    const char *at = line.data;
    return qn_str_begins(line, "#") && qn_next_include(line, &at, d) && d->name.length > 0;
}

bool qn_fail_in_ended_header(const qn_log_entry *found, qn_str message, qn_user_texts texts,
                             const qn_compile_request *request)
{
    bool misses = qn_str_begins(message, "expected a \"") ||
                  qn_str_begins(message, "expected an expression") ||
                  qn_str_begins(message, "linkage spec");
    const qn_user_text *text = qn_text_named(texts, found->file);
    text = text ? text : qn_text_before(texts, found->file);
    if (!misses || !text) {
        return false;
    }
    qn_str line = qn_text_line(text->text, found->line);
    bool within = qn_text_named(texts, found->file) && found->caret <= line.length;
    qn_directive d;
    if (!include_before(text->text,
                        within ? line.data + found->caret : text->text + strlen(text->text), &d)) {
        return false;
    }
    char *path = find_header(text->file_name, &d, request), *data;
    size_t size;
    bool read = path && qn_file_read(path, &data, &size) == QUERN_OK;
    if (read) {
        qn_fail_past_end(message, &(qn_user_text){path, data});
        qn_free(data);
    }
    qn_free(path);
    return read;
}
