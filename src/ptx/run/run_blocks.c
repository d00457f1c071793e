/* SPDX-License-Identifier: MIT
 *
 * The blocks of one host thread. It takes blocks in rising order, one after the other in the same
 * memory. Blocks of a cooperative launch all exist at once, as data, and take turns. Blocks of
 * other launches may wait for one another as well, since on a GPU many run at the same time: when a
 * block takes long, more blocks join it, so that the one waited for runs sooner or later.
 */
#include "ptx/run/run.h"

enum {
    PATIENCE = 500,  /* turns in which no block ends, after which as many again join */
    RESIDENTS = 256, /* the most blocks that exist at once for that reason */
};

typedef struct residents {
    qn_worker *worker;
    QN_LIST(qn_block *) blocks; /* finished ones serve as memory for others */
    size_t active;
} residents;

static bool next_block(qn_run *run, uint64_t *number)
{
    if (atomic_load_explicit(&run->next_block, memory_order_relaxed) >= run->block_count) {
        return false;
    }
    *number = atomic_fetch_add(&run->next_block, 1);
    return *number < run->block_count;
}

/* Memory for a block; NULL: there is none. */
static qn_block *vacancy(residents *all)
{
    for (size_t k = 0; k < all->blocks.count && all->active < all->blocks.count; k++) {
        if (all->blocks.items[k]->done) {
            return all->blocks.items[k];
        }
    }
    if (!QN_ROOM(all->blocks)) {
        return NULL;
    }
    if (!qn_block_new(&all->blocks.items[all->blocks.count], all->worker, all->worker->run)) {
        return NULL;
    }
    return all->blocks.items[all->blocks.count++];
}

static bool begin(residents *all, uint64_t number)
{
    qn_block *block = vacancy(all);
    if (!block) {
        qn_run_out_of_memory(all->worker->run);
        return false;
    }
    qn_block_begin(block, number);
    all->active++;
    return true;
}

/* Give each block a turn; true when one came to its end. */
static bool take_turns(residents *all)
{
    qn_run *run = all->worker->run;
    const size_t before = all->active;
    for (size_t k = 0; k < all->blocks.count; k++) {
        qn_block *block = all->blocks.items[k];
        if (block->done) {
            continue;
        }
        if (qn_run_should_end(run) || !qn_block_turn(block)) {
            break;
        }
        if (block->done) {
            qn_run_output(run, block);
            atomic_fetch_add(&run->finished_blocks, 1);
            all->active--;
        }
    }
    return all->active < before;
}

static void leave(residents *all)
{
    for (size_t k = 0; k < all->blocks.count; k++) {
        qn_run_output(all->worker->run, all->blocks.items[k]);
        qn_block_free(all->blocks.items[k]);
    }
    qn_free(all->blocks.items);
}

void qn_run_blocks(qn_worker *worker)
{
    qn_run *run = worker->run;
    residents all = {.worker = worker};
    const size_t fewest = run->launch->cooperative ? SIZE_MAX : 1;
    size_t wanted = fewest;
    unsigned patience = PATIENCE;
    while (!qn_run_should_end(run)) {
        uint64_t number;
        if (all.active < wanted && next_block(run, &number)) {
            if (!begin(&all, number)) {
                break;
            }
        } else if (all.active == 0) {
            break;
        }
        if (take_turns(&all)) {
            wanted = fewest;
            patience = PATIENCE;
        } else if (--patience == 0) {
            wanted = QN_MAX(wanted, QN_MIN(2 * all.active, (size_t)RESIDENTS));
            patience = PATIENCE;
        }
    }
    leave(&all);
}
