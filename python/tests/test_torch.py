# SPDX-License-Identifier: MIT
#
# Tensors of torch in kernels, on the CPU: the same memory in, tensors out, and what its table of
# functions lets pass is refused.
import threading

import pytest

torch = pytest.importorskip("torch")

DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex64 complex128 float8_e4m3fn float8_e5m2"
).split()


@pytest.fixture
def double(q):
    return q.ElementwiseKernel("T x", "T y", "y = x + x")


@pytest.fixture
def add(q):
    return q.ElementwiseKernel("T x, T y", "T z", "z = x + y")


# ---- in and out --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype(q, name):
    dtype = getattr(torch, name)
    x = torch.tensor([0, 1, 2, 1]).to(dtype)
    y = q.ElementwiseKernel("T x", "T y", "y = x")(x)
    assert type(y) is torch.Tensor and y.dtype == dtype
    assert y.view(torch.uint8).tolist() == x.view(torch.uint8).tolist()


@pytest.mark.on_soft
def test_nothing_is_copied(q):
    address = q.ElementwiseKernel("raw T x, int8 like", "int64 at", "at = (long long)&x[0]")
    x, like = torch.arange(10.0), torch.zeros(1, dtype=torch.int8)
    assert address(x, like).item() == x.data_ptr()
    assert address(x[3:], like).item() == x[3:].data_ptr()


def test_outputs_are_written_in_place(add):
    x, z = torch.arange(6.0), torch.zeros(6)
    assert add(x, 1, z) is z
    assert z.tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a.T,
        lambda a: a[:, ::2],
        lambda a: a[1:, 1:],
        lambda a: a[:, None, :],
        lambda a: a[0, 0:0],
        lambda a: a[0, 0],
        lambda a: a[0].expand(5, 6),
        lambda a: torch.nn.Parameter(a, requires_grad=False),
    ],
)
def test_views(double, view):
    a = view(torch.arange(24.0).reshape(4, 6))
    y = double(a)
    assert type(y) is torch.Tensor and torch.equal(y, a + a)


def test_outputs_are_plain_tensors(double):
    y = double(torch.ones(3))
    assert not y.requires_grad and y.is_leaf and y.is_contiguous() and y.device.type == "cpu"
    y.requires_grad_().sum().backward()
    assert y.grad.tolist() == [1, 1, 1]
    assert double(torch.empty(0, 3)).shape == (0, 3)


def test_reductions(q):
    total = q.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0")
    x = torch.arange(12.0).reshape(3, 4)
    assert total(x).item() == 66 and total(x).shape == ()
    assert torch.equal(total(x, axis=0), x.sum(0))


@pytest.mark.on_soft
def test_both_ways(q):
    x = torch.arange(5.0)
    a = q.from_dlpack(x)
    assert a.pointer == x.data_ptr()
    assert torch.from_dlpack(a).data_ptr() == x.data_ptr()
    del x
    assert a.tolist() == [0, 1, 2, 3, 4]


def test_with_others(q, add):
    numpy = pytest.importorskip("numpy")
    for other in (numpy.ones(2, numpy.float32), q.ones(2, "float32")):
        mixed = add(torch.ones(2), other)
        assert isinstance(mixed, q.ndarray) and mixed.tolist() == [2, 2]
    assert type(add(torch.ones(2), torch.nn.Parameter(torch.ones(2), False))) is torch.Tensor
    assert type(add(torch.ones(2), numpy.float32(2))) is torch.Tensor


# ---- refused -----------------------------------------------------------------------------------


REFUSED = """
import os, sys
import torch
import pyquern as q
from pyquern import _foreign

if sys.argv[1] == "by asking torch":
    known = _foreign.torch_layout()
    _foreign.torch_layout = lambda: (0, 0, 0, 0, known[-1])
else:
    assert _foreign.torch_layout()[0] > 0

k = q.ElementwiseKernel("T x", "T y", "y = x + x")

def refused(tensor, *words, out=False):
    try:
        k(torch.ones(3), tensor) if out else k(tensor)
    except ValueError as error:
        assert all(w in str(error) for w in words), error
        assert ("argument 2" if out else "argument 1") in str(error), error
    else:
        raise AssertionError(words)

number = torch.ones(3, dtype=torch.complex64)
refused(number.conj(), "is a conjugated view", "resolve_conj()")
refused(number.conj().imag, "is a negated view", "resolve_neg()")
with torch.inference_mode():
    refused(torch.ones(3, dtype=torch.complex64).conj().imag, "is a negated view")
assert k(number.conj().resolve_conj())[0] == 2
assert k(number.conj().real)[0] == 2

leaf = torch.ones(3, requires_grad=True)
for t in (leaf, leaf * 2, leaf[1:], torch.nn.Parameter(torch.ones(3))):
    refused(t, "requires grad", "pyquern.torch", "x.detach()", "torch.no_grad()")
refused(leaf, "requires grad", out=True)
assert k(leaf.detach()).tolist() == [2, 2, 2]
with torch.no_grad():
    assert k(leaf).tolist() == [2, 2, 2]
    assert k(torch.ones(3), leaf) is leaf
with torch.inference_mode():
    assert k(torch.ones(3)[1:]).tolist() == [2, 2]

from torch._subclasses import FakeTensorMode
with FakeTensorMode():
    fake = torch.ones(3)
refused(fake, "FakeTensor", "has no memory", "pyquern.torch")
"""


@pytest.mark.parametrize("told", ["at a glance", "by asking torch"])
def test_what_torch_lets_pass(told):
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-c", REFUSED, told], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr


def test_tensors_without_memory(double):
    with pytest.raises(TypeError, match=r"argument 1 \(torch.Tensor\) gives no memory out: "):
        double(torch.ones(3, 3).to_sparse())
    with pytest.raises(TypeError, match="gives no memory out"):
        torch.vmap(double)(torch.ones(3, 3))
    with pytest.raises((TypeError, ValueError), match="argument 1"):
        double(torch.ones(3, device="meta"))


def test_other_dtypes(q, double):
    with pytest.raises(NotImplementedError, match="DLPack"):
        double(torch.ones(3, dtype=torch.complex32))


# ---- threads -----------------------------------------------------------------------------------


def test_threads(add):
    wrong = []

    def work(seed):
        x, out = torch.full((100,), float(seed)), torch.empty(100)
        for k in range(300):
            if not (add(x, k) == seed + k).all() or not (add(x, k, out) == seed + k).all():
                wrong.append((seed, k))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
