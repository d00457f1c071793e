/* SPDX-License-Identifier: MIT
 *
 * Inside of compile: nvJitLink's functions as they were found in the loaded library. The list of
 * prototypes is all that Quern knows of its interface; nvJitLink.h of the CUDA Toolkit is not
 * needed to build.
 */
#ifndef QN_COMPILE_NVJITLINK_H
#define QN_COMPILE_NVJITLINK_H

#include "compile/nvrtc.h"

typedef struct nvjitlink_handle *nvjitlink_handle;

#define NVJITLINK_OK 0

/* X(name after "nvJitLink", parameters). All give an int, and are in every nvJitLink since 12.3. */
#define QN_NVJITLINK_FUNCTIONS(X)                                                                  \
    X(Create, (nvjitlink_handle * handle, uint32_t count, const char **options))                   \
    X(Destroy, (nvjitlink_handle * handle))                                                        \
    X(AddData,                                                                                     \
      (nvjitlink_handle handle, int type, const void *data, size_t size, const char *name))        \
    X(Complete, (nvjitlink_handle handle))                                                         \
    X(GetErrorLogSize, (nvjitlink_handle handle, size_t * size))                                   \
    X(GetErrorLog, (nvjitlink_handle handle, char *log))                                           \
    X(GetInfoLogSize, (nvjitlink_handle handle, size_t * size))                                    \
    X(GetInfoLog, (nvjitlink_handle handle, char *log))                                            \
    X(GetLinkedCubinSize, (nvjitlink_handle handle, size_t * size))                                \
    X(GetLinkedCubin, (nvjitlink_handle handle, char *code))                                       \
    X(GetLinkedPtxSize, (nvjitlink_handle handle, size_t * size))                                  \
    X(GetLinkedPtx, (nvjitlink_handle handle, char *code))                                         \
    X(Version, (unsigned *major, unsigned *minor))

typedef struct qn_nvjitlink {
#define QN_NVJITLINK_MEMBER(name, parameters) int(*name) parameters;
    QN_NVJITLINK_FUNCTIONS(QN_NVJITLINK_MEMBER)
#undef QN_NVJITLINK_MEMBER
    unsigned major, minor;
} qn_nvjitlink;

/** The loaded library; loads it. Never unloaded, so *out stays valid. */
quern_status qn_nvjitlink_get(const qn_nvjitlink **out);

#endif /* QN_COMPILE_NVJITLINK_H */
