/* SPDX-License-Identifier: MIT
 *
 * @FILE for a text: operation, preamble, signature and the others. In: what was typed. Out: the
 * text, read from the file, and messages of the library that name the file where they would name
 * the text. @- is standard input; a text that begins with @ is written @@.
 */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LARGEST (64u << 20) /* bytes of a text */
#define MOST    16          /* texts of one command */

/* The texts that came from files, by the library's names for them. */
static struct {
    const char *name, *file;
} files[MOST];
static size_t file_count;
static bool stdin_read;

/* All of a stream, ended by a zero byte; NULL with errno, which is EFBIG for too much. */
static char *read_all(FILE *stream, size_t *length)
{
    size_t room = 1 << 16, used = 0, part;
    char *text = cli_alloc(room);
    while ((part = fread(text + used, 1, room - used - 1, stream)) > 0) {
        used += part;
        if (used > LARGEST) {
            errno = EFBIG;
            return NULL;
        }
        if (used + 1 == room) {
            char *more = cli_alloc(room *= 2);
            memcpy(more, text, used);
            text = more;
        }
    }
    *length = used;
    return ferror(stream) ? NULL : text;
}

static char *read_file(const char *path, size_t *length)
{
    FILE *stream = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!stream) {
        return NULL;
    }
    char *text = read_all(stream, length);
    int code = errno;
    if (stream != stdin) {
        fclose(stream);
    }
    errno = code;
    return text;
}

static unsigned line_of(const char *text, const char *place)
{
    unsigned line = 1;
    for (; text < place; text++) {
        line += *text == '\n';
    }
    return line;
}

static int check_path(const char *command, const char *name, const char *path)
{
    if (!*path) {
        return cli_usage(command,
                         "%s: the name of a file is expected after the @; a text that "
                         "begins with @ is written @@",
                         name);
    }
    if (strcmp(path, "-") == 0 && stdin_read) {
        return cli_usage(command, "%s: @- is standard input, and another text has read it", name);
    }
    stdin_read |= strcmp(path, "-") == 0;
    return CLI_OK;
}

int cli_text_read(const char **text, const char *command, const char *name)
{
    const char *given = *text, *path = given + 1;
    if (given[0] != '@' || given[1] == '@') {
        *text = given + (given[0] == '@');
        return CLI_OK;
    }
    CLI_TRY(check_path(command, name, path));
    size_t length = 0;
    char *read = read_file(path, &length);
    if (!read) {
        return cli_fail("%s: cannot read \"%s\": %s", name, path,
                        errno == EFBIG ? "it is larger than 64 MiB" : strerror(errno));
    }
    const char *zero = memchr(read, 0, length);
    if (zero) {
        return cli_fail("%s: \"%s\" is not text: there is a zero byte in line %u", name, path,
                        line_of(read, zero));
    }
    while (length > 0 && isspace((unsigned char)read[length - 1])) { /* a last line's end */
        read[--length] = 0;
    }
    *text = cli_begins_with(read, "\xef\xbb\xbf") ? read + 3 : read;
    if (file_count < MOST) {
        files[file_count].name = name;
        files[file_count++].file = strcmp(path, "-") == 0 ? "<stdin>" : path;
    }
    return CLI_OK;
}

/* ---- messages ------------------------------------------------------------------------------- */

/* Whether a place in the text `name` is at `p`: "name:3:1", "name, line 3", "name(3)". */
static bool is_place(const char *p, const char *name, bool line_begins)
{
    size_t length = strlen(name);
    if (!cli_begins_with(p, name)) {
        return false;
    }
    p += length;
    return (*p == ':' && isdigit((unsigned char)p[1])) || cli_begins_with(p, ", line ") ||
           (line_begins && *p == '(' && isdigit((unsigned char)p[1]));
}

static const char *file_at(const char *p, bool line_begins, size_t *length)
{
    for (size_t k = 0; k < file_count; k++) {
        if (is_place(p, files[k].name, line_begins)) {
            *length = strlen(files[k].name);
            return files[k].file;
        }
    }
    return NULL;
}

/* Lines of the user's code are indented more than messages and places. */
static bool is_code(const char *line)
{
    return cli_begins_with(line, "    ");
}

/* Write the message with the files' names to `to`, or only count its bytes where that is NULL. */
static size_t rename_places(char *to, const char *message)
{
    size_t used = 0;
    const char *line = message;
    for (const char *p = message; *p;) {
        size_t length = 1, added = 1;
        bool begins =
            p == line + strspn(line, " ") || (p > message + 1 && cli_begins_with(p - 2, ": "));
        bool word = p > message && (isalnum((unsigned char)p[-1]) || strchr("_./", p[-1]));
        const char *file = word || is_code(line) ? NULL : file_at(p, begins, &length);
        added = file ? strlen(file) : 1;
        if (to) {
            memcpy(to + used, file ? file : p, added);
        }
        used += added;
        line = *p == '\n' ? p + 1 : line;
        p += length;
    }
    return used;
}

const char *cli_text_name_files(const char *message)
{
    if (file_count == 0) {
        return message;
    }
    char *out = cli_alloc(rename_places(NULL, message) + 1); /* zeroed */
    rename_places(out, message);
    return out;
}
