/* SPDX-License-Identifier: MIT
 *
 * recipes: from what a key is made of back to a compilation. In: the material of a key, from this
 * machine's cache or another's. Out: a request that gives the same key here, if it can be made
 * here. The thing to know: the key is made again from what is found on this machine, so a recipe
 * whose headers differ here has another key, and is noticed.
 */
#include "cache/entry.h"
#include "cache/fleet.h"
#include "engine/modules/modules.h"

#include <ctype.h>
#include <stdio.h>

quern_status qn_check_key(const char *key)
{
    size_t digits = 0;
    while (isxdigit((unsigned char)key[digits]) && !isupper((unsigned char)key[digits])) {
        digits++;
    }
    return digits == 32 && !key[32]
               ? QUERN_OK
               : qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                         "\"%.40s\" is not a key, which has 32 hexadecimal digits", key);
}

void qn_cooking_end(qn_cooking *c)
{
    if (c->begun) {
        qn_making_end(&c->making);
    }
    qn_recipe_free(&c->recipe);
    *c = (qn_cooking){0};
}

/* The recipe as a request. */
static void ask(qn_cooking *c)
{
    const qn_recipe *r = &c->recipe;
    c->request = (qn_module_request){
        .compile = {.source = r->source,
                    .file_name = r->file_name ? r->file_name : "quern_kernel.cu",
                    .options = r->options.items,
                    .option_count = r->options.count,
                    .headers = r->headers.items,
                    .header_count = r->headers.count,
                    .expressions = r->expressions.items,
                    .expression_count = r->expressions.count,
                    .kind = r->kind,
                    .relocatable = r->relocatable},
        .name = c->name,
        .from_user = !r->minimal,
        .piece = r->relocatable || r->kind == QN_IMAGE_LTO_IR,
    };
}

quern_status qn_cooking_begin(qn_cooking *c, quern_engine *engine, const char *name,
                              qn_str material, bool as_it_was)
{
    *c = (qn_cooking){0};
    snprintf(c->name, sizeof c->name, "%s", name);
    QN_TRY(qn_recipe_open(&c->recipe, material));
    ask(c);
    c->begun = true;
    quern_status status = qn_making_begin(&c->making, engine, &c->request);
    if (status == QUERN_OK && as_it_was) {
        qn_compile_request *compile = &c->request.compile;
        c->making.wanted.arch = compile->arch = c->recipe.arch;
        compile->kind = c->recipe.kind;
        compile->line_info = c->recipe.line_info;
        status = qn_making_rekey(&c->making);
    }
    if (status != QUERN_OK) {
        qn_cooking_end(c);
    }
    return status;
}

/* ---- comparing ------------------------------------------------------------------------------ */

static qn_str take_line(qn_str *rest)
{
    const char *end = memchr(rest->data, '\n', rest->length);
    qn_str line = {rest->data, end ? (size_t)(end - rest->data) + 1 : rest->length};
    rest->data += line.length;
    rest->length -= line.length;
    return line;
}

/* What follows the folder in a line such as `.file 1 "/home/me/kernel.cu"`. */
static qn_str behind_folder(qn_str line)
{
    const char *slash = memrchr(line.data, '/', line.length);
    const size_t skipped = slash ? (size_t)(slash - line.data) + 1 : 0;
    return qn_str_begins(line, "\t.file\t") ? (qn_str){line.data + skipped, line.length - skipped}
                                            : line;
}

/* Line information has the folder in which the compiler ran. PTX names it in lines of its own. */
static bool is_same_ptx(qn_str a, qn_str b)
{
    while (a.length > 0 && b.length > 0) {
        if (!qn_str_same(behind_folder(take_line(&a)), behind_folder(take_line(&b)))) {
            return false;
        }
    }
    return a.length == 0 && b.length == 0;
}

static bool has_line_info(const qn_recipe *r)
{
    static const char *const names[] = {"-lineinfo", "--generate-line-info", "-G",
                                        "--device-debug"};
    bool has = r->line_info;
    for (uint32_t k = 0; k < r->options.count; k++) {
        for (size_t n = 0; n < QN_COUNT(names); n++) {
            has |= strcmp(r->options.items[k], names[n]) == 0;
        }
    }
    return has;
}

static quern_recompiled judge_image(const qn_recipe *recipe, const qn_image *made, qn_str kept)
{
    qn_str own = {made->data, made->size};
    if (qn_str_same(own, kept) || (made->kind == QN_IMAGE_PTX && is_same_ptx(own, kept))) {
        return QUERN_RECOMPILED_SAME;
    }
    return made->kind != QN_IMAGE_PTX && has_line_info(recipe) ? QUERN_RECOMPILED_NOT
                                                               : QUERN_RECOMPILED_DIFFERENT;
}

/* Compile what an entry was made from, and compare. */
static quern_status compare(quern_recompiled *out, quern_engine *engine, const char *key,
                            const qn_entry *entry, const qn_entry_body *body)
{
    qn_cooking c;
    qn_image image = {0};
    *out = QUERN_RECOMPILED_NOT;
    if (qn_cooking_begin(&c, engine, "entry", body->material, true) != QUERN_OK) {
        qn_error_reset();
        return QUERN_OK;
    }
    const bool same_input = strcmp(c.making.wanted.key.hex, key) == 0 && !c.making.wanted.opaque &&
                            qn_str_is(entry->compiler, c.making.wanted.compiler.build_id);
    if (same_input && qn_compile(&image, &c.request.compile, NULL, 0) == QUERN_OK) {
        *out = judge_image(&c.recipe, &image, body->image);
    }
    qn_error_reset();
    qn_image_free(&image);
    qn_cooking_end(&c);
    return QUERN_OK;
}

static quern_status judge(quern_recompiled *out, quern_engine *engine, const char *key,
                          qn_str bytes)
{
    qn_entry entry;
    qn_entry_body body;
    const char *why;
    if (!qn_entry_read(&entry, bytes, &why) || !qn_entry_open(&body, &entry, &why)) {
        return qn_fail(QUERN_ERROR_CACHE, "the entry %s cannot be compared: %s", key, why);
    }
    quern_status status = compare(out, engine, key, &entry, &body);
    qn_entry_body_free(&body);
    return status;
}

quern_status quern_cache_recompile(quern_recompiled *out, quern_engine *engine, const char *key)
{
    qn_error_reset();
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    QN_CHECK_NOT_NULL(out);
    QN_CHECK_NOT_NULL(key);
    *out = QUERN_RECOMPILED_NOT;
    QN_TRY(qn_check_key(key));
    qn_key_range range;
    qn_row_ids ids = {0};
    bool found = false;
    QN_TRY(qn_store_prefix(&range, key));
    quern_status status = qn_store_ids(engine->store, &range, &ids);
    for (size_t k = 0; k < ids.count && status == QUERN_OK && *out == QUERN_RECOMPILED_NOT; k++) {
        qn_text bytes = {0}; /* several compilers' */
        status = qn_store_entry(&bytes, engine->store, ids.items[k], 0, true);
        if (status == QUERN_OK && bytes.length > 0) {
            found = true;
            status = judge(out, engine, key, (qn_str){bytes.data, bytes.length});
        }
        qn_text_free(&bytes);
    }
    qn_free(ids.items);
    QN_TRY(status);
    return found ? QUERN_OK : qn_fail(QUERN_ERROR_CACHE, "there is no entry %s in the cache", key);
}
