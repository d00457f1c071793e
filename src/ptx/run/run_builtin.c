/* SPDX-License-Identifier: MIT
 *
 * Functions that PTX only declares and the device provides: vprintf, __assertfail, malloc and free.
 * In: arguments in the caller's parameter variables, one copy per lane; out: results in the same
 * place.
 */
#include "ptx/run/heap.h"
#include "ptx/watch/element.h"

#include <stdio.h>
#include <string.h>

enum { STRING_LIMIT = 4096, WIDEST = 4096, PRINTED_MUCH = 256 << 10 };

/* Argument k; zeros fill it up when the call passes fewer bytes. */
static uint64_t argument(const qn_warp *warp, const qn_op *op, unsigned lane, unsigned k)
{
    const qn_call_copy *copy = &((const qn_call_info *)op->extra)->parameters[k];
    uint64_t value = 0;
    memcpy(&value,
           warp->frame->params + (size_t)lane * warp->frame->param_stride + copy->caller_offset,
           QN_MIN(copy->bytes, (uint32_t)sizeof value));
    return value;
}

static void give(const qn_warp *warp, const qn_op *op, unsigned lane, const void *value,
                 size_t bytes)
{
    const qn_call_info *info = op->extra;
    if (info->return_count > 0 && bytes <= info->returns[0].bytes) {
        memcpy(warp->frame->params + (size_t)lane * warp->frame->param_stride +
                   info->returns[0].caller_offset,
               value, bytes);
    }
}

/* A terminated string that the lane may read; false after a report. */
static bool string_at(qn_warp *warp, const qn_op *op, unsigned lane, uint64_t address, qn_str *out)
{
    uint64_t extent = qn_access_extent(warp, lane, address);
    *out = QN_STR("");
    if (extent == 0) {
        return qn_access_check(warp, op, lane, address, 1, QN_READ);
    }
    const char *data = (const char *)(uintptr_t)address;
    *out = (qn_str){data, strnlen(data, QN_MIN(extent, (uint64_t)STRING_LIMIT))};
    return true;
}

/* The arguments of one printf, packed as a C compiler lays out a structure. */
typedef struct packed {
    qn_warp *warp;
    const qn_op *op;
    unsigned lane;
    uint64_t address;
} packed;

static bool next_value(packed *from, unsigned bytes, uint64_t *out)
{
    from->address = (from->address + bytes - 1) / bytes * bytes;
    if (!qn_access_check(from->warp, from->op, from->lane, from->address, bytes, QN_READ)) {
        return false;
    }
    *out = 0;
    memcpy(out, (const void *)(uintptr_t)from->address, bytes);
    from->address += bytes;
    return true;
}

/* One conversion without its length: flags, width and precision, ready for the host's printf. */
typedef struct conversion {
    char text[40];
    size_t length;
    bool wide; /* an integer of 64 bits */
    char letter;
} conversion;

static void add_char(conversion *to, char c)
{
    if (to->length < sizeof to->text - 4) {
        to->text[to->length++] = c;
        to->text[to->length] = '\0';
    }
}

/* A width or precision, in digits or as an argument. No more than WIDEST, or one printf could take
 * all memory. A negative width is a flag and a width, and a negative precision is none. */
static bool read_number(const char **format, const char *end, packed *values, conversion *out)
{
    const char *p = *format;
    int32_t number = 0;
    if (p < end && *p == '*') {
        uint64_t value;
        if (!next_value(values, 4, &value)) {
            return false;
        }
        number = (int32_t)(uint32_t)value;
        p++;
    } else {
        for (; p < end && *p >= '0' && *p <= '9'; p++) {
            number = QN_MIN(number * 10 + (*p - '0'), WIDEST);
        }
    }
    if (number < 0 && out->text[out->length - 1] == '.') {
        out->text[--out->length] = '\0';
    } else if (p > *format) {
        char digits[16];
        snprintf(digits, sizeof digits, "%d", QN_MAX(QN_MIN(number, WIDEST), -WIDEST));
        for (const char *digit = digits; *digit; digit++) {
            add_char(out, *digit);
        }
    }
    *format = p;
    return true;
}

/* conversion = "%" [-+ #0]* width? ("." precision?)? length? letter; stars take an argument */
static bool read_conversion(const char **format, const char *end, packed *values, conversion *out)
{
    const char *p = *format;
    *out = (conversion){.text = "%", .length = 1};
    for (; p < end && strchr("-+ #0", *p); p++) {
        if (!strchr(out->text, *p)) { /* a repeated flag adds nothing */
            add_char(out, *p);
        }
    }
    if (!read_number(&p, end, values, out)) {
        return false;
    }
    if (p < end && *p == '.') {
        add_char(out, *p++);
        if (!read_number(&p, end, values, out)) {
            return false;
        }
    }
    for (; p < end && strchr("hlLqjzt", *p); p++) {
        out->wide |= *p != 'h';
    }
    out->letter = p < end ? *p++ : '\0';
    *format = p;
    return true;
}

static bool print_string(qn_text *out, packed *values, conversion *how)
{
    uint64_t address;
    qn_str string;
    if (!next_value(values, 8, &address)) {
        return false;
    }
    if (address == 0) {
        qn_text_puts(out, "(null)");
        return true;
    }
    if (!string_at(values->warp, values->op, values->lane, address, &string)) {
        return false;
    }
    char *copy = qn_strndup(string.data, string.length);
    add_char(how, 's');
    qn_text_printf(out, how->text, copy ? copy : "");
    qn_free(copy);
    return true;
}

static bool print_value(qn_text *out, packed *values, conversion *how)
{
    uint64_t value = 0;
    switch (how->letter) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        if (!next_value(values, how->wide ? 8 : 4, &value)) {
            return false;
        }
        if (!how->wide && (how->letter == 'd' || how->letter == 'i')) {
            value = (uint64_t)(int64_t)(int32_t)value;
        }
        add_char(how, 'l');
        add_char(how, 'l');
        add_char(how, how->letter);
        qn_text_printf(out, how->text, (long long)value);
        return true;
    case 'c':
        add_char(how, 'c');
        if (!next_value(values, 4, &value)) {
            return false;
        }
        qn_text_printf(out, how->text, (int)value);
        return true;
    case 'p':
        if (!next_value(values, 8, &value)) {
            return false;
        }
        qn_text_printf(out, "0x%llx", (unsigned long long)value);
        return true;
    case 's':
        return print_string(out, values, how);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': {
        double real;
        if (!next_value(values, 8, &value)) {
            return false;
        }
        memcpy(&real, &value, sizeof real);
        add_char(how, how->letter);
        qn_text_printf(out, how->text, real);
        return true;
    }
    case '%':
        qn_text_puts(out, "%");
        return true;
    default: /* as CUDA does: what is not understood is printed as it stands */
        qn_text_printf(out, "%s%c", how->text, how->letter ? how->letter : ' ');
        return true;
    }
}

static bool print(packed *values, uint64_t format_address)
{
    qn_text *out = &values->warp->block->output;
    qn_str format;
    if (!string_at(values->warp, values->op, values->lane, format_address, &format)) {
        return false;
    }
    const char *p = format.data, *end = format.data + format.length;
    while (p < end) {
        const char *percent = memchr(p, '%', (size_t)(end - p));
        const char *stop = percent ? percent : end;
        qn_text_add(out, p, (size_t)(stop - p));
        p = stop;
        if (percent) {
            conversion how;
            p++;
            if (!read_conversion(&p, end, values, &how) || !print_value(out, values, &how)) {
                return false;
            }
        }
    }
    return true;
}

static bool run_vprintf(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    for (; mask; mask &= mask - 1) {
        unsigned lane = qn_first_lane(mask);
        packed values = {warp, op, lane, argument(warp, op, lane, 1)};
        if (!print(&values, argument(warp, op, lane, 0))) {
            return false;
        }
        give(warp, op, lane, &(int32_t){1}, 4);
        if (warp->block->output.length > PRINTED_MUCH) {
            qn_run_output(warp->run, warp->block);
        }
    }
    return true;
}

/* __assertfail(message, file, line, function, size of a character) */
static bool run_assertfail(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    unsigned lane = qn_first_lane(mask);
    qn_str message, file, function;
    const uint32_t line = (uint32_t)argument(warp, op, lane, 2);
    if (!string_at(warp, op, lane, argument(warp, op, lane, 0), &message) ||
        !string_at(warp, op, lane, argument(warp, op, lane, 1), &file) ||
        !string_at(warp, op, lane, argument(warp, op, lane, 3), &function)) {
        return false;
    }
    return qn_fault(warp, op, lane, QUERN_ERROR_LAUNCH,
                    "assertion '%.*s' failed, %.*s:%u, in '%.*s'", (int)message.length,
                    message.data, (int)file.length, file.data, line, (int)function.length,
                    function.data);
}

static bool run_malloc(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    const qn_ptx_launch *launch = warp->run->launch;
    qn_heap *heap = qn_memory_map_heap_new(launch->memory);
    for (; mask; mask &= mask - 1) {
        unsigned lane = qn_first_lane(mask);
        uint64_t address = 0;
        if (heap) {
            address = qn_heap_take(heap, argument(warp, op, lane, 0), launch->aids.check_init);
        }
        give(warp, op, lane, &address, sizeof address);
    }
    return true;
}

static bool run_free(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    qn_heap *heap = qn_memory_map_heap(warp->run->launch->memory);
    for (; mask; mask &= mask - 1) {
        unsigned lane = qn_first_lane(mask);
        uint64_t address = argument(warp, op, lane, 0);
        if (address != 0 && !(heap && qn_heap_give_back(heap, address))) {
            return qn_fault(warp, op, lane, QUERN_ERROR_ACCESS,
                            "free of 0x%llx, which malloc did not return or which was freed before",
                            (unsigned long long)address);
        }
    }
    return true;
}

bool qn_run_element(qn_warp *warp, const qn_op *op, uint32_t mask)
{
    for (; mask; mask &= mask - 1) {
        const unsigned lane = qn_first_lane(mask);
        give(warp, op, lane, &(uint64_t){argument(warp, op, lane, 0)}, 8);
    }
    return true;
}

static const struct {
    const char *name;
    qn_builtin function;
    uint32_t parameters;
} builtins[] = {
    {"vprintf", run_vprintf, 2},
    {"__assertfail", run_assertfail, 5},
    {"malloc", run_malloc, 1},
    {"free", run_free, 1},
    {QN_ELEMENT_FUNCTION, qn_run_element, 3},
};

qn_builtin qn_builtin_find(const char *name, uint32_t parameter_count)
{
    for (size_t k = 0; k < QN_COUNT(builtins); k++) {
        if (strcmp(name, builtins[k].name) == 0 && parameter_count == builtins[k].parameters) {
            return builtins[k].function;
        }
    }
    return NULL;
}

bool qn_builtin_runs(qn_builtin function)
{
    bool runs = false;
    for (size_t k = 0; k < QN_COUNT(builtins); k++) {
        runs |= function == builtins[k].function;
    }
    return runs;
}

bool qn_builtin_is(const char *name)
{
    bool is = false;
    for (size_t k = 0; k < QN_COUNT(builtins); k++) {
        is |= strcmp(name, builtins[k].name) == 0;
    }
    return is;
}
