/* SPDX-License-Identifier: MIT
 *
 * The part of the CUDA Driver API that Quern uses, declared by ourselves: building needs no CUDA
 * Toolkit. In: nothing. Out: the few types, numbers and one list of functions, from which the table
 * of pointers, the loading and the tests' stand-in are made.
 *
 * Values are those of the driver's binary interface, which never change. The list names the
 * versioned symbols (cuMemAlloc_v2), because the plain ones are older functions with other
 * parameters.
 */
#ifndef QN_CUDA_API_H
#define QN_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

typedef int cu_result;
typedef int cu_device;
typedef unsigned long long cu_pointer;
typedef struct CUctx_st *cu_context;
typedef struct CUmod_st *cu_module;
typedef struct CUfunc_st *cu_function;
typedef struct CUstream_st *cu_stream;
typedef struct CUevent_st *cu_event;
typedef struct CUmemPoolHandle_st *cu_pool;
typedef struct CUgraph_st *cu_graph;
typedef struct CUgraphExec_st *cu_graph_exec;
typedef struct CUuserObject_st *cu_object;
typedef struct CUarray_st *cu_array;
typedef unsigned long long cu_texels; /* a CUtexObject or CUsurfObject */

/** The oldest driver that is served: that of CUDA 12.0. */
#define CU_OLDEST_DRIVER 12000

enum { /* results that are told apart; cuda_error.c has a line for each that needs advice */
       CU_FORKED = -1, /* ours: this process is the child of one that used the driver */
       CU_SUCCESS = 0,
       CU_INVALID_VALUE = 1,
       CU_OUT_OF_MEMORY = 2,
       CU_NOT_INITIALIZED = 3,
       CU_DEINITIALIZED = 4,
       CU_STUB_LIBRARY = 34,
       CU_DEVICE_UNAVAILABLE = 46,
       CU_NO_DEVICE = 100,
       CU_INVALID_DEVICE = 101,
       CU_INVALID_IMAGE = 200,
       CU_INVALID_CONTEXT = 201,
       CU_NO_BINARY_FOR_GPU = 209,
       CU_INVALID_PTX = 218,
       CU_JIT_COMPILER_NOT_FOUND = 221,
       CU_UNSUPPORTED_PTX_VERSION = 222,
       CU_INVALID_SOURCE = 300,
       CU_NOT_FOUND = 500,
       CU_NOT_READY = 600,
       CU_ILLEGAL_ADDRESS = 700,
       CU_PEER_ACCESS_ALREADY_ENABLED = 704,
       CU_LAUNCH_OUT_OF_RESOURCES = 701,
       CU_LAUNCH_TIMEOUT = 702,
       CU_CONTEXT_IS_DESTROYED = 709,
       CU_ASSERT = 710,
       CU_HARDWARE_STACK_ERROR = 714,
       CU_ILLEGAL_INSTRUCTION = 715,
       CU_MISALIGNED_ADDRESS = 716,
       CU_INVALID_ADDRESS_SPACE = 717,
       CU_INVALID_PC = 718,
       CU_LAUNCH_FAILED = 719,
       CU_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
       CU_NOT_PERMITTED = 800,
       CU_NOT_SUPPORTED = 801,
       CU_SYSTEM_NOT_READY = 802,
       CU_SYSTEM_DRIVER_MISMATCH = 803,
       CU_STREAM_CAPTURE_UNSUPPORTED = 900,
       CU_STREAM_CAPTURE_INVALIDATED = 901,
       CU_STREAM_CAPTURE_UNMATCHED = 903,
       CU_STREAM_CAPTURE_UNJOINED = 904,
       CU_STREAM_CAPTURE_ISOLATION = 905,
       CU_STREAM_CAPTURE_IMPLICIT = 906,
       CU_CAPTURED_EVENT = 907,
       CU_INVALID_CLUSTER_SIZE = 912,
       CU_UNKNOWN = 999,
};

typedef enum cu_device_attribute {
    CU_MAX_THREADS_PER_BLOCK = 1,
    CU_MAX_BLOCK_DIM_X = 2, /* y: 3, z: 4 */
    CU_MAX_GRID_DIM_X = 5,  /* y: 6, z: 7 */
    CU_WARP_SIZE = 10,
    CU_MULTIPROCESSOR_COUNT = 16,
    CU_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_COMPUTE_CAPABILITY_MINOR = 76,
    CU_TEXTURE_ALIGNMENT = 14,
    CU_MAX_TEXTURE_1D = 21,         /* width */
    CU_MAX_TEXTURE_2D = 22,         /* width, 23: height */
    CU_MAX_TEXTURE_3D = 24,         /* width, 25: height, 26: depth */
    CU_MAX_TEXTURE_2D_LAYERED = 27, /* width, 28: height, 29: layers */
    CU_MAX_TEXTURE_1D_LAYERED = 42, /* width, 43: layers */
    CU_TEXTURE_PITCH_ALIGNMENT = 51,
    CU_MAX_TEXTURE_PITCHED = 70, /* width, 71: height, 72: bytes from row to row */
    CU_MAX_SHARED_PER_BLOCK_OPTIN = 97,
    CU_MEMORY_POOLS_SUPPORTED = 115,
} cu_device_attribute;

typedef enum cu_function_attribute {
    CU_FUNC_MAX_THREADS = 0,
    CU_FUNC_SHARED_BYTES = 1,
    CU_FUNC_CONSTANT_BYTES = 2,
    CU_FUNC_LOCAL_BYTES = 3,
    CU_FUNC_REGISTERS = 4,
    CU_FUNC_PTX_VERSION = 5,
    CU_FUNC_BINARY_VERSION = 6,
    CU_FUNC_MAX_DYNAMIC_SHARED = 8,
    CU_FUNC_SHARED_CARVEOUT = 9,
    CU_FUNC_REQUIRED_CLUSTER_X = 11, /* y: 12, z: 13; 0: none */
    CU_FUNC_NON_PORTABLE_CLUSTER = 14,
} cu_function_attribute;

typedef enum cu_jit_option {
    CU_JIT_INFO_LOG = 3,
    CU_JIT_INFO_LOG_BYTES = 4,
    CU_JIT_ERROR_LOG = 5,
    CU_JIT_ERROR_LOG_BYTES = 6,
} cu_jit_option;

enum { CU_STREAM_DEFAULT = 0, CU_STREAM_NON_BLOCKING = 1 };
enum { CU_EVENT_DEFAULT = 0, CU_EVENT_NO_TIMING = 2 };
enum { CU_CAPTURE_GLOBAL = 0, CU_CAPTURE_THREAD = 1, CU_CAPTURE_RELAXED = 2 }; /* modes */
enum { CU_CAPTURE_NONE = 0, CU_CAPTURE_ACTIVE = 1, CU_CAPTURE_BROKEN = 2 };    /* of a stream */
enum { CU_OBJECT_NO_SYNC = 1, CU_OBJECT_MOVE = 1 }; /* of objects that graphs hold */
enum { CU_HOST_PORTABLE = 1, CU_HOST_MAPPED = 2, CU_ATTACH_GLOBAL = 1 };
typedef enum cu_pointer_attribute {
    CU_POINTER_MEMORY_TYPE = 2,
    CU_POINTER_DEVICE_POINTER = 3,
    CU_POINTER_IS_MANAGED = 8,
    CU_POINTER_DEVICE_ORDINAL = 9,
} cu_pointer_attribute;

enum { /* types of memory; 0: the driver does not know the address */
       CU_MEMORY_HOST = 1,
       CU_MEMORY_DEVICE = 2,
};
enum { CU_HOST_DEVICE_MAP = 2 }; /* a flag of pinned memory */

typedef enum cu_pool_attribute {
    CU_POOL_RELEASE_THRESHOLD = 4,
    CU_POOL_RESERVED = 5, /* bytes, now */
} cu_pool_attribute;

/** Who may use the memory of a pool. */
typedef struct cu_pool_access {
    int location_type; /**< 1: a device */
    int location_id;
    int flags; /**< 3: reading and writing */
} cu_pool_access;

typedef struct cu_uuid {
    unsigned char bytes[16];
} cu_uuid;

typedef struct cu_pool_props {
    int allocation_type; /**< 1: pinned, the only one */
    int handle_types;    /**< 0: cannot be shared with other processes */
    int location_type;   /**< 1: a device */
    int location_id;
    void *security;
    unsigned char reserved[64];
} cu_pool_props;

/** One property of a launch; `value` has 64 bytes whatever is in it. */
typedef struct cu_launch_attribute {
    int32_t id;
    int32_t padding;
    union {
        int32_t number;
        uint32_t extents[3];
        unsigned char room[64];
    } value;
} cu_launch_attribute;

enum { /* ids of attributes */
       CU_LAUNCH_COOPERATIVE = 2,
       CU_LAUNCH_CLUSTER = 4,
       CU_LAUNCH_OVERLAP = 6, /* programmatic stream serialization */
       CU_LAUNCH_PRIORITY = 8,
};

typedef struct cu_launch_config {
    uint32_t grid[3], block[3], shared_bytes;
    cu_stream stream;
    cu_launch_attribute *attributes;
    uint32_t attribute_count;
} cu_launch_config;

/** What a CUDA array is made of. */
typedef struct cu_array_descriptor {
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
} cu_array_descriptor;

enum { CU_ARRAY_LAYERED = 1, CU_ARRAY_SURFACE = 2, CU_ARRAY_GATHER = 8 }; /* its flags */
enum {                                                                    /* formats of a channel */
       CU_UINT8 = 0x01,
       CU_UINT16 = 0x02,
       CU_UINT32 = 0x03,
       CU_INT8 = 0x08,
       CU_INT16 = 0x09,
       CU_INT32 = 0x0a,
       CU_FLOAT16 = 0x10,
       CU_FLOAT32 = 0x20,
};

/** One side of a copy in three dimensions; the driver finds out itself what kind of memory an
 * address of CU_MEMORY_UNIFIED is. */
typedef struct cu_copy_side {
    size_t x, y, z, level; /**< x in bytes */
    int memory;
    const void *host;
    cu_pointer device;
    cu_array array;
    void *reserved;
    size_t pitch, height;
} cu_copy_side;
enum { CU_MEMORY_ARRAY = 3, CU_MEMORY_UNIFIED = 4 };

typedef struct cu_copy_3d {
    cu_copy_side from, to;
    size_t width, height, depth; /**< the width in bytes */
} cu_copy_3d;

/** What a texture or a surface reads. */
typedef struct cu_resource {
    int type;
    union {
        cu_array array;
        struct {
            cu_pointer device;
            int format;
            unsigned channels;
            size_t bytes;
        } linear;
        struct {
            cu_pointer device;
            int format;
            unsigned channels;
            size_t width, height, pitch;
        } pitched;
        int room[32];
    } of;
    unsigned flags;
} cu_resource;
enum { CU_RESOURCE_ARRAY = 0, CU_RESOURCE_LINEAR = 2, CU_RESOURCE_PITCHED = 3 };

/** How a texture reads. */
typedef struct cu_texture_descriptor {
    int address[3], filter;
    unsigned flags, max_anisotropy;
    int mipmap_filter;
    float mipmap_bias, mipmap_least, mipmap_most;
    float border[4];
    int reserved[12];
} cu_texture_descriptor;
enum { CU_READ_AS_INTEGER = 1, CU_NORMALIZED_COORDINATES = 2, CU_SRGB = 0x10 }; /* its flags */

/* X(field, symbol, parameters). Every function returns a cu_result. */
#define CU_FUNCTIONS(X)                                                                            \
    X(driver_version, cuDriverGetVersion, (int *version))                                          \
    X(init, cuInit, (unsigned flags))                                                              \
    X(error_name, cuGetErrorName, (cu_result result, const char **name))                           \
    X(error_string, cuGetErrorString, (cu_result result, const char **text))                       \
    /* devices and contexts */                                                                     \
    X(device_count, cuDeviceGetCount, (int *count))                                                \
    X(device_get, cuDeviceGet, (cu_device * device, int ordinal))                                  \
    X(device_name, cuDeviceGetName, (char *name, int size, cu_device device))                      \
    X(device_attribute, cuDeviceGetAttribute,                                                      \
      (int *value, cu_device_attribute attribute, cu_device device))                               \
    X(device_memory, cuDeviceTotalMem_v2, (size_t * bytes, cu_device device))                      \
    X(device_uuid, cuDeviceGetUuid_v2, (cu_uuid * uuid, cu_device device))                         \
    X(device_peer, cuDeviceCanAccessPeer, (int *can, cu_device device, cu_device peer))            \
    X(primary_retain, cuDevicePrimaryCtxRetain, (cu_context * context, cu_device device))          \
    X(primary_release, cuDevicePrimaryCtxRelease_v2, (cu_device device))                           \
    X(context_get, cuCtxGetCurrent, (cu_context * context))                                        \
    X(context_set, cuCtxSetCurrent, (cu_context context))                                          \
    X(context_synchronize, cuCtxSynchronize, (void))                                               \
    X(context_peer, cuCtxEnablePeerAccess, (cu_context peer, unsigned flags))                      \
    /* memory */                                                                                   \
    X(memory_info, cuMemGetInfo_v2, (size_t * available, size_t * total))                          \
    X(memory_allocate, cuMemAlloc_v2, (cu_pointer * pointer, size_t bytes))                        \
    X(memory_free, cuMemFree_v2, (cu_pointer pointer))                                             \
    X(pool_new, cuMemPoolCreate, (cu_pool * pool, const cu_pool_props *props))                     \
    X(pool_free, cuMemPoolDestroy, (cu_pool pool))                                                 \
    X(pool_set, cuMemPoolSetAttribute, (cu_pool pool, cu_pool_attribute attribute, void *value))   \
    X(pool_get, cuMemPoolGetAttribute, (cu_pool pool, cu_pool_attribute attribute, void *value))   \
    X(pool_access, cuMemPoolSetAccess, (cu_pool pool, const cu_pool_access *access, size_t count)) \
    X(pool_trim, cuMemPoolTrimTo, (cu_pool pool, size_t bytes))                                    \
    X(pool_allocate, cuMemAllocFromPoolAsync,                                                      \
      (cu_pointer * pointer, size_t bytes, cu_pool pool, cu_stream stream))                        \
    X(free_async, cuMemFreeAsync, (cu_pointer pointer, cu_stream stream))                          \
    X(host_allocate, cuMemHostAlloc, (void **pointer, size_t bytes, unsigned flags))               \
    X(host_free, cuMemFreeHost, (void *pointer))                                                   \
    X(managed_allocate, cuMemAllocManaged, (cu_pointer * pointer, size_t bytes, unsigned flags))   \
    X(pointer_attributes, cuPointerGetAttributes,                                                  \
      (unsigned count, cu_pointer_attribute *attributes, void **values, cu_pointer pointer))       \
    X(host_flags, cuMemHostGetFlags, (unsigned *flags, void *pointer))                             \
    X(copy_to_device, cuMemcpyHtoDAsync_v2,                                                        \
      (cu_pointer to, const void *from, size_t bytes, cu_stream stream))                           \
    X(copy_to_host, cuMemcpyDtoHAsync_v2,                                                          \
      (void *to, cu_pointer from, size_t bytes, cu_stream stream))                                 \
    X(copy_on_device, cuMemcpyDtoDAsync_v2,                                                        \
      (cu_pointer to, cu_pointer from, size_t bytes, cu_stream stream))                            \
    X(copy_peer, cuMemcpyPeerAsync,                                                                \
      (cu_pointer to, cu_context to_context, cu_pointer from, cu_context from_context,             \
       size_t bytes, cu_stream stream))                                                            \
    X(set_8, cuMemsetD8Async,                                                                      \
      (cu_pointer to, unsigned char value, size_t count, cu_stream stream))                        \
    X(set_16, cuMemsetD16Async,                                                                    \
      (cu_pointer to, unsigned short value, size_t count, cu_stream stream))                       \
    X(set_32, cuMemsetD32Async,                                                                    \
      (cu_pointer to, unsigned int value, size_t count, cu_stream stream))                         \
    X(set_rows_8, cuMemsetD2D8Async,                                                               \
      (cu_pointer to, size_t pitch, unsigned char value, size_t width, size_t height,              \
       cu_stream stream))                                                                          \
    X(set_rows_16, cuMemsetD2D16Async,                                                             \
      (cu_pointer to, size_t pitch, unsigned short value, size_t width, size_t height,             \
       cu_stream stream))                                                                          \
    X(set_rows_32, cuMemsetD2D32Async,                                                             \
      (cu_pointer to, size_t pitch, unsigned int value, size_t width, size_t height,               \
       cu_stream stream))                                                                          \
    /* textures and surfaces */                                                                    \
    X(array_new, cuArray3DCreate_v2, (cu_array * array, const cu_array_descriptor *descriptor))    \
    X(array_free, cuArrayDestroy, (cu_array array))                                                \
    X(copy_3d, cuMemcpy3DAsync_v2, (const cu_copy_3d *copy, cu_stream stream))                     \
    X(texture_new, cuTexObjectCreate,                                                              \
      (cu_texels * texture, const cu_resource *resource, const cu_texture_descriptor *descriptor,  \
       const void *view))                                                                          \
    X(texture_free, cuTexObjectDestroy, (cu_texels texture))                                       \
    X(surface_new, cuSurfObjectCreate, (cu_texels * surface, const cu_resource *resource))         \
    X(surface_free, cuSurfObjectDestroy, (cu_texels surface))                                      \
    /* code */                                                                                     \
    X(module_load, cuModuleLoadDataEx,                                                             \
      (cu_module * module, const void *image, unsigned option_count, cu_jit_option *options,       \
       void **values))                                                                             \
    X(module_free, cuModuleUnload, (cu_module module))                                             \
    X(module_function, cuModuleGetFunction,                                                        \
      (cu_function * function, cu_module module, const char *name))                                \
    X(module_global, cuModuleGetGlobal_v2,                                                         \
      (cu_pointer * pointer, size_t * bytes, cu_module module, const char *name))                  \
    X(function_get, cuFuncGetAttribute,                                                            \
      (int *value, cu_function_attribute attribute, cu_function function))                         \
    X(function_set, cuFuncSetAttribute,                                                            \
      (cu_function function, cu_function_attribute attribute, int value))                          \
    X(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor,                                      \
      (int *blocks, cu_function function, int block_threads, size_t shared_bytes))                 \
    X(occupancy_cluster, cuOccupancyMaxPotentialClusterSize,                                       \
      (int *blocks, cu_function function, const cu_launch_config *config))                         \
    X(launch, cuLaunchKernel,                                                                      \
      (cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,  \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, cu_stream stream,                \
       void **parameters, void **extra))                                                           \
    X(launch_with, cuLaunchKernelEx,                                                               \
      (const cu_launch_config *config, cu_function function, void **parameters, void **extra))     \
    /* streams and events */                                                                       \
    X(stream_new, cuStreamCreate, (cu_stream * stream, unsigned flags))                            \
    X(stream_new_with, cuStreamCreateWithPriority,                                                 \
      (cu_stream * stream, unsigned flags, int priority))                                          \
    X(stream_priorities, cuCtxGetStreamPriorityRange, (int *lowest, int *highest))                 \
    X(stream_call, cuLaunchHostFunc, (cu_stream stream, void (*function)(void *), void *context))  \
    X(stream_free, cuStreamDestroy_v2, (cu_stream stream))                                         \
    X(stream_synchronize, cuStreamSynchronize, (cu_stream stream))                                 \
    X(stream_wait_event, cuStreamWaitEvent, (cu_stream stream, cu_event event, unsigned flags))    \
    X(event_new, cuEventCreate, (cu_event * event, unsigned flags))                                \
    X(event_free, cuEventDestroy_v2, (cu_event event))                                             \
    X(event_record, cuEventRecord, (cu_event event, cu_stream stream))                             \
    X(event_query, cuEventQuery, (cu_event event))                                                 \
    X(stream_query, cuStreamQuery, (cu_stream stream))                                             \
    X(event_synchronize, cuEventSynchronize, (cu_event event))                                     \
    X(event_elapsed, cuEventElapsedTime, (float *milliseconds, cu_event begin, cu_event end))      \
    /* graphs */                                                                                   \
    X(capture_begin, cuStreamBeginCapture_v2, (cu_stream stream, unsigned mode))                   \
    X(capture_end, cuStreamEndCapture, (cu_stream stream, cu_graph * graph))                       \
    X(graph_instantiate, cuGraphInstantiateWithFlags,                                              \
      (cu_graph_exec * exec, cu_graph graph, unsigned long long flags))                            \
    X(graph_launch, cuGraphLaunch, (cu_graph_exec exec, cu_stream stream))                         \
    X(graph_free, cuGraphDestroy, (cu_graph graph))                                                \
    X(graph_exec_free, cuGraphExecDestroy, (cu_graph_exec exec))                                   \
    X(capture_info, cuStreamGetCaptureInfo_v2,                                                     \
      (cu_stream stream, unsigned *state, uint64_t *number, cu_graph *graph, const void **nodes,   \
       size_t *node_count))                                                                        \
    X(capture_mode, cuThreadExchangeStreamCaptureMode, (unsigned *mode))                           \
    X(object_new, cuUserObjectCreate,                                                              \
      (cu_object * object, void *pointer, void (*destroy)(void *pointer), unsigned references,     \
       unsigned flags))                                                                            \
    X(graph_hold, cuGraphRetainUserObject,                                                         \
      (cu_graph graph, cu_object object, unsigned references, unsigned flags))

/* Those that came with CUDA 12.3 and 12.4: NULL in an older driver. */
#define CU_NEWER_FUNCTIONS(X)                                                                      \
    X(function_parameter, cuFuncGetParamInfo,                                                      \
      (cu_function function, size_t index, size_t * offset, size_t * bytes))                       \
    X(function_name, cuFuncGetName, (const char **name, cu_function function))                     \
    X(module_function_count, cuModuleGetFunctionCount, (unsigned *count, cu_module module))        \
    X(module_functions, cuModuleEnumerateFunctions,                                                \
      (cu_function * functions, unsigned count, cu_module module))

/** The functions, as members: api.launch(...). */
typedef struct cu_api {
#define CU_MEMBER(field, symbol, parameters) cu_result(*field) parameters;
    CU_FUNCTIONS(CU_MEMBER)
    CU_NEWER_FUNCTIONS(CU_MEMBER)
#undef CU_MEMBER
} cu_api;

#endif /* QN_CUDA_API_H */
