/* SPDX-License-Identifier: MIT
 *
 * texture.c: CUDA arrays, textures and surfaces, as raw kernels take them.
 */
#ifndef PYQUERN_TEXTURE_H
#define PYQUERN_TEXTURE_H

#include "pyquern.h"

/* A texture or a surface. */
typedef struct qp_handle_object {
    PyObject_HEAD qp_state *state;
    quern_texture *texture; /* one of them is NULL */
    quern_surface *surface;
    int device;
} qp_handle_object;

extern PyType_Spec qp_cuda_array_spec, qp_texture_spec, qp_surface_spec;

#endif /* PYQUERN_TEXTURE_H */
