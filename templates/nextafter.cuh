// SPDX-License-Identifier: MIT
//
// nextafter: nextafter of two halves, or of two 8-bit floats, in their own type, for texts that name it
// where there are such numbers: as floats their neighbours would be rounded away. In: x and y. Out: the
// number next to x on the way to y, as C has it for other types.
//
// It has a pack of further arguments, which makes it the worse match beside a function of the same name
// in a preamble.
#pragma once

namespace quern
{

template <typename H_> struct narrow_float {
};
#ifdef QUERN_HAS_HALF
template <> struct narrow_float<float16> {
    typedef float16 type;
};
template <> struct narrow_float<bfloat16> {
    typedef bfloat16 type;
};
#endif
#ifdef QUERN_HAS_FLOAT8
template <> struct narrow_float<float8_e4m3fn> {
    typedef float8_e4m3fn type;
};
template <> struct narrow_float<float8_e5m2> {
    typedef float8_e5m2 type;
};
#endif

} // namespace quern

// The codes of one sign are in the order of their magnitudes, without gaps.
template <typename H_, typename... Q_>
__device__ __forceinline__ typename quern::narrow_float<H_>::type nextafter(H_ x, H_ y, Q_...)
{
    const float from = x, to = y;
    const unsigned sign = 1u << (8 * sizeof(H_) - 1);
    if (from == to || to != to) {
        return y;
    }
    if (from == 0) {
        x.bits = (y.bits & sign) | 1;
    } else if (from == from) {
        x.bits += (from < to) == (from > 0) ? 1 : -1;
    }
    return x;
}
