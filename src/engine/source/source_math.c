/* SPDX-License-Identifier: MIT
 *
 * source_math: which of CUDA's mathematical functions the texts of a kernel name. In: a kernel.
 * Out: the lines that overload them for integers and mixed numbers (templates/math.cuh), one for
 * each, so that a kernel spends compile time only on what it uses.
 */
#include "engine/source/source.h"
#include <stdlib.h>
#include <string.h>

typedef enum math_form { FIRST, BOTH, THREE, ORDER, SIGN, POW, ABS } math_form;

static const char *const macros[] = {
    [FIRST] = "QUERN_MATH_1",     [BOTH] = "QUERN_MATH_2",    [THREE] = "QUERN_MATH_3",
    [ORDER] = "QUERN_MATH_ORDER", [SIGN] = "QUERN_MATH_SIGN", [POW] = "QUERN_MATH_POW",
    [ABS] = "QUERN_MATH_ABS"};

/* In the order of strcmp(). */
static const struct function {
    const char *name;
    math_form form;
} functions[] = {
    {"abs", ABS},
    {"acos", FIRST},
    {"acosh", FIRST},
    {"asin", FIRST},
    {"asinh", FIRST},
    {"atan", FIRST},
    {"atan2", BOTH},
    {"atanh", FIRST},
    {"cbrt", FIRST},
    {"ceil", FIRST},
    {"copysign", SIGN},
    {"cos", FIRST},
    {"cosh", FIRST},
    {"cospi", FIRST},
    {"cyl_bessel_i0", FIRST},
    {"cyl_bessel_i1", FIRST},
    {"erf", FIRST},
    {"erfc", FIRST},
    {"erfcinv", FIRST},
    {"erfcx", FIRST},
    {"erfinv", FIRST},
    {"exp", FIRST},
    {"exp10", FIRST},
    {"exp2", FIRST},
    {"expm1", FIRST},
    {"fabs", FIRST},
    {"fdim", BOTH},
    {"floor", FIRST},
    {"fma", THREE},
    {"fmax", BOTH},
    {"fmin", BOTH},
    {"fmod", BOTH},
    {"frexp", FIRST},
    {"hypot", BOTH},
    {"ilogb", FIRST},
    {"isfinite", FIRST},
    {"isinf", FIRST},
    {"isnan", FIRST},
    {"j0", FIRST},
    {"j1", FIRST},
    {"jn", ORDER},
    {"ldexp", FIRST},
    {"lgamma", FIRST},
    {"llrint", FIRST},
    {"llround", FIRST},
    {"log", FIRST},
    {"log10", FIRST},
    {"log1p", FIRST},
    {"log2", FIRST},
    {"logb", FIRST},
    {"lrint", FIRST},
    {"lround", FIRST},
    {"modf", FIRST},
    {"nearbyint", FIRST},
    {"nextafter", BOTH},
    {"normcdf", FIRST},
    {"normcdfinv", FIRST},
    {"pow", POW},
    {"rcbrt", FIRST},
    {"remainder", BOTH},
    {"remquo", BOTH},
    {"rint", FIRST},
    {"round", FIRST},
    {"rsqrt", FIRST},
    {"scalbln", FIRST},
    {"scalbn", FIRST},
    {"signbit", FIRST},
    {"sin", FIRST},
    {"sincos", FIRST},
    {"sincospi", FIRST},
    {"sinh", FIRST},
    {"sinpi", FIRST},
    {"sqrt", FIRST},
    {"tan", FIRST},
    {"tanh", FIRST},
    {"tgamma", FIRST},
    {"trunc", FIRST},
    {"y0", FIRST},
    {"y1", FIRST},
    {"yn", ORDER},
};

typedef struct used {
    bool any, function[QN_COUNT(functions)];
} used;

static int compare(const void *key, const void *member)
{
    const qn_str *name = key;
    const char *other = ((const struct function *)member)->name;
    int order = strncmp(name->data, other, name->length);
    return order != 0 ? order : -(other[name->length] != '\0');
}

static const struct function *find(qn_str name)
{
    return bsearch(&name, functions, QN_COUNT(functions), sizeof *functions, compare);
}

bool qn_is_math(const char *name)
{
    return find(qn_str_of(name)) != NULL;
}

static void look(used *u, const char *text)
{
    qn_str rest = qn_str_of(text), name;
    while (qn_text_next_name(&rest, &name)) {
        const struct function *f = find(name);
        if (f) {
            u->any = u->function[f - functions] = true;
        }
    }
}

bool qn_source_math(qn_text *out, const quern_kernel *kernel)
{
    used u = {0};
    for (int t = 0; t < QN_TEXTS; t++) {
        look(&u, kernel->texts[t].text);
    }
    for (uint32_t o = 0; o < kernel->option_count; o++) { /* -DNAME=... */
        look(&u, kernel->options[o]);
    }
    for (size_t f = 0; u.any && f < QN_COUNT(functions); f++) {
        if (u.function[f]) {
            qn_text_printf(out, "%s(%s)\n", macros[functions[f].form], functions[f].name);
        }
    }
    return u.any;
}
