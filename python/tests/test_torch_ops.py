# SPDX-License-Identifier: MIT
#
# pyquern.torch: kernels as functions of torch. In: definitions, tensors. Out: values and gradients
# as torch's own functions have them; and every refusal.
"""Kernels with autograd."""

import pathlib
import re

import pytest

torch = pytest.importorskip("torch")

from torch.autograd import gradcheck, gradgradcheck
from torch_cases import (
    CASES,
    LOG,
    LOG_BACKWARD,
    every,
    log,
    product,
    real,
    same,
    sums,
    total,
)

import pyquern
import pyquern.torch as qt

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


def test_complex_gradients():
    square = qt.elementwise(
        "T z", "T w", "w = z * z", backward=("T z, T gw", "T gz", "gz = gw * conj(z + z)")
    )
    z = torch.complex(real(3).detach(), real(3).detach() + 1).requires_grad_()
    assert gradcheck(square, z) and gradcheck(lambda z: square(z.conj()), z)


# ---- on a GPU ----------------------------------------------------------------------------------


@pytest.mark.on_gpu
@every
def test_on_a_gpu(case):
    _, function, reference, tensors = CASES[case]
    same(function, reference, [t.detach().cuda().requires_grad_() for t in tensors])


@pytest.mark.on_gpu
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
        ((torch.ones(2), 1), {"sise": 3}, TypeError, "'sise': did you mean 'size'"),
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


# ---- the README --------------------------------------------------------------------------------


def test_readme():
    text = (pathlib.Path(__file__).parent.parent / "README.md").read_text()
    section = text.partition("## Functions of PyTorch")[2].partition("\n## ")[0]
    examples = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    assert examples
    for example in examples:
        exec(example, {})
