/* SPDX-License-Identifier: MIT
 *
 * How a test drives the stand-in for libcuda: what it has been asked, and what it must answer next.
 * Before it is loaded, the environment decides: FAKE_CUDA_VERSION (13000), FAKE_CUDA_INIT (the
 * result of cuInit), FAKE_CUDA_DEVICES (how many), FAKE_CUDA_POOLS (0: unsupported), FAKE_CUDA_ARCH
 * (9, of compute capability 9.0), FAKE_CUDA_PEERS (0: none can use another's memory). In a process
 * that was forked after cuInit() every function ends the process.
 */
#ifndef FAKE_LIBCUDA_H
#define FAKE_LIBCUDA_H

#include "device/cuda/cuda_api.h"
#include <stdbool.h>

typedef struct fake_cuda {
    /** How often a function was called. */
    int (*calls)(const char *symbol);
    /** From now on `symbol` returns `result` instead of working, `times` times (-1: always). */
    void (*fail)(const char *symbol, cu_result result, int times);
    cu_context (*primary)(int device);
    /** How often the primary context of a device is retained. */
    int (*retained)(int device);
    /** Allocations that are not yet freed. */
    int (*allocations)(void);
    /** From now on the driver knows [memory, memory + bytes) as this, beside what it allocated
     * itself: memory of device `ordinal`. `type` 0: it does not know it any more. */
    void (*declare)(void *memory, size_t bytes, int type, int ordinal, int managed, unsigned flags);
    int (*streams)(void); /**< the same of streams, */
    int (*graphs)(void);  /**< and of graphs, instantiated or not, */
    int (*texels)(void);  /**< and of CUDA arrays, textures and surfaces together */
    /** What a CUDA array and a texture were made of last. */
    cu_array_descriptor last_array;
    cu_resource last_resource;
    cu_texture_descriptor last_texture;
    unsigned last_stream_flags;
    int last_stream_priority;
    bool not_ready; /**< what cuEventQuery and cuStreamQuery answer */
    uint32_t last_grid[3], last_block[3], last_shared;
    uint32_t last_cluster[3], last_cooperative,
        last_overlap; /**< of the last launch that asked for them */
    int32_t last_priority;
    uint32_t required_cluster[3]; /**< which every function is compiled for; 0: none */
    cu_context launch_context;
    /** A function that every module has besides saxpy. Launching it only records the first 8 bytes
     * of its first `recorded` parameters. */
    const char *also;
    unsigned recorded;
    uint64_t parameters[8];
    bool direct; /**< the last copy from one device to another went directly */
    bool cubin;  /**< the last module was loaded from an ELF file */
} fake_cuda;

/** The symbol that a test looks up in the loaded library. */
typedef fake_cuda *(*fake_cuda_get_function)(void);

#endif /* FAKE_LIBCUDA_H */
