/* SPDX-License-Identifier: MIT
 *
 * fold_image: how an operand of a scan by boxes waits in shared memory. In: the dimensions of a box
 * along which it moves, nearest in memory first. Out: how many of the first make a *run*, bytes
 * that lie on but for small gaps; what room all runs take; what it costs to move them. The thing to
 * know: runs come and go in words of 16 bytes and lie in shared memory as they do in memory, so
 * that narrow elements cost little. What scans have of them are single elements, in any order.
 */
#include "array/fold_scans.h"

#define GAP           16 /* bytes that may be left out between the parts of an input's run */
#define STEP          4  /* elements of an input from one to the next, at most */
#define LEAST_RUN     31 /* bytes in which there is a word wherever they begin */
#define LEAST_THREADS 4  /* side by side, if a run has so many words; of more words */
#define WORDS         3  /* each has so many, unless there are few runs */

/* Instructions of a thread, as the generated code has them. */
#define RUN_COST  24 /* a run; */
#define ENDS_COST 30 /* its ends, of an output; */
#define DIM_COST  6  /* each dimension outside of it; */
#define WORD_COST 14 /* a word */

/* Sectors: on an H200, runs of 64 bytes of whole ones that lie apart took 2.4 times as long as one
 * long run. */
#define PARTED 0.3 /* of a run's are written twice, by threads whose words begin anywhere; and */
#define AWAY   2.5 /* so many take as long as what it costs to go on elsewhere */

int qn_fold_image_runs(const qn_fold_image *i, uint32_t item_size, bool output)
{
    const int64_t item = item_size;
    if (i->count == 0 || i->stride[0] > (output ? item : STEP * item)) {
        return 0;
    }
    int64_t bytes = item;
    int dims = 0;
    for (; dims < i->count; dims++) {
        const int64_t gap = i->stride[dims] - bytes;
        if (dims > 0 && (output ? gap != 0 : gap > GAP)) {
            break;
        }
        bytes += i->stride[dims] * (i->extent[dims] - 1);
    }
    return dims;
}

static int64_t run_bytes(const qn_fold_image *i, int dims, int64_t item)
{
    int64_t bytes = item;
    for (int at = 0; at < dims; at++) {
        bytes += i->stride[at] * (i->extent[at] - 1);
    }
    return bytes;
}

/* quern::pitch */
static int64_t pitch(int64_t bytes, int64_t stride)
{
    const int64_t least = bytes + QN_ACCESS_BYTES - 1;
    const int64_t near = least + ((stride - least) & (QN_ACCESS_BYTES - 1));
    return near % (2 * QN_ACCESS_BYTES) == 0 ? near + QN_ACCESS_BYTES : near;
}

int64_t qn_fold_image_bytes(const qn_fold_image *i, int dims, uint32_t item_size, int64_t *apart)
{
    int64_t bytes = run_bytes(i, dims, item_size);
    for (int at = 0; at < i->count; at++) {
        const int64_t own = at < dims ? i->stride[at] : pitch(bytes, i->stride[at]);
        bytes += at < dims ? 0 : own * (i->extent[at] - 1);
        if (apart) {
            apart[at] = own;
        }
    }
    return bytes + 2 * QN_ACCESS_BYTES; /* wherever the first begins */
}

/* Threads of a run, as quern::sharing has them. */
static int64_t threads_of(int64_t words, int64_t runs)
{
    int64_t threads = qn_power_of_two(words, LEAST_THREADS);
    while (threads < QN_WARP && 2 * WORDS * threads <= words) {
        threads *= 2;
    }
    while (threads < words && 2 * threads * runs <= QN_FOLD_BLOCK) {
        threads *= 2;
    }
    return threads;
}

double qn_fold_image_cost(const qn_fold_image *i, int dims, uint32_t item_size, bool output)
{
    const int64_t words = (run_bytes(i, dims, item_size) + 30) / QN_ACCESS_BYTES;
    int64_t elements = 1, runs = 1;
    for (int at = 0; at < i->count; at++) {
        elements *= at < dims ? i->extent[at] : 1;
        runs *= at < dims ? 1 : i->extent[at];
    }
    const int64_t threads = threads_of(words, runs);
    const double idle = QN_MAX(1.0, (double)QN_FOLD_BLOCK / (double)(threads * runs));
    const double run = RUN_COST + (output ? ENDS_COST : 0) + DIM_COST * (i->count - dims);
    return idle * (double)threads * (run + WORD_COST * (double)qn_over(words, threads)) /
           (double)elements;
}

/* A piece of a sector takes memory as long as all of it. Both ends of a run go in pieces of 1, 2, 4
 * and 8 bytes, half of them in the mean; elements of neighbouring threads go together. */
double qn_fold_image_writes(const qn_fold_image *i, int dims, uint32_t item_size, bool whole)
{
    const int all = qn_fold_image_runs(i, item_size, false);
    int64_t elements = 1;
    if (all == 0) {
        return 1 + AWAY;
    }
    for (int at = 0; at < all; at++) {
        elements *= i->extent[at];
    }
    const double bytes = (double)run_bytes(i, all, item_size);
    double sectors = bytes / QN_SECTOR_BYTES + AWAY;
    if (!whole && dims == 0) {
        sectors += 1;
    } else if (!whole && bytes < LEAST_RUN) {
        sectors += 1 + (double)elements / LEAST_THREADS;
    } else if (!whole) {
        sectors += bytes / QN_SECTOR_BYTES * PARTED;
        for (uint32_t size = item_size; size < QN_ACCESS_BYTES; size *= 2) {
            sectors += 1;
        }
    }
    return sectors / (double)elements;
}
