/* SPDX-License-Identifier: MIT
 *
 * Snippets: identifiers used or not, addressed or not; an expression, statements or nothing.
 */
#include "lang/lang.h"

#include <criterion/criterion.h>

Test(scan, uses_beyond)
{
    static const struct {
        const char *text;
        bool beyond;
    } rows[] = {
        {"y = a / (_in_ind.size() / _out_ind.size())", false},
        {"_in_ind . size ( )", false},
        {"_in_ind.get()[0]", true},
        {"_in_ind.size() + _in_ind.get()[0]", true},
        {"f(_in_ind)", true},
        {"_in_ind", true},
        {"_in_ind.", true},
        {"_in_ind->size()", true},
        {"x_in_ind", false},
        {"// _in_ind", false},
        {"", false},
    };
    for (size_t k = 0; k < QN_COUNT(rows); k++) {
        cr_expect_eq(qn_text_uses_beyond(rows[k].text, "_in_ind", "size"), rows[k].beyond, "%s",
                     rows[k].text);
    }
}

static const struct {
    const char *text;
    bool uses; /* x */
} uses[] = {
    {"", false},
    {"x", true},
    {"z = x;", true},
    {"z=x+y", true},
    {"xx + x1 + _x + x_ + ax", false},
    {"(x)", true},
    {"p->x", true},
    {"a.x", true},
    /* numbers */
    {"0x1", false},
    {"1x", false},
    {"1.x", false},
    {"1e+x", false},
    {"1e5+x", true},
    {"1'000x", false},
    {".5x", false},
    {". x", true},
    {"0x1p-2 x", true},
    /* comments */
    {"// x", false},
    {"// a\nx", true},
    {"// a \\\n x", false},
    {"// a \\\r\n x", false},
    {"// a \\\\\n x", false},
    {"/* x */", false},
    {"/* a */ x", true},
    {"/* x", false},
    {"/* * / x */ x", true},
    {"a / x", true},
    /* strings and characters */
    {"\"x\"", false},
    {"\"a\\\"x\"", false},
    {"\"a\\\\\"x", true},
    {"'x'", false},
    {"'\\'' x", true},
    {"\"x", false},
    {"\"a\nx", true},
    {"R\"(x)\"", false},
    {"R\"(\")x)\"", false},
    {"R\"d(x)\" x)d\"", false},
    {"R\"d(a)d\" x", true},
    {"R\"(x", false},
    {"R\"x\" y", false},
    {"u8R\"(x)\" y", false},
    {"R \"a\" x", true},
    /* other */
    {"\xc3\xa9x", false},
    {"a\\\nx", true},
    {"#define x", true},
};

Test(scan, uses)
{
    for (size_t k = 0; k < QN_COUNT(uses); k++) {
        cr_expect_eq(qn_text_uses(uses[k].text, "x"), uses[k].uses, "%s", uses[k].text);
    }
}

static const struct {
    const char *text;
    bool takes; /* the address of x */
} addresses[] = {
    {"", false},
    {"x", false},
    {"z = x & y", false},
    {"z = y & x", false},
    {"z = y[0] & x", false},
    {"z = 3 & x", false},
    {"z = 'a' & x", false},
    {"a && x", false},
    {"a & & x", true},
    {"a && &x", true},
    {"z &= x", false},
    {"&x", true},
    {"& x", true},
    {"f(&x)", true},
    {"f(a, &x)", true},
    {"p = &x;", true},
    {"p = & /* the */ x;", true},
    {"return &x", true},
    {"&(x)", true},
    {"&((x))", true},
    {"&(a ? b : x)", true},
    {"&xx", false},
    {"&a, x", false},
    {"&x[3]", true},
    {"&h[x]", false},
    {"&(h[x])", false},
    {"(float *)&x", true},
    {"(a) & x", true}, /* may be either: on the side of true */
    {"&y.x", false},
    {"// &x", false},
    {"\"&x\"", false},
    /* atomic functions */
    {"atomicAdd(&x, 1)", true},
    {"atomicAdd(x, 1)", true},
    {"atomicAdd(x + i, 1)", true},
    {"atomic_max(x, 1)", true},
    {"atomicAdd(&h[x], 1)", false},
    {"atomicAdd(&h[i], x)", false},
    {"atomicCAS(f(a, b), x, 1)", false},
    {"atomicAdd(f(a, x), 1)", true},
    {"atomicAdd", false},
    {"atomicAdd(", false},
    {"atomic(x)", false},
    {"&(", false},
};

Test(scan, takes_address)
{
    for (size_t k = 0; k < QN_COUNT(addresses); k++) {
        cr_expect_eq(qn_text_takes_address(addresses[k].text, "x"), addresses[k].takes, "%s",
                     addresses[k].text);
    }
}

static const struct {
    const char *text;
    bool may, functions; /* with `functions`, or without */
} assignments[] = {
    {"", false, true},
    {"x * 2", false, true},
    {"y == 2", false, true},
    {"y", false, true},
    {"y + 1; y <= 2; y >= x; y != x; y < x", false, true},
    {"sqrt(y)", false, false},
    {"// y = 1\n\"y = 1\"", false, true},
    {"p.y = 1", false, true},
    {"p->y = 1", false, true},
    {"yy = y", false, true},
    {"w[y] = 1", false, false},
    {"y = x", true, false},
    {"y /* */ = x", true, false},
    {"y += x", true, false},
    {"y <<= x", true, false},
    {"y >>= x", true, false},
    {"y++", true, false},
    {"--y", true, false},
    {"y[3] = x", true, false},
    {"y.re = x", true, false},
    {"y[a[3]].re = x", true, false},
    {"y.real(3)", true, false},
    {"(y) = x", true, false},
    {"((y)) += x", true, false},
    {"(x > 1 ? y : z) = x", true, false},
    {"(x > 1 ? z : y) = x", true, false},
    {"f(&y)", true, false},
    {"f(x, y)", true, true},
    {"f{y}", true, true},
    {"*(int *)&y = 1", true, false},
    {"(int &)y = 1", true, false},
    {"T &r = y; r = 1", true, false},
    {"T &r(y); r = 1", true, false},
    {"T &r{y}; r = 1", true, false},
    {"T<2> &r{y}; r = 1", true, false},
    {"[&r = y] { r = 1; }()", true, false},
    {"auto f = [](float &v) { v = 1; }; f(y)", true, false},
    {"struct s { float &v; } r = {y}; r.v = 1", true, false},
    {"x = x & (y)", false, false},
    {"auto &&r = y; r = 1", true, false},
    {"asm(\"mov %0, 1;\" : \"=r\"(y))", true, false},
    {"#define OUT y\nOUT = 1", true, false},
    {"if (x) { y = 1; }", true, false},
    {"y", false, false},
    {"(", false, true},
    {"y[", false, true},
    {"y.", false, true},
};

Test(scan, may_assign)
{
    for (size_t k = 0; k < QN_COUNT(assignments); k++) {
        bool may = qn_text_may_assign(assignments[k].text, "y", assignments[k].functions);
        cr_expect_eq(may, assignments[k].may, "%s", assignments[k].text);
    }
}

/* What precedes a text in memory is not part of it. */
Test(scan, looks_at_nothing_in_front)
{
    const char *const text = "--y";
    cr_expect(qn_text_may_assign(text, "y", false));
    cr_expect_not(qn_text_may_assign(text + 1, "y", false));
}

static const struct {
    const char *text;
    bool statements, blank;
} kinds[] = {
    {"", false, true},
    {" \t\n", false, true},
    {"/* ; */ // x;", false, true},
    {"/* unfinished ;", false, true},
    {"a + b", false, false},
    {"a ? b : c // ;", false, false},
    {"f(a, ';', \";\")", false, false},
    {"[&] { return a; }()", false, false},
    {"({ int t = a; t; })", false, false},
    {"iff + returned + do_it", false, false},
    {"a[b] == R\"(;)\"", false, false},
    {"z = a;", true, false},
    {"int t = a; z = t", true, false},
    {";", true, false},
    {"{ z = a; }", true, false},
    {" // as ever\n if (a) z = 1", true, false},
    {"return a", true, false},
    {"for (;;) {}", true, false},
    {")", false, false},
    {"T t = f(x;", true, false}, /* the bracket without a partner hides no statement */
    {"T t = x); return t", true, false},
};

Test(scan, kinds_of_text)
{
    for (size_t k = 0; k < QN_COUNT(kinds); k++) {
        cr_expect_eq(qn_text_is_statements(kinds[k].text), kinds[k].statements, "%s",
                     kinds[k].text);
        cr_expect_eq(qn_text_is_blank(kinds[k].text), kinds[k].blank, "%s", kinds[k].text);
    }
}
