/* SPDX-License-Identifier: MIT
 *
 * --explain and --show-source for a raw kernel: what the library knows of the function, and the
 * file that it comes from. Nothing is launched, and arguments are not looked at.
 */
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ", of 4, 8 and 8 bytes", or "" where the device does not say. */
static const char *sizes_text(quern_function *function, size_t count)
{
    const char *text = count > 0 ? ", of " : "";
    for (size_t k = 0; k < count; k++) {
        uint64_t offset, bytes;
        if (quern_function_get_parameter(&offset, &bytes, function, k) != QUERN_OK) {
            return "";
        }
        const char *separator = k == 0 ? "" : k + 1 < count ? ", " : " and ";
        text = cli_sprintf("%s%s%llu", text, separator, (unsigned long long)bytes);
    }
    return count > 0 ? cli_sprintf("%s bytes", text) : text;
}

/* Where the image came from: the module is all that the engine has loaded. */
static const char *origin_text(quern_engine *engine)
{
    quern_cache_stats stats = {.size = sizeof stats};
    if (quern_cache_get_stats(&stats, engine) != QUERN_OK) {
        return "not known, for the cache cannot be read";
    }
    return stats.compiled > 0 ? "compiled" : stats.hits > 0 ? "from cache" : "from the file";
}

/* Threads of a block: those of --block, else as many as the function can have. */
static uint32_t block_threads(const quern_launch_options *launch, const quern_function_info *info)
{
    uint64_t threads = 1;
    for (int k = 0; k < 3 && threads <= info->max_threads; k++) {
        threads *= launch->block[k] ? launch->block[k] : 1;
    }
    return launch->block[0] && threads <= info->max_threads ? (uint32_t)threads : info->max_threads;
}

static int print_occupancy(const cli_job *job, const quern_function_info *info)
{
    uint32_t blocks, threads = block_threads(&job->launch, info);
    if (quern_function_occupancy(&blocks, job->function, threads, job->launch.shared_bytes) !=
        QUERN_OK) {
        return cli_fail_library(NULL);
    }
    if (blocks > 0) {
        printf("occupancy: %u block%s of %u threads a processor\n", blocks, blocks == 1 ? "" : "s",
               threads);
    }
    return CLI_OK;
}

int cli_explain_function(const cli_job *job, const char *name)
{
    quern_function_info info = {.size = sizeof info};
    const char *origin = origin_text(job->engine);
    if (quern_function_get_info(&info, job->function) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    printf("kernel:    %s\n", name);
    if (info.parameter_count != SIZE_MAX) {
        printf("arguments: %zu%s\n", info.parameter_count,
               sizes_text(job->function, info.parameter_count));
    }
    if (info.binary_version || info.ptx_version) {
        printf("target:    %s_%u\n", info.binary_version ? "sm" : "compute",
               info.binary_version ? info.binary_version : info.ptx_version);
    }
    printf("image:     %s\n", origin);
    if (info.registers) {
        printf("registers: %u a thread\n", info.registers);
    }
    printf("memory:    %u bytes shared a block, %u bytes local a thread, %u bytes constant\n",
           info.shared_bytes, info.local_bytes, info.constant_bytes);
    printf("limits:    %u threads a block, %u bytes of dynamic shared memory\n", info.max_threads,
           info.max_dynamic_shared);
    return print_occupancy(job, &info);
}

int cli_show_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char part[4096];
    size_t length = file ? fread(part, 1, sizeof part, file) : 0;
    bool compiled = memchr(part, 0, length) != NULL;
    while (length > 0 && !compiled) {
        fwrite(part, 1, length, stdout);
        length = fread(part, 1, sizeof part, file);
    }
    bool failed = !file || ferror(file);
    int code = errno;
    if (file) {
        fclose(file);
    }
    if (failed) {
        return cli_fail("cannot read \"%s\": %s", path, strerror(code));
    }
    return compiled ? cli_fail("\"%s\" is compiled: it has no source", path) : CLI_OK;
}
