# SPDX-License-Identifier: MIT
#
# pyquern.torch: forward mode, by texts, by functions, and as it follows from a backward, beside
# torch's own functions. In: definitions. Out: tangents.
import pytest

torch = pytest.importorskip("torch")

from torch.autograd import forward_ad, gradcheck
from torch_cases import CASES as BACKWARDS
from torch_cases import every, log, product, real, sums

import pyquern.torch as qt

SUM = ("T x", "T y", "x", "a + b", "y = a", "0")
LOG = ("T x", "T y", "y = log(x)")
X = torch.tensor([[0.5, 1.5, 4.0], [1.0, 2.0, 3.0]], dtype=torch.float64)


def tangents_of(args):
    return tuple(torch.cos(a.detach()) for a in args)


def same(ours, theirs, args):
    args = tuple(a.detach() for a in args)
    for f in (ours, lambda *a: ours(*a)):
        got = torch.func.jvp(f, args, tangents_of(args))
        want = torch.func.jvp(theirs, args, tangents_of(args))
        torch.testing.assert_close(got, want)
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(a, t) for a, t in zip(args, tangents_of(args), strict=True)]
        for mode in (torch.enable_grad(), torch.no_grad()):
            with mode:
                torch.testing.assert_close(_unpacked(ours(*duals)), _unpacked(theirs(*duals)))


def _unpacked(result):
    results = result if isinstance(result, tuple) else (result,)
    return [tuple(forward_ad.unpack_dual(r)) for r in results]


@every
def test_from_a_backward(case):
    """All that have one: of texts, of functions, of reductions and scans."""
    _, function, reference, tensors = BACKWARDS[case]
    same(function, reference, tensors)


@every
def test_gradcheck(case):
    _, function, _, tensors = BACKWARDS[case]
    assert gradcheck(function, tensors, check_forward_ad=True, check_backward_ad=False)


JVPS = {
    "texts": (qt.elementwise(*LOG, jvp=("T x, T tx", "T ty", "ty = tx / x")), torch.log, (X,)),
    "the output's": (
        qt.elementwise("T x", "T y", "y = exp(x)", jvp=("T y, T tx", "T ty", "ty = tx * y")),
        torch.exp,
        (X,),
    ),
    "a function": (qt.elementwise(*LOG, jvp=lambda x, tx: tx / x), torch.log, (X,)),
    "broadcast": (
        qt.elementwise(
            "T x, T a", "T y", "y = a * x", jvp=("T x, T a, T tx, T ta", "T ty", "ty = a*tx + x*ta")
        ),
        torch.mul,
        (X, X[0]),
    ),
    "a scan": (
        lambda x: SUMS(x, axis=1),
        lambda x: torch.cumsum(x, 1),
        (X,),
    ),
}  # fmt: skip
SUMS = qt.scan(
    "T x", "T y", "x", "a + b", "y = a", "0", jvp=lambda tx, axis: torch.cumsum(tx, axis)
)


@pytest.mark.parametrize("case", JVPS)
def test_tangents(case):
    same(*JVPS[case])


def test_the_jvp_goes_before_the_backward():
    odd = qt.elementwise(*LOG, backward=("T x, T gy", "T gx", "gx = gy / x"), jvp=lambda tx: 7 * tx)
    x = X.clone().requires_grad_()
    odd(x).sum().backward()
    assert torch.equal(x.grad, 1 / X)
    assert torch.equal(torch.func.jvp(odd, (X,), (X,))[1], 7 * X)


def test_forward_over_reverse():
    """The derivative of a gradient: a Hessian times a vector."""
    v = torch.ones_like(X)
    gradient = torch.func.grad(lambda x: log(x).sum())
    torch.testing.assert_close(torch.func.jvp(gradient, (X,), (v,))[1], -1 / (X * X))


def test_jacobian():
    torch.testing.assert_close(torch.func.jacfwd(log)(X[0]), torch.diag(1 / X[0]))
    torch.testing.assert_close(
        torch.func.jacfwd(lambda x: sums(x, axis=0))(X[0]), torch.ones(3, 3).double().tril()
    )


def test_numbers_and_tensors_without_a_tangent():
    assert torch.equal(torch.func.jvp(lambda x: product(x, 3.0), (X,), (X,))[1], 3 * X)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(X, X)
        assert torch.equal(forward_ad.unpack_dual(product(dual, X)).tangent, X * X)


def test_integers_have_no_tangents():
    power = qt.elementwise(
        "T x, int32 n",
        "T y, int32 m",
        "y = n * x; m = n",
        jvp=("int32 n, T tx", "T ty", "ty = n * tx"),
    )
    n = torch.arange(3, dtype=torch.int32)
    with forward_ad.dual_level():
        y, m = power(forward_ad.make_dual(X, X), n)
        assert torch.equal(forward_ad.unpack_dual(y).tangent, X * n)
        assert forward_ad.unpack_dual(m).tangent is None


def test_complex_numbers():
    second = ("T z, T gw, T ggz", "T gz, T ggw", "gz = 2 * conj(gw) * ggz; ggw = 2 * z * ggz")
    backward = ("T z, T gw", "T gz", "gz = gw * conj(z + z)", second)
    square = qt.elementwise("T z", "T w", "w = z * z", backward=backward)
    z = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex128)
    same(square, lambda z: z * z, (z,))
    alone = qt.elementwise("T z", "T w", "w = z * z", backward=backward[:3], name="alone")
    with pytest.raises(NotImplementedError, match="of alone follows from its backward only if"):
        torch.func.jvp(alone, (z,), (z,))


@pytest.mark.parametrize(
    "make, kind, says",
    [
        (lambda: qt.elementwise(*LOG, jvp=("T tz", "T ty", "ty = tz")), ValueError, "'tz', which"),
        (
            lambda: qt.elementwise(*LOG, jvp=("T tx", "T tz", "tz = tx")),
            ValueError,
            "the jvp of kernel has an output 'tz': its outputs are the tangents of the outputs: ty",
        ),
        (lambda: qt.elementwise(*LOG, jvp=("T tx", "T ty")), TypeError, "a jvp is a tuple of"),
        (lambda: qt.elementwise(*LOG, jvp=3), TypeError, "a jvp is a tuple .* not int"),
        (
            lambda: qt.function(SUMS, jvp=qt.elementwise("T tx", "T ty", "ty = tx")),
            ValueError,
            "which has an axis, is a function of Python",
        ),
        (
            lambda: qt.reduction(*SUM, jvp=("T tx", "T ty", "ty = tx")),
            ValueError,
            "which has an axis, is a function of Python",
        ),
        (lambda: qt.reduction(*SUM, jvp=("T tx",)), TypeError, "a jvp is a tuple of texts"),
        (lambda: qt.scan(*SUM, jvp=("T tx",)), TypeError, "a jvp is a tuple of texts"),
        (
            lambda: qt.scan(*SUM, jvp=("T tx", "T ty", "ty = tx")),
            ValueError,
            "which has an axis, is a function of Python",
        ),
    ],
)  # fmt: skip
def test_what_is_no_jvp(make, kind, says):
    with pytest.raises(kind, match=says):
        make()


def test_without_any():
    twice = qt.elementwise("T x", "T y", "y = x + x", name="twice")
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(2), torch.ones(2))
        for tracked in (dual, dual.clone().requires_grad_()):
            with pytest.raises(NotImplementedError, match="twice has no forward-mode .* by jvp="):
                twice(tracked)
        with torch.no_grad(), pytest.raises(NotImplementedError, match="forward-mode"):
            twice(dual)
        assert twice(torch.ones(2)).tolist() == [2, 2]


def test_a_jvp_that_returns_something_else():
    wrong = qt.elementwise(*LOG, jvp=lambda tx: tx[:1])
    with pytest.raises(
        ValueError, match=r"tangent of shape \(1, 3\) for 'y', whose shape is \(2, 3\)"
    ):
        torch.func.jvp(wrong, (X,), (X,))
    with pytest.raises(ValueError, match="the jvp of kernel returned 2 tangents"):
        torch.func.jvp(qt.elementwise(*LOG, jvp=lambda tx: (tx, tx)), (X,), (X,))


def test_only_forward_mode_keeps_more():
    """What is kept for a backward is no more than before."""
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        log(real(2, 3))
    assert len(kept) == 1
