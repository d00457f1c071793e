/* SPDX-License-Identifier: MIT
 *
 * lanes_set: the list of the files that hold lane-wise operations, and of the CPU levels that each
 * is compiled for. lanes_table.c chooses a level and searches its sets.
 */
#ifndef QN_LANES_SET_H
#define QN_LANES_SET_H

#include "ptx/ptx.h"

/** The forms of one file, built for one level. */
typedef struct qn_lane_set {
    const qn_lane_form *forms;
    size_t count;
} qn_lane_set;

/* clang-format off */
#define QN_LANE_SUBJECTS(X, level)                                                                 \
    X(int, level)                                                                                  \
    X(divide, level)                                                                               \
    X(bits, level)                                                                                 \
    X(video, level)                                                                                \
    X(float, level)                                                                                \
    X(double, level)                                                                               \
    X(half, level)                                                                                 \
    X(approx, level)                                                                               \
    X(compare, level)                                                                              \
    X(compare_half, level)                                                                         \
    X(convert, level)                                                                              \
    X(convert_half, level)
/* clang-format on */

#define QN_LANE_ONE(subject, level) +1
enum { QN_LANE_SUBJECT_COUNT = 0 QN_LANE_SUBJECTS(QN_LANE_ONE, ) };

/** qn_lanes_int_v3 */
#define QN_LANE_SET_(subject, level) qn_lanes_##subject##_##level
#define QN_LANE_SET(subject, level)  QN_LANE_SET_(subject, level)

#define QN_LANE_DECLARE(subject, level) extern const qn_lane_set QN_LANE_SET(subject, level);
#ifdef QN_X86_LEVELS
QN_LANE_SUBJECTS(QN_LANE_DECLARE, v2)
QN_LANE_SUBJECTS(QN_LANE_DECLARE, v3)
QN_LANE_SUBJECTS(QN_LANE_DECLARE, v4)
#else
QN_LANE_SUBJECTS(QN_LANE_DECLARE, generic)
#endif

#endif /* QN_LANES_SET_H */
