/* SPDX-License-Identifier: MIT
 *
 * owner: which parameter of a kernel an access is about. A report prints the owner of an address
 * where the words shall stand, as "byte -4 of parameter 2"; when the launch fails, those words are
 * marked in the error record (base.h: qn_error_subject), and the engine, which knows names and
 * layouts, says "element -1 of 'w', which has 20" in their stead.
 *
 * A check that makes its own sentence does just this:
 *
 *     qn_text_printf(&text, "read of 4 bytes at 0x%llx", address);
 *     qn_print_owner(&text, warp, op, address);          -> ", byte -4 of parameter 2", or nothing
 *     qn_fault(warp, op, lane, QUERN_ERROR_ACCESS, "%s", text.data);
 *
 * with `op` the load, store or atomic that computed the address in warp->frame; NULL: it is not
 * known.
 */
#ifndef QN_OWNER_H
#define QN_OWNER_H

#include "ptx/run.h"

typedef struct qn_owner {
    uint32_t parameter; /**< of the kernel, from 0 */
    uint64_t base;      /**< where it points */
} qn_owner;

/** The parameter that `address`, in device memory, was computed from; false: it is not known. */
bool qn_owner_find(qn_owner *out, const qn_warp *warp, const qn_op *op, uint64_t address);
/** Add ", byte -4 of parameter 2" for an address in device memory; nothing where it is not known.
 * Once a message. */
void qn_print_owner(qn_text *out, const qn_warp *warp, const qn_op *op, uint64_t address);
/** Record a failure whose message has marks: without them, and with what they say. Returns
 * `status`. */
quern_status qn_owner_fail(quern_status status, const char *message);

#endif /* QN_OWNER_H */
