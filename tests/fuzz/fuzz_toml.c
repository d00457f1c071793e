/* SPDX-License-Identifier: MIT
 *
 * Lists of kernels: any bytes are read or refused with a place inside of the text.
 */
#include "build.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size + 1); /* of its own size, so that a byte read behind it is seen */
    build_list list;
    cli_problem problem;
    memset(&problem, 0, sizeof problem);
    must(copy != NULL);
    memcpy(copy, data, size);
    if (!build_list_parse(&list, copy, size, &problem)) {
        size_t line, column;
        must(problem.text[0] != '\0' && problem.begin <= size);
        toml_place(&line, &column, copy, problem.begin);
        must(line >= 1 && column >= 1);
    }
    cli_free_all();
    free(copy);
    return 0;
}
