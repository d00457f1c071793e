/* SPDX-License-Identifier: MIT
 *
 * For tests of calls that must be refused: checks of status, message and outputs, and an engine on
 * the software device. In: a call and a part of the message. Out: nothing, or a failed expectation
 * that shows the call.
 */
#ifndef QUERN_TEST_REFUSE_H
#define QUERN_TEST_REFUSE_H

#include "unit/engine/whole.h"

static inline void open_one(void)
{
    quern_options options = QUERN_OPTIONS_INIT;
    options.device = "soft";
    cr_assert_eq(quern_open(&engine, &options), QUERN_OK, "%s", quern_last_error_text());
}

/* What an output is before a call that fails: anything but NULL. */
static char nowhere __attribute__((unused));
#define UNSET ((void *)&nowhere)

static inline void expect(quern_status expected, quern_status status, const char *call,
                          const char *part)
{
    cr_expect_eq(status, expected, "%s: status %d (%s)", call, (int)status,
                 quern_last_error()->message);
    cr_expect_eq(quern_last_error()->status, (int32_t)status, "%s", call);
    cr_expect_not_null(strstr(quern_last_error()->message, part), "%s: \"%s\" lacks \"%s\"", call,
                       quern_last_error()->message, part);
}

#define REFUSED(status, call, part) expect((status), (call), #call, (part))
/** The call is refused as an invalid argument. */
#define REFUSE(call, part) REFUSED(QUERN_ERROR_INVALID_ARGUMENT, call, part)
/** The same, and `out` becomes NULL. */
#define REFUSED_OUT(status, out, call, part)                                                       \
    do {                                                                                           \
        (out) = UNSET;                                                                             \
        REFUSED(status, call, part);                                                               \
        cr_expect_null((out), "%s: the output is not NULL", #call);                                \
    } while (0)
#define REFUSE_OUT(out, call, part) REFUSED_OUT(QUERN_ERROR_INVALID_ARGUMENT, out, call, part)

static inline quern_array *numbers(void)
{
    return array_of(QUERN_INT32, SHAPE(2, 3), (int32_t[]){0, 1, 2, 3, 4, 5});
}

#endif /* QUERN_TEST_REFUSE_H */
