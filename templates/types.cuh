// SPDX-License-Identifier: MIT
//
// types: the small names that C programmers expect in a snippet and that NVRTC does not declare.
#pragma once

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;

#define INFINITY __int_as_float(0x7f800000)
#define NAN      __int_as_float(0x7fffffff)
#define M_PI     3.14159265358979323846
#define M_E      2.71828182845904523536

// How many blocks a processor should hold at once: `n`, or fewer, if threads would have too few
// registers then (src/compile/roomier.c).
#ifndef QUERN_FEWER_BLOCKS
#define QUERN_FEWER_BLOCKS 0
#endif
#define QUERN_BLOCKS(n) ((n) > 2 + QUERN_FEWER_BLOCKS ? (n)-QUERN_FEWER_BLOCKS : (n) > 2 ? 2 : (n))
