/* SPDX-License-Identifier: MIT
 *
 * kernel: definitions. In: a signature and texts. Out: a quern_kernel that knows everything about
 * its texts that does not depend on arguments. Nothing is compiled here.
 */
#include "engine/engine.h"
#include <ctype.h>
#include <string.h>

size_t qn_kernel_user_texts(const quern_kernel *kernel, qn_user_text texts[4])
{
    texts[0] = (qn_user_text){"operation", kernel->operation};
    texts[1] = (qn_user_text){"preamble", kernel->preamble};
    texts[2] = (qn_user_text){"loop_prep", kernel->loop_prep};
    texts[3] = (qn_user_text){"after_loop", kernel->after_loop};
    return 4;
}

bool qn_kernel_uses(const quern_kernel *kernel, const char *name)
{
    qn_user_text texts[4];
    size_t count = qn_kernel_user_texts(kernel, texts);
    for (size_t t = 0; t < count; t++) {
        if (qn_text_uses(texts[t].text, name)) {
            return true;
        }
    }
    return false;
}

/* ---- what the texts do ---------------------------------------------------------------------- */

static uint32_t count_used(const quern_kernel *kernel, const char *const *names)
{
    uint32_t count = 0;
    for (; *names != NULL; names++) {
        count += qn_kernel_uses(kernel, *names);
    }
    return count;
}

/** Study the texts once, so that a call need not. */
static void study(quern_kernel *kernel)
{
    static const char *const loops[] = {"for", "while", "do", "goto", NULL};
    /* Functions whose inlined code is long: a pack of many lanes would multiply it. */
    static const char *const heavy[] = {
        "sin",   "cos",    "tan",    "sincos", "sinpi", "cospi",     "asin",   "acos",    "atan",
        "atan2", "sinh",   "cosh",   "tanh",   "asinh", "acosh",     "atanh",  "exp",     "exp2",
        "exp10", "expm1",  "log",    "log2",   "log10", "log1p",     "pow",    "cbrt",    "erf",
        "erfc",  "tgamma", "lgamma", "fmod",   "hypot", "remainder", "erfinv", "erfcinv", "normcdf",
        "j0",    "j1",     "y0",     "y1",     NULL};
    qn_user_text texts[4];
    size_t count = qn_kernel_user_texts(kernel, texts);
    for (size_t t = 0; t < count; t++) {
        kernel->uses_atomics |= strstr(texts[t].text, "atomic") != NULL;
    }
    kernel->uses_axes = qn_kernel_uses(kernel, "_ind");
    kernel->uses_position = kernel->uses_axes || qn_text_uses(kernel->operation, "i");
    kernel->loops = count_used(kernel, loops) != 0;
    kernel->heavy = count_used(kernel, heavy);
    for (uint32_t p = kernel->signature.input_count; p < kernel->signature.count; p++) {
        const qn_parameter *q = &kernel->signature.parameters[p];
        char *name = qn_arena_strndup(&kernel->arena, q->name.data, q->name.length);
        kernel->uses_by_address[p] =
            !q->raw && (name == NULL || qn_text_takes_address(kernel->operation, name));
    }
}

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

static char *keep(quern_kernel *kernel, const char *text)
{
    text = text != NULL ? text : "";
    return qn_arena_strndup(&kernel->arena, text, strlen(text));
}

static quern_status keep_options(quern_kernel *kernel, const quern_kernel_options *o)
{
    kernel->options = qn_arena_alloc(&kernel->arena, (o->option_count + 1) * sizeof(char *));
    for (uint32_t k = 0; kernel->options != NULL && k < o->option_count; k++) {
        if (o->options == NULL || o->options[k] == NULL) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "compiler option %u is NULL", k);
        }
        kernel->options[k] = keep(kernel, o->options[k]);
        if (kernel->options[k] == NULL) {
            return qn_fail_memory("defining a kernel");
        }
    }
    kernel->option_count = o->option_count;
    return kernel->options != NULL ? QUERN_OK : qn_fail_memory("defining a kernel");
}

static quern_status define(quern_kernel *kernel, const char *in, const char *result,
                           const char *operation, const quern_kernel_options *o)
{
    const char *name = o->name != NULL ? o->name : "quern_kernel";
    QN_TRY(check_name(name));
    QN_TRY(qn_signature_parse(&kernel->signature, &kernel->arena, in, result));
    kernel->name = keep(kernel, name);
    kernel->operation = keep(kernel, operation);
    kernel->preamble = keep(kernel, o->preamble);
    kernel->loop_prep = keep(kernel, o->loop_prep);
    kernel->after_loop = keep(kernel, o->after_loop);
    if (kernel->name == NULL || kernel->operation == NULL || kernel->preamble == NULL ||
        kernel->loop_prep == NULL || kernel->after_loop == NULL) {
        return qn_fail_memory("defining a kernel");
    }
    QN_TRY(keep_options(kernel, o));
    kernel->keep_dims = o->keep_dims != 0;
    study(kernel);
    return QUERN_OK;
}

quern_status qn_kernel_new(quern_kernel **out, quern_engine *engine, const char *in,
                           const char *result, const char *operation,
                           const quern_kernel_options *options)
{
    *out = NULL;
    quern_kernel_options none = QUERN_KERNEL_OPTIONS_INIT;
    const quern_kernel_options *o = options != NULL ? options : &none;
    if (o->size != sizeof *o) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "quern_kernel_options.size is %u, expected %zu: start from "
                       "QUERN_KERNEL_OPTIONS_INIT",
                       o->size, sizeof *o);
    }
    quern_kernel *kernel = qn_calloc(1, sizeof *kernel);
    if (kernel == NULL) {
        return qn_fail_memory("defining a kernel");
    }
    quern_status status = define(kernel, in, result, operation, o);
    if (status != QUERN_OK) {
        qn_arena_free(&kernel->arena);
        qn_free(kernel);
        return status;
    }
    pthread_mutex_init(&kernel->lock, NULL);
    kernel->object = QN_OBJECT_KERNEL;
    atomic_init(&kernel->references, 1);
    atomic_init(&kernel->specializations, NULL);
    qn_engine_retain(engine);
    kernel->engine = engine;
    *out = kernel;
    return QUERN_OK;
}

quern_status quern_elementwise(quern_kernel **out, quern_engine *engine, const char *in,
                               const char *result, const char *operation,
                               const quern_kernel_options *options)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(engine, QN_OBJECT_ENGINE);
    if (in == NULL || result == NULL) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "quern_elementwise: %s is NULL; write \"\" for no %s",
                       in == NULL ? "in" : "result", in == NULL ? "inputs" : "outputs");
    }
    QN_CHECK_NOT_NULL(operation);
    return qn_kernel_new(out, engine, in, result, operation, options);
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
    if (kernel == NULL) {
        return;
    }
    qn_object_end(&kernel->object);
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
        qn_engine_release(engine);
    }
}
