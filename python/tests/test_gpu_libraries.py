# SPDX-License-Identifier: MIT
#
# Arrays of other libraries on a GPU, in and out: PyTorch, CuPy, JAX, numba-cuda. In: a GPU, and
# whichever of them are installed. Out: that nothing is copied, shown by addresses; that work is in
# order, shown by slow work on a stream that does not keep order by itself, and that results are of
# the inputs' kind. The thing to know: nothing here synchronizes between a library's work and ours.
"""Other libraries on a GPU."""

import importlib

import numpy as np
import pytest
from tensors import ByCapsule, ByOldCapsule, ByTable

import pyquern as q

pytestmark = pytest.mark.on_gpu

SLOW = 1 << 27  # cycles: some 70 ms


class Torch:
    needs = "torch"
    writes = True

    def __init__(self):
        self.torch = importlib.import_module("torch")
        self.type = self.torch.Tensor

    def arange(self, n):
        return self.torch.arange(n, dtype=self.torch.float32, device="cuda")

    def address(self, x):
        return x.data_ptr()

    def take(self, own):
        return self.torch.from_dlpack(own)

    def values(self, x):
        return x.tolist()

    def stream(self):
        return self.torch.cuda.stream(self.torch.cuda.Stream())

    def late(self, x, value):
        """Put `value` into it after some time, on the current stream."""
        self.torch.cuda._sleep(SLOW)
        x.fill_(value)

    def double(self, x):
        return x * 2


class CuPy:
    needs = "cupy"
    writes = True

    def __init__(self):
        self.cupy = importlib.import_module("cupy")
        self.type = self.cupy.ndarray
        self.spin = self.cupy.RawKernel(
            """extern "C" __global__ void spin(long long cycles) {
            long long from = clock64(); while (clock64() - from < cycles) {} }""",
            "spin",
        )

    def arange(self, n):
        return self.cupy.arange(n, dtype="float32")

    def address(self, x):
        return x.data.ptr

    def take(self, own):
        return self.cupy.from_dlpack(own)

    def values(self, x):
        return x.tolist()

    def stream(self):
        return self.cupy.cuda.Stream(non_blocking=True)

    def late(self, x, value):
        self.spin((1,), (1,), (self.cupy.int64(SLOW),))
        x.fill(value)

    def double(self, x):
        return x * 2


class Numba:
    needs = "numba"
    writes = True

    def __init__(self):
        self.cuda = importlib.import_module("numba.cuda")
        self.type = self.cuda.devicearray.DeviceNDArray

    def arange(self, n):
        numpy = importlib.import_module("numpy")
        return self.cuda.to_device(numpy.arange(n, dtype="float32"))

    def address(self, x):
        return x.device_ctypes_pointer.value

    def take(self, own):
        return self.cuda.as_cuda_array(own)

    def values(self, x):
        return x.copy_to_host().tolist()


class Jax:
    needs = "jax"
    writes = False

    def __init__(self):
        self.jax = importlib.import_module("jax")
        if self.jax.default_backend() != "gpu":
            pytest.skip("JAX without a GPU")
        self.type = self.jax.Array

    def arange(self, n):
        return self.jax.numpy.arange(n, dtype="float32")

    def address(self, x):
        return x.unsafe_buffer_pointer()

    def take(self, own):
        return self.jax.dlpack.from_dlpack(own)

    def values(self, x):
        return x.tolist()


@pytest.fixture(params=[Torch, CuPy, Numba, Jax], ids=lambda library: library.needs)
def library(request):
    pytest.importorskip(request.param.needs)
    try:
        return request.param()
    except ImportError as error:
        pytest.skip(str(error))


@pytest.fixture(params=[Torch, CuPy], ids=lambda library: library.needs)
def streams(request):
    pytest.importorskip(request.param.needs)
    return request.param()


twice = q.ElementwiseKernel("T x", "T y", "y = x + x")
address = q.ElementwiseKernel("raw T x, T like", "int64 at", "at = (long long)&x[0]")
total = q.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0")
late = q.ElementwiseKernel(
    "T x, int64 cycles",
    "T y",
    "long long from = clock64(); while (clock64() - from < cycles) {} y = x + x",
)


def test_nothing_is_copied_in(library):
    x = library.arange(10)
    at = q.empty(10, "int64")  # JAX would cut it to 32 bits
    assert address(x, x, at).tolist()[0] == library.address(x)
    assert q.asarray(x).pointer == library.address(x)
    if hasattr(x, "__dlpack__"):
        assert q.from_dlpack(x).pointer == library.address(x)


def test_results_are_of_the_inputs_kind(library):
    y = twice(library.arange(5))
    assert isinstance(y, library.type) and library.values(y) == [0, 2, 4, 6, 8]
    y = total(library.arange(5))
    assert isinstance(y, library.type) and library.values(y) == 10


def test_nothing_is_copied_out(library):
    a = q.arange(6, dtype="float32")
    q.synchronize()
    x = library.take(a)
    assert library.address(x) == a.pointer
    del a
    assert library.values(x) == [0, 1, 2, 3, 4, 5]


def test_outputs_are_written_in_place(library):
    x, y = library.arange(4), library.arange(4)
    if library.writes:
        assert twice(x, y) is y and library.values(y) == [0, 2, 4, 6]
    else:
        with pytest.raises(ValueError, match="read-only, and cannot be an output"):
            twice(x, y)


def test_views_keep_their_strides(library):
    numpy = pytest.importorskip("numpy")
    x, same = library.arange(12).reshape(3, 4), numpy.arange(12.0).reshape(3, 4)
    for view in (numpy.s_[1:, ::2], numpy.s_[2], numpy.s_[1, 2:3], numpy.s_[:, 3]):
        assert library.values(twice(x[view])) == (2 * same[view]).tolist()
    if library.needs != "numba":  # which copies it by a kernel of its own
        assert library.values(twice(x.T)) == (2 * same.T).tolist()


@pytest.mark.parametrize("dtype", "bool int8 uint16 int64 float16 float64 complex64".split())
def test_arrays_of_cupy(dtype):
    """Its arrays are read by their attributes."""
    cupy = pytest.importorskip("cupy")
    same = q.ElementwiseKernel("T x", "T y", "y = x")
    x = cupy.arange(24).reshape(2, 3, 4).astype(dtype)
    for view in (
        x,
        x[::-1],
        x[:, ::-2, 1:],
        x.transpose(2, 0, 1),
        x[1, 2, 3],
        x[:, :0],
        x[..., None],
    ):
        got = same(view)
        assert isinstance(got, cupy.ndarray) and got.dtype == x.dtype
        assert got.shape == view.shape and bool((got == view).all())
    assert bool((same(cupy.broadcast_to(x[0, 0], (5, 4))) == x[0, 0]).all())


def test_libraries_mix(library):
    add = q.ElementwiseKernel("T x, T y", "T z", "z = x + y")
    mixed = add(library.arange(3), q.ones(3, "float32"))
    assert isinstance(mixed, q.ndarray) and mixed.tolist() == [1, 2, 3]


def test_memory_that_is_not_what_it_is_said_to_be():
    """The host's that is said to be a GPU's, and the other way round."""
    ours, out = q.ones((2, 3), "float32"), q.zeros((2, 3), "float32")
    of_the_host = r"host memory \(kDLCPU\), but the driver says that it is memory of GPU 0"
    of_a_gpu = r"is in memory of GPU 0 \(kDLCUDA\), but the driver says that it is nothing"
    for way in (ByCapsule, ByOldCapsule):
        for call in (twice, q.from_dlpack, lambda x: twice(x, out), lambda x: twice(ours, x)):
            with pytest.raises(ValueError, match=of_a_gpu):
                call(way(device=(2, 0)))
            with pytest.raises(ValueError, match=of_the_host):
                call(way(data=ours.data.ptr))
    with pytest.raises(ValueError, match=of_the_host):
        twice(ByTable(data=ours.data.ptr), out)  # what it says of a GPU is trusted
    assert ours.get().sum() == 6 and out.get().sum() == 0


# ---- the order of work: a race that would show -------------------------------------------------


def test_our_work_waits_for_theirs(streams):
    with streams.stream():
        x = streams.arange(1000)
        for value in (1, 2, 3):
            streams.late(x, value)
            y = twice(x)
            assert set(streams.values(y)) == {2 * value}


def test_their_work_waits_for_ours(streams):
    with streams.stream():
        x = streams.arange(1000)
        expected = [4 * k for k in range(1000)]
        for _ in range(3):
            y = late(x, SLOW)
            assert streams.values(streams.double(y)) == expected


def test_our_stream_waits_for_theirs_and_theirs_for_it(streams):
    """Arrays made on the library's stream, a call on a stream of our own."""
    ours = q.Stream(non_blocking=True)
    with streams.stream():
        x = streams.arange(1000)
        for value in (1, 2, 3):
            streams.late(x, value)
            y = late(x, SLOW, stream=ours)
            assert set(streams.values(streams.double(y))) == {4 * value}


def test_libraries_wait_for_each_other():
    """A tensor of PyTorch and an array of CuPy, each late on a stream of its own library."""
    pytest.importorskip("torch"), pytest.importorskip("cupy")
    torch, cupy = Torch(), CuPy()
    add = q.ElementwiseKernel("T x, T y", "T z", "z = x + y")
    with torch.stream(), cupy.stream():
        x, y = torch.arange(1000), cupy.arange(1000)
        for value in (1, 2, 3):
            torch.late(x, value)
            cupy.late(y, 10 * value)
            assert set(add(x, y).tolist()) == {11 * value}


def test_our_work_waits_for_jax():
    """It names no stream, and is waited for when it gives the array out."""
    pytest.importorskip("jax")
    jax = Jax().jax
    slow = jax.jit(lambda x: jax.lax.fori_loop(0, 3000, lambda _, v: v + 1, x))
    slow(jax.numpy.zeros(1 << 20)).block_until_ready()
    for begin in (1, 2, 3):
        y = twice(slow(jax.numpy.full(1 << 20, float(begin))))
        assert set(y.tolist()) == {2 * (3000 + begin)}


def test_our_stream_waits_for_numbas():
    """For copies of 256 MiB on a stream that its array names."""
    cuda = pytest.importorskip("numba.cuda")
    n, theirs, ours = 1 << 26, cuda.stream(), q.Stream(non_blocking=True)
    values, x = cuda.pinned_array(n, "float32"), cuda.device_array(n, "float32", stream=theirs)
    y = q.empty(n, "float32")
    q.synchronize()
    for value in (1, 2, 3):
        values[:] = value
        x.copy_to_device(values, stream=theirs)
        twice(x, y, stream=ours)
        assert y[-1:].get(ours).tolist() == [2 * value]
        theirs.synchronize()


def test_memory_that_is_freed_early_is_not_taken_early(streams):
    """An input that is dropped right after the call: its memory must not be given to who fills it
    before our kernel has read it."""
    with streams.stream():
        for _ in range(5):
            x = streams.arange(1 << 20)
            y = late(x, SLOW // 8)
            del x
            filled = [streams.arange(1 << 20) for _ in range(4)]
            for one in filled:
                one *= 0
            assert streams.values(y[-1:]) == [2 * ((1 << 20) - 1)]


# ---- memory from others' pools -----------------------------------------------------------------


@pytest.fixture
def own_pool():
    yield
    q.set_allocator(None)


def check_pool(used):
    """Arrays count there while they live, and hold what was computed. `used`: bytes in use."""
    before = used()
    a = q.ones(1 << 20, "float32")
    assert used() - before >= 4 << 20
    with q.Stream(non_blocking=True) as stream:
        stream.wait_event(q.Stream.null.record())
        b = twice(a)
        assert b.get().tolist()[:3] == [2, 2, 2]
    assert used() - before >= 8 << 20
    del a, b
    assert used() == before


def test_the_pool_of_torch(own_pool):
    torch = pytest.importorskip("torch")
    q.use_torch_pool()
    check_pool(torch.cuda.memory_allocated)
    big = torch.zeros(1 << 26, device="cuda")
    address = big.data_ptr()
    del big
    assert q.empty(1 << 26, "float32").pointer == address


def test_the_pool_of_cupy(own_pool):
    cupy = pytest.importorskip("cupy")
    q.use_cupy_pool()
    check_pool(cupy.get_default_memory_pool().used_bytes)
    pool = cupy.cuda.MemoryPool()
    q.use_cupy_pool(pool)
    check_pool(pool.used_bytes)


RESOURCES = {
    "driver": lambda mr: mr.CudaAsyncMemoryResource(),
    "cudaMalloc": lambda mr: mr.CudaMemoryResource(),
    "pool": lambda mr: mr.PoolMemoryResource(mr.CudaMemoryResource(), 1 << 26, 1 << 28),
    "managed": lambda mr: mr.ManagedMemoryResource(),
}


@pytest.fixture
def rmm(own_pool):
    rmm = pytest.importorskip("rmm")
    before = rmm.mr.get_current_device_resource()
    yield rmm
    q.set_allocator(None)
    rmm.mr.set_current_device_resource(before)


@pytest.mark.parametrize("name", RESOURCES)
def test_the_resources_of_rmm(rmm, name):
    counting = rmm.mr.StatisticsResourceAdaptor(RESOURCES[name](rmm.mr))
    rmm.mr.set_current_device_resource(counting)
    q.use_rmm()
    check_pool(lambda: counting.allocation_counts.current_bytes)

    # memory goes back to where it came from, whatever is current then
    a = q.ones(1 << 20, "float32")
    rmm.mr.set_current_device_resource(rmm.mr.CudaMemoryResource())
    del a
    assert counting.allocation_counts.current_bytes == 0


def test_no_memory_in_rmm(rmm):
    rmm.mr.set_current_device_resource(
        rmm.mr.LimitingResourceAdaptor(rmm.mr.CudaMemoryResource(), 1 << 20)
    )
    q.use_rmm()
    for _ in range(3):
        with pytest.raises(q.DeviceMemoryError) as failure:
            q.empty(1 << 24, "float32")
        assert isinstance(failure.value.__cause__, MemoryError)
        assert twice(q.ones(3)).tolist() == [2, 2, 2]


def test_buffers_of_rmm(rmm):
    buffer = rmm.DeviceBuffer.to_device(np.arange(8, dtype="uint8"))
    ours = q.asarray(buffer)
    assert ours.pointer == buffer.ptr
    twice(ours, ours)
    q.Device().synchronize()
    assert buffer.copy_to_host().tolist() == list(range(0, 16, 2))
