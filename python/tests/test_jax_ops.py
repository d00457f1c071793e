# SPDX-License-Identifier: MIT
#
# pyquern.jax: kernels under jit, grad and vmap, beside JAX's own functions. In: definitions, arrays
# of JAX. Out: nothing.
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
jnp = pytest.importorskip("jax.numpy")

from jax.test_util import check_grads  # noqa: E402

DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex64 complex128 float8_e4m3fn float8_e5m2"
).split()


@pytest.fixture(scope="module")
def qj():
    import pyquern.jax

    return pyquern.jax


@pytest.fixture(scope="module")
def log(qj):
    second = ("T x, T gy, T ggx", "T gx, T ggy", "gx = -ggx * gy / (x * x); ggy = ggx / x")
    return qj.elementwise(
        "T x", "T y", "y = log(x)", backward=("T x, T gy", "T gx", "gx = gy / x", second)
    )


@pytest.fixture(scope="module")
def total(qj):
    return qj.reduction(
        "T x", "T y", "x", "a + b", "y = a", "0", backward=("T x, T gy", "T gx", "gx = gy + 0 * x")
    )


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype(qj, name):
    copy = qj.elementwise("T x", "T y", "y = x")
    x = jnp.array([[0, 1], [2, 1]]).astype(name)
    for f in (copy, jax.jit(copy)):
        y = f(x)
        assert isinstance(y, jax.Array) and y.dtype == x.dtype and bool((y == x).all())


def test_jit_and_broadcast(qj):
    product = qj.elementwise("T x, T y", "T z, bool big", "z = x * y; big = z > 3")
    x, y = jnp.arange(3.0), jnp.arange(2.0)[:, None]
    z, big = jax.jit(lambda x, y: product(x + 1, y * 2))(x, y)
    assert bool((z == (x + 1) * (y * 2)).all()) and bool((big == (z > 3)).all())
    assert jax.jit(product)(jnp.zeros((0, 3)), x)[0].shape == (0, 3)
    assert float(jax.jit(product)(jnp.array(2.0), 2.0)[0]) == 4


def test_numbers_have_the_dtype_of_their_parameter(qj):
    scaled = qj.elementwise("T x, T a, int32 n", "T y", "y = x * a + n")
    for dtype in ("bfloat16", "float32", "int8"):
        y = jax.jit(lambda x: scaled(x, 3, 1.0))(jnp.ones(2, dtype))
        assert y.dtype == dtype and y.tolist() == [4, 4]


def test_raw_parameters(qj):
    shifted = qj.elementwise("raw T x, int32 k", "T y", "y = x[k]")
    x, k = jnp.arange(5.0), jnp.array([4, 0, 2])
    assert jax.jit(shifted)(x, k.astype("int32")).tolist() == [4, 0, 2]


def test_reductions_and_scans(qj, total):
    x = jnp.arange(24.0).reshape(2, 3, 4)
    for axis in (None, 0, -1, (0, 2), (1,)):
        for keep in (False, True):
            got = jax.jit(lambda x, a=axis, k=keep: total(x, axis=a, keepdims=k))(x)
            assert bool((got == x.sum(axis, keepdims=keep)).all())
            ours = jax.grad(lambda x, a=axis, k=keep: (total(x, axis=a, keepdims=k) ** 2).sum())
            theirs = jax.grad(lambda x, a=axis, k=keep: (x.sum(a, keepdims=k) ** 2).sum())
            assert bool((ours(x) == theirs(x)).all())
    sums = qj.scan("T x", "T y", "x", "a + b", "y = a", "0")
    assert bool((jax.jit(lambda x: sums(x, axis=1))(x) == jnp.cumsum(x, 1)).all())
    assert bool((sums(x) == jnp.cumsum(x).reshape(x.shape)).all())


def test_gradients(qj, log):
    x = jnp.array([0.5, 1.5, 4.0])
    check_grads(log, (x,), order=2, modes=["rev"])
    check_grads(jax.jit(log), (x,), order=2, modes=["rev"])
    backward = ("T x, T a, T gy", "T gx, T ga", "gx = a * gy; ga = x * gy")
    scaled = qj.elementwise("T x, T a", "T y", "y = a * x", backward=backward)
    wide = jnp.arange(6.0).reshape(2, 3)
    check_grads(scaled, (wide, jnp.array([1.0, 2.0, 3.0])), order=1, modes=["rev"])
    check_grads(scaled, (wide, jnp.array([[2.0], [3.0]])), order=1, modes=["rev"])
    gx, ga = jax.grad(lambda x, a: scaled(x, a).sum(), (0, 1))(wide, jnp.array(2.0))
    assert float(ga) == 15 and bool((gx == 2).all())


def test_integers_have_no_gradients(qj):
    take = qj.elementwise(
        "T x, int32 n", "T y", "y = n * x", backward=("int32 n, T gy", "T gx", "gx = n * gy")
    )
    n = jnp.arange(3, dtype="int32")
    assert jax.grad(lambda x: take(x, n).sum())(jnp.ones(3)).tolist() == [0, 1, 2]


def test_vmap(qj, log, total):
    add = qj.elementwise("T x, T y", "T z", "z = x + y")
    x, y = jnp.arange(6.0).reshape(2, 3) + 1, jnp.arange(3.0)
    assert bool((jax.vmap(add, (0, None))(x, y) == x + y).all())
    assert bool((jax.vmap(lambda a: add(a, y[:, None]))(x) == x[:, None, :] + y[:, None]).all())
    assert bool((jax.vmap(lambda a: total(a, axis=0))(x) == x.sum(1)).all())
    assert bool(jnp.allclose(jax.vmap(jax.grad(lambda a: log(a).sum()))(x), 1 / x))
    assert bool(jnp.allclose(jax.jit(jax.vmap(log, in_axes=1))(x), jnp.log(x).T))


def test_in_a_loop(log):
    def step(_, x):
        return log(x) + 2

    got = jax.jit(lambda x: jax.lax.fori_loop(0, 100, step, x))(jnp.ones(1000))
    assert abs(float(got[0]) - 3.1461932206) < 1e-9


def test_kinds_of_backward(qj):
    sign = qj.elementwise("T x", "T y", "y = x > 0 ? 1 : -1")
    with pytest.raises(NotImplementedError, match="kernel has no backward: give one"):
        jax.grad(lambda x: sign(x).sum())(jnp.ones(3))
    straight = qj.function(sign, lambda gy: gy)
    assert jax.grad(lambda x: straight(x).sum())(jnp.ones(2)).tolist() == [1, 1]
    with pytest.raises(ValueError, match="returned 2 gradients"):
        jax.grad(lambda x: qj.function(sign, lambda gy: (gy, gy))(x).sum())(jnp.ones(2))
    with pytest.raises(ValueError, match="gradient of shape"):
        jax.grad(lambda x: qj.function(sign, lambda gy: gy[:1])(x).sum())(jnp.ones((2, 2)))
    with pytest.raises(ValueError, match="'gz', which is unknown"):
        qj.function(sign, lambda gz: gz)
    with pytest.raises(ValueError, match="an output 'gz'"):
        qj.elementwise("T x", "T y", "y = x", backward=("T gy", "T gz", "gz = gy"))
    with pytest.raises(TypeError, match="a backward is a tuple of texts"):
        qj.elementwise("T x", "T y", "y = x", backward=("T gy", "T gx"))
    with pytest.raises(TypeError, match="not int"):
        qj.function(sign, 3)
    for unnamed in (lambda *all: all, lambda **all: all, lambda x, /, gy: x):
        with pytest.raises(TypeError, match="a backward names its parameters: '.*' is no plain"):
            qj.function(sign, unnamed)
    with pytest.raises(TypeError, match="the forward of a function"):
        qj.function(jnp.log, lambda gy: gy)


def test_refused(qj, log, total):
    with pytest.raises(TypeError, match=r"takes 1 inputs \(x\), and returns new arrays; 2"):
        log(jnp.ones(3), jnp.ones(3))
    with pytest.raises(TypeError, match="unexpected keyword argument 'axis'; it takes none"):
        log(jnp.ones(3), axis=0)
    with pytest.raises(TypeError, match="'axes': did you mean 'axis'[?] It takes axis, keepdims"):
        total(jnp.ones(3), axes=0)
    with pytest.raises(TypeError, match="'x' of kernel.* is <class 'list'>"):
        log([1, 2])
    add = qj.elementwise("T x, T y", "T z", "z = x + y")
    with pytest.raises(ValueError, match="shape"):
        jax.jit(add)(jnp.ones(3), jnp.ones(4))
    with pytest.raises(TypeError, match="float32"):
        jax.jit(add)(jnp.ones(3), jnp.ones(3, "float32"))
    with pytest.raises(ValueError, match="axis"):
        total(jnp.ones(3), axis=1)
    wrong = qj.elementwise("T x", "T y", "y = sqroot(x)")
    with pytest.raises(Exception, match='identifier "sqroot" is undefined'):
        jax.jit(wrong)(jnp.ones(3)).block_until_ready()
    assert bool((log(jnp.ones(3)) == 0).all())  # as before


def test_pickle(log):
    again = pickle.loads(pickle.dumps(log))
    assert again(jnp.ones(2)).tolist() == [0, 0]


def test_threads(log):
    f = jax.jit(lambda x: log(x) + log(2 * x))
    x = jnp.linspace(1, 2, 500)
    want = jnp.log(x) + jnp.log(2 * x)
    with ThreadPoolExecutor(8) as pool:
        for got in pool.map(lambda _: f(x), range(200)):
            assert bool(jnp.allclose(got, want))


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return done.stdout + done.stderr


def test_without_x64():
    """Where JAX has no float64, an output of that dtype is refused by its name."""
    told = run("""
import jax.numpy as jnp, pyquern.jax as qj
try:
    qj.elementwise("T x", "float64 wide", "wide = x")(jnp.ones(3))
except TypeError as refused:
    print(refused)
""")
    assert "the output 'wide' of kernel is float64, which JAX has only after" in told


def test_kept_programs(tmp_path):
    """A program that JAX has kept on disk calls the kernel of the process that loads it."""
    code = f"""
import jax, jax.numpy as jnp, pyquern.jax as qj
jax.config.update("jax_compilation_cache_dir", {str(tmp_path)!r})
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
f = qj.elementwise("T x", "T y", "y = 3 * x")
print(jax.jit(lambda x: f(x) + 1)(jnp.arange(3.0)).tolist())
"""
    for _ in range(2):
        assert run(code).splitlines()[0] == "[1.0, 4.0, 7.0]"
    assert list(tmp_path.iterdir())
