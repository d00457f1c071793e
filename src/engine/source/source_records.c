/* SPDX-License-Identifier: MIT
 *
 * source_records: records in CUDA C++. In: a call whose types are bound. Out: the definitions of
 * its records, in front of the type letters and the preamble. The thing to know: each stands in a
 * namespace of its own, so two of one name may meet in a kernel; the name alone is known where the
 * signature writes it, and nowhere else, so that it does not clash with one in the preamble.
 */
#include "engine/source/source.h"
#include "lang/records.h"
#include <string.h>

#define MOST_RECORDS (4 * QUERN_MAX_PARAMETERS) /* of a call, with those in fields */

/* The records of a call, those of fields before what has them; each once. */
typedef struct record_list {
    const qn_record *records[MOST_RECORDS];
    size_t count;
} record_list;

static bool has(const record_list *list, const qn_record *record)
{
    for (size_t k = 0; k < list->count; k++) {
        if (list->records[k] == record) {
            return true;
        }
    }
    return false;
}

static void collect(record_list *list, quern_dtype dtype)
{
    const qn_record *record = dtype >= QUERN_DTYPE_RECORD ? qn_record_find(dtype) : NULL;
    if (!record || has(list, record)) {
        return;
    }
    for (size_t k = 0; k < record->field_count; k++) {
        collect(list, (quern_dtype)record->fields[k].dtype);
    }
    if (list->count < MOST_RECORDS) {
        list->records[list->count++] = record;
    }
}

static void collect_all(record_list *list, const qn_call *call)
{
    list->count = 0;
    for (uint32_t p = 0; p < call->kernel->signature.count; p++) {
        collect(list, call->types.parameters[p]);
    }
}

bool qn_source_has_records(const qn_call *call)
{
    for (uint32_t p = 0; p < call->kernel->signature.count; p++) {
        if (call->types.parameters[p] >= QUERN_DTYPE_RECORD) {
            return true;
        }
    }
    return false;
}

unsigned qn_source_record_needs(const qn_call *call)
{
    record_list list;
    unsigned needs = 0;
    collect_all(&list, call);
    for (size_t k = 0; k < list.count; k++) {
        needs |= list.records[k]->needs;
    }
    return needs;
}

const char *qn_source_pack(const qn_call *call, uint32_t k)
{
    bool record = call->types.parameters[call->operand_parameter[k]] >= QUERN_DTYPE_RECORD;
    return record && call->operands[k].loose ? "quern::bundle" : "quern::pack";
}

/* ---- definitions ---------------------------------------------------------------------------- */

/* That the compiler agrees with what was stated. What it says is said of the user's definition. */
static void assertions(qn_text *out, const qn_record *record)
{
    const char *name = record->info.name, *file = record->own ? QN_AFTER "record>" : name;
    qn_text_printf(out,
                   "#line 1 \"%s\"\n"
                   "static_assert(sizeof(%s) == %u && alignof(%s) == %u,"
                   " \"a %s has %u bytes and alignment %u, says its record\");\n"
                   "#line 1 \"%s\"\n"
                   "static_assert(__is_trivially_copyable(%s),"
                   " \"a %s must be trivially copyable\");\n",
                   file, name, record->info.size, name, record->info.alignment, name,
                   record->info.size, record->info.alignment, file, name, name);
    for (size_t k = 0; k < record->field_count && !record->own; k++) {
        const quern_field *field = &record->fields[k];
        const size_t bytes = qn_field_count(field) * quern_dtype_size((quern_dtype)field->dtype);
        qn_text_printf(out,
                       "#line 1 \"%s\"\n"
                       "static_assert(__INTADDR__(&((%s *)0)->%s) == %llu && sizeof(%s::%s) == %zu,"
                       " \"field %s has %zu bytes from byte %llu on, says the record of %s\");\n",
                       file, name, field->name, (unsigned long long)field->offset, name,
                       field->name, bytes, field->name, bytes, (unsigned long long)field->offset,
                       name);
    }
    qn_text_puts(out, "#line 1 \"" QN_AFTER "record>\"\n");
}

static void define(qn_text *out, const qn_record *record)
{
    qn_text_printf(out, "namespace %s {\n", record->space);
    for (size_t k = 0; k < record->field_count && !record->own; k++) {
        const qn_record *inner = qn_record_find((quern_dtype)record->fields[k].dtype);
        if (inner && strcmp(inner->info.name, record->info.name) != 0) {
            qn_text_printf(out, "using %s;\n", inner->info.c_name);
        }
    }
    if (!record->own) {
        qn_text_printf(out, "#line 1 \"%s\"\n", record->info.name);
    }
    qn_text_printf(out, "%s\n;\n", record->definition);
    assertions(out, record);
    qn_text_puts(out, "}\n");
}

void qn_source_records(qn_text *out, const qn_call *call)
{
    const qn_signature *s = &call->kernel->signature;
    record_list list;
    collect_all(&list, call);
    for (size_t k = 0; k < list.count; k++) {
        define(out, list.records[k]);
    }
    for (size_t k = 0; k < list.count; k++) {
        bool written = false;
        for (uint32_t p = 0; p < s->count; p++) {
            written |= s->parameters[p].letter < 0 &&
                       call->types.parameters[p] == list.records[k]->info.dtype;
        }
        if (written) {
            qn_text_printf(out, "using %s;\n", list.records[k]->info.c_name);
        }
    }
}

size_t qn_source_record_texts(qn_user_text *texts, size_t count, size_t room, const qn_call *call)
{
    record_list list;
    collect_all(&list, call);
    for (size_t k = 0; k < list.count && count < room; k++) {
        if (!list.records[k]->own) {
            texts[count++] =
                (qn_user_text){list.records[k]->info.name, list.records[k]->definition};
        }
    }
    return count;
}
