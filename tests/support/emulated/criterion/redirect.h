/* SPDX-License-Identifier: MIT
 *
 * The part of Criterion's stand-in that catches what a test prints; criterion.h says why there is
 * one.
 */
#ifndef QN_EMULATED_REDIRECT_H
#define QN_EMULATED_REDIRECT_H

#include <stdio.h>

void cr_redirect_stdout(void);
void cr_redirect_stderr(void);
FILE *cr_get_redirected_stderr(void); /* to be read from its beginning */

#endif /* QN_EMULATED_REDIRECT_H */
