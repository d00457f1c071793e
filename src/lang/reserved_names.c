/* SPDX-License-Identifier: MIT
 *
 * What a parameter may not be called. In: a name. Out: the reason, for a sentence that begins with
 * the name. A name that would only fail in the generated source, with a message about lines that
 * the user never wrote, is refused here.
 */
#include "lang/lang.h"

static const char *const cpp_keywords[] = {
    "alignas",       "alignof",     "and",
    "and_eq",        "asm",         "auto",
    "bitand",        "bitor",       "bool",
    "break",         "case",        "catch",
    "char",          "char8_t",     "char16_t",
    "char32_t",      "class",       "co_await",
    "co_return",     "co_yield",    "compl",
    "concept",       "const",       "const_cast",
    "consteval",     "constexpr",   "constinit",
    "continue",      "decltype",    "default",
    "delete",        "do",          "double",
    "dynamic_cast",  "else",        "enum",
    "explicit",      "export",      "extern",
    "false",         "float",       "for",
    "friend",        "goto",        "if",
    "inline",        "int",         "long",
    "mutable",       "namespace",   "new",
    "noexcept",      "not",         "not_eq",
    "nullptr",       "operator",    "or",
    "or_eq",         "private",     "protected",
    "public",        "register",    "reinterpret_cast",
    "requires",      "return",      "short",
    "signed",        "sizeof",      "static",
    "static_assert", "static_cast", "struct",
    "switch",        "template",    "this",
    "thread_local",  "throw",       "true",
    "try",           "typedef",     "typeid",
    "typename",      "union",       "unsigned",
    "using",         "virtual",     "void",
    "volatile",      "wchar_t",     "while",
    "xor",           "xor_eq",
};

static const char *const cuda_names[] = {
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize",
};

static bool is_one_of(qn_str name, const char *const *names, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (qn_str_is(name, names[k])) {
            return true;
        }
    }
    return false;
}

const char *qn_word_refusal(qn_str name)
{
    if (is_one_of(name, cpp_keywords, QN_COUNT(cpp_keywords))) {
        return "is a C++ keyword";
    }
    return is_one_of(name, cuda_names, QN_COUNT(cuda_names)) ? "is CUDA's own" : NULL;
}

const char *qn_name_refusal(qn_str name)
{
    if (qn_str_is(name, "i")) {
        return "is the position of the element inside a kernel";
    }
    if (name.data[0] == '_') {
        return "begins with an underscore, as Quern's own names inside a kernel do";
    }
    if (qn_str_is(name, "raw") || qn_str_is(name, "const")) {
        return "is a qualifier";
    }
    const char *reason = qn_word_refusal(name);
    bool type = qn_dtype_parse(name) || qn_str_is(name, "complex");
    return reason ? reason : type ? "is a type" : NULL;
}
