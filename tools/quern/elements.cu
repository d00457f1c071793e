// SPDX-License-Identifier: MIT
//
// A generated array, made on the device: a thread makes 16 bytes of it. generate_array.c defines
// what must be known to the compiler, so that each kind of recipe and element is code of its own.
#include "elements.h"

extern "C" __global__ void generate(const cli_recipe recipe, unsigned char *array)
{
    const cli_form form = {KIND, PART, WIDTH, PARTS, {EXPONENT, FRACTION, INFINITE, SATURATES}};
    const uint64_t block = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t at = block * CLI_BLOCK_BYTES;
    if (at >= recipe.bytes) {
        return;
    }
    uint32_t made[4];
    cli_make_block(made, form, &recipe, block);
    const uint64_t left = recipe.bytes - at;
    if (left >= CLI_BLOCK_BYTES) {
        reinterpret_cast<uint4 *>(array)[block] = make_uint4(made[0], made[1], made[2], made[3]);
        return;
    }
#pragma unroll
    for (int k = 0; k < CLI_BLOCK_BYTES; k++) { // unrolled, so that the words stay in registers
        if (k < left) {
            array[at + k] = made[k / 4] >> k % 4 * 8;
        }
    }
}
