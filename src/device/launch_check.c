/* SPDX-License-Identifier: MIT
 *
 * A launch against the limits of a device and a function. In: the configuration and the limits.
 * Out: QUERN_OK, or a sentence with the size that is wrong and what is allowed. The software device
 * asks before each launch; the CUDA device only after the driver refused one, to say why.
 */
#include "device/device.h"

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

quern_status qn_launch_check(const quern_launch_config *config, const qn_launch_limits *limits)
{
    QN_TRY(check_axes("grid", config->grid, limits->grid));
    QN_TRY(check_axes("block", config->block, limits->block));
    uint64_t threads = (uint64_t)config->block[0] * config->block[1] * config->block[2];
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
    return QUERN_OK;
}
