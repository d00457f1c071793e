/* SPDX-License-Identifier: MIT
 *
 * Records. Structures as elements of arrays: dtypes that a program makes.
 *
 * A record is a name, a size, an alignment and a definition in C, and what is known of its fields.
 * Its dtype is a number from QUERN_DTYPE_RECORD on, which holds for the process: making the same
 * record again gives the same number, and none is ever freed. A kernel takes its arrays by a letter
 * (`T p`) or by its name (`Particle p`), and reads and writes the fields by theirs: `p.mass`.
 */
#ifndef QUERN_RECORD_H
#define QUERN_RECORD_H

#include <quern/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One field of a record: an element, or a small array of them. */
typedef struct quern_field {
    const char *name;     /**< an identifier of C */
    int32_t dtype;        /**< a quern_dtype, also of a record */
    int32_t ndim;         /**< dimensions of a field that is an array; 0: a single element */
    const int64_t *shape; /**< `ndim` extents, each at least 1; NULL where `ndim` is 0 */
    uint64_t offset;      /**< bytes from the beginning of the record */
} quern_field;

/** What makes a record. */
typedef struct quern_record {
    uint32_t size;     /**< sizeof(quern_record), set by the caller */
    uint32_t reserved; /**< 0 */
    /** How signatures call it: an identifier of two letters or more that names nothing else there.
     */
    const char *name;
    /** C text that defines `name`, as "struct Particle { float x, y; float mass; };". It may use
     * the dtypes of a kernel (float16, complex<float>) and the records of its fields. NULL: it is
     * made from the fields, with their offsets. */
    const char *definition;
    size_t bytes;              /**< sizeof the record; 0: just as many as the fields need */
    size_t alignment;          /**< _Alignof; 0: as much as offsets and size allow */
    size_t field_count;        /**< with a definition these may be fewer than it has, or none */
    const quern_field *fields; /**< in any order; they do not overlap */
} quern_record;

#define QUERN_RECORD_INIT                                                                          \
    {                                                                                              \
        sizeof(quern_record), 0, NULL, NULL, 0, 0, 0, NULL                                         \
    }

#define QUERN_MAX_RECORD_BYTES 65536 /**< the most that a record may have */

/** The dtype of a record. Two programs in a process may use one name for different records; a
 * kernel then takes either. That the compiler lays a definition out as stated here is checked when
 * the first kernel that uses it is compiled. Thread-safe; no device is needed. Errors:
 * QUERN_ERROR_INVALID_ARGUMENT with the field that is wrong; QUERN_ERROR_NAME for a name that
 * cannot be one; QUERN_ERROR_OUT_OF_MEMORY; QUERN_ERROR_NOT_SUPPORTED for the 16385th record. */
QUERN_API quern_status quern_record_new(quern_dtype *out, const quern_record *record);

/** What a record was made of, with sizes and definition filled in. The texts and the fields (in the
 * order of their offsets) are borrowed for good. Errors: QUERN_ERROR_INVALID_ARGUMENT: the dtype is
 * no record. */
QUERN_API quern_status quern_record_get_info(quern_record *info, quern_dtype dtype);

/** The dtype of NumPy's `dtype.descr`, as NPY files and __array_interface__ have it: a type string
 * such as "<f4" (or a name such as "bfloat16"), or the list of a structured dtype, "[('x', '<f4'),
 * ('v', '<f8', (3,))]", which gives a record called `name`. Fields without a name are padding.
 * Errors: QUERN_ERROR_TYPE with the place in `descr`: for elements that no dtype of Quern has,
 * another byte order, and names that are no identifiers of C. */
QUERN_API quern_status quern_dtype_from_descr(quern_dtype *out, const char *name,
                                              const char *descr);

/** The other way round: NumPy's descr of a dtype, with single quotes inside a list and none around
 * a type string. What NumPy has no name for are bytes: "|V2" for bfloat16, "|V16" for a record of
 * which no field is known. "" for what is not a dtype. Valid for good. */
QUERN_API const char *quern_dtype_descr(quern_dtype dtype);

/** A view of one field of all elements, as NumPy's x["mass"]. A field that is an array adds its
 * dimensions behind the array's. Errors: QUERN_ERROR_NAME with the names that there are. */
QUERN_API quern_status quern_array_field(quern_array **out, quern_array *array, const char *name);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_RECORD_H */
