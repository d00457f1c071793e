/* SPDX-License-Identifier: MIT
 *
 * The PTX texts that the reader's tests walk over: the fuzz target's corpus, which NVRTC wrote, and
 * the folders named in QUERN_PTX_CORPUS (separated by colons), when it is set.
 */
#ifndef TEST_PTX_READ_CORPUS_H
#define TEST_PTX_READ_CORPUS_H

#include "ptx/ptx.h"

typedef void (*corpus_visitor)(const char *path, const qn_ptx_module *module, void *context);
/** Read every *.ptx and visit it; a text that cannot be read fails the test. Returns the count. */
unsigned corpus_visit(corpus_visitor visit, void *context);
/** Read a text; fails the test when it cannot. */
qn_ptx_module *corpus_read(const char *text);

#endif /* TEST_PTX_READ_CORPUS_H */
