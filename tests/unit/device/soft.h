/* SPDX-License-Identifier: MIT
 *
 * What the tests of the software device begin with: an opened device, and a function of a module.
 */
#ifndef QUERN_TEST_SOFT_H
#define QUERN_TEST_SOFT_H

#include "device/device_internal.h"
#include "says.h"

static const quern_device_methods *const soft = &qn_soft_device;

static inline quern_device *open_soft(const char *argument)
{
    quern_device *device;
    cr_assert_eq(soft->open(&device, argument, NULL), QUERN_OK, "%s", quern_last_error()->message);
    return device;
}

static inline void *function(quern_device *device, void *module, const char *name)
{
    void *found;
    cr_assert_eq(soft->function_get(device, &found, module, name), QUERN_OK, "%s",
                 quern_last_error()->message);
    return found;
}

#endif /* QUERN_TEST_SOFT_H */
