/* SPDX-License-Identifier: MIT
 *
 * owner: which parameter of a kernel an access is about. A report prints the owner of an address
 * where it belongs in the sentence, as "byte -4 of parameter 2"; when the launch fails, those words
 * are marked in the error record (base.h: qn_error_subject), and the engine, which knows names and
 * layouts, replaces them by "element -1 of 'w', which has 20".
 *
 * A check that makes its own sentence need only do this:
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

#include "ptx/run/run.h"

/** Marks in a message until the launch is over; no name has such characters. The first is followed
 * by numbers: the parameter, the address, its offset, and what is known of a wrong index (base.h:
 * qn_error_subject). The second is followed by the words for them. */
#define QN_MARK_OWNER     "\001"
#define QN_MARK_WORDS     "\002"
#define QN_MARK_WORDS_END "\003"
/** Around the place for which the failure is recorded; or around one that is not the user's, when
 * the failure is recorded for the place of a use. */
#define QN_MARK_PLACE     "\004"
#define QN_MARK_OTHER     "\006"
#define QN_MARK_PLACE_END "\005"

/** Add "operation:1:5 ('add.s32', PTX line 30)"; the place in the source is put between `begin` and
 * `end`: marks, or "". In run_report.c. */
void qn_print_instruction_place(qn_text *out, const qn_ptx_module *module,
                                const qn_ptx_instruction *instruction, const char *begin,
                                const char *end);

typedef struct qn_owner {
    uint32_t parameter; /**< of the kernel, from 0 */
    uint64_t base;      /**< where it points */
} qn_owner;

/** The parameter that `address`, in device memory, was computed from; false: it is not known. */
bool qn_owner_find(qn_owner *out, const qn_warp *warp, const qn_op *op, uint64_t address);
/** Add ", byte -4 of parameter 2" for an address in device memory; nothing if it is not known. Once
 * per message. */
void qn_print_owner(qn_text *out, const qn_warp *warp, const qn_op *op, uint64_t address);
/** Add ", index 15 of parameter 2", or ", index 5 along axis 1 of parameter 2": `what` and `index`
 * as element.h says. */
void qn_print_element(qn_text *out, uint64_t what, uint64_t address, int64_t index);
/** Which operands of an instruction an address may come from: one bit each. */
unsigned qn_address_sources(const char *opcode);
/** Record a failure whose message has marks: without them, and with what they say. Returns
 * `status`. */
quern_status qn_owner_fail(quern_status status, const char *message);

#endif /* QN_OWNER_H */
