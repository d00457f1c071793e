// SPDX-License-Identifier: MIT
//
// thrust: Thrust's names for complex numbers, which are Quern's own. In: the names of functions,
// which the generated source, or complex_all.cuh, gives to the macro below once they are declared.
#pragma once
#include <quern/complex.cuh>

namespace thrust
{
using ::complex;
} // namespace thrust

#define QUERN_THRUST(NAME)                                                                         \
    namespace thrust                                                                               \
    {                                                                                              \
    using ::NAME;                                                                                  \
    }
