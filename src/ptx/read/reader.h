/* SPDX-License-Identifier: MIT
 *
 * reader: the declarations that the PTX reader's own files share. The text is read once, with one
 * token of lookahead; every name is interned, and the interned name points to its current meaning.
 *
 *     lex.c          text -> tokens               parse_module.c    directives, functions
 *     scopes.c       names, scopes, words         parse_variable.c  types and declarations
 *     globals.c      initial values, placement    parse_body.c      statements, labels
 *     locations.c    .loc, .file, .debug_str      parse_operand.c   operands
 *     read_module.c  the whole                    parse_constant.c  expressions of constants
 *     flow.c         basic blocks and edges       liveness.c        spans of registers
 *     loops.c        which blocks form loops      layout.c, slots.c as ptx.h says
 *
 * Everything that outlives the reading is in the module's arena, the rest in the reader's.
 */
#ifndef QN_PTX_READER_H
#define QN_PTX_READER_H

#include "ptx/ptx.h"

/* Limits, so that a hostile text ends in an error message and not in a full machine. */
#define QN_PTX_DEPTH       64           /**< nesting of braces, scopes and parentheses */
#define QN_PTX_REGISTERS   (1u << 20)   /**< of one function, only those that it uses */
#define QN_PTX_TEXT        (1u << 30)   /**< bytes of PTX */
#define QN_PTX_MEMORY      (1ull << 30) /**< bytes of global or local memory that a module declares */
#define QN_PTX_PARAM_BYTES (1u << 20)   /**< bytes of one function's parameters */

/* ---- scopes.c: names, scopes, words --------------------------------------------------------- */

/* Directives that the reader acts upon; others are accepted and skipped. */
#define QN_PTX_WORDS(X)                                                                            \
    X(VERSION, ".version")                                                                         \
    X(TARGET, ".target")                                                                           \
    X(ADDRESS_SIZE, ".address_size")                                                               \
    X(FILE, ".file")                                                                               \
    X(LOC, ".loc")                                                                                 \
    X(SECTION, ".section")                                                                         \
    X(DEBUG_STR, ".debug_str")                                                                     \
    X(ENTRY, ".entry")                                                                             \
    X(FUNC, ".func")                                                                               \
    X(ALIAS, ".alias")                                                                             \
    X(VISIBLE, ".visible")                                                                         \
    X(EXTERN, ".extern")                                                                           \
    X(WEAK, ".weak")                                                                               \
    X(COMMON, ".common")                                                                           \
    X(PRAGMA, ".pragma")                                                                           \
    X(REG, ".reg")                                                                                 \
    X(GLOBAL, ".global")                                                                           \
    X(CONST, ".const")                                                                             \
    X(SHARED, ".shared")                                                                           \
    X(LOCAL, ".local")                                                                             \
    X(PARAM, ".param")                                                                             \
    X(ALIGN, ".align")                                                                             \
    X(PTR, ".ptr")                                                                                 \
    X(ATTRIBUTE, ".attribute")                                                                     \
    X(V2, ".v2")                                                                                   \
    X(V4, ".v4")                                                                                   \
    X(V8, ".v8")                                                                                   \
    X(MAXNTID, ".maxntid")                                                                         \
    X(REQNTID, ".reqntid")                                                                         \
    X(BRANCHTARGETS, ".branchtargets")                                                             \
    X(CALLTARGETS, ".calltargets")                                                                 \
    X(CALLPROTOTYPE, ".callprototype")                                                             \
    X(FUNCTION_NAME, "function_name")                                                              \
    X(INLINED_AT, "inlined_at")                                                                    \
    X(GENERIC, "generic")                                                                          \
    X(WARP_SZ, "WARP_SZ")                                                                          \
    X(SINK, "_")

typedef enum qn_ptx_word {
    QN_WORD_NONE,
#define QN_WORD_ENUM(name, text) QN_WORD_##name,
    QN_PTX_WORDS(QN_WORD_ENUM)
#undef QN_WORD_ENUM
} qn_ptx_word;

typedef struct qn_name qn_name;

typedef enum qn_entity_kind {
    QN_ENTITY_REGISTER,
    QN_ENTITY_RANGE, /**< `%r<45>`: registers made when they are first used */
    QN_ENTITY_SYMBOL,
    QN_ENTITY_LABEL,
    QN_ENTITY_TARGETS, /**< also prototypes */
} qn_entity_kind;

/** What a name means in a scope. */
typedef struct qn_entity {
    qn_entity_kind kind;
    uint32_t depth; /**< 0 module, 1 function, 2.. nested */
    qn_name *name;
    struct qn_entity *shadowed; /**< what the name means outside */
    struct qn_entity *next;     /**< of the same scope */
    uint32_t index;   /**< register, instruction of a label, targets (UINT32_MAX: other) */
    uint32_t count;   /**< of a range */
    qn_ptx_type type; /**< of a range */
    qn_ptx_symbol *symbol;
} qn_entity;

struct qn_name {
    const char *text; /**< in the module's arena */
    uint32_t length, hash;
    uint8_t word;
    int8_t definitions;       /**< of an opcode; -1: not looked up yet */
    const char *debug_string; /**< of a label in .debug_str */
    qn_entity *entity;
};

typedef struct qn_names {
    qn_name **table;
    uint32_t capacity, count; /**< capacity: a power of two */
} qn_names;

/** A label that an operand or a targets list mentions, bound when its scope ends. */
typedef struct qn_pending {
    qn_name *name;
    qn_ptx_operand *operand; /**< or NULL: for `*target` */
    uint32_t *target;
    uint32_t line;
    uint8_t flow; /**< qn_flow_kind of the instruction: a branch goes to a label only */
} qn_pending;

/** An operand while its instruction is read. */
typedef struct qn_reading {
    qn_ptx_operand operand;
    qn_name *unbound; /**< a name that is not declared yet: usually a label */
} qn_reading;

/* ---- the reader ----------------------------------------------------------------------------- */

typedef enum qn_token_kind {
    QN_TOKEN_END,
    QN_TOKEN_NAME,      /**< name */
    QN_TOKEN_DIRECTIVE, /**< name, with its dot */
    QN_TOKEN_INTEGER,   /**< bits */
    QN_TOKEN_FLOAT,     /**< bits, float_bits */
    QN_TOKEN_STRING,    /**< begin, length without the quotes */
    QN_TOKEN_MARK,      /**< mark: one character */
} qn_token_kind;

typedef struct qn_token {
    qn_token_kind kind;
    char mark;
    uint8_t float_bits;
    uint32_t line;
    const char *begin; /**< in the text */
    uint32_t length;
    qn_name *name;
    uint64_t bits;
} qn_token;

/** A variable as it is declared: the symbol and where its initial value stands. */
typedef struct qn_variable {
    qn_ptx_symbol symbol; /**< first: a symbol of a memory space is a qn_variable */
    const char *initial;  /**< in the text; NULL: zero */
    uint32_t initial_line;
    bool names_others; /**< its initial value mentions names */
    bool used, placed;
} qn_variable;

/** A location whose names are not known yet. */
typedef struct qn_located {
    qn_ptx_location location;
    uint32_t file;
    qn_name *function; /**< label in .debug_str */
} qn_located;

typedef struct qn_reader {
    qn_ptx_module *module;
    const char *text, *end, *at;
    uint32_t line;
    qn_token token; /**< the one looked at */
    qn_names names;
    qn_arena arena; /**< entities and the like */
    uint32_t depth;
    qn_entity *scopes[QN_PTX_DEPTH]; /**< what each open scope declares */
    qn_entity *spare;
    QN_LIST(qn_ptx_function *) functions;
    QN_LIST(qn_ptx_symbol *) symbols;
    QN_LIST(qn_variable *) used; /**< global and constant variables that take memory */
    QN_LIST(qn_located) locations;
    uint32_t *location_table; /**< by place: the last location there; 0: none */
    uint32_t location_capacity;
    QN_LIST(const char *) files; /**< by number */
    uint32_t location;           /**< current */
    /* the function being read */
    qn_ptx_function *function;
    uint32_t instruction_line;
    uint8_t instruction_flow; /**< qn_flow_kind */
    bool instruction_calls;
    bool ranges_shadowed; /**< a range was declared in a nested scope */
    QN_LIST(qn_ptx_register) registers;
    QN_LIST(qn_ptx_instruction) instructions;
    QN_LIST(qn_reading) operands; /**< stack of those being read */
    QN_LIST(qn_pending) pending;
    QN_LIST(qn_ptx_targets) targets;
    uint32_t nesting; /**< of operands */
} qn_reader;

/* lex.c */
/** Read the next token into reader->token. */
quern_status qn_ptx_next(qn_reader *reader);
/** Fail at the current token: "expected WHAT". */
quern_status qn_ptx_expected(qn_reader *reader, const char *what);
/** Fail at the current token with a sentence. */
quern_status qn_ptx_error(qn_reader *reader, const char *format, ...) QN_PRINTF(2, 3);
/** Fail at a line. */
quern_status qn_ptx_error_line(qn_reader *reader, uint32_t line, const char *format, ...)
    QN_PRINTF(3, 4);
quern_status qn_ptx_memory(void);
static inline bool qn_ptx_is(const qn_reader *reader, char mark)
{
    return reader->token.kind == QN_TOKEN_MARK && reader->token.mark == mark;
}
static inline bool qn_ptx_is_word(const qn_reader *reader, qn_ptx_word word)
{
    return (reader->token.kind == QN_TOKEN_NAME || reader->token.kind == QN_TOKEN_DIRECTIVE) &&
           reader->token.name->word == word;
}
/** Take the mark if it comes next. */
quern_status qn_ptx_take(qn_reader *reader, char mark, bool *taken);
/** The mark must come next. */
quern_status qn_ptx_expect(qn_reader *reader, char mark);
/** An integer, with a sign, must come next. */
quern_status qn_ptx_integer(qn_reader *reader, int64_t *value);
/** Skip everything up to the `;` that ends a statement, braces included. */
quern_status qn_ptx_skip_statement(qn_reader *reader);
/** Skip an unknown directive. */
quern_status qn_ptx_skip_directive(qn_reader *reader);
/** At `{`: skip the text up to and including its `}`. */
quern_status qn_ptx_skip_braces(qn_reader *reader);
/** At the first token of an instruction: its whole opcode. */
quern_status qn_ptx_opcode(qn_reader *reader, qn_name **opcode);

/* scopes.c */
quern_status qn_names_start(qn_reader *reader);
/** The interned name of a text; NULL: out of memory. */
qn_name *qn_names_intern(qn_reader *reader, const char *text, size_t length);
/** Let `name` mean something new in the current scope, or in the one of `depth`. */
quern_status qn_names_declare(qn_reader *reader, qn_entity **out, qn_name *name,
                              qn_entity_kind kind, uint32_t depth);
quern_status qn_scope_open(qn_reader *reader);
/** Bind the labels that were mentioned, forget what the scope declared. */
quern_status qn_scope_close(qn_reader *reader);
void qn_names_free(qn_reader *reader);
/** How many leading operands an opcode writes. */
uint8_t qn_ptx_definitions(qn_name *opcode);

/* parse_module.c, parse_variable.c, parse_body.c, parse_operand.c */
quern_status qn_parse_module(qn_reader *reader);
/** A type directive such as .b32; false when the name is not one. */
bool qn_parse_type(const qn_name *name, qn_ptx_type *type);
/** Everything after the space directive, up to `;`, `,` or `)`, which is left. */
quern_status qn_parse_variable(qn_reader *reader, qn_variable **out, qn_ptx_space space,
                               bool external);
/** `.reg .b32 %r<5>, a, b;` after .reg. */
quern_status qn_parse_registers(qn_reader *reader);
/** Register `name` of the function, made at its first use; *reg is -1 when it is not a register. */
quern_status qn_find_register(qn_reader *reader, qn_name *name, int32_t *reg);
/** `{ ... }` of a function, or `;`. */
quern_status qn_parse_body(qn_reader *reader);
/** The operands of an instruction, up to and including `;`. */
quern_status qn_parse_operands(qn_reader *reader, qn_ptx_instruction *instruction);
/** An integer expression of constants: 1, -4, (1 << 3) | 2. */
quern_status qn_parse_constant(qn_reader *reader, uint64_t *value);
/** Place a variable in the function's or module's memory. */
quern_status qn_place_variable(qn_reader *reader, qn_variable *variable);

/* globals.c */
/** Note that a module's variable is mentioned. */
quern_status qn_globals_use(qn_reader *reader, qn_ptx_symbol *symbol);
/** Place all used variables and write their initial values. */
quern_status qn_globals_write(qn_reader *reader);
/** At the value after `=`: skip it, noting its place and the number of its elements. */
quern_status qn_globals_skip_initial(qn_reader *reader, qn_variable *variable, uint64_t *count);

/* locations.c */
quern_status qn_parse_file(qn_reader *reader);
quern_status qn_parse_loc(qn_reader *reader);
quern_status qn_parse_section(qn_reader *reader);
/** Give the locations to the module, with names. */
quern_status qn_locations_finish(qn_reader *reader);
void qn_locations_free(qn_reader *reader);

/* ---- flow.c: basic blocks ------------------------------------------------------------------- */

#define QN_NO_BLOCK UINT32_MAX

typedef struct qn_flow_block {
    uint32_t begin, end;   /**< instructions */
    uint32_t first, count; /**< successors: flow->edges[first...] */
    bool falls;            /**< the last successor is reached by running on */
} qn_flow_block;

typedef struct qn_flow {
    qn_flow_block *blocks;
    uint32_t block_count;
    uint32_t *edges;
    uint32_t edge_count;
    uint32_t *block_of; /**< of each instruction */
} qn_flow;

typedef enum qn_flow_kind {
    QN_FLOW_NEXT,   /**< goes on */
    QN_FLOW_BRANCH, /**< goes to its label, operand 0 */
    QN_FLOW_INDEX,  /**< brx.idx: goes to one of a list, operand 1 */
    QN_FLOW_END,    /**< ret, exit, trap */
} qn_flow_kind;

qn_flow_kind qn_flow_kind_of(const qn_ptx_instruction *instruction);
/** `scratch` holds everything. The function must end with an unguarded `ret`. */
quern_status qn_flow_build(qn_flow *flow, const qn_ptx_function *function, qn_arena *scratch);

/* ---- loops.c: which blocks form loops ------------------------------------------------------- */

/** The loops of a graph, each known by its header block. */
typedef struct qn_loops {
    uint32_t *loop;   /**< of each block: header of the innermost loop; QN_NO_BLOCK: none */
    uint32_t *parent; /**< of each header: header of the loop around it; QN_NO_BLOCK: none */
    uint32_t *depth;  /**< of each header, from 1 */
    bool *reached;    /**< of each block */
} qn_loops;
quern_status qn_loops_find(qn_loops *loops, const qn_flow *flow, qn_arena *scratch);
/** The outermost loop that going from block `from` to block `to` leaves; QN_NO_BLOCK: none. */
uint32_t qn_loops_left(const qn_loops *loops, uint32_t from, uint32_t to);

/* ---- liveness.c ----------------------------------------------------------------------------- */

/** The instructions, both ends included, in which a register's value may be needed. */
typedef struct qn_span {
    uint32_t begin, end;
    bool used;    /**< some instruction that is reached names it */
    bool crosses; /**< it may be live between blocks */
} qn_span;
/** One span for each register of the function, in `scratch`. */
quern_status qn_liveness(qn_span **spans, const qn_ptx_function *function, qn_arena *scratch);

#endif /* QN_PTX_READER_H */
