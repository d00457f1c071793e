/* SPDX-License-Identifier: MIT
 *
 * warnings: what the compiler warns of in kernels and modules that it compiles. In: a kernel or a
 * module. Out: text for a person. The thing to know: warnings stay with their image, in memory and
 * in the cache, so they are the same however the image came.
 */
#include "engine/modules/modules.h"

static quern_status publish(char **out, qn_text *text)
{
    *out = qn_text_take(text);
    return *out != NULL ? QUERN_OK : qn_fail_memory("reading warnings");
}

quern_status quern_kernel_warnings(char **out, quern_kernel *kernel)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(kernel, QN_OBJECT_KERNEL);
    qn_text text = {0};
    const qn_specialization *z =
        atomic_load_explicit(&kernel->specializations, memory_order_acquire);
    for (; z != NULL; z = z->next) {
        qn_warnings_print(&text, qn_str_of(z->module->warnings), kernel->texts, QN_TEXTS);
    }
    return publish(out, &text);
}

quern_status quern_module_warnings(char **out, quern_module *module)
{
    qn_error_reset();
    QN_CHECK_OUT(out);
    QN_CHECK_OBJECT(module, QN_OBJECT_MODULE);
    qn_text text = {0};
    qn_warnings_print(&text, qn_str_of(module->loaded->warnings), module->texts,
                      module->text_count);
    return publish(out, &text);
}
