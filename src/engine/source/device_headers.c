/* SPDX-License-Identifier: MIT
 *
 * device_headers: Quern's own, by the names under which sources include them. The generated
 * sources name the first ones; a user's own text may include any, most by CuPy's names for them.
 * Out: what goes to NVRTC in memory, where it is included and found nowhere else.
 */
#include "embedded/templates.h"
#include "engine/source/source.h"

#define FORWARD(name) "#pragma once\n#include <quern/" name ">\n"
#define CARRAY        FORWARD("carray.cuh") "#include <quern/floor_divide.cuh>\n"

/* Those of qn_header_id, and then those that only a user's text includes. */
static const qn_header headers[] = {
    [QN_HEADER_TYPES] = {"quern/types.cuh", qn_embedded_types_cuh},
    [QN_HEADER_LAYOUT] = {"quern/layout.h", qn_embedded_layout_h},
    [QN_HEADER_INDEX] = {"quern/index.cuh", qn_embedded_index_cuh},
    [QN_HEADER_PACK] = {"quern/pack.cuh", qn_embedded_pack_cuh},
    [QN_HEADER_SQUARE] = {"quern/square.cuh", qn_embedded_square_cuh},
    [QN_HEADER_BOX] = {"quern/box.cuh", qn_embedded_box_cuh},
    [QN_HEADER_FREIGHT] = {"quern/freight.cuh", qn_embedded_freight_cuh},
    [QN_HEADER_WORDS] = {"quern/words.cuh", qn_embedded_words_cuh},
    [QN_HEADER_RAW] = {"quern/raw.cuh", qn_embedded_raw_cuh},
    [QN_HEADER_RAW_CHECKED] = {"quern/raw_checked.cuh", qn_embedded_raw_checked_cuh},
    [QN_HEADER_CARRAY] = {"quern/carray.cuh", qn_embedded_carray_cuh},
    [QN_HEADER_CONSTANTS] = {"quern/constants.cuh", qn_embedded_constants_cuh},
    [QN_HEADER_REACH] = {"quern/reach.cuh", qn_embedded_reach_cuh},
    [QN_HEADER_BOOL] = {"quern/bool.cuh", qn_embedded_bool_cuh},
    [QN_HEADER_HALF] = {"quern/half.cuh", qn_embedded_half_cuh},
    [QN_HEADER_FLOAT8] = {"quern/float8.cuh", qn_embedded_float8_cuh},
    [QN_HEADER_RECORD] = {"quern/record.cuh", qn_embedded_record_cuh},
    [QN_HEADER_COMPLEX] = {"quern/complex.cuh", qn_embedded_complex_cuh},
    [QN_HEADER_COMPLEX_MATH] = {"quern/complex_math.cuh", qn_embedded_complex_math_cuh},
    [QN_HEADER_COMPLEX_EXP] = {"quern/complex_exp.cuh", qn_embedded_complex_exp_cuh},
    [QN_HEADER_COMPLEX_LOG] = {"quern/complex_log.cuh", qn_embedded_complex_log_cuh},
    [QN_HEADER_COMPLEX_POW] = {"quern/complex_pow.cuh", qn_embedded_complex_pow_cuh},
    [QN_HEADER_COMPLEX_INVERSE] = {"quern/complex_inverse.cuh", qn_embedded_complex_inverse_cuh},
    [QN_HEADER_THRUST] = {"quern/thrust.cuh", qn_embedded_thrust_cuh},
    [QN_HEADER_MINMAX] = {"quern/minmax.cuh", qn_embedded_minmax_cuh},
    [QN_HEADER_ATOMIC] = {"quern/atomic.cuh", qn_embedded_atomic_cuh},
    [QN_HEADER_MATH] = {"quern/math.cuh", qn_embedded_math_cuh},
    [QN_HEADER_FLOOR_DIVIDE] = {"quern/floor_divide.cuh", qn_embedded_floor_divide_cuh},
    [QN_HEADER_NEXTAFTER] = {"quern/nextafter.cuh", qn_embedded_nextafter_cuh},
    [QN_HEADER_FOLD] = {"quern/fold.cuh", qn_embedded_fold_cuh},
    [QN_HEADER_KEYS] = {"quern/keys.cuh", qn_embedded_keys_cuh},
    [QN_HEADER_SCAN] = {"quern/scan.cuh", qn_embedded_scan_cuh},
    [QN_HEADER_RUNS] = {"quern/runs.cuh", qn_embedded_runs_cuh},
    [QN_HEADER_STOCK] = {"quern/stock.cuh", qn_embedded_stock_cuh},
    [QN_HEADER_SWATH] = {"quern/swath.cuh", qn_embedded_swath_cuh},
    [QN_HEADER_PARTS] = {"quern/parts.cuh", qn_embedded_parts_cuh},
    [QN_HEADER_STAGE] = {"quern/stage.cuh", qn_embedded_stage_cuh},
    [QN_HEADER_LINES] = {"quern/lines.cuh", qn_embedded_lines_cuh},
    [QN_HEADER_SITE] = {"quern/site.cuh", qn_embedded_site_cuh},
    [QN_HEADER_IMAGE] = {"quern/image.cuh", qn_embedded_image_cuh},
    [QN_HEADER_PACKED] = {"quern/packed.cuh", qn_embedded_packed_cuh},
    [QN_HEADER_STRIPS] = {"quern/strips.cuh", qn_embedded_strips_cuh},
    {"quern/complex_all.cuh", qn_embedded_complex_all_cuh},
    {"quern/complex_pow_tables.cuh", qn_embedded_complex_pow_tables_cuh},
    {"quern/complex_pow_wide.cuh", qn_embedded_complex_pow_wide_cuh},
    {"quern/cucomplex.cuh", qn_embedded_cucomplex_cuh},
    {"quern/expression.cuh", qn_embedded_expression_cuh},
    {"quern/odd.cuh", qn_embedded_odd_cuh},
    {"cupy/atomics.cuh", CARRAY "#include <quern/atomic.cuh>\n"},
    {"cupy/bfloat16.cuh", CARRAY "#include <quern/half.cuh>\n"},
    {"cupy/carray.cuh", CARRAY},
    {"cupy/complex.cuh", FORWARD("complex_all.cuh")},
    {"cupy/cuComplex_bridge.h", FORWARD("cucomplex.cuh")},
    {"cupy/float16.cuh", CARRAY "#include <quern/half.cuh>\n"},
    {"cupy/hip_workaround.cuh", "#pragma once\n"}, /* there it is for other GPUs */
    {"cupy/math_constants.h", FORWARD("constants.cuh")},
    {"math_constants.h", FORWARD("constants.cuh")},
};

const qn_header *qn_device_headers(size_t *count)
{
    *count = QN_COUNT(headers);
    return headers;
}

const qn_header qn_cucomplex_header = {"cuComplex.h", FORWARD("cucomplex.cuh")};
