/* SPDX-License-Identifier: MIT
 *
 * levels: tables of functions that are built once for each CPU level, by a file that is compiled
 * with QN_LEVEL set to the level's name. Which of them suit this CPU: qn_lane_level_count().
 */
#ifndef QN_LEVELS_H
#define QN_LEVELS_H

#define QN_OF_LEVEL_(name, level) name##_##level
/** The table `name` of a level: qn_memory_lanes_v3. */
#define QN_OF_LEVEL(name, level) QN_OF_LEVEL_(name, level)

/** Define `levels`, which has the tables `name` of all levels, from the least on. */
#ifdef QN_X86_LEVELS
#define QN_LEVELS(type, name)                                                                      \
    extern const type name##_v2, name##_v3, name##_v4;                                             \
    static const type *const levels[] = {&name##_v2, &name##_v3, &name##_v4}
#else
#define QN_LEVELS(type, name)                                                                      \
    extern const type name##_generic;                                                              \
    static const type *const levels[] = {&name##_generic}
#endif

#endif /* QN_LEVELS_H */
