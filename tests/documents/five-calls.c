/* SPDX-License-Identifier: MIT
 *
 * README: five calls.
 */
#include "document.h"

int main(void)
{
    const float host_x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, host_y[] = {1, 1, 1, 1, 1};
    float host_z[10];
#include "five-calls.inc"
    for (int k = 0; k < 10; k++) {
        must_be(host_z[k] == (host_x[k] - 1) * (host_x[k] - 1), "(x - y) * (x - y)");
    }
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(z);
    quern_kernel_release(squared_difference);
    quern_close(engine);
    return 0;
}
