/* SPDX-License-Identifier: MIT
 *
 * What printf writes for each conversion.
 */
extern "C" __global__ void k(const float *x, const long long *l)
{
    int t = threadIdx.x + blockIdx.x * blockDim.x;
    printf("%03d i %d|%5d|%-5d|%+d|%x|%X|%#x|%o|%u|%c|%%\n", t, -t, t, t, t, t * 77, t * 77, t, t,
           -t, 'a' + t % 26);
    printf("%03d f %f|%.3f|%10.2f|%-10.1f|%e|%g|%G\n", t, x[t], x[t], x[t], x[t], x[t], x[t], x[t]);
    printf("%03d l %lld|%llu|%llx|%ld|%s|%10s|%-6s|\n", t, l[t], l[t], l[t], (long)l[t], "text",
           "right", "left");
    if (t == 3)
        printf("no arguments\n");
}
