/* SPDX-License-Identifier: MIT
 *
 * run_case QUERN CASE-FOLDER [semicolons]: runs one conformance case in a folder of its own and
 * compares what the command wrote with what is expected. A case holds case.json (the command line,
 * then either "error" or "outputs" and "rtol"), the input arrays, NAME.expect.npy for each output,
 * and CUDA source if the command takes one. A case with "error" passes when the command exits with
 * a status from 1 to 125 and says why. With "semicolons" each text of statements loses the
 * semicolon that it ends with, or gets one: the results must be the same.
 */
#include "case.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIME_LIMIT_S 120

static char work[] = "/tmp/quern-case-XXXXXX";
static bool work_exists;

/* Remove the working folder, which has files only. */
static void clean_up(void)
{
    DIR *folder = work_exists ? opendir(work) : NULL;
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", work, entry->d_name);
        unlink(path);
    }
    if (folder) {
        closedir(folder);
        rmdir(work);
    }
}

void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    clean_up();
    exit(1);
}

char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    long length = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *data = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (!data || fseek(file, 0, SEEK_SET) != 0 ||
        fread(data, 1, (size_t)length, file) != (size_t)length) {
        die("%s cannot be read", path);
    }
    fclose(file);
    data[length] = 0;
    *size = (size_t)length;
    return data;
}

/* ---- case.json: an object of strings, lists of strings and numbers -------------------------- */

static char *skip_space(char *at)
{
    return at + strspn(at, " \t\r\n,:");
}

/* string = '"' (character | '\' escape)* '"'; decoded in place. */
static char *json_string(char *at, char **out)
{
    if (*at != '"') {
        die("case.json: a string is missing at: %.20s", at);
    }
    char *to = *out = ++at;
    for (; *at && *at != '"'; at++) {
        if (*at == '\\') {
            const char *plain = strchr("n\nt\tr\r", *++at);
            *to++ = plain && strchr("ntr", *at) ? plain[1] : *at;
        } else {
            *to++ = *at;
        }
    }
    char *rest = at + (*at == '"');
    *to = 0;
    return rest;
}

/* list = '[' string* ']' */
static char *json_list(char *at, char **items, int capacity, int *count)
{
    at = skip_space(at + 1);
    while (*at && *at != ']') {
        if (*count == capacity) {
            die("case.json: the list is too long");
        }
        at = skip_space(json_string(at, &items[(*count)++]));
    }
    return at + (*at == ']');
}

static test_case case_parse(char *at)
{
    test_case c = {.argc = 1};
    at = skip_space(at + strspn(at, " \t\r\n{"));
    while (*at && *at != '}') {
        char *key, *text;
        at = skip_space(json_string(at, &key));
        if (strcmp(key, "argv") == 0) {
            at = json_list(at, c.argv, 63, &c.argc);
        } else if (strcmp(key, "outputs") == 0) {
            at = json_list(at, c.outputs, 64, &c.output_count);
        } else if (*at == '"') {
            at = json_string(at, &text);
            c.fails |= strcmp(key, "error") == 0;
        } else if (strcmp(key, "rtol") == 0) {
            c.rtol = strtod(at, &at);
        } else {
            die("case.json: %s is not known", key);
        }
        at = skip_space(at);
    }
    if (c.argc < 2 || (!c.fails && c.output_count == 0)) {
        die("case.json has no command line, or nothing to compare");
    }
    return c;
}

/* ---- running -------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static bool is_input(const char *name)
{
    return ends_with(name, ".cu") || (ends_with(name, ".npy") && !ends_with(name, ".expect.npy"));
}

static void copy_inputs(const char *folder_path)
{
    DIR *folder = opendir(folder_path);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        if (is_input(entry->d_name)) {
            char from[4096], to[512];
            size_t size;
            snprintf(from, sizeof from, "%s/%s", folder_path, entry->d_name);
            snprintf(to, sizeof to, "%s/%s", work, entry->d_name);
            char *data = read_file(from, &size);
            FILE *file = fopen(to, "wb");
            if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
                die("%s cannot be written", to);
            }
            free(data);
        }
    }
    if (folder) {
        closedir(folder);
    }
}

/* Run the command in the working folder, its standard error in the file "stderr" there. */
static int run(test_case *c, char *quern)
{
    c->argv[0] = quern;
    pid_t child = fork();
    if (child == 0) {
        alarm(TIME_LIMIT_S);
        if (chdir(work) == 0 && freopen("stdout", "w", stdout) && freopen("stderr", "w", stderr)) {
            execv(quern, c->argv);
        }
        _exit(126);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        die("%s cannot be started", quern);
    }
    if (WIFSIGNALED(status)) {
        die("quern was ended by signal %d", WTERMSIG(status));
    }
    return WEXITSTATUS(status);
}

static void judge(const test_case *c, int status, const char *folder)
{
    char path[512], want[4096];
    size_t size;
    snprintf(path, sizeof path, "%s/stderr", work);
    char *said = read_file(path, &size);
    if (c->fails && (status < 1 || status > 125)) {
        die("an error is expected; exit status %d: %s", status, said);
    }
    if (c->fails && size == 0) {
        die("it failed, as it should, and said nothing on standard error");
    }
    if (!c->fails && status != 0) {
        die("exit status %d: %s", status, said);
    }
    free(said);
    for (int i = 0; i < c->output_count; i++) {
        snprintf(path, sizeof path, "%s/%s.npy", work, c->outputs[i]);
        snprintf(want, sizeof want, "%s/%s.expect.npy", folder, c->outputs[i]);
        npy_compare(c->outputs[i], path, want, c->rtol);
    }
}

/* ---- semicolons ----------------------------------------------------------------------------- */

/* The text with its last semicolon taken away, or (in `room`) with one more. */
static char *other_end(char *text, char *room, size_t capacity)
{
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\n", text[length - 1])) {
        length--;
    }
    if (length == 0) {
        return text;
    }
    if (text[length - 1] == ';') {
        text[length - 1] = ' ';
        return text;
    }
    if (length + 2 > capacity) {
        die("a text is too long");
    }
    snprintf(room, capacity, "%s;", text);
    return room;
}

static void change_semicolons(test_case *c)
{
    static char room[3][16384];
    bool elementwise = strcmp(c->argv[1], "elementwise") == 0;
    int statements = elementwise ? 4 : strcmp(c->argv[1], "reduce") == 0 ? 6 : 0, used = 0;
    for (int k = 2; k < c->argc && used < 3; k++) {
        bool behind = strcmp(c->argv[k - 1], "--loop-prep") == 0 ||
                      strcmp(c->argv[k - 1], "--after-loop") == 0;
        if (k == statements || behind) {
            c->argv[k] = other_end(c->argv[k], room[used++], sizeof room[0]);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc != 3 && !(argc == 4 && strcmp(argv[3], "semicolons") == 0)) {
        die("usage: run_case QUERN CASE-FOLDER [semicolons]");
    }
    char path[4096];
    size_t size;
    snprintf(path, sizeof path, "%s/case.json", argv[2]);
    char *json = read_file(path, &size);
    char *quern = realpath(argv[1], NULL);
    test_case c = case_parse(json);
    if (argc == 4 && !c.fails) {
        change_semicolons(&c);
    }
    if (!quern || !mkdtemp(work)) {
        die("%s is missing, or no folder can be made in /tmp", argv[1]);
    }
    work_exists = true;
    copy_inputs(argv[2]);
    judge(&c, run(&c, quern), argv[2]);
    clean_up();
    free(quern);
    free(json);
    return 0;
}
