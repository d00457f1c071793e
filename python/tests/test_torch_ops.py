# SPDX-License-Identifier: MIT
#
# pyquern.torch: kernels as functions of torch. In: definitions, tensors on the CPU. Out: values and
# gradients as torch's own functions have them, in eager calls, compiled, and under transforms; and
# every refusal. The thing to know: what compiles C++ is skipped where there is no compiler.
"""Kernels with autograd and torch.compile."""

import copy
import pathlib
import pickle
import re
import shutil

import pytest

torch = pytest.importorskip("torch")

from torch.autograd import gradcheck, gradgradcheck  # noqa: E402
from torch.library import opcheck  # noqa: E402

import pyquern  # noqa: E402
import pyquern.torch as qt  # noqa: E402

BACKENDS = [
    "aot_eager",
    pytest.param(
        "inductor",
        marks=pytest.mark.skipif(
            not (shutil.which("c++") or shutil.which("g++")), reason="no C++ compiler"
        ),
    ),
]

LOG = ("T x", "T y", "y = log(x)")
LOG_BACKWARD = (
    "T x, T gy",
    "T gx",
    "gx = gy / x",
    ("T x, T gy, T ggx", "T gx, T ggy", "gx = -ggx * gy / (x * x); ggy = ggx / x"),
)
log = qt.elementwise(*LOG, backward=LOG_BACKWARD, name="logarithm")
product = qt.elementwise(
    "T x, T a",
    "T y",
    "y = x * a",
    backward=("T x, T a, T gy", "T gx, T ga", "gx = a * gy; ga = x * gy"),
    name="product",
)
polar = qt.elementwise(
    "T x, T y",
    "T r, T s",
    "r = x * x + y * y; s = x - y",
    backward=(
        "T x, T y, T gr, T gs",
        "T gx, T gy",
        "gx = 2 * x * gr + gs; gy = 2 * y * gr - gs",
    ),
    name="polar",
)
total = qt.reduction("T x", "T y", "x", "a + b", "y = a", "0", backward=("T gy", "T gx", "gx = gy"))
norm = qt.reduction(
    "T x",
    "T y",
    "x * x",
    "a + b",
    "y = sqrt(a)",
    "0",
    backward=("T x, T y, T gy", "T gx", "gx = gy * x / y"),
    name="length",
)
dot = qt.reduction(
    "T x, T w",
    "T y",
    "x * w",
    "a + b",
    "y = a",
    "0",
    backward=("T x, T w, T gy", "T gx, T gw", "gx = w * gy; gw = x * gy"),
    name="dot",
)


def backward_of_sums(gy, axis):
    return sums(gy.flip(axis), axis=axis).flip(axis)


sums = qt.scan("T x", "T y", "x", "a + b", "y = a", "0", backward=backward_of_sums, name="sums")


def real(*shape, dtype=torch.float64):
    generator = torch.Generator().manual_seed(sum(shape) + 1)
    x = torch.rand(*shape, dtype=dtype, generator=generator) + 0.5
    return x.requires_grad_()


CASES = {
    "log": (log, lambda x: log(x), torch.log, (real(3, 4),)),
    "product": (product, lambda x, a: product(x, a), torch.mul, (real(3, 1), real(4))),
    "number": (product, lambda x: product(x, 2.5), lambda x: 2.5 * x, (real(3),)),
    "several": (
        polar,
        lambda x, y: polar(x, y),
        lambda x, y: (x * x + y * y, x - y),
        (real(2, 3), real(3)),
    ),
    "total": (total, lambda x: total(x), torch.sum, (real(3, 4),)),
    "axis": (norm, lambda x: norm(x, axis=1), lambda x: x.norm(dim=1), (real(3, 4),)),
    "axes": (
        norm,
        lambda x: norm(x, axis=(0, -1)),
        lambda x: x.norm(dim=(0, -1)),
        (real(2, 3, 4),),
    ),
    "keepdims": (
        norm,
        lambda x: norm(x, axis=0, keepdims=True),
        lambda x: x.norm(dim=0, keepdim=True),
        (real(3, 4),),
    ),
    "dot": (
        dot,
        lambda x, w: dot(x, w, axis=1),
        lambda x, w: (x * w).sum(1),
        (real(3, 4), real(4)),
    ),
    "scan": (sums, lambda x: sums(x, axis=1), lambda x: x.cumsum(1), (real(3, 4),)),
}
every = pytest.mark.parametrize("case", CASES)


def grads(function, tensors):
    made = function(*tensors)
    made = made if isinstance(made, tuple) else (made,)
    loss = sum((y * (k + 1) * y).sum() for k, y in enumerate(made))
    return [y.detach() for y in made], torch.autograd.grad(loss, tensors)


def same(function, reference, tensors):
    for got, wanted in zip(grads(function, tensors), grads(reference, tensors)):
        torch.testing.assert_close(list(got), list(wanted))


# ---- gradients ---------------------------------------------------------------------------------


@every
def test_values_and_gradients(case):
    _, function, reference, tensors = CASES[case]
    same(function, reference, tensors)


@every
def test_gradcheck(case):
    _, function, _, tensors = CASES[case]
    assert gradcheck(function, tensors)


def test_gradgradcheck():
    assert gradgradcheck(log, (real(3, 4),))
    assert gradgradcheck(lambda x: sums(x, axis=0), (real(4),))


def test_second_derivative_without_a_backward():
    (gx,) = torch.autograd.grad(product(real(3), 2.0).sum(), real(3), allow_unused=True) or (None,)
    assert gx is None
    x = real(3)
    (gx,) = torch.autograd.grad((product(x, x)).sum(), x, create_graph=True)
    with pytest.raises(NotImplementedError, match="product_backward has no backward: give one by"):
        gx.sum().backward()


def test_without_a_backward():
    twice = qt.elementwise("T x", "T y", "y = x + x", name="twice")
    x = real(3)
    y = twice(x)
    assert torch.equal(y, x + x) and y.requires_grad
    with pytest.raises(NotImplementedError, match="twice has no backward: give one by backward="):
        y.sum().backward()
    assert not twice(x.detach()).requires_grad


def test_integers_have_no_gradients():
    index = qt.elementwise(
        "T x, int32 n",
        "T y, int32 m",
        "y = x * n; m = n + 1",
        backward=lambda n, gy: (gy * n, None),
    )
    x, n = real(3), torch.arange(3, dtype=torch.int32)
    y, m = index(x, n)
    assert m.dtype == torch.int32 and not m.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [0, 1, 2]


def test_gradient_of_a_parameter_of_another_dtype():
    mixed = qt.elementwise(
        "float64 x, float32 a",
        "float64 y",
        "y = x * a",
        backward=(
            "float64 x, float32 a, float64 gy",
            "float64 gx, float64 ga",
            "gx = a * gy; ga = x * gy",
        ),
    )
    x, a = real(3), real(1, dtype=torch.float32)
    mixed(x, a).sum().backward()
    assert a.grad.dtype == torch.float32 and a.grad.shape == (1,)


def test_only_what_is_named_is_kept():
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        x, a = real(2, 3), real(3)
        total(x)
        assert kept == []
        log(x)
        assert len(kept) == 1 and kept[0].data_ptr() == x.data_ptr()
        kept.clear()
        qt.elementwise("T x", "T y", "y = exp(x)", backward=("T y, T gy", "T gx", "gx = gy * y"))(x)
        assert len(kept) == 1 and kept[0].data_ptr() != x.data_ptr()
        kept.clear()
        product(x, a)
        assert len(kept) == 2


def test_what_was_kept_and_changed_since_is_told():
    x = real(3)
    y = x * 1
    z = log(y)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_parameters_train():
    layer = torch.nn.Parameter(torch.tensor([0.5, 2.0]))
    before = layer.detach().clone()
    product(torch.ones(2), layer).sum().backward()
    torch.optim.SGD([layer], lr=0.1).step()
    assert torch.allclose(layer, before - 0.1)


def test_another_backward():
    sign = qt.elementwise("T x", "T y", "y = x > 0 ? 1 : -1", name="sign_of")
    straight = qt.function(sign, lambda gy: gy)
    x = real(3)
    straight(x).sum().backward()
    assert x.grad.tolist() == [1, 1, 1]
    same(qt.function(qt.elementwise(*LOG), log._gradient.backward), torch.log, (real(3),))
    same(qt.function(qt.elementwise(*LOG), LOG_BACKWARD), torch.log, (real(3),))


# ---- the dispatcher, compilers, transforms -----------------------------------------------------


@pytest.mark.parametrize(
    "op, args, words",
    [
        (log, (real(3),), {}),
        (product, (real(3, 1), real(4)), {}),
        (product, (real(3), 2.0), {}),
        (polar, (real(2), real(2)), {}),
        (norm, (real(3, 4),), {"axis": 1}),
        (sums, (real(3),), {"axis": 0}),
    ],
)
def test_opcheck(op, args, words):
    assert set(opcheck(op._overload, op._flat(args, words)).values()) == {"SUCCESS"}


@every
@pytest.mark.parametrize("backend", BACKENDS)
def test_compiled(case, backend):
    torch.compiler.reset()
    _, function, reference, tensors = CASES[case]
    same(torch.compile(function, fullgraph=True, backend=backend), reference, tensors)


@every
def test_compiled_with_dynamic_shapes(case):
    torch.compiler.reset()
    _, function, reference, tensors = CASES[case]
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager", dynamic=True)
    same(compiled, reference, tensors)
    longer = [torch.cat([t, t]).detach().requires_grad_() for t in tensors]
    if case not in ("product", "several", "dot"):
        same(compiled, reference, longer)


def test_compiled_once_for_all_extents():
    torch.compiler.reset()
    counter = torch._dynamo.testing.CompileCounter()
    compiled = torch.compile(lambda x: norm(log(x), axis=1), backend=counter, dynamic=True)
    for n in range(3, 9):
        compiled(torch.ones(n, n + 1))
    assert counter.frame_count == 1


def test_compiled_module():
    torch.compiler.reset()

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(4))
            self.function = product

        def forward(self, x):
            return self.function(x, self.scale).relu()

    layer = copy.deepcopy(Layer())
    torch.compile(layer, fullgraph=True, backend="aot_eager")(torch.ones(3, 4)).sum().backward()
    assert layer.scale.grad.tolist() == [3, 3, 3, 3]


def test_exported():
    class Layer(torch.nn.Module):
        def forward(self, x):
            return log(x)

    program = torch.export.export(Layer(), (torch.ones(3),))
    assert log._name in program.graph_module.code
    assert torch.equal(program.module()(torch.ones(3)), torch.zeros(3))


def test_fake_and_meta():
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        y = norm(torch.ones(3, 4, dtype=torch.float16), axis=0)
    assert y.shape == (4,) and y.dtype == torch.float16
    y, s = polar(torch.ones(3, 1, device="meta"), torch.ones(4, device="meta"))
    assert y.shape == s.shape == (3, 4) and y.device.type == "meta"


def test_modes_see_the_call():
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            seen.append(function)
            return function(*args, **(kwargs or {}))

    with Mode():
        log(torch.ones(3))
    assert log._overload in seen


def test_vmap():
    x, a = real(5, 3).detach(), real(4).detach()
    assert torch.equal(torch.vmap(log)(x), log(x))
    assert torch.equal(torch.vmap(log, in_dims=1, out_dims=1)(x), log(x))
    wanted = x[:, :, None] * a
    assert torch.equal(torch.vmap(product, in_dims=(0, None))(x[:, :, None], a), wanted)
    row = torch.vmap(product, in_dims=(0, 0))(x[:, 0], x)
    assert torch.equal(row, x[:, :1] * x)
    r, s = torch.vmap(polar, in_dims=(0, None))(x, 2.0)
    assert torch.equal(s, x - 2)
    assert torch.allclose(torch.vmap(lambda t: norm(t, axis=0))(x), norm(x, axis=1))
    assert torch.allclose(torch.vmap(lambda t: sums(t, axis=0))(x), sums(x, axis=1))


def test_transforms():
    x = real(4).detach()
    torch.testing.assert_close(torch.func.grad(lambda t: log(t).sum())(x), 1 / x)
    torch.testing.assert_close(torch.func.jacrev(log)(x), torch.diag(1 / x))
    torch.testing.assert_close(torch.vmap(torch.func.grad(log))(x), 1 / x)
    torch.testing.assert_close(torch.func.grad(lambda t: torch.vmap(log)(t).sum())(x), 1 / x)
    hessian = torch.func.jacrev(torch.func.grad(lambda t: log(t).sum()))(x)
    torch.testing.assert_close(hessian, torch.diag(-1 / x**2))


def test_saved_and_copied():
    assert copy.deepcopy(log) is log and copy.copy(log) is log
    again = pickle.loads(pickle.dumps(log))
    assert again._name == log._name and again._overload is log._overload
    same(again, torch.log, (real(3),))


def test_names_are_those_of_the_definition():
    a, b = qt.elementwise(*LOG), qt.elementwise(*LOG)
    assert a._overload is b._overload
    others = [
        qt.elementwise(*LOG, preamble="#define NOTHING"),
        qt.elementwise(*LOG, backward=LOG_BACKWARD[:3]),
        qt.elementwise(*LOG, backward=LOG_BACKWARD),
        qt.elementwise(*LOG, backward=lambda gy: gy),
        qt.elementwise(*LOG, backward=lambda gy: gy),
        qt.elementwise("T x", "T y", "y = log(x) "),
    ]
    assert len({o._name for o in (a, *others)}) == len(others) + 1


def test_names_that_schemas_keep_for_themselves():
    odd = qt.elementwise("T self, T Tensor", "T in", "in = self + Tensor", name="odd")
    assert odd(torch.ones(2), 1.0).tolist() == [2, 2]


# ---- tensors of all kinds ----------------------------------------------------------------------

COMPLEX = qt.elementwise("T z", "T w", "w = z * z", name="square")


@pytest.mark.parametrize("grad", [False, True])
def test_conjugated_and_negated(grad):
    z = torch.tensor([1 + 2j, 3 - 1j]).requires_grad_(grad)
    assert torch.equal(COMPLEX(z.conj()), (z.conj() * z.conj()).resolve_conj())
    negated = z.conj().imag
    assert negated.is_neg() and torch.equal(COMPLEX(negated), (negated * negated))


@pytest.mark.parametrize("name", "int32 int64 uint8 float16 bfloat16 float32 float64".split())
def test_dtypes(name):
    double = qt.elementwise("T x", "T y, bool b", "y = x + x; b = x > 1", name="double_of")
    x = torch.tensor([0, 1, 2, 3]).to(getattr(torch, name))
    y, b = double(x)
    assert y.dtype == x.dtype and y.tolist() == [0, 2, 4, 6]
    assert b.dtype == torch.bool and b.tolist() == [False, False, True, True]


def test_views_and_empty():
    x = real(4, 6)
    for view in (x.T, x[:, ::2], x[0, 0], x[0:0], x[0].expand(3, 6)):
        assert torch.equal(product(view, 2.0), view * 2)
        assert product(view, 2.0).requires_grad


def test_inference_mode():
    with torch.inference_mode():
        assert torch.equal(log(torch.ones(3)), torch.zeros(3))
    with torch.no_grad():
        assert not log(real(3)).requires_grad


def test_raw_parameters_and_size():
    gather = qt.elementwise(
        "raw T x, int64 at",
        "T y",
        "y = x[at]",
        backward=lambda x, at, gy: (torch.zeros_like(x).index_add(0, at, gy), None),
        name="gather",
    )
    x, i = real(5), torch.tensor([4, 0, 4])
    gather(x, i).sum().backward()
    assert x.grad.tolist() == [1, 0, 0, 0, 2]
    head = qt.elementwise("raw T x", "T y", "y = x[i]", name="head")
    assert torch.equal(head(x.detach(), size=2), x.detach()[:2])
    compiled = torch.compile(lambda t: head(t, size=2), fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(x.detach()), x.detach()[:2])


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


# ---- on a GPU ----------------------------------------------------------------------------------

on_a_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")


@on_a_gpu
@every
def test_on_a_gpu(case):
    _, function, reference, tensors = CASES[case]
    same(function, reference, [t.detach().cuda().requires_grad_() for t in tensors])


@on_a_gpu
def test_a_training_step_in_a_cuda_graph():
    a = torch.full((1000,), 2.0, device="cuda", requires_grad=True)
    x = torch.rand(1000, device="cuda") + 1
    optimizer = torch.optim.SGD([a], lr=0.1)

    def step():
        optimizer.zero_grad(set_to_none=False)
        loss = log(product(x, a)).sum()
        loss.backward()
        optimizer.step()
        return loss

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()
    wanted = a.detach().clone()
    for k in range(5):
        x.copy_(torch.rand(1000, device="cuda") + 1 + k)
        graph.replay()
        torch.testing.assert_close(loss, torch.log(x * wanted).sum())
        wanted -= 0.1 / wanted
        torch.testing.assert_close(a.detach(), wanted)


# ---- refused -----------------------------------------------------------------------------------

BAD_BACKWARD = [
    (("T x, T z", "T gx", "gx = x"), ValueError, "a parameter 'z', which is unknown: its param"),
    (("T x", "T gq", "gq = x"), ValueError, "has an output 'gq': its outputs are .* gx"),
    (("T x",), TypeError, "a backward is a tuple of texts"),
    (("T x", "T gx", "gx = x", 3), TypeError, "or one of Python, not int"),
    (3, TypeError, "or one of Python, not int"),
    (lambda q: q, ValueError, "a parameter 'q', which is unknown"),
    (lambda *gy: gy, TypeError, r"names its parameters: '\*gy' is no plain one"),
]


@pytest.mark.parametrize("backward, kind, message", BAD_BACKWARD)
def test_refused_backwards(backward, kind, message):
    with pytest.raises(kind, match=message):
        qt.elementwise(*LOG, backward=backward)


def test_refused_definitions():
    with pytest.raises(ValueError, match="'gy', which is both the input and the gradient"):
        qt.elementwise("T x, T gy", "T y", "y = x", backward=("T gy", "T gx", "gx = gy"))
    with pytest.raises(ValueError, match="has no input: a function of torch takes tensors"):
        qt.elementwise("", "float32 y", "y = 1")
    with pytest.raises(TypeError, match="the forward of a function is one of pyquern.torch, not"):
        qt.function(torch.log, None)
    with pytest.raises(pyquern.SignatureError):
        qt.elementwise("T", "T y", "y = 1")


@pytest.mark.parametrize(
    "args, words, kind, message",
    [
        ((), {}, TypeError, r"product\(\) takes 2 inputs \(x, a\), and returns new tensors; 0"),
        ((torch.ones(2),) * 3, {}, TypeError, "3 arguments were given"),
        ((1.0, 2.0), {}, TypeError, r"product\(\) was given no tensor"),
        ((torch.ones(2), "x"), {}, TypeError, r"argument 2 of product\(\) \('a', str\) is neither"),
        ((torch.ones(2), [1]), {}, TypeError, "'a', list"),
        ((torch.ones(2), 1), {"out": 3}, TypeError, "keyword argument 'out'; it takes size"),
        ((torch.ones(2), torch.ones(3)), {}, pyquern.ShapeError, "do not broadcast together"),
        (
            (torch.ones(2), torch.ones(2).double()),
            {},
            pyquern.TypeMismatchError,
            "float32.*float64|float64.*float32",
        ),
        ((torch.ones(2, dtype=torch.complex32), 1), {}, NotImplementedError, "DLPack|complex32"),
    ],
)
def test_refused_calls(args, words, kind, message):
    with pytest.raises(kind, match=message):
        product(*args, **words)


def test_refused_gradients():
    wrong = qt.elementwise(*LOG, backward=lambda gy: gy[:1, None].expand(2, 3, 4))
    with pytest.raises(ValueError, match=r"gradient of shape \(2, 3, 4\) for 'x', whose shape is"):
        wrong(real(3)).sum().backward()
    many = qt.elementwise(*LOG, backward=lambda gy: (gy, gy))
    with pytest.raises(ValueError, match="returned 2 gradients: it returns one for each of x"):
        many(real(3)).sum().backward()


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


# ---- the README --------------------------------------------------------------------------------


def test_readme():
    text = (pathlib.Path(__file__).parent.parent / "README.md").read_text()
    section = text.partition("## Functions of PyTorch")[2].partition("\n## ")[0]
    examples = re.findall(r"```python\n(.*?)```", section, re.S)
    assert examples
    for example in examples:
        exec(example, {})
