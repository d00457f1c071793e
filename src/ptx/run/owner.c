/* SPDX-License-Identifier: MIT
 *
 * Whose address is it? In: an operation that accessed memory, and the address. Out: the kernel's
 * parameter that the address was computed from, and how far it lies from where that points. The
 * registers of the address are followed back through the instructions, and out of called functions
 * into their callers, until they come from parameters; of several, the closest that points to
 * memory wins. Only reports ask, so nothing is prepared for it.
 */
#include "ptx/run/owner.h"

#include "ptx/watch/element.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH = 64 }; /* calls that are followed outwards */

typedef struct search {
    const qn_warp *warp;
    uint64_t address;
    qn_owner best;
    uint64_t far; /* how far the best lies from the address */
    bool found;
} search;

/* ---- parameters that point somewhere -------------------------------------------------------- */

/* Memory that a parameter's value may point to: alive, or freed a moment ago. */
static bool points_to(const search *s, uint64_t value, qn_range *out)
{
    qn_range piece;
    const qn_range *range = qn_access_range(s->warp, value, &piece);
    if (range) {
        *out = *range;
        return true;
    }
    return qn_memory_map_freed(s->warp->run->launch->memory, value, out);
}

static uint64_t between(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Consider the value at `offset` of the kernel's parameter `index` as the source of the address: a
 * pointer to memory, or a null pointer if the address is close to 0. */
static void consider(search *s, uint32_t index, uint64_t offset)
{
    const qn_run *run = s->warp->run;
    const qn_ptx_symbol *parameter = run->kernel->params[index];
    uint64_t value;
    qn_range range;
    if (offset > parameter->size || parameter->size - offset < sizeof value) {
        return;
    }
    memcpy(&value, run->params + parameter->offset + offset, sizeof value);
    const bool is_null = value == 0 && (s->address < 4096 || s->address > UINT64_MAX - 4096);
    if (!is_null && (value < 4096 || !points_to(s, value, &range))) {
        return;
    }
    const bool holds = !is_null && s->address >= range.begin && s->address < range.end;
    const uint64_t far = holds ? 0 : between(s->address, value);
    if (!s->found || far < s->far) {
        s->best = (qn_owner){.parameter = index, .base = value};
        s->far = far;
        s->found = true;
    }
}

/* ---- back through the instructions ---------------------------------------------------------- */

static void follow_register(search *s, const qn_frame *frame, int32_t reg, uint8_t *seen,
                            unsigned depth);

/* The list of a call's arguments: its last one without a name. */
static const qn_ptx_operand *arguments_of(const qn_ptx_instruction *call)
{
    for (unsigned k = call->operand_count; k-- > 0;) {
        if (call->operands[k].kind == QN_OPERAND_LIST && !call->operands[k].name) {
            return &call->operands[k];
        }
    }
    return NULL;
}

/* What the caller stored at `offset` of argument `index` of the call that made `frame`. */
static void follow_argument(search *s, const qn_frame *frame, uint32_t index, uint64_t offset,
                            unsigned depth)
{
    const qn_ptx_function *caller = frame->caller->code->function;
    const qn_ptx_operand *list = arguments_of(&caller->instructions[frame->call->origin]);
    uint8_t *seen = qn_calloc(caller->register_count + 1u, 1);
    for (uint32_t i = 0; seen && list && i < caller->instruction_count; i++) {
        const qn_ptx_instruction *store = &caller->instructions[i];
        if (!qn_begins(store->opcode, "st.param") || store->operand_count < 2 ||
            index >= list->element_count ||
            store->operands[0].symbol != list->elements[index].symbol) {
            continue;
        }
        const qn_ptx_operand *value = &store->operands[1];
        const bool one = value->kind != QN_OPERAND_VECTOR;
        for (unsigned k = 0; k < (one ? 1u : value->element_count); k++) {
            const qn_ptx_operand *element = one ? value : &value->elements[k];
            if ((uint64_t)store->operands[0].offset + 8u * k == offset &&
                element->kind == QN_OPERAND_REGISTER) {
                follow_register(s, frame->caller, element->reg, seen, depth + 1);
            }
        }
    }
    qn_free(seen);
}

/* `element`: which of the registers that one load fills. */
static void follow_parameter(search *s, const qn_frame *frame, const qn_ptx_operand *from,
                             unsigned element, unsigned depth)
{
    const qn_ptx_function *function = frame->code->function;
    const uint64_t offset = (uint64_t)from->offset + 8u * element;
    for (uint32_t k = 0; k < function->param_count; k++) {
        if (from->symbol != function->params[k]) {
            continue;
        }
        if (!frame->caller) {
            consider(s, k, offset);
        } else if (depth < DEPTH) {
            follow_argument(s, frame, k, offset, depth);
        }
        return;
    }
}

unsigned qn_address_sources(const char *opcode)
{
    static const struct {
        const char *start;
        unsigned operands;
    } forms[] = {{"mov.", 2}, {"cvta.", 2}, {"add.", 6}, {"sub.", 2},
                 {"mad.", 8}, {"selp.", 6}, {"or.", 6},  {"and.", 2}};
    for (size_t k = 0; k < QN_COUNT(forms); k++) {
        if (qn_begins(opcode, forms[k].start)) {
            return forms[k].operands;
        }
    }
    return 0;
}

/* Which of the elements that an instruction defines is this register; -1: none. */
static int defined_element(const qn_ptx_instruction *instruction, int32_t reg)
{
    for (unsigned k = 0; k < instruction->definitions; k++) {
        const qn_ptx_operand *target = &instruction->operands[k];
        if (target->kind == QN_OPERAND_REGISTER && target->reg == reg) {
            return 0;
        }
        for (unsigned e = 0; e < target->element_count; e++) {
            if (target->elements[e].kind == QN_OPERAND_REGISTER && target->elements[e].reg == reg) {
                return (int)e;
            }
        }
    }
    return -1;
}

static void follow_register(search *s, const qn_frame *frame, int32_t reg, uint8_t *seen,
                            unsigned depth)
{
    const qn_ptx_function *function = frame->code->function;
    if (reg < 0 || seen[reg]) {
        return;
    }
    seen[reg] = 1;
    for (uint32_t i = 0; i < function->instruction_count; i++) {
        const qn_ptx_instruction *instruction = &function->instructions[i];
        const int element = defined_element(instruction, reg);
        if (element < 0) {
            continue;
        }
        if (qn_begins(instruction->opcode, "ld.param") && instruction->operand_count == 2) {
            follow_parameter(s, frame, &instruction->operands[1], (unsigned)element, depth);
        }
        const unsigned sources = qn_address_sources(instruction->opcode);
        for (unsigned k = 1; k < instruction->operand_count; k++) {
            if (sources >> k & 1 && instruction->operands[k].kind == QN_OPERAND_REGISTER) {
                follow_register(s, frame, instruction->operands[k].reg, seen, depth);
            }
        }
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* An address that came from memory says nothing: then any parameter that points into the same
 * memory, or next to it, will do. */
static void any_parameter(search *s)
{
    enum { NEAR = 4096 };
    const qn_ptx_function *kernel = s->warp->run->kernel;
    for (uint32_t k = 0; k < kernel->param_count; k++) {
        for (uint64_t at = 0; at + 8 <= kernel->params[k]->size; at += 8) {
            consider(s, k, at);
        }
    }
    s->found = s->found && s->far <= NEAR;
}

bool qn_owner_find(qn_owner *out, const qn_warp *warp, const qn_op *op, uint64_t address)
{
    const qn_frame *frame = warp->frame;
    const qn_ptx_function *function = frame->code->function;
    const qn_ptx_instruction *instruction = op ? &function->instructions[op->origin] : NULL;
    search s = {.warp = warp, .address = address};
    uint8_t *seen = qn_calloc(function->register_count + 1u, 1);
    for (unsigned k = 0; seen && op && k < instruction->operand_count; k++) {
        if (instruction->operands[k].kind == QN_OPERAND_ADDRESS) {
            follow_register(&s, frame, instruction->operands[k].reg, seen, 0);
        }
    }
    qn_free(seen);
    if (!s.found) {
        any_parameter(&s);
    }
    *out = s.best;
    return s.found;
}

/* The words are put between marks that occur in no name, with what the engine needs to say it
 * better. */
void qn_print_owner(qn_text *out, const qn_warp *warp, const qn_op *op, uint64_t address)
{
    qn_owner owner;
    if (qn_owner_find(&owner, warp, op, address)) {
        const long long offset = (long long)(address - owner.base);
        qn_text_printf(out,
                       QN_MARK_OWNER "%u %llx %lld 0 0" QN_MARK_WORDS
                                     ", byte %lld of parameter %u" QN_MARK_WORDS_END,
                       owner.parameter, (unsigned long long)address, offset, offset,
                       owner.parameter + 1);
    }
}

void qn_print_element(qn_text *out, uint64_t what, uint64_t address, int64_t index)
{
    const uint32_t parameter = qn_element_parameter(what), named = qn_element_named(what);
    qn_text_printf(out, QN_MARK_OWNER "%u %llx 0 %u %lld" QN_MARK_WORDS ", index %lld", parameter,
                   (unsigned long long)address, named, (long long)index, (long long)index);
    if (named > 1) {
        qn_text_printf(out, " along axis %u", named - 2);
    }
    qn_text_printf(out, " of parameter %u" QN_MARK_WORDS_END, parameter + 1);
}

/* ---- when the launch is over ---------------------------------------------------------------- */

/* Copy a piece of the message, up to `mark`; returns what follows the mark. */
static const char *copy_up_to(qn_text *out, const char *from, const char *mark)
{
    const size_t length = strcspn(from, mark);
    qn_text_add(out, from, length);
    return from + length + (from[length] != '\0');
}

quern_status qn_owner_fail(quern_status status, const char *message)
{
    qn_text plain = {0};
    qn_error_subject subject = {0};
    const char *at = message;
    if (strstr(at, QN_MARK_OWNER)) {
        char *behind;
        at = copy_up_to(&plain, at, QN_MARK_OWNER);
        subject.parameter = (uint32_t)strtoul(at, &behind, 10);
        subject.address = strtoull(behind, &behind, 16);
        subject.offset = strtoll(behind, &behind, 10);
        subject.named = (uint32_t)strtoul(behind, &behind, 10);
        subject.index = strtoll(behind, &behind, 10);
        subject.begin = plain.length;
        at = copy_up_to(&plain, behind + strlen(QN_MARK_WORDS), QN_MARK_WORDS_END);
        subject.end = plain.length;
    }
    subject.is_use = strstr(at, QN_MARK_OTHER) != NULL;
    const char *mark = subject.is_use ? QN_MARK_OTHER : QN_MARK_PLACE;
    const bool has_place = strstr(at, mark) != NULL;
    at = copy_up_to(&plain, at, mark);
    if (has_place) {
        subject.place_begin = plain.length;
        at = copy_up_to(&plain, at, QN_MARK_PLACE_END);
        subject.place_end = plain.length;
        qn_text_puts(&plain, at);
    }
    qn_fail(status, "%s", plain.data ? plain.data : "out of memory for the report");
    if (!plain.failed) {
        qn_error_set_subject(&subject);
    }
    qn_text_free(&plain);
    return status;
}
