/* SPDX-License-Identifier: MIT
 *
 * rows: which rows of a table are run, and what came of them. In: the command line. Out: a line for
 * each row that went wrong, a line at the end, the exit status. Part k of n takes every n-th row,
 * so that each part meets all kinds of rows.
 */
#include "table.h"
#include <stdio.h>
#include <stdlib.h>

rows rows_asked(int argc, char **argv)
{
    rows r = {.parts = 1};
    if (argc > 1) {
        bool is_part = sscanf(argv[1], "%ld/%ld", &r.part, &r.parts) == 2;
        if (!is_part || r.part < 1 || r.part > r.parts) {
            fprintf(stderr, "usage: %s [PART/PARTS]\n", argv[0]);
            exit(2);
        }
        r.part--;
    }
    return r;
}

bool rows_next(rows *r)
{
    return r->seen++ % r->parts == r->part;
}

static size_t common_divisor(size_t a, size_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

size_t rows_stride(size_t count)
{
    size_t stride = 7;
    while (common_divisor(count, stride) != 1) {
        stride++;
    }
    return stride;
}

void rows_complain(const char *what, const char *operator_name, quern_dtype dtype,
                   const layout_input *input, const shape *s, unsigned axes)
{
    printf("FAILED %s: %s %s, %s, shape (", what, operator_name, quern_dtype_name(dtype),
           input->name);
    for (int d = 0; d < s->ndim; d++) {
        printf("%s%lld%s", d == 0 ? "" : ", ", (long long)s->extent[d], axes >> d & 1 ? "*" : "");
    }
    printf("), the axes with a star\n");
}

int rows_report(const rows *r, const char *what)
{
    printf("%ld %s, %ld failed\n", r->run, what, r->failed);
    return r->run == 0 || r->failed != 0;
}
