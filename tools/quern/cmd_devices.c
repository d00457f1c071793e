/* SPDX-License-Identifier: MIT
 *
 * quern devices: a table of the devices of this machine.
 */
#include "cli.h"

#include <stdio.h>

#define MOST_DEVICES 64

static void print_device(const quern_device_info *info)
{
    char driver[24] = "-";
    if (info->driver_version > 0) {
        snprintf(driver, sizeof driver, "%u.%u", info->driver_version / 1000,
                 info->driver_version % 1000 / 10);
    }
    printf("%-8s %-28s %-11s %10u %10s %7s\n", info->id, info->name, info->target, info->processors,
           cli_human_bytes(info->memory_bytes), driver);
    if (info->uuid[0]) {
        printf("%-8s cuda:%s\n", "", info->uuid);
    }
    if (info->note[0]) {
        printf("%-8s %s\n", "", info->note);
    }
}

static int run(const cli_command *command, int argc, char **argv)
{
    cli_list words;
    CLI_TRY(cli_options_parse(command, NULL, argc, argv, &words));
    CLI_TRY(cli_no_more_words(command, &words));
    static quern_device_info infos[MOST_DEVICES];
    for (size_t k = 0; k < MOST_DEVICES; k++) {
        infos[k].size = sizeof infos[k];
    }
    size_t count;
    if (quern_device_list(&count, infos, MOST_DEVICES) != QUERN_OK) {
        return cli_fail_library(NULL);
    }
    printf("%-8s %-28s %-11s %10s %10s %7s\n", "ID", "NAME", "TARGET", "PROCESSORS", "MEMORY",
           "DRIVER");
    for (size_t k = 0; k < count && k < MOST_DEVICES; k++) {
        print_device(&infos[k]);
    }
    return CLI_OK;
}

const cli_command cmd_devices = {
    .name = "devices",
    .summary = "List the devices that kernels can run on",
    .usage = "",
    .text = "The ID is what --device and QUERN_DEVICE take. So is what stands below that of a GPU, "
            "its\n"
            "UUID, which stays as it is when GPUs come and go. PROCESSORS are the multiprocessors "
            "of a\n"
            "GPU and the threads of the software device, which is always there.\n",
    .run = run,
};
