# SPDX-License-Identifier: MIT
#
# Calls of XLA, made by hand (xla.py): what a kernel computes in them, and what is said where it
# cannot. In: buffers. Out: values, messages. No JAX is needed.
import numpy as np
import pytest
import xla

import pyquern as q

ADD = q.ElementwiseKernel("T x, T y", "T z", "z = x + y", "add")
TOTAL = q.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")


RAW = q.RawKernel(
    """extern "C" __global__ void axpy(float a, const float *x, int n, float *y, double *z)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { y[i] = a * x[i]; z[i] = i; } }""",
    "axpy",
)


@pytest.fixture(autouse=True, scope="module")
def calls():
    q._core.jax_add("axpy", RAW, None, False)
    q._core.jax_add("add", ADD, None, False)
    q._core.jax_add("total", TOTAL, (1,), True)


@pytest.mark.on_soft
def test_kernels():
    run = xla.Program()
    x, z, sums = np.arange(6, dtype="float32").reshape(2, 3), xla.zeros(2, 3), xla.zeros(2, 1)
    assert run("add", [x, x], [z]) is None and (z == 2 * x).all()
    assert run("total", [x], [sums]) is None and sums.tolist() == [[3], [12]]


@pytest.mark.on_soft
@pytest.mark.parametrize(
    "name, args, results, says",
    [
        ("nothing", [], [], "a kernel that this process has not defined"),
        ("add", [xla.zeros(2), xla.zeros(3)], [xla.zeros(3)], "broadcast"),
        ("add", [xla.zeros(2)], [xla.zeros(2)], "argument"),
    ],
)
def test_what_a_kernel_refuses(name, args, results, says):
    assert says in xla.Program()(name, args, results)


@pytest.mark.on_soft
def test_why_there_is_no_gpu():
    """Not only that the kernel could not be made for it."""
    with pytest.raises(q.NoDeviceError) as error, q.Device("cuda:77"):
        pass
    said = xla.Program("CUDA", ordinal=77)("add", [xla.zeros(2)] * 2, [xla.zeros(2)])
    assert said == str(error.value)


# ---- kernels of CUDA source ----------------------------------------------------------------------


def hexadecimal(value):
    return value.tobytes().hex()


A, N = hexadecimal(np.float32(2.5)), hexadecimal(np.int32(5))
LAUNCH = f"2 1 1 3 1 1 0 {A} a {N} r r"


@pytest.mark.on_soft
def test_raw_kernels():
    x, y, z = np.arange(6, dtype="float32"), xla.zeros(6), xla.zeros(6, dtype="float64")
    assert xla.Program()("axpy", [x], [y, z], launch=LAUNCH) is None
    assert y.tolist() == [0, 2.5, 5, 7.5, 10, 0] and z.tolist() == [0, 1, 2, 3, 4, 0]


@pytest.mark.on_soft
@pytest.mark.parametrize(
    "launch",
    [
        "", "2 1 1 3 1 1", "2 1 1 3 1 1 0", LAUNCH[:-2], LAUNCH + " r", LAUNCH + " a",
        LAUNCH.replace(A, "4"), LAUNCH.replace(A, "zz"), LAUNCH.replace(A, "00" * 9),
        LAUNCH + " 00" * 70, "1 " * 5000,
    ],
)  # fmt: skip
def test_launches_that_are_none(launch):
    arrays = [xla.zeros(6)], [xla.zeros(6), xla.zeros(6, dtype="float64")]
    assert "does not say how the kernel is launched" in xla.Program()(
        "axpy", *arrays, launch=launch
    )


@pytest.mark.on_soft
def test_what_a_raw_kernel_refuses():
    run = xla.Program()
    short = f"1 1 1 3 1 1 0 a {N} r r"
    assert "axpy" in run("axpy", [xla.zeros(6)], [xla.zeros(6)] * 2, launch=short)
    assert "too many arrays" in run("axpy", [xla.zeros(1)] * 60, [xla.zeros(1)] * 5, launch=LAUNCH)
