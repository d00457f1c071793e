/* SPDX-License-Identifier: MIT
 *
 * A launch against the limits of a device and a function. In: the configuration and the limits.
 * Out: QUERN_OK, or a sentence with the size that is wrong and what is allowed. The software device
 * asks before each launch; the CUDA device only after the driver refused one, to say why.
 */
#include "device/device_internal.h"

static quern_status check_axes(const char *what, const uint32_t size[3], const uint32_t limit[3])
{
    static const char axes[] = "xyz";
    for (int k = 0; k < 3; k++) {
        if (size[k] == 0) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                           "the %s is %u x %u x %u; every extent must be at least 1", what, size[0],
                           size[1], size[2]);
        }
        if (size[k] > limit[k]) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                           "the %s is %u x %u x %u; along %c this device allows at most %u", what,
                           size[0], size[1], size[2], axes[k], limit[k]);
        }
    }
    return QUERN_OK;
}

static uint64_t product(const uint32_t size[3])
{
    return (uint64_t)size[0] * size[1] * size[2];
}

/* A double, because the number of blocks may not fit 64 bits. */
static double blocks_of(const uint32_t grid[3])
{
    return (double)grid[0] * grid[1] * grid[2];
}

static quern_status check_cooperative(const quern_launch_config *config,
                                      const qn_launch_limits *limits)
{
    double blocks = blocks_of(config->grid);
    uint64_t fit = (uint64_t)limits->processors * limits->resident_blocks;
    if (!config->cooperative || limits->resident_blocks == UINT32_MAX || blocks <= (double)fit) {
        return QUERN_OK;
    }
    return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                   "a cooperative launch of %.0f blocks: all must run at once, and of this kernel, "
                   "with %llu threads and %u bytes of dynamic shared memory a block, %llu fit %s "
                   "(%u on each of its %u processors)",
                   blocks, (unsigned long long)product(config->block), config->shared_bytes,
                   (unsigned long long)fit, limits->device ? limits->device : "this device",
                   limits->resident_blocks, limits->processors);
}

static quern_status check_cluster(const quern_launch_config *config, const qn_launch_limits *limits)
{
    static const char axes[] = "xyz";
    if (config->cluster[0] == 0) {
        return QUERN_OK;
    }
    uint32_t size[3];
    for (int k = 0; k < 3; k++) {
        size[k] = QN_MAX(config->cluster[k], 1u);
        if (config->grid[k] % size[k] != 0) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                           "along %c clusters of %u blocks do not divide the grid of %u", axes[k],
                           size[k], config->grid[k]);
        }
    }
    double blocks = blocks_of(size);
    if (blocks <= limits->cluster_blocks) {
        return QUERN_OK;
    }
    if (limits->cluster_blocks <= 1) {
        return qn_fail(QUERN_ERROR_NOT_SUPPORTED,
                       "a cluster of %.0f blocks (%u x %u x %u), and this device has no clusters: "
                       "they need a GPU of compute capability 9.0 or newer",
                       blocks, size[0], size[1], size[2]);
    }
    return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                   "a cluster of %.0f blocks (%u x %u x %u); this kernel can be launched with at "
                   "most %u on this device; more than 8 need QUERN_FUNCTION_NON_PORTABLE_CLUSTER, "
                   "where the GPU allows them at all",
                   blocks, size[0], size[1], size[2], limits->cluster_blocks);
}

quern_status qn_launch_check(const quern_launch_config *config, const qn_launch_limits *limits)
{
    QN_TRY(check_axes("grid", config->grid, limits->grid));
    QN_TRY(check_axes("block", config->block, limits->block));
    uint64_t threads = product(config->block);
    if (threads > limits->block_threads) {
        return qn_fail(
            QUERN_ERROR_INVALID_ARGUMENT,
            "the block has %llu threads (%u x %u x %u); this kernel can be launched with "
            "at most %u on this device",
            (unsigned long long)threads, config->block[0], config->block[1], config->block[2],
            limits->block_threads);
    }
    uint64_t shared = (uint64_t)config->shared_bytes + limits->static_shared;
    if (shared > limits->shared_bytes) {
        return qn_fail(
            QUERN_ERROR_INVALID_ARGUMENT,
            "the launch needs %llu bytes of shared memory a block (%u dynamic, %u static); "
            "this device has %u",
            (unsigned long long)shared, config->shared_bytes, limits->static_shared,
            limits->shared_bytes);
    }
    QN_TRY(check_cluster(config, limits));
    return check_cooperative(config, limits);
}
