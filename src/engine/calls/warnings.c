/* SPDX-License-Identifier: MIT
 *
 * warnings: what the compiler warns of in kernels and modules that it compiles. In: a kernel or a
 * module. Out: text for a person. The thing to know: warnings stay with their image, in memory and
 * in the cache, so they are the same wherever the image came from.
 */
#include "engine/modules/modules.h"
#include <string.h>

/* Keep a text as long as the kernel lives, unless it repeats the last one. */
static quern_status keep(const char **out, quern_kernel *kernel, const qn_text *text)
{
    if (text->failed) {
        return qn_fail_memory("reading warnings");
    }
    const char *now = text->data ? text->data : "";
    pthread_mutex_lock(&kernel->lock);
    const char *kept = kernel->warnings;
    if (strcmp(kept, now) != 0) {
        kept = qn_arena_strndup(&kernel->arena, now, text->length);
        kernel->warnings = kept ? kept : kernel->warnings;
    }
    pthread_mutex_unlock(&kernel->lock);
    *out = kept;
    return kept ? QUERN_OK : qn_fail_memory("reading warnings");
}

quern_status quern_kernel_warnings(const char **out, quern_kernel *kernel)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(kernel, QN_OBJECT_KERNEL);
    qn_text text = {0};
    const qn_specialization *z =
        atomic_load_explicit(&kernel->specializations, memory_order_acquire);
    for (; z; z = z->next) {
        qn_warnings_print(&text, qn_str_of(z->module->warnings), kernel->texts, QN_TEXTS);
    }
    quern_status status = keep(out, kernel, &text);
    qn_text_free(&text);
    return status;
}

quern_status quern_module_warnings(const char **out, quern_module *module)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(module, QN_OBJECT_MODULE);
    *out = module->warnings;
    return QUERN_OK;
}
