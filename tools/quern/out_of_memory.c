/* SPDX-License-Identifier: MIT
 *
 * Memory of the command. Small pieces live until the command ends and are freed together, so that
 * no path has to keep track of them; whoever asked for the data of an array frees it.
 */
#include "files.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct block {
    struct block *next;
    _Alignas(max_align_t) char data[];
} block;

static block *blocks;

void *cli_alloc(size_t size)
{
    block *b = size < SIZE_MAX - sizeof *b ? calloc(1, sizeof *b + size) : NULL;
    if (!b) {
        cli_save_discard();
        exit(cli_fail("out of memory"));
    }
    b->next = blocks;
    blocks = b;
    return b->data;
}

void cli_free_all(void)
{
    while (blocks) {
        block *next = blocks->next;
        free(blocks);
        blocks = next;
    }
}

char *cli_strndup(const char *text, size_t length)
{
    char *copy = cli_alloc(length + 1);
    memcpy(copy, text, length);
    return copy;
}

char *cli_strdup(const char *text)
{
    return cli_strndup(text, strlen(text));
}

char *cli_sprintf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = cli_alloc((size_t)length + 1);
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

bool cli_begins_with(const char *text, const char *lead)
{
    return strncmp(text, lead, strlen(lead)) == 0;
}

void *cli_data_new(size_t size)
{
    return malloc(size > 0 ? size : 1);
}

void *cli_data_grow(void *data, size_t size)
{
    void *grown = realloc(data, size);
    if (!grown) {
        free(data);
    }
    return grown;
}

void cli_data_free(void *data)
{
    free(data);
}
