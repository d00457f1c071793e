/* SPDX-License-Identifier: MIT
 *
 * From the compiler's log to a message and a span. In: logs as NVRTC 12 and 13 print them. No NVRTC
 * is needed. The tables hold: log, user text, message, and the piece of the text that is marked.
 */
#include "compile/nvrtc.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char *const folders[] = {"-Ione", "--std=c++17", "-I", "two"};
static const qn_compile_request snippet = {
    .source = "__global__ void k() {}", .options = folders, .option_count = QN_COUNT(folders)};

typedef struct diagnosis {
    const char *log, *operation, *message, *marked;
} diagnosis;

static quern_status status_of(const diagnosis *d)
{
    return strstr(d->message, "the name expression") ? QUERN_ERROR_NAME : QUERN_ERROR_COMPILE;
}

static const diagnosis diagnoses[] = {
    {"operation(1): error: identifier \"foo\" is undefined\n"
     "    x[0] = foo + 1; \n"
     "           ^\n\n1 error detected in the compilation of \"quern_kernel.cu\".\n",
     "  x[0] = foo + 1; ", "operation:1:10: identifier \"foo\" is undefined", "foo"},
    /* tabs are kept by the compiler, and columns count bytes */
    {"operation(2): error: identifier \"bar\" is undefined\n"
     "  \t int y = bar;\n"
     "  \t         ^\n\n",
     "a;\n\t int y = bar;", "operation:2:11: identifier \"bar\" is undefined", "bar"},
    {"operation(1): error: a value of type \"float\" cannot be used\n"
     "  'h\xc3\xa9'; /*\xe2\x82\xac*/ z = \"3.5\";\n"
     "                     ^\n",
     "'h\xc3\xa9'; /*\xe2\x82\xac*/ z = \"3.5\";",
     "operation:1:20: a value of type \"float\" cannot be used", "\"3.5\""},
    /* a warning before it does not decide; the first error does */
    {"operation(1): warning #177-D: variable \"unused\" was declared but never referenced\n"
     "  int unused; y = q;\n"
     "      ^\n\n"
     "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n"
     "operation(1): error #20: identifier \"q\" is undefined\n"
     "  int unused; y = q;\n"
     "                  ^\n\n"
     "operation(1): error: second\n  int unused; y = q;\n  ^\n",
     "int unused; y = q;", "operation:1:17: identifier \"q\" is undefined", "q"},
    {"operation(1): catastrophic error: cannot open source file \"nix.h\"\n"
     "  #include \"nix.h\"\n"
     "                  ^\n\n",
     "#include \"nix.h\"",
     "operation:1:11: the header \"nix.h\" was not found: add its folder with -I, or give it as a "
     "header in memory; looked in: the working folder, one, two",
     "nix.h"},
    /* the line shown is not the user's: the whole line is marked */
    {"operation(2): error: expected a \";\"\n"
     "  something else\n"
     "            ^\n",
     "one\n  two two \nthree", "operation:2: expected a \";\"", "two two"},
    /* past the end of the text: what ends it is marked */
    {"operation(7): error: no such line\n", "one",
     "operation:1:1: more is expected after this (the compiler: no such line)", "one"},
    /* in what the user's line uses */
    {"complex.cuh(12): error: expression must have class type but it has type \"float\"\n"
     "  template<class T> T f(T x){return x.a;}\n"
     "                                    ^\n"
     "          detected during instantiation of \"T f(T) [with T=float]\" at line 2 of "
     "operation\n\n",
     "int i;\n  y = f(x); ",
     "operation:2:7: expression must have class type but it has type \"float\" (in what this uses, "
     "at complex.cuh:12)",
     "f"},
    {"complex.cuh(12): error: no operator \"*\" matches these operands\n"
     "            operand types are: uint3 * int\n"
     "  v * 2\n"
     "    ^\n"
     "complex.cuh(12): note #3328-D: built-in operator*(<promoted arithmetic>, ...)\n"
     "  v * 2\n"
     "    ^\n"
     "          detected during:\n"
     "            instantiation of \"T g(T)\" at line 60\n"
     "            instantiation of \"quern::complex<T> quern::operator*(T)\" at line 2 of "
     "operation\n",
     "int i;\n  y = f(x); ",
     "operation:2: no operator \"*\" matches these operands; operand types are: uint3 * int (in "
     "what "
     "this line uses, at complex.cuh:12)",
     "y = f(x);"},
    /* messages of several lines keep their column, their types and candidates */
    {"operation(1): error: more than one instance of overloaded function \"sqrt\" matches the "
     "argument "
     "list:\n"
     "            function \"sqrt(float)\" (declared implicitly)\n"
     "            function \"sqrt(double)\" (declared implicitly)\n"
     "            argument types are: (const int)\n"
     "  y = 1 + sqrt(x)\n"
     "          ^\n\n",
     "y = 1 + sqrt(x)",
     "operation:1:9: more than one instance of overloaded function \"sqrt\" matches the argument "
     "list; argument types are: (const int); candidates: sqrt(float), sqrt(double)",
     "sqrt"},
    {"operation(1): error: no instance of constructor \"A::A\" matches:\n"
     "            function \"A::A(int)\" (declared at line 1 of preamble)\n"
     "            function \"a\"\n            function \"b\"\n            function \"c\"\n"
     "            function template \"A::A(T)\"\n            function d\n"
     "  ^\n"
     "  ^\n",
     "^",
     "operation:1:1: no instance of constructor \"A::A\" matches; candidates: A::A(int), a, b, c "
     "and 2 more",
     "^"},
    /* the code after a text fails for what the text lacks */
    {"<after operation>(2): error: expected an expression\n  }\n  ^\n", "int i;\ny = x + // more\n",
     "operation:2:7: expected an expression after this", "+"},
    {"<after operation>(99): error: expected a \";\"\n", "y = x",
     "<after operation>:99: expected a \";\" (in generated code, next to the text given: see the "
     "source)",
     ""},
    {"operation(3): error: missing return statement at end of non-void function \"lambda\"\n  }\n  "
     "^\n",
     "a + b;",
     "operation:1:6: no value is returned: leave out the \";\" of an expression, or have "
     "statements "
     "\"return ...;\" on every path",
     ";"},
    /* a brace that stays open is what is wrong, though the compiler goes on for long */
    {"operation(2): error: expected a \";\"\n  T g() { return 2; }\n        ^\n",
     "T f() { return 1;\nT g() { return 2; }",
     "operation:1:7: this { has no partner (the compiler: expected a \";\")", "{"},
    {"operation(2): error: identifier \"zz\" is undefined\n  zz = 2;\n  ^\n", "if (x) {\nzz = 2;",
     "operation:2:1: identifier \"zz\" is undefined", "zz"},
    /* a macro that breaks generated code */
    {"<after operation>(9): error: expected a \")\"\n  f(const float &x)\n                ^\n",
     "#define xx 1\n # define x 3",
     "operation:2:11: this macro changes the code that Quern generates around the texts: give it "
     "another name (the compiler: expected a \")\")",
     "x"},
    {"At end of source: error: expected a \"}\"\n", "y = x",
     "end of the source: expected a \"}\" (in "
     "generated code, next to the text given: see the source)",
     ""},
    /* a bracket without partner, found in generated text or at the end */
    {"At end of source: error: expected a \"}\"\n"
     "quern_kernel.cu(1): note #3196-D: to match this \"{\"\n"
     "  extern \"C\" __global__ void k(float*x){\n"
     "                                       ^\n\n",
     "if (x) {\n y = 1;", "operation:1:8: this { has no partner (the compiler: expected a \"}\")",
     "{"},
    {"quern_kernel.cu(4): error: expected an expression\n  ;}\n  ^\n", "y = sin(",
     "operation:1:8: this ( has no partner (the compiler: expected an expression)", "("},
    {"quern_kernel.cu(4): error: expected an expression\n",
     "int i;\ny = \")\" + ')' + 1'0; /* ( */ /* ",
     "operation:2:30: this /* has no partner (the compiler: expected an expression)", "/*"},
    {"quern_kernel.cu(4): error: expected a declaration\n", "y = f(x]);",
     "operation:1:6: this ( has no partner (the compiler: expected a declaration)", "("},
    /* not the user's doing */
    {"quern_kernel.cu(4): error: expected a \";\"\n  }\n  ^\n", "y = x",
     "quern_kernel.cu:4: expected a \";\" (in generated code, next to the text given: see the "
     "source)",
     ""},
    {"__nv_name_map(2): error: identifier \"kk\" is undefined\n"
     "  #pragma nv_mangled_name kk<int>\n"
     "                          ^\n",
     "y = x",
     "the name expression \"kk<int>\": identifier \"kk\" is undefined; the source has the kernels "
     "k",
     ""},
    {"Command-line error: cannot open source file \"cuda_fp8.h\"\n\n", "y = x",
     "the options: the header \"cuda_fp8.h\" was not found: it is one of CUDA's; install the CUDA "
     "Toolkit, or the Python packages nvidia-cuda-runtime, nvidia-cuda-crt and nvidia-cuda-cccl, "
     "and "
     "set CUDA_HOME to "
     "the folder that has include/ in it; looked in: the working folder, one, two (in generated "
     "code, next to the text "
     "given: see the source)",
     ""},
    {"a.h(2): catastrophic error: could not open source file \"stdint.h\" (no directories in "
     "search "
     "list)\n",
     "y = x",
     "a.h:2: the header \"stdint.h\" was not found: the compiler for the GPU has none of the "
     "host's "
     "headers; <cuda/std/...> has most of what C++ has; looked in: the working folder, one, two "
     "(in generated code, "
     "next to the text given: see the source)",
     ""},
    {"a.h(2): error: cannot open source file \"cut", "y = x",
     "a.h:2: cannot open source file \"cut (in generated code, next to the text given: see the "
     "source)",
     ""},
    {"ptxas error   : Entry function 'k' uses too much shared data (0xf4240 bytes, 0xc000 max)\n",
     "y", "the assembler: Entry function 'k' uses too much shared data (0xf4240 bytes, 0xc000 max)",
     ""},
    {"ptxas application ptx input, line 26; error   : Unknown modifier '.bar'\n"
     "ptxas fatal   : Ptx assembly aborted due to errors\n",
     "y", "the assembler: Unknown modifier '.bar'", ""},
    {"", "y", "the compiler failed without an error message", ""},
    {"operation(99999999999999999999): error: x\n", "y",
     "operation:1:1: more is expected after this (the compiler: x)", "y"},
    {"(1): error: no name\n", "y",
     ":1: no name (in generated code, next to the text given: see the source)", ""},
};

Test(diagnose, logs)
{
    for (size_t k = 0; k < QN_COUNT(diagnoses); k++) {
        const diagnosis *d = &diagnoses[k];
        qn_user_text texts[] = {
            {NULL, ""}, {"preamble", "#define A 1"}, {"operation", d->operation}};
        quern_status status = qn_diagnose(qn_str_of(d->log), &snippet, texts, QN_COUNT(texts));
        const quern_error *error = quern_last_error();
        cr_expect_eq(status, status_of(d));
        cr_expect_str_eq(error->message, d->message, "case %zu: %s", k, error->message);
        size_t length = error->end - error->begin;
        cr_expect(length == strlen(d->marked) &&
                      strncmp(error->text + error->begin, d->marked, length) == 0,
                  "case %zu marks \"%.*s\"", k, (int)length, error->text + error->begin);
    }
}

/* The compiler counts columns modulo 65536: a name that the message quotes shows which is meant, a
 * bracket without a partner is found by itself, and otherwise no column is given. */
Test(diagnose, lines_of_many_columns)
{
    enum { LENGTH = 80000 };
    static const struct {
        const char *end, *says, *marked;
    } cases[] = {
        {"zz", "identifier \"zz\" is undefined", "zz"},
        {"y = (x", "expected a \")\"", "("},
        {"y = x x", "expected a \";\"", NULL},
    };
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        qn_text line = {0}, log = {0};
        while (line.length < LENGTH) {
            qn_text_puts(&line, "y += 1; ");
        }
        size_t at = line.length;
        qn_text_puts(&line, cases[k].end);
        qn_text_printf(&log, "operation(1): error: %s\n  %s\n%*s\n", cases[k].says, line.data,
                       (int)(at % 65536) + 3, "^");
        qn_user_text text = {"operation", line.data};
        cr_assert_eq(qn_diagnose(qn_str_of(log.data), &snippet, &text, 1), QUERN_ERROR_COMPILE);
        const quern_error *error = quern_last_error();
        char place[40];
        snprintf(place, sizeof place,
                 "operation:1:%zu: ", cases[k].marked ? at + 1 + (k == 1 ? 4 : 0) : 0);
        const char *begins = cases[k].marked ? place : "operation:1: ";
        cr_expect(strncmp(error->message, begins, strlen(begins)) == 0, "%.80s", error->message);
        if (cases[k].marked) {
            cr_expect(strncmp(error->text + error->begin, cases[k].marked,
                              error->end - error->begin) == 0);
        }
        qn_text_free(&line);
        qn_text_free(&log);
    }
}

/* An option's macro that breaks a header of Quern's: it has no place in a text. */
Test(diagnose, macros_of_options)
{
    static const struct {
        const char *options[2];
        const char *blamed; /* NULL: none of them */
    } cases[] = {
        {{"-Dn=2"}, "n"},
        {{"-D", "n=2"}, "n"},
        {{"--define-macro=n"}, "n"},
        {{"--define-macro", "n"}, "n"},
        {{"-DN=3", "-Dn(x)=2"}, "n"},
        {{"-DN=3"}, NULL},
        {{"-D"}, NULL},
        {{"-lineinfo", "n"}, NULL},
    };
    static const char log[] =
        "quern/index.cuh(16): error: expected a \")\"\n  f(int n)\n        ^\n";
    qn_user_text text = {"operation", "y = x"};
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        qn_compile_request request = snippet;
        request.options = cases[k].options;
        request.option_count = cases[k].options[1] ? 2 : 1;
        qn_diagnose(qn_str_of(log), &request, &text, 1);
        const char *message = quern_last_error()->message;
        cr_expect_str_eq(message,
                         cases[k].blamed
                             ? "the option that defines 'n' changes Quern's own code: give the "
                               "macro another name (the compiler: expected a \")\")"
                             : "quern/index.cuh:16: expected a \")\" (in generated code, next to "
                               "the text given: see the source)",
                         "case %zu: %s", k, message);
    }
}

Test(diagnose, a_header_of_a_users_own_source_is_not_generated)
{
    qn_compile_request module = {.source = "s", .file_name = "dir/mine.cu"};
    qn_user_text text = {"dir/mine.cu", "s"};
    qn_diagnose(QN_STR("dir/own.h(3): error: x\n"), &module, &text, 1);
    cr_expect_str_eq(quern_last_error()->message, "dir/own.h:3: x");
}

Test(diagnose, place_is_recorded)
{
    qn_diagnose(QN_STR("operation(3): error: x\n"), &snippet, NULL, 0);
    const char *file;
    uint32_t line, column;
    cr_assert(qn_error_get_place(&file, &line, &column));
    cr_expect_str_eq(file, "operation");
    cr_expect_eq(line, 3);
    cr_expect_eq(column, 0);
    cr_expect_str_eq(quern_last_error()->message, "operation:3: x");
}

Test(diagnose, every_cut_of_a_log)
{
    /* no cut makes it read outside of the log: the sanitizers watch */
    for (size_t k = 0; k < QN_COUNT(diagnoses); k++) {
        for (size_t length = 0; length <= strlen(diagnoses[k].log); length++) {
            char *log = qn_strndup(diagnoses[k].log, length);
            qn_user_text text = {"operation", diagnoses[k].operation};
            quern_status status = qn_diagnose(qn_str_of(log), &snippet, &text, 1);
            cr_expect(status == QUERN_ERROR_COMPILE || status == status_of(&diagnoses[k]));
            qn_free(log);
        }
    }
}

static const struct {
    const char *text;
    int at; /* -1: all brackets have partners */
} brackets[] = {
    {"#define END \\\n }\n(", 17},
    {"#define END \\\r\n }\r\n(", 19},
    {"", -1},
    {"f(a[1], {2})", -1},
    {"(", 0},
    {")", 0},
    {"a(b[c)", 3},
    {"'(' \"[\" // {", -1},
    {"/* ( */", -1},
    {"x /* (", 2},
    {"\"abc", 0},
    {"'\\'(' ( )", -1},
    {"f(u8'a') + 1'000", -1},
    {"switch (c) { case'a': break; }", -1},
    {"x1'0", 2},
    {"// a \\\n (", -1},
    {"1'000'(", 5},
    {"{ { }", 0},
    {"\"a\\\"(\"", -1},
    {"a // ' \n b)", 10},
    {"R\"x()\")\")x\" ( )", -1},
    {"u8R\"((\n)\"", -1},
    {"R\"(", 1},
    {"0xff'ff (", 8},
};

Test(brackets, table)
{
    for (size_t k = 0; k < QN_COUNT(brackets); k++) {
        size_t at = 0;
        bool unmatched = qn_bracket_unmatched(brackets[k].text, &at);
        cr_expect_eq(unmatched ? (int)at : -1, brackets[k].at, "%s: %d", brackets[k].text,
                     unmatched ? (int)at : -1);
    }
}

Test(diagnose, options)
{
    static const struct {
        const char *log, *message;
    } cases[] = {
        {"nvrtc: error: unrecognized option --bogus found\n",
         "NVRTC 13.0 does not accept the option \"--bogus\": unrecognized option --bogus found"},
        {"nvrtc: error: invalid value for --std(-std)\n",
         "NVRTC 13.0 does not accept the option \"--std=c++99\": invalid value for --std(-std)"},
        {"nvrtc: error: something else\n",
         "NVRTC 13.0 does not accept the options: something else"},
    };
    static const char *const options[] = {"--std=c++99", "--bogus"};
    qn_compile_request request = {.options = options, .option_count = 2};
    qn_nvrtc nvrtc = {.major = 13, .minor = 0};
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        qn_diagnose_option(qn_str_of(cases[k].log), &request, &nvrtc);
        cr_expect_str_eq(quern_last_error()->message, cases[k].message);
    }
}
