/* SPDX-License-Identifier: MIT
 *
 * setting: settings as text, which is how they are kept and shown. In: numbers. Out: words such as
 * "pack=8 block=128", and back. The thing to know: what is read comes from a file, so only what
 * this could have written is taken.
 */
#include "array/setting.h"
#include <stdio.h>
#include <string.h>

static const char *const walks[] = {"", "packs", "rows"};

#define FIELD(name, least, most, words)                                                            \
    {                                                                                              \
#name, offsetof(qn_setting, name), least, most, words                                      \
    }
const qn_setting_field qn_setting_fields[QN_SETTING_FIELDS] = {
    FIELD(walk, 1, 2, walks),   FIELD(pack, 1, 16, NULL),     FIELD(turns, 1, 8, NULL),
    FIELD(tile, 32, 64, NULL),  FIELD(block, 32, 1024, NULL), FIELD(workers, 1, 256, NULL),
    FIELD(blocks, 1, 16, NULL),
};

void qn_setting_print(qn_text *out, const qn_setting *setting)
{
    qn_setting s = *setting;
    const char *between = "";
    for (size_t k = 0; k < QN_SETTING_FIELDS; k++) {
        const qn_setting_field *f = &qn_setting_fields[k];
        const uint16_t value = *qn_setting_at(&s, f);
        if (value != 0 && f->words) {
            qn_text_printf(out, "%s%s=%s", between, f->name, f->words[value]);
        } else if (value != 0) {
            qn_text_printf(out, "%s%s=%u", between, f->name, value);
        }
        between = value != 0 ? " " : between;
    }
}

/* The number that `text` says of a field; 0: none that it may have. */
static uint16_t read_value(const qn_setting_field *f, qn_str text)
{
    for (uint16_t v = f->least; v <= f->most; v = (uint16_t)(f->words ? v + 1 : 2 * v)) {
        char digits[8];
        snprintf(digits, sizeof digits, "%u", v);
        if (qn_str_is(text, f->words ? f->words[v] : digits)) {
            return v;
        }
    }
    return 0;
}

/* One "name=value". */
static bool read_word(qn_setting *out, qn_str word)
{
    const char *equals = memchr(word.data, '=', word.length);
    const size_t name = equals ? (size_t)(equals - word.data) : 0;
    for (size_t k = 0; equals && k < QN_SETTING_FIELDS; k++) {
        const qn_setting_field *f = &qn_setting_fields[k];
        uint16_t *at = qn_setting_at(out, f);
        if (qn_str_is((qn_str){word.data, name}, f->name)) {
            const bool first = *at == 0;
            *at = read_value(f, (qn_str){equals + 1, word.length - name - 1});
            return first && *at != 0;
        }
    }
    return false;
}

bool qn_setting_read(qn_setting *out, const char *text)
{
    *out = (qn_setting){0};
    while (*text) {
        const size_t length = strcspn(text, " ");
        if (!read_word(out, (qn_str){text, length})) {
            *out = (qn_setting){0};
            return false;
        }
        text += length + (text[length] == ' ');
    }
    return true;
}
