# SPDX-License-Identifier: MIT
#
# JAX's arrays in kernels, on the CPU: read-only in, arrays of JAX out, over memory of ours.
import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
jnp = pytest.importorskip("jax.numpy")

DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex64 complex128 float8_e4m3fn float8_e5m2"
).split()


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype(q, name):
    x = jnp.array([0, 1, 2, 1]).astype(name)
    y = q.ElementwiseKernel("T x", "T y", "y = x")(x)
    assert isinstance(y, jax.Array) and y.dtype == x.dtype
    assert bool((y == x).all())


def test_nothing_is_copied(q):
    address = q.ElementwiseKernel("raw T x, int8 like", "int64 at", "at = (long long)&x[0]")
    x = jnp.arange(10.0)
    at = address(x, jnp.zeros(1, jnp.int8))
    assert int(at[0]) == x.unsafe_buffer_pointer()


def test_outputs_are_not_copied(q):
    a = q.ones(5)
    assert jax.dlpack.from_dlpack(a).unsafe_buffer_pointer() == a.pointer
    x = jnp.arange(5.0)
    assert q.from_dlpack(x).pointer == x.unsafe_buffer_pointer()


def test_results_live_on(q):
    k = q.ElementwiseKernel("T x", "T y", "y = x + x")
    x = jnp.arange(1000.0)
    results = [k(x) for _ in range(50)]
    assert all(bool((r == 2 * x).all()) for r in results)
    assert k(x[2:5].reshape(3, 1)).shape == (3, 1)
    assert k(jnp.zeros((0, 3))).shape == (0, 3)


def test_arrays_of_jax_are_no_outputs(q):
    k = q.ElementwiseKernel("T x", "T y", "y = x + x")
    with pytest.raises(ValueError, match="read-only, and cannot be an output"):
        k(jnp.ones(3), jnp.ones(3))


def test_inside_of_a_trace(q):
    k = q.ElementwiseKernel("T x", "T y", "y = x + x")
    with pytest.raises(Exception, match="[Tt]race"):
        jax.jit(lambda x: k(x))(jnp.ones(3))
