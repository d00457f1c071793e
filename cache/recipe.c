/* SPDX-License-Identifier: MIT
 *
 * What a kernel is made of, read back from the material of its key (key.c). In: a material. Out:
 * source, options and headers, as they were given to the compiler.
 *
 * It may come from another machine: nothing is read beyond its end, and what was made with folders
 * or files of that machine is no recipe for this one.
 */
#include "cache/fleet.h"
#include "cache/key_tags.h"
#include "cache/little.h"

#include <string.h>

static bool add_text(qn_recipe *out, qn_texts *list, qn_str value)
{
    const char *copy = qn_arena_strndup(&out->arena, value.data, value.length);
    if (!copy || !QN_ROOM(*list)) {
        return false;
    }
    list->items[list->count++] = copy;
    return true;
}

/* A header is two fields: its name, and then its text. */
static bool add_header(qn_recipe *out, uint64_t tag, qn_str value)
{
    const char *copy = qn_arena_strndup(&out->arena, value.data, value.length);
    if (!copy) {
        return false;
    }
    if (tag == HEADER_NAME) {
        if (!QN_ROOM(out->headers)) {
            return false;
        }
        out->headers.items[out->headers.count++] = (qn_header){copy, ""};
    } else if (out->headers.count > 0) {
        out->headers.items[out->headers.count - 1].text = copy;
    }
    return true;
}

static bool take(qn_recipe *out, uint64_t tag, qn_str value)
{
    uint64_t number = qn_little_get(value.data, QN_MIN(value.length, (size_t)8));
    switch (tag) {
    case SOURCE:
        out->source = qn_arena_strndup(&out->arena, value.data, value.length);
        return out->source != NULL;
    case FILE_NAME:
        out->file_name = qn_arena_strndup(&out->arena, value.data, value.length);
        out->elsewhere |= memchr(value.data, '/', value.length) != NULL;
        return out->file_name != NULL;
    case OPTION:
        return add_text(out, &out->options, value);
    case EXPRESSION:
        return add_text(out, &out->expressions, value);
    case HEADER_NAME:
    case HEADER_TEXT:
        return add_header(out, tag, value);
    case ARCH:
        out->arch = (int)QN_MIN(number, (uint64_t)1000000);
        return true;
    case KIND:
        out->kind = number <= QN_IMAGE_LTO_IR ? (qn_image_kind)number : 0;
        return true;
    case LINE_INFO:
        out->line_info = number != 0;
        return true;
    case MINIMAL:
        out->minimal = number != 0;
        return true;
    case RELOCATABLE:
        out->relocatable = number != 0;
        return true;
    case INCLUDE_NAME:
    case INCLUDE_HASH:
    case CUDA_HEADERS:
        return true; /* found again, and compared by the key */
    default:
        out->elsewhere = true; /* linked, or of a newer Quern */
        return true;
    }
}

/* Keys leave out the paths of folders and files, and where those are on this machine is not known.
 * One that has them all the same is not of Quern's making. */
static bool has_paths(const qn_texts *options)
{
    for (size_t k = 0; k < options->count; k++) {
        const char *path;
        if (qn_option_path(options->items, options->count, &k, &path) != QN_NO_PATH) {
            return true;
        }
    }
    return false;
}

quern_status qn_recipe_open(qn_recipe *out, qn_str material)
{
    *out = (qn_recipe){0};
    qn_str rest = qn_key_fields_of(material);
    for (qn_key_field f; qn_key_next(&f, &rest);) {
        if (!take(out, f.tag, f.value)) {
            qn_recipe_free(out);
            return qn_fail_memory("reading a recipe");
        }
    }
    const bool whole = rest.length == 0 && out->source && out->source[0] && out->arch && out->kind;
    if (!whole || out->elsewhere || has_paths(&out->options)) {
        qn_recipe_free(out);
        return QUERN_ERROR_CACHE;
    }
    return QUERN_OK;
}

void qn_recipe_free(qn_recipe *recipe)
{
    qn_free(recipe->options.items);
    qn_free(recipe->expressions.items);
    qn_free(recipe->headers.items);
    qn_arena_free(&recipe->arena);
    *recipe = (qn_recipe){0};
}
