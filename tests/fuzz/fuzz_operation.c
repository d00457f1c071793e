/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: what is read off operations without parsing them. The input is the text.
 *
 * Holds for every text: each scanner returns; comments around it change nothing that is said of
 * its loops; a text without the names of the parameters depends on none, and has no raw arrays.
 */
#include "holds.h"
#include "lang/lang.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_loops(const qn_signature *s, const char *text, const char *wrapped)
{
    qn_loop_facts facts, again;
    const qn_loop_texts own = {.operation = text, .preamble = text};
    const qn_loop_texts other = {.operation = wrapped, .preamble = wrapped};
    qn_text_study_loops(&facts, &own, s, "i");
    qn_text_study_loops(&again, &other, s, "i");
    bool named = false;
    for (uint32_t p = 0; p < s->count; p++) {
        const char name[] = {s->parameters[p].name.data[0], '\0'};
        const bool used = qn_text_uses(text, name);
        HOLDS(used || !facts.counts[p]);
        named |= used && s->parameters[p].raw;
    }
    HOLDS(named || !facts.placed);
    HOLDS(again.even == facts.even && again.placed == facts.placed);
    HOLDS(memcmp(again.counts, facts.counts, sizeof facts.counts) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    qn_arena arena = {0};
    qn_signature s;
    HOLDS(qn_signature_parse(&s, &arena, "T x, int32 n, raw T r", "T y, raw T q") == QUERN_OK);
    char *text = malloc(size + 1), *wrapped = malloc(size + 16);
    HOLDS(text && wrapped);
    memcpy(text, data, size);
    text[size] = '\0';
    snprintf(wrapped, size + 16, "/* for */ %s", text);
    check_loops(&s, text, wrapped);
    (void)qn_text_takes_address(text, "x");
    (void)qn_text_may_assign(text, "y", true);
    (void)qn_text_declares_reference(text, true);
    HOLDS(!qn_text_is_blank(text) || !qn_text_is_statements(text));
    free(text);
    free(wrapped);
    qn_arena_free(&arena);
    return 0;
}
