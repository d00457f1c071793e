/* SPDX-License-Identifier: MIT
 *
 * tune_class: which calls have a setting in common. In: a call that is planned by rule. Out: the
 * key of its class, and what the class is in words. The thing to know: a key that covers too much
 * costs a measurement, one that covers too little only some speed, since any setting is right.
 */
#include "engine/tuning.h"
#include <stdio.h>
#include <string.h>

static int power_of(int64_t extent)
{
    int n = 0;
    while (n < 62 && (int64_t)1 << (n + 1) <= extent) {
        n++;
    }
    return n;
}

static void add_string(qn_text *out, const char *text)
{
    qn_text_printf(out, "%zu:%s,", text ? strlen(text) : 0, text ? text : "");
}

static quern_status add_device(qn_text *out, quern_engine *engine)
{
    quern_device_info info = QUERN_DEVICE_INFO_INIT;
    QN_TRY(engine->home.methods->info(engine->home.device, &info));
    add_string(out, info.name);
    qn_text_printf(out, "%d %u;", engine->arch, engine->processors);
    return QUERN_OK;
}

static void add_kernel(qn_text *out, const quern_kernel *kernel)
{
    qn_text_printf(out, "%d %d;", (int)kernel->kind->number, kernel->ordered);
    add_string(out, kernel->signature.in_text);
    add_string(out, kernel->signature.out_text);
    for (int t = 0; t < QN_TEXTS; t++) {
        add_string(out, kernel->texts[t].text);
    }
    for (size_t o = 0; o < kernel->option_count; o++) {
        add_string(out, kernel->options[o]);
    }
}

static void add_extents(qn_text *out, const int64_t *extents, int count)
{
    for (int d = 0; d < count; d++) {
        qn_text_printf(out, " %d", power_of(extents[d]));
    }
}

static void add_call(qn_text *out, const qn_call *call)
{
    uint8_t form[QN_FORM_BYTES];
    const size_t size = call->kernel->kind->form(form, call);
    const bool folds = call->kernel->kind->has_axes || call->mapped;
    qn_text_printf(out, "%u;", call->block_size);
    qn_text_add(out, (const char *)form, size);
    for (uint32_t p = 0; p < call->kernel->signature.count; p++) {
        qn_text_printf(out, " %s", quern_dtype_name(call->types.parameters[p]));
    }
    if (folds) {
        add_extents(out, call->fold.extent, call->fold.form.kept + call->fold.form.reduced);
    } else {
        add_extents(out, call->plan.extent, call->plan.form.ndim);
    }
}

static void describe(qn_tuning_class *out, const qn_call *call)
{
    const qn_types *types = &call->types;
    int used = snprintf(out->about, sizeof out->about, "%u operand%s of 2^%d", call->operand_count,
                        call->operand_count == 1 ? "" : "s", power_of(call->count));
    for (uint32_t p = 0; p < call->kernel->signature.count; p++) {
        const char *name = quern_dtype_name(types->parameters[p]);
        bool told = false;
        for (uint32_t before = 0; before < p; before++) {
            told |= types->parameters[before] == types->parameters[p];
        }
        if (!told && (size_t)used + strlen(name) + 2 < sizeof out->about) {
            used += snprintf(out->about + used, sizeof out->about - (size_t)used, ", %s", name);
        }
    }
}

quern_status qn_tuning_class_of(qn_tuning_class *out, const qn_call *call)
{
    qn_text material = {0};
    qn_text_puts(&material, "QUERNTUNING1;");
    quern_status status = add_device(&material, call->kernel->engine);
    add_kernel(&material, call->kernel);
    add_call(&material, call);
    if (status == QUERN_OK && material.failed) {
        status = qn_fail_memory("looking for the tuning of a call");
    }
    if (status == QUERN_OK) {
        qn_tuning_key_of(&out->key, material.data, material.length);
        describe(out, call);
    }
    qn_text_free(&material);
    return status;
}
