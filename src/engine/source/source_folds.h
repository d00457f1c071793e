/* SPDX-License-Identifier: MIT
 *
 * source_folds: the CUDA source of reductions and scans. In: a call whose fold is planned. Out:
 * text in the holes of their templates. The thing to know: a file for each template fills what only
 * that has; templates/README.md says what each hole is.
 */
#ifndef QN_SOURCE_FOLDS_H
#define QN_SOURCE_FOLDS_H

#include "array/fold_scans.h"
#include "engine/folding.h"
#include "engine/source/source.h"

/* ---- source_fold.c: what reductions and scans share ----------------------------------------- */

/** The holes that both templates have, the first ones of both: the type `_type_reduce` of the
 * values that are combined, the parameters of the kernel, `_in_ind` and `_out_ind`, the inputs of
 * map, map, post, and the offsets `_quern_keptK` of output `_quern_output`. */
#define QN_FOLD_HOLES(X)                                                                           \
    X(VALUE_TYPE, value_type)                                                                      \
    X(PARAMETERS, parameters)                                                                      \
    X(POSITIONS, positions)                                                                        \
    X(INPUTS, inputs)                                                                              \
    X(MAP, map)                                                                                    \
    X(POST, post)                                                                                  \
    X(KEPT, kept)
void qn_source_fold_holes(qn_text *holes, const qn_call *call);
/** One of them alone. */
void qn_source_fold_parameters(qn_text *out, const qn_call *call);
/** Threads of a block, and blocks that a processor should hold: fewer, where threads would have too
 * few registers for what the texts need. */
void qn_source_bounds(qn_text *out, int blocks);
/** The headers that both need. */
#define QN_FOLD_HEADERS (QN_HEADER(QN_HEADER_INDEX) | QN_HEADER(QN_HEADER_FOLD))
/** The first operand that is reached by vector: packs begin where it is aligned. */
uint32_t qn_source_anchor(const qn_call *call);
/** Set `_in_ind` and `_out_ind` for dimension `d` of the fold. */
void qn_source_position_of(qn_text *out, const qn_call *call, int levels, int d, const char *at);
/** True for a reduction by rows or columns that adds up, in 64 bits, what may be narrow integers.
 * Spans and phases have values for 16 lanes already, and no registers for sums beside them: counts
 * of uint8 by phases went from 0.65 of a copy's speed on an H200 to 0.44. */
bool qn_source_adds(const qn_call *call);
/** A text that gives a value, as the body of a function: an expression, or statements. */
void qn_source_function(qn_text *out, const qn_call *call, qn_text_id id);
/** Offsets `_quern_reducedK` of unit `_quern_unit` for the operands [first, end), and
 * `_quern_element` where lanes lie along it. */
void qn_source_reduced(qn_text *out, const qn_call *call, int levels, uint32_t first, uint32_t end);
/** Offsets `PREFIXk` of position `from` of the dimensions [first, last) for the operands
 * [operand, end). */
void qn_source_split(qn_text *out, const qn_call *call, int levels, int first, int last,
                     const char *from, const char *prefix, uint32_t operand, uint32_t end);
/** The element of operand `k` at place `at` of the lane's dimension, as a dereferenced pointer. */
void qn_source_fold_element(qn_text *out, const qn_call *call, uint32_t k, const char *at);
/** How many bytes from the beginning of its array it lies. */
void qn_source_fold_offset(qn_text *out, const qn_call *call, uint32_t k, const char *at);
/** An input's value there, and the end of the statement. */
void qn_source_fold_value(qn_text *out, const qn_call *call, uint32_t k, const char *at);
/** An output's element there as an argument of post, followed by a comma. */
void qn_source_fold_output(qn_text *out, const qn_call *call, uint32_t k, const char *at);
/** The type of `_quern_registerK`. */
void qn_source_register_type(qn_text *out, const qn_call *call, uint32_t k, bool pack);
/** Load `_quern_registerK` of all inputs: packs, or (unless `pack`) single elements. */
void qn_source_load(qn_text *out, const qn_call *call, int levels, const char *at, bool pack);
/** The same of input `k` alone. */
void qn_source_load_input(qn_text *out, const qn_call *call, int levels, uint32_t k, const char *at,
                          bool pack);
/** Outputs of a thread that lie apart: room for where each one's elements begin, and filling that
 * of `_quern_lane` from `_quern_placeK`; then operand `k`'s place of it. */
void qn_source_spots(qn_text *room, qn_text *keep, const qn_call *call);
void qn_source_spot(qn_text *out, const qn_call *call, int levels, uint32_t k);
/** These registers or (if `pack`) their lane `_quern_lane` as arguments, each followed by a
 * comma. */
void qn_source_arguments(qn_text *out, const qn_call *call, bool pack);

/* ---- source_reduction.c --------------------------------------------------------------------- */

/** The holes of all templates of reductions; each has some of them. */
#define QN_REDUCTION_HOLES(X)                                                                      \
    QN_FOLD_HOLES(X)                                                                               \
    X(REDUCE, reduce)                                                                              \
    X(OUTPUTS, outputs)                                                                            \
    X(BOUNDS, bounds)                                                                              \
    X(FORM, form)                                                                                  \
    X(ENDS, ends)                                                                                  \
    X(SPOTS, spots)                                                                                \
    X(KEEP, keep)                                                                                  \
    X(CHOOSES, chooses)                                                                            \
    X(KEYS, keys)                                                                                  \
    X(PAIRS, pairs)                                                                                \
    X(KEY, key)                                                                                    \
    X(MAPPED, mapped)                                                                              \
    X(ADDS, adds)                                                                                  \
    X(EDGED, edged)                                                                                \
    X(ADVANCE, advance)                                                                            \
    X(PACES, paces)                                                                                \
    X(REGISTERS, registers)                                                                        \
    X(LOAD, load)                                                                                  \
    X(RECALL, recall)                                                                              \
    X(POSITION, position)                                                                          \
    X(SPOT, spot)                                                                                  \
    X(LANE, lane)                                                                                  \
    X(ARGUMENTS, arguments)                                                                        \
    X(ELEMENT_REGISTERS, element_registers)                                                        \
    X(LOAD_ELEMENT, load_element)                                                                  \
    X(TAKE_ELEMENT, take_element)                                                                  \
    X(TAKE_LINE_END, take_line_end)                                                                \
    X(FINISH, finish)                                                                              \
    X(GIVERS, givers)                                                                              \
    X(ROOM, room)                                                                                  \
    X(RESULTS, results)                                                                            \
    X(GIVE, give)                                                                                  \
    X(SINGLE_RESULTS, single_results)
quern_status qn_reduction_source(qn_text *out, const qn_call *call, qn_header *headers,
                                 size_t *header_count);

/* ---- source_reduction_positions.c ----------------------------------------------------------- */

/** True for reductions that only choose (src/lang/choice.c), by rows or columns, where the order of
 * positions is known. The other declares what their templates ask for there. */
bool qn_source_chooses(const qn_call *call);
bool qn_source_choice(qn_text *out, const qn_call *call);
/** True where values of such a reduction may be compared by keys. */
bool qn_source_keys(const qn_call *call);
/** 1 where keys are those of bytes and may be compared by two at once (templates/keys.cuh), else 0;
 * and what has the bytes of a turn. */
bool qn_source_pairs(qn_text *is, qn_text *which, const qn_call *call);
/** Where all that matters is whose other field, a `_quern_plain`, is greater, or less: which of the
 * two, `_quern_greatest`; whether of equal ones the last is chosen, `_quern_lasts`; and whether it
 * is plainly so, and numbers are those of an input of bytes, `_quern_bytes`. */
void qn_source_ranks(qn_text *out, const qn_call *call);
/** True where a reduction combines structures, and they may hold positions: elements are then
 * folded by halves (quern::by_halves in templates/fold.cuh). */
bool qn_source_holds_positions(const qn_call *call);
/** The function `_quern_located`, where the walk is reordered. */
void qn_source_located(qn_text *out, const qn_call *call);
/** The position of the only element of unit `_quern_unit`, or 0 where texts use none. */
void qn_source_unit_position(qn_text *out, const qn_call *call);
/** By rows and columns: what is known of unit `_quern_unit`, and from that the position of its
 * element `_quern_lane`. */
void qn_source_unit_base(qn_text *out, const qn_call *call);
void qn_source_lane_position(qn_text *out, const qn_call *call);
/** That of an element that no unit covers, `_quern_element` of a row. */
void qn_source_element_position(qn_text *out, const qn_call *call);

/* ---- source_reduction_workers.c, _whole.c, _apart.c, _spans.c, _phases.c, _search.c, _joined.c */

/** The holes that the template of a kind has of its own. Spans and phases share some, which are
 * filled before. */
void qn_source_workers_holes(qn_text *t, const qn_call *call);
void qn_source_whole_holes(qn_text *t, const qn_call *call);
void qn_source_apart_holes(qn_text *t, const qn_call *call);
void qn_source_spans_holes(qn_text *t, const qn_call *call);
void qn_source_phases_holes(qn_text *t, const qn_call *call);
void qn_source_search_holes(qn_text *t, const qn_call *call);
void qn_source_joined_holes(qn_text *t, const qn_call *call);

/* ---- source_reduction_units.c --------------------------------------------------------------- */

/** The constants of kinds in which blocks may share outputs, and units leave elements over. */
void qn_source_shared_form(qn_text *out, const qn_call *call);
/** Columns of one reduced dimension: bytes from a unit to the worker's next, and where the first
 * lies; in each turn, where its unit lies, and the next. */
void qn_source_unit_paces(qn_text *out, const qn_call *call);
void qn_source_unit_advance(qn_text *out, const qn_call *call);
/** True where packs of input `k` wait as the words that were read. */
bool qn_source_waits_as_words(const qn_call *call, uint32_t k);
/** True where units of columns are words of which the first and the last may reach beyond memory:
 * those are read by elements, before the others. */
bool qn_source_has_edges(const qn_call *call);
/** What a unit of a batch adds to the address of each input. */
void qn_source_unit_offsets(qn_text *out, const qn_call *call);
/** Lined: how many elements of the line at `_quern_reducedK` come before its first unit; the end of
 * a statement. */
void qn_source_line_head(qn_text *out, const qn_call *call);
/** The unit of turn `_quern_turn`, a pack or a single element, from where `_quern_element` is. */
void qn_source_unit_fetch(qn_text *out, const qn_call *call);
/** Room for a batch of units, and where it begins; unit `_quern_unit` into that of `_quern_turn`;
 * and from there as `_quern_registerK`. */
void qn_source_unit_registers(qn_text *out, const qn_call *call);
void qn_source_unit_load(qn_text *out, const qn_call *call);
void qn_source_unit_recall(qn_text *out, const qn_call *call);

/* ---- source_reduction_results.c ------------------------------------------------------------- */

/** The user's identity as `_quern_identity`; and `value` combined with it, where there is one. */
void qn_source_identity(qn_text *out, const qn_call *call);
void qn_source_finish(qn_text *out, const qn_call *call, const char *value);
/** The outputs' elements at `at` as arguments of post. */
void qn_source_fold_outputs(qn_text *out, const qn_call *call, const char *at);
/** Whether all threads of a warp give packs of several words: they may do so together. */
void qn_source_givers(qn_text *out, const qn_call *call);
/** Room for the outputs of a thread that go as packs, with what is there, which post may see; and
 * giving them. */
void qn_source_room_for_results(qn_text *out, const qn_call *call);
void qn_source_give_results(qn_text *out, const qn_call *call);
/** The outputs as arguments of post: of a pack, or (unless `packs`) each by itself. */
void qn_source_results(qn_text *out, const qn_call *call, bool packs);

/* ---- source_scan.c, source_scan_units.c, source_scan_runs.c --------------------------------- */

/** The first holes of all templates of scans: those of folds, the user's operation, what post sees,
 * the value before an output's first element. */
#define QN_SCAN_HOLES(X)                                                                           \
    QN_FOLD_HOLES(X)                                                                               \
    X(SCAN, scan)                                                                                  \
    X(OPERANDS, operands)                                                                          \
    X(INITIAL, initial)
void qn_source_scan_holes(qn_text *holes, const qn_call *call);
quern_status qn_scan_source(qn_text *out, const qn_call *call, qn_header *headers,
                            size_t *header_count);
/** The same for a plan by runs. */
quern_status qn_scan_runs_source(qn_text *out, const qn_call *call, qn_header *headers,
                                 size_t *header_count);
/** How many elements of the first tile lie before a row whose words are aligned: `_quern_skip`. */
void qn_source_row_skip(qn_text *out, const qn_call *call);
/** The inputs that are the same for a whole row, `_quern_sameK`. */
void qn_source_row_same(qn_text *out, const qn_call *call);
/** What a warp of a later tile reads, asked for. */
void qn_source_row_ahead(qn_text *out, const qn_call *call);
/** The inputs of element `_quern_lane`, `_quern_inputK`, of those that `_quern_takenK` has. */
void qn_source_row_take(qn_text *out, const qn_call *call);
/** These as arguments, and the position, that of lane 0 being `_quern_position`. */
void qn_source_row_arguments(qn_text *out, const qn_call *call);
/** Room for outputs, `_quern_resultsK`; and calling post for one element of them. */
void qn_source_row_results(qn_text *out, const qn_call *call);
void qn_source_row_give(qn_text *out, const qn_call *call);
/** The same for an element in memory, at `_quern_position`. */
void qn_source_row_give_one(qn_text *out, const qn_call *call);
/** The constants that most templates of scans are told. */
void qn_source_scan_form(qn_text *out, const qn_call *call);
/** Room for the inputs of a lane's units, `_quern_registerK`. */
void qn_source_scan_registers(qn_text *out, const qn_call *call);
/** Where unit `_quern_unit` lies, for the operands [first, end). */
void qn_source_scan_unit(qn_text *out, const qn_call *call, uint32_t first, uint32_t end);
/** Load the inputs of the unit, wherever it lies; or of one whose place is known. */
void qn_source_scan_load(qn_text *out, const qn_call *call);
void qn_source_scan_read(qn_text *out, const qn_call *call);
/** The same for a unit that is whole, though others of the row are not. */
void qn_source_scan_load_whole(qn_text *out, const qn_call *call);
/** Let the compiler forget what it made of the inputs of a lane's unit. */
void qn_source_scan_renew(qn_text *out, const qn_call *call);
/** Let the inputs of a lane's unit be those of its first. */
void qn_source_scan_repeat(qn_text *out, const qn_call *call);
/** `_in_ind` and `_out_ind` of a lane, where a text uses them. */
void qn_source_scan_lane(qn_text *out, const qn_call *call, int levels);
/** The arguments of map: the lane's elements, and the position. */
void qn_source_scan_arguments(qn_text *out, const qn_call *call);
/** Call post for the unit's values, and store. */
void qn_source_scan_give(qn_text *out, const qn_call *call);
/** Call post for one element, `_quern_lane` of the unit, with inputs that are read again. */
void qn_source_scan_spread(qn_text *out, const qn_call *call);

/** What map is given of a lane's column, in `_quern_registerK` with `member` of it; and post, whose
 * results go to `_quern_resultsK`. `at`: where the lane's element of an output lies in its row. */
void qn_source_scan_lane_arguments(qn_text *out, const qn_call *call, const char *member);
void qn_source_scan_lane_give(qn_text *out, const qn_call *call, const char *member,
                              const char *at);
/** Call post for each lane. Outputs are packs in registers where `packs`, else memory itself. */
void qn_source_scan_post(qn_text *out, const qn_call *call, int levels, bool packs);

/* ---- source_scan_staged.c ------------------------------------------------------------------- */

void qn_source_staged_form(qn_text *out, const qn_call *call);
/** Where outputs are listed: the list, and from it in `kept`, which is what fills it, an output's
 * places. Else nothing. */
void qn_source_staged_list(qn_text *list, qn_text *kept, const qn_call *call);

/* ---- source_scan_held.c --------------------------------------------------------------------- */

/** The same as qn_scan_source for rows whose tiles a block holds. */
quern_status qn_scan_held_source(qn_text *out, const qn_call *call, qn_header *headers,
                                 size_t *header_count);

/* ---- source_scan_apart.c -------------------------------------------------------------------- */

/** The same as qn_scan_source for scans of few elements, several a thread. */
quern_status qn_scan_apart_source(qn_text *out, const qn_call *call, qn_header *headers,
                                  size_t *header_count);

/* ---- source_scan_shelves.c: elements that wait in shared memory ----------------------------- */

/** Writes the address of the element at hand for operand `k` there. */
typedef void qn_shelf_writer(qn_text *out, const qn_call *call, uint32_t k);
/** How many elements a thread takes at once, as many as have registers; the inputs of a batch of
 * them; those of one of these, called `NAMEk`; `_quern_inputK` and its position as arguments of
 * map; what is called `NAMEk` left in the place of outputs. */
int qn_source_shelves_together(const qn_call *call);
void qn_source_shelves_take(qn_text *out, const qn_call *call, qn_shelf_writer *shelf);
void qn_source_shelves_item(qn_text *out, const qn_call *call, const char *name);
void qn_source_shelves_put(qn_text *out, const qn_call *call, qn_shelf_writer *shelf,
                           const char *name);
void qn_source_shelves_arguments(qn_text *out, const qn_call *call);
/** Calls post, and leaves the results there. `at`: which element of the output it is in memory. */
void qn_source_shelves_give(qn_text *out, const qn_call *call, qn_shelf_writer *shelf,
                            const char *at);

/* ---- source_scan_boxed.c -------------------------------------------------------------------- */

/** The same as qn_scan_source for boxes, whose operands lie in different orders. */
quern_status qn_scan_boxed_source(qn_text *out, const qn_call *call, qn_header *headers,
                                  size_t *header_count);

/* ---- source_fold_boxes.c: boxes of scans and of maps ---------------------------------------- */

/** What the plan decides; what all boxes share; what is to be known to find them; where the box at
 * hand lies, and how many positions it has; where the next one does, if a thread finds it for all;
 * its operands in, and back; where scan `_quern_number` begins. */
void qn_source_boxes_form(qn_text *out, const qn_call *call);
void qn_source_boxes_room(qn_text *out, const qn_call *call);
void qn_source_boxes_find(qn_text *out, const qn_call *call);
void qn_source_boxes_site(qn_text *out, const qn_call *call);
void qn_source_boxes_seek(qn_text *out, const qn_call *call);
void qn_source_boxes_fetch(qn_text *out, const qn_call *call);
void qn_source_boxes_keep(qn_text *out, const qn_call *call);
void qn_source_boxes_row(qn_text *out, const qn_call *call);
/** The address of its element `_quern_spot` in shared memory. */
void qn_source_boxes_shelf(qn_text *out, const qn_call *call, uint32_t k);
/** For maps: how many threads share a scan, and how many elements each has; an element. */
void qn_source_map_shares(qn_text *out, const qn_call *call);
void qn_source_map_body(qn_text *out, const qn_call *call);

/* ---- source_fold_images.c: operands of boxes that go by runs -------------------------------- */

/** What all boxes share, and room in shared memory, if operand `k` has its own (`home`: whose it
 * has); the operand's runs in, and back. */
void qn_source_image_room(qn_text *out, const qn_call *call, uint32_t k, uint32_t home);
void qn_source_image_bring(qn_text *out, const qn_call *call, uint32_t k);
void qn_source_image_take(qn_text *out, const qn_call *call, uint32_t k);

/* ---- source_scan_packed.c ------------------------------------------------------------------- */

/** The same as qn_scan_source for rows that a block takes as one run. */
quern_status qn_scan_packed_source(qn_text *out, const qn_call *call, qn_header *headers,
                                   size_t *header_count);

/** True for an input that is the same for all elements of a row, or of all columns. */
static inline bool qn_source_is_same(const qn_call *call, uint32_t k)
{
    return call->fold.form.access[k] == QN_ACCESS_BROADCAST;
}

/* ---- source_scan_swaths.c ------------------------------------------------------------------- */

/** The same as qn_scan_source for columns by swaths. */
quern_status qn_scan_swaths_source(qn_text *out, const qn_call *call, qn_header *headers,
                                   size_t *header_count);

/* ---- source_scan_parts.c -------------------------------------------------------------------- */

/** The same as qn_scan_source for columns by parts of rows. */
quern_status qn_scan_parts_source(qn_text *out, const qn_call *call, qn_header *headers,
                                  size_t *header_count);

/* ---- source_scan_columns.c ------------------------------------------------------------------ */

/** The same as qn_scan_source for columns in strips. */
quern_status qn_scan_columns_source(qn_text *out, const qn_call *call, qn_header *headers,
                                    size_t *header_count);

/* ---- source_scan_strips.c: strips in registers ---------------------------------------------- */

/** Where each operand begins in the thread's strip. */
/** True where a thread goes down columns by the addresses of their positions. */
static inline bool qn_source_goes_down(const qn_fold_form *f)
{
    return (f->strips && !f->lines) || (f->descends && f->reduced == 1);
}
void qn_source_strips_begin(qn_text *out, const qn_call *call);
/** True where the packs of an input wait as words: the compiler would take them apart too early. */
bool qn_source_strips_has_words(const qn_call *call, uint32_t k);
/** What waits, as packs. */
void qn_source_strips_recall(qn_text *out, const qn_call *call);
/** Have the compiler forget what it made of a unit's inputs: values may take more registers. */
void qn_source_strips_renew(qn_text *out, const qn_call *call);
/** The place of a unit for the operands [first, end); outputs then move on. */
void qn_source_strips_unit(qn_text *out, const qn_call *call, int levels, uint32_t first,
                           uint32_t end);

/** Held: what a thread holds of each input; how one of its units comes in, to shared memory
 * ("bring") or to registers ("load"); a batch of them as elements. */
void qn_source_strips_room(qn_text *out, const qn_call *call);
void qn_source_strips_words(qn_text *out, const qn_call *call, const char *function);
void qn_source_strips_taken(qn_text *out, const qn_call *call);

/* ---- source_scan_lines.c: strips in shared memory ------------------------------------------- */

/** Room in shared memory for the lines of a tile. */
void qn_source_lines_shared(qn_text *out, const qn_call *call);
/** Where the tile of each operand lies, and the thread's strip of it in shared memory. */
void qn_source_lines_begin(qn_text *out, const qn_call *call);
/** Bring the inputs in; ask for those of a later tile; take the outputs back. */
void qn_source_lines_fetch(qn_text *out, const qn_call *call);
void qn_source_lines_ahead(qn_text *out, const qn_call *call);
void qn_source_lines_keep(qn_text *out, const qn_call *call);
/** The place of a unit for the operands [first, end): inputs in shared memory, outputs in memory.
 */
void qn_source_lines_unit(qn_text *out, const qn_call *call, int levels, uint32_t first,
                          uint32_t end);
/** Results that wait in shared memory: room for a unit's in registers, and from there. */
void qn_source_lines_results(qn_text *out, const qn_call *call);
void qn_source_lines_put(qn_text *out, const qn_call *call);

#endif /* QN_SOURCE_FOLDS_H */
