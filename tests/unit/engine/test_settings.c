/* SPDX-License-Identifier: MIT
 *
 * Settings of walks: as text, that planners honour them as far as they can, and that no setting
 * changes a bit of an answer.
 */
#include "engine/tuning.h"
#include "whole.h"

#include <stdio.h>

TestSuite(settings, .init = whole_open, .fini = whole_close, .timeout = 600);

/* ---- settings as text ----------------------------------------------------------------------- */

Test(setting, texts)
{
    static const char *const good[] = {"",           "walk=rows",
                                       "pack=1",     "walk=packs pack=8 turns=2 tile=64",
                                       "block=1024", "workers=1 blocks=16"};
    static const char *const ill[] = {
        "walk",           "walk=",     "walk=tiles",         "walk=1",      "pack=3",
        "pack=32",        "pack=0",    "pack=8 pack=8",      "block=48",    "block=2048",
        "block=-64",      "block=64.", "blocks=32",          "tile=16",     "turns=16",
        "threads=4",      "=8",        " pack=8 block=64 x", "pack=8;DROP", "pack=008",
        "pack=8  turns=2"};
    qn_setting s;
    for (size_t k = 0; k < QN_COUNT(good); k++) {
        qn_text text = {0};
        cr_expect(qn_setting_read(&s, good[k]), "%s", good[k]);
        qn_setting_print(&text, &s);
        cr_expect_str_eq(text.data ? text.data : "", good[k]);
        cr_expect_eq(qn_setting_is_plain(&s), good[k][0] == 0);
        qn_text_free(&text);
    }
    for (size_t k = 0; k < QN_COUNT(ill); k++) {
        cr_expect_not(qn_setting_read(&s, ill[k]), "%s", ill[k]);
        cr_expect(qn_setting_is_plain(&s), "%s", ill[k]);
    }
}

/* ---- planners honour them ------------------------------------------------------------------- */

/* The plan of a call with a setting, as a person reads it. */
static char *plan_of(quern_kernel *k, const quern_value *v, size_t count, const char *setting,
                     uint32_t *block)
{
    qn_setting s;
    qn_call call;
    qn_text text = {0};
    qn_specialization *z;
    quern_launch_config config;
    cr_assert(qn_setting_read(&s, setting), "%s", setting);
    OK(qn_call_begin_set(&call, k, v, count, NULL, QN_TO_EXPLAIN, &s));
    k->kind->print(&text, &call);
    OK(qn_specialize(&z, &call));
    OK(k->kind->geometry(&config, &call, z));
    *block = config.block[0];
    qn_call_end(&call);
    return qn_text_take(&text);
}

#define EXPECT_PLAN(setting, part, threads)                                                        \
    do {                                                                                           \
        uint32_t block_;                                                                           \
        char *plan_ = plan_of(k, v, 2, setting, &block_);                                          \
        cr_expect(strstr(plan_, part), "%s: %s", setting, plan_);                                  \
        cr_expect(threads == 0 || block_ == threads, "%s: %u threads", setting, block_);           \
        qn_free(plan_);                                                                            \
    } while (0)

Test(settings, settings_are_honoured)
{
    quern_kernel *k = kernel_of("T x", "T y", "y = x");
    quern_array *x, *t, *part, *y = NULL;
    OK(quern_array_new(&x, engine, QUERN_FLOAT32, SHAPE(768, 512)));
    quern_value v[] = {quern_value_array(x), quern_value_output(&y)};
    EXPECT_PLAN("", "4 elements a thread", 0);
    EXPECT_PLAN("pack=8", "2 elements a thread", 0);
    EXPECT_PLAN("pack=1", "4 elements a thread in turns", 0);
    EXPECT_PLAN("pack=1 turns=1", "1 element a thread", 0);
    EXPECT_PLAN("pack=1 turns=2", "2 elements a thread in turns", 0);
    EXPECT_PLAN("turns=8 pack=2", "4 elements a thread in turns", 0); /* no more than there are */
    EXPECT_PLAN("block=64", "4 elements a thread", 64);
    EXPECT_PLAN("block=1024 workers=64 blocks=2", "4 elements a thread", 1024);
    OK(quern_array_transpose(&t, x, NULL));
    v[0] = quern_value_array(t);
    EXPECT_PLAN("", "tiles of 64", 256);
    EXPECT_PLAN("tile=32 block=64", "tiles of 32", 256); /* blocks of tiles have their size */
    EXPECT_PLAN("walk=packs", "4 elements a thread, 32", 0);
    EXPECT_PLAN("walk=packs turns=2 pack=1", "2 elements a thread in turns", 0);
    EXPECT_PLAN("walk=rows", "by rows", 0);
    OK(quern_array_slice(&part, x, 2, (quern_slice[]){{1, 768, 1}, {3, 507, 1}}));
    v[0] = quern_value_array(part);
    EXPECT_PLAN("walk=packs", "2 dimensions", 0);
    EXPECT_PLAN("walk=rows turns=1", "by rows", 0);
    quern_array *thin, *wide;
    OK(quern_array_reshape(&thin, x, SHAPE(768 * 512 / 6, 6)));
    OK(quern_array_transpose(&wide, thin, NULL));
    v[0] = quern_value_array(wide);
    EXPECT_PLAN("", "whole rows of 6", 0);
    EXPECT_PLAN("block=64", "whole rows of 6", 64);
    quern_array_release(wide);
    quern_array_release(thin);
    OK(quern_array_reshape(&thin, x, SHAPE(768 * 512 / 12, 12)));
    OK(quern_array_transpose(&wide, thin, NULL));
    v[0] = quern_value_array(wide);
    EXPECT_PLAN("", "boxes of", 256);
    EXPECT_PLAN("block=64", "boxes of", 256); /* and those of boxes */
    quern_array_release(wide);
    quern_array_release(thin);
    quern_array_release(part);
    quern_array_release(t);
    quern_array_release(x);
    quern_kernel_release(k);
}

/* Texts that must be taken element by element are. */
Test(settings, settings_that_do_not_fit)
{
    quern_kernel *k = kernel_of("float32 x", "float32 y", "for (int j = 0; j < 2; j++) y = x");
    quern_array *x, *y = NULL;
    OK(quern_array_new(&x, engine, QUERN_FLOAT32, SHAPE(4096)));
    const quern_value v[] = {quern_value_array(x), quern_value_output(&y)};
    EXPECT_PLAN("pack=16 turns=4 walk=rows tile=64", "1 element a thread", 0);
    quern_array_release(x);
    quern_kernel_release(k);
}

/* ---- no setting changes an answer ----------------------------------------------------------- */

static uint32_t drawn = 12345;

static uint32_t draw(uint32_t below)
{
    drawn = drawn * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)drawn * below >> 32);
}

/* Every value of every field, and fields together at random. */
static qn_setting setting_of(int number)
{
    qn_setting s = {0};
    int n = 0;
    for (size_t k = 0; k < QN_SETTING_FIELDS; k++) {
        const qn_setting_field *f = &qn_setting_fields[k];
        for (uint32_t v = f->least; v <= f->most; v = f->words ? v + 1 : 2 * v) {
            if (n++ == number) {
                *qn_setting_at(&s, f) = (uint16_t)v;
                return s;
            }
        }
    }
    for (size_t k = 0; k < QN_SETTING_FIELDS; k++) {
        const qn_setting_field *f = &qn_setting_fields[k];
        uint32_t v = f->least;
        while (draw(3) > 0 && v < f->most) {
            v = f->words ? v + 1 : 2 * v;
        }
        *qn_setting_at(&s, f) = (uint16_t)(draw(2) ? v : 0);
    }
    return s;
}

#define SETTINGS 43

static void launch_with(quern_kernel *k, const quern_value *v, size_t count,
                        const quern_call_options *options, const qn_setting *setting)
{
    qn_call call;
    qn_specialization *z;
    qn_parameter_block block;
    quern_launch_config config;
    qn_workspace *workspace;
    OK(qn_call_begin_set(&call, k, v, count, options, QN_TO_LAUNCH, setting));
    OK(qn_specialize(&z, &call));
    OK(qn_call_pack(&block, &config, &workspace, &call, z));
    OK(engine->home.methods->launch(engine->home.device, z->function, &config, block.pointers));
    qn_call_publish(&call);
    qn_call_end(&call);
    OK(quern_synchronize(engine)); /* the workspace is not given back: each call has a new one */
}

/* The call beside itself under all settings; `from` is what the output starts as. */
static void same_answers(quern_kernel *k, quern_value *v, size_t count, quern_array *y,
                         const void *from, const quern_call_options *options)
{
    const size_t bytes = (size_t)quern_array_count(y) * quern_dtype_size(quern_array_dtype(y));
    unsigned char *expected = malloc(bytes + 1), *got = malloc(bytes + 1);
    OK(quern_array_write(y, from, bytes));
    launch_with(k, v, count, options, &(qn_setting){0});
    OK(quern_array_read(y, expected, bytes));
    for (int n = 0; n < SETTINGS; n++) {
        const qn_setting s = setting_of(n);
        qn_text text = {0};
        qn_setting_print(&text, &s);
        OK(quern_array_write(y, from, bytes));
        launch_with(k, v, count, options, &s);
        OK(quern_array_read(y, got, bytes));
        cr_expect_eq(memcmp(got, expected, bytes), 0, "%s: %s, %lld elements", k->name, text.data,
                     (long long)quern_array_count(y));
        qn_text_free(&text);
    }
    free(expected);
    free(got);
}

/* 200 x 133 elements of a dtype, with values that differ. */
static unsigned char *numbers(size_t bytes, bool floats)
{
    unsigned char *data = malloc(bytes);
    for (size_t k = 0; k + 4 <= bytes; k += 4) {
        const float f = (float)draw(2000) / 7 - 100;
        const uint32_t u = draw(UINT32_MAX);
        memcpy(data + k, floats ? (const void *)&f : (const void *)&u, 4);
    }
    return data;
}

static void elementwise_answers(quern_dtype dtype, const char *operation)
{
    enum { ROWS = 200, COLUMNS = 132 };
    const size_t bytes = ROWS * COLUMNS * quern_dtype_size(dtype);
    unsigned char *x_data = numbers(bytes, dtype == QUERN_FLOAT32);
    unsigned char *y_data = numbers(bytes, dtype == QUERN_FLOAT32);
    quern_kernel *k = kernel_of("T x", "T y", operation);
    quern_array *x = array_of(dtype, SHAPE(ROWS, COLUMNS), x_data);
    quern_array *y = array_of(dtype, SHAPE(ROWS, COLUMNS), y_data), *views[5], *whole;
    OK(quern_array_new(&whole, engine, dtype, SHAPE(ROWS + 1, COLUMNS + 3)));
    OK(quern_array_fill(whole, "\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17", quern_dtype_size(dtype)));
    OK(quern_array_slice(&views[0], x, 0, NULL));
    OK(quern_array_slice(&views[1], whole, 2, (quern_slice[]){{1, ROWS + 1, 1}, {3, 135, 1}}));
    OK(quern_array_slice(&views[2], x, 2, (quern_slice[]){QUERN_SLICE_ALL, {-1, -133, -1}}));
    OK(quern_array_slice(&views[3], x, 1, (quern_slice[]){{5, 6, 1}}));
    quern_array *turned;
    OK(quern_array_reshape(&turned, x, SHAPE(COLUMNS, ROWS)));
    OK(quern_array_transpose(&views[4], turned, NULL));
    for (size_t n = 0; n < QN_COUNT(views); n++) {
        quern_value v[] = {quern_value_array(views[n]), quern_value_array(y)};
        same_answers(k, v, 2, y, y_data, NULL);
        quern_array_release(views[n]);
    }
    quern_value aliased[] = {quern_value_array(y), quern_value_array(y)};
    same_answers(k, aliased, 2, y, y_data, NULL);
    quern_array_release(turned);
    quern_array_release(whole);
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(k);
    free(x_data);
    free(y_data);
}

Test(settings, elementwise_float32)
{
    elementwise_answers(QUERN_FLOAT32, "y = y * 0.5f + x + i");
}

Test(settings, elementwise_int8)
{
    elementwise_answers(QUERN_INT8, "y += x * 3");
}

Test(settings, elementwise_float64)
{
    elementwise_answers(QUERN_INT64, "if (x != y) y = x - y");
}

/* Blocks of boxes have the size that their template relies on. */
static void boxed_answers(quern_dtype dtype)
{
    enum { THIN = 6, LONG = 5000 };
    const size_t bytes = THIN * LONG * quern_dtype_size(dtype);
    unsigned char *data = numbers(bytes, dtype == QUERN_FLOAT32);
    quern_kernel *k = kernel_of("T x", "T y", "y = x");
    quern_array *x = array_of(dtype, SHAPE(LONG, THIN), data), *turned;
    quern_array *y = array_of(dtype, SHAPE(THIN, LONG), data);
    OK(quern_array_transpose(&turned, x, NULL));
    quern_value v[] = {quern_value_array(turned), quern_value_array(y)};
    same_answers(k, v, 2, y, data, NULL);
    quern_array_release(turned);
    quern_array_release(x);
    quern_array_release(y);
    quern_kernel_release(k);
    free(data);
}

Test(settings, elementwise_in_boxes)
{
    boxed_answers(QUERN_FLOAT32);
    boxed_answers(QUERN_UINT8); /* in runs */
}

static void reduction_answers(quern_dtype dtype, const char *sum_type, uint32_t ordered)
{
    static const int64_t shapes[][2] = {{3, 20011}, {777, 61}, {1, 40000}, {4000, 9}};
    quern_kernel *k;
    quern_reduction_options with = QUERN_REDUCTION_OPTIONS_INIT;
    with.reduce_type = sum_type;
    with.ordered = ordered;
    OK(quern_reduction(&k, engine, "T x", "T y", "x", "a + b", "y = a", "0", &with));
    for (size_t n = 0; n < QN_COUNT(shapes); n++) {
        const size_t bytes = (size_t)(shapes[n][0] * shapes[n][1]) * quern_dtype_size(dtype);
        unsigned char *data = numbers(bytes, dtype == QUERN_FLOAT32);
        quern_array *x = array_of(dtype, 2, shapes[n], data);
        for (int axis = 0; axis < 2; axis++) {
            quern_array *y;
            quern_call_options options = QUERN_CALL_OPTIONS_INIT;
            options.axes = &axis;
            options.axis_count = 1;
            OK(quern_array_new(&y, engine, dtype, SHAPE(shapes[n][1 - axis])));
            quern_value v[] = {quern_value_array(x), quern_value_array(y)};
            same_answers(k, v, 2, y, data, &options);
            quern_array_release(y);
        }
        quern_array_release(x);
        free(data);
    }
    quern_kernel_release(k);
}

/* Sums of floats depend on their order, which therefore no setting changes. */
Test(settings, reductions_of_floats)
{
    reduction_answers(QUERN_FLOAT32, NULL, 0);
}

Test(settings, reductions_of_integers)
{
    reduction_answers(QUERN_INT32, NULL, 0);
    reduction_answers(QUERN_INT16, "long long", 1);
}
