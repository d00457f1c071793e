/* SPDX-License-Identifier: MIT
 *
 * What kernels print. In: each block's text, handed over when the block ends or has printed much.
 * Out: standard output, in the order of the blocks as far as is held at once; within a block it is
 * the order of printing. A launch that prints without end takes no memory without end.
 */
#include "ptx/run/run.h"

#include <stdio.h>
#include <stdlib.h>

enum { HELD = 4 << 20 }; /* bytes of all blocks, from which they are printed at once */

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
    if (run->output_count == 0) {
        return;
    }
    qsort(run->outputs, run->output_count, sizeof *run->outputs, by_block);
    for (size_t k = 0; k < run->output_count; k++) {
        fwrite(run->outputs[k].text, 1, run->outputs[k].length, stdout);
        qn_free(run->outputs[k].text);
    }
    fflush(stdout);
    run->output_count = 0;
    run->output_held = 0;
}

static bool reserve(qn_run *run)
{
    if (run->output_count < run->output_capacity) {
        return true;
    }
    size_t capacity = run->output_capacity ? run->output_capacity * 2 : 16;
    qn_output *outputs = qn_realloc(run->outputs, capacity * sizeof *outputs);
    if (outputs) {
        run->outputs = outputs;
        run->output_capacity = capacity;
    }
    return outputs != NULL;
}

void qn_run_output(qn_run *run, qn_block *block)
{
    const size_t length = block->output.length;
    if (length == 0) {
        return;
    }
    pthread_mutex_lock(&run->lock);
    char *text = reserve(run) ? qn_text_take(&block->output) : NULL;
    if (text) {
        run->outputs[run->output_count] =
            (qn_output){block->number, run->output_count, text, length};
        run->output_count++;
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
    qn_free(run->outputs);
}
