/* SPDX-License-Identifier: MIT
 *
 * check=bounds: the operations that record which elements of raw arrays are named, and those that
 * check accesses. In: a function whose text calls __quern_element. Out: the operations of
 * element.h. From the address of each access its registers are followed back to what the calls
 * returned, within the function: an address that comes from memory, or from a called function, is
 * not checked.
 */
#include "ptx/watch/element.h"

#include "ptx/run/owner.h"

#include <string.h>

typedef struct definition {
    uint32_t instruction, next; /* of the same register; 0: no other */
} definition;

struct qn_elements {
    qn_element_call **call_of; /* of each instruction; NULL: it is not such a call */
    definition *definitions;   /* from 1 */
    uint32_t *first;           /* of each register: a definition; 0: none */
    uint32_t count;            /* of definitions */
    int32_t *waiting;          /* registers to be followed */
    uint32_t *seen;            /* of each register: the search that last saw it */
    uint32_t search;
    qn_element_call **found; /* by the current search */
    uint32_t found_count;
};

/* ---- calls ---------------------------------------------------------------------------------- */

/* A call's list before its callee, of what it returns, or after it, of its arguments. */
static const qn_ptx_operand *list_of(const qn_ptx_instruction *call, bool returns)
{
    bool behind = false;
    for (unsigned k = 0; k < call->operand_count; k++) {
        const qn_ptx_operand *operand = &call->operands[k];
        if (operand->kind == QN_OPERAND_LIST && !operand->name && behind != returns) {
            return operand;
        }
        behind |= operand->kind == QN_OPERAND_SYMBOL || operand->kind == QN_OPERAND_REGISTER;
    }
    return NULL;
}

static bool is_element_call(const qn_ptx_instruction *instruction)
{
    bool is = false;
    for (unsigned k = 0; qn_begins(instruction->opcode, "call") && k < instruction->operand_count;
         k++) {
        const qn_ptx_operand *operand = &instruction->operands[k];
        is |= operand->kind == QN_OPERAND_SYMBOL && operand->symbol &&
              strcmp(operand->symbol->name, QN_ELEMENT_FUNCTION) == 0;
    }
    return is;
}

/* Find where the arguments are; false: they are not three of 8 bytes. */
static bool read_arguments(const qn_decoder *decoder, const qn_ptx_instruction *instruction,
                           qn_element_call *call)
{
    const qn_ptx_operand *list = list_of(instruction, false);
    if (!list || list->element_count != 3) {
        return false;
    }
    for (unsigned k = 0; k < 3; k++) {
        const qn_ptx_symbol *symbol = list->elements[k].symbol;
        if (!symbol || symbol->space != QN_SPACE_PARAM || symbol->size != 8 ||
            symbol->offset + 8 > decoder->function->frame_param_bytes) {
            return false;
        }
        call->passed[k] = (uint32_t)symbol->offset;
    }
    return true;
}

/* Find the calls of the function; returns how many there are. */
static uint32_t list_calls(qn_decoder *decoder, struct qn_elements *elements)
{
    const qn_ptx_function *function = decoder->function;
    uint32_t count = 0;
    for (uint32_t i = 0; i < function->instruction_count; i++) {
        qn_element_call *call;
        if (!is_element_call(&function->instructions[i]) ||
            !(call = qn_decode_alloc(decoder, sizeof *call)) ||
            !read_arguments(decoder, &function->instructions[i], call)) {
            continue;
        }
        for (unsigned k = 0; k < 3; k++) {
            call->kept[k] = qn_place_scratch(decoder, 64);
        }
        elements->call_of[i] = call;
        count++;
    }
    return count;
}

/* ---- definitions ---------------------------------------------------------------------------- */

static void add_definitions(struct qn_elements *elements, const qn_ptx_operand *operand,
                            uint32_t instruction, bool counts)
{
    if (operand->kind == QN_OPERAND_REGISTER && operand->reg >= 0) {
        elements->count++;
        if (!counts) {
            elements->definitions[elements->count] =
                (definition){instruction, elements->first[operand->reg]};
            elements->first[operand->reg] = elements->count;
        }
    }
    for (unsigned k = 0; k < operand->element_count; k++) {
        add_definitions(elements, &operand->elements[k], instruction, counts);
    }
}

static void walk_definitions(struct qn_elements *elements, const qn_ptx_function *function,
                             bool counts)
{
    elements->count = 0;
    for (uint32_t i = 0; i < function->instruction_count; i++) {
        const qn_ptx_instruction *instruction = &function->instructions[i];
        for (unsigned k = 0; k < instruction->definitions && k < instruction->operand_count; k++) {
            add_definitions(elements, &instruction->operands[k], i, counts);
        }
    }
}

/* ---- following an address ------------------------------------------------------------------- */

static void wait_for(struct qn_elements *elements, uint32_t *waiting, int32_t reg)
{
    if (reg >= 0 && elements->seen[reg] != elements->search) {
        elements->seen[reg] = elements->search;
        elements->waiting[(*waiting)++] = reg;
    }
}

/* Find the call whose result this load takes: it comes before the load, in the same block. */
static void find_call(struct qn_elements *elements, const qn_ptx_function *function, uint32_t at)
{
    const qn_ptx_symbol *result = function->instructions[at].operands[1].symbol;
    while (at > 0 && !qn_begins(function->instructions[at].opcode, "call")) {
        at--;
    }
    qn_element_call *call = elements->call_of[at];
    const qn_ptx_operand *returns = call ? list_of(&function->instructions[at], true) : NULL;
    if (!returns || returns->element_count != 1 || returns->elements[0].symbol != result) {
        return;
    }
    for (uint32_t k = 0; k < elements->found_count; k++) {
        if (elements->found[k] == call) {
            return;
        }
    }
    elements->found[elements->found_count++] = call;
}

static void follow(struct qn_elements *elements, const qn_ptx_function *function, int32_t reg)
{
    uint32_t waiting = 0;
    elements->search++;
    elements->found_count = 0;
    wait_for(elements, &waiting, reg);
    while (waiting > 0) {
        const int32_t now = elements->waiting[--waiting];
        for (uint32_t d = elements->first[now]; d; d = elements->definitions[d].next) {
            const uint32_t at = elements->definitions[d].instruction;
            const qn_ptx_instruction *instruction = &function->instructions[at];
            const unsigned sources = qn_address_sources(instruction->opcode);
            if (qn_begins(instruction->opcode, "ld.param") && instruction->operand_count == 2) {
                find_call(elements, function, at);
            }
            for (unsigned k = 1; k < instruction->operand_count; k++) {
                if (sources >> k & 1 && instruction->operands[k].kind == QN_OPERAND_REGISTER) {
                    wait_for(elements, &waiting, instruction->operands[k].reg);
                }
            }
        }
    }
}

/* ---- operations ----------------------------------------------------------------------------- */

/* A list of those of the `places` in `calls` that are not NULL; there are `count` of them. */
static const qn_element_calls *new_list(qn_decoder *decoder, qn_element_call *const *calls,
                                        uint32_t places, uint32_t count)
{
    qn_element_calls *list = qn_decode_alloc(decoder, sizeof *list + count * sizeof list->calls[0]);
    for (uint32_t k = 0; list && k < places; k++) {
        if (calls[k]) {
            list->calls[list->count++] = calls[k];
        }
    }
    return list;
}

static void elements_free(struct qn_elements *elements)
{
    if (elements) {
        qn_free(elements->call_of);
        qn_free(elements->definitions);
        qn_free(elements->first);
        qn_free(elements->waiting);
        qn_free(elements->seen);
        qn_free(elements->found);
        qn_free(elements);
    }
}

/* NULL: no call, or out of memory. */
static struct qn_elements *elements_new(qn_decoder *decoder)
{
    const qn_ptx_function *function = decoder->function;
    const size_t registers = function->register_count + 1u;
    const size_t instructions = function->instruction_count + 1u;
    struct qn_elements *elements = qn_calloc(1, sizeof *elements);
    if (!elements || !(elements->call_of = qn_calloc(instructions, sizeof(void *)))) {
        decoder->failed = true;
        elements_free(elements);
        return NULL;
    }
    const uint32_t calls = list_calls(decoder, elements);
    if (calls == 0) {
        elements_free(elements);
        return NULL;
    }
    walk_definitions(elements, function, true);
    elements->definitions = qn_calloc(elements->count + 1u, sizeof(definition));
    elements->first = qn_calloc(registers, sizeof(uint32_t));
    elements->waiting = qn_calloc(registers, sizeof(int32_t));
    elements->seen = qn_calloc(registers, sizeof(uint32_t));
    elements->found = qn_calloc(calls, sizeof(void *));
    if (!elements->definitions || !elements->first || !elements->waiting || !elements->seen ||
        !elements->found) {
        decoder->failed = true;
        elements_free(elements);
        return NULL;
    }
    walk_definitions(elements, function, false);
    const qn_element_calls *all =
        new_list(decoder, elements->call_of, function->instruction_count, calls);
    decoder->instruction = &function->instructions[0];
    qn_op *op = qn_emit_function(decoder, qn_run_elements_begin);
    op->guard = QN_NO_PLACE;
    op->extra = all;
    return elements;
}

void qn_elements_decode_begin(qn_decoder *decoder)
{
    if (decoder->code->kind & QN_CODE_INDEXED && decoder->function->instruction_count > 0) {
        decoder->elements = elements_new(decoder);
    }
}

void qn_elements_decode_end(qn_decoder *decoder)
{
    elements_free(decoder->elements);
    decoder->elements = NULL;
}

void qn_elements_decode(qn_decoder *decoder)
{
    struct qn_elements *elements = decoder->elements;
    const qn_ptx_instruction *instruction = decoder->instruction;
    if (!elements) {
        return;
    }
    const qn_element_call *call = elements->call_of[instruction - decoder->function->instructions];
    if (call) {
        qn_emit_function(decoder, qn_run_element_keep)->extra = call;
    }
    for (unsigned k = 0; k < instruction->operand_count; k++) {
        if (instruction->operands[k].kind == QN_OPERAND_ADDRESS &&
            instruction->operands[k].reg >= 0) {
            follow(elements, decoder->function, instruction->operands[k].reg);
            if (elements->found_count > 0) {
                qn_emit_function(decoder, qn_run_element_look)->extra = new_list(
                    decoder, elements->found, elements->found_count, elements->found_count);
            }
        }
    }
}
