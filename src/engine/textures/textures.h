/* SPDX-License-Identifier: MIT
 *
 * textures: what the texture units of a GPU read (quern/texture.h).
 *
 *     array --copy--> CUDA array --+--> texture, surface --> argument of a module's function
 *     array -----------------------'
 *
 * The thing to know: each of these objects is freed only once the device has nothing to do, as
 * modules are, because kernels that use it may be queued on any stream.
 */
#ifndef QN_TEXTURES_H
#define QN_TEXTURES_H

#include "engine/engine_internal.h"
#include <quern/texture.h>

/* ---- cuda_array.c --------------------------------------------------------------------------- */

struct quern_cuda_array {
    uint32_t object; /**< QN_OBJECT_CUDA_ARRAY */
    atomic_uint references;
    qn_deferred deferred; /**< its end, while a stream is being captured */
    qn_home *home;        /**< retained */
    void *handle;         /**< the device's */
    quern_texels texels;
    int ndim;
    int64_t shape[3]; /**< in the order of C */
};

/** Refuse a device without textures. */
quern_status qn_textures_check(const qn_home *home);
/** Refuse channels that elements cannot be of. */
quern_status qn_texels_check(quern_dtype dtype, uint32_t channels);
/** Do `finish` once nothing is queued that could still use what ends: now, or after a capture. */
void qn_texels_end(qn_home *home, qn_deferred *deferred, void (*finish)(qn_deferred *deferred));

/* ---- texture.c ------------------------------------------------------------------------------ */

/** What textures and surfaces have; `object` says which it is. */
typedef struct qn_texel_object {
    uint32_t object; /**< QN_OBJECT_TEXTURE or QN_OBJECT_SURFACE */
    atomic_uint references;
    qn_deferred deferred;
    qn_home *home; /**< retained */
    uint64_t handle;
    void (*free_handle)(quern_device *device, uint64_t handle);
    quern_cuda_array *cuda_array; /**< what it reads, retained: this, or */
    quern_array *array;           /**< of textures alone */
} qn_texel_object;

struct quern_texture {
    qn_texel_object is;
};

struct quern_surface {
    qn_texel_object is;
};

/* ---- texture_argument.c --------------------------------------------------------------------- */

/** Where the number is that a kernel takes for a texture or a surface. Errors:
 * QUERN_ERROR_INVALID_ARGUMENT: it is none, or of another device than `home`. */
quern_status qn_texture_take(const void **number, const quern_value *value, const qn_home *home);
/** Work on `stream`, which is being captured, uses it: the graph keeps it. */
quern_status qn_texture_keep(const quern_value *value, quern_stream *stream);

#endif /* QN_TEXTURES_H */
