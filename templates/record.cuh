// SPDX-License-Identifier: MIT
//
// record: what definitions of records are made of beside the dtypes' own types.
#pragma once

namespace quern
{

// A bool in memory, of which any byte but 0 is true: whoever wrote it may not have been C. As long as
// nobody assigns it, a copy keeps its byte.
struct flag {
    unsigned char byte;
    __device__ operator bool() const
    {
        return byte != 0;
    }
    __device__ flag &operator=(bool v)
    {
        byte = v;
        return *this;
    }
};

// Records of a pack in registers; each is moved by itself.
template <typename T_, int L_> struct bundle {
    T_ v[L_];
};

} // namespace quern
