/* SPDX-License-Identifier: MIT
 *
 * specialize: a kernel for particular dtypes and a plan's form. In: a planned call. Out: the
 * device's function for it. The thing to know: a kernel's list of specializations only grows and is
 * read without a lock; the lock is taken to add one.
 */
#include "engine/engine_internal.h"
#include "engine/source/source.h"
#include <string.h>

/* ---- what a specialization is for ----------------------------------------------------------- */

bool qn_call_array_is_contiguous(const qn_call *call, uint32_t parameter)
{
    const quern_array *a = call->arrays[parameter];
    return a->contiguous && a->count == call->count; /* more where it is repeated */
}

bool qn_call_array_is_narrow(const qn_call *call, uint32_t parameter)
{
    return !call->plan.form.wide && qn_array_is_narrow(call->arrays[parameter]);
}

typedef struct signature_bytes {
    size_t size;
    uint8_t bytes[QN_FORM_BYTES + 5 * QUERN_MAX_PARAMETERS];
} signature_bytes;

/* Everything about a call that shapes its source, as bytes. */
static void signature_of(signature_bytes *s, const qn_call *call)
{
    const qn_signature *signature = &call->kernel->signature;
    uint8_t *b = s->bytes + call->kernel->kind->form(s->bytes, call);
    unsigned more = call->reaches;
    for (uint32_t p = 0; p < signature->count; p++) {
        const quern_array *a = call->arrays[p];
        *b++ = (uint8_t)call->types.parameters[p];
        *b++ = a != NULL;
        more |= (unsigned)call->types.parameters[p] >> 8;
        if (a && call->kernel->uses_array[p]) {
            *b++ = (uint8_t)(qn_call_array_is_narrow(call, p) << 1 |
                             qn_call_array_is_contiguous(call, p));
        } else if (a && signature->parameters[p].raw) {
            const bool narrow = (call->kernel->names & QN_NAMES_CARRAY) && qn_array_is_narrow(a);
            *b++ = (uint8_t)(narrow << 7 | a->ndim << 1 | a->contiguous);
        }
    }
    for (uint32_t p = 0; more != 0 && p < signature->count; p++) { /* records, or a reach */
        *b++ = (uint8_t)(call->types.parameters[p] >> 8);          /* a dtype fits 16 bits */
        *b++ = call->arrays[p] ? call->arrays[p]->reach : 0;
    }
    s->size = (size_t)(b - s->bytes);
}

static qn_specialization *find(const quern_kernel *kernel, const signature_bytes *s)
{
    qn_specialization *z = atomic_load_explicit(&kernel->specializations, memory_order_acquire);
    while (z && (z->signature_size != s->size || memcmp(z->signature, s->bytes, s->size) != 0)) {
        z = z->next;
    }
    return z;
}

/* ---- making --------------------------------------------------------------------------------- */

static void specialization_free(qn_specialization *z)
{
    if (z) {
        qn_free(z->source);
        qn_free(z);
    }
}

/* The module, of a source that calls the kernel call->entry. */
static quern_status compile(qn_specialization *z, const qn_call *call)
{
    const quern_kernel *kernel = call->kernel;
    qn_header headers[QN_MAX_HEADERS];
    size_t header_count = 0, text_count = QN_TEXTS;
    qn_user_text texts[QN_TEXTS + QUERN_MAX_PARAMETERS];
    qn_text source = {0};
    memcpy(texts, kernel->texts, sizeof kernel->texts);
    if (qn_source_has_records(call)) {
        text_count = qn_source_record_texts(texts, text_count, QN_COUNT(texts), call);
    }
    quern_status status = kernel->kind->source(&source, call, headers, &header_count);
    qn_free(z->source);
    z->source = qn_text_take(&source);
    QN_TRY(status);
    if (!z->source) {
        return qn_fail_memory("writing the source of a kernel");
    }
    qn_module_request request = {
        .compile = {.source = z->source,
                    .file_name = "quern_kernel.cu",
                    .options = kernel->options,
                    .option_count = kernel->option_count,
                    .headers = headers,
                    .header_count = header_count},
        .name = kernel->name,
        .user_texts = texts,
        .user_text_count = text_count,
    };
    return qn_module_get(&z->module, kernel->engine, &request);
}

/* The compiler knows better than a list which names are taken: by CUDA, a header, a macro. Where it
 * says so, the kernel has its other name in all its sources from now on. */
static quern_status compile_by_name(qn_specialization *z, qn_call *call)
{
    quern_kernel *kernel = call->kernel;
    call->entry = atomic_load(&kernel->entry);
    quern_status status = compile(z, call);
    if (status != QUERN_ERROR_COMPILE || call->entry == kernel->other_name ||
        strcmp(quern_last_error()->text_name, QN_KERNEL_NAME) != 0) {
        return status;
    }
    qn_error_reset();
    call->entry = kernel->other_name;
    atomic_store(&kernel->entry, call->entry);
    return compile(z, call);
}

static quern_status fill(qn_specialization *z, qn_call *call)
{
    quern_kernel *kernel = call->kernel;
    const uint_fast64_t before = atomic_load(&kernel->engine->interrupts);
    QN_TRY(compile_by_name(z, call));
    if (atomic_load(&kernel->engine->interrupts) != before) { /* what was made is kept */
        return qn_fail(QUERN_ERROR_INTERRUPTED, "the call of %s was interrupted while it compiled",
                       kernel->name);
    }
    QN_TRY(qn_outputs_judge(kernel));
    quern_engine *engine = kernel->engine;
    quern_function_info info;
    QN_TRY(engine->home.methods->function_get(engine->home.device, &z->function, z->module->handle,
                                              call->entry));
    QN_TRY(qn_home_function_info(&info, &engine->home, z->function));
    z->max_threads = info.max_threads;
    if (kernel->kind->fit && info.registers != 0) { /* it is a GPU */
        return engine->home.methods->occupancy(engine->home.device, z->function, QN_FOLD_BLOCK, 0,
                                               &z->held);
    }
    return QUERN_OK;
}

static quern_status find_or_make(qn_specialization **out, qn_call *call)
{
    signature_bytes s;
    signature_of(&s, call);
    quern_kernel *kernel = call->kernel;
    *out = find(kernel, &s);
    if (*out) {
        return QUERN_OK;
    }
    qn_specialization *z = qn_calloc(1, sizeof *z + s.size);
    if (!z) {
        return qn_fail_memory("specializing a kernel");
    }
    z->signature_size = s.size;
    memcpy(z->signature, s.bytes, s.size);
    quern_status status = fill(z, call);
    if (status != QUERN_OK) {
        specialization_free(z);
        return status;
    }
    if (kernel->engine->listing) {
        qn_listing_call(call);
    }
    pthread_mutex_lock(&kernel->lock);
    *out = find(kernel, &s); /* another thread may have been faster */
    if (!*out) {
        z->next = atomic_load_explicit(&kernel->specializations, memory_order_relaxed);
        atomic_store_explicit(&kernel->specializations, z, memory_order_release);
        *out = z;
        z = NULL;
    }
    pthread_mutex_unlock(&kernel->lock);
    specialization_free(z);
    return QUERN_OK;
}

quern_status qn_specialize(qn_specialization **out, qn_call *call)
{
    QN_TRY(find_or_make(out, call));
    if ((*out)->held != 0) {
        call->kernel->kind->fit(call, (*out)->held);
    }
    return QUERN_OK;
}

void qn_specializations_free(quern_kernel *kernel)
{
    qn_specialization *z = atomic_load(&kernel->specializations);
    while (z) {
        qn_specialization *next = z->next;
        specialization_free(z);
        z = next;
    }
}
