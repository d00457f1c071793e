// SPDX-License-Identifier: MIT
//
// constants: the numbers that CUDA calls CUDART_PI, CUDART_INF and the like, for texts that name one
// and for #include <cupy/math_constants.h>. The names are those of CUDA's math_constants.h; left out
// are the parts of split numbers.
#pragma once

#define CUDART_INF             __longlong_as_double(0x7ff0000000000000ULL)
#define CUDART_NAN             __longlong_as_double(0xfff8000000000000ULL)
#define CUDART_ZERO            0.0
#define CUDART_NEG_ZERO        (-0.0)
#define CUDART_ONE             1.0
#define CUDART_MIN_DENORM      __longlong_as_double(1)
#define CUDART_SQRT_TWO        1.41421356237309504880
#define CUDART_SQRT_HALF       0.707106781186547524401
#define CUDART_THIRD           0.333333333333333333333
#define CUDART_TWOTHIRD        0.666666666666666666667
#define CUDART_PIO4            0.785398163397448309616
#define CUDART_PIO2            1.57079632679489661923
#define CUDART_3PIO4           2.35619449019234492885
#define CUDART_PI              3.14159265358979323846
#define CUDART_2_OVER_PI       0.636619772367581343076
#define CUDART_SQRT_2OPI       0.797884560802865355880
#define CUDART_SQRT_2PI        2.50662827463100050242
#define CUDART_SQRT_PIO2       1.25331413731550025121
#define CUDART_L2E             1.44269504088896340736
#define CUDART_L2T             3.32192809488736234787
#define CUDART_LG2             0.301029995663981195214
#define CUDART_LGE             0.434294481903251827651
#define CUDART_LN2             0.693147180559945309417
#define CUDART_LNT             2.30258509299404568402
#define CUDART_LNPI            1.14472988584940017414
#define CUDART_TWO_TO_23       8388608.0
#define CUDART_TWO_TO_52       4503599627370496.0
#define CUDART_TWO_TO_53       9007199254740992.0
#define CUDART_TWO_TO_54       18014398509481984.0

#define CUDART_INF_F           __int_as_float(0x7f800000)
#define CUDART_NAN_F           __int_as_float(0x7fffffff)
#define CUDART_ZERO_F          0.0f
#define CUDART_NEG_ZERO_F      (-0.0f)
#define CUDART_ONE_F           1.0f
#define CUDART_MIN_DENORM_F    __int_as_float(1)
#define CUDART_MAX_NORMAL_F    __int_as_float(0x7f7fffff)
#define CUDART_SQRT_TWO_F      1.41421356237f
#define CUDART_SQRT_HALF_F     0.707106781187f
#define CUDART_THIRD_F         0.333333333333f
#define CUDART_PIO4_F          0.785398163397f
#define CUDART_PIO2_F          1.57079632679f
#define CUDART_3PIO4_F         2.35619449019f
#define CUDART_PI_F            3.14159265359f
#define CUDART_2_OVER_PI_F     0.636619772368f
#define CUDART_SQRT_2_OVER_PI_F 0.797884560803f
#define CUDART_L2E_F           1.44269504089f
#define CUDART_L2T_F           3.32192809489f
#define CUDART_LG2_F           0.301029995664f
#define CUDART_LGE_F           0.434294481903f
#define CUDART_LN2_F           0.693147180560f
#define CUDART_LNT_F           2.30258509299f
#define CUDART_LNPI_F          1.14472988585f
#define CUDART_TWO_TO_23_F     8388608.0f
#define CUDART_TWO_TO_24_F     16777216.0f
#define CUDART_TWO_TO_31_F     2147483648.0f
#define CUDART_TWO_TO_32_F     4294967296.0f
