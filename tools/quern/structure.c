/* SPDX-License-Identifier: MIT
 *
 * What only a raw kernel takes by value: structures and vectors, bytes, and the null pointer. In:
 * the text. Out: a value whose bytes are laid out as C does, each member at a multiple of its size.
 *
 *     structure := "struct:" member ("," member)* | "bytes:" (hex hex)+ | "null"
 *     member    := dtype ":" number
 */
#include "cli.h"

#include <ctype.h>
#include <string.h>

static const char struct_lead[] = "struct:", bytes_lead[] = "bytes:";

bool cli_is_structure(const char *text)
{
    return cli_begins_with(text, struct_lead) || cli_begins_with(text, bytes_lead) ||
           strcmp(text, "null") == 0;
}

/* One member, text[begin, end), as a scalar. */
static bool parse_member(quern_value *out, const char *text, size_t begin, size_t end,
                         cli_problem *problem)
{
    const char *member = cli_strndup(text + begin, end - begin);
    if (!strchr(member, ':') || cli_is_structure(member)) {
        return cli_problem_set(problem, begin, end,
                               "a member is a number of a stated type, such as float32:2.5");
    }
    cli_value value;
    if (!cli_value_parse(&value, member, problem)) {
        problem->begin += begin;
        problem->end += begin;
        return false;
    }
    if (value.kind != CLI_VALUE_DIRECT) {
        return cli_problem_set(problem, begin, end, "a member cannot be an array");
    }
    *out = value.direct;
    return true;
}

static bool parse_struct(quern_value *out, const char *text, cli_problem *problem)
{
    size_t at = sizeof struct_lead - 1, used = 0, widest = 1;
    const size_t widest_scalar = 16;
    uint8_t *data = cli_alloc((strlen(text) + 1) * widest_scalar); /* more than all members */
    do {
        size_t end = at + strcspn(text + at, ",");
        quern_value member;
        if (!parse_member(&member, text, at, end, problem)) {
            return false;
        }
        size_t size = quern_dtype_size((quern_dtype)member.dtype);
        used = (used + size - 1) / size * size;
        cli_element_store(data + used, (quern_dtype)member.dtype, member.as.parts[0],
                          member.as.parts[1], member.as.natural); /* the one that counts */
        used += size;
        widest = size > widest ? size : widest;
        at = end + 1;
    } while (text[at - 1]);
    *out = quern_value_struct(data, (used + widest - 1) / widest * widest);
    return true;
}

static uint8_t hex_digit(char c)
{
    return (uint8_t)(isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10);
}

static bool parse_bytes(quern_value *out, const char *text, cli_problem *problem)
{
    const char *digits = text + sizeof bytes_lead - 1;
    size_t length = strlen(digits);
    uint8_t *data = cli_alloc(length / 2 + 1);
    for (size_t k = 0; k < length; k++) {
        if (!isxdigit((unsigned char)digits[k])) {
            size_t at = sizeof bytes_lead - 1 + k;
            return cli_problem_set(problem, at, at + 1, "this is not a hexadecimal digit");
        }
        data[k / 2] = (uint8_t)(data[k / 2] << 4 | hex_digit(digits[k]));
    }
    if (length == 0 || length % 2 != 0) {
        return cli_problem_set(problem, 0, strlen(text),
                               "a byte is two hexadecimal digits: bytes:0000803f");
    }
    *out = quern_value_struct(data, length / 2);
    return true;
}

bool cli_structure_parse(quern_value *out, const char *text, cli_problem *problem)
{
    if (cli_begins_with(text, struct_lead)) {
        return parse_struct(out, text, problem);
    }
    if (cli_begins_with(text, bytes_lead)) {
        return parse_bytes(out, text, problem);
    }
    *out = quern_value_pointer(NULL);
    return true;
}
