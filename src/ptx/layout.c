/* SPDX-License-Identifier: MIT
 *
 * layout: the order of the instructions.
 */
#include "ptx/reader.h"
quern_status qn_ptx_layout(qn_ptx_function *function, qn_arena *arena)
{
    (void)function;
    (void)arena;
    return QUERN_OK;
}
