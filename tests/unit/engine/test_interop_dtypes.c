/* SPDX-License-Identifier: MIT
 *
 * Dtypes and alignments between Quern and other libraries that table_interop does not have:
 * elements off their alignment and records come in, and what has no number in a protocol does not
 * go out.
 */
#include "whole.h"

#include <quern/interop.h>
#include <stdint.h>
#include <stdio.h>

TestSuite(interop_dtypes, .init = whole_open, .fini = whole_close);

/* Elements may lie anywhere: 1 and 2 behind a byte, as a packed record has them. */
Test(interop_dtypes, tensors_off_their_alignment)
{
    char bytes[1 + 2 * sizeof(float)];
    quern_array *memory;
    memcpy(bytes + 1, (float[]){1, 2}, 2 * sizeof(float));
    OK(quern_array_from(&memory, engine, QUERN_UINT8, SHAPE(sizeof bytes), bytes));
    quern_dl_tensor t;
    OK(quern_array_to_dltensor(&t, memory));
    t.dtype = (quern_dl_dtype){QUERN_DL_FLOAT, 32, 1};
    t.shape = (int64_t[]){2};
    t.strides = NULL;
    t.byte_offset = 1;
    quern_array *a;
    OK(quern_array_from_dltensor(&a, engine, &t, 0, NULL, NULL));
    EXPECT(a, float, 1, 2);
    quern_array_release(a);
    quern_array_release(memory);
}

/* What has no number in DLPack, or no typestr, is named. */
Test(interop_dtypes, dtypes_that_do_not_go_out)
{
    const quern_field field = {"mass", QUERN_FLOAT32, 0, NULL, 0};
    quern_record record = QUERN_RECORD_INIT;
    quern_dl_managed_versioned *t;
    quern_dl_dtype dtype;
    quern_dtype heavy;
    quern_array *a;
    record.name = "Heavy";
    record.fields = &field;
    record.field_count = 1;
    OK(quern_record_new(&heavy, &record));
    OK(quern_array_new(&a, engine, heavy, SHAPE(3)));
    FAILS(QUERN_ERROR_NOT_SUPPORTED, quern_array_to_dlpack(&t, a, 0));
    SAYS("Heavy");
    FAILS(QUERN_ERROR_NOT_SUPPORTED, quern_dtype_to_dl(&dtype, heavy));
    quern_array_release(a);
}

/* ---- records and array interfaces -------------------------------------------------------------
 */

typedef struct point {
    int32_t id;
    float at[2];
} point;

static const point points[3] = {{1, {10, 11}}, {2, {20, 21}}, {3, {30, 31}}};

static const int64_t three[] = {3};

/* The points in memory that the device reaches. */
static quern_array *points_there(void)
{
    quern_array *memory;
    OK(quern_array_from(&memory, engine, QUERN_UINT8, SHAPE(sizeof points), points));
    return memory;
}

static quern_array_interface points_as(const char *typestr, const char *descr, quern_array *memory)
{
    quern_array_interface from = QUERN_ARRAY_INTERFACE_INIT;
    from.ndim = 1;
    from.shape = three;
    from.data = quern_array_pointer(memory);
    from.read_only = 1;
    snprintf(from.typestr, sizeof from.typestr, "%s", typestr);
    from.descr = descr;
    return from;
}

/* What NumPy gives of [(id, x, y)], aligned or not, becomes a record, and goes out as it came. */
Test(interop_dtypes, records_by_the_array_interface)
{
    const char *descr = "[('id', '<i4'), ('at', '<f4', (2,))]";
    quern_array *memory = points_there(), *a, *b, *turned, *z = NULL;
    quern_array_interface from = points_as("|V12", descr, memory), out = QUERN_ARRAY_INTERFACE_INIT;
    float got[3];
    OK(quern_array_from_interface(&a, engine, &from, NULL, NULL));
    cr_expect_str_eq(quern_dtype_name(quern_array_dtype(a)), "record");
    quern_kernel *add = kernel_of("record p", "float32 z", "z = p.id + p.at[0] + p.at[1]");
    OK(quern_call(add, a, &z));
    OK(quern_array_read(z, got, sizeof got));
    cr_expect(got[0] == 22 && got[1] == 43 && got[2] == 64);
    OK(quern_array_slice(&turned, a, 1, &(quern_slice){QUERN_SLICE_NONE, QUERN_SLICE_NONE, -1}));
    OK(quern_array_get_interface(&out, turned, NULL));
    cr_expect_str_eq(out.typestr, "|V12");
    cr_expect_str_eq(out.descr, descr);
    cr_expect_eq(out.strides[0], -12);
    OK(quern_array_from_interface(&b, engine, &out, NULL, NULL));
    cr_expect_eq(quern_array_dtype(b), quern_array_dtype(a));
    cr_expect_eq(quern_array_is_read_only(b), 1);
    quern_array_release(a);
    quern_array_release(b);
    quern_array_release(turned);
    quern_array_release(z);
    quern_array_release(memory);
    quern_kernel_release(add);
}

/* Of a record of which no field is known only the bytes go out, as NumPy's void. */
Test(interop_dtypes, bytes_go_out_without_a_descr)
{
    quern_record record = QUERN_RECORD_INIT;
    quern_array_interface out = QUERN_ARRAY_INTERFACE_INIT;
    quern_dtype dtype;
    quern_array *a, *b;
    record.name = "Opaque";
    record.definition = "struct Opaque { float m[4]; };";
    record.bytes = 16;
    record.alignment = 4;
    OK(quern_record_new(&dtype, &record));
    OK(quern_array_new(&a, engine, dtype, SHAPE(3)));
    OK(quern_array_get_interface(&out, a, NULL));
    cr_expect_str_eq(out.typestr, "|V16");
    cr_expect_null(out.descr);
    FAILS(QUERN_ERROR_NOT_SUPPORTED, quern_array_from_interface(&b, engine, &out, NULL, NULL));
    SAYS("bytes without a type, and there is no descr");
    quern_array_release(a);
}

Test(interop_dtypes, descrs_that_are_no_record)
{
    static const struct {
        const char *typestr, *descr, *says;
        quern_status status;
    } refused[] = {
        {"|V12", NULL, "\"|V12\": it is bytes without a type", QUERN_ERROR_NOT_SUPPORTED},
        {"|V4", "<f4", "\"|V4\": it is bytes without a type", QUERN_ERROR_NOT_SUPPORTED},
        {"|V12", "[('', '|V12')]", "needs fields that have a type", QUERN_ERROR_TYPE},
        {"|V12", "[('id', '<i4'), ('at', '<f4')]", "of 12 bytes, and the fields of descr have 8",
         QUERN_ERROR_INVALID_ARGUMENT},
        {"|V12", "[('id', '<i4'), ('at', '>f4', (2,))]", "big-endian", QUERN_ERROR_TYPE},
        {"|V12", "[('id', '<i4'), ('at', '|S8')]", "text is no dtype", QUERN_ERROR_TYPE},
        {"|V12", "[('id', '<i4'), ('at'", "is missing", QUERN_ERROR_TYPE},
        {"|V12", "[('1d', '<i4'), ('at', '<f8')]", "no identifier of C", QUERN_ERROR_TYPE},
        {"|V0", "[]", "\"|V0\"", QUERN_ERROR_NOT_SUPPORTED},
        {"|V", "[('id', '<i4')]", "\"|V\"", QUERN_ERROR_NOT_SUPPORTED},
        {"|V-4", "[('id', '<i4')]", "\"|V-4\"", QUERN_ERROR_NOT_SUPPORTED},
        {"V4", "[('id', '<i4')]", "\"V4\"", QUERN_ERROR_NOT_SUPPORTED},
    };
    quern_array *memory = points_there();
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        const quern_array_interface from = points_as(refused[k].typestr, refused[k].descr, memory);
        quern_array *a;
        FAILS(refused[k].status, quern_array_from_interface(&a, engine, &from, NULL, NULL));
        SAYS(refused[k].says);
    }
    quern_array_release(memory);
}

Test(interop_dtypes, a_read_only_array_lies_where_it_lay)
{
    unsigned char bytes[1 + 3 * sizeof(double)]; /* its elements are off their alignment */
    const double numbers[] = {1, 2, 3};
    double sums[3];
    quern_kernel *kernel;
    quern_array *memory, *loose, *fixed, *out = NULL;
    memcpy(bytes + 1, numbers, sizeof numbers);
    OK(quern_array_from(&memory, engine, QUERN_UINT8, SHAPE(sizeof bytes), bytes));
    void *place = (unsigned char *)quern_array_pointer(memory) + 1;
    OK(quern_array_wrap(&loose, engine, QUERN_FLOAT64, 1, three, NULL, place, NULL, NULL));
    OK(quern_array_read_only(&fixed, loose));
    OK(quern_elementwise(&kernel, engine, "T x", "T y", "y = x + x", NULL));
    OK(quern_call(kernel, fixed, &out));
    OK(quern_array_read(out, sums, sizeof sums));
    cr_expect(sums[0] == 2 && sums[1] == 4 && sums[2] == 6);
    quern_array_release(out);
    quern_array_release(fixed);
    quern_array_release(loose);
    quern_array_release(memory);
    quern_kernel_release(kernel);
}
