/* SPDX-License-Identifier: MIT
 *
 * cuRAND's counter-based generator: its words, uniform and normal numbers of both precisions.
 */
#include <curand_kernel.h>

extern "C" __global__ void k(unsigned *words, float *uniform, double *fine, float *normal)
{
    const int t = threadIdx.x;
    curandStatePhilox4_32_10_t state;
    curand_init(77, t, t % 7, &state);
    const uint4 four = curand4(&state);
    words[2 * t] = four.x ^ four.y ^ four.z ^ four.w;
    words[2 * t + 1] = curand(&state);
    uniform[t] = curand_uniform(&state);
    fine[t] = curand_uniform_double(&state);
    normal[t] = curand_normal(&state);
}
