/* SPDX-License-Identifier: MIT
 *
 * The descriptors that the command was started with. In: what the shell left open. Out: the one
 * that a path such as "-" or /dev/fd/3 means. The thing to know: a driver and a database open files
 * of their own, which get the lowest numbers that are free. So 0, 1 and 2 are never left free, and
 * a number that was not open at the start stays closed to the user, whatever has it by now.
 */
#include "files.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOTED  1024
#define CLOSED INT_MAX /* of a number that was not open: using it fails with EBADF */

static unsigned char was_closed[NOTED]; /* none is, until they are noted */

void cli_descriptors_note(void)
{
    for (int k = 0; k < NOTED; k++) {
        was_closed[k] = fcntl(k, F_GETFD) < 0;
    }
    for (int k = STDIN_FILENO; k <= STDERR_FILENO; k++) {
        if (was_closed[k] && open("/dev/null", k == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) {
            return; /* this one stays free; there is nowhere to say so */
        }
    }
}

int cli_descriptor_of(const char *path, bool writing)
{
    static const struct {
        const char *name;
        int descriptor;
    } streams[] = {
        {"/dev/stdin", STDIN_FILENO},
        {"/dev/stdout", STDOUT_FILENO},
        {"/dev/stderr", STDERR_FILENO},
    };
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "-") == 0 || strcmp(path, "-.npy") == 0 || strcmp(path, "-.npz") == 0) {
        return writing ? STDOUT_FILENO : STDIN_FILENO;
    }
    for (size_t k = 0; k < CLI_COUNT(streams); k++) {
        if (strcmp(path, streams[k].name) == 0) {
            return streams[k].descriptor;
        }
    }
    for (size_t k = 0; k < CLI_COUNT(folders); k++) {
        size_t lead = strlen(folders[k]);
        const char *digits = path + lead;
        if (cli_begins_with(path, folders[k]) && *digits && strlen(digits) < 8 &&
            digits[strspn(digits, "0123456789")] == 0) {
            int number = atoi(digits);
            return number < NOTED && was_closed[number] ? CLOSED : number;
        }
    }
    return -1;
}
