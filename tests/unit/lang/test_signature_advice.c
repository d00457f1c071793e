/* SPDX-License-Identifier: MIT
 *
 * Wrong signatures as a new user types them: which list, which bytes, and what the message says.
 */
#include "lang/lang.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct {
    const char *in, *out;
    const char *list; /* that is wrong */
    uint32_t begin, end;
    const char *message;
} cases[] = {
    {"x", "", "in", 0, 1,
     "\"x\" has no type before it: write \"T x\" for any dtype, or a dtype as in \"float32 x\""},
    {"T", "", "in", 0, 1, "type \"T\" has no name after it: write \"T x\""},
    {"float", "", "in", 0, 5, "type \"float\" has no name after it: write \"float x\""},
    {"unsigned int", "", "in", 0, 12,
     "type \"unsigned int\" has no name after it: write \"unsigned int x\""},
    {"const unsigned", "", "in", 6, 14,
     "type \"unsigned\" has no name after it: write \"const unsigned x\""},
    {"flaot", "", "in", 0, 5,
     "a parameter is a type and a name: write \"float x\" if \"flaot\" is meant to be its type, "
     "\"T flaot\" if it is the name"},
    {"abc", "", "in", 0, 3,
     "\"abc\" has no type before it: write \"T abc\" for any dtype, or a dtype as in \"float32 "
     "abc\""},
    {"raw", "", "in", 0, 3, "\"raw\" needs a type and a name after it: write \"raw T x\""},
    {"const raw", "", "in", 0, 9,
     "\"const raw\" needs a type and a name after it: write \"const raw T x\""},
    {"raw x", "", "in", 4, 5,
     "\"x\" has no type before it: write \"raw T x\" for any dtype, or a dtype as in \"raw float32 "
     "x\""},
    {"raw T", "", "in", 4, 5, "type \"T\" has no name after it: write \"raw T x\""},
    {"T x, y", "", "in", 5, 6,
     "\"y\" has no type before it: write \"T y\" for any dtype, or a dtype as in \"float32 y\""},
    {",", "", "in", 0, 1, "there is no parameter before the first comma: remove the comma"},
    {",T x", "", "in", 0, 1, "there is no parameter before the first comma: remove the comma"},
    {"T x,", "", "in", 3, 4, "no parameter follows the last comma: remove the comma"},
    {"T x , ", "", "in", 4, 5, "no parameter follows the last comma: remove the comma"},
    {"T x,,T y", "", "in", 3, 5, "there is no parameter between two commas: remove one"},
    {"T x, ,T y", "", "in", 3, 6, "there is no parameter between two commas: remove one"},
    {"T x,,", "", "in", 3, 5, "there is no parameter between two commas: remove one"},
    {"float31 x", "", "in", 0, 7, "there is no type \"float31\"; did you mean \"float32\"?"},
    {"Float32 x", "", "in", 0, 7, "there is no type \"Float32\"; did you mean \"float32\"?"},
    {"fp16 x", "", "in", 0, 4, "there is no type \"fp16\"; did you mean \"float16\"?"},
    {"unsinged char x", "", "in", 0, 13,
     "there is no type \"unsinged char\"; did you mean \"unsigned char\"?"},
    {"long double x", "", "in", 0, 11,
     "there is no type \"long double\"; did you mean \"double\"?"},
    {"foo x", "", "in", 0, 3,
     "there is no type \"foo\": write a dtype (float32, int64, complex64, ...), a C type (float, "
     "unsigned char, ...) or a letter such as T for any dtype"},
    {"T1 x", "", "in", 0, 2,
     "there is no type \"T1\": what stands for any dtype is a single letter, such as \"T\""},
    {"TT x", "", "in", 0, 2,
     "there is no type \"TT\": what stands for any dtype is a single letter, such as \"T\""},
    {"void x", "", "in", 0, 4,
     "\"void\" is not an element type: write a letter such as T for any dtype, or a dtype such as "
     "float32"},
    {"auto x", "", "in", 0, 4,
     "\"auto\" is not an element type: write a letter such as T for any dtype, or a dtype such as "
     "float32"},
    {"complex x", "", "in", 0, 7, "there is no type \"complex\"; did you mean \"complex64\"?"},
    {"T i", "", "in", 2, 3,
     "a parameter cannot be called \"i\", which is the position of the element inside a kernel: "
     "take another name"},
    {"i x", "", "in", 0, 1,
     "\"i\" is the position of the element inside a kernel: take another letter, such as T"},
    {"T _x", "", "in", 2, 4,
     "a parameter cannot be called \"_x\", which begins with an underscore, as Quern's own names "
     "inside a kernel do: take another name"},
    {"T class", "", "in", 2, 7,
     "a parameter cannot be called \"class\", which is a C++ keyword: take another name"},
    {"T const", "", "in", 2, 7,
     "a parameter cannot be called \"const\", which is a qualifier: take another name"},
    {"T raw", "", "in", 2, 5,
     "a parameter cannot be called \"raw\", which is a qualifier: take another name"},
    {"T threadIdx", "", "in", 2, 11,
     "a parameter cannot be called \"threadIdx\", which is CUDA's own: take another name"},
    {"T float32", "", "in", 2, 9,
     "a parameter cannot be called \"float32\", which is a type: take another name"},
    {"T complex", "", "in", 2, 9,
     "a parameter cannot be called \"complex\", which is a type: take another name"},
    {"T 2x", "", "in", 2, 4, "a name begins with a letter: write \"T x2x\""},
    {"T x, T x", "", "in", 7, 8,
     "there are two parameters called \"x\": take another name for one"},
    {"T x", "T x", "out", 2, 3,
     "there are two parameters called \"x\", an input and an output: take another name for one"},
    {"T T", "", "in", 2, 3,
     "\"T\" is both a parameter and the letter of a type: take another name or another letter"},
    {"T x, x y", "", "in", 2, 3,
     "\"x\" is both a parameter and the letter of a type: take another name or another letter"},
    {"T x", "x z", "in", 2, 3,
     "\"x\" is both a parameter and the letter of a type: take another name or another letter"},
    {"T x", "const T z", "out", 0, 5,
     "an output is written to: remove \"const\", or make it an input"},
    {"T x", "raw const T z", "out", 4, 9,
     "an output is written to: remove \"const\", or make it an input"},
    {"T *x", "", "in", 2, 3,
     "arrays are not written as pointers: write \"T x\", or \"raw T x\" for an array that is "
     "indexed"},
    {"T* x", "", "in", 1, 2,
     "arrays are not written as pointers: write \"T x\", or \"raw T x\" for an array that is "
     "indexed"},
    {"T &x", "", "in", 2, 3, "arrays are not written as references: write \"T x\""},
    {"int x[3]", "", "in", 5, 6,
     "shapes are not part of a signature: write \"T x\", or \"raw T x\" for an array that is "
     "indexed"},
    {"T x = 3", "", "in", 4, 5,
     "a parameter has no default value: write \"T x\" and pass the value with each call"},
    {"T x -> T z", "", "in", 4, 6,
     "inputs and outputs are two lists: give what follows \"->\" as the second one"},
    {"\"T x\"", "", "in", 0, 1, "the quotes belong around the list, not inside it"},
    {"'T x'", "", "in", 0, 1, "the quotes belong around the list, not inside it"},
    {"T x; T y", "", "in", 3, 4, "parameters are separated by commas: write \"T x, T y\""},
    {"x: float32", "", "in", 1, 2, "the type comes before the name: write \"float32 x\""},
    {"(T x)", "", "in", 0, 1, "a list has no parentheses: write \"T x, T y\""},
    {"complex<float> x", "", "in", 7, 8,
     "templates are not types of parameters: write a dtype such as \"complex64 x\", or a letter "
     "for any dtype"},
    {"np.float32 x", "", "in", 2, 3, "types are written without a prefix, such as \"float32 x\""},
    {"std::int32_t x", "", "in", 3, 5,
     "types are written without a namespace, such as \"int32 x\""},
    {"T x, ...", "", "in", 5, 8,
     "a kernel has a fixed number of parameters: write each one with its type and name"},
    {"T x // in", "", "in", 4, 6, "a signature has no comments"},
    {"T x /* in */", "", "in", 4, 6, "a signature has no comments"},
    {"T a-b", "", "in", 3, 4, "names consist of letters, digits and underscores"},
    {"T @x", "", "in", 2, 3,
     "\"@\" has no place in a signature: write a type and a name, such as \"T x\""},
    {"T x!", "", "in", 3, 4,
     "\"!\" has no place in a signature: write a type and a name, such as \"T x\""},
    {"T \316\273", "", "in", 2, 4,
     "a signature is plain ASCII: names consist of letters, digits and underscores"},
    {"\342\200\234T x\342\200\235", "", "in", 0, 3,
     "this is a typographic quote; write \" around the list"},
    {"T\302\240x", "", "in", 1, 3, "this is a no-break space; write a plain space"},
    {"T x\357\274\214 T y", "", "in", 3, 6, "this is a wide comma; write \",\""},
    {"T \377x", "", "in", 2, 3,
     "a signature is plain ASCII: names consist of letters, digits and underscores"},
    {"T \001x", "", "in", 2, 3, "the character with code 1 has no place in a signature"},
    {"foo T x", "", "in", 0, 3,
     "\"foo\" is not a qualifier: only \"raw\" and \"const\" may stand before a type"},
    {"foo bar float x", "", "in", 0, 3,
     "\"foo\" is not a qualifier: only \"raw\" and \"const\" may stand before a type"},
    {"restrict T x", "", "in", 0, 8,
     "\"restrict\" is not used here: overlap of the arguments is handled by the call"},
    {"in T x", "", "in", 0, 2,
     "\"in\" is not used here: the list that a parameter is in makes it an input or an output"},
    {"struct foo x", "", "in", 0, 6,
     "\"struct\" is not used here: a parameter is a number or an array of numbers"},
    {"Raw T x", "", "in", 0, 3, "write \"raw\" in small letters"},
    {"CONST T x", "", "in", 0, 5, "write \"const\" in small letters"},
    {"__shared__ float x", "", "in", 0, 10,
     "\"__shared__\" is not used here: shared memory is declared in the operation, not in the "
     "signature"},
    {"foo const T x", "", "in", 0, 3,
     "\"foo\" is not a qualifier: only \"raw\" and \"const\" may stand before a type"},
    {"raw raw T x", "", "in", 4, 7, "\"raw\" is written twice"},
    {"const raw const T x", "", "in", 10, 15, "\"const\" is written twice"},
    {"T const x", "", "in", 2, 7, "qualifiers come before the type: write \"const T x\""},
    {"T raw x", "", "in", 2, 5, "qualifiers come before the type: write \"raw T x\""},
    {"float const x", "", "in", 6, 11, "qualifiers come before the type: write \"const float x\""},
    {"T x T y", "", "in", 4, 5, "a comma is missing: write \"T x, T y\""},
    {"T x raw T y", "", "in", 4, 7, "a comma is missing: write \"T x, raw T y\""},
    {"float x unsigned char y", "", "in", 8, 16,
     "a comma is missing: write \"float x, unsigned char y\""},
    {"T x y", "", "in", 2, 5,
     "two names, \"x\" and \"y\", for one type: write \"T x, T y\" for two parameters"},
    {"float int x", "", "in", 0, 9,
     "two types, \"float\" and \"int\", for one name: keep one of them, as in \"int x\""},
    {"unsigned foo x", "", "in", 9, 14,
     "two names, \"foo\" and \"x\", for one type: write \"unsigned foo, unsigned x\" for two "
     "parameters"},
    {"foo bar x", "", "in", 0, 7,
     "there is no type \"foo bar\": write a dtype (float32, int64, complex64, ...), a C type "
     "(float, unsigned char, ...) or a letter such as T for any dtype"},
    {"T x\n,\n  floot y", "", "in", 8, 13, "there is no type \"floot\"; did you mean \"float\"?"},
    {"T x", "float z, flot w", "out", 9, 13, "there is no type \"flot\"; did you mean \"float\"?"},
    {"a b c d e f g h i j k l m n o p q r s t u v w x y z", "", "in", 48, 49,
     "too many words for one parameter: is a comma missing?"},
};

Test(signature_advice, cases)
{
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        qn_arena arena = {0};
        qn_signature s;
        quern_status status = qn_signature_parse(&s, &arena, cases[k].in, cases[k].out);
        const quern_error *e = quern_last_error();
        cr_expect_eq(status, QUERN_ERROR_SIGNATURE, "%s", cases[k].in);
        cr_expect_str_eq(e->message, cases[k].message);
        cr_expect_str_eq(e->stage, "signature");
        cr_expect_str_eq(e->text_name, cases[k].list);
        cr_expect_str_eq(e->text, strcmp(cases[k].list, "in") == 0 ? cases[k].in : cases[k].out);
        cr_expect_eq(e->begin, cases[k].begin, "%s: begins at %u", cases[k].in, e->begin);
        cr_expect_eq(e->end, cases[k].end, "%s: ends at %u", cases[k].in, e->end);
        cr_expect_null(s.parameters);
        qn_arena_free(&arena);
    }
}

Test(signature_advice, reads_well)
{
    qn_arena arena = {0};
    qn_signature s;
    qn_signature_parse(&s, &arena, "T x,\n  raw flaot y", "T z");
    cr_expect_str_eq(quern_last_error_text(), "error: there is no type \"flaot\"; did you mean "
                                              "\"float\"?\n"
                                              "  in, line 2, column 7:\n"
                                              "      raw flaot y\n"
                                              "          ^~~~~\n");
    qn_arena_free(&arena);
}

/* Every byte at every place of a good signature is either taken or explained. */
Test(signature_advice, any_byte_anywhere)
{
    const char good[] = "raw T x, const unsigned int y";
    for (size_t place = 0; place < sizeof good - 1; place++) {
        for (int byte = 1; byte < 256; byte++) {
            char text[sizeof good];
            memcpy(text, good, sizeof good);
            text[place] = (char)byte;
            qn_arena arena = {0};
            qn_signature s;
            quern_status status = qn_signature_parse(&s, &arena, text, "");
            const quern_error *e = quern_last_error();
            if (status != QUERN_OK) {
                cr_assert_eq(status, QUERN_ERROR_SIGNATURE);
                cr_assert(e->begin < e->end && e->end <= strlen(text), "%s", text);
                cr_assert_gt(strlen(e->message), 10);
            }
            qn_arena_free(&arena);
            qn_error_reset();
        }
    }
}
