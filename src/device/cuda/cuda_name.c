/* SPDX-License-Identifier: MIT
 *
 * Which GPU a name means. In: what stands after "cuda:", a number or the beginning of a UUID as
 * nvidia-smi prints it. Out: the driver's number, or a sentence that says what there is. Both count
 * only what CUDA_VISIBLE_DEVICES leaves visible, because the driver tells of nothing else.
 */
#include "device/cuda/cuda_device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void qn_cuda_uuid_print(char out[QN_UUID_TEXT], cu_device device, const char *name)
{
    cu_uuid uuid;
    out[0] = '\0';
    if (qn_cuda.device_uuid(&uuid, device) != CU_SUCCESS) {
        return;
    }
    size_t length =
        (size_t)snprintf(out, QN_UUID_TEXT, "%s-", strstr(name, " MIG ") ? "MIG" : "GPU");
    for (size_t k = 0; k < sizeof uuid.bytes; k++) {
        const bool dash = k == 4 || k == 6 || k == 8 || k == 10;
        length += (size_t)snprintf(out + length, QN_UUID_TEXT - length, dash ? "-%02x" : "%02x",
                                   uuid.bytes[k]);
    }
}

/* How many there are, in words, and why not more. */
static void tell_count(char *out, size_t size, int count)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    snprintf(out, size, "%s %d GPU%s%s%s%s", visible ? "this process sees" : "this machine has",
             count, count == 1 ? ", cuda:0" : "s, numbered from 0",
             visible ? ", as CUDA_VISIBLE_DEVICES is \"" : "", visible ? visible : "",
             visible ? "\"" : "");
}

static quern_status find_number(int *ordinal, const char *argument, int count)
{
    char *end, there[300];
    errno = 0;
    long value = strtol(argument, &end, 10);
    if (argument[0] < '0' || argument[0] > '9' || *end || errno || value > 1 << 20) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "\"cuda:%s\" does not name a GPU: its number comes after the colon, as in "
                       "\"cuda:0\", or its UUID or the beginning of it, as in \"cuda:GPU-8f3a\"",
                       argument);
    }
    if (value >= count) {
        tell_count(there, sizeof there, count);
        return qn_fail(QUERN_ERROR_NO_DEVICE, "there is no cuda:%ld: %s", value, there);
    }
    *ordinal = (int)value;
    return QUERN_OK;
}

static void print_of(char out[QN_UUID_TEXT], int ordinal)
{
    cu_device device;
    char name[128] = "";
    out[0] = '\0';
    if (qn_cuda.device_get(&device, ordinal) == CU_SUCCESS) {
        (void)qn_cuda.device_name(name, sizeof name, device);
        qn_cuda_uuid_print(out, device, name);
    }
}

static quern_status fail_uuid(const char *argument, int count, int found)
{
    char there[300], uuid[QN_UUID_TEXT];
    tell_count(there, sizeof there, count);
    if (found > 1) {
        qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                "\"cuda:%s\" means %d GPUs; write more of it:", argument, found);
    } else {
        qn_fail(QUERN_ERROR_NO_DEVICE,
                "there is no GPU whose UUID begins with \"%s\": %s:", argument, there);
    }
    for (int k = 0; k < count; k++) {
        print_of(uuid, k);
        qn_error_suffix("%s cuda:%d is %s", k > 0 ? "," : "", k, uuid);
    }
    return found > 1 ? QUERN_ERROR_INVALID_ARGUMENT : QUERN_ERROR_NO_DEVICE;
}

static quern_status find_uuid(int *ordinal, const char *argument, int count)
{
    int found = 0;
    char uuid[QN_UUID_TEXT];
    for (int k = 0; k < count; k++) {
        print_of(uuid, k);
        if (strncasecmp(uuid, argument, strlen(argument)) == 0) {
            *ordinal = k;
            found++;
        }
    }
    return found == 1 ? QUERN_OK : fail_uuid(argument, count, found);
}

quern_status qn_cuda_find(int *ordinal, const char *argument, int count)
{
    *ordinal = 0;
    if (!argument) {
        return QUERN_OK;
    }
    const bool uuid =
        strncasecmp(argument, "GPU-", 4) == 0 || strncasecmp(argument, "MIG-", 4) == 0;
    return uuid ? find_uuid(ordinal, argument, count) : find_number(ordinal, argument, count);
}
