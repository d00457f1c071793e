/* SPDX-License-Identifier: MIT
 *
 * Threads that wait for one another: all of them make progress, on any number of host threads; what
 * cannot go on, or goes on forever, is reported with the places where the threads are.
 */
#include "run_support.h"

#include <stdio.h>
#include <unistd.h>

static const unsigned host_threads[] = {1, 2, 5};

#define assert_says(text)                                                                          \
    cr_assert(strstr(quern_last_error()->message, (text)), "wanted '%s' in: %s", (text),           \
              quern_last_error()->message)

/* ---- progress ------------------------------------------------------------------------------- */

Test(ptx_sync, a_lock_passes_among_lanes_warps_and_blocks)
{
    for (size_t k = 0; k < QN_COUNT(host_threads); k++) {
        bench b = bench_file("sync.ptx");
        int *lock = bench_buffer(&b, 4), *count = bench_buffer(&b, 4);
        b.launch.threads = host_threads[k];
        bench_shape(&b, 12, 192);
        bench_good(&b, "locks", PARAMETERS(&lock, &count));
        cr_expect_eq(*count, 12 * 192, "%u threads: %d", host_threads[k], *count);
        qn_free(lock);
        qn_free(count);
        bench_close(&b);
    }
}

Test(ptx_sync, lanes_that_spin_leave_none_out, .timeout = 20)
{
    bench b = bench_file("sync.ptx");
    int *turn = bench_buffer(&b, 4), *steps = bench_buffer(&b, 32 * 4);
    b.launch.limit = 10;
    bench_good(&b, "patience", PARAMETERS(&turn, &steps));
    cr_expect_eq(*turn, 32);
    for (int lane = 0; lane < 16; lane++) {
        cr_expect_eq(steps[lane], lane);
    }
    qn_free(turn);
    qn_free(steps);
    bench_close(&b);
}

Test(ptx_sync, warps_pass_a_token)
{
    bench b = bench_file("sync.ptx");
    enum { ROUNDS = 20, WARPS = 12 };
    int rounds = ROUNDS, *o = bench_buffer(&b, ROUNDS * WARPS * sizeof *o);
    bench_shape(&b, 1, 32 * WARPS);
    bench_good(&b, "ring", PARAMETERS(&rounds, &o));
    for (int k = 0; k < ROUNDS * WARPS; k++) {
        cr_expect_eq(o[k], k % WARPS);
    }
    qn_free(o);
    bench_close(&b);
}

Test(ptx_sync, blocks_wait_for_the_block_before)
{
    enum { BLOCKS = 300, THREADS = 64 };
    for (size_t k = 0; k < QN_COUNT(host_threads); k++) {
        bench b = bench_file("sync.ptx");
        int *x = bench_buffer(&b, BLOCKS * THREADS * sizeof *x), sum = 0;
        int *sums = bench_buffer(&b, BLOCKS * sizeof *sums);
        int *flags = bench_buffer(&b, BLOCKS * sizeof *flags);
        for (int i = 0; i < BLOCKS * THREADS; i++) {
            x[i] = i % 17 - 5;
        }
        b.launch.threads = host_threads[k];
        bench_shape(&b, BLOCKS, THREADS);
        bench_good(&b, "look_back", PARAMETERS(&x, &sums, &flags));
        for (int i = 0; i < BLOCKS * THREADS; i++) {
            sum += x[i];
            cr_assert(i % THREADS != THREADS - 1 || sums[i / THREADS] == sum, "block %d",
                      i / THREADS);
        }
        qn_free(x);
        qn_free(sums);
        qn_free(flags);
        bench_close(&b);
    }
}

Test(ptx_sync, blocks_wait_for_the_block_behind)
{
    enum { BLOCKS = 40 };
    for (size_t k = 0; k < QN_COUNT(host_threads); k++) {
        bench b = bench_file("sync.ptx");
        int *flags = bench_buffer(&b, BLOCKS * sizeof *flags);
        int *o = bench_buffer(&b, BLOCKS * sizeof *o);
        b.launch.threads = host_threads[k];
        bench_shape(&b, BLOCKS, 64);
        bench_good(&b, "look_ahead", PARAMETERS(&flags, &o));
        for (int i = 0; i < BLOCKS; i++) {
            cr_expect_eq(o[i], BLOCKS - i);
        }
        qn_free(flags);
        qn_free(o);
        bench_close(&b);
    }
}

Test(ptx_sync, more_blocks_than_host_threads_meet)
{
    enum { BLOCKS = 70, ROUNDS = 6 };
    for (size_t k = 0; k < QN_COUNT(host_threads); k++) {
        bench b = bench_file("sync.ptx");
        int rounds = ROUNDS, *o = bench_buffer(&b, 2 * BLOCKS * sizeof *o);
        uint32_t *arrived = bench_buffer(&b, 4);
        b.launch.threads = host_threads[k];
        b.launch.cooperative = true;
        bench_shape(&b, BLOCKS, 32);
        bench_good(&b, "meet", PARAMETERS(&rounds, &arrived, &o));
        for (int i = 0; i < BLOCKS; i++) {
            cr_expect_eq(o[i], ROUNDS * (ROUNDS + 1) / 2);
            cr_expect_eq(o[BLOCKS + i], ROUNDS);
        }
        qn_free(o);
        qn_free(arrived);
        bench_close(&b);
    }
}

Test(ptx_sync, threads_that_have_exited_are_not_waited_for)
{
    bench b = bench_file("sync.ptx");
    int *o = bench_buffer(&b, 100 * sizeof *o);
    bench_shape(&b, 1, 100);
    bench_good(&b, "leavers", PARAMETERS(&o));
    for (int t = 0; t < 100; t++) {
        cr_expect_eq(o[t], t % 4 == 1 ? 0 : t < 64 ? 2 : 1, "thread %d: %d", t, o[t]);
    }
    qn_free(o);
    bench_close(&b);
}

/* More than is held at once; the lines of a thread keep their order. */
Test(ptx_sync, a_launch_may_print_without_end)
{
    enum { BLOCKS = 2, THREADS = 40, LINES = 8000 };
    bench b = bench_file("sync.ptx");
    int lines = LINES, next[BLOCKS][THREADS] = {{0}}, block, thread, line;
    FILE *printed = tmpfile();
    cr_assert_not_null(printed);
    cr_assert_geq(dup2(fileno(printed), STDOUT_FILENO), 0);
    bench_shape(&b, BLOCKS, THREADS);
    bench_good(&b, "chatter", PARAMETERS(&lines));
    rewind(printed);
    for (int k = 0; k < BLOCKS * THREADS * LINES; k++) {
        cr_assert_eq(fscanf(printed, "%d %d %d\n", &block, &thread, &line), 3, "line %d", k);
        cr_assert(block >= 0 && block < BLOCKS && thread >= 0 && thread < THREADS);
        cr_assert_eq(line, next[block][thread]++);
    }
    cr_expect_gt(ftell(printed), 5 << 20);
    cr_expect_eq(fgetc(printed), EOF);
    fclose(printed);
    bench_close(&b);
}

/* ---- what does not end ---------------------------------------------------------------------- */

Test(ptx_sync, a_limit_tells_where_threads_spin_and_where_others_wait)
{
    bench b = bench_file("sync.ptx");
    int *flag = bench_buffer(&b, 4);
    b.launch.limit = 0.05;
    bench_shape(&b, 1, 64);
    bench_bad(&b, "forever", PARAMETERS(&flag), QUERN_ERROR_LAUNCH,
              "thread (0,0,0): the launch ran longer than its limit of 0.05 seconds");
    assert_says("warps 0 to 1, 40 threads, run at sync.cu:");
    assert_says("warp 1 lanes 0xffffff00 wait at barrier 0, which 24 of 64 threads have reached");
    const char *file;
    uint32_t line, column;
    cr_assert(qn_error_get_place(&file, &line, &column));
    cr_expect_str_eq(file, "sync.cu");
    bench_bad(&b, "syncs_forever", PARAMETERS(&flag), QUERN_ERROR_LAUNCH, "its limit of 0.05");
    *flag = 1; /* what ends is not touched by a limit */
    bench_good(&b, "forever", PARAMETERS(&flag));
    bench_good(&b, "syncs_forever", PARAMETERS(&flag));
    qn_free(flag);
    bench_close(&b);
}

Test(ptx_sync, deadlocks_name_barriers_places_and_those_who_left)
{
    bench b = bench_file("sync.ptx");
    int *o = bench_buffer(&b, 128 * sizeof *o);
    bench_shape(&b, 1, 128);
    bench_bad(&b, "two_barriers", PARAMETERS(&o), QUERN_ERROR_LAUNCH,
              "deadlock: all threads wait, and none can go on");
    assert_says("warp 0 lanes 0xffffffff wait at barrier 1, which 32 of 64 threads have reached, "
                "at sync.cu:");
    assert_says("warps 1 to 2, 64 threads, wait at barrier 2, which 64 of 96 threads have reached");
    assert_says("32 of the block's 128 threads have exited");
    bench_shape(&b, 1, 96);
    bench_bad(&b, "short_of_one", PARAMETERS(&o), QUERN_ERROR_LAUNCH,
              "wait at barrier 3, which 64 of 96 threads have reached");
    assert_says("32 of the block's 96 threads have exited");
    cr_expect_str_eq(strrchr(quern_last_error()->message, ' '), " exited"); /* no place twice */
    qn_free(o);
    bench_close(&b);
}

/* ---- compute capability 9.0 ----------------------------------------------------------------- */

Test(ptx_sync, mbarriers_count_phases)
{
    bench b = bench_file("sync_90.ptx");
    int *o = bench_buffer(&b, 128 * sizeof *o);
    bench_shape(&b, 1, 128);
    bench_good(&b, "phases", PARAMETERS(&o));
    for (int t = 0; t < 128; t++) {
        int sum = 0;
        for (int k = 0; k < 5; k++) {
            sum = sum * 3 + (t + 1) % 128 * (k + 1);
        }
        cr_expect_eq(o[t], sum, "thread %d: %d, wanted %d", t, o[t], sum);
    }
    memset(o, 0, 128 * sizeof *o);
    bench_shape(&b, 1, 32);
    bench_good(&b, "counts", PARAMETERS(&o));
    for (int t = 0; t < 32; t++) {
        cr_expect_eq(o[t], 1);
    }
    cr_expect_eq(o[32], 40);
    cr_expect_eq(o[33], 32);
    cr_expect_eq(o[34], 33);
    qn_free(o);
    bench_close(&b);
}

Test(ptx_sync, bulk_copies_tell_their_mbarrier)
{
    bench b = bench_file("sync_90.ptx");
    int *x = bench_buffer(&b, 512 * sizeof *x), *o = bench_buffer(&b, 256 * sizeof *o);
    for (int k = 0; k < 512; k++) {
        x[k] = k * 7;
    }
    bench_shape(&b, 1, 128);
    bench_good(&b, "bulk", PARAMETERS(&x, &o));
    for (int k = 0; k < 128; k++) {
        cr_expect_eq(o[k], x[k] + 1);
        cr_expect_eq(o[128 + k], x[256 + k] * 2);
    }
    qn_memory_map_remove(b.map, o, 256 * sizeof *o);
    qn_free(o);
    o = bench_buffer(&b, 16);
    bench_bad(&b, "bulk", PARAMETERS(&x, &o), QUERN_ERROR_ACCESS, "write of 1024 bytes");
    bench_shape(&b, 1, 1);
    bench_bad(&b, "bulk_odd", PARAMETERS(&x), QUERN_ERROR_ACCESS, "must be multiples of 16");
    qn_free(x);
    qn_free(o);
    bench_close(&b);
}

Test(ptx_sync, misused_mbarriers_are_told)
{
    bench b = bench_file("sync_90.ptx");
    int *o = bench_buffer(&b, 4);
    bench_shape(&b, 1, 1);
    bench_bad(&b, "too_many", PARAMETERS(&o), QUERN_ERROR_LAUNCH,
              "mbarrier: more threads arrive than it waits for");
    bench_bad(&b, "not_made", PARAMETERS(&o), QUERN_ERROR_LAUNCH, "mbarrier: it was not init");
    qn_free(o);
    bench_close(&b);
}

Test(ptx_sync, a_block_is_a_cluster_of_its_own)
{
    bench b = bench_file("sync_90.ptx");
    int *o = bench_buffer(&b, 128 * sizeof *o);
    bench_shape(&b, 2, 64);
    bench_good(&b, "clusters", PARAMETERS(&o));
    for (int k = 0; k < 128; k++) {
        int wanted = k % 64 == 63 ? 0 : 63 - k % 64 + k / 64 * 100 + 10000;
        cr_expect_eq(o[k], wanted, "%d: %d, wanted %d", k, o[k], wanted);
    }
    bench_bad(&b, "cluster_of_two", PARAMETERS(&o), QUERN_ERROR_LAUNCH,
              "block 1 of a cluster of 1");
    bench_bad(&b, "arrives_twice", PARAMETERS(&o), QUERN_ERROR_LAUNCH, "arrives twice");
    qn_free(o);
    bench_close(&b);
}

Test(ptx_sync, one_of_the_members_is_elected)
{
    bench b = bench_file("sync_90.ptx");
    int *o = bench_buffer(&b, 32 * sizeof *o);
    bench_shape(&b, 1, 32);
    bench_good(&b, "elects", PARAMETERS(&o));
    for (int t = 0; t < 32; t++) {
        cr_expect_eq(o[t], t == 5 ? 6 : 0);
    }
    qn_free(o);
    bench_close(&b);
}
