/* SPDX-License-Identifier: MIT
 *
 * saxpy in five calls: z = a x + y. The scalar is an argument like any other; z is allocated.
 */
#include "sample.h"

int main(void)
{
    const float host_x[] = {0, 1, 2, 3, 4}, host_y[] = {10, 20, 30, 40, 50};
    float host_z[5];
    quern_engine *engine;
    quern_array *x, *y, *z = NULL;
    quern_kernel *saxpy;

    must(quern_open(&engine, NULL));
    must(quern_array_from(&x, engine, QUERN_FLOAT32, 1, (int64_t[]){5}, host_x));
    must(quern_array_from(&y, engine, QUERN_FLOAT32, 1, (int64_t[]){5}, host_y));
    must(quern_elementwise(&saxpy, engine, "float a, float x, float y", "float z", "z = a * x + y",
                           NULL));
    must(quern_call(saxpy, 2.5f, x, y, &z));
    must(quern_array_read(z, host_z, sizeof host_z));

    for (int i = 0; i < 5; i++) {
        printf("%g * %g + %g = %g\n", 2.5, host_x[i], host_y[i], host_z[i]);
    }

    quern_kernel_release(saxpy);
    quern_array_release(x);
    quern_array_release(y);
    quern_array_release(z);
    quern_close(engine);
    return 0;
}
