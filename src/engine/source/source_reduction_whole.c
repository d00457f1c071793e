/* SPDX-License-Identifier: MIT
 *
 * source_reduction_whole: a reduction whose threads take several short rows whole. In: a call
 * whose fold is planned so (src/array/fold_whole.c). Out: the holes of
 * templates/reduction_whole.cu. The thing to know: inputs whose rows lie on in memory wait as the
 * words that were read, `_quern_heldK`, and become the elements of all rows of the thread,
 * `_quern_runK`; the others are read element by element.
 */
#include "engine/source/source_folds.h"

/* The input comes in words. */
static bool is_run(const qn_call *call, uint32_t k)
{
    const uint8_t access = call->fold.form.access[k];
    return access == QN_ACCESS_VECTOR || access == QN_ACCESS_WORDS || access == QN_ACCESS_TILED;
}

/* Bytes of a thread. */
static uint32_t run_bytes(const qn_call *call, uint32_t k)
{
    return call->fold.form.lanes * call->fold.form.whole * call->operands[k].item_size;
}

/* The elements of a run: bools are bytes until one becomes an argument. */
static const char *element_type(const qn_call *call, uint32_t k)
{
    const uint32_t p = call->operand_parameter[k];
    return call->types.parameters[p] == QUERN_BOOL ? "unsigned char" : qn_source_type(call, p);
}

/* Some input is reached so. */
static bool any(const qn_call *call, qn_access access)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (call->fold.form.access[k] == access) {
            return true;
        }
    }
    return false;
}

static void form_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    qn_source_number(out, "lanes", f->lanes);
    qn_source_number(out, "length", f->whole);
    qn_source_number(out, "margin", any(call, QN_ACCESS_WORDS) ? f->lanes : 0);
    qn_source_flag(out, "relayed", any(call, QN_ACCESS_TILED));
    qn_source_flag(out, "halves", !f->reordered && qn_source_holds_positions(call));
}

/* The run of a warp on its way through shared memory, in which each thread finds its own. */
static void relay_load(qn_text *out, const qn_call *call, uint32_t k)
{
    qn_text_printf(out,
                   "        quern::relay<%u> _quern_relay%u;\n"
                   "        _quern_relay%u.load(_quern_place%u + "
                   "(long long)(_quern_element - _quern_before) * %u);\n",
                   run_bytes(call, k), k, k, k,
                   call->fold.form.whole * call->operands[k].item_size);
}

static void relay_put(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (call->fold.form.access[k] == QN_ACCESS_TILED) {
            qn_text_printf(out,
                           "        __shared__ alignas(16) char _quern_stage%u[256 * %u];\n"
                           "        _quern_relay%u.put(_quern_stage%u + threadIdx.x / 32 * 32 * "
                           "%u);\n",
                           k, run_bytes(call, k), k, k, run_bytes(call, k));
        }
    }
    qn_text_puts(out, any(call, QN_ACCESS_TILED) ? "        __syncwarp();\n" : "");
}

/* The words of the thread: from memory, or from where they were put. */
static void held_load(qn_text *out, const qn_call *call, uint32_t k)
{
    qn_text_printf(out, "        _quern_held%u.load(", k);
    if (call->fold.form.access[k] == QN_ACCESS_TILED) {
        qn_text_printf(out, "_quern_stage%u + threadIdx.x * %u);\n", k, run_bytes(call, k));
    } else {
        qn_text_printf(out, "_quern_place%u + (long long)_quern_element * %u);\n", k,
                       call->fold.form.whole * call->operands[k].item_size);
    }
}

/* All reads of memory, then what waits in shared memory, then elements. */
static void load_hole(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (is_run(call, k)) {
            const bool words = f->access[k] == QN_ACCESS_WORDS;
            qn_text_printf(out,
                           "        typedef quern::run<%s, %d, %u> _quern_type%u;\n"
                           "        quern::%s<_quern_type%u> _quern_held%u;\n",
                           element_type(call, k), f->lanes * f->whole,
                           words ? 4 : qn_fold_run_word(run_bytes(call, k)), k,
                           words ? "shifted" : "held", k, k);
            if (f->access[k] == QN_ACCESS_TILED) {
                relay_load(out, call, k);
            } else {
                held_load(out, call, k);
            }
        }
    }
    relay_put(out, call);
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (f->access[k] == QN_ACCESS_TILED) {
            held_load(out, call, k);
        }
        if (is_run(call, k)) {
            qn_text_printf(out,
                           "        _quern_type%u _quern_run%u;\n"
                           "        _quern_held%u.give(_quern_run%u);\n",
                           k, k, k, k);
        }
    }
}

/* Element `_quern_unit` of row `_quern_lane` of the inputs that are read one by one; of all for
 * rows at the end. */
static void elements(qn_text *out, const qn_call *call, int levels, bool all)
{
    bool some = false;
    for (uint32_t k = 0; k < call->input_operands; k++) {
        some |= all || !is_run(call, k);
    }
    if (some) {
        qn_source_reduced(out, call, levels, 0, call->input_operands);
    }
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (all || !is_run(call, k)) {
            qn_source_load_input(out, call, levels, k, "_quern_element + _quern_lane", false);
        }
    }
}

static void arguments_hole(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        qn_text_printf(out,
                       is_run(call, k)
                           ? "_quern_run%u.v[_quern_lane * _quern_length + _quern_unit], "
                           : "_quern_register%u, ",
                       k);
    }
    qn_source_unit_position(out, call);
}

static void finish_hole(qn_text *out, const qn_call *call)
{
    if (!call->kernel->has_identity) {
        qn_text_puts(out, "        return _quern_from.value;");
        return;
    }
    qn_source_identity(out, call);
    qn_text_puts(out, "        return _quern_reduce(_quern_identity, _quern_from.value);");
}

/* ---- the whole ------------------------------------------------------------------------------ */

enum { QN_REDUCTION_HOLES(QN_HOLE_ID) };

void qn_source_whole_holes(qn_text *t, const qn_call *call)
{
    form_hole(&t[FORM], call);
    load_hole(&t[LOAD], call);
    elements(&t[RECALL], call, 4, false);
    arguments_hole(&t[ARGUMENTS], call);
    finish_hole(&t[FINISH], call);
    qn_source_room_for_results(&t[REGISTERS], call);
    qn_source_results(&t[RESULTS], call, true);
    qn_source_give_results(&t[GIVE], call);
    elements(&t[LOAD_ELEMENT], call, 3, true);
    qn_source_arguments(&t[TAKE_ELEMENT], call, false);
    qn_source_unit_position(&t[TAKE_ELEMENT], call);
    qn_source_results(&t[SINGLE_RESULTS], call, false);
}
