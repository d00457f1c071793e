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


@pytest.fixture(autouse=True, scope="module")
def calls():
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
