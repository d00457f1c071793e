/* SPDX-License-Identifier: MIT
 *
 * The elements of a generator. In: what generator.c has read, and a seed. Out: a recipe, which
 * elements.h follows on the host and on the device; or the elements themselves, made on the host.
 *
 * arange and linspace go through the same operations as NumPy's, so that they give the same bits.
 */
#include "generate.h"

#include <string.h>

bool cli_generator_is_uniform(const cli_generator *g)
{
    return g->kind == CLI_ZEROS || g->kind == CLI_ONES || g->kind == CLI_FULL;
}

void cli_generator_element(void *to, const cli_generator *g)
{
    if (g->kind == CLI_FULL) {
        memcpy(to, g->element, quern_dtype_size(g->dtype));
    } else {
        cli_element_store(to, g->dtype, g->kind == CLI_ONES, 0, g->kind == CLI_ONES);
    }
}

/* ---- recipes -------------------------------------------------------------------------------- */

static cli_form form_of(quern_dtype dtype)
{
    cli_form f = {.kind = CLI_MAKE_RANDOM, .parts = 1 + cli_is_complex(dtype)};
    f.width = (uint32_t)quern_dtype_size(dtype) / f.parts;
    f.part = dtype == QUERN_BOOL   ? CLI_PART_BOOL
             : cli_is_whole(dtype) ? CLI_PART_WHOLE
             : cli_is_small(dtype) ? CLI_PART_SMALL
                                   : CLI_PART_FLOAT;
    f.small = cli_is_small(dtype) ? cli_small_of(dtype) : (cli_small){0};
    return f;
}

/* Small floats are computed with once they are rounded. */
static double as_element(double value, quern_dtype dtype)
{
    return cli_is_small(dtype)
               ? cli_small_to_double((uint16_t)cli_small_code(value, cli_small_of(dtype)), dtype)
               : value;
}

static void describe_range(cli_recipe *r, const cli_generator *g)
{
    r->form.kind = !g->bounded              ? CLI_MAKE_COUNT
                   : cli_is_whole(g->dtype) ? CLI_MAKE_STEPS
                                            : CLI_MAKE_RANGE;
    r->first = g->first;
    r->step = g->step;
    r->start[0] = as_element(g->start[0], g->dtype);
    r->stop[0] = as_element(g->stop[0], g->dtype);
}

/* As NumPy does, which divides a complex number by multiplying. */
static void describe_linspace(cli_recipe *r, const cli_generator *g)
{
    double delta[2], step[2];
    r->form.kind = CLI_MAKE_LINSPACE;
    r->last = (double)(g->shape[0] - 1);
    r->complex_ends = g->is_complex;
    for (int part = 0; part < 2; part++) {
        r->start[part] = g->start[part];
        r->stop[part] = g->stop[part];
        delta[part] = g->stop[part] - g->start[part];
        step[part] = g->is_complex ? delta[part] * (1 / r->last) : delta[part] / r->last;
    }
    r->stays = g->shape[0] < 2 || (step[0] == 0 && step[1] == 0);
    memcpy(r->factor, r->stays ? delta : step, sizeof r->factor);
}

void cli_recipe_of(cli_recipe *out, const cli_generator *g, uint64_t seed, uint64_t stream)
{
    int64_t bytes = 0;
    cli_shape_bytes(&bytes, g->ndim, g->shape, quern_dtype_size(g->dtype));
    *out = (cli_recipe){.form = form_of(g->dtype), .bytes = (uint64_t)bytes, .stream = stream};
    cli_philox_keys(out->keys, seed);
    if (g->kind == CLI_ARANGE) {
        describe_range(out, g);
    } else if (g->kind == CLI_LINSPACE) {
        describe_linspace(out, g);
    } else if (g->kind == CLI_EYE) {
        out->form.kind = CLI_MAKE_EYE;
        out->columns = (uint64_t)g->shape[g->ndim - 1];
    }
}

/* ---- on the host ---------------------------------------------------------------------------- */

void cli_recipe_follow(void *to, const cli_recipe *recipe, uint64_t begin, uint64_t bytes)
{
    char *out = to;
    for (uint64_t at = 0; at < bytes; at += CLI_BLOCK_BYTES) {
        uint32_t made[4];
        const uint64_t left = bytes - at;
        cli_make_block(made, recipe->form, recipe, (begin + at) / CLI_BLOCK_BYTES);
        memcpy(out + at, made, left < CLI_BLOCK_BYTES ? left : CLI_BLOCK_BYTES);
    }
}
