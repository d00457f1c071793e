/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: the header of an NPY file. In: any bytes as a file. Holds: whatever the header says,
 * an accepted file has its data inside; and the header written for the same array reads back the
 * same.
 */
#include "files.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool condition)
{
    if (!condition) {
        abort();
    }
}

/* The header of `npy` with no data after it is truncated unless the array is empty. */
static void check_written_header(const cli_npy *npy)
{
    char *header = cli_alloc(cli_npy_header_room(npy->dtype));
    cli_npy again;
    cli_problem problem = {.text = ""};
    size_t length = cli_npy_header(header, npy->dtype, npy->ndim, npy->shape);
    check(length <= cli_npy_header_room(npy->dtype) && length % 64 == 0);
    bool good = cli_npy_parse(&again, (const uint8_t *)header, length, npy->dtype, &problem);
    check(good == (npy->bytes == 0));
    check(again.dtype == npy->dtype && !again.fortran_order && again.ndim == npy->ndim);
    check(memcmp(again.shape, npy->shape, (size_t)npy->ndim * sizeof *npy->shape) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const quern_dtype wanted[] = {QUERN_DTYPE_NONE, QUERN_BFLOAT16, QUERN_FLOAT8_E5M2};
    for (size_t k = 0; k < CLI_COUNT(wanted); k++) {
        cli_npy npy;
        cli_problem problem = {.text = ""};
        if (!cli_npy_parse(&npy, data, size, wanted[k], &problem)) {
            check(problem.text[0] != 0);
            continue;
        }
        check(npy.ndim >= 0 && npy.ndim <= QUERN_MAX_NDIM);
        check(npy.bytes >= 0 && npy.data_offset <= size);
        check((uint64_t)npy.bytes <= size - npy.data_offset);
        check_written_header(&npy);
    }
    cli_free_all();
    return 0;
}
