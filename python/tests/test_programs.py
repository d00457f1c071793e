# SPDX-License-Identifier: MIT
#
# Programs as people have them for CuPy, with our names: a kernel as torch's autograd.Function,
# torch's stream and memory, kernels on Numba's arrays, memory and streams of others and back. In:
# the library that each needs; a GPU where there is no sense without one. Out: the values, and the
# addresses, which show that nothing was copied.
import math

import numpy as np
import pytest

import pyquern as cp

LOG = r"""
extern "C" __global__ void log_kernel(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { y[i] = logf(x[i]); }
}
extern "C" __global__ void log_gradient(const float *x, const float *gy, float *gx, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { gx[i] = gy[i] / x[i]; }
}
"""


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def device_of(torch):
    return "cuda" if cp.Device().is_gpu else "cpu"


# ---- a kernel as a function of torch ------------------------------------------------------------


def log_function(torch):
    module = cp.RawModule(code=LOG)
    forward, gradient = module.get_function("log_kernel"), module.get_function("log_gradient")

    class Log(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            y, n = torch.empty_like(x), x.numel()
            forward((math.ceil(n / 128),), (128,), (x.detach(), y, n))
            return y

        @staticmethod
        def backward(ctx, gy):
            (x,) = ctx.saved_tensors
            gx, n = torch.empty_like(x), x.numel()
            gradient((math.ceil(n / 128),), (128,), (x.detach(), gy.contiguous(), gx, n))
            return gx

    return Log.apply


def test_raw_kernels_as_an_autograd_function(torch):
    log = log_function(torch)
    x = torch.linspace(0.5, 4, 1000, device=device_of(torch)).requires_grad_()
    y = log(x)
    assert torch.allclose(y, torch.log(x), atol=1e-6)
    (2 * y).sum().backward()
    assert torch.allclose(x.grad, 2 / x)


def test_the_same_by_pyquern_torch(torch):
    import pyquern.torch as qt

    log = qt.elementwise("T x", "T y", "y = log(x)", backward=("T x, T gy", "T gx", "gx = gy / x"))
    x = torch.rand(5, 4, dtype=torch.float64, device=device_of(torch)) + 0.5
    x.requires_grad_()
    assert torch.allclose(log(x), torch.log(x)) and torch.autograd.gradcheck(log, (x,))
    net = torch.nn.Sequential(torch.nn.Linear(4, 3, dtype=torch.float64, device=x.device))
    log(net(x).abs() + 1).sum().backward()
    assert all(p.grad is not None for p in net.parameters()) and x.grad is not None


def test_a_kernel_that_is_called_log():
    """CuPy's programs name kernels after what they compute."""
    log = cp.ElementwiseKernel("float32 x", "float32 y", "y = logf(x)", "log")
    assert np.allclose(log(np.float32([1, 2])), np.log([1, 2])) and log.name == "log"


# ---- torch's stream and memory -----------------------------------------------------------------


@pytest.mark.on_gpu
def test_torchs_stream(torch):
    double = cp.ElementwiseKernel("T x", "T y", "y = 2 * x")
    x = torch.arange(1 << 20, device="cuda", dtype=torch.float32)
    theirs = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(theirs), cp.Stream.from_external(theirs):
        assert cp.cuda.get_current_stream().ptr == theirs.cuda_stream
        y = double(x)
        z = y + 1  # torch's work behind ours, with nothing between
    theirs.synchronize()
    assert torch.equal(z, 2 * x + 1)
    with cp.ExternalStream(theirs.cuda_stream):
        ours = double(cp.asarray(x))
    theirs.synchronize()
    assert ours[3].item() == 6


@pytest.mark.on_gpu
def test_torchs_pool(torch):
    before = torch.cuda.memory_allocated()
    cp.use_torch_pool()
    try:
        a = cp.ones(1 << 20, "float32")
        assert torch.cuda.memory_allocated() - before >= 4 << 20
        assert torch.as_tensor(a, device="cuda").data_ptr() == a.data.ptr
        del a
        assert torch.cuda.memory_allocated() == before
    finally:
        cp.set_allocator(None)


# ---- Numba -------------------------------------------------------------------------------------


@pytest.mark.on_soft
def test_numbas_functions_on_our_arrays():
    """On the host: Numba compiles for NumPy's arrays, which ours are without a copy."""
    numba = pytest.importorskip("numba")

    @numba.njit
    def add_one(values):
        for k in range(values.size):
            values[k] += 1

    ours = cp.zeros(5)
    theirs = np.asarray(ours)
    assert theirs.ctypes.data == ours.data.ptr
    add_one(theirs)
    assert ours.tolist() == [1] * 5
    double = cp.ElementwiseKernel("T x", "T y", "y = 2 * x")
    double(theirs, theirs)
    assert ours.tolist() == [2] * 5


@pytest.mark.on_soft
def test_what_is_shaped_as_numbas_device_arrays():
    """Without a GPU there is none: an object that gives out what they do, refused by name."""

    class DeviceNDArray:
        __cuda_array_interface__ = {
            "shape": (3,), "strides": None, "data": (1 << 20, False), "typestr": "<f8",
            "stream": None, "version": 3,
        }  # fmt: skip

    with pytest.raises(cp.NoDeviceError):
        cp.ElementwiseKernel("T x", "T y", "y = x")(DeviceNDArray())


@pytest.mark.on_gpu
def test_numbas_device_arrays_and_back():
    cuda = pytest.importorskip("numba.cuda")
    double = cp.ElementwiseKernel("T x", "T y", "y = 2 * x")
    theirs = cuda.to_device(np.arange(5.0))
    ours = cp.asarray(theirs)
    assert ours.data.ptr == theirs.__cuda_array_interface__["data"][0]
    assert double(theirs).copy_to_host().tolist() == [0, 2, 4, 6, 8]
    double(theirs, theirs)
    assert theirs.copy_to_host().tolist() == [0, 2, 4, 6, 8]

    @cuda.jit
    def add_one(values):
        k = cuda.grid(1)
        if k < values.size:
            values[k] += 1

    try:
        add_one[1, 32](ours)  # Numba's kernel on our array
    except AttributeError as error:
        pytest.skip(f"numba-cuda does not compile with this NumPy: {error}")
    cuda.synchronize()
    assert ours.get().tolist() == [1, 3, 5, 7, 9]
    assert cuda.as_cuda_array(ours).copy_to_host().tolist() == [1, 3, 5, 7, 9]


# ---- memory and streams of others, there and back ------------------------------------------------


def test_memory_there_and_back():
    ours = cp.arange(12, dtype="float32")
    memory = cp.UnownedMemory(ours.data.ptr, ours.nbytes, ours)
    again = cp.ndarray((3, 4), "float32", cp.MemoryPointer(memory, 0))
    assert again.data.ptr == ours.data.ptr == memory.ptr
    cp.ElementwiseKernel("T x", "T y", "y = x + 1")(again, again)
    del ours, memory
    assert again.tolist() == (np.arange(12).reshape(3, 4) + 1).tolist()


def test_memory_of_torch(torch):
    theirs = torch.zeros(6, device=device_of(torch))
    memory = cp.UnownedMemory(theirs.data_ptr(), theirs.numel() * 4, theirs)
    ours = cp.ndarray(6, "float32", cp.MemoryPointer(memory, 0))
    ours.fill(3)
    cp.Device().synchronize()
    assert theirs.tolist() == [3] * 6
    assert torch.from_dlpack(ours).data_ptr() == theirs.data_ptr()


def test_streams_there_and_back():
    ours = cp.Stream()
    theirs = cp.ExternalStream(ours.ptr)
    again = cp.Stream.from_external(theirs)
    assert theirs.ptr == ours.ptr == again.ptr and theirs.__cuda_stream__() == (0, ours.ptr)
    double = cp.ElementwiseKernel("T x", "T y", "y = 2 * x")
    with ours:
        x = cp.ones(1000)
    with theirs:
        y = double(x)
    with again:
        z = double(y)
    ours.synchronize()
    assert z.get(ours).sum() == 4000
