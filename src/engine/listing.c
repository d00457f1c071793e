/* SPDX-License-Identifier: MIT
 *
 * listing: what a program asks for, as a list of kernels that `quern build` compiles. In: a call
 * that was specialized, or a module that was made. Out: lines in the file that QUERN_RECORD names,
 * unless it has them already. The thing to know: what is noted is the definition and the layout of
 * the arguments, not the source, so that the list serves for other devices and other versions.
 */
#include "engine/engine_internal.h"
#include "engine/source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <unistd.h>

#define ALIGNED 256 /* how addresses are told apart: as the device allocates */

const char *qn_listing_path(void)
{
    const char *path = getauxval(AT_SECURE) ? NULL : getenv("QUERN_RECORD");
    return path && *path ? path : NULL;
}

/* ---- TOML ----------------------------------------------------------------------------------- */

static void add_quoted(qn_text *out, const char *text)
{
    qn_text_puts(out, "\"");
    for (const char *c = text; *c; c++) {
        const unsigned char byte = (unsigned char)*c;
        if (byte == '"' || byte == '\\') {
            qn_text_printf(out, "\\%c", byte);
        } else if (byte == '\n' || byte == '\t') {
            qn_text_puts(out, byte == '\n' ? "\\n" : "\\t");
        } else if (byte < 32 || byte == 127) {
            qn_text_printf(out, "\\u%04X", byte);
        } else {
            qn_text_add(out, c, 1);
        }
    }
    qn_text_puts(out, "\"");
}

/* Lines as they are, where no character of theirs needs another form. */
static void add_string(qn_text *out, const char *text)
{
    bool plain = strchr(text, '\n') && !strstr(text, "'''");
    for (const char *c = text; plain && *c; c++) {
        plain = ((unsigned char)*c >= 32 && *c != 127) || *c == '\n' || *c == '\t';
    }
    const size_t length = strlen(text);
    if (plain && text[length - 1] != '\'') {
        qn_text_printf(out, "'''\n%s'''", text);
    } else {
        add_quoted(out, text);
    }
}

static void add_key(qn_text *out, const char *key, const char *text)
{
    if (text && *text) {
        qn_text_printf(out, "%s = ", key);
        add_string(out, text);
        qn_text_puts(out, "\n");
    }
}

static void add_flag(qn_text *out, const char *key, bool is)
{
    if (is) {
        qn_text_printf(out, "%s = true\n", key);
    }
}

static void add_list(qn_text *out, const char *key, const char *const *texts, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        qn_text_puts(out, k == 0 ? key : ", ");
        qn_text_puts(out, k == 0 ? " = [" : "");
        add_quoted(out, texts[k]);
    }
    qn_text_puts(out, count > 0 ? "]\n" : "");
}

/* ---- the file ------------------------------------------------------------------------------- */

/* Several processes may write to one list: each looks and adds under a lock. */
static bool add_to_file(const char *path, const qn_text *item)
{
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0) {
        return false;
    }
    char *data;
    size_t size;
    bool done = flock(file, LOCK_EX) == 0 && qn_file_read(path, &data, &size) == QUERN_OK;
    if (done) {
        done = strstr(data, item->data) || qn_write_all(file, (qn_str){item->data, item->length});
        qn_free(data);
    }
    close(file);
    return done;
}

/* Frees the item. */
static void keep(quern_engine *engine, qn_text *item)
{
    errno = 0;
    if (item->failed || !add_to_file(engine->listing, item)) {
        qn_log(&engine->home.logger, QN_WARN,
               "%s cannot be written, and kernels are missing in it: %s", engine->listing,
               item->failed || !errno ? "out of memory" : strerror(errno));
        qn_error_reset();
    }
    qn_text_free(item);
}

/* ---- kernels -------------------------------------------------------------------------------- */

static void add_definition(qn_text *out, const quern_kernel *k)
{
    static const char *const kinds[] = {[QUERN_KERNEL_ELEMENTWISE] = "elementwise",
                                        [QUERN_KERNEL_REDUCTION] = "reduction",
                                        [QUERN_KERNEL_SCAN] = "scan"};
    static const char *const keys[QN_TEXTS] = {
        [QN_OPERATION] = "operation",
        [QN_PREAMBLE] = "preamble",
        [QN_LOOP_PREP] = "loop_prep",
        [QN_AFTER_LOOP] = "after_loop",
        [QN_MAP] = "map",
        [QN_REDUCE] = "reduce",
        [QN_POST] = "post",
        [QN_IDENTITY] = "identity",
        [QN_REDUCE_TYPE] = "reduce_type",
    };
    const bool scans = k->kind->number == QUERN_KERNEL_SCAN;
    qn_text_puts(out, "[[kernel]]\n");
    add_key(out, "kind", kinds[k->kind->number]);
    add_key(out, "name", k->name);
    add_key(out, "in", k->signature.in_text);
    add_key(out, "out", k->signature.out_text);
    for (int t = 0; t < QN_TEXTS; t++) {
        const char *key = scans && t == QN_REDUCE        ? "scan"
                          : scans && t == QN_REDUCE_TYPE ? "scan_type"
                                                         : keys[t];
        add_key(out, key, k->texts[t].text);
    }
    add_list(out, "options", k->options, k->option_count);
    add_flag(out, "separate_axes", k->separate_axes);
    add_flag(out, "ordered", k->ordered && !scans);
    add_flag(out, "exclusive", k->exclusive);
}

static void add_numbers(qn_text *out, const char *begin, const int64_t *numbers, int count,
                        const char *end)
{
    qn_text_puts(out, begin);
    for (int k = 0; k < count; k++) {
        qn_text_printf(out, "%s%" PRId64, k == 0 ? "" : ",", numbers[k]);
    }
    qn_text_puts(out, end);
}

/* The argument before `p` that lies in the same place; -1: none. */
static int same_place(const qn_call *call, uint32_t p)
{
    const quern_array *a = qn_call_array(call, p);
    for (uint32_t q = 0; q < p && a->data && a->count > 0; q++) {
        if (qn_call_array(call, q) && qn_call_array(call, q)->data == a->data) {
            return (int)q;
        }
    }
    return -1;
}

static void add_array(qn_text *out, const qn_call *call, uint32_t p)
{
    const quern_array *a = qn_call_array(call, p);
    const uint64_t at = (uintptr_t)a->data % ALIGNED;
    const int same = same_place(call, p);
    add_numbers(out, "[", a->shape, a->ndim, "]");
    if (!a->contiguous) {
        add_numbers(out, " strides=", a->strides, a->ndim, "");
    }
    if (same >= 0) {
        qn_text_printf(out, " same=%d", same);
    } else if (at != 0) {
        qn_text_printf(out, " at=%" PRIu64, at);
    }
}

static void add_call(qn_text *out, const qn_call *call)
{
    qn_text_puts(out, "[[kernel.call]]\narguments = [");
    for (uint32_t p = 0; p < call->kernel->signature.count; p++) {
        const quern_array *a = qn_call_array(call, p);
        qn_text_printf(out, "%s\"%s", p == 0 ? "" : ", ",
                       quern_dtype_name(a ? a->dtype : call->types.parameters[p]));
        if (a) {
            add_array(out, call, p);
        }
        qn_text_puts(out, "\"");
    }
    qn_text_puts(out, "]\n");
    if (call->kernel->kind->has_axes) {
        int64_t axes[QUERN_MAX_NDIM];
        int count = 0;
        for (int k = 0; k < call->ndim; k++) {
            axes[count] = k;
            count += call->axes >> k & 1;
        }
        add_numbers(out, "axes = [", axes, count, "]\n");
    }
    add_flag(out, "keepdims", call->keepdims);
    if (call->operand_count == 0) {
        qn_text_printf(out, "loop_size = %" PRId64 "\n", call->count);
    }
    if (call->block_size != 0) {
        qn_text_printf(out, "block_size = %u\n", call->block_size);
    }
}

void qn_listing_call(const qn_call *call)
{
    if (call->structures || qn_source_has_records(call)) {
        qn_log(&call->kernel->engine->home.logger, QN_WARN,
               "%s is not recorded: its arguments are records, which lists of kernels do not have",
               call->kernel->name);
        return;
    }
    qn_text item = {0};
    add_definition(&item, call->kernel);
    add_call(&item, call);
    qn_text_puts(&item, "\n");
    keep(call->kernel->engine, &item);
}

/* ---- modules -------------------------------------------------------------------------------- */

/* A path as the list has it: from its own folder on where it lies below that, so that both may move
 * together. */
static const char *seen_from(const char *list, const char *whole)
{
    char folder[PATH_MAX], place[PATH_MAX];
    const char *slash = strrchr(list, '/');
    const size_t length = slash ? (size_t)(slash - list) : 0;
    if (length + 2 > sizeof folder) {
        return whole;
    }
    memcpy(folder, list, length);
    memcpy(folder + length, slash ? "/" : ".", 2);
    if (!realpath(folder, place)) {
        return whole;
    }
    const size_t lead = strlen(place);
    return qn_begins(whole, place) && whole[lead] == '/' ? whole + lead + 1 : whole;
}

void qn_listing_module(quern_engine *engine, const char *source, const char *file_name,
                       const quern_module_options *o)
{
    qn_text item = {0};
    char whole[PATH_MAX];
    qn_text_puts(&item, "[[module]]\n");
    if (strchr(file_name, '/') && realpath(file_name, whole)) { /* headers lie beside it */
        add_key(&item, "file", seen_from(engine->listing, whole));
    } else {
        add_key(&item, "name", qn_base_name(file_name));
        add_key(&item, "source", source);
    }
    add_list(&item, "options", o->options, o->option_count);
    add_list(&item, "expressions", o->expressions, o->expression_count);
    add_flag(&item, "translate_cucomplex", o->translate_cucomplex != 0);
    for (size_t k = 0; k < o->header_count; k++) {
        qn_text_puts(&item, "[[module.header]]\n");
        add_key(&item, "name", o->headers[k].name);
        add_key(&item, "text", o->headers[k].text);
    }
    qn_text_puts(&item, "\n");
    keep(engine, &item);
}
