/* SPDX-License-Identifier: MIT
 *
 * Dtypes and alignments between Quern and other libraries that table_interop does not have:
 * elements off their alignment come in, and what has no number in a protocol does not go out.
 */
#include "whole.h"

#include <quern/interop.h>
#include <stdint.h>

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
    quern_array_interface entries = QUERN_ARRAY_INTERFACE_INIT;
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
    FAILS(QUERN_ERROR_NOT_SUPPORTED, quern_array_get_interface(&entries, a, NULL));
    SAYS("Heavy");
    quern_array_release(a);
}
