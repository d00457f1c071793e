/* SPDX-License-Identifier: MIT
 *
 * Kernels that read textures and write surfaces, for the tests of both: on a GPU they run, and
 * everywhere they are compiled for one.
 */
#ifndef QUERN_TEST_TEXTURE_KERNELS_H
#define QUERN_TEST_TEXTURE_KERNELS_H

static const char texture_source[] =
    "extern \"C\" __global__ void read_1d(cudaTextureObject_t tex, const float *at, float *out, "
    "int n)\n"
    "{ for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = tex1D<float>(tex, at[i]); }\n"
    "extern \"C\" __global__ void read_2d(cudaTextureObject_t tex, const float *at, float *out, "
    "int n)\n"
    "{ for (int i = threadIdx.x; i < n; i += blockDim.x)\n"
    "      out[i] = tex2D<float>(tex, at[2 * i], at[2 * i + 1]); }\n"
    "extern \"C\" __global__ void read_3d(cudaTextureObject_t tex, const float *at, float *out, "
    "int n)\n"
    "{ for (int i = threadIdx.x; i < n; i += blockDim.x)\n"
    "      out[i] = tex3D<float>(tex, at[3 * i], at[3 * i + 1], at[3 * i + 2]); }\n"
    "extern \"C\" __global__ void fetch(cudaTextureObject_t tex, float *out, int n)\n"
    "{ for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = tex1Dfetch<float>(tex, i); }\n"
    "extern \"C\" __global__ void layers_1d(cudaTextureObject_t tex, float *out, int width, int "
    "layers)\n"
    "{ for (int i = threadIdx.x; i < width * layers; i += blockDim.x)\n"
    "      out[i] = tex1DLayered<float>(tex, i % width + 0.5f, i / width); }\n"
    "extern \"C\" __global__ void layers_2d(cudaTextureObject_t tex, float *out, int width, int "
    "height, int layers)\n"
    "{ for (int i = threadIdx.x; i < width * height * layers; i += blockDim.x)\n"
    "      out[i] = tex2DLayered<float>(tex, i % width + 0.5f, i / width % height + 0.5f,\n"
    "                                   i / width / height); }\n"
    "extern \"C\" __global__ void gather(cudaTextureObject_t tex, float4 *out)\n"
    "{ *out = tex2Dgather<float4>(tex, 1.0f, 1.0f, 0); }\n"
    "extern \"C\" __global__ void twice(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int "
    "width)\n"
    "{ const int x = threadIdx.x % width, y = threadIdx.x / width;\n"
    "  surf2Dwrite(2.0f * surf2Dread<float>(from, 4 * x, y), to, 4 * x, y); }\n"
    "template <typename V> __global__ void texels(cudaTextureObject_t tex, V *out, int width, int "
    "n)\n"
    "{ for (int i = threadIdx.x; i < n; i += blockDim.x)\n"
    "      out[i] = tex2D<V>(tex, i % width + 0.5f, i / width + 0.5f); }\n";

/* How elements of each kind are read: a dtype, channels, and the type that tex2D() gives. */
static const struct texel_kind {
    quern_dtype dtype;
    uint32_t channels;
    const char *expression;
} texel_kinds[] = {
    {QUERN_INT8, 1, "texels<signed char>"},
    {QUERN_INT8, 2, "texels<char2>"},
    {QUERN_INT8, 4, "texels<char4>"},
    {QUERN_INT16, 1, "texels<short>"},
    {QUERN_INT16, 2, "texels<short2>"},
    {QUERN_INT16, 4, "texels<short4>"},
    {QUERN_INT32, 1, "texels<int>"},
    {QUERN_INT32, 2, "texels<int2>"},
    {QUERN_INT32, 4, "texels<int4>"},
    {QUERN_UINT8, 1, "texels<unsigned char>"},
    {QUERN_UINT8, 2, "texels<uchar2>"},
    {QUERN_UINT8, 4, "texels<uchar4>"},
    {QUERN_UINT16, 1, "texels<unsigned short>"},
    {QUERN_UINT16, 2, "texels<ushort2>"},
    {QUERN_UINT16, 4, "texels<ushort4>"},
    {QUERN_UINT32, 1, "texels<unsigned>"},
    {QUERN_UINT32, 2, "texels<uint2>"},
    {QUERN_UINT32, 4, "texels<uint4>"},
    {QUERN_FLOAT32, 1, "texels<float>"},
    {QUERN_FLOAT32, 2, "texels<float2>"},
    {QUERN_FLOAT32, 4, "texels<float4>"},
};
enum { TEXEL_KINDS = sizeof texel_kinds / sizeof *texel_kinds };

/** Compile all of it. */
static inline quern_module *texture_module(void)
{
    const char *expressions[TEXEL_KINDS];
    for (int k = 0; k < TEXEL_KINDS; k++) {
        expressions[k] = texel_kinds[k].expression;
    }
    quern_module_options o = QUERN_MODULE_OPTIONS_INIT;
    o.expressions = expressions;
    o.expression_count = TEXEL_KINDS;
    quern_module *module;
    OK(quern_module_new(&module, engine, texture_source, &o));
    return module;
}

#endif /* QUERN_TEST_TEXTURE_KERNELS_H */
