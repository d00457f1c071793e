/* SPDX-License-Identifier: MIT
 *
 * source_scan_rows: what scans along rows by tiles have in common, whose lanes take runs or whose
 * blocks hold their tiles, and of others the memory that they ask for. In: a call whose fold is
 * planned so. Out: the text of holes that their templates have. The thing to know: a row of operand
 * k begins at `_quern_placeK`.
 */
#include "engine/source/source_folds.h"

/* How many elements of the first tile lie before the row: of a sector; of a word, where a block
 * holds its tile. */
void qn_source_row_skip(qn_text *out, const qn_call *call)
{
    const uint32_t k = call->fold.form.anchor;
    const int bytes = call->fold.form.runs ? QN_SECTOR_BYTES : QN_ACCESS_BYTES;
    if (k >= call->operand_count) {
        qn_source_number(out, "skip", 0);
        return;
    }
    const uint32_t size = call->operands[k].item_size;
    qn_text_printf(out, "    const int _quern_skip = (int)((size_t)_quern_place%u / %u %% %d);\n",
                   k, size, bytes / (int)size);
}

/* The inputs that are the same for a whole row, read once. */
void qn_source_row_same(qn_text *out, const qn_call *call)
{
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (qn_source_is_same(call, k)) {
            qn_text_printf(out, "    const %s _quern_same%u = ",
                           qn_source_type(call, call->operand_parameter[k]), k);
            qn_source_fold_value(out, call, k, "0");
        }
    }
}

/* The memory that a warp of a later tile reads: there it has the elements from `_quern_later` on,
 * `_quern_share` of them. */
void qn_source_row_ahead(qn_text *out, const qn_call *call)
{
    const qn_fold_form *f = &call->fold.form;
    const bool runs = f->runs || f->held;
    if (!qn_fold_row_asks(f, call->operands, call->input_operands)) {
        return;
    }
    if (!runs) { /* these find a unit's place dimension by dimension */
        qn_text_puts(out, "                const _quern_index _quern_unit = (_quern_later + "
                          "_quern_skip) / _quern_lanes;\n");
        qn_source_reduced(out, call, 4, 0, call->input_operands);
    }
    for (uint32_t k = 0; k < call->input_operands; k++) {
        if (qn_fold_asks_for(f, call->operands, k)) {
            qn_text_puts(out, "        quern::ask_ahead((const char *)&");
            qn_source_fold_element(out, call, k, runs ? "_quern_later" : "_quern_element");
            qn_text_printf(out, ", _quern_share * %u);\n", call->operands[k].item_size);
        }
    }
}
