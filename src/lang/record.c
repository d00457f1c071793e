/* SPDX-License-Identifier: MIT
 *
 * The records of the process. In: what makes one. Out: its dtype, which is the same for the same
 * record; and the record of a dtype. The thing to know: the table only grows and is read without a
 * lock; the lock is taken to add a record. None is ever freed, because arrays anywhere may have it.
 */
#include "base/object.h"
#include "base/prefix.h"
#include "lang/records.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define MOST_RECORDS 16384

static _Atomic(qn_record *) records[MOST_RECORDS];
static atomic_uint record_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

const qn_record *qn_record_find(quern_dtype dtype)
{
    unsigned index = (unsigned)dtype - QUERN_DTYPE_RECORD;
    return index < MOST_RECORDS ? atomic_load_explicit(&records[index], memory_order_acquire)
                                : NULL;
}

const qn_dtype_info *qn_record_info(quern_dtype dtype)
{
    const qn_record *record = qn_record_find(dtype);
    return record ? &record->info : NULL;
}

const qn_dtype_info *qn_record_named(qn_str name)
{
    unsigned count = atomic_load_explicit(&record_count, memory_order_acquire);
    for (unsigned k = 0; k < count; k++) {
        const qn_record *record = atomic_load_explicit(&records[k], memory_order_acquire);
        if (qn_str_is(name, record->info.name)) {
            return &record->info;
        }
    }
    return NULL;
}

const quern_field *qn_record_field(const qn_record *record, qn_str name)
{
    for (size_t k = 0; k < record->field_count; k++) {
        if (qn_str_is(name, record->fields[k].name)) {
            return &record->fields[k];
        }
    }
    return NULL;
}

uint64_t qn_field_count(const quern_field *field)
{
    uint64_t count = 1;
    for (int32_t d = 0; d < field->ndim; d++) {
        count *= (uint64_t)field->shape[d];
    }
    return count;
}

/* Put the record into the table, or find the one like it; true: it is in the table. */
static bool add(quern_dtype *out, qn_record *record)
{
    unsigned count = atomic_load_explicit(&record_count, memory_order_relaxed);
    for (unsigned k = 0; k < count; k++) {
        const qn_record *known = atomic_load_explicit(&records[k], memory_order_relaxed);
        if (strcmp(known->identity, record->identity) == 0) {
            *out = known->info.dtype;
            return false;
        }
    }
    if (count == MOST_RECORDS) {
        return false;
    }
    *out = record->info.dtype = (quern_dtype)(QUERN_DTYPE_RECORD + count);
    atomic_store_explicit(&records[count], record, memory_order_release);
    atomic_store_explicit(&record_count, count + 1, memory_order_release);
    return true;
}

static quern_status intern(quern_dtype *out, qn_record *record)
{
    pthread_mutex_lock(&lock);
    bool kept = add(out, record);
    pthread_mutex_unlock(&lock);
    if (!kept) {
        qn_arena_free(&record->arena);
        qn_free(record);
    }
    return *out != QUERN_DTYPE_NONE ? QUERN_OK
                                    : qn_fail(QUERN_ERROR_NOT_SUPPORTED,
                                              "a process has at most %d records", MOST_RECORDS);
}

quern_status qn_record_make(quern_dtype *out, const quern_record *given)
{
    *out = QUERN_DTYPE_NONE;
    qn_record *record = qn_calloc(1, sizeof *record);
    if (!record) {
        return qn_fail_memory("making a record");
    }
    quern_status status = qn_record_lay_out(record, given);
    if (status != QUERN_OK) {
        qn_arena_free(&record->arena);
        qn_free(record);
        return status;
    }
    return intern(out, record);
}

/* ---- public --------------------------------------------------------------------------------- */

quern_status quern_record_new(quern_dtype *out, const quern_record *record)
{
    qn_error_reset();
    QN_CHECK_NOT_NULL(out);
    *out = QUERN_DTYPE_NONE;
    QN_CHECK_NOT_NULL(record);
    QN_TAKE_RESERVED(quern_record, given, record);
    return qn_record_make(out, &given);
}

quern_status quern_record_get_info(quern_record *info, quern_dtype dtype)
{
    qn_error_reset();
    QN_CHECK_NOT_NULL(info);
    QN_TO_GIVE(quern_record, own, info);
    const qn_record *record = qn_record_find(dtype);
    if (!record) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "%s (%d) is not a record",
                       quern_dtype_name(dtype), (int)dtype);
    }
    own.name = record->info.name;
    own.definition = record->definition;
    own.bytes = record->info.size;
    own.alignment = record->info.alignment;
    own.field_count = record->field_count;
    own.fields = record->fields;
    QN_GIVE(quern_record, own, info);
    return QUERN_OK;
}
