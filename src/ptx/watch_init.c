/* SPDX-License-Identifier: MIT
 *
 * Reads of memory that nobody wrote. Every byte has a mark, which a write sets. A value that is
 * read is reported when none of its bytes was written: a part of it may be padding, or the rest of
 * a word of which a field was set. A value that is only copied within shared and local memory, as
 * structures are with their padding, is not used by that: its marks go along with it, and it is
 * reported when it arrives in device memory. The decoder finds the registers that hold such values
 * (decode_watch.c) and gives what is known of them a place in the frame.
 */
#include "ptx/run_forms.h"
#include "ptx/watch.h"

static uint32_t all_bytes(unsigned bytes)
{
    return bytes < 32 ? (1u << bytes) - 1 : QN_ALL_LANES;
}

/* One bit for each of the first 32 bytes that was not written. */
static uint32_t unwritten_of(const unsigned char *written, unsigned bytes)
{
    uint32_t unwritten = 0;
    for (unsigned k = 0; written && k < QN_MIN(bytes, 32u); k++) {
        unwritten |= (uint32_t)!__atomic_load_n(written + k, __ATOMIC_RELAXED) << k;
    }
    return unwritten;
}

/* Several host threads may do so at once. */
static void set_written(unsigned char *written, unsigned bytes, uint32_t except)
{
    for (unsigned k = 0; written && k < bytes; k++) {
        __atomic_store_n(written + k, !(k < 32 && except >> k & 1), __ATOMIC_RELAXED);
    }
}

/* A read that found nothing. */
static bool report(const qn_touch *read)
{
    qn_text text = {0};
    qn_print_touch(&text, read);
    qn_text_puts(&text, read->space == QN_SPACE_GLOBAL ? ", which nobody has written"
                        : read->space == QN_SPACE_SHARED
                            ? ", which no thread of the block has written"
                            : ", which it has not written");
    qn_fault(read->warp, read->op, read->lane, QUERN_ERROR_ACCESS, "%s",
             text.data ? text.data : "read of memory that nobody wrote");
    qn_text_free(&text);
    return false;
}

/* ---- loads and stores: value by value ---------------------------------------------------------
 */

/* What is known of a value that is copied: where it came from. One a lane. */
typedef struct copied {
    uint64_t address;
    uint32_t op; /* that loaded it */
    uint16_t unwritten;
    uint8_t space;
} copied;

_Static_assert(sizeof(copied) * QN_LANES == 2 * QN_LINE, "decode_watch.c gives it two lines");

static copied *copied_at(const qn_touch *touch, qn_place place)
{
    return (copied *)qn_at(touch->warp, place) + touch->lane;
}

static bool load_value(const qn_touch *value, qn_place copy)
{
    const uint32_t unwritten = unwritten_of(value->written, value->bytes);
    if (copy == QN_NO_PLACE) {
        return unwritten != all_bytes(value->bytes) || report(value);
    }
    if (copy != QN_UNUSED) {
        *copied_at(value, copy) =
            (copied){.address = value->address,
                     .op = (uint32_t)(value->op - value->warp->frame->code->ops),
                     .unwritten = (uint16_t)unwritten,
                     .space = value->space};
    }
    return true;
}

static bool store_value(const qn_touch *value, qn_place copy)
{
    const copied *from = copy == QN_NO_PLACE ? NULL : copied_at(value, copy);
    const uint32_t unwritten = from ? from->unwritten & all_bytes(value->bytes) : 0;
    if (value->space == QN_SPACE_GLOBAL && unwritten == all_bytes(value->bytes)) {
        qn_touch read = *value;
        read.op = value->warp->frame->code->ops + from->op;
        read.kind = QN_READ;
        read.space = from->space;
        read.address = from->address;
        return report(&read);
    }
    set_written(value->written, value->bytes, unwritten);
    return true;
}

static bool each_value(const qn_touch *touch, const qn_access *access)
{
    qn_touch value = *touch;
    value.bytes = access->element->memory_bits / 8u;
    for (unsigned k = 0; k < touch->op->count; k++) {
        if (touch->kind == QN_READ ? !load_value(&value, access->copies[k])
                                   : !store_value(&value, access->copies[k])) {
            return false;
        }
        value.address += value.bytes;
        if (value.written) {
            value.written += value.bytes;
        }
    }
    return true;
}

/* ---- everything else: all bytes at once -------------------------------------------------------
 */

/* An exchange does not look at what it finds. */
static bool is_exchange(const qn_touch *touch)
{
    return touch->op->function == qn_run_atomic &&
           ((const qn_atomic *)touch->op->extra)->form == QN_ATOMIC_EXCH;
}

bool qn_watch_init(const qn_touch *touch)
{
    const qn_access *access = qn_watch_elements(touch->op);
    if (access) {
        return each_value(touch, access);
    }
    if (touch->kind != QN_WRITE && !is_exchange(touch) &&
        unwritten_of(touch->written, touch->bytes) == all_bytes(touch->bytes)) {
        return report(touch);
    }
    if (touch->kind != QN_READ) {
        set_written(touch->written, touch->bytes, 0);
    }
    return true;
}
