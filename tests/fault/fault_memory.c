/* SPDX-License-Identifier: MIT
 *
 * Host memory runs out: the N-th allocation of a program's whole life fails, for every N; once only
 * that one, and once all from there on. The promise: the call fails with its status and a message,
 * its output is NULL, nothing leaks, and the same call works as soon as there is memory again, with
 * the right result.
 */
#include "base/base.h"
#include "unit/engine/whole.h"

#include <quern/interop.h>
#include <stdio.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#define LEAKS() __lsan_do_recoverable_leak_check()
#else
#define LEAKS() 0
#endif

TestSuite(memory, .init = whole_open, .fini = whole_close, .timeout = 900);

static uint64_t failing_at; /* for messages */
static int failures;        /* calls that failed in all lives */

static void failed_well(quern_status status, quern_status also, const char *call)
{
    const quern_error *error = quern_last_error();
    failures++;
    cr_assert(status == QUERN_ERROR_OUT_OF_MEMORY || status == QUERN_ERROR_DEVICE_MEMORY ||
                  status == also,
              "allocation %d, %s: status %d, %s", (int)failing_at, call, (int)status,
              quern_last_error()->message);
    cr_assert_eq(error->status, (int32_t)status, "allocation %d, %s", (int)failing_at, call);
    cr_assert_gt(strlen(error->message), 5, "allocation %d, %s", (int)failing_at, call);
    cr_assert_gt(strlen(quern_last_error_text()), 5);
}

/* A call that may fail once; then there is memory again, and it succeeds. */
#define STEP(call)                                                                                 \
    do {                                                                                           \
        quern_status status_ = (call);                                                             \
        if (status_ != QUERN_OK) {                                                                 \
            failed_well(status_, status_, #call);                                                  \
            cr_assert(status_ == QUERN_ERROR_OUT_OF_MEMORY ||                                      \
                      status_ == QUERN_ERROR_DEVICE_MEMORY);                                       \
            qn_memory_fail_after(0, false);                                                        \
            cr_assert_eq((call), QUERN_OK, "after allocation %d failed, %s: %s", (int)failing_at,  \
                         #call, quern_last_error_text());                                          \
        }                                                                                          \
    } while (0)
/* The same, and a failure leaves `out` NULL. */
#define MAKE(out, call)                                                                            \
    do {                                                                                           \
        quern_status made_ = (call);                                                               \
        if (made_ != QUERN_OK) {                                                                   \
            failed_well(made_, QUERN_ERROR_OUT_OF_MEMORY, #call);                                  \
            cr_assert_null((out), "allocation %d, %s", (int)failing_at, #call);                    \
            qn_memory_fail_after(0, false);                                                        \
            cr_assert_eq((call), QUERN_OK, "after allocation %d failed, %s: %s", (int)failing_at,  \
                         #call, quern_last_error_text());                                          \
        }                                                                                          \
        cr_assert_not_null(out);                                                                   \
    } while (0)

static void expect_numbers(const int32_t *got, int32_t factor, int32_t offset, const char *what)
{
    for (int32_t k = 0; k < 6; k++) {
        cr_assert_eq(got[k], factor * k + offset, "allocation %d, %s[%d] is %d", (int)failing_at,
                     what, k, got[k]);
    }
}

static void quiet(void *context, const char *level, const char *message)
{
    (void)context, (void)level, (void)message;
}

/* Define, call, call again, explain and bind. */
static void use_kernel(quern_engine *e, quern_array *x)
{
    int32_t got[6];
    quern_kernel *k = NULL;
    quern_array *y = NULL, *z = NULL;
    quern_explanation *x_plained = NULL;
    quern_bound *b = NULL;
    MAKE(k, quern_elementwise(&k, e, "T x, raw T r, T s", "T y", "y = x + r[i] * s", NULL));
    MAKE(y, quern_call(k, x, x, 2, &y));
    STEP(quern_call(k, x, x, 1, y));
    STEP(quern_array_read(y, got, sizeof got));
    expect_numbers(got, 2, 0, "y");
    quern_value values[4] = {quern_value_array(x), quern_value_array(x), quern_literal_int(4),
                             quern_value_output(&z)};
    MAKE(x_plained, quern_explain(&x_plained, k, values, 4, NULL));
    cr_assert_eq(x_plained->elements, 6);
    MAKE(b, quern_bind(&b, k, values, 4, NULL));
    STEP(quern_bound_set_array(b, 0, y));
    STEP(quern_bound_set_scalar(b, 2, quern_literal_int(5)));
    STEP(quern_launch(b));
    STEP(quern_array_read(z, got, sizeof got));
    expect_numbers(got, 7, 0, "z");
    const quern_call_options tuned = {.size = sizeof tuned, .tune = 1, .tune_ms = 1};
    quern_tuning *tuning = NULL;
    values[3] = quern_value_array(z);
    MAKE(tuning, quern_tune(&tuning, k, values, 4, &tuned));
    STEP(quern_call_n(k, values, 4, &tuned));
    STEP(quern_array_read(z, got, sizeof got));
    expect_numbers(got, 5, 0, "tuned");
    quern_tuning_release(tuning);
    quern_bound_release(b);
    quern_explanation_release(x_plained);
    quern_array_release(y);
    quern_array_release(z);
    quern_kernel_release(k);
}

/* A module with a function and a global, and one from an image. */
static void use_module(quern_engine *e, quern_array *x)
{
    static const char source[] =
        "__device__ int bias = 3;\n"
        "template <int N> __global__ void add(int *x) { x[threadIdx.x] += N + bias; }\n";
    static const char image[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                                ".visible .entry nothing()\n{\nret;\n}\n";
    int32_t got[6];
    quern_module *m = NULL, *n = NULL;
    quern_function *f = NULL, *g = NULL;
    quern_array *bias = NULL;
    quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
    o.expressions = (const char *[]){"add<4>"};
    o.expression_count = 1;
    MAKE(m, quern_module_new(&m, e, source, &o));
    MAKE(f, quern_module_function(&f, m, "add<4>"));
    MAKE(bias, quern_module_global(&bias, m, "bias", QUERN_INT32, 0, NULL));
    STEP(quern_array_fill(bias, &(int32_t){-4}, sizeof(int32_t)));
    STEP(quern_function_call(f, &QUERN_GRID(1, 6), x));
    STEP(quern_array_read(x, got, sizeof got));
    expect_numbers(got, 1, 0, "x");
    MAKE(n, quern_module_load(&n, e, image, sizeof image - 1));
    MAKE(g, quern_module_function(&g, n, "nothing"));
    STEP(quern_function_call_n(g, NULL, 0, NULL));
    quern_function *none = NULL;
    quern_status status = quern_module_function(&none, n, "something");
    if (status != QUERN_ERROR_NAME) {
        failed_well(status, QUERN_ERROR_OUT_OF_MEMORY, "a name that is not there");
    }
    cr_assert_null(none);
    quern_module_release(m);
    quern_module_release(n);
    quern_function_release(f);
    quern_function_release(g);
    quern_array_release(bias);
}

static void use_views(quern_engine *e, quern_array *x)
{
    static const int32_t ones[6] = {1, 1, 1, 1, 1, 1};
    int32_t got[6];
    quern_array *t = NULL, *u = NULL, *reversed = NULL;
    MAKE(t, quern_array_transpose(&t, x, NULL));
    MAKE(u, quern_array_reshape(&u, x, SHAPE(6)));
    MAKE(reversed, quern_array_slice(&reversed, u, 1,
                                     (quern_slice[]){{QUERN_SLICE_NONE, QUERN_SLICE_NONE, -1}}));
    STEP(quern_array_read(reversed, got, sizeof got));
    expect_numbers(got, -1, 5, "reversed");
    STEP(quern_array_write(reversed, ones, sizeof ones));
    STEP(quern_array_fill(t, &(int32_t){3}, sizeof(int32_t)));
    STEP(quern_array_read(x, got, sizeof got));
    expect_numbers(got, 0, 3, "filled");
    quern_array_release(t);
    quern_array_release(u);
    quern_array_release(reversed);
    (void)e;
}

/* Out as a tensor and in again, and what a binding asks for. */
static void use_tensors(quern_engine *e, quern_array *x)
{
    quern_dl_managed_versioned *t = NULL, *u = NULL;
    quern_dl_managed *old = NULL;
    quern_array *a = NULL, *b = NULL, *fixed = NULL;
    quern_dl_tensor prototype;
    int32_t got[6];
    MAKE(fixed, quern_array_read_only(&fixed, x));
    MAKE(t, quern_array_to_dlpack(&t, fixed, 0));
    MAKE(a, quern_array_from_dlpack(&a, e, t));
    MAKE(old, quern_array_to_dlpack_legacy(&old, x));
    MAKE(b, quern_array_from_dlpack_legacy(&b, e, old));
    STEP(quern_array_read(a, got, sizeof got));
    expect_numbers(got, 0, 3, "a tensor");
    STEP(quern_stream_follow(e, NULL, (void *)1));
    STEP(quern_array_to_dltensor(&prototype, x));
    STEP(quern_dlpack_use(e));
    if (quern_dlpack_allocate(&prototype, &u, NULL, NULL) != 0) {
        failed_well((quern_status)quern_last_error()->status, QUERN_ERROR_OUT_OF_MEMORY,
                    "a tensor");
        cr_assert_null(u);
    } else {
        u->deleter(u);
    }
    STEP(quern_dlpack_use(NULL));
    quern_array_release(a);
    quern_array_release(b);
    quern_array_release(fixed);
}

/* Records hold for the process, so that each life makes some that no other has: with `serial` bytes
 * of padding. Their kernels would be compiled, so those are of a record that all lives have. */
static void make_records(quern_engine *e)
{
    static int serial;
    char descr[128];
    quern_dtype pair = QUERN_DTYPE_NONE, same, of_descr = QUERN_DTYPE_NONE;
    const quern_field fields[] = {{"key", QUERN_INT32, 0, NULL, 0},
                                  {"value", QUERN_FLOAT64, 1, (int64_t[]){2}, 8}};
    quern_record record = QUERN_RECORD_INIT;
    record.name = "pair";
    record.bytes = 24 + 8 * (size_t)(++serial % 8000);
    record.fields = fields;
    record.field_count = 2;
    STEP(quern_record_new(&pair, &record));
    STEP(quern_record_new(&same, &record));
    cr_assert_eq(pair, same);
    quern_record info = QUERN_RECORD_INIT;
    STEP(quern_record_get_info(&info, pair));
    cr_assert(info.bytes == record.bytes && info.field_count == 2);
    snprintf(descr, sizeof descr, "[('p', [('q', '<i4'), ('', '|V%d')], (2,)), ('r', '<f4')]",
             serial % 8000 + 1);
    STEP(quern_dtype_from_descr(&of_descr, "listed", descr));
    cr_assert_str_eq(quern_dtype_descr(of_descr), descr);
    (void)e;
}

/* Arrays of records, views of their fields, kernels that read and write them, a record by value. */
static void use_records(quern_engine *e)
{
    typedef struct entry {
        int32_t key, spare;
        double value;
    } entry;
    static const entry entries[3] = {{0, 9, 0.5}, {1, 9, 1.5}, {2, 9, 2.5}};
    entry got[3];
    double sum;
    quern_dtype dtype = QUERN_DTYPE_NONE;
    quern_array *x = NULL, *y = NULL, *key = NULL, *total = NULL;
    quern_kernel *k = NULL, *add = NULL;
    make_records(e);
    STEP(quern_dtype_from_descr(&dtype, "entry",
                                "[('key', '<i4'), ('spare', '<i4'), ('value', '<f8')]"));
    MAKE(x, quern_array_from(&x, e, dtype, SHAPE(3), entries));
    MAKE(key, quern_array_field(&key, x, "key"));
    STEP(quern_array_fill(key, &(int32_t){7}, sizeof(int32_t)));
    MAKE(k, quern_elementwise(&k, e, "entry p, T q", "entry r",
                              "r = p; r.value += q.value; r.spare = i", NULL));
    quern_value values[3] = {quern_value_array(x), quern_scalar_record(dtype, &entries[1]),
                             quern_value_output(&y)};
    MAKE(y, quern_call_n(k, values, 3, NULL));
    STEP(quern_array_read(y, got, sizeof got));
    for (int n = 0; n < 3; n++) {
        cr_assert(got[n].key == 7 && got[n].spare == n && got[n].value == n + 2.0,
                  "allocation %d, record %d", (int)failing_at, n);
    }
    MAKE(add, quern_reduction(&add, e, "T p", "float64 s", "p.value", "a + b", "s = a", "0", NULL));
    MAKE(total, quern_call(add, y, &total));
    STEP(quern_array_read(total, &sum, sizeof sum));
    cr_assert_float_eq(sum, 9.0, 0);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(key);
    quern_array_release(total);
    quern_kernel_release(k);
    quern_kernel_release(add);
}

static void use_rest(quern_engine *e)
{
    quern_stream *s = NULL;
    quern_event *v = NULL;
    quern_device_info infos[4] = {{.size = sizeof infos[0]}};
    quern_cache_stats stats = {.size = sizeof stats};
    size_t count;
    MAKE(s, quern_stream_new(&s, e));
    MAKE(v, quern_event_new(&v, e));
    STEP(quern_event_record(v, s));
    STEP(quern_device_list(&count, infos, 4));
    STEP(quern_cache_get_stats(&stats, e));
    quern_event_release(v);
    quern_stream_release(s);
    quern_kernel *k = NULL;
    quern_status status = quern_elementwise(&k, e, "flaot32 x", "T y", "y = x", NULL);
    if (status != QUERN_ERROR_SIGNATURE) {
        failed_well(status, QUERN_ERROR_OUT_OF_MEMORY, "a wrong signature");
    }
    cr_assert_null(k);
}

/* A program from its first call to its last. */
static void live(void)
{
    quern_options o = QUERN_OPTIONS_INIT;
    o.device = "soft:2";
    o.log = quiet;
    quern_engine *e = NULL;
    quern_array *x = NULL;
    MAKE(e, quern_open(&e, &o));
    MAKE(x, quern_array_from(&x, e, QUERN_INT32, SHAPE(2, 3), (int32_t[]){0, 1, 2, 3, 4, 5}));
    use_kernel(e, x);
    use_module(e, x);
    use_views(e, x);
    use_tensors(e, x);
    use_records(e);
    use_rest(e);
    STEP(quern_synchronize(e));
    quern_array_release(x);
    quern_close(e);
}

/* Lives with the N-th allocation failing, until there are fewer than N. */
static void sweep(bool sticky, uint64_t by)
{
    quern_close(engine); /* images belong to the process: so each life loads its own */
    engine = NULL;
    live();
    qn_memory_fail_after(0, false);
    live();
    uint64_t all = qn_memory_fail_after(0, false);
    cr_assert_gt(all, 100);
    for (failing_at = 1; failing_at <= all + by; failing_at += by) {
        qn_memory_fail_after(failing_at, sticky);
        live();
        qn_memory_fail_after(0, false);
    }
    cr_assert_gt(failures, (int)(all / by / 2), "%d of %d allocations were missed by a call",
                 failures, (int)all);
    cr_assert_eq(LEAKS(), 0, "memory leaked");
}

Test(memory, one_allocation_fails)
{
    sweep(false, 1);
}

Test(memory, all_fail_from_one_on)
{
    sweep(true, 3);
}
