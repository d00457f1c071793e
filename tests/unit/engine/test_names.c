/* SPDX-License-Identifier: MIT
 *
 * What a user calls a function, and what the image calls it.
 */
#include "engine/modules/modules.h"
#include <criterion/criterion.h>
#include <string.h>

/* ---- plain names ---------------------------------------------------------------------------- */

static const struct {
    const char *mangled, *plain; /* NULL: not understood */
} plain_names[] = {
    {"_Z5scalePfi", "scale"},
    {"_Z5scaleIdLi3EEvPKT_PS0_i", "scale"},
    {"_ZN2ns5scaleEPf", "ns::scale"},
    {"_ZN2ns5inner5scaleIfEEvPT_", "ns::inner::scale"},
    {"_ZL5scalePf", "scale"},
    {"_ZN2nsL5scaleEPf", "ns::scale"},
    {"_ZN12_GLOBAL__N_15scaleEPf", "scale"},
    {"_ZN36_GLOBAL__N__00000000_4_k_cu_176d0fe26hiddenEPf", "hidden"},
    {"_ZN34_INTERNAL_00000000_4_k_cu_176d0fe236_GLOBAL__N__00000000_4_k_cu_176d0fe22hvE", "hv"},
    {"__nv_static_25__093ae9e7_4_k_cu_176d0fe2__Z2stPf", "st"},
    {"__nv_static_25__093ae9e7_4_k_cu_176d0fe2_sv", "sv"},
    {"_ZN2ns1xE", "ns::x"},
    {"_Z1fv", "f"},
    {"_Z3f_1v", "f_1"},
    /* not mangled, or not so simply */
    {"scale", NULL},
    {"", NULL},
    {"_Z", NULL},
    {"_ZN", NULL},
    {"_ZNE", NULL},
    {"_ZN2ns", NULL},
    {"_Z5scal", NULL},
    {"_Z0v", NULL},
    {"_Z99999999999999999999f", NULL},
    {"_Z18446744073709551617f", NULL},
    {"_ZN2ns99999999999999999999fE", NULL},
    {"_ZSt4moveIiE", NULL},
    {"_ZplRK1AS1_", NULL},
    {"_ZN1AcvbEv", NULL},
    {"_ZN12_GLOBAL__N_1E", NULL},
    {"__nv_static_", NULL},
    {"__nv_static_25__093ae9e7", NULL},
    {"__nv_static_99999999999999999999_x", NULL},
    {"__nv_static_-1_x", NULL},
};

Test(names, plain)
{
    for (size_t k = 0; k < QN_COUNT(plain_names); k++) {
        qn_text text = {0};
        bool understood = qn_plain_name(&text, plain_names[k].mangled);
        cr_expect_eq(understood, plain_names[k].plain != NULL, "%s", plain_names[k].mangled);
        if (understood && plain_names[k].plain) {
            cr_expect_str_eq(text.data, plain_names[k].plain);
        }
        qn_text_free(&text);
    }
}

/* Every prefix of a name, so that a read past its end is seen by the sanitizers. */
Test(names, cut_short)
{
    for (size_t k = 0; k < QN_COUNT(plain_names); k++) {
        for (size_t length = 0; length <= strlen(plain_names[k].mangled); length++) {
            char *cut = qn_strndup(plain_names[k].mangled, length);
            qn_text text = {0};
            (void)qn_plain_name(&text, cut);
            qn_text_free(&text);
            qn_free(cut);
        }
    }
}

/* ---- finding -------------------------------------------------------------------------------- */

static const char *const own[] = {
    "saxpy",     "_Z5scaleIdLi3EEvPT_", "_Z5scaleIfLi3EEvPT_",
    "_Z4onlyPf", "_ZN1a4bothEPf",       "_ZN1b4bothEPf",
};
static const char *const expressions[] = {"scale<double, 3>", "&a::x", "unsigned int"};
static const char *const lowered[] = {"_Z5scaleIdLi3EEvPT_", "_ZN1a1xE", "j"};
static const qn_user_names names = {"function",  own,     QN_COUNT(own),
                                    expressions, lowered, QN_COUNT(expressions)};

static const struct {
    const char *name, *found; /* NULL: none, or several */
} finds[] = {
    {"saxpy", "saxpy"},
    {"scale<double, 3>", "_Z5scaleIdLi3EEvPT_"},
    {"scale<double,3>", "_Z5scaleIdLi3EEvPT_"},
    {" scale < double ,\t3 > ", "_Z5scaleIdLi3EEvPT_"},
    {"a::x", "_ZN1a1xE"},
    {"&a::x", "_ZN1a1xE"},
    {"unsigned  int", "j"},
    {"unsignedint", NULL},
    {"only", "_Z4onlyPf"},
    {"_Z4onlyPf", "_Z4onlyPf"},
    {"a::both", "_ZN1a4bothEPf"},
    {"b::both", "_ZN1b4bothEPf"},
    {"both", NULL},
    {"scale", NULL},
    {"oth", NULL},
    {":both", NULL},
    {"::both", NULL},
    {"", NULL},
    {"scale<float, 3>", NULL},
};

Test(names, find)
{
    for (size_t k = 0; k < QN_COUNT(finds); k++) {
        const char *found = qn_name_find(&names, finds[k].name);
        cr_expect_eq(!found, !finds[k].found, "'%s': %s", finds[k].name, found ? found : "nothing");
        if (found && finds[k].found) {
            cr_expect_str_eq(found, finds[k].found);
        }
    }
}

/* ---- messages ------------------------------------------------------------------------------- */

static void expect_message(const qn_user_names *in, const char *name, const char *message)
{
    cr_expect_eq(qn_name_refuse(in, name), QUERN_ERROR_NAME);
    cr_expect_str_eq(quern_last_error()->message, message);
}

Test(names, messages)
{
    expect_message(&names, "saxpi",
                   "the module has no function 'saxpi'; did you mean 'saxpy'? It has: saxpy, "
                   "scale<double, 3>, _Z5scaleIfLi3EEvPT_, only, a::both, b::both");
    expect_message(&names, "something",
                   "the module has no function 'something'; it has: saxpy, scale<double, 3>, "
                   "_Z5scaleIfLi3EEvPT_, only, a::both, b::both");
    expect_message(&names, "both",
                   "the module has 2 functions 'both'; ask for one of them by its name expression, "
                   "or by its mangled name: _ZN1a4bothEPf, _ZN1b4bothEPf");
    const qn_user_names empty = {.what = "global"};
    expect_message(&empty, "x", "the module has no global 'x'; it has: none");
}

Test(names, long_lists_are_cut)
{
    const char *many[200];
    for (size_t k = 0; k < QN_COUNT(many); k++) {
        many[k] = "a_function_with_a_name";
    }
    const qn_user_names list = {.what = "function", .own = many, .count = QN_COUNT(many)};
    cr_expect_eq(qn_name_refuse(&list, "x"), QUERN_ERROR_NAME);
    cr_expect_not_null(strstr(quern_last_error()->message, "more"));
    cr_expect_lt(strlen(quern_last_error()->message), 800u);
}
