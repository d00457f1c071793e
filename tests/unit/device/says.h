/* SPDX-License-Identifier: MIT
 *
 * What a failure must say.
 */
#ifndef QUERN_TEST_SAYS_H
#define QUERN_TEST_SAYS_H

#include <criterion/criterion.h>
#include <quern/quern.h>
#include <string.h>

/** The message of the last failure contains `text`. */
#define assert_says(text)                                                                          \
    cr_assert(strstr(quern_last_error()->message, (text)), "wanted '%s' in: %s", (text),           \
              quern_last_error()->message)

#endif /* QUERN_TEST_SAYS_H */
