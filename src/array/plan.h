/* SPDX-License-Identifier: MIT
 *
 * plan: from the operands' shapes and strides to a walk over their elements.
 *
 *     shapes --qn_plan_shape--> loop shape (NumPy broadcasting)
 *     strides --qn_plan_make--> qn_plan: dimensions in walking order, merged where possible,
 *                               the lanes of a pack, and the way each operand is reached
 *
 * The shape of a plan (qn_plan.form) decides the generated code; extents and strides are run-time
 * arguments of the kernel. Pure arithmetic: nothing here touches memory of a device.
 */
#ifndef QN_PLAN_H
#define QN_PLAN_H

#include "array/setting.h"
#include "base/base.h"
#include <quern/array.h>
#include <string.h>

#define QN_ACCESS_BYTES 16    /**< the widest access of a thread */
#define QN_SECTOR_BYTES 32    /**< that memory reads and writes at once */
#define QN_LINE_BYTES   128   /**< what one look-up of an access brings */
#define QN_STATIC_BYTES 49152 /**< of shared memory, which every GPU gives a block */
#define QN_ROWS         (QUERN_MAX_PARAMETERS + 1) /**< of strides: operands, positions */
#define QN_BOX_DIMS     6                          /**< dimensions of a box */
#define QN_BOX_CUTS     3                          /**< of these that have several boxes */
#define QN_BOX_TURNS    16 /**< elements of a box that a thread takes, at most */
#define QN_BOX_POOL     44 /**< KiB of shared memory of boxes in runs, at most */
#define QN_WARP         32 /**< threads that run together */
#define QN_BOX_EVEN     2  /**< dimensions of an output's run with rows evenly apart, at most */
#define QN_BOX_WAYS     8  /**< operands of boxes that go in runs, at most */

/** What a thread waits for memory, once for all elements that it takes at once: in hundredths of an
 * instruction, measured on an H200. */
#define QN_PLAN_WAITING 6200
#define QN_SLABS_LISTED 128 /**< slabs of a block whose places are listed, at most */

/** One operand that takes part in broadcasting. */
typedef struct qn_operand {
    const int64_t *shape;   /**< ndim extents */
    const int64_t *strides; /**< ndim strides, bytes */
    char *data;             /**< address of element (0, ..., 0) */
    int ndim;
    uint32_t item_size;
    bool output;
    qn_str name; /**< of the parameter: for messages */
    bool loose;  /**< elements side by side cannot be moved in words that have several of them, nor
                      as one word each: their size is no power of two, or they are not aligned to it
                  */
} qn_operand;

/** How the elements of one pack are reached. The form holds these letters. */
typedef enum qn_access {
    QN_ACCESS_VECTOR = 'v',     /**< side by side and aligned: one 16-byte access a pack */
    QN_ACCESS_CONTIGUOUS = 'c', /**< side by side, not aligned: one access a lane */
    QN_ACCESS_BROADCAST = 'b',  /**< the same element for all lanes */
    QN_ACCESS_STRIDED = 's',    /**< a run-time stride between lanes */
    QN_ACCESS_TILED = 't',      /**< through shared memory: by tiles along the last dimension but
                                   one, by boxes in the order `fetch` */
    QN_ACCESS_WORDS = 'w',      /**< side by side, not aligned: by aligned words that are shifted */
    QN_ACCESS_STEP = 'p', /**< flat: side by side and aligned within a step: one access each */
    QN_ACCESS_HELD =
        'h', /**< flat: the same element for all lanes of a step; by words: of a pack */
    QN_ACCESS_PAIR = 'x',    /**< flat: the same along a row, and packs are paired */
    QN_ACCESS_WHOLE = 'n',   /**< thin rows: those of a thread lie on, in aligned words */
    QN_ACCESS_BACK = 'r',    /**< side by side from the last to the first: by rows as `w`, else as
                                `v`, and turned around in registers */
    QN_ACCESS_LOCATED = 'l', /**< scans by runs: dimension by dimension, from its position */
} qn_access;

/** Which sectors of an output with gaps are asked for before the inputs are read. */
typedef enum qn_early {
    QN_EARLY_NONE,
    QN_EARLY_ALL,   /**< of each element, or pack */
    QN_EARLY_FIRST, /**< of each that is the first in its sector */
    QN_EARLY_ENDS   /**< where what lies side by side begins and ends */
} qn_early;

/** How an operand goes, of boxes in runs or by words. */
typedef struct qn_box_way {
    uint8_t order[QN_BOX_DIMS]; /**< dimensions of the walk, inside of boxes, along which its
                                     elements differ, as they lie in memory, outermost first; of an
                                     output as they are walked */
    uint8_t count;              /**< of these */
    uint8_t run;   /**< the innermost ones that are a run: of inputs bytes that lie on in memory, of
                        an output elements; 0: it is repeated, or lies as the output does */
    uint8_t word;  /**< by words: bytes of one */
    uint8_t moves; /**< and how many a thread has */
} qn_box_way;

/** What decides the generated code. Compare with memcmp: padding is zero. */
typedef struct qn_plan_form {
    uint64_t kept;   /**< flat, in turns: a bit for each operand that is the same in all turns */
    uint8_t ndim;    /**< dimensions walked, at least 1 */
    uint8_t lanes;   /**< elements of a pack */
    uint8_t wide;    /**< 1: 64-bit index arithmetic */
    uint8_t near;    /**< 1: in every operand all elements lie within 2^31
                          bytes of the first; 0 in one dimension */
    uint8_t aliased; /**< 1: an input is an output as well */
    uint8_t tile;    /**< side of a tile; 0: walked by packs */
    uint8_t slack;   /**< tiles: elements of a sector of operand `anchor`, an output, if its lines
                          begin anywhere in one; 0: where one does. Boxes in runs: by how much they
                          begin early along the outermost dimension of the output's runs; its extent
                          and `last` have that, too */
    uint8_t turns;   /**< packs that a thread takes: a block apart, or by rows, or (if flat) a
                          period; 1 by tiles */
    uint8_t rows;    /**< 1: a block goes along rows; packs begin where a row of
                          operand `anchor` is aligned */
    uint8_t thin;    /**< a thread has `lanes` whole rows of so many elements; the last dimension is
                          that of rows, the one before that of places in them; 0: it has not */
    uint8_t crosses; /**< rows: 1: blocks go over the rows first, and then on along them */
    uint8_t flat;    /**< 1: packs go on across rows, since the outputs do; other inputs are read at
                          places that a thread counts up, step by step */
    uint8_t step;    /**< flat: lanes of a step, which never has elements of two rows */
    uint8_t whole;   /**< flat: 1: a step has a whole row; boxes in runs: what they give of one is
                          whole packs, unless they are the last along a dimension */
    uint8_t paired;  /**< flat, boxes in runs: 1: a pack has elements of two rows at most */
    uint8_t period;  /**< flat, in turns: a thread's packs lie 2^period times as many packs apart as
                          the first dimension's rows have elements */
    uint8_t early;   /**< qn_early */
    uint8_t run;     /**< with QN_EARLY_ENDS: dimensions of what has these ends, the innermost */
    uint8_t slab;    /**< dimensions inside of slabs, in which each thread keeps a place; 0: none */
    uint8_t listed;  /**< slabs: 1: where those of a block lie is listed in shared memory */
    uint8_t anchor;
    uint8_t margin; /**< rows: elements at both ends of a row that no pack may hold, since the words
                         that hold neighbours of the row's may not be read; tiles in packs: those
                         around the lines of a tile, so that words are read that its elements do
                         not fill; 0 where they do */
    uint8_t boxed;  /**< 1: by boxes, whose dimensions are the last ones of the walk */
    uint8_t box;    /**< boxes: dimensions outside of them; the last of these number
                         the boxes along dimensions that are cut */
    uint8_t pool;   /**< boxes in runs: KiB of shared memory; 0: others */
    uint8_t words;  /**< boxes: 1: inputs go in words, and packs of `lanes` are given, `turns` of a
                       thread, at the same places in all boxes */
    uint8_t gaps;   /**< by words: shared memory has gaps after so many bytes, as an exponent */
    uint8_t cuts;   /**< boxes: dimensions that are cut */
    uint8_t cut[QN_BOX_CUTS];   /**< boxes: where these lie inside of a box */
    uint8_t fetch[QN_BOX_DIMS]; /**< boxes: dimensions inside, in the order of tiled operands */
    uint8_t access[QUERN_MAX_PARAMETERS]; /**< qn_access by operand */
    qn_box_way way[QN_BOX_WAYS];          /**< boxes in runs or by words: by operand */
} qn_plan_form;

typedef struct qn_plan {
    qn_plan_form form;
    int64_t count; /**< elements of the loop */
    int64_t packs; /**< whole packs of the loop, its tiles, or its blocks by rows */
    int64_t head;  /**< elements before the first pack; with `rest` only in one dimension. With
                        tiles: the extent of the last dimension but one; by rows or slabs: how
                        many */
    int64_t rest;  /**< elements that no pack covers: the head, and a tail */
    int64_t parts; /**< rows: blocks for one row */
    int64_t last[QN_BOX_CUTS]; /**< boxes: elements of the last one along what is cut */
    int32_t group, stir;       /**< boxes in runs: threads that have packs side by side, an
                                    exponent, and groups of them from one to the next, */
    bool by_runs;              /**< which are numbered from run to run */
    int32_t across, down;      /**< rows, slabs: threads of a block along one, and how many of
                                    them a block has side by side */
    int64_t work;              /**< what the text takes for an element, about, in instructions */
    double box_cost;           /**< boxes of single elements: what an element takes, in bytes that
                                    move meanwhile */
    int64_t cost, other_cost;  /**< what an element takes, in hundredths of plan_rows.c's unit, and
                                    walked by packs instead of rows, or the reverse; 0: no choice */
    int64_t extent[QUERN_MAX_NDIM];          /**< outermost first */
    int64_t stride[QN_ROWS][QUERN_MAX_NDIM]; /**< bytes; [operand][dimension] */
    char *base[QUERN_MAX_PARAMETERS];        /**< where the walk starts */
} qn_plan;

/** Flat packs in phases: a thread has several turns of them. */
static inline bool qn_plan_in_phases(const qn_plan_form *form)
{
    return form->flat && form->turns > 1;
}

/** In phases: the operand is the same in all turns. */
static inline bool qn_plan_is_kept(const qn_plan_form *form, size_t k)
{
    return (form->kept >> k & 1) != 0;
}

/** Flat: the operand's place is counted up from step to step. */
static inline bool qn_plan_counts(const qn_plan_form *form, size_t k)
{
    const uint8_t access = form->access[k];
    return access == QN_ACCESS_STRIDED || access == QN_ACCESS_STEP || access == QN_ACCESS_HELD ||
           access == QN_ACCESS_PAIR;
}

/** What is decided of a plan: all that stands in front of its extents. The rest is 17 KB. */
typedef struct qn_plan_decided {
    unsigned char bytes[offsetof(qn_plan, extent)];
} qn_plan_decided;

static inline qn_plan_decided qn_plan_decided_of(const qn_plan *plan)
{
    qn_plan_decided d;
    memcpy(d.bytes, plan, sizeof d.bytes);
    return d;
}

static inline void qn_plan_decide(qn_plan *plan, const qn_plan_decided *d)
{
    memcpy(plan, d->bytes, sizeof d->bytes);
}

/** What the kernel's text asks of the walk. */
typedef struct qn_plan_rules {
    bool ordered;   /**< walk in C order: the text uses the position */
    bool keep_dims; /**< merge nothing: the text uses positions along axes, or the user says so */
    bool no_tiles;  /**< the caller chose the size of the blocks */
    bool loops;     /**< the text has loops: a pack repeats it often enough */
    uint32_t pack_bytes; /**< bytes that a pack may take of the narrowest operand: 16, less for
                              costly texts; item size or less means one lane */
    uint32_t work;       /**< instructions of the text for an element, if they are many */
    bool torn;           /**< memory takes longer for a part of a sector than for all of it */
    qn_setting setting;  /**< what was measured to be better than what follows from the rest */
} qn_plan_rules;

/** The loop's shape: all operands broadcast together, NumPy's rules.
 * Errors: QUERN_ERROR_SHAPE naming the parameters and shapes. */
quern_status qn_plan_shape(int *ndim, int64_t *shape, int64_t *count, const qn_operand *operands,
                           size_t operand_count);
/** Check that those operands that are outputs have exactly this shape. Errors: as above. */
quern_status qn_plan_outputs(const qn_operand *operands, size_t operand_count, int ndim,
                             const int64_t *shape);

/** Plan the walk. `count` must not be zero. With no operands, `shape` is walked all the same. */
void qn_plan_make(qn_plan *plan, const qn_operand *operands, size_t operand_count, int ndim,
                  const int64_t *shape, int64_t count, const qn_plan_rules *rules);

/** Walk by tiles where that pays: some operands are dense along another dimension than the last.
 * Moves that dimension to the last but one and fills the plan; false, with the plan as it was, when
 * it does not pay. `most`: elements along the side of a tile at most; where its elements come in
 * packs, half as many packs. `most_lanes`: lanes of the largest packs. `single`: by tiles of single
 * elements as well. For qn_plan_make(); dimensions are sorted and merged. */
bool qn_plan_tiles(qn_plan *plan, const qn_operand *operands, size_t operand_count, int ndim,
                   int most, uint32_t most_lanes, bool single);
/** The dimension, other than the last, along which an input lies densely for tiles; -1: none. */
int qn_plan_dense(const qn_plan *plan, const qn_operand *operand, size_t k, int ndim);
/** By tiles of single elements it would be walked. */
bool qn_plan_is_tiled(const qn_plan *plan, const qn_operand *operands, size_t operand_count,
                      int ndim, int most);

/** Walk by boxes where that pays: sectors of some inputs would be read again and again. Splits the
 * dimensions and fills the plan; false, with the plan as it was, when it does not pay. `tiled`: it
 * would be walked by tiles of single elements otherwise. For
 * qn_plan_make(); dimensions are sorted and merged. */
bool qn_plan_boxes(qn_plan *plan, const qn_operand *operands, size_t operand_count, int ndim,
                   bool tiled);
/** Walked as it is, it would take less than by tiles of `side` elements. */
bool qn_plan_outdoes_tiles(const qn_plan *plan, const qn_operand *operands, size_t operand_count,
                           int ndim, int side);
/** The same by boxes in runs. `pack`: bytes of one of the output, at most; `torn`: as in the rules.
 * *as_it_is is set where they would suit, but the walk as it is does better than any boxes. */
bool qn_plan_runs(qn_plan *plan, const qn_operand *operands, size_t operand_count, int ndim,
                  bool tiled, uint32_t pack, bool torn, bool *as_it_is);

/** Walk by boxes of words where small arrays of a batch lie in different orders and are aligned,
 * unless they fill tiles of `side` elements. Splits the dimensions and fills the plan; false, with
 * the plan as it was, where they do not. For qn_plan_make(); dimensions are sorted and merged. */
bool qn_plan_box_words(qn_plan *plan, const qn_operand *operands, size_t operand_count, int ndim,
                       int side);

/** Operands may go in runs. */
bool qn_plan_box_runs(const qn_operand *operands, size_t operand_count);
/** Choose the ways of the operands of a boxed plan. `pack`: as above; `along`: packs of inputs that
 * lie as the output does come from memory. False: it does not fit into shared memory, or does not
 * pay. */
bool qn_plan_box_ways(qn_plan *plan, const qn_operand *operands, size_t operand_count,
                      uint32_t pack, bool along);

/** How far parts of a box lie from each other along each dimension of an input's order in shared
 * memory, as source_boxed_runs.c has it on the device: pitch() of box.cuh. Returns the bytes of
 * all.
 */
int64_t qn_plan_box_pitches(int64_t *pitch, const qn_plan *plan, size_t k, int64_t item);
/** Which dimension that boxes cut is `d`; -1: it is not cut. */
int qn_plan_cut_of(const qn_plan_form *form, int d);
/** Choose `stir` and `group` of a plan by boxes in runs whose ways are chosen. */
void qn_plan_box_stir(qn_plan *plan, const qn_operand *operands, size_t operand_count);

/** Walk over whole rows of a few elements, where some operands have them so and others in planes;
 * false, with the plan as it was, where none do, or others are known to be better. `torn`: as in
 * the rules; `runs`: boxes in runs may be among the others. For qn_plan_make(); dimensions are
 * sorted and merged. */
bool qn_plan_thin(qn_plan *plan, const qn_operand *operands, size_t operand_count, int ndim,
                  bool torn, bool runs);

/** Walk by rows where that costs less or `setting` has it so, if there is a choice. `most`: lanes
 * of the largest packs. For qn_plan_make(); the plan is by packs. */
void qn_plan_rows(qn_plan *plan, const qn_operand *operands, size_t operand_count, uint32_t most,
                  const qn_setting *setting);

/** Packs of the operand can be read in whole words and turned around: an input of narrow elements
 * that lie side by side backwards. */
bool qn_plan_is_back(const qn_operand *operand, int64_t stride, uint32_t lanes);

/** In every row two operands are aligned to `every` elements at the same ones. */
bool qn_plan_agree(const qn_plan *p, const qn_operand *operands, size_t a, size_t b, int64_t every);

/** Walk outputs that have no gaps by packs that go on across rows, where that costs less. `most`:
 * as above. For qn_plan_make(); the plan is complete. */
void qn_plan_flat(qn_plan *plan, const qn_operand *operands, size_t operand_count, uint32_t most);

/** In phases: packs from one of a thread to its next, and how many threads there are. */
int64_t qn_plan_period(const qn_plan *plan);
int64_t qn_plan_threads(const qn_plan *plan);

/** Walk by slabs where that costs less. `most`: as above. For qn_plan_make(); the plan is complete.
 */
void qn_plan_slabs(qn_plan *plan, const qn_operand *operands, size_t operand_count, uint32_t most);

/** Ask early for sectors of the output that are written in part. For qn_plan_make(); the plan is
 * complete. */
void qn_plan_early(qn_plan *plan, const qn_operand *operands, size_t operand_count);

/** Lines of memory that a warp meets when each thread makes an access, `pitch` bytes apart. */
int64_t qn_plan_lines(int64_t pitch);
/** What a pack of `lanes` elements of an operand takes when a warp's access meets `lines` of
 * memory, in instructions of a GPU (plan_rows.c). */
int64_t qn_plan_moving(const qn_operand *operand, qn_access access, int64_t lines, int64_t lanes);
/** What an element takes when the plan is by packs, or elements in turns; in hundredths. */
int64_t qn_plan_packs_cost(const qn_plan *plan, const qn_operand *operands, size_t operand_count);
/** What its preparations take besides, for an element, if it is by packs. */
int64_t qn_plan_preparing(const qn_plan *plan);
/** What memory takes for an element, in such instructions: operands that are repeated count for
 * nothing. */
int64_t qn_plan_memory_cost(const qn_plan *plan, const qn_operand *operands, size_t operand_count);
/** The cost by packs with those, where that is more than memory takes; else alone. */
int64_t qn_plan_packs_whole_cost(const qn_plan *plan, const qn_operand *operands,
                                 size_t operand_count);
/** What it takes to find a row: a division for each dimension but the first, and the sums. */
int64_t qn_plan_finding(size_t operand_count, int ndim);

/* ---- banks.c -------------------------------------------------------------------------------- */

/** How many words the busiest bank of shared memory gives a warp whose threads ask for these bytes.
 */
int qn_bank_conflicts(const int64_t places[QN_WARP]);

/* ---- plan_dims.c ---------------------------------------------------------------------------- */

/** Set bases and strides over the loop's dimensions: zero where an operand is repeated. */
void qn_plan_spread(qn_plan *plan, const qn_operand *operands, size_t operand_count, int ndim);
/** Drop, flip, sort (unless `ordered`) and merge dimensions; returns how many are left, at least
 * one if there was one. A flip moves plan->base. `rows`: of strides; those behind the operands'
 * have no say in order and direction, but follow, and dimensions are merged only where they agree.
 */
int qn_plan_settle(qn_plan *plan, const qn_operand *operands, size_t operand_count, size_t rows,
                   int ndim, bool ordered);
/** Walk every dimension in the direction in which the first output lies, though inputs be walked
 * backwards then: what an output has side by side can be one run only if all of it lies forwards.
 * Dimensions are settled. */
void qn_plan_face(qn_plan *plan, const qn_operand *operands, size_t operand_count, int ndim);
/** Walk dimension `d` of the first `operand_count` operands from its other end. */
void qn_plan_flip(qn_plan *plan, size_t operand_count, int d);
/** Exchange two dimensions of the first `operand_count` operands. */
void qn_plan_swap(qn_plan *plan, size_t operand_count, int a, int b);

/** Elements of a pack whose narrowest operand takes `pack_bytes`, and its widest two accesses. */
uint32_t qn_pack_lanes(const qn_operand *operands, size_t count, uint32_t pack_bytes);
/** Alignment that a pack of this operand needs to be reached in one access or in 16-byte ones. */
static inline uint64_t qn_pack_alignment(const qn_operand *operand, uint32_t lanes)
{
    return QN_MIN((uint64_t)QN_ACCESS_BYTES, (uint64_t)lanes * operand->item_size);
}
/** Elements to skip so that an operand's packs are aligned, or -1 where no number of them does. */
static inline int64_t qn_pack_head(const char *base, const qn_operand *operand, uint32_t lanes)
{
    if (operand->loose) {
        return -1;
    }
    uint64_t off = (uintptr_t)base % qn_pack_alignment(operand, lanes);
    if (off % operand->item_size != 0) {
        return -1;
    }
    return off == 0 ? 0 : (int64_t)((qn_pack_alignment(operand, lanes) - off) / operand->item_size);
}

/** a / b, rounded up. */
static inline int64_t qn_over(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/** The least power of two that is `least` or more, but not above `most`, itself one. */
static inline uint32_t qn_power_of_two(int64_t least, uint32_t most)
{
    uint32_t n = 1;
    while (n < least && n < most) {
        n *= 2;
    }
    return n;
}

static inline int64_t qn_magnitude(int64_t v)
{
    return v < 0 ? -v : v;
}

/** How an output overlaps an input. */
typedef enum qn_overlap { QN_OVERLAP_NONE, QN_OVERLAP_SAME, QN_OVERLAP_PARTIAL } qn_overlap;
/** SAME: every element of one is the same element of the other (same address, size, shape and
 * strides). PARTIAL errs on the safe side: the ranges of addresses meet. */
qn_overlap qn_operands_overlap(const qn_operand *a, const qn_operand *b);

/** "contiguous, 4 elements a thread, 32-bit index": for people. */
void qn_plan_print(qn_text *out, const qn_plan *plan, size_t operand_count);

#endif /* QN_PLAN_H */
