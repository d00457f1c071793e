/* SPDX-License-Identifier: MIT
 *
 * source_fold_images: operands of boxes of a scan or a map that come and go by runs, in CUDA C++.
 * In: a call whose fold is planned so. Out: for operand K, where it waits in shared memory,
 * `_quern_roomK`, and how it comes in and goes back (templates/image.cuh). The thing to know: from
 * one position along dimension D to the next are `_quern_stepK_D` bytes in memory,
 * `_quern_apartK_D` in shared memory.
 */
#include "engine/source/source_folds.h"

/* How many positions this box has along dimension `d`. */
static void here(qn_text *out, const qn_call *call, int d)
{
    const qn_fold_form *f = &call->fold.form;
    if (!qn_fold_box_varies(f, d)) {
        qn_text_printf(out, "_quern_part%d.by", d);
    } else if (d == f->boxed) {
        qn_text_puts(out, "_quern_length");
    } else {
        qn_text_printf(out, "_quern_here%d", d);
    }
}

/* Bytes of a run of operand `k`: of this box, or (unless `own`) of most. */
static void run_bytes(qn_text *out, const qn_call *call, uint32_t k, bool own)
{
    const qn_fold_form *f = &call->fold.form;
    qn_text_printf(out, "%u", call->operands[k].item_size);
    for (int at = 0; at < qn_fold_way_runs(f, k); at++) {
        const int d = qn_fold_way_dim(f, k, at);
        qn_text_puts(out, " + (");
        if (own) {
            here(out, call, d);
        } else {
            qn_text_printf(out, "_quern_part%d.by", d);
        }
        qn_text_printf(out, " - 1) * abs(_quern_step%u_%d)", k, d);
    }
}

/* ---- what all boxes share ------------------------------------------------------------------- */

static void steps(qn_text *out, const qn_call *call, uint32_t k)
{
    const qn_fold_form *f = &call->fold.form;
    for (int at = 0; at < qn_fold_way_moves(f, k); at++) {
        const int d = qn_fold_way_dim(f, k, at);
        qn_text_printf(out, "    const int _quern_step%u_%d = (int)_quern_walk.stride[%u][%d];\n",
                       k, d, k, f->outer + d);
    }
}

/* Runs lie so far apart that their words do not meet. */
static void pitches(qn_text *out, const qn_call *call, uint32_t k)
{
    const qn_fold_form *f = &call->fold.form;
    qn_text_printf(out, "    const int _quern_long%u = ", k);
    run_bytes(out, call, k, false);
    qn_text_printf(out,
                   ";\n    int _quern_bytes%u = _quern_long%u;\n"
                   "    const quern::sharing _quern_share%u(_quern_long%u, 1",
                   k, k, k, k);
    for (int at = qn_fold_way_runs(f, k); at < qn_fold_way_moves(f, k); at++) {
        qn_text_printf(out, " * _quern_part%d.by", qn_fold_way_dim(f, k, at));
    }
    qn_text_puts(out, ");\n");
    for (int at = 0; at < qn_fold_way_moves(f, k); at++) {
        const int d = qn_fold_way_dim(f, k, at);
        if (at < qn_fold_way_runs(f, k)) {
            qn_text_printf(out, "    const int _quern_apart%u_%d = _quern_step%u_%d;\n", k, d, k,
                           d);
            continue;
        }
        qn_text_printf(
            out,
            "    const int _quern_pitch%u_%d = "
            "quern::settled(quern::pitch(_quern_bytes%u, _quern_step%u_%d));\n"
            "    const int _quern_apart%u_%d = _quern_step%u_%d < 0 ? -_quern_pitch%u_%d "
            ": _quern_pitch%u_%d;\n"
            "    _quern_bytes%u += _quern_pitch%u_%d * (_quern_part%d.by - 1);\n",
            k, d, k, k, d, k, d, k, d, k, d, k, d, k, k, d, d);
    }
}

void qn_source_image_room(qn_text *out, const qn_call *call, uint32_t k, uint32_t home)
{
    steps(out, call, k);
    pitches(out, call, k);
    if (home == k) {
        qn_text_printf(out,
                       "    const int _quern_room%u = _quern_used;\n"
                       "    _quern_used += (_quern_bytes%u + 30) & ~15;\n",
                       k, k);
    }
}

/* ---- a box ---------------------------------------------------------------------------------- */

/* For each run of operand `k` that is `_quern_inside` this box: `_quern_offset` and `_quern_spot`,
 * bytes from the lowest one in memory and in shared memory. */
static void each_run(qn_text *out, const qn_call *call, uint32_t k)
{
    const qn_fold_form *f = &call->fold.form;
    const int first = qn_fold_way_runs(f, k), end = qn_fold_way_moves(f, k);
    qn_text_printf(out, "        const int _quern_run%u = ", k);
    run_bytes(out, call, k, true);
    qn_text_printf(out,
                   ";\n#pragma unroll 1\n"
                   "        for (int _quern_own = _quern_share%u.first; _quern_own < 1",
                   k);
    for (int at = first; at < end; at++) {
        qn_text_printf(out, " * _quern_part%d.by", qn_fold_way_dim(f, k, at));
    }
    qn_text_printf(out,
                   "; _quern_own += _quern_share%u.abreast) {\n"
                   "            [[maybe_unused]] int _quern_outer, _quern_rest = _quern_own;\n"
                   "            int _quern_offset = 0, _quern_spot = 0;\n"
                   "            bool _quern_inside = true;\n",
                   k);
    for (int at = first; at < end; at++) {
        const int d = qn_fold_way_dim(f, k, at);
        if (at + 1 < end) {
            qn_text_printf(out,
                           "            _quern_outer = _quern_part%d.of(_quern_rest);\n"
                           "            _quern_rest -= _quern_outer * _quern_part%d.by;\n",
                           d, d);
        }
        if (qn_fold_box_varies(f, d)) {
            qn_text_puts(out, "            _quern_inside &= _quern_rest < ");
            here(out, call, d);
            qn_text_puts(out, ";\n");
        }
        qn_text_printf(out,
                       "            _quern_offset += _quern_rest * abs(_quern_step%u_%d);\n"
                       "            _quern_spot += _quern_rest * _quern_pitch%u_%d;\n",
                       k, d, k, d);
        qn_text_puts(out, at + 1 < end ? "            _quern_rest = _quern_outer;\n" : "");
    }
}

void qn_source_image_bring(qn_text *out, const qn_call *call, uint32_t k)
{
    /* or the compiler would find these anew for each run */
    qn_text_printf(out,
                   "        const int _quern_from%u = quern::settled(_quern_lies%u.from);\n"
                   "        const int _quern_to%u = quern::settled(_quern_lies%u.to);\n",
                   k, k, k, k);
    each_run(out, call, k);
    qn_text_printf(
        out,
        "            if (_quern_inside) {\n"
        "                quern::bring_run<%u>(_quern_memory + _quern_lies%u.base + _quern_spot, "
        "_quern_piece%u + _quern_lies%u.below + _quern_offset, _quern_run%u, _quern_share%u, "
        "_quern_from%u - _quern_offset, _quern_to%u - _quern_offset);\n"
        "            }\n"
        "        }\n",
        call->operands[k].item_size, k, k, k, k, k, k, k);
}

void qn_source_image_take(qn_text *out, const qn_call *call, uint32_t k)
{
    each_run(out, call, k);
    qn_text_printf(
        out,
        "            if (_quern_inside) {\n"
        "                quern::take_run<%u>(_quern_piece%u + _quern_lies%u.below + _quern_offset, "
        "_quern_memory + _quern_lies%u.base + _quern_spot, _quern_run%u, _quern_share%u);\n"
        "            }\n"
        "        }\n",
        call->operands[k].item_size, k, k, k, k, k);
}
