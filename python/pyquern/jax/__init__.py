# SPDX-License-Identifier: MIT
#
# Kernels as functions of JAX. In: definitions, and their derivatives. Out: functions for jax.jit,
# grad, jvp and vmap. The thing to know: what they share is in _op.py, and what is special about
# CUDA source in _raw.py.
"""Kernels as functions of JAX, under jit, grad and vmap.

A backward's parameters say by their names what they are: `x` an input, `y` an output, `gy` the
gradient of `y`; its outputs are the gradients of inputs, `gx`. Gradients are summed over axes that
were broadcast. A backward is a tuple ``(in_params, out_params, operation)`` of an elementwise
kernel, with its own backward as a fourth entry where second derivatives are wanted; another
function of this module; or a function of Python, which returns one gradient for each input.

Forward mode is there with `jvp`, whose parameters are named likewise: `tx` is the tangent of the
input `x`, and `ty`, which it makes, that of the output `y`. It is a tuple of texts of an
elementwise kernel, a function of this module or of Python, or True: then it follows from the
backward, where that is texts. JAX takes gradients from it, too, by transposing it, and leaves the
backward alone.

>>> log = elementwise("T x", "T y", "y = log(x)", jvp=("T x, T tx", "T ty", "ty = tx / x"))
>>> x = jax.numpy.array([1.0, 2.0, 4.0])
>>> jax.jvp(log, (x,), (jax.numpy.ones(3),))[1].tolist()
[1.0, 0.5, 0.25]

>>> log = elementwise("T x", "T y", "y = log(x)", backward=("T x, T gy", "T gx", "gx = gy / x"))
>>> x = jax.numpy.array([1.0, 2.0, 4.0])
>>> jax.jit(jax.grad(lambda x: log(x).sum()))(x).tolist()
[1.0, 0.5, 0.25]
"""

import jax  # noqa: F401 - for the examples
import jax.numpy as jnp  # noqa: F401

from .. import _core
from .._backward import defined, redefined
from ._op import Op
from ._raw import RawOp

__all__ = ["Op", "elementwise", "function", "raw", "reduction", "scan"]


def elementwise(
    in_params,
    out_params,
    operation,
    *,
    backward=None,
    jvp=None,
    name="kernel",
    preamble="",
    options=(),
    loop_prep="",
    after_loop="",
):
    """An elementwise kernel as a function of JAX; see pyquern.ElementwiseKernel.

    >>> scaled = elementwise("T x, T a", "T y", "y = a * x",
    ...                      backward=("T x, T a, T gy", "T gx, T ga", "gx = a * gy; ga = x * gy"))
    >>> float(jax.grad(lambda a: scaled(jnp.arange(3.0), a).sum())(2.0))
    3.0
    """
    texts = (in_params, out_params, operation)
    more = {"name": name, "preamble": preamble, "options": tuple(options)}
    more |= {"loop_prep": loop_prep, "after_loop": after_loop}
    kernel = _core.ElementwiseKernel(*texts, **more)
    definition = defined(elementwise, elementwise, name, texts, more, backward, jvp)
    return Op(kernel, ("elementwise", texts, more), (), *definition)


def reduction(
    in_params,
    out_params,
    map_expr,
    reduce_expr,
    post_map_expr,
    identity=None,
    *,
    backward=None,
    jvp=None,
    name="reduce_kernel",
    reduce_type=None,
    preamble="",
    options=(),
    ordered=False,
):
    """A reduction as a function of JAX, called with `axis` and `keepdims`; see
    pyquern.ReductionKernel. In a backward of texts, outputs and their gradients have the reduced
    axes, of extent 1.

    >>> squares = reduction("T x", "T y", "x * x", "a + b", "y = a", "0",
    ...                     backward=("T x, T gy", "T gx", "gx = 2 * x * gy"))
    >>> jax.grad(lambda x: squares(x, axis=1).sum())(jnp.array([[3.0, 4.0], [6.0, 8.0]])).tolist()
    [[6.0, 8.0], [12.0, 16.0]]
    """
    texts = (in_params, out_params, map_expr, reduce_expr, post_map_expr, identity)
    more = {"name": name, "reduce_type": reduce_type, "preamble": preamble}
    more |= {"options": tuple(options), "ordered": bool(ordered)}
    kernel = _core.ReductionKernel(*texts, **more)
    definition = defined(reduction, elementwise, name, texts, more, backward, jvp)
    return Op(kernel, ("reduction", texts, more), ("axis", "keepdims"), *definition)


def scan(
    in_params,
    out_params,
    map_expr,
    scan_expr,
    post_map_expr,
    identity=None,
    *,
    backward=None,
    jvp=None,
    name="scan_kernel",
    scan_type=None,
    preamble="",
    options=(),
    exclusive=False,
):
    """A scan as a function of JAX, called with `axis`; see pyquern.ScanKernel.

    >>> def reversed_sums(gy, axis):
    ...     return jnp.flip(sums(jnp.flip(gy, axis), axis=axis), axis)
    >>> sums = scan("T x", "T y", "x", "a + b", "y = a", "0", backward=reversed_sums)
    >>> jax.grad(lambda x: sums(x, axis=0)[1])(jnp.ones(3)).tolist()
    [1.0, 1.0, 0.0]
    """
    texts = (in_params, out_params, map_expr, scan_expr, post_map_expr, identity)
    more = {"name": name, "scan_type": scan_type, "preamble": preamble}
    more |= {"options": tuple(options), "exclusive": bool(exclusive)}
    kernel = _core.ScanKernel(*texts, **more)
    definition = defined(scan, elementwise, name, texts, more, backward, jvp)
    return Op(kernel, ("scan", texts, more), ("axis",), *definition)


def raw(
    source,
    name,
    *,
    grid,
    block=256,
    outputs,
    values=None,
    shared_mem=0,
    options=(),
    backward=None,
    jvp=None,
):
    """A kernel of CUDA source as a function of JAX; see pyquern.RawKernel.

    `source` declares ``__global__ void name(...)``: a pointer is an array, in C order, whose dtype
    is checked; a number is a number of Python, which is fixed when a program is traced. Each
    parameter is one of these:

    - an output, in the dictionary `outputs`: the name of an input that it is like, or a function
      that returns something with a shape and a dtype, such as jax.ShapeDtypeStruct;
    - a number that is worked out, in `values`: a function;
    - an input, which the kernel must not write to.

    `grid` and `block` are numbers of blocks and of threads, tuples of them, or functions. Functions
    name parameters of the kernel as theirs, and see shapes and dtypes, but no elements.

    >>> double = raw('''extern "C" __global__ void twice(const float *x, float *y, int n) {
    ...     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...     if (i < n) { y[i] = 2 * x[i]; } }''', "twice", grid=lambda n: (n + 255) // 256,
    ...     outputs={"y": "x"}, values={"n": lambda x: x.size})
    >>> jax.jit(double)(jnp.arange(3, dtype="float32")).tolist()
    [0.0, 2.0, 4.0]
    """
    words = {"grid": grid, "block": block, "outputs": outputs, "values": values}
    words |= {"shared_mem": shared_mem, "options": tuple(options)}
    definition = defined(raw, elementwise, name, (source, name), words, backward, jvp)
    return RawOp(source, name, *definition, **words)


def function(forward, backward=None, jvp=None):
    """The function `forward` with another backward, or another jvp.

    >>> sign = elementwise("T x", "T y", "y = x > 0 ? 1 : -1")
    >>> straight = function(sign, lambda gy: gy)
    >>> jax.grad(lambda x: straight(x).sum())(jnp.array([-2.0, 3.0])).tolist()
    [1.0, 1.0]
    """
    return redefined(forward, Op, "pyquern.jax", backward, jvp)
