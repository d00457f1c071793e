/* SPDX-License-Identifier: MIT
 *
 * The README's five calls as a user's own program. Prints "0 1 4 9 16" or, with --where, the file
 * of the NVRTC that it finds. With PACKED the kernel is in the program.
 */
#include <quern/quern.h>
#include <stdio.h>
#include <string.h>

#ifdef PACKED
#include "five_packed_pack.h"
#endif

static int print_compiler(void)
{
    quern_compiler_info info = {.size = sizeof info};
    quern_compiler_get_info(&info, 0);
    puts(info.path);
    return !info.found;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--where") == 0) {
        return print_compiler();
    }
    const int64_t shape[] = {5};
    const int32_t host_x[] = {0, 1, 2, 3, 4};
    int32_t host_z[5];
    quern_engine *engine = NULL;
    quern_options options = QUERN_OPTIONS_INIT;
#ifdef PACKED
    options.pack_data = five_packed_pack;
    options.pack_bytes = five_packed_pack_bytes;
#endif
    quern_array *x = NULL, *z = NULL;
    quern_kernel *square = NULL;

    if (quern_open(&engine, &options) != QUERN_OK ||
        quern_array_from(&x, engine, QUERN_INT32, 1, shape, host_x) != QUERN_OK ||
        quern_elementwise(&square, engine, "T x", "T z", "z = x * x", NULL) != QUERN_OK ||
        quern_call(square, x, &z) != QUERN_OK ||
        quern_array_read(z, host_z, sizeof host_z) != QUERN_OK) {
        fputs(quern_last_error_text(), stderr);
        return 1;
    }
    printf("%d %d %d %d %d\n", host_z[0], host_z[1], host_z[2], host_z[3], host_z[4]);

    quern_array_release(x);
    quern_array_release(z);
    quern_kernel_release(square);
    quern_close(engine);
    return 0;
}
