/* SPDX-License-Identifier: MIT
 *
 * A main() for a fuzz target in builds without libFuzzer: gives it each file named on the command
 * line, and each file of each folder named. This makes the corpus a regression test for every
 * compiler.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input lies in a block of exactly its size, so that sanitizers see a read past its end. */
static void replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    uint8_t *data = size >= 0 ? malloc((size_t)size + (size == 0)) : NULL;
    if (!data || fseek(file, 0, SEEK_SET) != 0 ||
        fread(data, 1, (size_t)size, file) != (size_t)size) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
}

static int replay_folder(DIR *folder, const char *path)
{
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char name[4096];
        if (entry->d_name[0] == '.') {
            continue;
        }
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        replay(name);
        count++;
    }
    closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        if (folder) {
            count += replay_folder(folder, argv[i]);
        } else {
            replay(argv[i]);
            count++;
        }
    }
    printf("%d inputs replayed\n", count);
    return count == 0; /* an empty corpus tests nothing */
}
