# SPDX-License-Identifier: MIT
#
# pyquern.torch.raw, and raw kernels in a torch.autograd.Function. In: CUDA source. Out: what
# torch's own functions give, eager and compiled; and every refusal.
"""Raw kernels with autograd and torch.compile."""

import pytest

torch = pytest.importorskip("torch")

from torch.library import opcheck
from torch_cases import BACKENDS, real, same

import pyquern
import pyquern.torch as qt

# ---- raw kernels -------------------------------------------------------------------------------

SOURCE = """
// a comment that names __global__ void log_kernel(int)
extern "C" __global__ void log_kernel(const float *x, float* y, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) { y[i] = logf(x[i]); }
}
extern "C" __global__ void log_backward(const float *__restrict__ x, const float *gy, float *gx,
                                        const int n)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) { gx[i] = gy[i] / x[i]; }
}
extern "C" __global__ void scale(float *x, float a, long long n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) { x[i] *= a; }
}
"""


def blocks(n):
    return (n + 127) // 128


def numel(x):
    return x.numel()


WORDS = {"grid": blocks, "block": 128, "values": {"n": numel}}
raw_log = qt.raw(
    SOURCE,
    "log_kernel",
    outputs={"y": "x"},
    backward=qt.raw(SOURCE, "log_backward", outputs={"gx": "x"}, **WORDS),
    **WORDS,
)


def test_functions_that_differ_in_a_value():
    """They are two for torch's dispatcher, too, which knows a function by its definition."""
    source = """extern "C" __global__ void times(const float *x, float *y, float a) {
        y[threadIdx.x] = a * x[threadIdx.x]; }"""
    x = torch.ones(2, 3)
    for a in (2.0, 5.0):
        f = qt.raw(source, "times", grid=1, block=3, outputs={"y": "x"}, values={"a": a})
        assert torch.equal(torch.vmap(f)(x), a * x)
        assert torch.equal(f._by_dispatcher(x[0]), a * x[0])


def test_raw():
    x = real(300, dtype=torch.float32)
    same(raw_log, torch.log, (x,))
    same(raw_log, torch.log, (real(3, 5, dtype=torch.float32),))
    strided = real(6, 4, dtype=torch.float32).detach().T.requires_grad_()
    same(raw_log, torch.log, (strided,))
    assert raw_log(torch.empty(0)).shape == (0,)
    assert set(opcheck(raw_log._overload, (x,)).values()) == {"SUCCESS"}


@pytest.mark.parametrize("backend", BACKENDS)
def test_raw_compiled(backend):
    torch.compiler.reset()
    compiled = torch.compile(lambda t: raw_log(t * 2), fullgraph=True, backend=backend)
    same(compiled, lambda t: torch.log(t * 2), (real(300, dtype=torch.float32),))


@pytest.mark.parametrize("backend", BACKENDS)
def test_raw_writes(backend):
    torch.compiler.reset()
    scale = qt.raw(SOURCE, "scale", mutates=("x",), **WORDS)
    x = torch.ones(300)
    version = x._version
    assert scale(x, 3.0) is None
    assert x.tolist() == [3] * 300 and x._version > version
    assert set(opcheck(scale._overload, (x, 3.0)).values()) == {"SUCCESS"}

    def step(t):
        u = t + 1
        scale(u, 2.0)
        return u

    compiled = torch.compile(step, fullgraph=True, backend=backend)
    assert compiled(torch.ones(300)).tolist() == [4] * 300
    with pytest.raises(ValueError, match="scale writes to its arguments, so that it has no grad"):
        scale(real(3, dtype=torch.float32), 1.0)
    with pytest.raises(ValueError, match=r"'x' of scale\(\) is written, and is not contiguous"):
        scale(torch.ones(4, 4).T[1:], 1.0)


class CuPyLog(torch.autograd.Function):
    """As a program of CuPy's writes it, with pyquern.RawKernel."""

    forward_kernel = pyquern.RawKernel(SOURCE, "log_kernel")
    backward_kernel = pyquern.RawKernel(SOURCE, "log_backward")

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        y, bs = torch.empty_like(x), 128
        CuPyLog.forward_kernel((blocks(x.numel()),), (bs,), (x, y, x.numel()))
        return y

    @staticmethod
    def backward(ctx, gy):
        (x,) = ctx.saved_tensors
        gx, bs = torch.empty_like(x), 128
        CuPyLog.backward_kernel((blocks(x.numel()),), (bs,), (x, gy.contiguous(), gx, x.numel()))
        return gx


def test_an_autograd_function():
    same(CuPyLog.apply, torch.log, (real(300, dtype=torch.float32),))


@pytest.mark.parametrize(
    "name, words, kind, message",
    [
        ("log_kernel", {}, ValueError, "log_kernel writes nothing: name what it writes by outputs"),
        ("nothing", {}, ValueError, r"declares no kernel: __global__ void nothing"),
        ("log_kernel", {"outputs": {"z": "x"}}, ValueError, "outputs names 'z', which is none of"),
        ("log_kernel", {"outputs": {"x": "y"}}, ValueError, "as a pointer to const"),
        ("log_kernel", {"outputs": {"y": "q"}}, ValueError, "to be like 'q', which is no input"),
        ("log_kernel", {"outputs": {"y": 3}}, TypeError, "by the name of an input, or by a func"),
        ("scale", {"mutates": "x", "backward": lambda: 0}, ValueError, "it has no backward"),
        ("scale", {"mutates": ("x",), "outputs": {"x": "x"}}, ValueError, "not both"),
        ("scale", {"mutates": ("a",)}, ValueError, "none of scale's pointers: x"),
        (
            "scale",
            {"mutates": ("x",), "grid": lambda q: q},
            ValueError,
            "grid is a function of 'q'",
        ),
    ],
)
def test_refused_raw_definitions(name, words, kind, message):
    with pytest.raises(kind, match=message):
        qt.raw(SOURCE, name, **{"grid": 1, **words})


def test_refused_raw_calls():
    with pytest.raises(TypeError, match=r"'x' of log_kernel\(\) points to float, and the tensor"):
        raw_log(torch.ones(3, dtype=torch.float64))
    with pytest.raises(TypeError, match=r"takes 1 inputs \(x\)"):
        raw_log(torch.ones(3), torch.ones(3))
