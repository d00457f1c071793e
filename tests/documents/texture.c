/* SPDX-License-Identifier: MIT
 *
 * docs/textures.md: a picture read between its elements. Skipped where there are no textures.
 */
#include "document.h"

int main(void)
{
    quern_engine *engine = new_engine();
    quern_array *pixels, *out = count_up(engine, 3, 3);
    must(quern_array_from(&pixels, engine, QUERN_FLOAT32, 2, (int64_t[]){2, 2},
                          (float[]){0, 2, 4, 6}));
#include "texture.inc"
    if (picture) {
        MUST_HOLD(out, QUERN_FLOAT32, float, 0, 1, 2, 2, 3, 4, 4, 5, 6);
    } else {
        fputs("the device of QUERN_DEVICE has no textures: a GPU has\n", stderr);
    }
    int code = picture ? 0 : 77;
    quern_function_release(magnify);
    quern_module_release(module);
    quern_texture_release(texture);
    quern_cuda_array_release(picture);
    quern_array_release(pixels);
    quern_array_release(out);
    quern_close(engine);
    return code;
}
