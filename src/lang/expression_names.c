/* SPDX-License-Identifier: MIT
 *
 * The names of an expression's values. In: the names as they were given. Out: what their parameters
 * are called in C++, and their dtypes. The thing to know: a plain integer has the narrowest of the
 * dtypes that it becomes, so that a call refuses a number that does not fit, as NumPy does.
 */
#include "lang/expressions.h"
#include <stdio.h>

/* ---- names of C++ --------------------------------------------------------------------------- */

/* Small letters, so that it is no macro, and nothing that the generated source has. Those with our
 * prefixes are renamed, so that no two become one. */
static bool means_nothing(qn_str name)
{
    for (size_t k = 0; k < name.length; k++) {
        const char c = name.data[k];
        if ((c < 'a' || c > 'z') && (k == 0 || (c != '_' && (c < '0' || c > '9')))) {
            return false;
        }
    }
    return !qn_name_refusal(name) && !qn_function_find(name) && !qn_str_is(name, "result") &&
           !qn_str_begins(name, "in_") && !qn_str_begins(name, "un_");
}

static bool is_ascii(qn_str name)
{
    for (size_t k = 0; k < name.length; k++) {
        if ((unsigned char)name.data[k] >= 0x80) {
            return false;
        }
    }
    return true;
}

bool qn_expression_rename(qn_arena *arena, qn_expression_name *names, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const qn_str name = names[k].name;
        qn_text text = {0};
        if (is_ascii(name)) {
            qn_text_printf(&text, "%s%.*s", means_nothing(name) ? "" : "in_", (int)name.length,
                           name.data);
        } else {
            qn_text_printf(&text, "un_%zu", k);
        }
        names[k].parameter = !text.failed ? qn_arena_strndup(arena, text.data, text.length) : NULL;
        qn_text_free(&text);
        if (!names[k].parameter) {
            return false;
        }
    }
    return true;
}

/* ---- dtypes of plain integers --------------------------------------------------------------- */

/* Whether every number of `inner` is one of `outer`. */
static bool holds(quern_dtype outer, quern_dtype inner)
{
    const qn_dtype_info *o = qn_dtype_find(outer), *i = qn_dtype_find(inner);
    return o->kind == i->kind ? o->size >= i->size : o->kind == QN_KIND_INT && o->size > i->size;
}

bool qn_expression_narrow(qn_expression_name *name, quern_dtype dtype)
{
    if (name->narrow == QUERN_DTYPE_NONE || holds(name->narrow, dtype)) {
        name->narrow = dtype;
        return true;
    }
    return holds(dtype, name->narrow);
}

quern_dtype qn_expression_parameter_dtype(const qn_expression_name *name)
{
    return name->narrow != QUERN_DTYPE_NONE ? name->narrow : name->type.dtype;
}
