/* SPDX-License-Identifier: MIT
 *
 * home: a device that is open, and who holds on to it. In: references. Out: the owner's `end`, once
 * the last is gone; the facts of a function. The thing to know: buffers, streams and events hold
 * homes, not engines, so they depend on nothing else that an engine does.
 */
#include "device/device_internal.h"

void qn_home_release(qn_home *home)
{
    if (atomic_fetch_sub_explicit(&home->references, 1, memory_order_acq_rel) == 1) {
        home->owner->end(home);
    }
}

quern_status qn_home_function_info(quern_function_info *out, const qn_home *home, void *function)
{
    *out = (quern_function_info)QUERN_FUNCTION_INFO_INIT;
    return home->methods->function_info(home->device, function, out);
}
