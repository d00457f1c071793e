/* SPDX-License-Identifier: MIT
 *
 * Finding a lane-wise operation by its opcode text. The best level that this CPU can run is chosen
 * once, and its forms are entered into a hash table of indices: some thousands of short inserts,
 * with no allocation. Everything is read-only afterwards.
 */
#include "ptx/lanes/lanes.h"
#include "ptx/lanes/lanes_set.h"
#include <stdio.h>
#include <string.h>

#define SLOTS 16384 /* a power of two, over twice the number of forms */

#define SET_OF(subject, level) &QN_LANE_SET(subject, level),
#ifdef QN_X86_LEVELS
static const qn_lane_set *const levels[][QN_LANE_SUBJECT_COUNT] = {
    {QN_LANE_SUBJECTS(SET_OF, v2)},
    {QN_LANE_SUBJECTS(SET_OF, v3)},
    {QN_LANE_SUBJECTS(SET_OF, v4)},
};
#else
static const qn_lane_set *const levels[][QN_LANE_SUBJECT_COUNT] = {
    {QN_LANE_SUBJECTS(SET_OF, generic)},
};
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const qn_lane_form *slots[SLOTS];

int qn_lane_level_count(void)
{
#ifdef QN_X86_LEVELS
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("bmi2")) {
        return 1;
    }
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vl")
               ? 3
               : 2;
#else
    return 1;
#endif
}

const qn_lane_form *qn_lane_level_form(int level, size_t index)
{
    for (size_t k = 0; k < QN_LANE_SUBJECT_COUNT; k++) {
        const qn_lane_set *set = levels[level][k];
        if (index < set->count) {
            return &set->forms[index];
        }
        index -= set->count;
    }
    return NULL;
}

static size_t hash(const char *name)
{
    uint32_t h = 2166136261u;
    for (; *name != '\0'; name++) {
        h = (h ^ (unsigned char)*name) * 16777619u;
    }
    return (h ^ h >> 15) & (SLOTS - 1);
}

/* Where `name` is, or the free slot where it would be. */
static size_t probe(const char *name)
{
    size_t slot = hash(name);
    while (slots[slot] && strcmp(slots[slot]->name, name) != 0) {
        slot = (slot + 1) & (SLOTS - 1);
    }
    return slot;
}

static void build(void)
{
    const int level = qn_lane_level_count() - 1;
    for (size_t k = 0; k < QN_LANE_SUBJECT_COUNT; k++) {
        const qn_lane_set *set = levels[level][k];
        for (size_t i = 0; i < set->count; i++) {
            slots[probe(set->forms[i].name)] = &set->forms[i];
        }
    }
}

const qn_lane_form *qn_lane_find(const char *opcode)
{
    pthread_once(&once, build);
    return slots[probe(opcode)];
}

qn_lane_function qn_lane_resize(unsigned from_bits, unsigned to_bits, bool is_signed)
{
    char name[32];
    const char letter = is_signed ? 's' : 'u';
    snprintf(name, sizeof name, "cvt.%c%u.%c%u", letter, to_bits, letter, from_bits);
    const qn_lane_form *form = qn_lane_find(name);
    return form ? form->function : NULL;
}

/* One array of all forms, for those who want to walk over them: made when first asked for. */
#define MOST_FORMS (SLOTS / 2)
static qn_lane_form all[MOST_FORMS];
static size_t all_count;

static void gather(void)
{
    const int level = qn_lane_level_count() - 1;
    const qn_lane_form *form;
    while (all_count < MOST_FORMS && (form = qn_lane_level_form(level, all_count)) != NULL) {
        all[all_count++] = *form;
    }
}

const qn_lane_form *qn_lane_forms(size_t *count)
{
    static pthread_once_t gathered = PTHREAD_ONCE_INIT;
    pthread_once(&gathered, gather);
    *count = all_count;
    return all;
}
