/* SPDX-License-Identifier: MIT
 *
 * quern/interop.h beside DLPack's own header. Included behind it, the names of ours are its types,
 * and nothing is cast. Included in front of it (OURS_FIRST), the structures are ours, and every
 * field lies where its has it.
 */
#ifdef OURS_FIRST
#include <quern/interop.h>
#endif

#include <dlpack/dlpack.h>

#ifndef OURS_FIRST
#include <quern/interop.h>
#endif

#ifdef __cplusplus
#define ASSERT(condition) static_assert(condition, #condition)
#else
#define ASSERT(condition) _Static_assert(condition, #condition)
#endif

#define SAME(ours, theirs, field)                                                                  \
    ASSERT(offsetof(ours, field) == offsetof(theirs, field) &&                                     \
           sizeof(((ours *)0)->field) == sizeof(((theirs *)0)->field))
#define WHOLE(ours, theirs) ASSERT(sizeof(ours) == sizeof(theirs))

WHOLE(quern_dl_device, DLDevice);
SAME(quern_dl_device, DLDevice, device_type);
SAME(quern_dl_device, DLDevice, device_id);
WHOLE(quern_dl_dtype, DLDataType);
SAME(quern_dl_dtype, DLDataType, code);
SAME(quern_dl_dtype, DLDataType, bits);
SAME(quern_dl_dtype, DLDataType, lanes);
WHOLE(quern_dl_tensor, DLTensor);
SAME(quern_dl_tensor, DLTensor, data);
SAME(quern_dl_tensor, DLTensor, device);
SAME(quern_dl_tensor, DLTensor, ndim);
SAME(quern_dl_tensor, DLTensor, dtype);
SAME(quern_dl_tensor, DLTensor, shape);
SAME(quern_dl_tensor, DLTensor, strides);
SAME(quern_dl_tensor, DLTensor, byte_offset);
WHOLE(quern_dl_managed, struct DLManagedTensor);
SAME(quern_dl_managed, struct DLManagedTensor, dl_tensor);
SAME(quern_dl_managed, struct DLManagedTensor, manager_ctx);
SAME(quern_dl_managed, struct DLManagedTensor, deleter);
WHOLE(quern_dl_version, DLPackVersion);
SAME(quern_dl_version, DLPackVersion, major);
SAME(quern_dl_version, DLPackVersion, minor);
WHOLE(quern_dl_managed_versioned, struct DLManagedTensorVersioned);
SAME(quern_dl_managed_versioned, struct DLManagedTensorVersioned, version);
SAME(quern_dl_managed_versioned, struct DLManagedTensorVersioned, manager_ctx);
SAME(quern_dl_managed_versioned, struct DLManagedTensorVersioned, deleter);
SAME(quern_dl_managed_versioned, struct DLManagedTensorVersioned, flags);
SAME(quern_dl_managed_versioned, struct DLManagedTensorVersioned, dl_tensor);

ASSERT(QUERN_DL_CPU == (int)kDLCPU && QUERN_DL_CUDA == (int)kDLCUDA);
ASSERT(QUERN_DL_CUDA_HOST == (int)kDLCUDAHost && QUERN_DL_CUDA_MANAGED == (int)kDLCUDAManaged);
ASSERT(QUERN_DL_INT == (int)kDLInt && QUERN_DL_UINT == (int)kDLUInt);
ASSERT(QUERN_DL_FLOAT == (int)kDLFloat && QUERN_DL_BFLOAT == (int)kDLBfloat);
ASSERT(QUERN_DL_COMPLEX == (int)kDLComplex && QUERN_DL_BOOL == (int)kDLBool);
ASSERT(QUERN_DL_READ_ONLY == DLPACK_FLAG_BITMASK_READ_ONLY);
ASSERT(QUERN_DL_IS_COPIED == DLPACK_FLAG_BITMASK_IS_COPIED);

#if DLPACK_MINOR_VERSION >= 3
WHOLE(quern_dl_exchange, DLPackExchangeAPI);
SAME(quern_dl_exchange, DLPackExchangeAPI, header);
SAME(quern_dl_exchange, DLPackExchangeAPI, managed_tensor_allocator);
SAME(quern_dl_exchange, DLPackExchangeAPI, managed_tensor_from_py_object_no_sync);
SAME(quern_dl_exchange, DLPackExchangeAPI, managed_tensor_to_py_object_no_sync);
SAME(quern_dl_exchange, DLPackExchangeAPI, dltensor_from_py_object_no_sync);
SAME(quern_dl_exchange, DLPackExchangeAPI, current_work_stream);
#endif

#ifndef OURS_FIRST
/* Theirs and ours, without a cast. */
quern_status around(quern_array **out, quern_engine *engine, struct DLManagedTensorVersioned *in);
quern_status around(quern_array **out, quern_engine *engine, struct DLManagedTensorVersioned *in)
{
    struct DLManagedTensorVersioned *tensor;
    DLTensor lent;
    quern_status status = quern_array_from_dlpack(out, engine, in);
    status = status == QUERN_OK ? quern_array_to_dlpack(&tensor, *out, 0) : status;
    return status == QUERN_OK ? quern_array_to_dltensor(&lent, *out) : status;
}
#if DLPACK_MINOR_VERSION >= 3
extern DLPackExchangeAPI table;
DLPackExchangeAPI table = {{{1, 3}, NULL}, quern_dlpack_allocate,      NULL, NULL,
                           NULL,           quern_dlpack_current_stream};
#endif
#endif
