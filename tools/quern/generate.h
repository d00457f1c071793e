/* SPDX-License-Identifier: MIT
 *
 * What generate.c and generate_array.c share: recipes of the arrays that generators make.
 */
#ifndef QUERN_CLI_GENERATE_H
#define QUERN_CLI_GENERATE_H

#include "cli.h"
#include "elements.h"

/* How the elements of a generator are made, unless they are all one (cli_generator_is_uniform). */
void cli_recipe_of(cli_recipe *out, const cli_generator *generator, uint64_t seed, uint64_t stream);
/* Bytes [begin, begin + bytes) of the array, made here; `begin` is a multiple of a block. */
void cli_recipe_follow(void *to, const cli_recipe *recipe, uint64_t begin, uint64_t bytes);

#endif /* QUERN_CLI_GENERATE_H */
