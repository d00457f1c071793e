/* SPDX-License-Identifier: MIT
 *
 * setting: what may be chosen of a walk by measuring instead of by rule. A setting is a wish: a
 * planner takes of it what fits the call, and any setting gives the same answer, bit for bit.
 */
#ifndef QN_SETTING_H
#define QN_SETTING_H

#include "base/base.h"

/** The walks that elementwise kernels have besides tiles. */
typedef enum qn_walk { QN_WALK_CHOSEN, QN_WALK_PACKS, QN_WALK_ROWS } qn_walk;

/** 0: as the planner chooses. All numbers but `walk` are powers of two. */
typedef struct qn_setting {
    uint16_t walk;    /**< elementwise: qn_walk; not CHOSEN also means: no tiles */
    uint16_t pack;    /**< bytes of a pack of the narrowest operand, 1 to 16 */
    uint16_t turns;   /**< packs, or units of a reduction, that a thread has under way, 1 to 8 */
    uint16_t tile;    /**< elementwise: the side of tiles at most, 32 or 64 */
    uint16_t block;   /**< elementwise, by packs: threads of a block, 32 to 1024 */
    uint16_t workers; /**< reductions of integers: threads for an output, 1 to 256 */
    uint16_t blocks;  /**< reductions of integers: blocks for a processor, 1 to 16 */
} qn_setting;

/** One field, for those that go through all. */
typedef struct qn_setting_field {
    const char *name;
    uint16_t offset, least, most;
    const char *const *words; /**< of a number that is written as a word; NULL: a power of two */
} qn_setting_field;

#define QN_SETTING_FIELDS 7
extern const qn_setting_field qn_setting_fields[QN_SETTING_FIELDS];

static inline uint16_t *qn_setting_at(qn_setting *s, const qn_setting_field *field)
{
    return (uint16_t *)(void *)((char *)s + field->offset);
}

/** "pack=8 block=128"; "" where all is as the planner chooses. */
void qn_setting_print(qn_text *out, const qn_setting *setting);
/** The reverse; false, with *out all 0, for a text that nothing prints. */
bool qn_setting_read(qn_setting *out, const char *text);
static inline bool qn_setting_is_plain(const qn_setting *s)
{
    return (s->walk | s->pack | s->turns | s->tile | s->block | s->workers | s->blocks) == 0;
}

#endif /* QN_SETTING_H */
