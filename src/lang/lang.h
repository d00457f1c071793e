/* SPDX-License-Identifier: MIT
 *
 * lang: from the user's text to a typed definition and to CUDA source.
 *
 *     "T x, raw T y", "T z"  --qn_signature_parse-->  qn_signature  --qn_bind_types-->  qn_types
 *     template + holes       --qn_expand-->           CUDA source
 *
 * Uses base only. Nothing in here knows about devices, arrays or compilers.
 */
#ifndef QN_LANG_H
#define QN_LANG_H

#include "base/base.h"
#include <quern/value.h>

/* ---- dtype.c: the table of element types ---------------------------------------------------- */

typedef enum qn_dtype_kind {
    QN_KIND_BOOL,
    QN_KIND_INT,
    QN_KIND_UINT,
    QN_KIND_FLOAT,
    QN_KIND_COMPLEX,
    QN_KIND_RECORD, /**< a structure: see records.h */
} qn_dtype_kind;

typedef struct qn_dtype_info {
    quern_dtype dtype;
    const char *name;   /**< NumPy's: "float32" */
    const char *c_name; /**< in generated CUDA source: "float", "signed char", "complex<float>" */
    uint32_t size;      /**< bytes */
    uint32_t alignment; /**< bytes; of a number its size */
    qn_dtype_kind kind;
    const char *descr; /**< NumPy's: "<f4", "|b1", "<V2", of a record a list */
    bool packed;       /**< a record with fields that lie off their alignment */
} qn_dtype_info;

/** NULL for what is not a dtype. */
const qn_dtype_info *qn_dtype_find(quern_dtype dtype);
/** By NumPy name, C name (any legal order of words: "long unsigned int"), or fixed-width C name
 * ("int32_t", "size_t", "half"); with any white space between words. NULL if unknown. */
const qn_dtype_info *qn_dtype_parse(qn_str name);

/* ---- record.c: structures as dtypes; records.h has the rest ---------------------------------- */

/** NULL for what is not a record. */
const qn_dtype_info *qn_record_info(quern_dtype dtype);
/** The first record that was made with that name; NULL: there is none. Others may have it too. */
const qn_dtype_info *qn_record_named(qn_str name);

/* ---- suggest.c: "did you mean" -------------------------------------------------------------- */

/** A known name close to a misspelled one ("float31" -> "float32"), or NULL. */
const char *qn_dtype_suggest(qn_str name);
/** The one of `known` that is close to `name`, or NULL. */
const char *qn_name_suggest(qn_str name, const char *const *known, size_t count);

/* ---- scalar.c: scalars of a caller to the dtype of a parameter ------------------------------ */

/** Convert a scalar to the bytes of `to` (16-byte buffer). A value out of the range of `to`,
 * NaN for an integer, and a complex number for a real dtype or bool are QUERN_ERROR_VALUE / _TYPE
 * naming `name`, the parameter. *cut (NULL: of no interest): a fraction was dropped, as that of 0.5
 * for an integer. */
quern_status qn_scalar_convert(void *bytes, quern_dtype to, const quern_value *value, qn_str name,
                               bool *cut);

/** The reverse: the scalar of a dtype whose bytes these are. */
quern_value qn_scalar_value(quern_dtype dtype, const void *bytes);

/* ---- half.c: 16-bit and 8-bit floats on the host, round to nearest even --------------------- */

uint16_t qn_double_to_half(double value); /**< rounds once */
float qn_half_to_float(uint16_t bits);
uint16_t qn_double_to_bfloat16(double value); /**< rounds once */
float qn_bfloat16_to_float(uint16_t bits);
/** One of the two 8-bit floats. Rounds once; what is too large, infinity too, becomes the largest
 * finite number. */
uint8_t qn_double_to_float8(double value, quern_dtype dtype);
float qn_float8_to_float(uint8_t bits, quern_dtype dtype);

/* ---- signature.c: the grammar --------------------------------------------------------------- */

typedef struct qn_parameter {
    qn_str name;
    qn_str type;       /**< as written */
    quern_dtype dtype; /**< QUERN_DTYPE_NONE when the type is a letter */
    int letter;        /**< index into qn_signature.letters, or -1 */
    bool raw;
    bool is_const; /**< written `const`: an output that may only be read is refused */
    bool output;
    uint32_t type_begin, type_end, name_begin, name_end; /**< bytes of its list's text */
} qn_parameter;

typedef struct qn_signature {
    char *in_text, *out_text; /**< copies that the qn_str and positions point into */
    qn_parameter *parameters; /**< inputs, then outputs */
    uint32_t input_count, count;
    char letters[QUERN_MAX_PARAMETERS]; /**< in order of first appearance */
    uint32_t letter_count;
    bool names_records; /**< a type is the name of a record */
} qn_signature;

/** Parse both lists. Everything is allocated in `arena`. Errors: QUERN_ERROR_SIGNATURE with the
 * text named "in" or "out" and the span of the place; a message that says what to write instead.
 * Refused: names that are C++ keywords or reserved (`i`, a leading underscore), unknown types,
 * a name used twice, a letter that is also a parameter's name, more than QUERN_MAX_PARAMETERS. */
quern_status qn_signature_parse(qn_signature *out, qn_arena *arena, const char *in,
                                const char *result);

/* ---- signature_advice.c: what is wrong with a parameter, and what to write instead ---------- */

#define QN_MAX_WORDS 24 /* of one parameter; more are never right */

/** One list of parameters as its messages need it. */
typedef struct qn_list {
    const char *name; /**< "in" or "out" */
    qn_str text;
} qn_list;

/** The words of one parameter: word k is bytes [begin[k], end[k]) of the list's text. */
typedef struct qn_words {
    uint32_t count;
    uint32_t begin[QN_MAX_WORDS], end[QN_MAX_WORDS];
} qn_words;

/** The text from the first byte of word `first` to the end of word `last`. */
qn_str qn_words_text(const qn_list *list, const qn_words *words, uint32_t first, uint32_t last);

/** A type: a single letter or a known dtype. */
bool qn_is_letter(qn_str type);
bool qn_is_type(qn_str type);

/** Each of these records and returns QUERN_ERROR_SIGNATURE. Here, byte `at` belongs to no
 * parameter. */
quern_status qn_advise_character(const qn_list *list, size_t at);
/** Here, fewer than two words follow the qualifiers, from `first` on. */
quern_status qn_advise_missing(const qn_list *list, const qn_words *words, uint32_t first);
/** Here, the words from `first` to the last but one are not a type. */
quern_status qn_advise_type(const qn_list *list, const qn_words *words, uint32_t first);

/* ---- reserved_names.c: what a parameter may not be called ----------------------------------- */

/** Why `name` cannot be a parameter's name, as the end of a sentence, or NULL when it can. */
const char *qn_name_refusal(qn_str name);
/** The same for a word that can name nothing at all in CUDA C++: a keyword, or one of CUDA's
 * own. */
const char *qn_word_refusal(qn_str name);

/* ---- identifiers.c: identifiers in snippets ------------------------------------------------- */

/** True when identifier `name` occurs in C-like `text` outside comments, strings and character
 * constants. */
bool qn_text_uses(const char *text, const char *name);
/** True when it occurs otherwise than as "name.member". */
bool qn_text_uses_beyond(const char *text, const char *name, const char *member);
/** Cut the next identifier off *rest, with what is in front of it; false where there is none. */
bool qn_text_next_name(qn_str *rest, qn_str *name);
/** True when `text` takes the address of identifier `name`, or passes it to an atomic function:
 * "&name" where & is unary. Errs on the side of true. */
bool qn_text_takes_address(const char *text, const char *name);
/** True when `text` declares a reference that it gives something to refer to ("T &name = ...", or
 * with one of ( { : after the name), or, with `parameters`, a parameter that is one. Errs on the
 * side of true. */
bool qn_text_declares_reference(const char *text, bool parameters);
/** True unless `text` surely never assigns to `name`: each of its uses only reads the value.
 * `functions`: there are functions that may take it by reference. Errs on the side of true. */
bool qn_text_may_assign(const char *text, const char *name, bool functions);
/** The first place of identifier `name`, [*begin, *end). False: there is none. */
bool qn_text_finds(const char *text, const char *name, size_t *begin, size_t *end);
/** True when `text` is statements, not an expression: a semicolon outside all brackets, or a
 * statement's keyword or brace in front. */
bool qn_text_is_statements(const char *text);
/** True when `text` has nothing but white space and comments. */
bool qn_text_is_blank(const char *text);

/* ---- counted_loops.c: loops, and where raw arrays are read
 * ------------------------------------------ */

#define QN_MAX_KNOWN 32 /* counters and constants of a text; more are as if they were unknown */

/** How neighbouring elements go through an operation. */
typedef struct qn_loop_facts {
    bool even;   /**< all loops count, as often for each, and raw arrays are read side by side or at
                      places that all have in common; `counts`, if those are scalars */
    bool placed; /**< a raw array is read at, or written to, places that follow the position */
    bool counts[QUERN_MAX_PARAMETERS]; /**< parameters on which counts or places depend */
} qn_loop_facts;

typedef struct qn_loop_texts {
    const char *operation;
    const char *preamble;       /**< functions, whose loops are studied as well, and constants */
    const char *const *options; /**< the compiler's, for constants */
    size_t option_count;
} qn_loop_texts;

/** Study an operation, in which `position` is the name of the element's own. */
void qn_text_study_loops(qn_loop_facts *out, const qn_loop_texts *texts,
                         const qn_signature *signature, const char *position);

/* ---- choice.c: reductions that only choose ------------------------------------------------------
 */

/** A reduction whose values are structures with a position, and whose reduce gives one of its two
 * values, as argmax does. All text is in an arena. */
typedef struct qn_choice {
    const char *field;          /**< of the structure: the position and no more; NULL: no choice */
    const char *first, *second; /**< names of two values, the first with the lower position */
    const char *takes_second;   /**< an expression over them that does not look at positions */
    bool narrow;                /**< the field has 32 bits */
    const char *value;          /**< the other field, if all that matters is whose is greater */
    const char *filled;         /**< what map fills that with: one name, casts and brackets aside */
    bool cast;                  /**< and a cast may be to an unsigned number, or to a narrow one */
} qn_choice;

typedef struct qn_choice_texts {
    const char *map, *reduce, *preamble, *type;
} qn_choice_texts;

/** True if it is one; `position` is the name of the element's own in map. */
bool qn_text_study_choice(qn_choice *out, qn_arena *arena, const qn_choice_texts *texts,
                          const char *position);

/* ---- bind.c: letters to dtypes -------------------------------------------------------------- */

/** What is known of one argument before types are bound. */
typedef struct qn_argument_type {
    enum { QN_ARGUMENT_ABSENT, QN_ARGUMENT_ARRAY, QN_ARGUMENT_LITERAL, QN_ARGUMENT_SCALAR } kind;
    quern_dtype dtype; /**< of the array, the scalar, or the literal's own; NONE when absent */
} qn_argument_type;

/** The types of one call. */
typedef struct qn_types {
    quern_dtype letters[QUERN_MAX_PARAMETERS];    /**< by letter index */
    quern_dtype parameters[QUERN_MAX_PARAMETERS]; /**< by parameter index */
} qn_types;

/** Bind. `arguments` has one entry per parameter; of *out only the letters and parameters that the
 * signature has are written, and when this fails all is zero. Arrays decide their letters (outputs
 * first, then inputs, as in CuPy) and must match exactly; a letter without an array is decided by
 * its scalars: a stated dtype before a literal's, the widest literal kind (bool < int64 < float64 <
 * complex128) otherwise; two stated dtypes that differ clash. Errors: QUERN_ERROR_TYPE with the
 * span of the parameter in the signature, naming both dtypes and the letter; a letter that nothing
 * decides says which argument to pass or which dtype to write. */
quern_status qn_bind_types(qn_types *out, const qn_signature *signature,
                           const qn_argument_type *arguments);

/* ---- expand.c: templates -------------------------------------------------------------------- */

/** One hole of a template and what goes into it. */
typedef struct qn_hole {
    const char *name;
    const char *text; /**< NULL is as good as "" */
} qn_hole;

/** Copy `template_text` to `out`, replacing each `HOLE_name` by its hole's text (which is not
 * expanded again). Of what lies between a line `#if HOLE_name`, whose text is 0 or 1, and `#endif`,
 * one branch is copied. A name without a hole is QUERN_ERROR_INTERNAL. templates/README.md lists
 * the holes. */
quern_status qn_expand(qn_text *out, const char *template_text, const qn_hole *holes,
                       size_t hole_count);

#endif /* QN_LANG_H */
