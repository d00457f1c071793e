/* SPDX-License-Identifier: MIT
 *
 * source_scan_images: operands of a scan by boxes that come and go by runs, in CUDA C++. In: a call
 * whose fold is planned so. Out: for operand K, where it waits in shared memory, `_quern_roomK`,
 * and how it comes in and goes back (templates/image.cuh). The thing to know: from one position
 * along dimension D to the next are `_quern_stepK_D` bytes in memory, `_quern_apartK_D` in shared
 * memory.
 * `_quern_lowK` is where the lowest byte of the box lies in memory, `_quern_baseK` where that
 * waits,
 * `_quern_shelfK` where the element waits that is the first along all dimensions.
 */
#include "engine/source/source_folds.h"

/* True for a dimension of which the last box, or the last piece, has fewer positions. */
static bool varies(const qn_fold_form *f, int d)
{
    return d == f->boxed ? f->pieces : f->cuts >> d & 1;
}

/* How many positions this box has along dimension `d`. */
static void here(qn_text *out, const qn_call *call, int d)
{
    const qn_fold_form *f = &call->fold.form;
    if (!varies(f, d)) {
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

/* What operand `k` moves backwards in a box, in memory ("step") or in shared memory ("apart"):
 * along dimensions of which this one may have less than others (`varying`), or along the others. */
static void backwards(qn_text *out, const qn_call *call, uint32_t k, const char *what, bool varying)
{
    const qn_fold_form *f = &call->fold.form;
    for (int at = 0; at < qn_fold_way_moves(f, k); at++) {
        const int d = qn_fold_way_dim(f, k, at);
        if (varies(f, d) == varying) {
            qn_text_puts(out, " + (");
            here(out, call, d);
            qn_text_printf(out, " - 1) * min(_quern_%s%u_%d, 0)", what, k, d);
        }
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
    qn_text_printf(out, "    const int _quern_below%u = quern::settled(0", k);
    backwards(out, call, k, "step", false);
    qn_text_printf(out, ");\n    const int _quern_above%u = quern::settled(0", k);
    backwards(out, call, k, "apart", false);
    qn_text_puts(out, ");\n");
}

/* The positions of all boxes along dimension `d` inside, less one. */
static void last_position(qn_text *out, const qn_call *call, int d)
{
    static const char *const last[QN_FOLD_BOX_DIMS] = {"head", "across", "run"};
    const qn_fold_form *f = &call->fold.form;
    if (d == f->boxed) {
        qn_text_puts(out, "_quern_walk.covered - 1");
    } else if ((f->cuts >> d & 1) == 0) {
        qn_text_printf(out, "_quern_part%d.by - 1", d);
    } else {
        const int cuts = __builtin_popcount(f->cuts);
        const int at = __builtin_popcount(f->cuts & ((1u << d) - 1));
        qn_text_printf(out,
                       "(_quern_walk.extent[%d].value - 1) * (long long)_quern_part%d.by + "
                       "_quern_walk.%s - 1",
                       f->outer - cuts + at, d, last[at]);
    }
}

/* What memory an input has: runs may come in words that reach beyond them, but not beyond it. */
static void memory(qn_text *out, const qn_call *call, uint32_t k)
{
    const qn_fold_form *f = &call->fold.form;
    qn_text_printf(out, "    quern::memory _quern_has%u{0, %u};\n", k, call->operands[k].item_size);
    for (int d = 0; d < f->outer - __builtin_popcount(f->cuts); d++) {
        qn_text_printf(out,
                       "    _quern_has%u.reach((_quern_walk.extent[%d].value - 1) * (long long)"
                       "_quern_walk.stride[%u][%d]);\n",
                       k, d, k, d);
    }
    for (int d = 0; d <= f->boxed; d++) {
        qn_text_printf(out, "    _quern_has%u.reach((", k);
        last_position(out, call, d);
        qn_text_printf(out, ") * (long long)_quern_walk.stride[%u][%d]);\n", k, f->outer + d);
    }
}

void qn_source_image_room(qn_text *out, const qn_call *call, uint32_t k, uint32_t home)
{
    steps(out, call, k);
    pitches(out, call, k);
    if (k < call->input_operands) {
        memory(out, call, k);
    }
    if (home == k) {
        qn_text_printf(out,
                       "    char *const _quern_room%u = _quern_memory + _quern_used;\n"
                       "    _quern_used += (_quern_bytes%u + 30) & ~15;\n",
                       k, k);
    }
}

/* ---- a box ---------------------------------------------------------------------------------- */

void qn_source_image_place(qn_text *out, const qn_call *call, uint32_t k, uint32_t home)
{
    qn_text_printf(out, "        auto *const _quern_low%u = _quern_piece%u + (_quern_below%u", k, k,
                   k);
    backwards(out, call, k, "step", true);
    qn_text_printf(out,
                   ");\n        char *const _quern_base%u = _quern_room%u + "
                   "((size_t)_quern_low%u & 15);\n"
                   "        char *const _quern_shelf%u = _quern_base%u - (_quern_above%u",
                   k, home, k, k, k, k);
    backwards(out, call, k, "apart", true);
    qn_text_puts(out, ");\n");
}

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
        if (varies(f, d)) {
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
    qn_text_printf(out,
                   "        const quern::extent _quern_there%u(_quern_low%u, (const char "
                   "*)_quern_array%u, _quern_has%u);\n",
                   k, k, call->operand_parameter[k], k);
    each_run(out, call, k);
    qn_text_printf(
        out,
        "            if (_quern_inside) {\n"
        "                quern::bring_run<%u>(_quern_base%u + _quern_spot, _quern_low%u, "
        "_quern_offset, _quern_run%u, _quern_share%u, _quern_there%u);\n"
        "            }\n"
        "        }\n",
        call->operands[k].item_size, k, k, k, k, k);
}

void qn_source_image_take(qn_text *out, const qn_call *call, uint32_t k)
{
    each_run(out, call, k);
    qn_text_printf(
        out,
        "            if (_quern_inside) {\n"
        "                quern::take_run<%u>(_quern_low%u + _quern_offset, _quern_base%u "
        "+ _quern_spot, _quern_run%u, _quern_share%u);\n"
        "            }\n"
        "        }\n",
        call->operands[k].item_size, k, k, k, k);
}
