/* SPDX-License-Identifier: MIT
 *
 * element: check=bounds. templates/raw_checked.cuh hands each index of a raw array to the function
 * __quern_element(address, what, index), which returns the address; an operation before the call
 * records the three for each lane. Another operation, before a load, store or atomic whose address
 * was computed from what such calls returned, checks whether the access touches an element that a
 * call named and the array does not have. So taking or comparing an address, such as that of the
 * element past the last, is not reported.
 *
 *     decode_element.c  which accesses follow from which calls
 *     run_element.c     what is recorded, and the check of an access
 */
#ifndef QN_ELEMENT_H
#define QN_ELEMENT_H

#include "ptx/decode/decode.h"

#define QN_ELEMENT_FUNCTION "__quern_element"

/** A call in a function: where its three arguments are passed, in the caller's block of parameters,
 * and where they are kept in the frame, in registers of 64 bits. */
typedef struct qn_element_call {
    uint32_t passed[3];
    qn_place kept[3];
} qn_element_call;

/** The calls that an operation is about. */
typedef struct qn_element_calls {
    uint32_t count;
    const qn_element_call *calls[];
} qn_element_calls;

/** The size of the element, in the low 32 bits of `what`; the next two have 16 bits each. */
static inline uint32_t qn_element_bytes(uint64_t what)
{
    return (uint32_t)what;
}

/** 0: the array has the element; 1: the index in C order is wrong; 2 + k: the one along axis k
 * is. */
static inline uint32_t qn_element_named(uint64_t what)
{
    return (uint32_t)(what >> 32 & 0xffff);
}

/** The number of the array among the kernel's parameters. */
static inline uint32_t qn_element_parameter(uint64_t what)
{
    return (uint32_t)(what >> 48);
}

/** A frame begins: nothing has been called in it. `extra`: the qn_element_calls of the function. */
bool qn_run_elements_begin(qn_warp *warp, const qn_op *op, uint32_t mask);
/** Record what a call is about to be passed. `extra`: the qn_element_call. */
bool qn_run_element_keep(qn_warp *warp, const qn_op *op, uint32_t mask);
/** Check the access that follows. `extra`: the qn_element_calls that its address may come from. */
bool qn_run_element_look(qn_warp *warp, const qn_op *op, uint32_t mask);
/** run_report.c: report an access of an element that the array does not have. Always false. */
bool qn_fault_element(qn_warp *warp, const qn_op *op, unsigned lane, uint64_t address,
                      uint64_t bytes, qn_access_kind kind, uint64_t what, int64_t index);
/** run_builtin.c: the function itself. */
bool qn_run_element(qn_warp *warp, const qn_op *op, uint32_t mask);

#endif /* QN_ELEMENT_H */
