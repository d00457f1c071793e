/* SPDX-License-Identifier: MIT
 *
 * docs/textures.md: a picture read between its elements; and where there are no textures, the
 * refusal of which the page speaks.
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
        int64_t shape[] = {2, 2};
        quern_cuda_array_new(&picture, engine, QUERN_FLOAT32, 2, shape, NULL);
        must_be(quern_last_error()->status == QUERN_ERROR_NOT_SUPPORTED,
                "a CUDA array, or the answer that this device has no textures");
    }
    quern_function_release(magnify);
    quern_module_release(module);
    quern_texture_release(texture);
    quern_cuda_array_release(picture);
    quern_array_release(pixels);
    quern_array_release(out);
    quern_close(engine);
    return 0;
}
