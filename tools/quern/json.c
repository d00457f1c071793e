/* SPDX-License-Identifier: MIT
 *
 * JSON on standard output: objects with a member on each line. In: names and values. Out: text that
 * any reader of JSON takes, whatever bytes the values have.
 */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>

/* The length of the UTF-8 sequence at `p`, or 0 when it is none. */
static int sequence_length(const unsigned char *p)
{
    int length = p[0] < 0x80                   ? 1
                 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
                 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
                 : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                               : 0;
    for (int k = 1; k < length; k++) {
        if ((p[k] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}

static void print_text(const char *text)
{
    putchar('"');
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        int length = sequence_length(p);
        if (length == 0) {
            fputs("\\ufffd", stdout);
            p++;
        } else if (*p == '"' || *p == '\\') {
            printf("\\%c", *p++);
        } else if (*p == '\n') {
            fputs("\\n", stdout);
            p++;
        } else if (*p < 0x20) {
            printf("\\u%04x", *p++);
        } else {
            fwrite(p, 1, (size_t)length, stdout);
            p += length;
        }
    }
    putchar('"');
}

static void begin_member(cli_json *json, const char *name)
{
    printf("%s\n  ", json->members++ > 0 ? "," : "{");
    print_text(name);
    fputs(": ", stdout);
}

void cli_json_text(cli_json *json, const char *name, const char *text)
{
    begin_member(json, name);
    print_text(text);
}

void cli_json_number(cli_json *json, const char *name, uint64_t number)
{
    begin_member(json, name);
    printf("%" PRIu64, number);
}

void cli_json_real(cli_json *json, const char *name, double number)
{
    begin_member(json, name);
    printf("%.3f", number);
}

void cli_json_end(cli_json *json)
{
    fputs(json->members > 0 ? "\n}" : "{}", stdout);
    json->members = 0;
}
