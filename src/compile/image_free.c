/* SPDX-License-Identifier: MIT
 *
 * Frees the image that a compilation or a linking gave. In: an image. Out: an empty one.
 */
#include "compile/compile.h"

void qn_image_free(qn_image *image)
{
    for (size_t k = 0; image->lowered && k < image->lowered_count; k++) {
        qn_free(image->lowered[k]);
    }
    qn_free(image->lowered);
    qn_free(image->data);
    qn_free(image->log);
    qn_free(image->said);
    qn_free(image->compiler);
    *image = (qn_image){0};
}
