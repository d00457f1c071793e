/* SPDX-License-Identifier: MIT
 *
 * Bound calls in a loop: heat flows along a rod. A bound call is checked and packed once, and each
 * launch then costs little more than the driver's own; a scalar may change in between. The
 * stencil's neighbours are three views of one array, shifted by an element.
 */
#include "sample.h"

#define POINTS 66 /* the first and the last keep their temperature */
#define STEPS  4000

/* rod[first : first + POINTS - 2] */
static quern_array *part(quern_array *rod, int64_t first)
{
    quern_array *view;
    must(quern_array_slice(&view, rod, 1, (quern_slice[]){{first, first + POINTS - 2, 1}}));
    return view;
}

/* A bound step from one rod to the other. */
static quern_bound *bind_step(quern_kernel *step, quern_array *from, quern_array *to)
{
    quern_bound *bound;
    quern_array *left = part(from, 0), *here = part(from, 1), *right = part(from, 2);
    quern_array *result = part(to, 1);
    const quern_value values[] = {QUERN_VALUES(left, here, right, 0.1f, result)};
    must(quern_bind(&bound, step, values, 5, NULL));
    quern_array_release(left); /* the bound call keeps what it needs */
    quern_array_release(here);
    quern_array_release(right);
    quern_array_release(result);
    return bound;
}

int main(void)
{
    float host[POINTS] = {100}; /* degrees; the rest is cold */
    quern_engine *engine;
    quern_kernel *step;
    quern_array *rods[2];

    must(quern_open(&engine, NULL));
    must(quern_array_from(&rods[0], engine, QUERN_FLOAT32, 1, (int64_t[]){POINTS}, host));
    must(quern_array_from(&rods[1], engine, QUERN_FLOAT32, 1, (int64_t[]){POINTS}, host));
    must(quern_elementwise(&step, engine, "T left, T here, T right, T rate", "T next",
                           "next = here + rate * (left - 2 * here + right)", NULL));

    quern_bound *forth = bind_step(step, rods[0], rods[1]);
    quern_bound *back = bind_step(step, rods[1], rods[0]);
    for (int k = 0; k < STEPS; k += 2) {
        if (k == STEPS / 2) { /* the rod is swapped for copper: replace the rate, argument 3 */
            must(quern_bound_set_scalar(forth, 3, quern_scalar_float(0.4f)));
            must(quern_bound_set_scalar(back, 3, quern_scalar_float(0.4f)));
        }
        must(quern_launch(forth));
        must(quern_launch(back));
    }
    must(quern_array_read(rods[0], host, sizeof host));
    for (int k = 0; k < POINTS; k += 13) {
        printf("%5.1f degrees at %2d\n", host[k], k);
    }

    quern_bound_release(forth);
    quern_bound_release(back);
    quern_array_release(rods[0]);
    quern_array_release(rods[1]);
    quern_kernel_release(step);
    quern_close(engine);
    return 0;
}
