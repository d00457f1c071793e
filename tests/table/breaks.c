/* SPDX-License-Identifier: MIT
 *
 * breaks: every text that a user writes, broken in every way. In: `table_breaks [PLACES [FIRST]]`:
 * how many places of each text are broken in each way (default 1), and the seed. Out: one line with
 * how many errors were reported in the right text and within two tokens of the damage, and one for
 * each that was not; status 1 if there was any. What compiles all the same is counted, not judged.
 *
 * The right text is the broken one. A span is right within two tokens of the damage, on the bracket
 * that lost its partner, or on a name that was damaged where it was defined.
 */
#include <ctype.h>
#include <quern/quern.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 16384, TOKENS = 2048, SLACK = 2 };

/* ---- the texts ------------------------------------------------------------------------------ */

typedef enum kernel_kind { ELEMENTWISE, REDUCTION, SCAN, MODULE } kernel_kind;
typedef enum text_part {
    OPERATION,
    PREAMBLE,
    LOOP_PREP,
    AFTER_LOOP,
    MAP,
    COMBINE,
    POST,
    IDENTITY,
    SOURCE,
    HEADER,
    PARTS
} text_part;

static const char *const part_names[PARTS] = {"operation", "preamble", "loop_prep", "after_loop",
                                              "map",       "reduce",   "post",      "identity",
                                              "k.cu",      "own.h"};
/* What the parts that are not broken contain. `P` is a structure for operators that do not
 * exist. */
static const char *const whole[PARTS] = {
    "y = x * two(x)",
    "struct P { int m; };\ntemplate <class T> __device__ T two(T v) { return v + 2; }",
    "",
    "",
    "x * two(x)",
    "a + b",
    "y = a",
    "0",
    "#include \"own.h\"\nextern \"C\" __global__ void k(float *y) { y[0] = two(1.5f); }",
    "struct P { int m; };\ntemplate <class T> __device__ T two(T v) { return v + 2; }",
};

#define FUNCTIONS                                                                                  \
    "struct P { int m; };\n"                                                                       \
    "template <class T> __device__ T two(T v)\n{\n    return v + 2;\n}\n"                          \
    "__device__ int more(int a, float b)\n{\n    int c = a * 2; // twice\n"                        \
    "    for (int n = 0; n < 3; n++) {\n        c += (int)b - n;\n    }\n    return c;\n}\n"

static const struct {
    kernel_kind kind;
    text_part part;
    const char *text;
} rows[] = {
    {ELEMENTWISE, OPERATION, "y = x * two(x) + 1"},
    {ELEMENTWISE, OPERATION,
     "T t = x * x;\nif (t > 3) {\n    y = two(t);\n} else {\n    y = -t;\n}"},
    {ELEMENTWISE, OPERATION,
     "T t = x; t = t * 3 + two(x); y = t - x * 2; if (y > 2) y = two(y - 1); y += t; y -= (x + t) "
     "* 2"},
    {ELEMENTWISE, PREAMBLE, FUNCTIONS},
    {ELEMENTWISE, LOOP_PREP, "int p = 3; float q = two(p) * 2;"},
    {ELEMENTWISE, AFTER_LOOP, "int p = 3;\nif (p > 4) {\n    printf(\"%d\", p);\n}"},
    {ELEMENTWISE, HEADER, FUNCTIONS},
    {REDUCTION, PREAMBLE, FUNCTIONS},
    {REDUCTION, MAP, "x * two(x) + 1"},
    {REDUCTION, MAP, "T t = x * x;\nif (t > 3) {\n    return two(t);\n}\nreturn -t;"},
    {REDUCTION, COMBINE, "a + b * two(a)"},
    {REDUCTION, COMBINE, "T t = a;\nif (b > t) {\n    t = b;\n}\nreturn t;"},
    {REDUCTION, POST, "y = a * two(a) + 1"},
    {REDUCTION, POST, "T t = a * 2;\ny = t + (t > 3 ? 1 : 2);"},
    {REDUCTION, IDENTITY, "two(1) * 3 - 2"},
    {SCAN, MAP, "x * two(x) + 1"},
    {SCAN, COMBINE, "a + b * two(a)"},
    {SCAN, POST, "y = a * two(a) + x"},
    {SCAN, IDENTITY, "two(1) * 3 - 2"},
    {SCAN, PREAMBLE, FUNCTIONS},
    {MODULE, SOURCE,
     "#include \"own.h\"\n"
     "__device__ int more(int a, float b)\n{\n    int c = a * 2;\n    return c + (int)b;\n}\n"
     "extern \"C\" __global__ void k(float *y, int n)\n{\n    int t = threadIdx.x;\n"
     "    if (t < n) {\n        y[t] = two(y[t]) + more(t, 2.5f);\n    }\n}\n"},
    {MODULE, HEADER, FUNCTIONS},
};

/* ---- tokens --------------------------------------------------------------------------------- */

typedef struct token {
    size_t begin, end;
} token;

static size_t token_end(const char *text, size_t at)
{
    size_t end = at;
    if (isalnum((unsigned char)text[at]) || text[at] == '_') {
        while (isalnum((unsigned char)text[end]) || text[end] == '_' || text[end] == '.') {
            end++;
        }
        return end;
    }
    if (text[at] == '"' && strchr(text + at + 1, '"')) {
        return (size_t)(strchr(text + at + 1, '"') - text) + 1;
    }
    if (text[at] == '/' && text[at + 1] == '/') {
        return at + strcspn(text + at, "\n");
    }
    return at + 1;
}

static size_t tokenize(token *out, const char *text)
{
    size_t count = 0;
    for (size_t at = 0; text[at] && count < TOKENS;) {
        if (isspace((unsigned char)text[at])) {
            at++;
            continue;
        }
        out[count].begin = at;
        at = out[count++].end = token_end(text, at);
    }
    return count;
}

/* The token at a byte, or the next one after it. */
static size_t token_at(const token *tokens, size_t count, size_t at)
{
    size_t k = 0;
    while (k + 1 < count && tokens[k].end <= at) {
        k++;
    }
    return k;
}

/* ---- damages -------------------------------------------------------------------------------- */

typedef enum token_kind { ANY, WORD, BRACKET, SEMICOLON, LINE } token_kind;
typedef enum change {
    INSERT,  /* put `with` before the token */
    REPLACE, /* by `with`, in which % is the token */
    END      /* nothing from here on, then `with` */
} change;

static const struct {
    const char *name;
    change how;
    token_kind where;
    const char *with;
    bool later; /* may be sound in its place, and contradict what follows */
} damages[] = {
    {"drop a token", REPLACE, ANY, "", true},
    {"double a token", REPLACE, ANY, "% %", true},
    {"misspell a word", REPLACE, WORD, "%z"},
    {"misspell its beginning", REPLACE, WORD, "q%"},
    {"end early", END, ANY, ""},
    {"end early in a comment", END, ANY, "// so far"},
    {"end in a backslash", END, ANY, "\\"},
    {"a quote", INSERT, ANY, "\" "},
    {"an apostrophe", INSERT, ANY, "' "},
    {"a typographer's quote", INSERT, ANY, "\xe2\x80\x9c"},
    {"an open bracket", INSERT, ANY, "( "},
    {"a closed bracket", INSERT, ANY, ") "},
    {"an open brace", INSERT, ANY, "{ ", true},
    {"a closed brace", INSERT, ANY, "} ", true},
    {"an open square bracket", INSERT, ANY, "[ "},
    {"a closed square bracket", INSERT, ANY, "] "},
    {"drop a bracket", REPLACE, BRACKET, "", true},
    {"another bracket", REPLACE, BRACKET, "]", true},
    {"an open comment", INSERT, ANY, "/* "},
    {"a closed comment", INSERT, ANY, "*/ "},
    {"an open string R\"(", INSERT, ANY, "R\"( "},
    {"a stray #else", INSERT, LINE, "\n#else\n"},
    {"a stray #endif", INSERT, LINE, "\n#endif\n"},
    {"an open #if", INSERT, LINE, "\n#if 1\n"},
    {"no such directive", INSERT, LINE, "\n#defnie A\n"},
    {"a header that is missing", INSERT, LINE, "\n#include \"missing.h\"\n"},
    {"a header that is bad", INSERT, LINE, "\n#include \"bad.h\"\n"},
    {"a name that is not defined", REPLACE, WORD, "nothing"},
    {"a function that is not defined", REPLACE, WORD, "nothing(%)"},
    {"a string for a number", REPLACE, WORD, "\"text\""},
    {"a member of what has none", REPLACE, WORD, "%.member"},
    {"a pointer that is none", REPLACE, WORD, "*%", true},
    {"a structure for a number", REPLACE, WORD, "P()"},
    {"an overload that does not exist", REPLACE, WORD, "fmaxf(%, %, P())"},
    {"an operator that does not exist", REPLACE, WORD, "(P() + %)"},
    {"a character of no language", INSERT, ANY, "@ "},
    {"a directive in mid-line", INSERT, ANY, "# "},
    {"a keyword", INSERT, ANY, "int ", true},
    {"a colon for a semicolon", REPLACE, SEMICOLON, ":"},
    {"no semicolon", REPLACE, SEMICOLON, ""},
    {"a number that is none", REPLACE, WORD, "0x"},
    {"a word that begins with a digit", REPLACE, WORD, "3%"},
};

static bool suits(const char *text, const token *t, token_kind where)
{
    char first = text[t->begin];
    switch (where) {
    case WORD:
        return isalnum((unsigned char)first) || first == '_';
    case BRACKET:
        return strchr("()[]{}", first) != NULL;
    case SEMICOLON:
        return first == ';' && (text[t->end] == '\n' || text[t->end] == '\0');
    case LINE: /* a directive must not be in one */
        return first != '#' && (t->begin == 0 || text[t->begin - 1] != '#');
    default:
        return true;
    }
}

typedef struct broken {
    char text[LONGEST];
    size_t begin, end; /* the bytes that were put there, or where some were dropped */
    char word[256];    /* the token that was damaged */
} broken;

static void damage(broken *out, const char *text, const token *t, size_t d)
{
    size_t length = t->end - t->begin, used = t->begin;
    memcpy(out->text, text, used);
    snprintf(out->word, sizeof out->word, "%.*s", (int)length, text + t->begin);
    out->begin = used;
    for (const char *w = damages[d].with; *w; w++) {
        if (*w == '%') {
            memcpy(out->text + used, text + t->begin, length);
            used += length;
        } else {
            out->text[used++] = *w;
        }
    }
    out->end = used;
    const char *rest = damages[d].how == END      ? ""
                       : damages[d].how == INSERT ? text + t->begin
                                                  : text + t->end;
    snprintf(out->text + used, sizeof out->text - used, "%s", rest);
}

/* ---- compiling ------------------------------------------------------------------------------ */

static quern_engine *engine;
static quern_array *input;
static char folder[] = "/tmp/quern-breaks-XXXXXX";
static bool write_header(const char *name, const char *text)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    bool written = file && fputs(text, file) >= 0;
    return file && fclose(file) == 0 && written;
}

static quern_status call(quern_kernel *k)
{
    quern_array *y = NULL;
    quern_explanation *x = NULL;
    const quern_value values[] = {quern_value_array(input), quern_value_output(&y)};
    quern_status status = quern_explain(&x, k, values, 2, NULL);
    quern_explanation_release(x);
    quern_kernel_release(k);
    return status;
}

/* Compile with all parts as they are, except one. */
static quern_status compile(kernel_kind kind, text_part part, const char *text)
{
    const char *texts[PARTS];
    char include[40];
    snprintf(include, sizeof include, "-I%s", folder);
    const char *const options[] = {include};
    for (int p = 0; p < PARTS; p++) {
        texts[p] = p == (int)part ? text : whole[p];
    }
    if (part == HEADER) {
        texts[PREAMBLE] = "#include \"own.h\"";
    }
    write_header("own.h", texts[HEADER]);
    quern_kernel *k;
    quern_status status = QUERN_OK;
    if (kind == ELEMENTWISE) {
        quern_kernel_options o = QUERN_KERNEL_OPTIONS_INIT;
        o.preamble = texts[PREAMBLE];
        o.loop_prep = texts[LOOP_PREP];
        o.after_loop = texts[AFTER_LOOP];
        o.options = options;
        o.option_count = 1;
        status = quern_elementwise(&k, engine, "T x", "T y", texts[OPERATION], &o);
    } else if (kind == REDUCTION) {
        quern_reduction_options o = QUERN_REDUCTION_OPTIONS_INIT;
        o.preamble = texts[PREAMBLE];
        o.options = options;
        o.option_count = 1;
        status = quern_reduction(&k, engine, "T x", "T y", texts[MAP], texts[COMBINE], texts[POST],
                                 texts[IDENTITY], &o);
    } else if (kind == SCAN) {
        quern_scan_options o = QUERN_SCAN_OPTIONS_INIT;
        o.preamble = texts[PREAMBLE];
        o.options = options;
        o.option_count = 1;
        status = quern_scan(&k, engine, "T x", "T y", texts[MAP], texts[COMBINE], texts[POST],
                            texts[IDENTITY], &o);
    } else {
        quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
        o.options = options;
        o.option_count = 1;
        o.file_name = "k.cu";
        quern_module *module;
        status = quern_module_new(&module, engine, texts[SOURCE], &o);
        quern_module_release(module);
        return status;
    }
    return status == QUERN_OK ? call(k) : status;
}

/* ---- judging -------------------------------------------------------------------------------- */

static struct {
    size_t total, compiled, right, later, text_wrong, span_wrong;
} counts;

static const char *text_of(kernel_kind kind, text_part part)
{
    return kind == SCAN && part == COMBINE ? "scan" : part_names[part];
}

/* The text's name, or for a header the end of its path. */
static bool is_text(const char *said, const char *name)
{
    size_t length = strlen(said), tail = strlen(name);
    return length >= tail && strcmp(said + length - tail, name) == 0;
}

static bool is_bracket(const char *text, size_t at)
{
    return strchr("()[]{}", text[at]) || strncmp(text + at, "/*", 2) == 0;
}

/* Tokens between two of them, not counting round brackets: `two(P())` is near the `*` before it. */
static size_t apart(const char *text, const token *tokens, size_t from, size_t to)
{
    size_t count = 0;
    for (size_t k = from; k < to; k++) {
        count += text[tokens[k].begin] != '(' && text[tokens[k].begin] != ')';
    }
    return count;
}

/* Is a span of the broken text where the damage is? */
static bool is_near(const broken *b, size_t begin, size_t end, bool brackets)
{
    static token tokens[TOKENS];
    size_t count = tokenize(tokens, b->text);
    size_t from = token_at(tokens, count, b->begin), to = token_at(tokens, count, b->end);
    size_t first = token_at(tokens, count, begin), last = token_at(tokens, count, end - 1);
    if (apart(b->text, tokens, to, first) <= SLACK && apart(b->text, tokens, last, from) <= SLACK &&
        last - first <= to - from + SLACK) {
        return true;
    }
    size_t length = strlen(b->word);
    bool use = end - begin >= length && strncmp(b->text + begin, b->word, length) == 0 &&
               (isalpha((unsigned char)b->word[0]) != 0);
    return use || (brackets && is_bracket(b->text, begin));
}

/* Damages that are reported where something was opened. */
static bool concerns_brackets(const broken *b, size_t d)
{
    return damages[d].how == END || damages[d].where == BRACKET ||
           (damages[d].with[0] && strchr("()[]{}/", damages[d].with[0])) ||
           strchr("()[]{}", b->word[0]) != NULL;
}

/* The header is wrong in itself, and also where it is included. */
static bool is_in_bad_header(size_t d)
{
    return strstr(damages[d].with, "bad.h") && is_text(quern_last_error()->text_name, "bad.h");
}

/* A function that the broken text no longer has for the others, or has another one. */
static bool is_missed_elsewhere(size_t r, const broken *b)
{
    const quern_error *e = quern_last_error();
    bool defines = rows[r].part == PREAMBLE || rows[r].part == HEADER;
    bool name = e->begin < e->end && isalpha((unsigned char)e->text[e->begin]);
    bool damaged = strncmp(e->text + e->begin, b->word, strlen(b->word)) == 0;
    bool function = strncmp(e->text + e->begin, "two", 3) == 0;
    return defines && name && (damaged || function);
}

/* A directive takes its whole line. */
static bool is_in_line(const broken *b, size_t begin)
{
    size_t end = b->begin + strcspn(b->text + b->begin, "\n");
    return begin >= b->begin && begin <= end;
}

static void judge(size_t r, size_t d, const broken *b)
{
    const quern_error *e = quern_last_error();
    const char *name = text_of(rows[r].kind, rows[r].part);
    bool place = e->begin < e->end, same = is_text(e->text_name, name) && place;
    bool lacks = strstr(e->message, "is empty") || strstr(e->message, "never assigns the output");
    bool empty = lacks && strstr(e->message, name); /* what is left compiles, but is not enough */
    bool line = damages[d].with[0] == '#' && same && is_in_line(b, e->begin);
    if (empty || line || is_in_bad_header(d) || is_missed_elsewhere(r, b) ||
        (same && is_near(b, e->begin, e->end, concerns_brackets(b, d)))) {
        counts.right++;
        return;
    }
    if (same && damages[d].later && e->begin >= b->begin) {
        counts.later++;
        return;
    }
    *(same ? &counts.span_wrong : &counts.text_wrong) += 1;
    printf("%s %s: %s at byte %zu\n----\n%s\n---- %s\n\n", part_names[rows[r].part],
           same ? "wrong place" : "wrong text", damages[d].name, b->begin, b->text,
           quern_last_error_text());
}

static unsigned random_below(unsigned *state, size_t below)
{
    *state = *state * 1664525u + 1013904223u;
    return (unsigned)((uint64_t)(*state >> 8) * below >> 24);
}

static void break_row(size_t r, size_t d, int places, unsigned *state)
{
    static token tokens[TOKENS];
    static broken b;
    size_t count = tokenize(tokens, rows[r].text), suited = 0, list[TOKENS];
    for (size_t t = 0; t < count; t++) {
        if (suits(rows[r].text, &tokens[t], damages[d].where)) {
            list[suited++] = t;
        }
    }
    for (int n = 0; n < places && suited > 0; n++) {
        size_t pick = random_below(state, suited);
        damage(&b, rows[r].text, &tokens[list[pick]], d);
        list[pick] = list[--suited];
        counts.total++;
        if (compile(rows[r].kind, rows[r].part, b.text) == QUERN_OK) {
            counts.compiled++;
        } else {
            judge(r, d, &b);
        }
    }
}

static bool sound(size_t r)
{
    if (compile(rows[r].kind, rows[r].part, rows[r].text) == QUERN_OK) {
        return true;
    }
    return printf("row %zu is broken by itself: %s\n", r, quern_last_error_text()) < 0;
}

int main(int argc, char **argv)
{
    int places = argc > 1 ? atoi(argv[1]) : 1;
    unsigned state = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    setenv("QUERN_CACHE_DIR", "off", 1);
    setenv("QUERN_DEVICE", "soft", 1);
    float numbers[3] = {1, 2, 3};
    if (quern_open(&engine, NULL) != QUERN_OK || !mkdtemp(folder) ||
        !write_header("bad.h", "__device__ int bad() { return zz; }\n") ||
        quern_array_from(&input, engine, QUERN_FLOAT32, 1, (int64_t[]){3}, numbers) != QUERN_OK) {
        fprintf(stderr, "cannot begin: %s\n", quern_last_error_text());
        return 1;
    }
    bool all = true;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        all &= sound(r);
        for (size_t d = 0; d < sizeof damages / sizeof *damages && all; d++) {
            break_row(r, d, places, &state);
        }
    }
    quern_array_release(input);
    quern_close(engine);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    all &= system(command) == 0;
    printf(
        "%zu broken texts: %zu errors at their place, %zu where they contradict what follows, %zu "
        "compile in spite of it, %zu of the wrong text, %zu at a wrong place\n",
        counts.total, counts.right, counts.later, counts.compiled, counts.text_wrong,
        counts.span_wrong);
    return all && counts.text_wrong + counts.span_wrong == 0 ? 0 : 1;
}
