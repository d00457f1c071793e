/* SPDX-License-Identifier: MIT
 *
 * values_keep: what recorded work uses. In: the values of a call or a launch on a stream that is
 * being captured. Out: arrays, textures and surfaces held by the graph.
 */
#include "engine/textures/textures.h"

quern_status qn_values_keep(const quern_value *values, size_t count, quern_stream *stream)
{
    for (size_t k = 0; k < count; k++) {
        if (values[k].kind == QUERN_VALUE_ARRAY) {
            QN_TRY(qn_buffer_keep(values[k].as.array->buffer, stream));
        }
        if (values[k].kind == QUERN_VALUE_TEXTURE || values[k].kind == QUERN_VALUE_SURFACE) {
            QN_TRY(qn_texture_keep(&values[k], stream));
        }
    }
    return QUERN_OK;
}
