/* SPDX-License-Identifier: MIT
 *
 * source: the pieces of a kernel's source, by file. Each function writes the text of one hole, or a
 * part of one, for the plan of a call.
 */
#ifndef QN_SOURCE_H
#define QN_SOURCE_H

#include "engine/engine_internal.h"

/* ---- source.c: what all kinds share --------------------------------------------------------- */

/** Our own device headers that generated sources include, each only where it is used: the first of
 * qn_device_headers(). */
typedef enum qn_header_id {
    QN_HEADER_TYPES,
    QN_HEADER_LAYOUT,
    QN_HEADER_INDEX,
    QN_HEADER_PACK,
    QN_HEADER_WORDS,
    QN_HEADER_SQUARE,
    QN_HEADER_BOX,
    QN_HEADER_FREIGHT,
    QN_HEADER_RAW,
    QN_HEADER_RAW_CHECKED,
    QN_HEADER_CARRAY,
    QN_HEADER_CONSTANTS,
    QN_HEADER_REACH,
    QN_HEADER_BOOL,
    QN_HEADER_HALF,
    QN_HEADER_FLOAT8,
    QN_HEADER_RECORD,
    QN_HEADER_COMPLEX,
    QN_HEADER_COMPLEX_MATH,
    QN_HEADER_COMPLEX_EXP,
    QN_HEADER_COMPLEX_LOG,
    QN_HEADER_COMPLEX_POW,
    QN_HEADER_COMPLEX_INVERSE,
    QN_HEADER_THRUST,
    QN_HEADER_MINMAX,
    QN_HEADER_ATOMIC,
    QN_HEADER_MATH,
    QN_HEADER_FLOOR_DIVIDE,
    QN_HEADER_NEXTAFTER,
    QN_HEADER_FOLD,
    QN_HEADER_KEYS,
    QN_HEADER_SCAN,
    QN_HEADER_RUNS,
    QN_HEADER_STOCK,
    QN_HEADER_SWATH,
    QN_HEADER_PARTS,
    QN_HEADER_STAGE,
    QN_HEADER_LINES,
    QN_HEADER_SITE,
    QN_HEADER_IMAGE,
    QN_HEADER_PACKED,
    QN_HEADER_STRIPS,
    QN_HEADER_COUNT
} qn_header_id;

/** A set of these. */
typedef uint64_t qn_header_set;
#define QN_HEADER(id) ((qn_header_set)1 << (id))

/** A template's holes are one list of rows X(ID, name), of which these make their indices and their
 * names. */
#define QN_HOLE_ID(id, name)   id,
#define QN_HOLE_NAME(id, name) #name,

/** Holes that a template may have besides the common ones: includes, types, preamble and name. */
#define QN_TEMPLATE_HOLES 44

/** A template and what goes into these. */
typedef struct qn_source_template {
    const char *text;
    const char *const *hole_names;
    qn_text *holes; /**< freed by qn_source_expand() */
    size_t hole_count;
    qn_header_set headers; /**< a set of qn_header_id that the template itself needs */
} qn_source_template;

quern_status qn_source_expand(qn_text *out, const qn_call *call, const qn_source_template *template,
                              qn_header *headers, size_t *header_count);
/** The user's text under its own name, so that messages speak of its lines; nothing if empty. What
 * follows it is called after it: reports leave out places in angle brackets. */
void qn_source_user(qn_text *out, const qn_call *call, qn_text_id id);
/** The same, followed by `close` on a line that counts as the text's own, one past its last, so
 * that the compiler points there at what the text lacks. Written for an empty text too. */
void qn_source_closed(qn_text *out, const qn_call *call, qn_text_id id, const char *close);
/** The same of a part of it, from `text` on. */
void qn_source_closed_text(qn_text *out, const qn_call *call, qn_text_id id, const char *text,
                           const char *close);
/** The type of positions. */
const char *qn_source_index(bool wide);
/** That type as `_quern_index`, and the constants of a form, which select parts of a template. */
void qn_source_index_type(qn_text *out, bool wide);
void qn_source_number(qn_text *out, const char *name, int value);
void qn_source_flag(qn_text *out, const char *name, bool value);
/** The C++ name of a parameter's type. */
const char *qn_source_type(const qn_call *call, uint32_t parameter);
/** The parameters of the signature as those of the kernel, each followed by a comma. */
void qn_source_parameters(qn_text *out, const qn_call *call, bool restricted);
/** The plain type of so many bytes: 1, 2, 4, 8 or 16. */
const char *qn_source_word(uint32_t bytes);
/** Write what stands before, and behind, the address of an element of operand `k`, to make it the
 * element: an access that is as wide as the operand's alignment allows. */
void qn_source_place_begin(qn_text *out, const qn_call *call, uint32_t k);
void qn_source_place_end(qn_text *out, const qn_call *call, uint32_t k);
/** Operand `k`'s elements are bools. */
bool qn_source_is_bool(const qn_call *call, uint32_t k);
/** The type that holds an element of operand `k` while it waits: of truth values, bytes. */
const char *qn_source_held_type(const qn_call *call, uint32_t k);
/** Write what goes before, and after, operand `k`'s element in memory where its value is read: a
 * bool is true if its byte is anything but 0. */
void qn_source_read_begin(qn_text *out, const qn_call *call, uint32_t k);
void qn_source_read_end(qn_text *out, const qn_call *call, uint32_t k);
/** Operands as parameters of a lambda, by the user's names, each followed by a comma. */
void qn_source_operands(qn_text *out, const qn_call *call, uint32_t first, uint32_t count);

/** Begin a line, indented as its block is. */
void qn_source_indent(qn_text *out, int levels);

/* ---- source_names.c: what CuPy's texts call by names of theirs ------------------------------ */

/** The lines that give functions of complex numbers Thrust's names, where the texts use them. */
void qn_source_thrust(qn_text *out, const quern_kernel *kernel);
/** `_in_ind` and `_out_ind` as objects that know as much as the texts ask: the type, of `ndim`
 * axes. */
void qn_source_indexer(qn_text *out, const qn_call *call, int ndim);
/* ---- source_records.c ----------------------------------------------------------------------- */

/** True when a parameter of the call is a record. */
bool qn_source_has_records(const qn_call *call);
/** The definitions of the call's records, those of their fields first, each in its namespace, and
 * the names that the signature uses. */
void qn_source_records(qn_text *out, const qn_call *call);
/** What the definitions need: a set of QN_RECORD_. */
unsigned qn_source_record_needs(const qn_call *call);
/** Add the definitions that users wrote to the texts of a kernel, for messages; at most `room` in
 * all. Returns how many there are. */
size_t qn_source_record_texts(qn_user_text *texts, size_t count, size_t room, const qn_call *call);
/** The register that holds a pack of operand `k`: "quern::pack" or, of records, "quern::bundle". */
const char *qn_source_pack(const qn_call *call, uint32_t k);

/* ---- source_math.c -------------------------------------------------------------------------- */

/** The lines that overload the mathematical functions which the texts name; false: none. */
bool qn_source_math(qn_text *out, const quern_kernel *kernel);
/** True for the name of such a function. */
bool qn_is_math(const char *name);

/* ---- source_elementwise.c ------------------------------------------------------------------- */

/** There are elements before the first pack, or after the last. */
bool qn_source_is_ragged(const qn_call *call);
quern_status qn_elementwise_source(qn_text *out, const qn_call *call, qn_header *headers,
                                   size_t *header_count);

/* ---- source_reach.c ------------------------------------------------------------------------- */

/** The type of offsets of rows. */
const char *qn_source_offset(const qn_call *call);
/** The offsets `PREFIXk` of every operand k for the dimensions [0, dims), whose joint position is
 * in `_quern_outer`. */
void qn_source_outer(qn_text *out, const qn_call *call, int dims, const char *prefix);
/** What the outer dimensions add to the address of each operand: `_quern_offsetK`. */
void qn_source_offsets(qn_text *out, const qn_call *call);

/** How an element is reached: at `at` of the row, or on `_quern_lane` of the pack that begins
 * there, or where a turn has kept its offset. */
typedef enum qn_reach { QN_REACH_PLAIN, QN_REACH_LANE, QN_REACH_KEPT } qn_reach;

/** Where element `at` of the row lies from the operand's first, in bytes, in the type of offsets.
 */
void qn_source_reach_offset(qn_text *out, const qn_call *call, uint32_t k, const char *at);
/** Operand `k`'s element, as a dereferenced pointer. */
void qn_source_reach(qn_text *out, const qn_call *call, uint32_t k, const char *at, qn_reach how);
/** In boxes: the operand whose table says where shared memory has operand `k`'s elements, the first
 * with elements of that size. */
uint32_t qn_source_box_slot(const qn_call *call, uint32_t k);

/* ---- source_walk.c -------------------------------------------------------------------------- */

/** One element at `at` of its row: copies in, the operation, copies of the outputs back. */
void qn_source_element(qn_text *out, const qn_call *call, int levels, const char *at);

/** The parts of that: `_quern_valueK`, the value of operand `k` at `at`; the operation on values
 * and copies of the outputs back. */
void qn_source_load_one(qn_text *out, const qn_call *call, int levels, uint32_t k, const char *at);
void qn_source_operate(qn_text *out, const qn_call *call, int levels, const char *at);
/** The operation alone, on `_quern_valueK`. */
void qn_source_invoke(qn_text *out, const qn_call *call, int levels, const char *at);

void qn_source_body(qn_text *out, const qn_call *call);
/** A pack in registers: its operands, the operation, and the outputs back. */
void qn_source_in_packs(qn_text *out, const qn_call *call, int levels);
/** For elements in turns: room for their values, where one lies, its operands read; what of where
 * it lies the operation needs again; the rest. */
void qn_source_turn_values(qn_text *out, const qn_call *call);
void qn_source_turn_place(qn_text *out, const qn_call *call);
void qn_source_turn_again(qn_text *out, const qn_call *call);
void qn_source_turn_fetch(qn_text *out, const qn_call *call);
void qn_source_turn_body(qn_text *out, const qn_call *call);

/** By rows: where they begin, and the values that rows share; the head of one; room for packs;
 * these read; the operation on them, and its results written. */
void qn_source_row_lines(qn_text *out, const qn_call *call);
void qn_source_row_aligned(qn_text *out, const qn_call *call);
void qn_source_row_values(qn_text *out, const qn_call *call);
void qn_source_row_fetch(qn_text *out, const qn_call *call);
void qn_source_row_body(qn_text *out, const qn_call *call);

/* ---- source_early.c ------------------------------------------------------------------------ */

/** Ask for the sectors of the output that the element or pack at `_quern_element` writes in part.
 */
void qn_source_early(qn_text *out, const qn_call *call, int levels);
/** By rows: for those at both ends of the row. */
void qn_source_early_row(qn_text *out, const qn_call *call);

/* ---- source_flat.c -------------------------------------------------------------------------- */

/** Where `_quern_element` of the flat walk lies in each strided operand; their packs read. */
void qn_source_flat_place(qn_text *out, const qn_call *call);
void qn_source_flat_fetch(qn_text *out, const qn_call *call);
/** In phases: how far the turns of counted operands lie apart, and room for them. */
void qn_source_phase_values(qn_text *out, const qn_call *call);

/* ---- source_slabs.c ------------------------------------------------------------------------- */

/** Room for a list of where slabs lie; where the thread's place lies in a slab of each operand;
 * where slab `_quern_pack` lies, put into the list; where the thread's place in it does.
 */
void qn_source_slab_shared(qn_text *out, const qn_call *call);
void qn_source_slab_offsets(qn_text *out, const qn_call *call);
void qn_source_slab_inside(qn_text *out, const qn_call *call);
void qn_source_slab_place(qn_text *out, const qn_call *call);

/* ---- source_thin.c -------------------------------------------------------------------------- */

/** Where the rows of a thread lie in each operand; all of them worked on; one element,
 * `_quern_place` of row `_quern_at`. */
void qn_source_thin_offsets(qn_text *out, const qn_call *call);
void qn_source_thin_body(qn_text *out, const qn_call *call);
void qn_source_thin_single(qn_text *out, const qn_call *call);

/* ---- source_tiled.c ------------------------------------------------------------------------- */

void qn_source_tile_shared(qn_text *out, const qn_call *call);
void qn_source_tile_offsets(qn_text *out, const qn_call *call);
void qn_source_tile_aligned(qn_text *out, const qn_call *call);
void qn_source_tile_fetch(qn_text *out, const qn_call *call);
void qn_source_tile_body(qn_text *out, const qn_call *call);
/** Where a line of a tile lies in the operands that are not tiled. */
void qn_source_tile_lines(qn_text *out, const qn_call *call);

/* ---- source_tiled_packs.c ------------------------------------------------------------------- */

void qn_source_square_shared(qn_text *out, const qn_call *call);
/** Room for squares of each tiled operand; one read, and put into shared memory; the operation on a
 * pack. */
void qn_source_square_room(qn_text *out, const qn_call *call);
void qn_source_square_fetch(qn_text *out, const qn_call *call);
void qn_source_square_give(qn_text *out, const qn_call *call);
void qn_source_square_body(qn_text *out, const qn_call *call);
/** Room for single elements; one read, and put into shared memory; the operation on one. */
void qn_source_square_values(qn_text *out, const qn_call *call);
void qn_source_square_place(qn_text *out, const qn_call *call);
void qn_source_square_keep(qn_text *out, const qn_call *call);
void qn_source_square_single(qn_text *out, const qn_call *call);

/* ---- source_boxed.c ------------------------------------------------------------------------- */

/** How many elements the last box has along a cut. */
const char *qn_source_box_last(int cut);
void qn_source_box_shared(qn_text *out, const qn_call *call);
/** Room for where a thread's elements lie in a box; where one is fetched, and where it is given. */
void qn_source_box_values(qn_text *out, const qn_call *call);
void qn_source_box_fetched(qn_text *out, const qn_call *call);
void qn_source_box_given(qn_text *out, const qn_call *call);
/** Where a box lies; reads of the tiled operands, and of the others; what is read put into shared
 * memory, and taken from it; the operation. */
void qn_source_box_offsets(qn_text *out, const qn_call *call);
void qn_source_box_fetch(qn_text *out, const qn_call *call);
void qn_source_box_read(qn_text *out, const qn_call *call);
void qn_source_box_keep(qn_text *out, const qn_call *call);
void qn_source_box_take(qn_text *out, const qn_call *call);
void qn_source_box_body(qn_text *out, const qn_call *call);

/* ---- source_boxed_runs.c -------------------------------------------------------------------- */

/** An input that goes through shared memory; the output, of which there is one. */
bool qn_source_runs_fetched(const qn_call *call, uint32_t k);
uint32_t qn_source_runs_output(const qn_call *call);
/** Write an extent of the walk. */
void qn_source_runs_extent(qn_text *out, const qn_call *call, int d);
/** Elements along dimension `d` by which boxes begin early. */
int qn_source_runs_slack(const qn_call *call, int d);
/** What a box has of each operand; the tables of that in shared memory; these filled. */
void qn_source_runs_sizes(qn_text *out, const qn_call *call);
void qn_source_runs_pool(qn_text *out, const qn_call *call);
void qn_source_runs_place(qn_text *out, const qn_call *call);

/* ---- source_boxed_words.c -------------------------------------------------------------------- */

/** Threads and blocks, as __launch_bounds__ has them; shared memory; where a thread's words and
 * packs lie in a box; where a box lies; its words read; packs of the other operands read; words put
 * into shared memory; the operation. */
void qn_source_words_bounds(qn_text *out, const qn_call *call);
void qn_source_words_shared(qn_text *out, const qn_call *call);
void qn_source_words_place(qn_text *out, const qn_call *call);
void qn_source_words_given(qn_text *out, const qn_call *call);
void qn_source_words_offsets(qn_text *out, const qn_call *call);
void qn_source_words_fetch(qn_text *out, const qn_call *call);
void qn_source_words_read(qn_text *out, const qn_call *call);
void qn_source_words_keep(qn_text *out, const qn_call *call);
void qn_source_words_body(qn_text *out, const qn_call *call);

/* ---- source_runs_body.c --------------------------------------------------------------------- */

/** Where a box lies; the same for a thread; its inputs fetched; the operation on its elements. */
void qn_source_runs_offsets(qn_text *out, const qn_call *call);
void qn_source_runs_boxes(qn_text *out, const qn_call *call);
void qn_source_runs_fetch(qn_text *out, const qn_call *call);
void qn_source_runs_body(qn_text *out, const qn_call *call);

#endif /* QN_SOURCE_H */
