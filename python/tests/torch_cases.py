# SPDX-License-Identifier: MIT
#
# What the tests of pyquern.torch share. In: nothing. Out: functions of torch, each with the
# function of torch's own that it must be like, and tensors for both.
"""Functions for tests, and what they must be like."""

import shutil

import pytest
import torch

import pyquern.torch as qt

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
    for got, wanted in zip(grads(function, tensors), grads(reference, tensors), strict=True):
        torch.testing.assert_close(list(got), list(wanted))
