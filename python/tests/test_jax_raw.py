# SPDX-License-Identifier: MIT
#
# pyquern.jax.raw: kernels of CUDA source in programs of JAX. In: definitions, arrays of JAX. Out:
# values, gradients, and every refusal.
import pickle

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
jnp = pytest.importorskip("jax.numpy")

import pyquern.jax as qj  # noqa: E402

TWICE = r"""
extern "C" __global__ void twice(const float *x, float *y, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { y[i] = 2 * x[i]; } }"""
AXPY = r"""
extern "C" __global__ void axpy(float a, const float *__restrict__ x, const float *y, float *z,
                                long long n, bool *big /* a > 1 */)
{ for (int i = threadIdx.x; i < n; i += blockDim.x) { z[i] = a * x[i] + y[i]; *big = a > 1; } }"""
WORDS = {"outputs": {"y": "x"}, "values": {"n": lambda x: x.size}}


def blocks(n):
    return (n + 127) // 128


@pytest.fixture(scope="module")
def twice():
    return qj.raw(
        TWICE, "twice", grid=blocks, block=128, backward=("T gy", "T gx", "gx = 2 * gy"), **WORDS
    )


@pytest.fixture(scope="module")
def axpy():
    return qj.raw(
        AXPY,
        "axpy",
        grid=1,
        outputs={"z": "x", "big": lambda: jax.ShapeDtypeStruct((), bool)},
        values={"n": lambda x: x.size},
        backward=lambda a, x, gz: (None, a * gz, gz),
    )


def test_values(twice, axpy):
    for shape in ((3,), (300,), (20, 30), (), (0, 3)):
        x = jnp.arange(np.prod(shape), dtype="float32").reshape(shape)
        for f in (twice, jax.jit(twice)):
            y = f(x)
            assert y.shape == shape and bool((y == 2 * x).all())
    x = jnp.arange(5, dtype="float32")
    z, big = jax.jit(lambda x: axpy(2.5, x + 1, x))(x)
    assert bool((z == 2.5 * (x + 1) + x).all()) and bool(big) and big.shape == ()
    assert not axpy(np.float32(0.5), x, x)[1]


def test_views_come_in_c_order(twice):
    x = jnp.arange(12, dtype="float32").reshape(3, 4)
    assert bool((twice(x.T) == 2 * x.T).all()) and bool(
        (jax.jit(lambda x: twice(x.T))(x) == 2 * x.T).all()
    )


def test_gradients_and_vmap(twice, axpy):
    x = jnp.arange(6, dtype="float32").reshape(2, 3)
    assert bool((jax.grad(lambda x: (twice(x) ** 2).sum())(x) == 8 * x).all())
    gx, gy = jax.grad(lambda x, y: axpy(3.0, x, y)[0].sum(), (0, 1))(x, x)
    assert gx.tolist() == [[3] * 3] * 2 and gy.tolist() == [[1] * 3] * 2
    assert bool((jax.vmap(twice, 1, 1)(x) == 2 * x).all())
    forward = qj.function(twice, jvp=("T tx", "T ty", "ty = 2 * tx"))
    assert jax.jvp(forward, (x,), (x,))[1].tolist() == (2 * x).tolist()
    assert jax.grad(lambda x: forward(x).sum())(x).tolist() == [[2] * 3] * 2


SCALED = """
extern "C" __global__ void scaled(float a, const float *x, float *y)
{ y[threadIdx.x] = a * x[threadIdx.x]; }"""
SCALED_WORDS = {"grid": 1, "block": lambda x: x.size, "outputs": {"y": "x"}}


@pytest.mark.parametrize("a", [2.5, np.float32(2.5), np.float64(2.5), 3])
@pytest.mark.parametrize(
    "derivatives",
    [
        {"jvp": ("T x, float32 a, T tx", "T ty", "ty = a * tx")},
        {"jvp": ("float32 ta, float32 a, T tx", "T ty", "ty = a * tx + ta - ta")},
        {"jvp": True, "backward": ("T x, float32 a, T gy", "T gx, T ga", "gx = a * gy; ga = x")},
    ],
)
def test_numbers_have_no_tangents(a, derivatives):
    """The kernel's numbers are fixed, and of a dtype that has derivatives all the same."""
    f = qj.raw(SCALED, "scaled", **SCALED_WORDS, **derivatives)
    x = jnp.arange(3, dtype="float32")
    y, tangent = jax.jvp(lambda x: f(a, x), (x,), (x + 1,))
    assert y.tolist() == [0, a, 2 * a] and tangent.tolist() == [a, 2 * a, 3 * a]
    assert jax.grad(lambda x: f(a, x).sum())(x).tolist() == [a] * 3


def test_programs_are_kept_by_what_is_launched():
    """By the bits of a number: nan is one, 0.0 and -0.0 are two; and the latest alone."""
    f = qj.raw(SCALED, "scaled", **SCALED_WORDS, backward=lambda a, gy: (None, gy / a))
    x = jnp.ones(2, "float32")
    for _ in range(3):
        assert bool(jnp.isnan(f(np.float32("nan"), x)).all())
    assert f._program.cache_info().currsize == 1
    for a in (0.0, -0.0):
        assert [np.signbit(v) for v in f(a, x)] == [np.signbit(a)] * 2
        gradient = jax.grad(lambda x, a=a: f(a, x).sum())(x)
        assert gradient.tolist() == [np.copysign(np.inf, a)] * 2
    assert f._program.cache_info().maxsize == 256


def test_launch():
    """Grids, blocks and shared memory are as they are told, in one number or three."""
    source = r"""
    extern "C" __global__ void shape(const int *x, int *y)
    { extern __shared__ int s[]; s[63] = 1; if (!threadIdx.x && !blockIdx.x) {
      int n[] = {gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y, s[63]};
      for (int i = 0; i < 6; i++) { y[i] = n[i]; } } }"""
    x = jnp.zeros(6, "int32")
    for grid, block, want in (
        (2, 3, [2, 1, 1, 3, 1]),
        ((2, 3), (4, 2), [2, 3, 1, 4, 2]),
        (lambda x: (1, 1, x.ndim + 1), lambda x: x.size, [1, 1, 2, 6, 1]),
    ):
        f = qj.raw(source, "shape", grid=grid, block=block, outputs={"y": "x"}, shared_mem=256)
        assert f(x).tolist() == [*want, 1]


def test_pickle(twice):
    made = qj.raw(TWICE, "twice", grid=1, outputs={"y": "x"}, values={"n": len_of})
    again = pickle.loads(pickle.dumps(made))
    x = jnp.ones(3, "float32")
    assert again(x).tolist() == [2, 2, 2]


def len_of(x):
    return x.size


F32 = jnp.ones(3, "float32")


@pytest.mark.parametrize(
    "call, kind, says",
    [
        (lambda f, g: f(), TypeError, r"takes 1 inputs \(x\), and returns new arrays; 0"),
        (lambda f, g: f(F32, size=3), TypeError, "'size'; it takes none"),
        (lambda f, g: f([1.0]), TypeError, "'x' of twice.. is an array, not list"),
        (lambda f, g: f(2.0), TypeError, "'x' of twice.. is an array, not float"),
        (lambda f, g: f(F32.astype("float64")), TypeError, "points to float, .* has float64"),
        (lambda f, g: g("2", F32, F32), TypeError, "'a' of axpy.. is float, not str"),
        (lambda f, g: jax.jit(g)(2.0, F32, F32), TypeError, "'a' of axpy.. is a number, which is"),
    ],
)
def test_wrong_calls(twice, axpy, call, kind, says):
    with pytest.raises(kind, match=says):
        call(twice, axpy)


@pytest.mark.parametrize(
    "words, kind, says",
    [
        ({}, ValueError, "has no output: name what it writes by outputs="),
        (
            {"outputs": {"z": "x"}},
            ValueError,
            "outputs names 'z', which is none of twice's pointers",
        ),
        ({"outputs": {"x": "y"}}, ValueError, "'x', which twice declares as a pointer to const"),
        ({"outputs": {"y": "q"}}, ValueError, "like 'q', which is no input"),
        ({"outputs": {"y": 3}}, TypeError, "told by the name of an input, or by a function"),
        ({**WORDS, "values": {"m": 3}}, ValueError, "values names 'm'"),
        ({**WORDS, "grid": lambda k: k}, ValueError, "the grid is a function of 'k'"),
    ],
)
def test_wrong_definitions(words, kind, says):
    with pytest.raises(kind, match=says):
        qj.raw(TWICE, "twice", **{"grid": 1, "outputs": {}, **words})


def test_inputs_are_not_written():
    with pytest.raises(ValueError, match="'x' of twice is an input, .* declare a pointer to const"):
        qj.raw(TWICE.replace("const ", ""), "twice", grid=1, **WORDS)


@pytest.mark.parametrize(
    "words, kind, says",
    [
        ({"values": {"n": 1.5}}, TypeError, "'n' of twice.. is int, and the number is|is int, not"),
        ({"values": {"n": 1 << 40}}, OverflowError, "out of bounds for int32"),
        ({"outputs": {"y": lambda: 3}}, TypeError, "told by something with a shape and a dtype"),
        ({"outputs": {"y": lambda: F32.astype(int)}}, TypeError, "points to float, and is made of"),
        ({"grid": -1}, ValueError, "launched with -1 blocks"),
        ({"grid": (1, 1, 1, 1)}, ValueError, "1 to 3 extents, not 4"),
        ({"grid": 1.5}, TypeError, "float"),
        ({"block": 1 << 33}, ValueError, "is launched with"),
    ],
)
def test_wrong_launches(words, kind, says):
    with pytest.raises(kind, match=says):
        qj.raw(TWICE, "twice", **{"grid": 1, **WORDS, **words})(F32)


def test_what_the_device_refuses():
    with pytest.raises(Exception, match="5000"):
        qj.raw(TWICE, "twice", grid=1, block=5000, **WORDS)(F32).block_until_ready()
