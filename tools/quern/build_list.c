/* SPDX-License-Identifier: MIT
 *
 * A list of kernels: KERNELS.toml. In: its text. Out: kernels with their calls, and modules, of
 * which all keys are known and have values of the right kind; or what is wrong, with line and
 * column. docs/packs.md has the keys.
 */
#include "build.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Which keys a table may have, and of what kind their values are. */
typedef struct key_rule {
    const char *key;
    toml_kind kind;
    toml_kind items;     /* of a list */
    int64_t least, most; /* of a number, or of each in a list */
} key_rule;

static const key_rule kernel_keys[] = {
    {"kind", TOML_TEXT, 0},
    {"name", TOML_TEXT, 0},
    {"in", TOML_TEXT, 0},
    {"out", TOML_TEXT, 0},
    {"operation", TOML_TEXT, 0},
    {"preamble", TOML_TEXT, 0},
    {"loop_prep", TOML_TEXT, 0},
    {"after_loop", TOML_TEXT, 0},
    {"map", TOML_TEXT, 0},
    {"reduce", TOML_TEXT, 0},
    {"scan", TOML_TEXT, 0},
    {"post", TOML_TEXT, 0},
    {"identity", TOML_TEXT, 0},
    {"reduce_type", TOML_TEXT, 0},
    {"scan_type", TOML_TEXT, 0},
    {"options", TOML_LIST, TOML_TEXT},
    {"separate_axes", TOML_TRUTH, 0},
    {"ordered", TOML_TRUTH, 0},
    {"exclusive", TOML_TRUTH, 0},
};
static const key_rule call_keys[] = {
    {"arguments", TOML_LIST, TOML_TEXT},
    {"axes", TOML_LIST, TOML_NUMBER, -QUERN_MAX_NDIM, QUERN_MAX_NDIM - 1},
    {"keepdims", TOML_TRUTH, 0},
    {"loop_size", TOML_NUMBER, 0, 0, INT64_MAX},
    {"block_size", TOML_NUMBER, 0, 0, UINT32_MAX},
};
static const key_rule module_keys[] = {
    {"file", TOML_TEXT, 0},
    {"source", TOML_TEXT, 0},
    {"name", TOML_TEXT, 0},
    {"options", TOML_LIST, TOML_TEXT},
    {"expressions", TOML_LIST, TOML_TEXT},
    {"translate_cucomplex", TOML_TRUTH, 0},
};
static const key_rule header_keys[] = {{"name", TOML_TEXT, 0}, {"text", TOML_TEXT, 0}};

static const struct {
    const char *name;
    const key_rule *keys;
    size_t count;
    const char *needs; /* a key that it must have */
} tables[] = {
    {"kernel", kernel_keys, CLI_COUNT(kernel_keys), NULL},
    {"kernel.call", call_keys, CLI_COUNT(call_keys), "arguments"},
    {"module", module_keys, CLI_COUNT(module_keys), NULL},
    {"module.header", header_keys, CLI_COUNT(header_keys), "name"},
};
enum { KERNEL, CALL, MODULE, HEADER, TABLES };

static bool wrong(cli_problem *problem, size_t place, const char *format, ...) CLI_PRINTF(3, 4);
static bool wrong(cli_problem *problem, size_t place, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return cli_problem_set(problem, place, place + 1, "%s", text);
}

static const char *kind_name(toml_kind kind)
{
    static const char *const names[] = {[TOML_TEXT] = "a string in quotes",
                                        [TOML_NUMBER] = "a whole number",
                                        [TOML_TRUTH] = "true or false",
                                        [TOML_LIST] = "a list in [ ]"};
    return names[kind];
}

static bool check_number(const toml_entry *entry, const toml_value *value, const key_rule *rule,
                         cli_problem *problem)
{
    if (value->kind == TOML_NUMBER && (value->number < rule->least || value->number > rule->most)) {
        return wrong(problem, value->place, "\"%s\" is from %" PRId64 " to %" PRId64, entry->key,
                     rule->least, rule->most);
    }
    return true;
}

static bool check_value(const toml_entry *entry, const key_rule *rule, cli_problem *problem)
{
    const toml_value *value = &entry->value;
    if (value->kind != rule->kind) {
        return wrong(problem, value->place, "\"%s\" is %s", entry->key, kind_name(rule->kind));
    }
    for (size_t k = 0; k < value->count; k++) {
        if (value->items[k].kind != rule->items) {
            return wrong(problem, value->items[k].place, "each of \"%s\" is %s", entry->key,
                         kind_name(rule->items));
        }
        if (!check_number(entry, &value->items[k], rule, problem)) {
            return false;
        }
    }
    return check_number(entry, value, rule, problem);
}

static bool check_keys(const toml_table *table, int which, cli_problem *problem)
{
    const key_rule *rules = tables[which].keys;
    const char *names[CLI_COUNT(kernel_keys)];
    for (size_t k = 0; k < tables[which].count; k++) {
        names[k] = rules[k].key;
    }
    for (size_t e = 0; e < table->count; e++) {
        const toml_entry *entry = &table->entries[e];
        size_t k = 0;
        while (k < tables[which].count && strcmp(names[k], entry->key) != 0) {
            k++;
        }
        if (k == tables[which].count) {
            return wrong(problem, entry->place, "[[%s]] has no \"%s\"%s", table->name, entry->key,
                         cli_did_you_mean(entry->key, names, tables[which].count));
        }
        if (!check_value(entry, &rules[k], problem)) {
            return false;
        }
    }
    if (tables[which].needs && !toml_find(table, tables[which].needs)) {
        return wrong(problem, table->place, "this [[%s]] needs \"%s\"", table->name,
                     tables[which].needs);
    }
    return true;
}

/* What a call says of its arguments. */
static bool check_arguments(const toml_table *call, cli_problem *problem)
{
    const toml_value *list = toml_find(call, "arguments");
    for (size_t k = 0; k < list->count; k++) {
        build_argument argument;
        cli_problem inside;
        if (!build_argument_parse(&argument, list->items[k].text, &inside)) {
            return wrong(problem, list->items[k].place, "argument \"%s\": %s", list->items[k].text,
                         inside.text);
        }
        if (argument.same >= (int64_t)k) {
            return wrong(problem, list->items[k].place,
                         "argument \"%s\": only one before it can have the same memory",
                         list->items[k].text);
        }
    }
    if (list->count > QUERN_MAX_PARAMETERS) {
        return wrong(problem, list->place, "no kernel has more than %d arguments",
                     QUERN_MAX_PARAMETERS);
    }
    const toml_value *axes = toml_find(call, "axes");
    if (axes && axes->count > QUERN_MAX_NDIM) {
        return wrong(problem, axes->place, "no array has more than %d axes", QUERN_MAX_NDIM);
    }
    return true;
}

static bool check_item(const toml_table *table, int which, cli_problem *problem)
{
    if (which == MODULE && !toml_find(table, "file") == !toml_find(table, "source")) {
        return wrong(problem, table->place,
                     "a [[module]] needs \"file\" or \"source\", and not "
                     "both");
    }
    const toml_value *kind = toml_find(table, "kind");
    if (kind && strcmp(kind->text, "elementwise") != 0 && strcmp(kind->text, "reduction") != 0 &&
        strcmp(kind->text, "scan") != 0) {
        return wrong(problem, kind->place,
                     "\"kind\" is \"elementwise\", \"reduction\" or \"scan\"");
    }
    return true;
}

static int table_of(const char *name)
{
    int which = 0;
    while (which < TABLES && strcmp(tables[which].name, name) != 0) {
        which++;
    }
    return which;
}

/* Add table `t` to the item that it belongs to. */
static bool add(build_list *out, size_t t, cli_problem *problem)
{
    const toml_table *table = &out->toml.tables[t];
    const int which = table_of(table->name);
    build_item *last = out->count > 0 ? &out->items[out->count - 1] : NULL;
    if (which == TABLES) {
        return wrong(problem, table->place,
                     "[[%s]] is not known here: a list has [[kernel]] with [[kernel.call]], and "
                     "[[module]] with [[module.header]]",
                     table->name);
    }
    if (!check_keys(table, which, problem) || (which == CALL && !check_arguments(table, problem)) ||
        !check_item(table, which, problem)) {
        return false;
    }
    if (which == KERNEL || which == MODULE) {
        out->items = toml_room(out->items, out->count, sizeof *out->items);
        out->items[out->count++] =
            (build_item){.table = table, .parts = table + 1, .module = which == MODULE};
        out->calls += which == MODULE;
        return true;
    }
    if (!last || last->module != (which == HEADER)) {
        return wrong(problem, table->place, "a [[%s]] belongs behind its [[%s]]", table->name,
                     which == CALL ? "kernel" : "module");
    }
    last->part_count++;
    out->calls += which == CALL;
    return true;
}

bool build_list_parse(build_list *out, const char *text, size_t length, cli_problem *problem)
{
    *out = (build_list){0};
    if (!toml_parse(&out->toml, text, length, problem)) {
        return false;
    }
    const toml_table *head = &out->toml.tables[0];
    if (head->count > 0) {
        return wrong(problem, head->entries[0].place,
                     "\"%s\" belongs into a [[kernel]] or a [[module]]", head->entries[0].key);
    }
    for (size_t t = 1; t < out->toml.count; t++) {
        if (!add(out, t, problem)) {
            return false;
        }
    }
    return true;
}

int build_list_fail(const build_list *list, size_t place, const char *format, ...)
{
    char text[600];
    size_t line, column;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    toml_place(&line, &column, list->toml.text, place);
    return cli_fail("%s:%zu:%zu: %s", list->path, line, column, text);
}

int build_list_read(build_list *out, const char *path)
{
    const char *text = cli_sprintf("@%s", path);
    cli_problem problem;
    CLI_TRY(cli_text_read(&text, "build", "KERNELS"));
    if (!build_list_parse(out, text, strlen(text), &problem)) {
        out->path = path;
        return build_list_fail(out, problem.begin, "%s", problem.text);
    }
    out->path = path;
    if (out->calls == 0) {
        return cli_fail("%s: nothing is to be compiled: there is neither a [[kernel.call]] nor a "
                        "[[module]]",
                        path);
    }
    return CLI_OK;
}

const build_item *build_list_find(const build_list *list, size_t n, size_t *part)
{
    const build_item *item = list->items;
    for (;; item++) {
        const size_t own = item->module ? 1 : item->part_count;
        if (n < own) {
            *part = n;
            return item;
        }
        n -= own;
    }
}
