# SPDX-License-Identifier: MIT
#
# pyquern.jax: forward mode, by texts, by functions, and as it follows from a backward, beside JAX's
# own functions. In: definitions. Out: tangents and gradients.
import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
jnp = pytest.importorskip("jax.numpy")

from jax.test_util import check_grads  # noqa: E402

import pyquern.jax as qj  # noqa: E402

SUM = ("T x", "T y", "x", "a + b", "y = a", "0")
LOG = ("T x", "T y", "y = log(x)")
LOG_BACKWARD = ("T x, T gy", "T gx", "gx = gy / x")
PRODUCT = ("T x, T a", "T y", "y = a * x")
PRODUCT_BACKWARD = ("T x, T a, T gy", "T gx, T ga", "gx = a * gy; ga = x * gy")
PRODUCT_JVP = ("T x, T a, T tx, T ta", "T ty", "ty = a * tx + x * ta")
X = jnp.array([[0.5, 1.5, 4.0], [1.0, 2.0, 3.0]])

BOTH = qj.elementwise(
    "T x, T a",
    "T y, T z",
    "y = x * a; z = x + 2 * a",
    backward=("T x, T a, T gy, T gz", "T gx, T ga", "gx = a * gy + gz; ga = x * gy + 2 * gz"),
    jvp=True,
)
SQUARES = qj.reduction(
    "T x, T w", "T y", "w * x * x", "a + b", "y = a", "0", jvp=True,
    backward=("T x, T w, T gy", "T gx, T gw", "gx = 2 * w * x * gy; gw = x * x * gy"),
)  # fmt: skip
SUMS = qj.scan("T x", "T y", "x", "a + b", "y = a", "0", jvp=lambda tx, axis: jnp.cumsum(tx, axis))

CASES = {
    "texts": (qj.elementwise(*LOG, jvp=("T x, T tx", "T ty", "ty = tx / x")), jnp.log, (X,)),
    "the output's": (
        qj.elementwise("T x", "T y", "y = exp(x)", jvp=("T y, T tx", "T ty", "ty = tx * y")),
        jnp.exp,
        (X,),
    ),
    "a function": (qj.elementwise(*LOG, jvp=lambda x, tx: tx / x), jnp.log, (X,)),
    "from a backward": (qj.elementwise(*LOG, backward=LOG_BACKWARD, jvp=True), jnp.log, (X,)),
    "broadcast": (qj.elementwise(*PRODUCT, jvp=PRODUCT_JVP), jnp.multiply, (X, X[0])),
    "broadcast, from a backward": (
        qj.elementwise(*PRODUCT, backward=PRODUCT_BACKWARD, jvp=True),
        jnp.multiply,
        (X, X[:, :1]),
    ),
    "two outputs": (BOTH, lambda x, a: (x * a, x + 2 * a), (X, X[0])),
    "a reduction": (
        lambda x, w: SQUARES(x, w, axis=1),
        lambda x, w: (w * x * x).sum(1),
        (X, X[0]),
    ),
    "a reduction of all": (
        lambda x, w: SQUARES(x, w, keepdims=True),
        lambda x, w: (w * x * x).sum(keepdims=True),
        (X, X[:, :1]),
    ),
    "a scan": (lambda x: SUMS(x, axis=1), lambda x: jnp.cumsum(x, 1), (X,)),
}


@pytest.mark.parametrize("case", CASES)
def test_tangents_and_gradients(case):
    ours, theirs, args = CASES[case]
    tangents = tuple(jnp.cos(a) for a in args)
    for f in (ours, jax.jit(ours)):
        got, want = jax.jvp(f, args, tangents), jax.jvp(theirs, args, tangents)
        assert all(map(jnp.allclose, *map(jax.tree.leaves, (got, want))))
        assert jax.tree.structure(got) == jax.tree.structure(want)
    check_grads(ours, args, order=1, modes=["fwd", "rev"])


def test_other_transforms():
    log = CASES["texts"][0]
    assert jnp.allclose(jax.jacfwd(log)(X[0]), jnp.diag(1 / X[0]))
    assert jnp.allclose(jax.vmap(lambda x: jax.jvp(log, (x,), (x,))[1])(X), 1)
    assert jnp.allclose(jax.linearize(log, X)[1](X), 1)


def test_second_derivatives():
    """Of what has a backward itself: reverse mode over the first."""
    own = ("T x, T tx, T gty", "T gx, T gtx", "gx = -gty * tx / (x * x); gtx = gty / x")
    log = qj.elementwise(*LOG, jvp=("T x, T tx", "T ty", "ty = tx / x", own))
    second = jax.grad(lambda x: jax.jvp(log, (x,), (jnp.ones_like(x),))[1].sum())
    assert jnp.allclose(second(X), -1 / (X * X))
    assert jnp.allclose(jax.grad(lambda x: jax.grad(lambda x: log(x).sum())(x).sum())(X), -1 / X**2)


def test_integers_have_no_tangents():
    power = qj.elementwise(
        "T x, int32 n",
        "T y, int32 m",
        "y = n * x; m = n",
        jvp=("int32 n, T tx", "T ty", "ty = n * tx"),
    )
    n = jnp.arange(3, dtype="int32")
    zero = jax.numpy.zeros(3, jax.dtypes.float0)
    (y, m), (ty, tm) = jax.jvp(power, (X, n), (X, zero))
    assert jnp.allclose(ty, X * n) and tm.dtype == jax.dtypes.float0 and m.shape == y.shape
    assert jnp.allclose(jax.grad(lambda x: power(x, n)[0].sum())(X), jnp.broadcast_to(n, X.shape))


@pytest.mark.parametrize(
    "make, kind, says",
    [
        (lambda: qj.elementwise(*LOG, jvp=True), ValueError, "from its backward, which must be"),
        (
            lambda: qj.elementwise(*LOG, backward=lambda gy: gy, jvp=True),
            ValueError,
            "which must be texts",
        ),
        (lambda: qj.elementwise(*LOG, jvp=("T tz", "T ty", "ty = tz")), ValueError, "'tz', which"),
        (
            lambda: qj.elementwise(*LOG, jvp=("T tx", "T tz", "tz = tx")),
            ValueError,
            "the jvp of kernel has an output 'tz': its outputs are the tangents of the outputs: ty",
        ),
        (
            lambda: qj.elementwise(*LOG, jvp=("T tx", "T ty")),
            TypeError,
            "a jvp is a tuple of texts",
        ),
        (lambda: qj.elementwise(*LOG, jvp=3), TypeError, "a jvp is a tuple .* not int"),
        (
            lambda: qj.elementwise("raw T x", "T y", "y = x[0]", jvp=("T tx", "T ty", "ty = tx")),
            ValueError,
            "cannot be of texts",
        ),
        (
            lambda: qj.scan(
                "T x", "T y", "x", "a + b", "y = a", "0", backward=LOG_BACKWARD, jvp=True
            ),
            ValueError,
            "cannot be of texts",
        ),
        (
            lambda: qj.function(SQUARES, jvp=qj.elementwise(*LOG)),
            ValueError,
            "has an output 'y'",
        ),
        (
            lambda: qj.reduction(*SUM, jvp=("T tx", "T ty", "ty = tx")),
            ValueError,
            "which has an axis, is a function of Python",
        ),
        (lambda: qj.reduction(*SUM, jvp=("T tx",)), TypeError, "a jvp is a tuple of texts"),
        (lambda: qj.scan(*SUM, jvp=("T tx",)), TypeError, "a jvp is a tuple of texts"),
        (
            lambda: qj.scan(*SUM, jvp=("T tx", "T ty", "ty = tx")),
            ValueError,
            "cannot be of texts",
        ),
    ],
)
def test_what_is_no_jvp(make, kind, says):
    with pytest.raises(kind, match=says):
        make()


def test_a_jvp_that_returns_something_else():
    wrong = qj.elementwise(*LOG, jvp=lambda tx: tx[:1])
    with pytest.raises(
        ValueError, match=r"tangent of shape \(1, 3\) for 'y', whose shape is \(2, 3\)"
    ):
        jax.jvp(wrong, (X,), (X,))
    with pytest.raises(ValueError, match="the jvp of kernel returned 2 tangents"):
        jax.jvp(qj.elementwise(*LOG, jvp=lambda tx: (tx, tx)), (X,), (X,))
