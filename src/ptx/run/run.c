/* SPDX-License-Identifier: MIT
 *
 * A launch. In: a kernel, a grid, parameters; out: memory changed as the kernel says, or a report.
 * The kernel is decoded if it is new, its pool of constants gets this launch's values, and host
 * threads take blocks until none is left.
 */
#include "ptx/run/owner.h"
#include "ptx/watch/trace.h"

#include <string.h>

enum {
    LOCAL_STACK = 64 << 10,  /* bytes of local memory per lane when calls are deep */
    SHARED_LIMIT = 1 << 20,  /* bytes of shared memory of a block: more than any GPU has */
    THREADS_WORTH_IT = 2048, /* lanes of a launch that is worth the help of other host threads */
};

static bool was_interrupted(const qn_run *run)
{
    const atomic_uint *interrupts = run->launch->interrupts;
    return interrupts &&
           atomic_load_explicit(interrupts, memory_order_relaxed) != run->interrupts_before;
}

bool qn_run_should_end(qn_run *run)
{
    if (atomic_load_explicit(&run->ended, memory_order_relaxed)) {
        return true;
    }
    return was_interrupted(run);
}

/* ---- parameters and constants of this launch ------------------------------------------------ */

static uint64_t read_bits(const unsigned char *from, unsigned bits, bool is_signed)
{
    uint64_t value = 0;
    memcpy(&value, from, bits / 8);
    if (is_signed && bits < 64 && value >> (bits - 1) & 1) {
        value |= ~UINT64_C(0) << bits;
    }
    return value;
}

static void apply_patch(const qn_run *run, const qn_patch *patch)
{
    const qn_ptx_launch *launch = run->launch;
    const unsigned char *at = run->params + patch->offset;
    uint64_t low = 0, high = 0;
    switch ((qn_patch_kind)patch->kind) {
    case QN_PATCH_PARAM:
        low = read_bits(at, QN_MIN(patch->memory_bits, 64), patch->is_signed);
        high = patch->memory_bits == 128 ? read_bits(at + 8, 64, false) : 0;
        break;
    case QN_PATCH_PARAM_ADDRESS:
        low = (uint64_t)(uintptr_t)at;
        break;
    case QN_PATCH_DIMENSION:
        low = patch->offset < 3 ? launch->block[patch->offset] : launch->grid[patch->offset - 3];
        break;
    case QN_PATCH_DYNAMIC:
        low = run->dynamic_base + (uint64_t)patch->offset;
        break;
    }
    qn_broadcast(run->pool + patch->place, patch->register_bits, low, high);
}

/* A copy of the kernel's constants for this launch; one is kept between launches. */
static quern_status prepare_pool(qn_run *run)
{
    qn_code *code = (qn_code *)run->code;
    run->pool = atomic_exchange(&code->spare_pool, NULL);
    if (!run->pool) {
        run->pool = qn_alloc_aligned(64, code->pool_bytes + QN_PLACE_MARGIN);
        if (!run->pool) {
            return qn_fail_memory("launching a kernel");
        }
        if (code->pool_bytes > 0) {
            memcpy(run->pool, code->pool, code->pool_bytes);
        }
    }
    for (uint32_t k = 0; k < code->patch_count; k++) {
        apply_patch(run, &code->patches[k]);
    }
    return QUERN_OK;
}

static quern_status prepare_params(qn_run *run)
{
    const qn_ptx_function *kernel = run->kernel;
    run->params = qn_alloc_aligned(64, kernel->param_bytes + 64);
    if (!run->params) {
        return qn_fail_memory("launching a kernel");
    }
    for (uint32_t k = 0; k < kernel->param_count; k++) {
        memcpy(run->params + kernel->params[k]->offset, run->launch->parameters[k],
               kernel->params[k]->size);
    }
    return QUERN_OK;
}

static quern_status check_shape(const qn_ptx_launch *launch, qn_run *run)
{
    uint64_t blocks = 1, threads = 1;
    for (int k = 0; k < 3; k++) {
        if (launch->grid[k] == 0 || launch->block[k] == 0) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                           "grid and block must not be 0 in any dimension");
        }
        threads = threads > 1024 ? threads : threads * launch->block[k];
        if (__builtin_mul_overflow(blocks, launch->grid[k], &blocks)) {
            return qn_fail(QUERN_ERROR_INVALID_ARGUMENT, "the grid has more than 2^64 blocks");
        }
    }
    if (threads > 1024) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "a block of %u x %u x %u threads: at most 1024 are possible",
                       launch->block[0], launch->block[1], launch->block[2]);
    }
    run->block_threads = (uint32_t)threads;
    run->block_count = blocks;
    return QUERN_OK;
}

/* A block's shared memory: what is declared, then the dynamic part. */
static quern_status lay_out_shared(qn_run *run)
{
    const uint64_t declared = qn_ptx_static_shared(run->kernel);
    const uint64_t dynamic = run->launch->dynamic_shared;
    const uint64_t base = (declared + 15) & ~UINT64_C(15);
    if (base + dynamic > SHARED_LIMIT) {
        return qn_fail(QUERN_ERROR_INVALID_ARGUMENT,
                       "kernel '%s' and the functions that it may call take %llu bytes of shared "
                       "memory: at most %d are possible",
                       run->kernel->name, (unsigned long long)(base + dynamic), SHARED_LIMIT);
    }
    run->dynamic_base = (uint32_t)base;
    run->shared_bytes = (uint32_t)(dynamic ? base + dynamic : declared);
    run->shared_unwatched = run->watched ? 0 : run->shared_bytes;
    return QUERN_OK;
}

static quern_status prepare(qn_run *run, const qn_ptx_launch *launch)
{
    run->launch = launch;
    run->kernel = launch->kernel;
    if (launch->limit > 0) {
        run->deadline = qn_nanoseconds(CLOCK_MONOTONIC) + (uint64_t)(launch->limit * 1e9);
    }
    run->interrupts_before = launch->interrupts ? atomic_load(launch->interrupts) : 0;
    pthread_mutex_init(&run->lock, NULL);
    QN_TRY(check_shape(launch, run));
    run->watched = launch->aids.check_init || launch->aids.check_races || launch->work;
    QN_TRY(qn_code_get(&run->code, run->kernel,
                       (run->watched ? QN_CODE_WATCHED : 0) |
                           (launch->aids.check_init ? QN_CODE_SHADOWED : 0) |
                           (launch->aids.trace ? QN_CODE_TRACED : 0) |
                           (launch->aids.check_div ? QN_CODE_CHECKED : 0) |
                           (launch->aids.check_bounds ? QN_CODE_INDEXED : 0)));
    QN_TRY(lay_out_shared(run));
    run->local_stride = (run->kernel->local_bytes + 15u) & ~15u;
    if (run->code->stack) {
        run->local_stride += LOCAL_STACK;
    }
    run->workspace_range.begin = (uint64_t)(uintptr_t)run->workspace;
    run->workspace_range.end = run->workspace_range.begin + sizeof run->workspace;
    QN_TRY(prepare_params(run));
    return prepare_pool(run);
}

/* ---- host threads --------------------------------------------------------------------------- */

void qn_run_out_of_memory(qn_run *run)
{
    pthread_mutex_lock(&run->lock);
    if (!run->fault.happened) {
        run->fault = (qn_fault_record){.happened = true, .status = QUERN_ERROR_OUT_OF_MEMORY};
    }
    pthread_mutex_unlock(&run->lock);
    atomic_store(&run->ended, true);
}

static void work(void *context)
{
    qn_run *run = context;
    qn_worker worker = {.run = run, .snapshot = qn_memory_map_snapshot(run->launch->memory)};
    if (!worker.snapshot) {
        qn_run_out_of_memory(run);
        return;
    }
    qn_run_blocks(&worker);
    while (worker.frames) {
        qn_frame *frame = worker.frames;
        worker.frames = frame->next;
        qn_free(frame);
    }
    qn_snapshot_release(worker.snapshot);
}

static unsigned helpers_for(const qn_run *run)
{
    unsigned threads = run->launch->threads ? run->launch->threads : qn_threads_available();
    uint64_t most = run->block_count - 1;
    if (run->block_count * run->block_threads < THREADS_WORTH_IT) {
        return 0;
    }
    return (unsigned)QN_MIN(threads - 1, most);
}

static quern_status finish(qn_run *run)
{
    qn_run_print(run);
    qn_fault_record *fault = &run->fault;
    if (fault->happened) {
        quern_status status = fault->status;
        if (status == QUERN_ERROR_OUT_OF_MEMORY && !fault->message) {
            qn_fail_memory("running a kernel");
        } else {
            qn_owner_fail(status, fault->message ? fault->message : "out of memory for the report");
        }
        if (fault->file) {
            qn_error_place(fault->file, fault->line, fault->column);
        }
        qn_free(fault->message);
        return status;
    }
    if (was_interrupted(run) && atomic_load(&run->finished_blocks) < run->block_count) {
        return qn_fail(QUERN_ERROR_INTERRUPTED, "kernel '%s' was interrupted", run->kernel->name);
    }
    return QUERN_OK;
}

quern_status qn_ptx_run(const qn_ptx_launch *launch)
{
    qn_run run = {0};
    quern_status status = prepare(&run, launch);
    if (status == QUERN_OK) {
        qn_trace trace = {0};
        if (launch->aids.trace) {
            run.trace = &trace;
            qn_trace_begin(&run);
        }
        qn_threads_run(helpers_for(&run), work, &run);
        if (run.trace) {
            qn_trace_end(&run);
        }
        status = finish(&run);
    }
    if (run.pool) {
        qn_free(atomic_exchange(&((qn_code *)run.code)->spare_pool, run.pool));
    }
    qn_free(run.params);
    pthread_mutex_destroy(&run.lock);
    return status;
}
