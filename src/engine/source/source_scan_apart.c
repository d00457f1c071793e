/* SPDX-License-Identifier: MIT
 *
 * source_scan_apart: scans of few elements each. In: a call whose fold is planned so
 * (src/array/fold_scan_apart.c). Out: the text of templates/scan_apart.cu. The thing to know: a
 * thread's scans lie a block apart, each at its own `_quern_spotK`, as the outputs of
 * source_reduction_apart.c do; what a scanned position adds is the same for all of them.
 */
#include "embedded/templates.h"
#include "engine/source/source_folds.h"

static void form_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_index_type(out, f->wide);
    qn_source_number(out, "outputs", f->apart);
    qn_source_number(out, "steps", f->steps);
    qn_source_flag(out, "exclusive", call->kernel->exclusive);
}

static void registers_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_puts(out, "    ");
        qn_source_register_type(out, call, k, false);
        qn_text_printf(out, " _quern_registers%u[_quern_steps][_quern_outputs];\n", k);
    }
}

static void load_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_source_spot(out, call, 4, k);
        qn_source_load_input(out, call, 4, k, "0", false);
        qn_text_printf(out,
                       "                _quern_registers%u[_quern_turn][_quern_lane] = "
                       "_quern_register%u;\n",
                       k, k);
    }
}

/* The inputs, each followed by a comma. */
static void inputs(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out, "_quern_registers%u[_quern_turn][_quern_lane], ", k);
    }
}

static const char *position(const qn_call *call)
{
    return call->kernel->uses_position ? "_quern_unit" : "0";
}

static void give_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        qn_source_spot(out, call, 4, k);
    }
    qn_source_indent(out, 4);
    qn_text_puts(out, "_quern_post(");
    inputs(out, call);
    qn_source_fold_outputs(out, call, "0");
    qn_text_printf(out, "%s, _quern_value.value);\n", position(call));
}

#define HOLES(X)                                                                                   \
    QN_SCAN_HOLES(X)                                                                               \
    X(BOUNDS, bounds)                                                                              \
    X(FORM, form)                                                                                  \
    X(SPOTS, spots)                                                                                \
    X(KEEP, keep)                                                                                  \
    X(REGISTERS, registers)                                                                        \
    X(UNIT, unit)                                                                                  \
    X(LOAD, load)                                                                                  \
    X(RESULT, result)                                                                              \
    X(ARGUMENTS, arguments)                                                                        \
    X(GIVE, give)

enum { HOLES(QN_HOLE_ID) HOLE_COUNT };
_Static_assert(HOLE_COUNT <= QN_TEMPLATE_HOLES, "room for all holes");

quern_status qn_scan_apart_source(qn_text *out, const qn_call *call, qn_header *headers,
                                  size_t *header_count)
{
    qn_text t[HOLE_COUNT] = {{0}};
    qn_source_scan_holes(t, call);
    qn_text_printf(&t[BOUNDS], "%d", QN_FOLD_BLOCK);
    form_hole(&t[FORM], call);
    qn_source_spots(&t[SPOTS], &t[KEEP], call);
    registers_hole(&t[REGISTERS], call);
    qn_source_reduced(&t[UNIT], call, 2, 0, call->input_operands);
    load_hole(&t[LOAD], call);
    qn_source_reduced(&t[RESULT], call, 2, call->input_operands, call->operand_count);
    inputs(&t[ARGUMENTS], call);
    qn_text_puts(&t[ARGUMENTS], position(call));
    give_hole(&t[GIVE], call);
    const qn_source_template template = {
        .text = qn_embedded_scan_apart_cu,
        .hole_names = (const char *const[]){HOLES(QN_HOLE_NAME)},
        .holes = t,
        .hole_count = HOLE_COUNT,
        .headers = QN_FOLD_HEADERS | QN_HEADER(QN_HEADER_SCAN),
    };
    return qn_source_expand(out, call, &template, headers, header_count);
}
