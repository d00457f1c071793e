/* SPDX-License-Identifier: MIT
 *
 * The scanner of C++ text: texts and the tokens they are cut into.
 */
#include "base/cpp_text.h"

#include <criterion/criterion.h>
#include <string.h>

/* Tokens are separated by a blank; n: is a number, l: a literal, w: a word, and a mark is written
 * as it is. What has no end is followed by "!", and the comment that ends the text begins with
 * c:. */
static const struct {
    const char *text, *tokens;
} cases[] = {
    {"", ""},
    {" \t\v\f\r\n", ""},
    {"z = x+y;", "w:z = w:x + w:y ;"},
    {"_a1 $b \xc3\xa9", "w:_a1 w:$b w:\xc3\xa9"},
    {"a&&b & &c", "w:a && w:b & & w:c"},
    {"a->b::c<<=", "w:a - > w:b : : w:c < < ="},
    {"# %: @", "# % : @"},
    /* numbers */
    {"0 1x 0x1F 1.5f 1. .5", "n:0 n:1x n:0x1F n:1.5f n:1. n:.5"},
    {"1e+5 1e5+x 0x1p-2 0xe+1 1.e", "n:1e+5 n:1e5 + w:x n:0x1p-2 n:0xe+1 n:1.e"},
    {"1'000 0xff'ff 1' '", "n:1'000 n:0xff'ff n:1 l:' '"},
    {"a. ...x", "w:a . . . . w:x"},
    {"x1'0'", "w:x1 l:'0'"},
    {"1e+", "n:1e+"},
    /* comments and joined lines */
    {"a // b", "w:a"},
    {"a // b\nc", "w:a w:c"},
    {"a // b \\\n c\nd", "w:a w:d"},
    {"a // b \\\r\n c\r\nd", "w:a w:d"},
    {"a // b \\\\\n c\nd", "w:a w:d"},
    {"a // b \\ \nc", "w:a w:c"},
    {"//\\\n", ""},
    {"a /* b */ c /**/d", "w:a w:c w:d"},
    {"/* * / x */ y", "w:y"},
    {"/* // */ y", "w:y"},
    {"// /*\ny", "w:y"},
    {"a /* b", "w:a c:/* b!"},
    {"/*/", "c:/*/!"},
    {"a / b /", "w:a / w:b /"},
    {"a\\\nb\\\r\nc", "w:a w:b w:c"},
    {"\\a", "\\ w:a"},
    {"\\", "\\"},
    /* quotes */
    {"\"s\" 'c'", "l:\"s\" l:'c'"},
    {"\"a\\\"b\" c", "l:\"a\\\"b\" w:c"},
    {"\"a\\\\\"b", "l:\"a\\\\\" w:b"},
    {"'\\'' x", "l:'\\'' w:x"},
    {"\"// /* '\" x", "l:\"// /* '\" w:x"},
    {"case'a':u8'a'", "w:case l:'a' : w:u8 l:'a'"},
    {"L\"s\"u8\"s\"", "w:L l:\"s\" w:u8 l:\"s\""},
    {"\"a\\\nb\" c", "l:\"a\\\nb\" w:c"},
    {"\"a\\\r\nb\" c", "l:\"a\\\r\nb\" w:c"},
    {"don't\nx", "w:don l:'t! w:x"},
    {"\"x", "l:\"x!"},
    {"\"x\\", "l:\"x\\!"},
    {"\"", "l:\"!"},
    /* raw strings */
    {"R\"(x)\" y", "l:R\"(x)\" w:y"},
    {"R\"(\")x)\" y", "l:R\"(\")x)\" w:y"},
    {"R\"d(x)\" x)d\" y", "l:R\"d(x)\" x)d\" w:y"},
    {"u8R\"(a\nb)\"LR\"()\"uR\"()\"UR\"()\"", "l:u8R\"(a\nb)\" l:LR\"()\" l:uR\"()\" l:UR\"()\""},
    {"R\"0123456789abcdef(x)0123456789abcdef\"y", "l:R\"0123456789abcdef(x)0123456789abcdef\" w:y"},
    {"R\"0123456789abcdefg(x)\"y", "l:R\"0123456789abcdefg(x)\"! w:y"},
    {"R\"a b(x)\" y", "l:R\"a b(x)\"! w:y"},
    {"R\"x\" y", "l:R\"x\"! w:y"},
    {"R\"(x) y\n", "l:R\"(x) y\n!"},
    {"R\"d", "l:R\"d!"},
    {"xR\"(a)\" $R\"(\"", "w:xR l:\"(a)\" w:$R l:\"(\""},
    {"R 'a' R \"(\"", "w:R l:'a' w:R l:\"(\""},
};

/* The tokens of a text, as above; each must lie in it, after the one before. */
static char *render(qn_str text)
{
    static const char *const kinds[] = {"c:", "w:", "n:", "l:", ""};
    qn_text out = {0};
    qn_str rest = text;
    for (qn_cpp_token t = {.kind = QN_CPP_MARK}; t.kind != QN_CPP_END;) {
        const char *before = rest.data;
        t = qn_cpp_next(&rest);
        cr_assert(t.text.data >= before && t.text.data + t.text.length == rest.data);
        cr_assert(rest.data + rest.length == text.data + text.length);
        cr_assert_eq(t.text.length == 0, t.kind == QN_CPP_END && t.closed);
        if (t.text.length > 0) {
            qn_text_printf(&out, "%s%s%.*s%s", out.length > 0 ? " " : "", kinds[t.kind],
                           (int)t.text.length, t.text.data, t.closed ? "" : "!");
        }
    }
    return qn_text_take(&out);
}

Test(cpp_text, tokens)
{
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        char *tokens = render(qn_str_of(cases[k].text));
        cr_expect_str_eq(tokens, cases[k].tokens, "%s: %s", cases[k].text, tokens);
        qn_free(tokens);
    }
}

/* Nothing beyond the end of a text is read: each cut of each text, in memory of its size. */
Test(cpp_text, every_cut)
{
    for (size_t k = 0; k < QN_COUNT(cases); k++) {
        for (size_t length = 0; length < strlen(cases[k].text); length++) {
            char *cut = qn_alloc(length);
            memcpy(cut, cases[k].text, length);
            qn_free(render((qn_str){cut, length}));
            char *other = qn_strndup(cases[k].text, strlen(cases[k].text));
            memset(other + length, '"', strlen(cases[k].text) - length);
            char *alone = render((qn_str){cut, length}), *beside = render((qn_str){other, length});
            cr_expect_str_eq(alone, beside, "%zu of %s", length, cases[k].text);
            qn_free(alone);
            qn_free(beside);
            qn_free(other);
            qn_free(cut);
        }
    }
}

Test(cpp_text, zeros_are_marks)
{
    static const char text[] = "a\0b'\0'";
    qn_str rest = {text, sizeof text - 1};
    static const qn_cpp_kind kinds[] = {QN_CPP_WORD, QN_CPP_MARK, QN_CPP_WORD, QN_CPP_LITERAL,
                                        QN_CPP_END};
    for (size_t k = 0; k < QN_COUNT(kinds); k++) {
        cr_expect_eq(qn_cpp_next(&rest).kind, kinds[k], "%zu", k);
    }
}

/* What each of them leaves of a text. */
Test(cpp_text, skipping)
{
    static const struct {
        const char *text, *blank, *comment, *line;
    } skips[] = {
        {"", "", "", ""},
        {" a", "a", " a", ""},
        {"/* a */ b\nc", "b\nc", " b\nc", "\nc"},
        {"// a\\\nb\nc", "c", "\nc", "\nc"},
        {"/* a", "/* a", "", ""},
        {"a\\\r\nb\r\nc", "a\\\r\nb\r\nc", "a\\\r\nb\r\nc", "\nc"},
        {"\\\n\nc", "c", "\\\n\nc", "\nc"},
    };
    for (size_t k = 0; k < QN_COUNT(skips); k++) {
        qn_str text = qn_str_of(skips[k].text);
        cr_expect_str_eq(qn_cpp_skip_blank(text).data, skips[k].blank, "%s", text.data);
        cr_expect_str_eq(qn_cpp_skip_comment(text).data, skips[k].comment, "%s", text.data);
        cr_expect_str_eq(qn_cpp_skip_line(text).data, skips[k].line, "%s", text.data);
    }
}
