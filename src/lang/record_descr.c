/* SPDX-License-Identifier: MIT
 *
 * NumPy's descr of a dtype. In: the text as NPY files and array interfaces have it. Out: a dtype, a
 * record for a structured one; and the text for a dtype.
 *
 *     descr  := type | "[" field ("," field)* ","? "]"
 *     field  := "(" name "," descr ("," shape)? ")"
 *     name   := string | "(" string "," string ")"        a title and the name; "" for padding
 *     type   := string, as '<f4'; around a whole descr the quotes may be missing
 *     shape  := integer | "(" (integer ","?)* ")"
 *
 * Fields follow each other without gaps: NumPy writes those as fields without a name.
 */
#include "base/object.h"
#include "lang/records.h"

#include <stdlib.h>
#include <string.h>

#define MOST_DEPTH 8 /* records within records */

#define SHOW(str) (int)(str).length, (str).data

typedef struct reader {
    qn_str text;
    size_t at;
    int depth;
    qn_arena arena; /* what is only needed on the way */
} reader;

#define REFUSE(r, begin, end, ...)                                                                 \
    qn_fail_at(QUERN_ERROR_TYPE, "descr", (r)->text, (begin), (end), __VA_ARGS__)

static char peek(reader *r)
{
    while (r->at < r->text.length && strchr(" \t\n", r->text.data[r->at])) {
        r->at++;
    }
    return r->at < r->text.length ? r->text.data[r->at] : '\0';
}

static bool take(reader *r, char wanted)
{
    bool found = peek(r) == wanted;
    r->at += found;
    return found;
}

static quern_status want(reader *r, char wanted, const char *where)
{
    if (take(r, wanted)) {
        return QUERN_OK;
    }
    return REFUSE(r, r->at, QN_MIN(r->at + 1, r->text.length), "a \"%c\" is missing %s", wanted,
                  where);
}

/* A quoted string, as NumPy writes them: without escapes. */
static quern_status take_string(qn_str *out, reader *r)
{
    char quote = peek(r);
    if (quote != '\'' && quote != '"') {
        return REFUSE(r, r->at, QN_MIN(r->at + 1, r->text.length), "a string in quotes is missing");
    }
    size_t begin = ++r->at;
    while (r->at < r->text.length && r->text.data[r->at] != quote) {
        r->at++;
    }
    *out = (qn_str){r->text.data + begin, r->at - begin};
    if (r->at == r->text.length || memchr(out->data, '\\', out->length)) {
        return REFUSE(r, begin - 1, r->at, "the string has no end, or an escape");
    }
    r->at++;
    return QUERN_OK;
}

static quern_status take_integer(int64_t *out, reader *r)
{
    char first = peek(r);
    size_t begin = r->at;
    *out = 0;
    if (first < '0' || first > '9') {
        return REFUSE(r, r->at, QN_MIN(r->at + 1, r->text.length), "an extent is missing");
    }
    while (r->at < r->text.length && r->text.data[r->at] >= '0' && r->text.data[r->at] <= '9') {
        *out = *out * 10 + (r->text.data[r->at++] - '0');
        if (*out > QUERN_MAX_RECORD_BYTES) {
            return REFUSE(r, begin, r->at, "the extent is larger than any record");
        }
    }
    return QUERN_OK;
}

/* ---- type strings --------------------------------------------------------------------------- */

static quern_status refuse_type(reader *r, qn_str type, size_t begin)
{
    const char *what = "there is no such dtype: bool, integers, floats and complex numbers are";
    switch (type.length > 0 ? type.data[strspn(type.data, "<>|=")] : '\0') {
    case 'S':
    case 'a':
    case 'U':
        what = "text is no dtype of a kernel: leave the field out, or see its bytes as numbers";
        break;
    case 'O':
        what = "Python objects cannot be read by a kernel: leave the field out";
        break;
    case 'M':
    case 'm':
        what = "dates are no dtype of a kernel: see them as int64";
        break;
    case 'V':
        what = "bytes without a type are no dtype: say which they are";
        break;
    default:
        break;
    }
    return REFUSE(r, begin, begin + type.length, "'%.*s': %s", SHOW(type), what);
}

/* The dtype of a type string; *padding: bytes of a void, which a field without a name may be. */
static quern_status find_type(quern_dtype *out, uint64_t *padding, reader *r, qn_str type)
{
    const size_t begin = (size_t)(type.data - r->text.data);
    const bool order = type.length > 0 && strchr("<>|=", type.data[0]);
    const qn_str code = {type.data + order, type.length - order};
    const qn_dtype_info *info = order || r->depth > 0 ? NULL : qn_dtype_parse(type);
    *out = QUERN_DTYPE_NONE;
    *padding = 0;
    if (code.length > 1 && code.length < 8 && code.data[0] == 'V') {
        for (size_t k = 1; k < code.length; k++) {
            bool digit = code.data[k] >= '0' && code.data[k] <= '9';
            *padding = digit ? *padding * 10 + (uint64_t)(code.data[k] - '0') : UINT64_MAX / 20;
        }
        return *padding < QUERN_MAX_RECORD_BYTES ? QUERN_OK : refuse_type(r, type, begin);
    }
    for (int d = QUERN_BOOL; !info && qn_dtype_find((quern_dtype)d); d++) {
        const qn_dtype_info *known = qn_dtype_find((quern_dtype)d);
        info = qn_str_is(code, known->descr + 1) ? known : NULL;
    }
    if (!info) {
        return refuse_type(r, type, begin);
    }
    if (order && type.data[0] == '>' && info->size > 1) {
        return REFUSE(r, begin, begin + type.length,
                      "'%.*s' is big-endian; convert with x.astype(x.dtype.newbyteorder('<'))",
                      SHOW(type));
    }
    *out = info->dtype;
    return QUERN_OK;
}

/* ---- lists ---------------------------------------------------------------------------------- */

static quern_status descr_of(quern_dtype *out, uint64_t *padding, reader *r, const char *name);

static quern_status take_name(const char **out, reader *r)
{
    qn_str name;
    if (take(r, '(')) {
        QN_TRY(take_string(&name, r));
        QN_TRY(want(r, ',', "behind a title"));
        QN_TRY(take_string(&name, r));
        QN_TRY(want(r, ')', "behind a title and a name"));
    } else {
        QN_TRY(take_string(&name, r));
    }
    *out = qn_arena_strndup(&r->arena, name.data, name.length);
    return *out ? QUERN_OK : qn_fail_memory("reading a descr");
}

static quern_status take_shape(quern_field *field, reader *r)
{
    int64_t *shape = qn_arena_alloc(&r->arena, QUERN_MAX_NDIM * sizeof *shape);
    if (!shape) {
        return qn_fail_memory("reading a descr");
    }
    field->shape = shape;
    if (!take(r, '(')) {
        field->ndim = 1;
        return take_integer(shape, r);
    }
    while (!take(r, ')')) {
        if (field->ndim == QUERN_MAX_NDIM) {
            return REFUSE(r, r->at, r->at + 1, "a field has at most %d dimensions", QUERN_MAX_NDIM);
        }
        QN_TRY(take_integer(&shape[field->ndim++], r));
        if (!take(r, ',') && peek(r) != ')') {
            return want(r, ')', "behind a shape");
        }
    }
    return QUERN_OK;
}

/* One field of a record called `name`, at byte `at`; its name is "" when it is padding. */
static quern_status take_field(quern_field *out, uint64_t *bytes, reader *r, const char *name,
                               uint64_t at)
{
    uint64_t padding = 0;
    quern_dtype dtype = QUERN_DTYPE_NONE;
    *out = (quern_field){.offset = at};
    *bytes = 0;
    QN_TRY(want(r, '(', "before a field"));
    const size_t begin = r->at;
    QN_TRY(take_name(&out->name, r));
    QN_TRY(want(r, ',', "behind the name of a field"));
    qn_text inner = {0};
    qn_text_printf(&inner, "%s_%s", name, out->name);
    char *inner_name = qn_text_take(&inner);
    quern_status status =
        inner_name ? descr_of(&dtype, &padding, r, inner_name) : qn_fail_memory("reading a descr");
    qn_free(inner_name);
    QN_TRY(status);
    if (take(r, ',') && peek(r) != ')') {
        QN_TRY(take_shape(out, r));
    }
    QN_TRY(want(r, ')', "behind a field"));
    if ((dtype == QUERN_DTYPE_NONE) != (out->name[0] == '\0')) {
        return REFUSE(r, begin, r->at - 1,
                      dtype == QUERN_DTYPE_NONE
                          ? "field '%s' is bytes without a type: say which they are"
                          : "a field%s needs a name",
                      out->name);
    }
    out->dtype = (int32_t)dtype;
    *bytes = dtype == QUERN_DTYPE_NONE ? padding : quern_dtype_size(dtype);
    for (int32_t d = 0; d < out->ndim; d++) {
        *bytes = QN_MIN(*bytes * (uint64_t)out->shape[d], (uint64_t)QUERN_MAX_RECORD_BYTES + 1);
    }
    return QUERN_OK;
}

/* Room for one more field: twice as much when it is full. */
static quern_status make_room(quern_field **fields, size_t *room, size_t count, reader *r)
{
    if (count < *room) {
        return QUERN_OK;
    }
    quern_field *more = qn_arena_alloc(&r->arena, (2 * count + 8) * sizeof *more);
    if (!more) {
        return qn_fail_memory("reading a descr");
    }
    if (count > 0) {
        memcpy(more, *fields, count * sizeof *more);
    }
    *fields = more;
    *room = 2 * count + 8;
    return QUERN_OK;
}

/* Let a failure to make the record be one of its list. */
static quern_status blame(reader *r, quern_status status, size_t begin)
{
    if (status != QUERN_OK && status != QUERN_ERROR_OUT_OF_MEMORY) {
        char *said = qn_strdup(quern_last_error()->message);
        status = REFUSE(r, begin, r->at, "%s", said ? said : "the record is wrong");
        qn_free(said);
    }
    return status;
}

static quern_status take_list(quern_dtype *out, reader *r, const char *name)
{
    const size_t begin = r->at - 1;
    quern_record record = QUERN_RECORD_INIT;
    quern_field *fields = NULL;
    size_t room = 0;
    if (++r->depth > MOST_DEPTH) {
        return REFUSE(r, begin, r->at, "records lie in records more than %d deep", MOST_DEPTH);
    }
    while (!take(r, ']')) {
        uint64_t bytes;
        QN_TRY(make_room(&fields, &room, record.field_count, r));
        QN_TRY(take_field(&fields[record.field_count], &bytes, r, name, record.bytes));
        record.field_count += fields[record.field_count].name[0] != '\0';
        record.bytes += bytes;
        if (record.bytes > QUERN_MAX_RECORD_BYTES) {
            return REFUSE(r, begin, r->at, "a record has at most %d bytes", QUERN_MAX_RECORD_BYTES);
        }
        if (!take(r, ',') && peek(r) != ']') {
            return want(r, ']', "behind the fields");
        }
    }
    if (record.field_count == 0) {
        return REFUSE(r, begin, r->at,
                      "it needs fields that have a type; bytes without one are "
                      "no dtype");
    }
    r->depth--;
    record.name = name;
    record.fields = fields;
    return blame(r, qn_record_make(out, &record), begin);
}

static quern_status descr_of(quern_dtype *out, uint64_t *padding, reader *r, const char *name)
{
    qn_str type;
    *out = QUERN_DTYPE_NONE;
    *padding = 0;
    if (take(r, '[')) {
        return take_list(out, r, name);
    }
    if (peek(r) == '{') {
        return REFUSE(r, r->at, r->at + 1,
                      "a dictionary is no descr; write the list of dtype.descr");
    }
    QN_TRY(take_string(&type, r));
    return find_type(out, padding, r, type);
}

static quern_status read_all(quern_dtype *out, reader *r, const char *name)
{
    uint64_t padding;
    char first = peek(r);
    *out = QUERN_DTYPE_NONE;
    if (first == '[' || first == '{' || first == '\'' || first == '"') {
        QN_TRY(descr_of(out, &padding, r, name));
        if (peek(r) != '\0') {
            return REFUSE(r, r->at, r->text.length, "the descr goes on behind its end");
        }
    } else {
        qn_str bare = {r->text.data + r->at, r->text.length - r->at};
        QN_TRY(find_type(out, &padding, r, bare));
    }
    return *out != QUERN_DTYPE_NONE
               ? QUERN_OK
               : REFUSE(r, 0, r->text.length,
                        "bytes without a type are no dtype: say which they are");
}

quern_status qn_dtype_from_descr(quern_dtype *out, const char *name, const char *descr)
{
    reader r = {.text = qn_str_of(descr)};
    quern_dtype dtype;
    quern_status status = read_all(&dtype, &r, name);
    qn_arena_free(&r.arena);
    *out = status == QUERN_OK ? dtype : QUERN_DTYPE_NONE;
    return status;
}

quern_status quern_dtype_from_descr(quern_dtype *out, const char *name, const char *descr)
{
    qn_error_reset();
    QN_CHECK_NOT_NULL(out);
    *out = QUERN_DTYPE_NONE;
    QN_CHECK_NOT_NULL(name);
    QN_CHECK_NOT_NULL(descr);
    return qn_dtype_from_descr(out, name, descr);
}

/* ---- writing -------------------------------------------------------------------------------- */

static void write_gap(qn_text *out, uint64_t bytes, const char *comma)
{
    if (bytes > 0) {
        qn_text_printf(out, "%s('', '|V%llu')", comma, (unsigned long long)bytes);
    }
}

static void write_field(qn_text *out, const quern_field *field)
{
    const char *descr = quern_dtype_descr((quern_dtype)field->dtype);
    qn_text_printf(out, descr[0] == '[' ? "('%s', %s" : "('%s', '%s'", field->name, descr);
    for (int32_t d = 0; d < field->ndim; d++) {
        qn_text_printf(out, "%s%lld", d == 0 ? ", (" : ", ", (long long)field->shape[d]);
    }
    qn_text_puts(out, field->ndim == 0 ? ")" : field->ndim == 1 ? ",))" : "))");
}

void qn_record_descr(qn_text *out, const qn_record *record)
{
    uint64_t at = 0;
    if (record->field_count == 0) {
        qn_text_printf(out, "|V%u", record->info.size);
        return;
    }
    qn_text_puts(out, "[");
    for (size_t k = 0; k < record->field_count; k++) {
        const quern_field *field = &record->fields[k];
        write_gap(out, field->offset - at, k > 0 ? ", " : "");
        qn_text_puts(out, k > 0 || field->offset > at ? ", " : "");
        write_field(out, field);
        at = field->offset + qn_field_count(field) * quern_dtype_size((quern_dtype)field->dtype);
    }
    write_gap(out, record->info.size - at, ", ");
    qn_text_puts(out, "]");
}
