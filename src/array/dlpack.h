/* SPDX-License-Identifier: MIT
 *
 * dlpack: tensors of DLPack, in and out. Uses array_internal.h; the structures are those of
 * quern/interop.h.
 *
 *     dlpack_dtype.c      dtypes
 *     dlpack_in.c         a tensor becomes an array
 *     dlpack_out.c        an array becomes a tensor
 *     dlpack_exchange.c   the functions for the table that a binding gives out
 */
#ifndef QN_DLPACK_H
#define QN_DLPACK_H

#include "array/array_internal.h"
#include <quern/interop.h>

#define QN_DL_MAJOR 1 /**< the version that is spoken */
#define QN_DL_MINOR 3

/** As quern_dtype_from_dl(), without a reset of the error record. */
quern_status qn_dtype_from_dl(quern_dtype *out, quern_dl_dtype from);
/** Of a dtype that is one. */
/** Errors: QUERN_ERROR_NOT_SUPPORTED for a record. */
quern_status qn_dtype_to_dl(quern_dl_dtype *out, quern_dtype dtype);

/** A tensor of our own is taken by one consumer: true for the first, and for a tensor of somebody
 * else always. */
bool qn_export_take(quern_dl_managed_versioned *tensor);
bool qn_export_take_legacy(quern_dl_managed *tensor);
/** After a failure to take it. */
void qn_export_untake(quern_dl_managed_versioned *tensor);
void qn_export_untake_legacy(quern_dl_managed *tensor);

/** As quern_array_to_dlpack(), without the checks of its arguments. */
quern_status qn_array_to_dlpack(quern_dl_managed_versioned **out, quern_array *array,
                                uint64_t flags);

#endif /* QN_DLPACK_H */
