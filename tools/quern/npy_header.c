/* SPDX-License-Identifier: MIT
 *
 * The header of an NPY file, versions 1 to 3. In: the bytes of the file. Out: dtype, order, shape
 * and where the data lies. Everything the header says is checked against the size of the file
 * before anything is allocated for it. Writes headers too: version 1, of long ones 2, C order.
 * Structured dtypes are records; the library reads and writes their lists.
 *
 *     file   := "\x93NUMPY" major minor length header data
 *     header := "{" (key ":" value ("," key ":" value)* ","?)? "}" space*
 */
#include "files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAGIC       "\x93NUMPY"
#define MAGIC_BYTES 6
#define ALIGNMENT   64 /* of the data in the files that are written */
#define DESCR_ROOM  64 /* of a type string */

/* Dtypes that files may name as Quern does, for NumPy has no string for them. */
static const quern_dtype own_names[] = {QUERN_BFLOAT16, QUERN_FLOAT8_E4M3, QUERN_FLOAT8_E5M2};

/* A place in the header, never past its end. */
typedef struct cursor {
    const char *p, *end;
} cursor;

static char peek(cursor *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' || *c->p == '\t')) {
        c->p++;
    }
    return c->p < c->end ? *c->p : 0;
}

static bool take(cursor *c, char wanted)
{
    bool found = peek(c) == wanted;
    c->p += found;
    return found;
}

static bool take_word(cursor *c, const char *word)
{
    size_t length = strlen(word);
    peek(c);
    bool found = (size_t)(c->end - c->p) >= length && memcmp(c->p, word, length) == 0;
    c->p += found ? length : 0;
    return found;
}

/* A quoted string without escapes, as NumPy writes keys and types. */
static bool take_string(cursor *c, char *out, size_t room)
{
    char quote = peek(c);
    if (quote != '\'' && quote != '"') {
        return false;
    }
    const char *from = ++c->p;
    while (c->p < c->end && *c->p != quote) {
        c->p++;
    }
    size_t length = (size_t)(c->p - from);
    if (c->p == c->end || length >= room || memchr(from, '\\', length)) {
        return false;
    }
    memcpy(out, from, length);
    out[length] = 0;
    c->p++;
    return true;
}

static bool malformed(cli_problem *problem)
{
    return cli_problem_set(problem, 0, 0, "the NPY header is malformed");
}

/* shape := "(" (integer ("," integer)* ","?)? ")" */
static bool parse_shape(cli_npy *out, cursor *c, cli_problem *problem)
{
    if (!take(c, '(')) {
        return malformed(problem);
    }
    for (out->ndim = 0; !take(c, ')'); take(c, ',')) {
        char first = peek(c);
        if (first == '-') {
            return cli_problem_set(problem, 0, 0, "the NPY header has a negative extent");
        }
        if (first < '0' || first > '9') {
            return malformed(problem);
        }
        if (out->ndim == QUERN_MAX_NDIM) {
            return cli_problem_set(problem, 0, 0, "the array has more than %d dimensions",
                                   QUERN_MAX_NDIM);
        }
        int64_t extent = 0;
        for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++) {
            int digit = *c->p - '0';
            extent = extent > (INT64_MAX - digit) / 10 ? INT64_MAX : extent * 10 + digit;
        }
        take_word(c, "L"); /* the suffix of long integers in Python 2 */
        out->shape[out->ndim++] = extent;
        if (peek(c) != ',' && peek(c) != ')') {
            return malformed(problem);
        }
    }
    return true;
}

static bool refuse_dtype(const char *descr, cli_problem *problem)
{
    if (strchr(descr, 'O')) {
        return cli_problem_set(problem, 0, 0,
                               "the elements are Python objects, which a kernel cannot read; save "
                               "x.astype(\"float64\") or another number type");
    }
    return cli_problem_set(problem, 0, 0,
                           "elements of type '%s' are not supported; convert with "
                           "x.astype(\"float64\") or another type from bool, int8..int64, "
                           "uint8..uint64, float16, float32, float64, complex64, complex128",
                           descr);
}

/* What NumPy has no name for: elements of one or two bytes, which the parameter may tell. Of a raw
 * kernel's it tells bfloat16, which is as good as any. */
static bool find_untyped(cli_npy *out, const char *descr, quern_dtype wanted, cli_problem *problem)
{
    const bool two = strchr(descr, '2') != NULL, e5m2 = wanted == QUERN_FLOAT8_E5M2;
    out->dtype = two ? QUERN_BFLOAT16 : e5m2 ? wanted : QUERN_FLOAT8_E4M3;
    if (wanted == out->dtype || (!two && wanted == QUERN_BFLOAT16)) {
        return true;
    }
    return cli_problem_set(problem, 0, 0,
                           "the elements are %s of no stated type ('%s'); if they are %s, declare "
                           "the parameter so: \"%s x\"",
                           two ? "two bytes" : "bytes", descr, two ? "bfloat16" : "float8_e4m3fn",
                           two ? "bfloat16" : "float8_e4m3fn");
}

/* A structured dtype, as the list that the file has. */
static bool find_record(cli_npy *out, const char *descr, cli_problem *problem)
{
    return quern_dtype_from_descr(&out->dtype, "record", descr) == QUERN_OK ||
           cli_problem_set(problem, 0, 0, "the elements are structured: %s",
                           quern_last_error()->message);
}

static bool find_dtype(cli_npy *out, const char *descr, quern_dtype wanted, cli_problem *problem)
{
    char order = descr[0];
    bool has_order = order && strchr("<>|=", order);
    const char *code = descr + has_order;
    if (order == '[') {
        return find_record(out, descr, problem);
    }
    if (strcmp(code, "V2") == 0 || strcmp(code, "V1") == 0) {
        return find_untyped(out, descr, wanted, problem);
    }
    out->dtype = cli_dtype_of_code(code);
    for (size_t k = 0; k < CLI_COUNT(own_names) && !has_order; k++) {
        out->dtype = strcmp(descr, quern_dtype_name(own_names[k])) == 0 ? own_names[k] : out->dtype;
    }
    if (out->dtype == QUERN_DTYPE_NONE) {
        return refuse_dtype(descr, problem);
    }
    if (order == '>' && quern_dtype_size(out->dtype) > 1) {
        return cli_problem_set(problem, 0, 0,
                               "the elements are big-endian ('%s'); convert with "
                               "x.astype(x.dtype.newbyteorder('<'))",
                               descr);
    }
    return true;
}

/* A list as it stands, up to the bracket that closes it. */
static bool take_list(cursor *c, char **out)
{
    const char *from = c->p;
    char quote = 0;
    int depth = 0;
    do {
        if (c->p == c->end) {
            return false;
        }
        char now = *c->p++;
        quote = quote ? (now == quote ? 0 : quote) : now == '\'' || now == '"' ? now : 0;
        depth += quote ? 0 : (now == '[') - (now == ']');
    } while (depth > 0);
    *out = cli_strndup(from, (size_t)(c->p - from));
    return true;
}

static bool parse_descr(char **descr, cursor *c, cli_problem *problem)
{
    if (peek(c) == '[') {
        return take_list(c, descr) || malformed(problem);
    }
    *descr = cli_alloc(DESCR_ROOM);
    return take_string(c, *descr, DESCR_ROOM) || malformed(problem);
}

/* The dictionary. Each key has to be there once. */
static bool parse_dictionary(cli_npy *out, cursor *c, quern_dtype wanted, cli_problem *problem)
{
    char key[32], *descr = NULL;
    bool has_descr = false, has_order = false, has_shape = false;
    if (!take(c, '{')) {
        return malformed(problem);
    }
    while (!take(c, '}')) {
        bool good = take_string(c, key, sizeof key) && take(c, ':');
        if (good && strcmp(key, "descr") == 0 && !has_descr) {
            has_descr = true;
            if (!parse_descr(&descr, c, problem)) {
                return false;
            }
        } else if (good && strcmp(key, "fortran_order") == 0 && !has_order) {
            has_order = true;
            out->fortran_order = take_word(c, "True");
            good = out->fortran_order || take_word(c, "False");
        } else if (good && strcmp(key, "shape") == 0 && !has_shape) {
            has_shape = true;
            if (!parse_shape(out, c, problem)) {
                return false;
            }
        } else {
            good = false;
        }
        if (!good || !(take(c, ',') || peek(c) == '}')) {
            return malformed(problem);
        }
    }
    if (peek(c) != 0 || c->p != c->end || !has_descr || !has_order || !has_shape) {
        return malformed(problem);
    }
    return find_dtype(out, descr, wanted, problem);
}

static bool check_size(cli_npy *out, size_t size, cli_problem *problem)
{
    if (!cli_shape_bytes(&out->bytes, out->ndim, out->shape, quern_dtype_size(out->dtype))) {
        return cli_problem_set(problem, 0, 0,
                               "the NPY header states a shape that is larger than any memory");
    }
    uint64_t there = size - out->data_offset;
    if ((uint64_t)out->bytes > there) {
        return cli_problem_set(problem, 0, 0,
                               "the file is truncated: its header states %" PRId64
                               " bytes of data, and %" PRIu64 " are there",
                               out->bytes, there);
    }
    return true;
}

/* Magic, version and the length of the rest of the header. */
static size_t prefix_bytes(uint8_t version)
{
    return MAGIC_BYTES + 2 + (version == 1 ? 2 : 4);
}

static size_t rest_bytes(const uint8_t *file)
{
    const uint8_t *l = file + MAGIC_BYTES + 2;
    size_t length = (size_t)l[0] | (size_t)l[1] << 8;
    return file[MAGIC_BYTES] == 1 ? length : length | (size_t)l[2] << 16 | (size_t)l[3] << 24;
}

size_t cli_npy_header_bytes(const uint8_t *file, size_t have)
{
    size_t prefix = prefix_bytes(file[MAGIC_BYTES]);
    if (memcmp(file, MAGIC, MAGIC_BYTES) != 0) {
        return have; /* the parser says so */
    }
    return have < prefix ? prefix : prefix + rest_bytes(file);
}

bool cli_npy_parse(cli_npy *out, const uint8_t *file, size_t size, quern_dtype wanted,
                   cli_problem *problem)
{
    *out = (cli_npy){0};
    size_t magic = size < MAGIC_BYTES ? size : MAGIC_BYTES;
    if (size == 0) {
        return cli_problem_set(problem, 0, 0, "the file is empty");
    }
    if (memcmp(file, MAGIC, magic) != 0) {
        return cli_problem_set(problem, 0, 0, "this is not an NPY file; write one with numpy.save");
    }
    uint8_t version = size > MAGIC_BYTES ? file[MAGIC_BYTES] : 0;
    size_t prefix = prefix_bytes(version);
    if (size < prefix) {
        return cli_problem_set(problem, 0, 0, "the file is truncated within its NPY header");
    }
    if (version < 1 || version > 3) {
        return cli_problem_set(problem, 0, 0, "NPY version %d.%d is not known; 1 to 3 are", version,
                               file[MAGIC_BYTES + 1]);
    }
    size_t length = rest_bytes(file);
    if (length > size - prefix) {
        return cli_problem_set(problem, 0, 0,
                               "the file is truncated within its NPY header, which states %zu "
                               "bytes for itself",
                               length);
    }
    cursor c = {(const char *)file + prefix, (const char *)file + prefix + length};
    out->data_offset = prefix + length;
    return parse_dictionary(out, &c, wanted, problem) && check_size(out, size, problem);
}

size_t cli_npy_header_room(quern_dtype dtype)
{
    return CLI_NPY_HEADER + strlen(quern_dtype_descr(dtype));
}

size_t cli_npy_header(char *header, quern_dtype dtype, int ndim, const int64_t *shape)
{
    const char *descr = quern_dtype_descr(dtype), *quote = descr[0] == '[' ? "" : "'";
    const uint8_t version = strlen(descr) + CLI_NPY_HEADER > UINT16_MAX ? 2 : 1;
    char *text = header + prefix_bytes(version), *p = text;
    p += sprintf(p, "{'descr': %s%s%s, 'fortran_order': False, 'shape': (", quote, descr, quote);
    for (int k = 0; k < ndim; k++) {
        p += sprintf(p, "%s%" PRId64 "%s", k > 0 ? " " : "", shape[k],
                     k + 1 < ndim || ndim == 1 ? "," : "");
    }
    p += sprintf(p, "), }");
    while ((p + 1 - header) % ALIGNMENT != 0) {
        *p++ = ' ';
    }
    *p++ = '\n';
    size_t length = (size_t)(p - text);
    memcpy(header, MAGIC, MAGIC_BYTES);
    header[MAGIC_BYTES] = (char)version;
    header[MAGIC_BYTES + 1] = 0;
    for (size_t k = 0; k < prefix_bytes(version) - MAGIC_BYTES - 2; k++) {
        header[MAGIC_BYTES + 2 + k] = (char)(length >> (8 * k) & 0xff);
    }
    return (size_t)(p - header);
}
