/* SPDX-License-Identifier: MIT
 *
 * Extended attributes for shell scripts, which have no tool of their own for them.
 *
 *     attribute set FILE NAME HEX     exit status 77 where the file system has none
 *     attribute get FILE NAME         prints HEX, or "none"
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

static int set(const char *file, const char *name, const char *hex)
{
    unsigned char value[256];
    size_t size = 0;
    for (unsigned byte; size < sizeof value && sscanf(hex + 2 * size, "%2x", &byte) == 1; size++) {
        value[size] = (unsigned char)byte;
    }
    if (setxattr(file, name, value, size, 0) == 0) {
        return 0;
    }
    fprintf(stderr, "attribute: %s of %s: %s\n", name, file, strerror(errno));
    return errno == ENOTSUP ? 77 : 1;
}

static int get(const char *file, const char *name)
{
    unsigned char value[256];
    ssize_t size = getxattr(file, name, value, sizeof value);
    for (ssize_t k = 0; k < size; k++) {
        printf("%02x", value[k]);
    }
    puts(size < 0 ? "none" : "");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "set") == 0) {
        return set(argv[2], argv[3], argv[4]);
    }
    if (argc == 4 && strcmp(argv[1], "get") == 0) {
        return get(argv[2], argv[3]);
    }
    fputs("usage: attribute set FILE NAME HEX | get FILE NAME\n", stderr);
    return 2;
}
