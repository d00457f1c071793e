/* SPDX-License-Identifier: MIT
 *
 * What a user may ask of the software device. In: what follows "soft:", items separated by commas,
 * such as "4,limit=2.5,check=all". Out: soft_options, or a sentence that names the wrong item and
 * all items that there are. Each may occur once, a bare number only as the first.
 */
#include "device/soft/soft_device.h"

#include <string.h>

enum { MAX_LIMIT = 1000000 };

/* Digits at the beginning of `text`, taken off it; false: none, or more than `most`. */
static bool take_number(qn_str *text, uint32_t most, uint32_t *value)
{
    uint64_t number = 0;
    size_t digits = 0;
    while (digits < text->length && text->data[digits] >= '0' && text->data[digits] <= '9') {
        number = number * 10 + (uint64_t)(text->data[digits++] - '0');
        if (number > most) {
            return false;
        }
    }
    *text = (qn_str){text->data + digits, text->length - digits};
    *value = (uint32_t)number;
    return digits > 0;
}

static bool take_character(qn_str *text, char character)
{
    if (text->length == 0 || text->data[0] != character) {
        return false;
    }
    *text = (qn_str){text->data + 1, text->length - 1};
    return true;
}

static bool read_threads(soft_options *options, qn_str value)
{
    return take_number(&value, SOFT_MAX_HOST_THREADS, &options->threads) && value.length == 0 &&
           options->threads > 0;
}

static bool read_shared(soft_options *options, qn_str value)
{
    return take_number(&value, SOFT_MOST_SHARED_KIB, &options->shared) && value.length == 0 &&
           options->shared > 0;
}

/* Written without the C library, whose decimal point depends on the locale. */
static bool read_limit(soft_options *options, qn_str value)
{
    uint32_t whole;
    if (!take_number(&value, MAX_LIMIT, &whole)) {
        return false;
    }
    double seconds = whole;
    if (take_character(&value, '.')) {
        const size_t digits = value.length;
        uint32_t fraction;
        if (digits > 9 || !take_number(&value, 999999999, &fraction)) {
            return false;
        }
        double scale = 1;
        for (size_t k = 0; k < digits; k++) {
            scale *= 10;
        }
        seconds += fraction / scale;
    }
    options->limit = seconds;
    return value.length == 0 && seconds > 0;
}

/* Words joined by `+`. */
static bool read_check(soft_options *options, qn_str value)
{
    qn_ptx_aids *aids = &options->aids;
    struct check {
        const char *name;
        bool *wanted;
    } checks[] = {{"init", &aids->check_init},      {"races", &aids->check_races},
                  {"sync", &aids->check_sync},      {"div", &aids->check_div},
                  {"bounds", &aids->check_bounds},  {"limits", &aids->check_limits},
                  {"streams", &aids->check_streams}};
    do {
        const char *plus = memchr(value.data, '+', value.length);
        const qn_str word = {value.data, plus ? (size_t)(plus - value.data) : value.length};
        const size_t taken = plus ? word.length + 1 : word.length;
        const bool all = qn_str_is(word, "all");
        bool known = all;
        for (size_t k = 0; k < QN_COUNT(checks); k++) {
            const bool named = all || qn_str_is(word, checks[k].name);
            *checks[k].wanted |= named;
            known |= named;
        }
        if (!known || (plus && taken == value.length)) {
            return false;
        }
        value = (qn_str){value.data + taken, value.length - taken};
    } while (value.length > 0);
    return true;
}

/* "3", "3.1" or "3.1.0"; what is left out is 0. */
static bool take_index(qn_str *text, uint32_t index[3])
{
    memset(index, 0, 3 * sizeof index[0]);
    bool ok = take_number(text, UINT32_MAX, &index[0]);
    for (unsigned k = 1; ok && k < 3 && take_character(text, '.'); k++) {
        ok = take_number(text, UINT32_MAX, &index[k]);
    }
    return ok;
}

static bool read_trace(soft_options *options, qn_str value)
{
    options->aids.trace = true;
    return take_index(&value, options->aids.trace_block) && take_character(&value, '/') &&
           take_index(&value, options->aids.trace_thread) && value.length == 0;
}

static const struct item {
    const char *name; /* "": a bare value */
    bool (*read)(soft_options *options, qn_str value);
} items[] = {{"", read_threads},
             {"limit", read_limit},
             {"shared", read_shared},
             {"check", read_check},
             {"trace", read_trace}};

static quern_status fail_item(const char *argument, qn_str item)
{
    return qn_fail(
        QUERN_ERROR_INVALID_ARGUMENT,
        "\"soft:%s\": what is '%.*s'? After the colon may come, separated by commas and each once: "
        "the number of threads to use (1 to %d, first; all cores without it), "
        "limit=SECONDS, shared=KIB (of shared memory for a block, 1 to %d; %d without it), "
        "check=WHAT (init, races, sync, div, bounds, limits, streams, several of them joined by +, "
        "or all), and trace=BX[.BY[.BZ]]/TX[.TY[.TZ]], as in \"soft:4,limit=10\"",
        argument, (int)item.length, item.data, SOFT_MAX_HOST_THREADS, SOFT_MOST_SHARED_KIB,
        SOFT_SHARED_KIB);
}

/* The item's index in the table, its value taken apart; QN_COUNT(items): it has no such name. */
static size_t find_item(qn_str item, qn_str *value)
{
    const char *equals = memchr(item.data, '=', item.length);
    const size_t name_length = equals ? (size_t)(equals - item.data) : 0;
    const size_t skipped = equals ? name_length + 1 : 0;
    *value = (qn_str){item.data + skipped, item.length - skipped};
    size_t k = equals ? 1 : 0;
    while (equals && k < QN_COUNT(items) &&
           !qn_str_is((qn_str){item.data, name_length}, items[k].name)) {
        k++;
    }
    return k;
}

quern_status qn_soft_options_read(soft_options *options, const char *argument)
{
    *options = (soft_options){0};
    unsigned seen = 0;
    for (const char *at = argument; at;) {
        const char *comma = strchr(at, ',');
        const qn_str item = {at, comma ? (size_t)(comma - at) : strlen(at)};
        qn_str value;
        const size_t k = find_item(item, &value);
        const bool in_place = k > 0 || at == argument;
        if (k == QN_COUNT(items) || !in_place || seen >> k & 1 || !items[k].read(options, value)) {
            return fail_item(argument, item);
        }
        seen |= 1u << k;
        at = comma ? comma + 1 : NULL;
    }
    return QUERN_OK;
}
