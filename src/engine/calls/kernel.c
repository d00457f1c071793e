/* SPDX-License-Identifier: MIT
 *
 * kernel: definitions. In: a signature and texts. Out: a quern_kernel that knows everything about
 * its texts that does not depend on arguments. Nothing is compiled here.
 */
#include "engine/recall.h"
#include "engine/source/source.h"
#include <ctype.h>
#include <string.h>

#define MOST_LISTED 65536 /* options, headers, expressions, pieces */

/* ---- making --------------------------------------------------------------------------------- */

static quern_status check_name(const char *name)
{
    bool good = isalpha((unsigned char)name[0]) || name[0] == '_';
    for (const char *c = name; good && *c != '\0'; c++) {
        good = isalnum((unsigned char)*c) || *c == '_';
    }
    if (!good) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "'%s' cannot be the name of a kernel: use letters, digits and underscores, "
                       "and no digit first",
                       name);
    }
    return QUERN_OK;
}

static quern_status keep(const char **out, quern_kernel *kernel, qn_str text)
{
    *out = qn_arena_strndup(&kernel->arena, text.data, text.length);
    return *out ? QUERN_OK : qn_fail_memory("defining a kernel");
}

/* True when the kernel cannot have its name in its source: C++ or CUDA has given it to something
 * else, or the signature to a type. Of other such names the compiler tells: see specialize.c. */
static bool is_taken(const quern_kernel *kernel)
{
    const qn_str name = qn_str_of(kernel->name);
    bool taken = qn_word_refusal(name) || qn_is_math(kernel->name) || qn_str_is(name, "main");
    for (uint32_t p = 0; p < kernel->signature.count; p++) {
        taken |= qn_str_is(kernel->signature.parameters[p].type, kernel->name);
    }
    return taken;
}

/* The name, and the one that takes its place in the source where it is taken. */
static quern_status keep_name(quern_kernel *kernel, const char *name)
{
    static const char end[] = "_kernel";
    const size_t length = strlen(name);
    char *other = qn_arena_alloc(&kernel->arena, length + sizeof end);
    if (!other) {
        return qn_fail_memory("defining a kernel");
    }
    memcpy(other, name, length);
    memcpy(other + length, end, sizeof end);
    kernel->other_name = other;
    QN_TRY(keep(&kernel->name, kernel, qn_str_of(name)));
    atomic_init(&kernel->entry, is_taken(kernel) ? kernel->other_name : kernel->name);
    return QUERN_OK;
}

quern_status qn_check_list(const char *what, size_t count)
{
    if (count > MOST_LISTED) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "%s is %zu, more than the %d that are allowed",
                       what, count, MOST_LISTED);
    }
    return QUERN_OK;
}

static quern_status keep_options(quern_kernel *kernel, const qn_definition *d)
{
    QN_TRY(qn_check_list("option_count", d->option_count));
    kernel->options = qn_arena_alloc(&kernel->arena, (d->option_count + 1) * sizeof(char *));
    if (!kernel->options) {
        return qn_fail_memory("defining a kernel");
    }
    for (size_t k = 0; k < d->option_count; k++) {
        if (!d->options || !d->options[k]) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "compiler option %zu is NULL", k);
        }
        QN_TRY(keep(&kernel->options[k], kernel, qn_str_of(d->options[k])));
    }
    kernel->option_count = d->option_count;
    return QUERN_OK;
}

static quern_status define(quern_kernel *kernel, const qn_definition *d)
{
    QN_TRY(check_name(d->name));
    QN_TRY(qn_signature_parse(&kernel->signature, &kernel->arena, d->in, d->out));
    QN_TRY(keep_name(kernel, d->name));
    for (uint32_t p = 0; p < kernel->signature.count; p++) {
        QN_TRY(keep(&kernel->parameter_names[p], kernel, kernel->signature.parameters[p].name));
        QN_TRY(keep(&kernel->parameter_types[p], kernel, kernel->signature.parameters[p].type));
    }
    for (int t = 0; t < QN_TEXTS; t++) {
        kernel->texts[t].file_name = d->texts[t].file_name;
        const qn_str text = qn_str_of(qn_behind_mark(d->texts[t].text));
        QN_TRY(keep(&kernel->texts[t].text, kernel, text));
    }
    QN_TRY(keep_options(kernel, d));
    kernel->kind = d->kind;
    kernel->warnings = "";
    kernel->separate_axes = d->separate_axes;
    kernel->ordered = d->ordered;
    kernel->exclusive = d->exclusive;
    kernel->has_identity = d->texts[QN_IDENTITY].text != NULL;
    qn_names_study(kernel);
    qn_kernel_study(kernel);
    qn_outputs_study(kernel);
    return d->kind->check ? d->kind->check(kernel) : QUERN_OK;
}

quern_status qn_check_signature(const char *function, const char *in, const char *out)
{
    if (!in || !out) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "%s: %s is NULL; write \"\" for no %s",
                       function, !in ? "in" : "out", !in ? "inputs" : "outputs");
    }
    return QUERN_OK;
}

quern_status qn_kernel_new(quern_kernel **out, quern_engine *engine,
                           const qn_definition *definition)
{
    *out = NULL;
    quern_kernel *kernel = qn_calloc(1, sizeof *kernel);
    if (!kernel) {
        return qn_fail_memory("defining a kernel");
    }
    quern_status status = define(kernel, definition);
    if (status != QUERN_OK) {
        qn_arena_free(&kernel->arena);
        qn_free(kernel);
        return status;
    }
    pthread_mutex_init(&kernel->lock, NULL);
    kernel->object = QN_OBJECT_KERNEL;
    atomic_init(&kernel->references, 1);
    atomic_init(&kernel->specializations, NULL);
    atomic_init(&kernel->recalls, NULL);
    qn_home_retain(&engine->home);
    kernel->engine = engine;
    *out = kernel;
    return QUERN_OK;
}

/* ---- lifetime ------------------------------------------------------------------------------- */

quern_kernel *quern_kernel_retain(quern_kernel *kernel)
{
    if (qn_object_is(kernel, QN_OBJECT_KERNEL)) {
        atomic_fetch_add_explicit(&kernel->references, 1, memory_order_relaxed);
    }
    return kernel;
}

void qn_kernel_destroy(quern_kernel *kernel)
{
    if (!kernel) {
        return;
    }
    qn_object_end(&kernel->object);
    qn_recalls_free(kernel);
    qn_specializations_free(kernel);
    pthread_mutex_destroy(&kernel->lock);
    qn_arena_free(&kernel->arena);
    qn_free(kernel);
}

void quern_kernel_release(quern_kernel *kernel)
{
    if (qn_object_can_free(__func__, kernel, QN_OBJECT_KERNEL) &&
        atomic_fetch_sub_explicit(&kernel->references, 1, memory_order_acq_rel) == 1) {
        quern_engine *engine = kernel->engine;
        qn_kernel_destroy(kernel);
        qn_home_release(&engine->home);
    }
}
