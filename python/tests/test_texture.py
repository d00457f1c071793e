# SPDX-License-Identifier: MIT
#
# Textures and surfaces by CuPy's names: the descriptors and their errors everywhere, what kernels
# read and write on a GPU. In: QUERN_DEVICE. Out: nothing. The thing to know: the modes of textures
# are compared one by one in tests/unit/engine/test_textures.c.
import numpy as np
import pytest

SOURCE = r"""
extern "C" {
__global__ void read_1d(float *y, cudaTextureObject_t t, int w)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < w) y[i] += tex1D<float>(t, i + 0.5f); }
__global__ void read_2d(float *y, cudaTextureObject_t t, int w, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += tex2D<float>(t, i % w + 0.5f, i / w + 0.5f); }
__global__ void read_3d(float *y, cudaTextureObject_t t, int w, int h, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += tex3D<float>(t, i % w + 0.5f, i / w % h + 0.5f, i / w / h + 0.5f); }
__global__ void fetch(float *y, cudaTextureObject_t t, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += tex1Dfetch<float>(t, i); }
__global__ void read_pairs(float2 *y, cudaTextureObject_t t, int w, int n)
{ int i = threadIdx.x; if (i < n) y[i] = tex2D<float2>(t, i % w + 0.5f, i / w + 0.5f); }
__global__ void twice(cudaSurfaceObject_t s, int w)
{ int x = threadIdx.x % w, y = threadIdx.x / w;
  surf2Dwrite(2 * surf2Dread<float>(s, 4 * x, y), s, 4 * x, y); }
}
"""


@pytest.fixture
def t(q):
    return q.cuda.texture


@pytest.fixture
def r(q):
    return q.cuda.runtime


@pytest.fixture
def gpu(q):
    if not q.Device().is_gpu:
        pytest.skip("the device of QUERN_DEVICE has no textures: a GPU has")
    return q.RawModule(code=SOURCE)


@pytest.fixture
def floats(t, r):
    return t.ChannelFormatDescriptor(32, 0, 0, 0, r.cudaChannelFormatKindFloat)


# ---- descriptors


@pytest.mark.parametrize(
    ("bits", "kind", "channels", "dtype"),
    [
        ((8, 0, 0, 0), 0, 1, "int8"),
        ((16, 16, 0, 0), 1, 2, "uint16"),
        ((32, 32, 32, 32), 2, 4, "float32"),
        ((16, 16, 16, 16), 2, 4, "float16"),
    ],
)
def test_formats(t, bits, kind, channels, dtype):
    made = t.ChannelFormatDescriptor(*bits, kind)
    assert (made.channels, made.dtype) == (channels, dtype)
    assert made.get_channel_format() == dict(zip("xyzwf", (*bits, kind), strict=True))


@pytest.mark.parametrize(
    ("bits", "kind"),
    [
        ((0, 0, 0, 0), 0),
        ((32, 32, 32, 0), 2),
        ((32, 0, 32, 0), 2),
        ((8, 16, 0, 0), 0),
        ((8, 0, 0, 0), 2),
        ((64, 0, 0, 0), 0),
        ((32, 0, 0, 0), 3),
    ],
)
def test_formats_that_cannot_be(t, bits, kind):
    with pytest.raises(ValueError, match="1, 2 or 4 channels"):
        t.ChannelFormatDescriptor(*bits, kind)


def test_texture_descriptor(t, r):
    made = t.TextureDescriptor((r.cudaAddressModeClamp,), borderColors=(0.5,), sRGB=True)
    assert made.get_texture_desc() == {
        "addressMode": (1, 0, 0),
        "filterMode": 0,
        "readMode": 0,
        "sRGB": 1,
        "borderColor": (0.5, 0.0, 0.0, 0.0),
        "normalizedCoords": 0,
        "maxAnisotropy": 0,
    }
    with pytest.raises(ValueError, match="at most 3"):
        t.TextureDescriptor((0, 0, 0, 0))


def test_copies_go_to_what_they_would_reach(q, t, floats):
    """Not to a copy of it, which nobody would see. No GPU: what is read is told of."""

    class Told:
        desc, width, _shape, read = floats, 3, (3,), []
        _check = t.CUDAarray._check

        def _read(self, array, stream):
            self.read.append(array)

    copy_to, told = t.CUDAarray.copy_to, Told()
    for wrong in ([1.0, 2.0, 3.0], (1.0, 2.0, 3.0), "abc", 3.0, None):
        with pytest.raises(TypeError, match="is no array, and gives none out"):
            copy_to(told, wrong)
    x = q.zeros(3, "float32")
    copy_to(told, x)
    with pytest.raises(ValueError, match="takes"):
        copy_to(told, q.zeros(4, "float32"))
    assert [a.pointer for a in told.read] == [x.pointer]
    host = memoryview(np.zeros(3, "float32"))
    if q.Device().is_gpu:
        with pytest.raises(TypeError, match="is in memory of the host"):
            copy_to(told, host)


def test_resources_that_cannot_be(q, t, r, floats):
    x = q.zeros(8, "float32")
    with pytest.raises(ValueError, match="has a CUDAarray"):
        t.ResourceDescriptor(r.cudaResourceTypeArray)
    with pytest.raises(ValueError, match="chDesc"):
        t.ResourceDescriptor(r.cudaResourceTypeLinear, arr=x)
    with pytest.raises(ValueError, match="restype is 1"):
        t.ResourceDescriptor(r.cudaResourceTypeMipmappedArray)
    linear = t.ResourceDescriptor(r.cudaResourceTypeLinear, arr=x, chDesc=floats, sizeInBytes=64)
    with pytest.raises(ValueError, match="sizeInBytes is 64: 1 to the array's 32"):
        t.TextureObject(linear, t.TextureDescriptor())
    rows = t.ResourceDescriptor(
        r.cudaResourceTypePitch2D, arr=x, chDesc=floats, width=4, height=3, pitchInBytes=16
    )
    with pytest.raises(ValueError, match="3 rows of 16 bytes are more than the array's 32"):
        t.TextureObject(rows, t.TextureDescriptor())
    with pytest.raises(ValueError, match="and not linear memory"):
        t.SurfaceObject(rows)
    with pytest.raises(TypeError, match="TexDesc is a TextureDescriptor"):
        t.TextureObject(rows, None)


@pytest.mark.on_soft
def test_without_a_gpu(q, t, r, floats):
    with pytest.raises(q.NotSupportedError, match="texture objects need a GPU"):
        t.CUDAarray(floats, 8)
    x = q.zeros(8, "float32")
    resource = t.ResourceDescriptor(r.cudaResourceTypeLinear, arr=x, chDesc=floats, sizeInBytes=32)
    with pytest.raises(q.NotSupportedError, match="texture objects need a GPU"):
        t.TextureObject(resource, t.TextureDescriptor())
    kernel = q.RawKernel(SOURCE, "fetch")
    with pytest.raises(q.NotSupportedError, match="parameter 't' is a cudaTextureObject_t"):
        kernel(1, 8, (x, 0, 8))


# ---- on a GPU


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize("shape", [(64,), (64, 32), (64, 32, 19)])
def test_cuda_arrays(q, t, r, gpu, floats, shape, host, stream):
    values = np.random.default_rng(1).random(shape, "float32")
    width, height, depth = (*shape[::-1], 0, 0)[:3]
    stream = q.Stream() if stream else None
    made = t.CUDAarray(floats, width, height, depth)
    assert made.ndim == len(shape)
    made.copy_from(values if host else q.asarray(values), stream)
    back = np.empty_like(values) if host else q.empty(shape, "float32")
    made.copy_to(back, stream)
    q.synchronize()
    assert np.array_equal(back if host else back.get(), values)
    clamp = r.cudaAddressModeClamp
    texture = t.TextureObject(
        t.ResourceDescriptor(r.cudaResourceTypeArray, cuArr=made),
        t.TextureDescriptor((clamp, clamp, clamp)),
    )
    assert texture.ptr != 0
    ones, extents = q.ones(shape, "float32"), (width, height)[: len(shape) - 1]
    args = (ones, texture, width) if len(shape) == 1 else (ones, texture, *extents, values.size)
    gpu.get_function(f"read_{len(shape)}d")((values.size + 127) // 128, 128, args)
    assert np.array_equal(ones.get(), values + np.float32(1))


def test_linear_memory(q, t, r, gpu, floats):
    values = np.arange(1000, dtype="float32")
    resource = t.ResourceDescriptor(
        r.cudaResourceTypeLinear, arr=q.asarray(values), chDesc=floats, sizeInBytes=4000
    )
    y = q.zeros(1000, "float32")
    texture = t.TextureObject(resource, t.TextureDescriptor())
    gpu.get_function("fetch")(8, 128, (y, texture, 1000))
    assert np.array_equal(y.get(), values)


def test_rows(q, t, r, gpu):
    pairs = t.ChannelFormatDescriptor(32, 32, 0, 0, r.cudaChannelFormatKindFloat)
    values = np.arange(4 * 16, dtype="float32").reshape(4, 16)
    resource = t.ResourceDescriptor(
        r.cudaResourceTypePitch2D,
        arr=q.asarray(values),
        chDesc=pairs,
        width=5,
        height=4,
        pitchInBytes=64,
    )
    y = q.zeros((4, 5, 2), "float32")
    texture = t.TextureObject(resource, t.TextureDescriptor((r.cudaAddressModeClamp,) * 2))
    gpu.get_function("read_pairs")(1, 32, (y, texture, 5, 20))
    assert np.array_equal(y.get(), values[:, :10].reshape(4, 5, 2))


def test_surfaces(q, t, r, gpu, floats):
    values = np.arange(6, dtype="float32").reshape(2, 3)
    made = t.CUDAarray(floats, 3, 2, flags=r.cudaArraySurfaceLoadStore)
    made.copy_from(values)
    resource = t.ResourceDescriptor(r.cudaResourceTypeArray, cuArr=made)
    surface = t.SurfaceObject(resource)
    gpu.get_function("twice")(1, 6, (surface, 3))
    made.copy_to(back := np.empty_like(values))
    assert np.array_equal(back, 2 * values)
    texture = t.TextureObject(resource, t.TextureDescriptor())
    with pytest.raises(q.Error, match="argument 1 is a texture, but parameter 's' is"):
        gpu.get_function("twice")(1, 6, (texture, 3))
    with pytest.raises(ValueError, match="shape"):
        made.copy_from(values.T)
    with pytest.raises(ValueError, match="is of float64"):
        made.copy_from(values.astype("float64"))


# ---- kernels that launch kernels

LAUNCHES = r"""
extern "C" __global__ void inner(int *x) { x[threadIdx.x] += 1; }
extern "C" __global__ void outer(int *x)
{
    inner<<<1, 13>>>(x + 13 * threadIdx.x);
}
"""


@pytest.mark.parametrize("options", [(), ("-dc",), ("-rdc=true",)])
def test_launches(q, options):
    module = q.RawModule(code=LAUNCHES, options=options)
    if not q.Device().is_gpu:
        with pytest.raises(q.Error, match="kernels that launch kernels need a GPU") as caught:
            module.compile()
        assert "line 5, column 5" in str(caught.value)
        return
    x = q.zeros(169, "int32")
    module.get_function("outer")(1, 13, (x,))
    assert np.array_equal(x.get(), np.ones(169))
