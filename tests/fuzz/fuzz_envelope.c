/* SPDX-License-Identifier: MIT
 *
 * Values of a remote store: any bytes as an envelope, as the entry or the recipe in it, and as the
 * material of a recipe. Nothing may be read beyond them, and what is sound must be whole.
 */
#include "cache/fleet.h"

#include <stdlib.h>

/* Of exactly these bytes, so that a read beyond them is seen. */
static void try_value(const char *data, size_t size, const qn_trust *trust)
{
    static const qn_key key = {.hex = "0123456789abcdef0123456789abcdef",
                               .material = (char *)"material",
                               .material_size = 8};
    static const char *const compiler = "65be0db342ad51a06876e71e210bccc5aa8322cf";
    qn_str bytes, material, value = {data, size};
    qn_image image;
    char name[256];
    if (qn_envelope_open(&bytes, QN_CONTENT_IMAGE, value, trust) == QN_SOUND) {
        if (qn_remote_read_image(&image, &key, compiler, bytes) == QN_SOUND) {
            qn_image_free(&image);
        }
    }
    if (qn_envelope_open(&bytes, QN_CONTENT_RECIPE, value, trust) == QN_SOUND &&
        qn_recipe_read(&material, name, key.hex, bytes)) {
        abort(); /* nobody guesses the material of this hash */
    }
}

static void try_material(const char *data, size_t size)
{
    qn_recipe recipe;
    if (qn_recipe_open(&recipe, (qn_str){data, size}) == QUERN_OK) {
        if (!recipe.source[0] || !recipe.arch || !recipe.kind) {
            abort();
        }
        qn_recipe_free(&recipe);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static qn_trusted someone = {.name = "someone"};
    const qn_trust trust = {&someone, 1, 1};
    char *copy = malloc(size ? size : 1);
    if (!copy) {
        return 0;
    }
    if (size) {
        memcpy(copy, data, size);
    }
    try_value(copy, size, NULL);
    try_value(copy, size, &trust);
    try_material(copy, size);
    free(copy);
    return 0;
}
