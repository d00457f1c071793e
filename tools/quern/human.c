/* SPDX-License-Identifier: MIT
 *
 * Sizes and times for people.
 */
#include "cli.h"

#include <time.h>

const char *cli_human_bytes(uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < CLI_COUNT(units)) {
        value /= 1024;
        unit++;
    }
    return cli_sprintf("%.*f %s", unit > 0 && value < 100 ? 1 : 0, value, units[unit]);
}

const char *cli_human_time(int64_t seconds)
{
    time_t when = (time_t)seconds;
    struct tm local;
    char text[32] = "?";
    if (localtime_r(&when, &local)) {
        strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local);
    }
    return cli_strdup(text);
}
