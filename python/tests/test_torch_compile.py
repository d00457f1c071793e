# SPDX-License-Identifier: MIT
#
# pyquern.torch in torch's machinery. In: functions, tensors. Out: what eager calls give, when
# compiled, exported, traced, batched, transformed, copied. The thing to know: what compiles C++ is
# skipped where there is no compiler.
"""Kernels in torch.compile, torch.export, torch.func."""

import copy
import pickle

import pytest

torch = pytest.importorskip("torch")

from torch.library import opcheck
from torch_cases import (
    BACKENDS,
    CASES,
    LOG,
    LOG_BACKWARD,
    every,
    log,
    norm,
    polar,
    product,
    real,
    same,
    sums,
)

import pyquern.torch as qt

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
    _, s = torch.vmap(polar, in_dims=(0, None))(x, 2.0)
    assert torch.equal(s, x - 2)
    assert torch.allclose(torch.vmap(lambda t: norm(t, axis=0))(x), norm(x, axis=1))
    assert torch.allclose(torch.vmap(lambda t: sums(t, axis=0))(x), sums(x, axis=1))


def test_vmap_compiled():
    torch.compiler.reset()
    x = real(5, 3).detach()
    for function in (lambda t: product(t, 2.0), lambda t: norm(t, axis=0)):
        compiled = torch.compile(torch.vmap(function), fullgraph=True, backend="aot_eager")
        torch.testing.assert_close(compiled(x), torch.vmap(function)(x))


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
