/* SPDX-License-Identifier: MIT
 *
 * Devices and set-up. These functions report what was found on this machine.
 */
#ifndef QUERN_SETUP_H
#define QUERN_SETUP_H

#include <quern/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct quern_device_info {
    uint32_t size;              /**< sizeof(quern_device_info), set by the caller */
    uint32_t processors;        /**< multiprocessors; threads of the software device */
    char name[128];             /**< "NVIDIA H200", "software device" */
    char id[32];                /**< what opens it: "cuda:0", "soft" */
    char target[32];            /**< what is compiled for: "sm_90", "compute_75" */
    char note[256];             /**< why it cannot be used, or "" */
    uint64_t memory_bytes;      /**< memory of the device; of the host for the software device */
    uint32_t max_block_threads; /**< threads that a block may have */
    uint32_t max_shared_bytes;  /**< shared memory that a block may have, dynamic included */
    uint32_t warp_size;
    uint32_t driver_version; /**< 13000 for 13.0; 0 for the software device */
    char uuid[48];           /**< "GPU-8f3a...", as nvidia-smi prints it; "" for none */
    /** Of streams, as CUDA's: the lower, the more urgent. Known of an engine's device; 0 in a list
     * of devices that are not open, and where all streams are alike. */
    int32_t priority_lowest, priority_highest;
} quern_device_info;

#define QUERN_DEVICE_INFO_INIT                                                                     \
    {                                                                                              \
        sizeof(quern_device_info), 0, "", "", "", "", 0, 0, 0, 0, 0, "", 0, 0                      \
    }

/** The engine's device. Thread-safe; waits for nothing.
 * Errors: QUERN_ERROR_INVALID_ARGUMENT, QUERN_ERROR_DRIVER. */
QUERN_API quern_status quern_device_get_info(quern_device_info *info, quern_engine *engine);

/** Fill up to `capacity` entries of `infos` with every device of this machine, GPUs first, the
 * software device last; *count says how many there are. All entries are as large as `size` of the
 * first one says. Never an error when there is no GPU; no device is opened. Thread-safe.
 * Errors: QUERN_ERROR_INVALID_ARGUMENT. */
QUERN_API quern_status quern_device_list(size_t *count, quern_device_info *infos, size_t capacity);

/** What NVRTC was found, and which of CUDA's headers a source's #include finds first: those of
 * NVRTC's own release if they are there. Loading NVRTC is only attempted when `load` is not 0. */
typedef struct quern_compiler_info {
    uint32_t size;  /**< sizeof(quern_compiler_info), set by the caller */
    uint32_t found; /**< 1 when a library was found */
    int32_t major;  /**< version; 0 when it was not loaded */
    int32_t minor;
    char path[512];        /**< the library file, or "" */
    char identity[64];     /**< the library's build id, in hexadecimal, or "" */
    char problem[1024];    /**< why it cannot be used and where it was looked for, or "" */
    char headers[512];     /**< the folder with CUDA's headers, or "" when there are none */
    int32_t headers_major; /**< the release of CUDA that they state; 0 when there are none */
    int32_t headers_minor;
} quern_compiler_info;

#define QUERN_COMPILER_INFO_INIT                                                                   \
    {                                                                                              \
        sizeof(quern_compiler_info), 0, 0, 0, "", "", "", "", 0, 0                                 \
    }

/** Fill *info. Never an error when there is no compiler: `problem` says why. Thread-safe.
 * Errors: QUERN_ERROR_INVALID_ARGUMENT, QUERN_ERROR_OUT_OF_MEMORY. */
QUERN_API quern_status quern_compiler_get_info(quern_compiler_info *info, int load);

/** Compile with the NVRTC at `path` (copied), a file or the folder that it is in, whatever the
 * environment says; NULL: look for one again. For the whole process, before its first compilation:
 * NVRTC is loaded once. nvJitLink and CUDA's headers are then looked for beside it first.
 * Thread-safe. Errors: QUERN_ERROR_NVRTC_NOT_FOUND when it is not there (and all is as before),
 * QUERN_ERROR_NVRTC when another one was loaded already, QUERN_ERROR_OUT_OF_MEMORY. */
QUERN_API quern_status quern_compiler_use(const char *path);

/** Wait, 10 seconds at most, until no thread compiles or links. For a program that is about to end
 * while threads that it does not join may be compiling: NVRTC takes down what is its in exit(), and
 * a compilation that still runs then crashes. exit() itself waits as well, but not in time for the
 * first compilations of a process. Thread-safe. */
QUERN_API void quern_compiler_wait(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_SETUP_H */
