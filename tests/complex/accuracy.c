/* SPDX-License-Identifier: MIT
 *
 * accuracy: how many ulp each complex function is off, compared with MPC. In: `complex_accuracy
 * [COUNT [NAME]]`: how many arguments for each function and type, and one function instead of all;
 * the device from QUERN_DEVICE. Out: for each function and type, a line with the worst error and
 * where it is; status 1 if any is beyond the bound that functions.c states.
 */
#include "complex_test.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct worst {
    double error, re, im;
    size_t at, beyond;
} worst;

/* |b log a| is so large that its rounding alone decides the angle: no accuracy is promised. */
static bool is_far(const function *f, const double *x, const double *z)
{
    return !f->libm && f->arity == 2 &&
           !(hypot(z[0], z[1]) * hypot(log(hypot(x[0], x[1])), atan2(x[1], x[0])) < 12000);
}

static void measure(const function *f, precision p, size_t k, const double *a, const double *b,
                    const double *got, worst *w)
{
    mpc_t x, z, y;
    mpc_init2(x, 53);
    mpc_init2(z, 53);
    mpc_init2(y, REFERENCE_BITS);
    mpc_set_d_d(x, a[0], a[1], MPC_RNDNN);
    mpc_set_d_d(z, b[0], b[1], MPC_RNDNN);
    f->exact(y, x, z);
    mpfr_srcptr re = mpc_realref(y), im = mpc_imagref(y);
    mpfr_srcptr larger = mpfr_cmpabs(re, im) > 0 ? re : im;
    bool overflows = mpfr_regular_p(larger) && mpfr_get_exp(larger) > formats[p].most;
    double error = fmax(error_in_ulp(p, got[0], re, f->normwise ? larger : re),
                        error_in_ulp(p, got[1], im, f->normwise ? larger : im));
    error = f->spoilt && overflows ? 0 : error;
    w->beyond += error > f->bound[p];
    if (error > w->error) {
        *w = (worst){error, mpfr_get_d(re, MPFR_RNDN), mpfr_get_d(im, MPFR_RNDN), k, w->beyond};
    }
    mpc_clear(x);
    mpc_clear(z);
    mpc_clear(y);
}

static size_t check_function(quern_engine *engine, const function *f, precision p, size_t count)
{
    double *x = malloc(2 * count * sizeof *x), *z = malloc(2 * count * sizeof *z),
           *y = malloc(2 * count * sizeof *y);
    worst w = {0};
    make_arguments(p, f, count, x, z);
    evaluate(engine, f, p, count, x, z, y);
    for (size_t k = 0; k < count; k++) {
        if (isfinite(x[2 * k]) && isfinite(x[2 * k + 1]) && !is_far(f, &x[2 * k], &z[2 * k])) {
            measure(f, p, k, &x[2 * k], &z[2 * k], &y[2 * k], &w);
        }
    }
    const double *a = &x[2 * w.at], *b = &z[2 * w.at], *got = &y[2 * w.at];
    printf("%-9s %-10s %8.2f ulp, %zu of %zu beyond %g", f->name, formats[p].name, w.error,
           w.beyond, count, f->bound[p]);
    printf(": (%.9g, %.9g)", a[0], a[1]);
    if (f->arity == 2) {
        printf(", (%.9g, %.9g)", b[0], b[1]);
    }
    printf(" gives (%.9g, %.9g), is (%.9g, %.9g)\n", got[0], got[1], w.re, w.im);
    fflush(stdout);
    free(x);
    free(z);
    free(y);
    return w.beyond;
}

int main(int argc, char **argv)
{
    size_t count = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 2400, beyond = 0;
    quern_engine *engine;
    if (count == 0 || argc > 3) {
        fprintf(stderr, "usage: complex_accuracy [COUNT [NAME]]\n");
        return 2;
    }
    must(quern_open(&engine, NULL), "open");
    for (size_t k = 0; k < function_count; k++) {
        const function *f = &functions[k];
        if (f->exact && (argc < 3 || strcmp(argv[2], f->name) == 0)) {
            beyond +=
                check_function(engine, f, SINGLE, count) + check_function(engine, f, DOUBLE, count);
        }
    }
    quern_close(engine);
    printf("accuracy: %zu beyond their bound\n", beyond);
    return beyond != 0;
}
