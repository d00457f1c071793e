/* SPDX-License-Identifier: MIT
 *
 * Memory of another owner. A pool that belongs to somebody else lends its pieces: each becomes an
 * array without a copy, and a release callback tells the pool when the array and all its views are
 * gone. The same is done with memory of cudaMalloc, PyTorch, CuPy or an RMM pool.
 */
#include "sample.h"

#define PIECES 2
#define COUNT  6 /* float32 in a piece */

typedef struct pool {
    float *base; /* device memory; on the software device, host memory */
    int lent[PIECES];
} pool;

typedef struct piece {
    pool *owner;
    int index;
} piece;

/* The array and its views are gone. Work that uses the memory may still be queued on the engine's
 * stream; whatever uses the piece next is queued there too, and so comes after it. */
static void give_back(void *context)
{
    piece *lent = context;
    printf("piece %d comes back\n", lent->index);
    lent->owner->lent[lent->index] = 0;
    free(lent);
}

/* A free piece as an array of 2 x 3. */
static quern_array *borrow(pool *from, quern_engine *engine)
{
    quern_array *array;
    piece *lent = malloc(sizeof *lent);
    if (!lent) {
        exit(1);
    }
    *lent = (piece){from, from->lent[0] ? 1 : 0};
    from->lent[lent->index] = 1;
    must(quern_array_wrap(&array, engine, QUERN_FLOAT32, 2, (int64_t[]){2, 3}, NULL,
                          from->base + (ptrdiff_t)lent->index * COUNT, give_back, lent));
    printf("piece %d is lent\n", lent->index);
    return array;
}

int main(void)
{
    const float host[COUNT] = {1, 2, 3, 4, 5, 6};
    float result[COUNT];
    quern_engine *engine;
    quern_kernel *square;
    quern_array *memory, *x, *columns, *y;

    must(quern_open(&engine, NULL));
    must(quern_elementwise(&square, engine, "T x", "T y", "y = x * x", NULL));

    /* Stands in for the other library: all that is known of its memory is an address. */
    must(quern_array_new(&memory, engine, QUERN_FLOAT32, 1, (int64_t[]){(int64_t)PIECES * COUNT}));
    pool lender = {.base = quern_array_pointer(memory)};

    x = borrow(&lender, engine);
    y = borrow(&lender, engine);
    must(quern_array_write(x, host, sizeof host));
    must(quern_array_transpose(&columns, x, NULL));
    quern_array_release(x);
    puts("the array is released, its transpose is not");

    quern_array *rows;
    must(quern_array_transpose(&rows, columns, NULL));
    quern_array_release(columns);
    must(quern_call(square, rows, y));
    quern_array_release(rows); /* the last view: the pool hears of it now */

    must(quern_array_read(y, result, sizeof result));
    for (int k = 0; k < COUNT; k++) {
        must_be_near(result[k], host[k] * host[k], 0);
        printf("%g * %g = %g\n", host[k], host[k], result[k]);
    }
    quern_array_release(y);
    must_be_near(lender.lent[0] + lender.lent[1], 0, 0);

    quern_array_release(memory);
    quern_kernel_release(square);
    quern_close(engine);
    return 0;
}
