/* SPDX-License-Identifier: MIT
 *
 * Tuning: that a measurement leaves all arguments as they were, and that what was measured is found
 * again, in the engine, by another one, and not where its row is damaged.
 */
#include "engine/recall.h"
#include "engine/tuning.h"
#include "whole.h"

#include <quern/tune.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

static char folder[] = "/tmp/quern-tuning-XXXXXX";

/* An engine on a cache of its own. */
static quern_engine *open_engine(void)
{
    quern_engine *e;
    quern_options options = QUERN_OPTIONS_INIT;
    options.cache_dir = folder;
    OK(quern_open(&e, &options));
    return e;
}

static void begin(void)
{
    whole_open();
    whole_close();
    cr_assert(mkdtemp(folder));
    engine = open_engine();
}

static void end(void)
{
    char command[100];
    whole_close();
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_expect_eq(system(command), 0);
}

TestSuite(tuning, .init = begin, .fini = end, .timeout = 600);

/* ---- measuring ------------------------------------------------------------------------------ */

static quern_call_options tuned(void)
{
    quern_call_options o = QUERN_CALL_OPTIONS_INIT;
    o.tune = 1;
    o.tune_ms = 300;
    return o;
}

static const char *explained(quern_kernel *k, const quern_value *v, size_t count)
{
    static char text[200];
    quern_explanation *x;
    const quern_call_options o = tuned();
    OK(quern_explain(&x, k, v, count, &o));
    snprintf(text, sizeof text, "%s", x->tuned);
    if (x->tuned[0]) {
        cr_expect(strstr(x->text, "tuned:     "), "%s", x->text);
    }
    quern_explanation_release(x);
    return text;
}

/* An output that is given, one that is the input, and one that is made. */
Test(tuning, arguments_stay_as_they_were)
{
    enum { COUNT = 5000 };
    static float data[COUNT], got[COUNT];
    for (int k = 0; k < COUNT; k++) {
        data[k] = (float)k;
    }
    quern_kernel *k =
        kernel_of("float32 x, raw float32 w", "float32 y, raw float32 z", "y += x; z[i] += w[i]");
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(COUNT), data), *made = NULL;
    quern_array *z = array_of(QUERN_FLOAT32, SHAPE(COUNT), data), *z_view;
    OK(quern_array_slice(&z_view, z, 1, (quern_slice[]){{-1, QUERN_SLICE_NONE, -1}}));
    quern_value v[] = {quern_value_array(x), quern_value_array(x), quern_value_array(x),
                       quern_value_array(z_view)};
    quern_tuning *t;
    quern_call_options o = tuned();
    OK(quern_tune(&t, k, v, 4, &o));
    cr_expect(t->trial_count > 3 || !t->complete, "%zu trials", t->trial_count);
    cr_expect_str_eq(t->trials[0].setting, "");
    cr_expect(strstr(t->text, "by rule") && strstr(t->text, t->about), "%s", t->text);
    OK(quern_array_read(x, got, sizeof got));
    cr_expect_eq(memcmp(got, data, sizeof got), 0, "x was changed");
    OK(quern_array_read(z, got, sizeof got));
    cr_expect_eq(memcmp(got, data, sizeof got), 0, "z was changed");
    OK(quern_call_n(k, v, 4, &o));
    OK(quern_array_read(x, got, sizeof got));
    for (int n = 0; n < COUNT; n++) {
        cr_assert_eq(got[n], 2 * data[n]);
    }
    quern_tuning_release(quern_tuning_retain(t));
    quern_tuning_release(t);
    v[2] = quern_value_output(&made);
    OK(quern_tune(&t, k, v, 4, &o));
    cr_expect_null(made, "nothing is made");
    quern_tuning_release(t);
    quern_array_release(z_view);
    quern_array_release(z);
    quern_array_release(x);
    quern_kernel_release(k);
}

/* Make the row in the cache say something. */
static void doctor(const char *set)
{
    sqlite3 *db;
    char path[100], sql[200], *problem = NULL;
    snprintf(path, sizeof path, "%s/quern-1.db", folder);
    snprintf(sql, sizeof sql, "UPDATE tuning SET %s", set);
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, &problem), SQLITE_OK, "%s", problem);
    cr_assert_eq(sqlite3_changes(db), 1);
    sqlite3_close(db);
}

/* The same call in an engine that has just been opened. */
static const char *explained_anew(int64_t rows)
{
    quern_engine *first = engine;
    engine = open_engine();
    quern_kernel *k = kernel_of("T x", "T y", "y = x + 7");
    quern_array *x, *y = NULL;
    OK(quern_array_new(&x, engine, QUERN_FLOAT32, SHAPE(rows, 100)));
    const char *text =
        explained(k, (quern_value[]){quern_value_array(x), quern_value_output(&y)}, 2);
    quern_array_release(x);
    quern_kernel_release(k);
    quern_close(engine);
    engine = first;
    return text;
}

Test(tuning, is_found_again)
{
    quern_kernel *k = kernel_of("T x", "T y", "y = x + 7");
    quern_array *x, *y = NULL;
    const quern_call_options o = tuned();
    OK(quern_array_new(&x, engine, QUERN_FLOAT32, SHAPE(100, 100)));
    OK(quern_array_fill(x, &(float){1}, sizeof(float)));
    const quern_value v[] = {quern_value_array(x), quern_value_output(&y)};
    cr_expect_str_eq(explained(k, v, 2), "by rule, nothing was measured yet");
    OK(quern_call_n(k, v, 2, &o));
    cr_expect(strstr(explained(k, v, 2), ", measured before"), "%s", explained(k, v, 2));
    doctor("setting = 'pack=8 block=64'");
    cr_expect_str_eq(explained_anew(100), "pack=8 block=64, measured before");
    cr_expect_str_eq(explained_anew(120), "pack=8 block=64, measured before", "of the same class");
    cr_expect_str_eq(explained_anew(1000), "by rule, nothing was measured yet");
    static const char *const ill[] = {"'pack=7'",
                                      "'x'",
                                      "x'0011'",
                                      "'pack=8 pack=4'",
                                      "12",
                                      "printf('%0500d', 1)",
                                      "'walk=rows' || char(0) || 'y'"};
    for (size_t n = 0; n < QN_COUNT(ill); n++) {
        char set[100];
        snprintf(set, sizeof set, "setting = %s", ill[n]);
        doctor(set);
        cr_expect_str_eq(explained_anew(100), "by rule, nothing was measured yet", "%s", ill[n]);
    }
    uint64_t removed;
    OK(quern_cache_clear(&removed, engine));
    cr_expect_str_eq(explained_anew(100), "by rule, nothing was measured yet");
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(k);
}

/* Bound calls keep the setting that they were bound with, and launch it. */
Test(tuning, bound_calls)
{
    enum { COUNT = 1 << 14 };
    static float data[COUNT], got[COUNT];
    for (int k = 0; k < COUNT; k++) {
        data[k] = (float)(k % 251);
    }
    quern_kernel *k = kernel_of("T x", "T y", "y = x + 7");
    quern_array *x = array_of(QUERN_FLOAT32, SHAPE(COUNT), data), *other, *y = NULL;
    quern_bound *bound;
    const quern_call_options o = tuned();
    OK(quern_bind(&bound, k, (quern_value[]){quern_value_array(x), quern_value_output(&y)}, 2, &o));
    OK(quern_array_copy(&other, x));
    OK(quern_bound_set_array(bound, 0, other));
    OK(quern_launch(bound));
    OK(quern_array_read(y, got, sizeof got));
    for (int n = 0; n < COUNT; n++) {
        cr_assert_eq(got[n], data[n] + 7);
    }
    quern_bound_release(bound);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(other);
    quern_kernel_release(k);
}

/* How many of a kernel's calls were not found among those that it remembers. */
static unsigned missed_by(quern_kernel *kernel)
{
    return atomic_load(&atomic_load(&kernel->recalls)->misses);
}

/* What is measured for one kernel is for all of the same text, and the others remember calls. */
Test(tuning, remembered_calls_are_planned_again)
{
    quern_kernel *one = kernel_of("T x", "T y", "y = x + 7");
    quern_kernel *other = kernel_of("T x", "T y", "y = x + 7");
    quern_array *x, *y;
    quern_tuning *t;
    quern_call_options o = tuned();
    OK(quern_array_new(&x, engine, QUERN_FLOAT32, SHAPE(5000)));
    OK(quern_array_fill(x, &(float){1}, sizeof(float)));
    OK(quern_array_new(&y, engine, QUERN_FLOAT32, SHAPE(5000)));
    const quern_value v[] = {quern_value_array(x), quern_value_array(y)};
    for (int n = 0; n < 3; n++) {
        OK(quern_call_n(other, v, 2, &o));
        OK(quern_call_n(other, v, 2, NULL));
    }
    cr_expect_eq(missed_by(other), 2, "the tuned call, and the other");
    OK(quern_tune(&t, one, v, 2, &o));
    quern_tuning_release(t);
    for (int n = 0; n < 3; n++) {
        OK(quern_call_n(other, v, 2, &o));
    }
    cr_expect_eq(missed_by(other), 3, "the tuned one is planned again, once");
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(one);
    quern_kernel_release(other);
}

/* What has nothing to choose, and what is refused. */
Test(tuning, nothing_to_choose)
{
    quern_kernel *scan, *k = kernel_of("T x", "T y", "y = x");
    quern_array *x, *empty, *y = NULL;
    quern_tuning *t;
    quern_call_options o = tuned();
    OK(quern_scan(&scan, engine, "T x", "T y", "x", "a + b", "y = a", NULL, NULL));
    OK(quern_array_new(&x, engine, QUERN_INT32, SHAPE(1000)));
    OK(quern_array_fill(x, &(int){1}, sizeof(int)));
    OK(quern_array_new(&empty, engine, QUERN_INT32, SHAPE(0, 5)));
    OK(quern_tune(&t, scan, (quern_value[]){quern_value_array(x), quern_value_output(&y)}, 2, &o));
    cr_expect_eq(t->trial_count, 1);
    quern_tuning_release(t);
    OK(quern_tune(&t, k, (quern_value[]){quern_value_array(empty), quern_value_output(&y)}, 2, &o));
    cr_expect_eq(t->trial_count, 0);
    cr_expect_str_eq(t->setting, "");
    quern_tuning_release(t);
    o.tune = 2;
    FAILS(QUERN_ERROR_INVALID_ARGUMENT,
          quern_call_n(k, (quern_value[]){quern_value_array(x), quern_value_output(&y)}, 2, &o));
    SAYS("neither 0 nor 1");
    quern_array_release(x);
    quern_array_release(empty);
    quern_kernel_release(scan);
    quern_kernel_release(k);
}

/* A kernel that fails says so as without tuning, and keeps nothing. */
Test(tuning, a_kernel_that_fails)
{
    quern_device_info info = QUERN_DEVICE_INFO_INIT;
    OK(quern_device_get_info(&info, engine));
    if (strncmp(info.id, "soft", 4) != 0) {
        cr_skip_test("a GPU does not recover from it");
    }
    quern_kernel *k = kernel_of("T x, raw T w", "T y", "y = w[i + 100000]");
    quern_array *x, *y = NULL;
    const quern_call_options o = tuned();
    OK(quern_array_new(&x, engine, QUERN_INT32, SHAPE(1000)));
    const quern_value v[] = {quern_value_array(x), quern_value_array(x), quern_value_output(&y)};
    quern_status status = quern_call_n(k, v, 3, &o);
    status = status == QUERN_OK ? quern_synchronize(engine) : status;
    cr_expect_eq(status, QUERN_ERROR_ACCESS, "%s", quern_last_error_text());
    cr_expect_str_eq(explained(k, v, 3), "by rule, nothing was measured yet");
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(k);
}
