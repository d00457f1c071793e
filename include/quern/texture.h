/* SPDX-License-Identifier: MIT
 *
 * Textures and surfaces. What the texture units of a GPU read: CUDA arrays and linear memory, with
 * addresses that wrap and values between elements. For functions of modules, on a GPU.
 *
 *     quern_cuda_array *image;
 *     quern_cuda_array_new(&image, engine, QUERN_FLOAT32, 2, (int64_t[]){height, width}, NULL);
 *     quern_cuda_array_write_on(image, array, NULL);
 *     quern_texture_options options = QUERN_TEXTURE_OPTIONS_INIT;
 *     options.filter = QUERN_FILTER_LINEAR;
 *     quern_texture *texture;
 *     quern_texture_new(&texture, image, &options);
 *     quern_function_call(function, &QUERN_GRID(64, 256), texture, out);   // cudaTextureObject_t
 *
 * On a device without texture units, as the software device is, each of these functions that makes
 * something fails with QUERN_ERROR_NOT_SUPPORTED.
 */
#ifndef QUERN_TEXTURE_H
#define QUERN_TEXTURE_H

#include <quern/array.h>
#include <quern/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- CUDA arrays ----------------------------------------------------------------------------- */

/** Memory of a GPU in the order that its texture units like, which only textures, surfaces and
 * copies reach. May be used from many threads at once. */
typedef struct quern_cuda_array quern_cuda_array;

typedef struct quern_cuda_array_options {
    uint32_t size; /**< sizeof(quern_cuda_array_options) */
    uint32_t reserved;
    uint32_t channels; /**< numbers of an element: 1, 2 or 4; 0 is 1 */
    uint32_t layered;  /**< 1: the first extent counts layers, between which nothing is filtered */
    uint32_t surface;  /**< 1: surfaces of it may be made */
    uint32_t gather;   /**< 1: tex2Dgather() may read it, which must have two dimensions */
} quern_cuda_array_options;

#define QUERN_CUDA_ARRAY_OPTIONS_INIT                                                              \
    {                                                                                              \
        sizeof(quern_cuda_array_options), 0, 0, 0, 0, 0                                            \
    }

/** A CUDA array of `ndim` (1 to 3) dimensions, with the extents in the order of C: depth, height,
 * width. Each element has as many numbers of `dtype` as it has channels: int8, int16, int32,
 * uint8, uint16, uint32, float16 or float32. What is in it is not defined. The caller owns *out;
 * give it back with quern_cuda_array_release(). Thread-safe.
 * Errors: QUERN_ERROR_NOT_SUPPORTED (the device has no textures), QUERN_ERROR_TYPE (another dtype),
 * QUERN_ERROR_SHAPE (dimensions, an extent of 0, more than the GPU takes),
 * QUERN_ERROR_INVALID_ARGUMENT, _DEVICE_MEMORY, _DRIVER. */
QUERN_API quern_status quern_cuda_array_new(quern_cuda_array **out, quern_engine *engine,
                                            quern_dtype dtype, int ndim, const int64_t *shape,
                                            const quern_cuda_array_options *options);
/** Copy all of `array` into `cuda_array`, in the order of `stream` (NULL: the engine's own). Its
 * dtype is that of the channels; its shape is that of the CUDA array, with the channels as one more
 * dimension at the end, or multiplied into the last extent. Any strides: what is not C-contiguous
 * is gathered first. Returns when the copy is queued.
 * Errors: QUERN_ERROR_TYPE, QUERN_ERROR_SHAPE, _INVALID_ARGUMENT (another engine's), _DRIVER. */
QUERN_API quern_status quern_cuda_array_write_on(quern_cuda_array *cuda_array, quern_array *array,
                                                 quern_stream *stream);
/** The other way: copy all of `cuda_array` into `array`. Errors: the same. */
QUERN_API quern_status quern_cuda_array_read_on(quern_cuda_array *cuda_array, quern_array *array,
                                                quern_stream *stream);
/** The driver's own handle, a CUarray, which lives as long as the object. */
QUERN_API void *quern_cuda_array_handle(const quern_cuda_array *cuda_array);
/** One more reference; returns `cuda_array`. Thread-safe. */
QUERN_API quern_cuda_array *quern_cuda_array_retain(quern_cuda_array *cuda_array);
/** One reference less; the last one waits for the device and frees. Accepts NULL. Thread-safe. */
QUERN_API void quern_cuda_array_release(quern_cuda_array *cuda_array);

/* ---- textures -------------------------------------------------------------------------------- */

/** A texture object: the argument for a parameter that is a cudaTextureObject_t. It holds what it
 * reads. May be used from many threads at once. */
typedef struct quern_texture quern_texture;

/** What is read outside; the numbers are CUDA's. */
typedef enum quern_texture_address {
    QUERN_ADDRESS_WRAP = 0,   /**< from the other end again; for normalized coordinates */
    QUERN_ADDRESS_CLAMP = 1,  /**< the element at the border */
    QUERN_ADDRESS_MIRROR = 2, /**< back from the border; for normalized coordinates */
    QUERN_ADDRESS_BORDER = 3, /**< the border's colour */
} quern_texture_address;

typedef enum quern_texture_filter {
    QUERN_FILTER_POINT = 0,  /**< the nearest element */
    QUERN_FILTER_LINEAR = 1, /**< between the nearest, with weights in steps of 1/256 */
} quern_texture_filter;

typedef enum quern_texture_read {
    QUERN_READ_ELEMENT = 0,    /**< numbers as they are */
    QUERN_READ_NORMALIZED = 1, /**< integers of 8 and 16 bits as floats in [0, 1] or [-1, 1] */
} quern_texture_read;

typedef struct quern_texture_options {
    uint32_t size; /**< sizeof(quern_texture_options) */
    uint32_t reserved;
    /** A quern_texture_address for x, y, z. Without normalized coordinates a GPU takes wrap and
     * mirror as clamp. Ignored where linear memory is read. */
    uint32_t address[3];
    uint32_t filter;         /**< a quern_texture_filter; ignored where linear memory is read */
    uint32_t read;           /**< a quern_texture_read */
    uint32_t normalized;     /**< 1: coordinates go from 0 to 1, and not from 0 to the extent */
    uint32_t srgb;           /**< 1: values are sRGB and read as linear ones: of normalized uint8 */
    uint32_t max_anisotropy; /**< 0 to 16 */
    float border[4];         /**< the border's colour, by channel */
} quern_texture_options;

#define QUERN_TEXTURE_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(quern_texture_options), 0, {0, 0, 0}, 0, 0, 0, 0, 0,                                \
        {                                                                                          \
            0, 0, 0, 0                                                                             \
        }                                                                                          \
    }

/** A texture that reads a CUDA array: tex1D(), tex2D(), tex3D(), tex1DLayered(), ... The caller
 * owns *out; give it back with quern_texture_release(). Thread-safe.
 * Errors: QUERN_ERROR_TYPE (linear values of integers that are not normalized; normalized float32),
 * QUERN_ERROR_INVALID_ARGUMENT, _DRIVER. */
QUERN_API quern_status quern_texture_new(quern_texture **out, quern_cuda_array *cuda_array,
                                         const quern_texture_options *options);
/** A texture that reads the C-contiguous elements of `array` from where it begins: tex1Dfetch().
 * `channels` numbers (1, 2 or 4) are one element. It sees what kernels write there later. Errors:
 * also QUERN_ERROR_SHAPE (strides, alignment, more elements than the GPU takes),
 * QUERN_ERROR_NOT_SUPPORTED (the device has no textures). */
QUERN_API quern_status quern_texture_new_linear(quern_texture **out, quern_array *array,
                                                uint32_t channels,
                                                const quern_texture_options *options);
/** A texture that reads rows of `array`, whatever lies between them: tex2D(). The shape is (height,
 * width), with the channels as a third dimension or multiplied into the width. Each row is without
 * gaps, and the distance of rows is a multiple of what the GPU wants (32 bytes): allocate wider
 * rows, and slice. Errors: the same. */
QUERN_API quern_status quern_texture_new_pitched(quern_texture **out, quern_array *array,
                                                 uint32_t channels,
                                                 const quern_texture_options *options);
/** The driver's own handle, a CUtexObject, which is also CUDA's cudaTextureObject_t. 0 for what is
 * no texture. */
QUERN_API uint64_t quern_texture_handle(const quern_texture *texture);
/** One more reference; returns `texture`. Thread-safe. */
QUERN_API quern_texture *quern_texture_retain(quern_texture *texture);
/** One reference less; the last one waits for the device and lets go of what was read. Accepts
 * NULL. Thread-safe. */
QUERN_API void quern_texture_release(quern_texture *texture);

/* ---- surfaces -------------------------------------------------------------------------------- */

/** A surface object: the argument for a parameter that is a cudaSurfaceObject_t, through which
 * kernels read and write a CUDA array. It holds that. May be used from many threads at once. */
typedef struct quern_surface quern_surface;

/** A surface of a CUDA array that was made with `surface`. The caller owns *out; give it back with
 * quern_surface_release(). Thread-safe. Errors: QUERN_ERROR_INVALID_ARGUMENT, _DRIVER. */
QUERN_API quern_status quern_surface_new(quern_surface **out, quern_cuda_array *cuda_array);
/** The driver's own handle, a CUsurfObject. 0 for what is no surface. */
QUERN_API uint64_t quern_surface_handle(const quern_surface *surface);
/** One more reference; returns `surface`. Thread-safe. */
QUERN_API quern_surface *quern_surface_retain(quern_surface *surface);
/** One reference less; the last one waits for the device and lets the CUDA array go. Accepts NULL.
 * Thread-safe. */
QUERN_API void quern_surface_release(quern_surface *surface);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_TEXTURE_H */
