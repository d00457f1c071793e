/* SPDX-License-Identifier: MIT
 *
 * records: structures as dtypes.
 *
 *     quern_record --qn_record_lay_out--> sorted fields, bytes, alignment, definition
 *                  --qn_record_make-----> a dtype, for the life of the process
 *
 * The thing to know: what a record is made of is a text, its *identity*, and equal texts are one
 * record. In generated source a record's definition stands in a namespace whose name is a hash of
 * the identity, so two records of one name do not clash, the source is the same in every process,
 * and the key of the cache has the definition in it.
 */
#ifndef QN_RECORDS_H
#define QN_RECORDS_H

#include "lang/lang.h"
#include <quern/record.h>

/** Headers that a definition needs. */
enum { QN_RECORD_HALF = 1, QN_RECORD_FLOAT8 = 2, QN_RECORD_COMPLEX = 4 };

typedef struct qn_record {
    qn_dtype_info info;     /**< c_name is qualified: "_quern_0123...::Particle" */
    const char *space;      /**< the namespace */
    const char *definition; /**< C++ text that defines the name inside of it */
    bool own;               /**< written by us, from the fields */
    unsigned needs;         /**< a set of QN_RECORD_ */
    size_t field_count;
    const quern_field *fields; /**< in the order of their offsets */
    const char *identity;
    const char *descr; /**< NumPy's */
    qn_arena arena;    /**< all of this */
} qn_record;

/** Make the record of a structure of our version, without resetting the error record. */
quern_status qn_record_make(quern_dtype *out, const quern_record *given);
/** The record of a dtype, or NULL. */
const qn_record *qn_record_find(quern_dtype dtype);
/** The field of that name, or NULL. */
const quern_field *qn_record_field(const qn_record *record, qn_str name);
/** Elements of a field: 1 unless it is an array. */
uint64_t qn_field_count(const quern_field *field);

/* ---- record_layout.c ------------------------------------------------------------------------ */

/** Fill all of `record` but its dtype, in its arena. `given` is of our version. */
quern_status qn_record_lay_out(qn_record *record, const quern_record *given);

/* ---- record_descr.c ------------------------------------------------------------------------- */

/** quern_dtype_from_descr(), without resetting the error record. */
quern_status qn_dtype_from_descr(quern_dtype *out, const char *name, const char *descr);
/** Write NumPy's descr of a record whose fields are known. */
void qn_record_descr(qn_text *out, const qn_record *record);

#endif /* QN_RECORDS_H */
