/* SPDX-License-Identifier: MIT
 *
 * fold: the walk of a reduction or a scan. In: operands over one shape, and which of its axes are
 * reduced. Out: a qn_fold: dimensions that are kept and dimensions that are reduced, each group
 * sorted and merged by itself; how threads and blocks share the work; how elements are reached.
 *
 * The thing to know: a *unit* is what a thread takes at once. With rows it is a pack of elements
 * side by side along the reduced dimensions, and the threads of an output lie along them; with
 * columns it is one reduced position of a pack of outputs side by side, and neighbouring threads
 * have neighbouring outputs. The form decides the code; all else are run-time arguments.
 */
#ifndef QN_FOLD_H
#define QN_FOLD_H

#include "array/plan.h"

#define QN_FOLD_BLOCK       256 /**< threads of a block */
#define QN_FOLD_BLOCK_SHIFT 8   /**< its exponent */
/** Of a line of the cache: runs of memory lie in shared memory as far behind its beginning. */
#define QN_PHASE_BYTES 128

/** Scans in shared memory. */
typedef enum qn_staged {
    QN_STAGED_NOT,
    QN_STAGED_ALONE,    /**< a thread for an output, of few elements */
    QN_STAGED_TOGETHER, /**< several */
} qn_staged;

/** How results of scans along columns go back from tiles of whole lines. */
typedef enum qn_lines_back {
    QN_LINES_DIRECT, /**< each thread writes its own */
    QN_LINES_ROOM,   /**< through room of their own in shared memory */
    QN_LINES_SHARED, /**< the same, but the first output's is that of the first input */
} qn_lines_back;

/** Rows of a reduction with elements that no unit covers. */
typedef enum qn_ragged {
    QN_RAGGED_NOT,
    QN_RAGGED_ALIKE, /**< all rows have the same head */
    QN_RAGGED_EACH,  /**< each row has its own, so that its packs are aligned; of rows of several
                          dimensions each line */
} qn_ragged;

/** Reductions that choose an element by search, by whether positions rise along the walk. */
typedef enum qn_searched {
    QN_SEARCH_NOT,
    QN_SEARCH_RISING,
    QN_SEARCH_ANY,
} qn_searched;

/** What decides the generated code. Compare with memcmp: padding is zero. */
typedef struct qn_fold_form {
    uint8_t kept;    /**< dimensions that are kept; 0: a single output */
    uint8_t reduced; /**< dimensions that are reduced; 0: each output has one element */
    uint8_t lanes;   /**< elements of a unit */
    uint8_t columns; /**< 1: the lanes of a unit lie along the kept dimensions */
    uint8_t split;   /**< 1: several blocks work on one output */
    uint8_t turns;   /**< reduction, rows of few units a thread: so many are read at once; else 0 */
    uint8_t known;   /**< reduction, rows of few units a thread: an output has 1 << (known - 1)
                          threads, and the code says so; spans: outputs of a thread in the end;
                          scan, boxes and packed: elements of a scan, if they are few; else 0 */
    uint8_t wide;    /**< 1: 64-bit index arithmetic */
    uint8_t scan;    /**< 1: outputs have the reduced axes too */
    uint8_t steps;   /**< scan: units that a thread takes at once; held: all of a full tile's */
    uint8_t block;   /**< scan: all warps of a block work on one output */
    uint8_t ragged;  /**< scan: rows may begin or end inside a unit; reduction: qn_ragged */
    uint8_t again;   /**< scan: a tile keeps its inputs, and makes their values twice; boxes: a scan
                          has several threads */
    uint8_t spread;  /**< scan: a warp's values go through shared memory to its outputs; runs:
                         in pieces, and room of their own */
    uint8_t staged;  /**< scan: qn_staged; the elements of a tile wait in shared memory */
    uint8_t lone;    /**< staged: a tile is of one output */
    uint8_t stage_in, stage_out; /**< staged: 1: inputs, outputs are walked across scans first */
    uint8_t line_in, line_out;   /**< staged: 1: those of a tile lie in one line in that order */
    uint8_t listed;   /**< staged: 1: a block works out once where each output of its tile lies */
    uint8_t paced;    /**< staged: 1: threads stay at one place of the rows of a tile */
    uint8_t descends; /**< scan: 1: a thread goes down whole columns of its own */
    uint8_t strips;  /**< scan: columns in strips; 1 << strips tiles make a bunch, as many bunches a
                        bundle; 0: not so */
    uint8_t bundles; /**< strips: 1: there are bundles */
    uint8_t lines;   /**< strips: tiles are of whole lines, in shared memory with room for strips of
                        so  many; 0: they are not */
    uint8_t parts;   /**< strips: tiles are of parts of rows: one more than the columns that a part
                        shares with the next; 0: they are not (fold_parts.c) */
    uint8_t back;    /**< lines, parts, boxes: qn_lines_back */
    uint8_t packed;  /**< scan: 1: tiles are whole rows, one run of memory; `again`: a row has
                        several lanes */
    uint8_t broad;   /**< packed: 1: the lanes of a row are those of several warps */
    uint8_t strewn;  /**< packed: 1: those of a column lie as many threads apart as there are of
                        them; 0: they are neighbours, a power of two */
    uint8_t woven;   /**< packed: 1: scans side by side are columns, whose elements take turns */
    uint8_t gap; /**< packed: a word is left out after 1 << gap bytes of shared memory; 0: none */
    uint8_t pieces; /**< packed, boxes: 1: columns, scans come in pieces of `units` elements */
    uint8_t runs;   /**< scan, rows in tiles: a lane takes so many elements that lie on; else 0 */
    uint8_t held;   /**< scan, rows in tiles, strips: a block holds its tile, and so many of the
                       `steps` of a thread in shared memory; else 0 */
    uint8_t anchor; /**< runs, held: the operand for which words are aligned; past the last: none */
    uint8_t whole;  /**< reduction: a thread takes `lanes` outputs by columns, and of each all
                         elements, so many; 0: it does not */
    uint8_t cut; /**< reduction: 1: the last unit along its dimension lies further back, and shares
                      elements with the one before, whose they are */
    uint8_t spans;  /**< reduction: 1: the lanes of a unit are those of a span (fold_spans.c) */
    uint8_t swath;  /**< scan, columns: 1: a warp has its part of rows that lie at any alignment, in
                         words (fold_swath.c) */
    uint8_t warps;  /**< scan, columns: warps of a block, where there are few for all processors; 0:
                         as many as elsewhere */
    uint8_t apart;  /**< a thread has so many outputs, a block apart (fold_apart.c, `known`: so
                         many elements each; fold_scan_apart.c, which have `steps`) */
    uint8_t phases; /**< reduction: 1: a unit is a pack of each phase of rows (fold_phases.c) */
    uint8_t joined; /**< reduction: by boxes (fold_joined.c), which have so many of the reduced
                         dimensions, the last; `turns`: outputs of a thread; 0: it is not */
    uint8_t search; /**< reduction: qn_searched (fold_search.c) */
    uint8_t turned; /**< search: 1: blocks walk from the end of what they have */
    uint8_t placed; /**< search: dimensions that are one in the walk; they stand behind its last */
    uint8_t boxed;  /**< scan: by boxes (fold_boxes.c) that have several scans along so many kept
                         dimensions, those behind `outer`; 0: it is not */
    uint8_t cuts;   /**< scan, boxes: bit d: the last box along dimension d of these has fewer */
    uint8_t finds;  /**< scan, boxes: 1: a thread for each operand finds for all where they lie */
    uint8_t pool;   /**< boxes: KiB of shared memory for two */
    uint8_t along;  /**< boxes: 1: the threads of an output are neighbours */
    uint8_t outer;  /**< spans, boxes: kept dimensions outside of them; phases: all but the last */
    uint8_t line;   /**< spans: 1: the last reduced dimension is that of a line's spans; boxes: 1:
                         the dimension that is cut is a reduced one */
    uint8_t room;   /**< spans: values that meet in a block: an exponent */
    uint8_t reordered; /**< reduction: 1: positions count in another order than that of the walk */
    int8_t step; /**< reordered: from the position of a lane to that of the next, if 1 or -1; 0;
                      boxes: 1: positions rise along the elements of an output */
    uint8_t access[QUERN_MAX_PARAMETERS]; /**< qn_access by operand, along the lanes */
    uint32_t way[QUERN_MAX_PARAMETERS];   /**< scan, boxes: how an operand lies there:
                                             qn_fold_way_dim, qn_fold_way_runs */
} qn_fold_form;

typedef struct qn_fold {
    qn_fold_form form;
    int64_t outputs;  /**< positions of the kept dimensions */
    int64_t length;   /**< positions of the reduced dimensions */
    int64_t units;    /**< whole units of an output; QN_RAGGED_EACH: so many at least */
    int64_t head;     /**< elements before the first unit; rows of one reduced dimension only;
                         lined: elements of a line that no unit covers; staged, whole: outputs side
                         by side; cut, boxes: elements; packed: those of a lane; held: full
                         tiles; swaths, parts: columns of a row */
    int64_t rest;     /**< elements that no unit covers: the head, and a tail */
    uint32_t workers; /**< threads of a block for an output: a power of two; staged: outputs of a
                         tile; boxes of scans: any number */
    int64_t groups;   /**< blocks side by side over the outputs */
    int64_t splits;   /**< blocks for an output */
    int64_t chunk;    /**< units of a block for an output */
    uint32_t shared;  /**< held, runs, packed: bytes of shared memory that a block has beside what
                         the text says; those of the largest room */
    int64_t across;   /**< spans, boxes: outputs of one; phases: columns of a row; packed: rows that
                         lie on */
    int64_t run; /**< spans: reduced elements of an output that lie side by side in one; boxes: all
                    in one; packed: elements from one of a scan to its next */
    int64_t beside;   /**< spans: packs of one that a block has; phases: blocks for a row; packed:
                         blocks for the rows of the last kept dimension; boxes: threads that have
                         outputs side by side, of scans all boxes; lines, and rows whose tiles ask:
                         elements   from a tile to that whose memory it asks for, 0: none */
    int64_t place;    /**< reordered: the position of the element where the walk starts; packed:
                         elements of a tile, at most */
    double cost;      /**< whole: instructions of a warp for an output of each thread; scan, boxes:
                           those of a thread for an element, 0 if unknown */
    double reach;     /**< reduction: those of a thread to reach the operands, for an element */
    double unit_cost; /**< whole, boxes: the same by units */
    int64_t extent[QUERN_MAX_NDIM]; /**< the kept ones, outermost first, then the reduced ones */
    int64_t stride[QN_ROWS][QUERN_MAX_NDIM]; /**< bytes; [operand][dimension]; behind
        the last, if the texts use positions, what a step adds to them */
    char *base[QUERN_MAX_PARAMETERS];        /**< where the walk starts */
} qn_fold;

/** What is decided of a fold: all that stands in front of its extents. The rest is 17 KB. */
typedef struct qn_fold_decided {
    unsigned char bytes[offsetof(qn_fold, extent)];
} qn_fold_decided;

/** What the kernel's texts, the call and the device ask of the walk. */
typedef struct qn_fold_rules {
    uint32_t axes;  /**< bit k: axis k is reduced */
    bool scan;      /**< outputs have the shape of the inputs */
    bool map;       /**< and each element is by itself */
    bool keepdims;  /**< outputs have the reduced axes, with extent 1 */
    bool counted;   /**< reduction: the texts use positions, which count in C order */
    bool ordered;   /**< values are combined in that order as well */
    bool positions; /**< merge nothing: the texts use positions along axes */
    bool located;   /**< scan: the texts use positions, along axes or not */
    bool loops;     /**< reduction: the texts have loops */
    bool in_turns;  /**< the texts are cheap enough to have the units of a thread read at once */
    uint32_t pack_bytes; /**< as qn_plan_rules.pack_bytes */
    bool by_address;     /**< reduction: an output is no plain value to assign */
    uint32_t processors; /**< of the device */
    uint32_t shared;     /**< bytes of shared memory that a block of the device may have */
    bool compound;       /**< the values that are combined are no plain numbers */
    bool chooses;        /**< reduction: combining two values only chooses one of them */
    bool ranked;         /**< and asks only whose other field is greater */
    bool keyed;          /**< and compares them by keys, a batch at once */
    bool paired;         /**< and two of these at once */
    bool adds_narrow;    /**< reduction: sums of some units are kept in registers of their own */
    bool dear;           /**< reduction: combining two takes a division */
    uint32_t value_size; /**< bytes of the values that are combined, if known, or 0 */
    bool exact;          /**< the order in which values are combined changes no bit */
    bool in_place;       /**< an output is an input */
    bool repeats;        /**< map may be called twice for an element; scan: and post not for
                              elements of outputs in memory */
    qn_setting setting;  /**< what was measured to be better than what follows from the rest */
} qn_fold_rules;

/** Threads of a block. */
static inline uint32_t qn_fold_threads(const qn_fold_form *f)
{
    return f->warps ? f->warps * 32u : QN_FOLD_BLOCK;
}

/** A reduction in which a value of its own for each lane costs much. */
static inline bool qn_fold_is_costly(const qn_fold_rules *rules)
{
    return rules->compound || rules->loops;
}

/** Plan. Operands: inputs, which broadcast to `shape`, then outputs, which have the kept axes. */
void qn_fold_make(qn_fold *fold, const qn_operand *operands, size_t operand_count, int ndim,
                  const int64_t *shape, const qn_fold_rules *rules);

/** The same for a scan. `value_size`: bytes of the values that are combined, if known, or 0. */
void qn_fold_make_scan(qn_fold *fold, const qn_operand *operands, size_t operand_count, int ndim,
                       const int64_t *shape, const qn_fold_rules *rules, uint32_t value_size);

/** The same for a map whose operands lie in different orders, by boxes, where that takes less than
 * `plan`, which is made. False: it does not; the fold is nothing then. */
bool qn_fold_make_map(qn_fold *fold, const qn_plan *plan, const qn_operand *operands,
                      size_t operand_count, int ndim, const int64_t *shape, uint32_t processors,
                      uint32_t shared);

/** The dimension along which lanes lie; -1 where there is none. */
static inline int qn_fold_lane_dim(const qn_fold_form *f)
{
    return f->columns ? f->kept - 1 : (f->reduced == 0 ? -1 : f->kept + f->reduced - 1);
}

/** A reduction by rows of several dimensions, of which each line has its own head. */
static inline bool qn_fold_is_lined(const qn_fold_form *f)
{
    return !f->columns && f->ragged == QN_RAGGED_EACH && f->reduced > 1;
}

/** Units of a line then, wherever it begins. */
static inline int64_t qn_fold_line_units(const qn_fold *fold)
{
    const int64_t lanes = fold->form.lanes;
    return (fold->extent[qn_fold_lane_dim(&fold->form)] - (lanes - 1)) / lanes;
}

/** How many of `count` operands, of which `inputs` are inputs, move along all axes: the inputs or,
 * in a scan, all. */
static inline size_t qn_fold_moving(const qn_fold_form *f, size_t inputs, size_t count)
{
    return f->scan ? count : inputs;
}

/** Packs of outputs that a block handles at once. */
static inline int64_t qn_fold_block_outputs(const qn_fold *fold)
{
    return QN_FOLD_BLOCK / fold->workers;
}

/** The most packs of columns that a tile of a scan has side by side. */
uint32_t qn_fold_tile_width(const qn_fold *fold, const qn_operand *first);

/** "rows of 1000, 4 elements at once, 64 threads an output, 32-bit index": for people. */
void qn_fold_print(qn_text *out, const qn_fold *fold, size_t input_count);
void qn_fold_print_scan(qn_text *out, const qn_fold *fold, size_t operand_count);
void qn_fold_print_map(qn_text *out, const qn_fold *fold, size_t operand_count);

/* ---- fold_dims.c: for both ------------------------------------------------------------------ */

/** One fold on its way. */
typedef struct qn_fold_making {
    qn_fold *fold;
    const qn_operand *operands; /**< as the caller gave them */
    size_t count, inputs;
    const qn_fold_rules *rules;
} qn_fold_making;

/** Begin: clear the form, and count the inputs. */
qn_fold_making qn_fold_begin(qn_fold *fold, const qn_operand *operands, size_t operand_count,
                             const qn_fold_rules *rules);
/** Settle the dimensions. */
void qn_fold_dims(const qn_fold_making *m, int ndim, const int64_t *shape);
/** Packs of outputs, where they lie along the kept dimensions; else outputs. Those of whole rows
 * may be cut at the end of the last kept dimension. */
int64_t qn_fold_packs(const qn_fold *fold);
/** True when the first operand with an opinion is denser along the kept dimensions than along the
 * reduced ones: then columns are walked, else rows. */
bool qn_fold_dense_columns(const qn_fold_making *m);
/** False when positions, with room for a step past the end, and strides fit 32 bits. */
bool qn_fold_needs_wide(const qn_fold_making *m);

/** Bytes of columns that a thread should have under way, if it has registers for no more. */
#define QN_FOLD_COLUMN_BYTES 64

/* ---- fold_access.c: bytes and alignment ----------------------------------------------------- */

/** Scans: true when units are packs, forwards or backwards. */
static inline bool qn_fold_is_pack(uint8_t access)
{
    return access == QN_ACCESS_VECTOR || access == QN_ACCESS_BACK;
}
/** Bytes that a unit reads of all inputs. */
uint32_t qn_fold_unit_bytes(const qn_fold_form *form, const qn_operand *operands, size_t inputs);
/** True when operands `k` and `other` are off the alignment of packs in the same way in every row
 * or column, `k` by whole elements. */
bool qn_fold_off_alike(const qn_fold_making *m, size_t k, size_t other);
/** True when all strides of operand `k` along kept dimensions but that of the lanes, and its first
 * element, are multiples of `alignment`. */
bool qn_fold_begins_aligned(const qn_fold *fold, size_t k, uint32_t alignment);
/** True when all of operand `k`'s rows begin on a multiple of `bytes`. */
bool qn_fold_rows_begin_with(const qn_fold *fold, size_t k, uint32_t bytes);
/** Registers that the inputs of a unit take. */
uint32_t qn_fold_unit_registers(const qn_fold_making *m);
/** How columns give the outputs of a thread: as a pack, in words, or each by itself. */
qn_access qn_fold_output_access(const qn_fold_making *m, size_t k);

/* ---- fold_search.c: for reductions ---------------------------------------------------------- */

/** Blocks that a processor holds. */
#define QN_FOLD_SEARCH_HELD 4
/** Have warps of a planned reduction search what lies on in memory for the best element. */
void qn_fold_take_search(const qn_fold_making *m);

/* ---- fold_whole.c: for reductions ----------------------------------------------------------- */

/** Bytes of the widest words that `bytes` are whole ones of. */
static inline uint32_t qn_fold_run_word(uint32_t bytes)
{
    return QN_MIN(bytes & -bytes, QN_ACCESS_BYTES);
}
/** Have threads of a planned reduction take several short rows whole, where that costs less. */
void qn_fold_take_whole(const qn_fold_making *m);

/* ---- fold_apart.c: for reductions ----------------------------------------------------------- */

/** Have threads of a planned reduction take several outputs of few elements, a block apart. */
void qn_fold_take_apart(const qn_fold_making *m);

/* ---- fold_phases.c: for reductions ---------------------------------------------------------- */

/** Have threads of a planned reduction by columns stay with rows that are off the alignment alike,
 * where packs are not aligned in all of them. */
void qn_fold_take_phases(const qn_fold_making *m);

/* ---- fold_joined.c, fold_joined_cost.c: for reductions -------------------------------------- */

/** How boxes would be. */
typedef struct qn_fold_joining {
    int dims[QUERN_MAX_NDIM]; /**< inside, innermost in memory first; the last one is cut */
    int count;                /**< of these; 0: there are no boxes */
    int64_t slices;           /**< of the cut, that a box has */
    int64_t outputs, length;  /**< of a box, and elements of each there */
    int64_t bytes[QUERN_MAX_PARAMETERS]; /**< of each input */
    int64_t beside, workers, each; /**< threads side by side, of an output; outputs of a thread */
    int64_t units, groups;         /**< boxes with the same outputs; such sets of them */
    int64_t pool;
    bool along;
    double cost;
} qn_fold_joining;

/** Have blocks of a planned reduction take boxes of memory, where that costs less. */
void qn_fold_take_joined(const qn_fold_making *m);
/** What an element costs so, and in which order threads have outputs and elements. */
void qn_fold_joined_cost(const qn_fold_making *m, qn_fold_joining *j);
/** The same of a plan by units, or of outputs apart. */
double qn_fold_units_cost(const qn_fold_making *m);
/** Blocks that a processor holds. `each`: outputs of a thread; `pool`: KiB. */
static inline int qn_fold_joined_held(uint32_t each, uint32_t pool)
{
    return (int)QN_MIN(each > 1 ? 4 : 6, 220 / (pool + 1));
}
/** Bytes of the values that blocks leave for each other. `value_size`: of one, if known, or 0. */
int64_t qn_fold_joined_left(const qn_fold *fold, uint32_t value_size);

/* ---- fold_fit.c: for reductions by rows or columns ------------------------------------------- */

/** Units of a thread: with fewer, more threads or blocks cost more to combine than they gain. */
#define QN_FOLD_LEAST_UNITS 4
/** The most blocks that may share an output, by that. */
int64_t qn_fold_most_splits(const qn_fold *fold);
/** Let about so many blocks share an output: `splits` and `chunk`. */
void qn_fold_share(qn_fold *fold, int64_t splits);
/** Share outputs out to as many blocks as `processors` hold at once, each `blocks` of them, or to a
 * few times as many, if they are not `light` ones (qn_fold_is_light()). */
void qn_fold_fit(qn_fold *fold, uint32_t processors, uint32_t blocks, bool light);

/* ---- fold_threads.c: for reductions --------------------------------------------------------- */

/** Choose `workers`, `splits` and the blocks, and the units that a thread reads at once. */
void qn_fold_choose_threads(const qn_fold_making *m);
/** Packs that a thread reads at once by spans and phases. */
uint8_t qn_fold_pack_turns(const qn_fold_making *m);
/** True for columns whose values leave a thread registers for more units at once. `value_size`: of
 * a value, if known, or 0. */
bool qn_fold_is_light(const qn_fold_form *form, uint32_t value_size);
/** Blocks of such threads that a processor holds. */
#define QN_FOLD_LIGHT_BLOCKS 3

/* ---- fold_reach.c: for reductions ----------------------------------------------------------- */

/** Count what reaching the operands of a planned reduction costs. */
void qn_fold_count_reach(const qn_fold_making *m);

/* ---- fold_spans.c: for reductions ----------------------------------------------------------- */

/** Have threads of a planned reduction go over spans of memory, where other units are small. */
void qn_fold_take_spans(const qn_fold_making *m);
/** Blocks that a processor holds: more where the values take few registers. `value_size`: their
 * bytes, if known, or 0. */
static inline int qn_fold_spans_held(uint32_t lanes, uint32_t value_size)
{
    if (value_size == 0) {
        return lanes > 8 ? 2 : 3;
    }
    return lanes * value_size <= 32 ? 4 : 3;
}
/** How many threads of a block an output of a span has in the end, of one warp: the exponent. */
int qn_fold_span_meeting(const qn_fold *fold);

#endif /* QN_FOLD_H */
