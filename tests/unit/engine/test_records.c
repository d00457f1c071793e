/* SPDX-License-Identifier: MIT
 *
 * Records, and arrays whose elements lie off their alignment: what is refused, and in which words.
 * That they compute rightly is what tests/table/records.c and views.c look at.
 */
#include "whole.h"
#include <stddef.h>
#include <stdio.h>

TestSuite(records, .init = whole_open, .fini = whole_close);

typedef struct Particle {
    float x, y;
    _Bool on;
    float mass;
} Particle;

static const quern_field particle_fields[] = {
    {"mass", QUERN_FLOAT32, 0, NULL, offsetof(Particle, mass)},
    {"x", QUERN_FLOAT32, 0, NULL, offsetof(Particle, x)},
    {"on", QUERN_BOOL, 0, NULL, offsetof(Particle, on)},
};

static quern_record particle(const char *definition)
{
    quern_record record = QUERN_RECORD_INIT;
    record.name = "Particle";
    record.definition = definition;
    record.bytes = sizeof(Particle);
    record.alignment = _Alignof(Particle);
    record.fields = particle_fields;
    record.field_count = 3;
    return record;
}

static quern_dtype made(quern_record record)
{
    quern_dtype dtype;
    OK(quern_record_new(&dtype, &record));
    return dtype;
}

#define DEFINITION "struct Particle { float x, y; bool on; float mass; };"

static quern_array *particles(quern_dtype dtype)
{
    Particle host[10];
    memset(host, 0, sizeof host);
    for (int k = 0; k < 10; k++) {
        host[k] = (Particle){(float)k, 2, k % 2, (float)(3 * k)};
    }
    return array_of(dtype, SHAPE(10), host);
}

/* ---- making --------------------------------------------------------------------------------- */

Test(records, one_record_is_one_number)
{
    quern_dtype first = made(particle(NULL)), second = made(particle(DEFINITION));
    cr_assert_geq(first, QUERN_DTYPE_RECORD);
    cr_assert_eq(made(particle(NULL)), first);
    cr_assert_neq(second, first, "another definition is another record");
    cr_assert_eq(made(particle(DEFINITION)), second);
    cr_assert_str_eq(quern_dtype_name(first), "Particle");
    cr_assert_eq(quern_dtype_size(first), sizeof(Particle));
    cr_assert_str_eq(quern_dtype_descr(first),
                     "[('x', '<f4'), ('', '|V4'), ('on', '|b1'), ('', '|V3'), ('mass', '<f4')]");
    quern_record info = QUERN_RECORD_INIT;
    OK(quern_record_get_info(&info, second));
    cr_assert_str_eq(info.definition, DEFINITION);
    cr_assert_eq(info.field_count, 3);
    cr_assert_str_eq(info.fields[0].name, "x", "in the order of their offsets");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_record_get_info(&info, QUERN_INT32));
    SAYS("int32 (4) is not a record");
}

static const int64_t none[] = {0};
static const struct {
    const char *name;
    quern_field fields[2];
    size_t bytes, alignment;
    const char *definition;
    quern_status status;
    const char *says;
} refused[] = {
    {"P",
     {{"a", QUERN_INT8, 0, NULL, 0}},
     0,
     0,
     NULL,
     QUERN_ERROR_NAME,
     "\"P\" cannot be the name of a record: use two letters"},
    {"my type", {{"a", QUERN_INT8, 0, NULL, 0}}, 0, 0, NULL, QUERN_ERROR_NAME, "\"my type\""},
    {"float", {{"a", QUERN_INT8, 0, NULL, 0}}, 0, 0, NULL, QUERN_ERROR_NAME, "is a C++ keyword"},
    {"float32", {{"a", QUERN_INT8, 0, NULL, 0}}, 0, 0, NULL, QUERN_ERROR_NAME, "is a type"},
    {"Pa",
     {{"a b", QUERN_INT8, 0, NULL, 0}},
     0,
     0,
     NULL,
     QUERN_ERROR_INVALID_ARGUMENT,
     "field 0 of Pa is called \"a b\", which is no identifier of C"},
    {"Pa",
     {{"class", QUERN_INT8, 0, NULL, 0}},
     0,
     0,
     NULL,
     QUERN_ERROR_INVALID_ARGUMENT,
     "a field of Pa cannot be called \"class\", which is a C++ keyword"},
    {"Pa",
     {{"Pa", QUERN_INT8, 0, NULL, 0}},
     0,
     0,
     NULL,
     QUERN_ERROR_INVALID_ARGUMENT,
     "is the record's own name"},
    {"Pa",
     {{"a", 99, 0, NULL, 0}},
     0,
     0,
     NULL,
     QUERN_ERROR_INVALID_ARGUMENT,
     "field \"a\" of Pa: 99 is not a dtype"},
    {"Pa",
     {{"a", QUERN_INT8, 1, none, 0}},
     0,
     0,
     NULL,
     QUERN_ERROR_INVALID_ARGUMENT,
     "field \"a\" of Pa has extent 0"},
    {"Pa",
     {{"a", QUERN_INT8, 1, NULL, 0}},
     0,
     0,
     NULL,
     QUERN_ERROR_INVALID_ARGUMENT,
     "has 1 dimensions and no shape"},
    {"Pa",
     {{"a", QUERN_INT32, 0, NULL, 0}, {"b", QUERN_INT8, 0, NULL, 3}},
     0,
     0,
     NULL,
     QUERN_ERROR_INVALID_ARGUMENT,
     "fields \"a\" and \"b\" of Pa overlap: \"b\" begins at byte 3"},
    {"Pa",
     {{"a", QUERN_INT8, 0, NULL, 0}, {"a", QUERN_INT8, 0, NULL, 1}},
     0,
     0,
     NULL,
     QUERN_ERROR_INVALID_ARGUMENT,
     "Pa has two fields called \"a\""},
    {"Pa",
     {{"a", QUERN_INT32, 0, NULL, 4}},
     6,
     0,
     NULL,
     QUERN_ERROR_INVALID_ARGUMENT,
     "field \"a\" of Pa ends at byte 8, but the record has only 6"},
    {"Pa",
     {{"a", QUERN_INT32, 0, NULL, 0}},
     6,
     4,
     NULL,
     QUERN_ERROR_INVALID_ARGUMENT,
     "Pa has alignment 4: a power of two up to 256 is wanted"},
    {"Pa",
     {{"a", QUERN_INT32, 0, NULL, 0}},
     0,
     0,
     "struct Pa { int a; };",
     QUERN_ERROR_INVALID_ARGUMENT,
     "needs its size and its alignment"},
    {"Pa",
     {{"a", QUERN_INT8, 0, NULL, 70000}},
     0,
     0,
     NULL,
     QUERN_ERROR_INVALID_ARGUMENT,
     "ends behind byte 65536"},
    {"Pa",
     {{NULL, 0, 0, NULL, 0}},
     0,
     0,
     NULL,
     QUERN_ERROR_INVALID_ARGUMENT,
     "Pa needs fields, or a definition"},
};

Test(records, what_cannot_be_one)
{
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        quern_record record = QUERN_RECORD_INIT;
        record.name = refused[k].name;
        record.fields = refused[k].fields;
        record.field_count =
            (refused[k].fields[0].name != NULL) + (refused[k].fields[1].name != NULL);
        record.bytes = refused[k].bytes;
        record.alignment = refused[k].alignment;
        record.definition = refused[k].definition;
        quern_dtype dtype = QUERN_INT8;
        FAILS(refused[k].status, quern_record_new(&dtype, &record));
        SAYS(refused[k].says);
        cr_assert_eq(dtype, QUERN_DTYPE_NONE);
    }
}

/* ---- descr ---------------------------------------------------------------------------------- */

static const struct {
    const char *descr, *says; /* NULL: it is right */
} descrs[] = {
    {"<f4", NULL},
    {"'<f8'", NULL},
    {"bfloat16", NULL},
    {"[('a', '<f4')]", NULL},
    {"[(('a title', 'a'), '<f4'), ('b', '|u1', (2, 3)), ('c', '<i2', 4)]", NULL},
    {"[ ( 'a' , '<i8' ) , ('', '|V3'), ('b', [('p', '<c8'), ('q', '?')]) , ]",
     "'?': there is no such dtype"},
    {"[('a', '>f4')]", "'>f4' is big-endian"},
    {"[('a', '<U8')]", "'<U8': text is no dtype"},
    {"[('a', '|O')]", "'|O': Python objects"},
    {"[('a', '<M8[ns]')]", "'<M8[ns]': dates are no dtype"},
    {"[('a', '|V4')]", "field 'a' is bytes without a type"},
    {"[('', '<f4')]", "a field needs a name"},
    {"[('a b', '<f4')]", "\"a b\", which is no identifier of C"},
    {"[('a', '<f4'), ('a', '<f4')]", "two fields called \"a\""},
    {"[]", "needs fields"},
    {"[('a', '<f4')", "a \"]\" is missing"},
    {"[('a', '<f4')] x", "goes on behind its end"},
    {"[('a' '<f4')]", "a \",\" is missing"},
    {"[('a', '<f4', (99999999,))]", "the extent is larger than any record"},
    {"[('a', '<f8', (60000,)), ('b', '<f8', (60000,))]", "a record has at most 65536 bytes"},
    {"{'names': ['a']}", "a dictionary is no descr"},
    {"|V16", "bytes without a type are no dtype"},
    {"", "there is no such dtype"},
    {"[[", "a \"(\" is missing"},
};

Test(records, descrs)
{
    for (size_t k = 0; k < sizeof descrs / sizeof *descrs; k++) {
        quern_dtype dtype;
        quern_status status = quern_dtype_from_descr(&dtype, "rec", descrs[k].descr);
        if (!descrs[k].says) {
            cr_expect_eq(status, QUERN_OK, "%s: %s", descrs[k].descr, quern_last_error_text());
            cr_expect_neq(dtype, QUERN_DTYPE_NONE);
        } else {
            cr_expect_eq(status, QUERN_ERROR_TYPE, "%s", descrs[k].descr);
            cr_expect_not_null(strstr(quern_last_error()->message, descrs[k].says), "%s: %s",
                               descrs[k].descr, quern_last_error()->message);
            cr_expect_eq(dtype, QUERN_DTYPE_NONE);
        }
    }
}

/* ---- calls ---------------------------------------------------------------------------------- */

Test(records, structures_by_value)
{
    quern_dtype dtype = made(particle(NULL));
    quern_kernel *k = kernel_of("Particle p, Particle c", "float32 z", "z = p.mass + c.x");
    quern_array *p = particles(dtype), *z = NULL;
    const Particle c = {100, 0, 0, 0};
    float got[10];
    OK(quern_call_with(k, NULL, p, quern_scalar_record(dtype, &c), &z));
    OK(quern_array_read(z, got, sizeof got));
    cr_assert_eq(got[3], 109);
    FAILS(QUERN_ERROR_TYPE, quern_call_with(k, NULL, p, quern_value_struct(&c, 8), z));
    SAYS("the structure has 8 bytes, and a Particle has 16");
    FAILS(QUERN_ERROR_TYPE, quern_call_with(k, NULL, p, 3.0, z));
    SAYS("a number cannot be given to parameter \"c\", which is the record Particle");
    quern_kernel *number = kernel_of("float32 x, T y", "T z", "z = x + y");
    FAILS(QUERN_ERROR_TYPE, quern_call_with(number, NULL, quern_value_struct(&c, 4), z, z));
    SAYS("a structure is for records, and the parameter is float32");

    quern_bound *bound;
    Particle temporary = c;
    OK(quern_bind(&bound, k,
                  (quern_value[]){quern_value_array(p), quern_value_struct(&temporary, sizeof c),
                                  quern_value_array(z)},
                  3, NULL));
    memset(&temporary, 0xff, sizeof temporary); /* the bound call has a copy */
    OK(quern_bound_set_array(bound, 0, p));
    OK(quern_launch(bound));
    OK(quern_array_read(z, got, sizeof got));
    cr_assert_eq(got[3], 109);
    temporary.x = 200;
    OK(quern_bound_set_scalar(bound, 1, quern_scalar_record(dtype, &temporary)));
    OK(quern_launch(bound));
    OK(quern_array_read(z, got, sizeof got));
    cr_assert_eq(got[3], 209);
    FAILS(QUERN_ERROR_TYPE, quern_bound_set_scalar(bound, 1, quern_literal_int(1)));
    SAYS("argument 1 was bound as a Particle");
    quern_bound_release(bound);
    quern_kernel_release(k);
    quern_kernel_release(number);
    quern_array_release(p);
    quern_array_release(z);
}

/* Two records of one name: a kernel takes either, and refuses both at once. */
Test(records, one_name_for_two)
{
    quern_dtype first = made(particle(NULL)), second = made(particle(DEFINITION));
    quern_kernel *k = kernel_of("Particle p, Particle q", "float32 z", "z = p.mass - q.mass");
    quern_array *p = particles(first), *q = particles(second), *z = NULL;
    float got[10];
    OK(quern_call(k, p, p, &z));
    OK(quern_call(k, q, q, z));
    OK(quern_array_read(z, got, sizeof got));
    cr_assert_eq(got[9], 0);
    FAILS(QUERN_ERROR_TYPE, quern_call(k, p, q, z));
    SAYS("\"p\" and \"q\" are two different records, both called Particle");
    quern_kernel *letters = kernel_of("S p, T q", "float32 z", "z = p.mass - q.mass");
    OK(quern_call(letters, p, q, z));
    quern_kernel *other = kernel_of("T p", "Particle q", "q = p; q.mass = 1");
    quern_array *made_here = NULL;
    OK(quern_call(other, p, &made_here));
    cr_assert_eq(quern_array_dtype(made_here), first);
    quern_array_release(made_here);
    quern_array_release(p);
    quern_array_release(q);
    quern_array_release(z);
    quern_kernel_release(k);
    quern_kernel_release(letters);
    quern_kernel_release(other);
}

Test(records, definitions_that_are_not_so)
{
    quern_kernel *k = kernel_of("T p", "float32 z", "z = p.mass");
    quern_array *p =
                    particles(made(particle("struct Particle { float x, y; bool on; flaot m; };"))),
                *z = NULL;
    FAILS(QUERN_ERROR_COMPILE, quern_call(k, p, &z));
    SAYS("Particle:1:40: identifier \"flaot\" is undefined");
    quern_array_release(p);
    p = particles(made(particle("struct Particle { float x, y, mass; bool on; };")));
    FAILS(QUERN_ERROR_COMPILE, quern_call(k, p, &z));
    SAYS("field on has 1 bytes from byte 8 on, says the record of Particle");
    quern_array_release(p);
    p = particles(made(particle("struct Particle { float x, y, mass; };")));
    FAILS(QUERN_ERROR_COMPILE, quern_call(k, p, &z));
    SAYS("a Particle has 16 bytes and alignment 4, says its record");
    quern_array_release(p);
    quern_kernel_release(k);
}

Test(records, names_in_signatures)
{
    quern_kernel *k;
    (void)made(particle(NULL));
    FAILS(QUERN_ERROR_SIGNATURE,
          quern_elementwise(&k, engine, "Particle Particle", "T z", "z = 1", NULL));
    SAYS("\"Particle\" is both a parameter and a record");
    FAILS(QUERN_ERROR_SIGNATURE, quern_elementwise(&k, engine, "Particel p", "T z", "z = 1", NULL));
    SAYS("there is no type \"Particel\"");
    OK(quern_elementwise(&k, engine, "T Particle", "T z", "z = Particle", NULL));
    quern_kernel_release(k);
}

Test(records, values_of_reductions)
{
    const int64_t many[] = {20};
    const quern_field wide[] = {{"a", QUERN_FLOAT64, 1, many, 0}};
    const quern_field odd[] = {{"a", QUERN_INT8, 0, NULL, 0}, {"b", QUERN_FLOAT64, 0, NULL, 1}};
    quern_record record = QUERN_RECORD_INIT;
    record.name = "Wide";
    record.fields = wide;
    record.field_count = 1;
    quern_array *x = NULL, *y = NULL;
    quern_kernel *k;
    OK(quern_reduction(&k, engine, "T x", "T y", "x", "b", "y = a", NULL, NULL));
    OK(quern_array_new(&x, engine, made(record), SHAPE(3)));
    FAILS(QUERN_ERROR_NOT_SUPPORTED, quern_call(k, x, &y));
    SAYS("combines values of Wide, which has 160 bytes; they may have 64");
    quern_array_release(x);
    record.name = "Odd";
    record.fields = odd;
    record.field_count = 2;
    OK(quern_array_new(&x, engine, made(record), SHAPE(3)));
    FAILS(QUERN_ERROR_NOT_SUPPORTED, quern_call(k, x, &y));
    SAYS("which has 9 bytes and fields off their alignment");
    quern_kernel_release(k);
    k = kernel_of("T x", "raw T y", "y[i] = x");
    FAILS(QUERN_ERROR_SHAPE, quern_call(k, x, x));
    SAYS("Odd has fields off their alignment, and to write to those of a raw output");
    quern_array_release(x);
    quern_kernel_release(k);
}

/* ---- fields, views, assignment -------------------------------------------------------------- */

Test(records, fields)
{
    quern_array *p = particles(made(particle(NULL))), *mass, *number, *none_there;
    float got[10];
    OK(quern_array_field(&mass, p, "mass"));
    OK(quern_array_read(mass, got, sizeof got));
    cr_assert_eq(got[4], 12);
    FAILS(QUERN_ERROR_NAME, quern_array_field(&none_there, p, "z"));
    SAYS("Particle has no field \"z\"; it has x, on, mass");
    FAILS(QUERN_ERROR_TYPE, quern_array_field(&none_there, mass, "x"));
    SAYS("the elements are float32, which has no fields");
    OK(quern_array_new(&number, engine, QUERN_INT32, SHAPE(1)));
    OK(quern_array_fill(number, &(int32_t){7}, 4));
    OK(quern_array_assign(mass, number)); /* into the records */
    OK(quern_array_read(mass, got, sizeof got));
    cr_assert_eq(got[9], 7);
    FAILS(QUERN_ERROR_TYPE, quern_array_assign(p, number));
    SAYS("int32 is assigned to Particle: a record is converted to nothing else");
    FAILS(QUERN_ERROR_SHAPE, quern_array_assign(number, mass));
    SAYS("shape (10,) does not broadcast to (1,)");
    const Particle all = {1, 2, 1, 4};
    OK(quern_array_fill(p, &all, sizeof all));
    OK(quern_array_read(mass, got, sizeof got));
    cr_assert_eq(got[5], 4);
    quern_array_release(number);
    quern_array_release(mass);
    quern_array_release(p);
}

Test(records, views_that_are_none)
{
    quern_array *a, *turned, *view;
    OK(quern_array_new(&a, engine, QUERN_INT16, SHAPE(3, 5)));
    OK(quern_array_transpose(&turned, a, NULL));
    FAILS(QUERN_ERROR_SHAPE, quern_array_view(&view, a, QUERN_FLOAT32));
    SAYS("elements of int16, 2 bytes each, cannot be seen as float32, 4: the bytes along the last "
         "axis are no multiple of the new size");
    FAILS(QUERN_ERROR_SHAPE, quern_array_view(&view, turned, QUERN_INT8));
    SAYS("along the last axis they do not lie side by side");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_array_view(&view, a, (quern_dtype)1023));
    SAYS("1023 is not a dtype");
    FAILS(QUERN_ERROR_INVALID_ARGUMENT, quern_array_copy_order(&view, a, (quern_order)3));
    SAYS("3 is not an order");
    quern_array_release(turned);
    quern_array_release(a);
}

/* References to what lies off its alignment. */
Test(records, elements_off_their_alignment)
{
    quern_array *bytes, *slice, *x, *y = NULL;
    float got[4];
    unsigned char host[17] = {0};
    memcpy(host + 1, (float[]){1, 2, 3, 4}, 16);
    bytes = array_of(QUERN_UINT8, SHAPE(17), host);
    OK(quern_array_slice(&slice, bytes, 1, &(quern_slice){1, 17, 1}));
    OK(quern_array_view(&x, slice, QUERN_FLOAT32));
    quern_kernel *k = kernel_of("raw T x", "T y", "y = x[3 - i] * 2");
    OK(quern_array_new(&y, engine, QUERN_FLOAT32, SHAPE(4)));
    OK(quern_call(k, x, y));
    OK(quern_array_read(y, got, sizeof got));
    cr_assert_eq(got[0], 8);
    quern_kernel_release(k);
    k = kernel_of("raw T x", "T y", "y = *(&x[i])");
    FAILS(QUERN_ERROR_SHAPE, quern_call(k, x, y));
    SAYS("its elements lie at multiples of 1 byte, and to take their address needs multiples of 4");
    quern_kernel_release(k);
    k = kernel_of("T x", "raw T y", "y[i] = x");
    FAILS(QUERN_ERROR_SHAPE, quern_call(k, y, x));
    SAYS("to write to those of a raw output needs multiples of 4");
    quern_kernel_release(k);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(slice);
    quern_array_release(bytes);
}
