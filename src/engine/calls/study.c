/* SPDX-License-Identifier: MIT
 *
 * study: what a kernel's texts do. In: a kernel with its texts. Out: which names they use, and the
 * facts on which types, plans and sources depend. The thing to know: they are found once, when the
 * kernel is defined, so that a call need not read texts.
 */
#include "base/cpp_text.h"
#include "engine/engine_internal.h"
#include "engine/folding.h"
#include <string.h>

bool qn_kernel_uses(const quern_kernel *kernel, const char *name)
{
    for (int t = 0; t < QN_TEXTS; t++) {
        if (qn_text_uses(kernel->texts[t].text, name)) {
            return true;
        }
    }
    for (size_t o = 0; o < kernel->option_count; o++) { /* -DNAME=... */
        if (qn_text_uses(kernel->options[o], name)) {
            return true;
        }
    }
    return false;
}

bool qn_kernel_includes(const quern_kernel *kernel)
{
    bool includes = false;
    for (size_t o = 0; o < kernel->option_count; o++) {
        includes |= strstr(kernel->options[o], "include") != NULL;
    }
    for (int t = 0; t < QN_TEXTS; t++) {
        includes |= qn_text_uses(kernel->texts[t].text, "include");
    }
    return includes;
}

/* ---- the facts ------------------------------------------------------------------------------ */

/* True for a parameter's name, which hides a function: `y1` of Bessel is seldom meant. */
static bool is_parameter(const quern_kernel *kernel, const char *name)
{
    bool is = false;
    for (uint32_t p = 0; p < kernel->signature.count; p++) {
        is |= strcmp(kernel->parameter_names[p], name) == 0;
    }
    return is;
}

static uint32_t count_used(const quern_kernel *kernel, const char *const *names)
{
    uint32_t count = 0;
    for (; *names; names++) {
        count += qn_kernel_uses(kernel, *names) && !is_parameter(kernel, *names);
    }
    return count;
}

/* True when a text may need an element of a raw parameter itself and not only its value: it takes
 * its address or, for an output, may bind a reference to it, as a function of a header could. */
static bool refers_to(const quern_kernel *kernel, const char *name, bool output)
{
    bool refers = output && qn_kernel_includes(kernel);
    for (int t = 0; t < QN_TEXTS && !refers; t++) {
        const char *text = kernel->texts[t].text;
        refers =
            qn_text_takes_address(text, name) || (output && qn_text_declares_reference(text, true));
    }
    return refers;
}

static const char *const axes[] = {"_ind", "_in_ind", "_out_ind", NULL};

/* True when the texts ask for more of the positions along axes than how many there are: a mean asks
 * for that alone, and its axes may be merged. */
static bool asks_for_positions(const quern_kernel *kernel)
{
    for (const char *const *name = axes; *name; name++) {
        for (int t = 0; t < QN_TEXTS; t++) {
            if (qn_text_uses_beyond(kernel->texts[t].text, *name, "size")) {
                return true;
            }
        }
        for (size_t o = 0; o < kernel->option_count; o++) {
            if (qn_text_uses(kernel->options[o], *name)) {
                return true;
            }
        }
    }
    return false;
}

/* The dtype of the values that are combined, by its name or, in scans, as kernels call complex
 * numbers: to reductions these are no plain numbers. */
static quern_dtype value_dtype(const quern_kernel *kernel)
{
    static const quern_dtype complex[] = {QUERN_COMPLEX64, QUERN_COMPLEX128};
    const char *type = kernel->texts[QN_REDUCE_TYPE].text;
    for (size_t k = 0; k < QN_COUNT(complex) && kernel->kind->number == QUERN_KERNEL_SCAN; k++) {
        if (strcmp(type, qn_dtype_find(complex[k])->c_name) == 0) {
            return complex[k];
        }
    }
    return quern_dtype_from_name(type);
}

static bool has_loops(const char *text)
{
    static const char *const loops[] = {"for", "while", "do", "goto", NULL};
    const char *const *loop = loops;
    while (*loop && !qn_text_uses(text, *loop)) {
        loop++;
    }
    return *loop != NULL;
}

/* Of loops in other texts than the operation and the functions that it may call, nothing is known.
 */
static void study_loops(quern_kernel *kernel)
{
    const qn_loop_texts texts = {
        .operation = kernel->texts[QN_OPERATION].text,
        .preamble = kernel->texts[QN_PREAMBLE].text,
        .options = (const char *const *)kernel->options,
        .option_count = kernel->option_count,
    };
    bool others = false;
    for (int t = 0; t < QN_TEXTS; t++) {
        others |= t != QN_OPERATION && t != QN_PREAMBLE && has_loops(kernel->texts[t].text);
    }
    for (size_t o = 0; o < kernel->option_count; o++) {
        others |= has_loops(kernel->options[o]);
    }
    qn_text_study_loops(&kernel->loop_facts, &texts, &kernel->signature, kernel->kind->position);
    kernel->loops = others || has_loops(texts.operation) || has_loops(texts.preamble);
    kernel->loop_facts.even &= !others;
    for (uint32_t p = 0; p < kernel->signature.count; p++) {
        kernel->loops_apart |= kernel->loops && kernel->signature.parameters[p].raw;
    }
}

static bool divides(const char *text)
{
    qn_str rest = qn_str_of(text);
    qn_cpp_token t = qn_cpp_next(&rest);
    while (t.kind != QN_CPP_END && !qn_str_is(t.text, "/") && !qn_str_is(t.text, "%")) {
        t = qn_cpp_next(&rest);
    }
    return t.kind != QN_CPP_END;
}

/* Reductions that add up what an expression gives, or only choose. An option may define a macro,
 * and words mean something else; but those of Quern's own headers change none in a text. */
static void study_reduce(quern_kernel *kernel)
{
    bool defines = false;
    for (size_t o = 0; o < kernel->option_count; o++) {
        const char *option = kernel->options[o];
        defines |= (strncmp(option, "-D", 2) == 0 && strncmp(option, "-DQUERN_", 8) != 0) ||
                   strstr(option, "define") != NULL || strstr(option, "-include") != NULL;
    }
    kernel->adds = kernel->kind->number == QUERN_KERNEL_REDUCTION && !defines &&
                   qn_text_adds(kernel->texts[QN_REDUCE].text) &&
                   !qn_text_is_statements(kernel->texts[QN_MAP].text);
    const qn_choice_texts texts = {
        .map = kernel->texts[QN_MAP].text,
        .reduce = kernel->texts[QN_REDUCE].text,
        .preamble = kernel->texts[QN_PREAMBLE].text,
        .type = kernel->texts[QN_REDUCE_TYPE].text,
    };
    if (kernel->kind->number == QUERN_KERNEL_REDUCTION && !kernel->uses_axes && !defines) {
        qn_text_study_choice(&kernel->choice, &kernel->arena, &texts, kernel->kind->position);
    }
}

void qn_kernel_study(quern_kernel *kernel)
{
    /* Functions whose inlined code is long: a pack of many lanes would multiply it. */
    static const char *const heavy[] = {
        "sin",   "cos",    "tan",    "sincos", "sinpi", "cospi",     "asin",   "acos",    "atan",
        "atan2", "sinh",   "cosh",   "tanh",   "asinh", "acosh",     "atanh",  "exp",     "exp2",
        "exp10", "expm1",  "log",    "log2",   "log10", "log1p",     "pow",    "cbrt",    "erf",
        "erfc",  "tgamma", "lgamma", "fmod",   "hypot", "remainder", "erfinv", "erfcinv", "normcdf",
        "j0",    "j1",     "y0",     "y1",     NULL};
    const char *operation = kernel->texts[QN_OPERATION].text;
    for (int t = 0; t < QN_TEXTS; t++) {
        kernel->uses_atomics |= strstr(kernel->texts[t].text, "atomic") != NULL;
    }
    kernel->value_dtype = value_dtype(kernel);
    kernel->counts = count_used(kernel, axes) != 0;
    kernel->uses_axes =
        asks_for_positions(kernel) || (kernel->names & (QN_NAMES_J | QN_NAMES_ARRAYS));
    kernel->uses_position = kernel->uses_axes || qn_kernel_uses(kernel, kernel->kind->position);
    study_loops(kernel);
    study_reduce(kernel);
    kernel->heavy = count_used(kernel, heavy);
    kernel->divides = divides(kernel->texts[QN_REDUCE].text) ||
                      divides(kernel->texts[QN_PREAMBLE].text); /* what reduce may call */
    for (uint32_t p = 0; p < kernel->signature.count; p++) {
        const qn_parameter *q = &kernel->signature.parameters[p];
        const char *name = kernel->parameter_names[p];
        kernel->uses_reference[p] = q->raw && refers_to(kernel, name, q->output);
        kernel->uses_by_address[p] = q->output && !q->raw &&
                                     (kernel->uses_array[p] || /* y is an element of _raw_y */
                                      qn_text_takes_address(operation, name) ||
                                      qn_text_takes_address(kernel->texts[QN_POST].text, name));
    }
}
