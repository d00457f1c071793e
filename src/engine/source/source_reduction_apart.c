/* SPDX-License-Identifier: MIT
 *
 * source_reduction_apart: a reduction of few elements for each of many outputs. In: a call whose
 * fold is planned so (src/array/fold_apart.c). Out: the holes of templates/reduction_apart.cu. The
 * thing to know: a thread's outputs lie a block apart, each at its own `_quern_spotK`, so that
 * neighbouring threads read and write neighbouring elements; what a reduced position adds is the
 * same for all of them.
 */
#include "engine/source/source_folds.h"

static void form_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_number(out, "outputs", f->apart);
    qn_source_number(out, "once", f->turns);
    qn_source_number(out, "length", f->known);
}

static void registers_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_puts(out, "        ");
        qn_source_register_type(out, call, k, false);
        qn_text_printf(out, " _quern_registers%u[_quern_batch][_quern_outputs];\n", k);
    }
}

/* One reduced position of all outputs. */
static void load_hole(qn_text *out, const qn_call *call)
{
    qn_source_reduced(out, call, 4, 0, call->input_operands);
    qn_text_puts(out, "#pragma unroll\n"
                      "                for (int _quern_lane = 0; _quern_lane < _quern_outputs; "
                      "_quern_lane++) {\n");
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_source_spot(out, call, 5, k);
        qn_source_load_input(out, call, 5, k, "0", false);
        qn_text_printf(out,
                       "                    _quern_registers%u[_quern_turn][_quern_lane] = "
                       "_quern_register%u;\n",
                       k, k);
    }
    qn_text_puts(out, "                }");
}

static void arguments_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out, "_quern_registers%u[_quern_turn][_quern_lane], ", k);
    }
    qn_source_unit_position(out, call);
}

/* Combine with the identity, once; and where the output lies. */
static void finish_hole(qn_text *out, const qn_call *call)
{
    qn_source_finish(out, call, "_quern_values[_quern_lane].value");
    for (uint32_t k = call->input_operands; k < call->operand_count; k++) {
        qn_source_spot(out, call, 3, k);
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

enum { QN_REDUCTION_HOLES(QN_HOLE_ID) };

void qn_source_apart_holes(qn_text *t, const qn_call *call)
{
    form_hole(&t[FORM], call);
    qn_source_spots(&t[SPOTS], &t[KEEP], call);
    registers_hole(&t[REGISTERS], call);
    load_hole(&t[LOAD], call);
    arguments_hole(&t[ARGUMENTS], call);
    finish_hole(&t[FINISH], call);
    qn_source_fold_outputs(&t[RESULTS], call, "0");
}
