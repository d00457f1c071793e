/* SPDX-License-Identifier: MIT
 *
 * What kernels print. In: each block's text, handed over when the block ends or has printed much.
 * Out: standard output, in the order of the blocks as far as they are held at once, and within a
 * block in the order of printing. A launch that prints without end does not take memory without
 * end.
 */
#include "ptx/run/run.h"

#include <stdio.h>
#include <stdlib.h>

enum { HELD = 4 << 20 }; /* bytes of all blocks that are held at most; more are printed at once */

static int by_block(const void *a, const void *b)
{
    const qn_output *x = a, *y = b;
    if (x->block != y->block) {
        return x->block > y->block ? 1 : -1;
    }
    return (x->order > y->order) - (x->order < y->order);
}

static void print(qn_run *run)
{
    if (run->outputs.count == 0) {
        return;
    }
    qsort(run->outputs.items, run->outputs.count, sizeof *run->outputs.items, by_block);
    for (size_t k = 0; k < run->outputs.count; k++) {
        fwrite(run->outputs.items[k].text, 1, run->outputs.items[k].length, stdout);
        qn_free(run->outputs.items[k].text);
    }
    fflush(stdout);
    run->outputs.count = 0;
    run->output_held = 0;
}

void qn_run_output(qn_run *run, qn_block *block)
{
    const size_t length = block->output.length;
    if (length == 0) {
        return;
    }
    pthread_mutex_lock(&run->lock);
    char *text = QN_ROOM(run->outputs) ? qn_text_take(&block->output) : NULL;
    if (text) {
        run->outputs.items[run->outputs.count] =
            (qn_output){block->number, run->outputs.count, text, length};
        run->outputs.count++;
        run->output_held += length;
    }
    if (run->output_held > HELD) {
        print(run);
    }
    pthread_mutex_unlock(&run->lock);
    qn_text_free(&block->output); /* out of memory: it is lost */
}

void qn_run_print(qn_run *run)
{
    print(run);
    qn_free(run->outputs.items);
}
