# SPDX-License-Identifier: MIT
#
# Kernels as functions of torch. In: definitions, and their backward. Out: functions that autograd,
# torch.compile, vmap and CUDA graphs know. The thing to know: a function is registered with torch
# when it is defined, so define it once, at the top of a module, and not in a loop.
"""Kernels as functions of torch, with autograd and torch.compile.

A backward's parameters say by their names what they are: `x` an input, `y` an output, `gy` the
gradient of `y`; its outputs are the gradients of inputs, `gx`. Only what is named is kept from the
forward call, and gradients are summed over axes that were broadcast. A backward is a tuple
``(in_params, out_params, operation)`` of an elementwise kernel, with its own backward as a fourth
entry where second derivatives are wanted; another function of this module; or a function of Python,
which returns one gradient for each input and may also name keywords such as `axis`.

>>> log = elementwise("T x", "T y", "y = log(x)", backward=("T x, T gy", "T gx", "gx = gy / x"))
>>> x = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
>>> log(x).sum().backward()
>>> x.grad
tensor([1.0000, 0.5000, 0.2500])

Forward mode follows from the backward. Where that costs too much, or there is none, `jvp` says it,
whose parameters are named likewise: `tx` is the tangent of the input `x`, and `ty`, which it makes,
that of the output `y`. It is a tuple of texts of an elementwise kernel, another function of this
module, or a function of Python, which returns one tangent for each output.

>>> log = elementwise("T x", "T y", "y = log(x)", jvp=("T x, T tx", "T ty", "ty = tx / x"))
>>> torch.func.jvp(log, (torch.tensor([1.0, 2.0, 4.0]),), (torch.ones(3),))[1]
tensor([1.0000, 0.5000, 0.2500])
"""

import torch  # noqa: F401 - for the examples

from .. import _core
from .._backward import defined, redefined
from ._kernel import KernelOp
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
    """An elementwise kernel as a function of torch; see pyquern.ElementwiseKernel.

    >>> scaled = elementwise("T x, T a", "T y", "y = a * x",
    ...                      backward=("T x, T a, T gy", "T gx, T ga", "gx = a * gy; ga = x * gy"))
    >>> a = torch.tensor(2.0, requires_grad=True)
    >>> scaled(torch.arange(3.0), a).sum().backward()
    >>> a.grad
    tensor(3.)
    """
    texts = (in_params, out_params, operation)
    more = {"name": name, "preamble": preamble, "options": tuple(options)}
    more |= {"loop_prep": loop_prep, "after_loop": after_loop}
    kernel = _core.ElementwiseKernel(*texts, **more)
    definition = defined(elementwise, elementwise, name, texts, more, backward, jvp)
    return KernelOp(kernel, "elementwise", (*texts, *more.items()), *definition)


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
    """A reduction as a function of torch, called with `axis` and `keepdims`; see
    pyquern.ReductionKernel. In a backward of texts, outputs and their gradients have the reduced
    axes, of extent 1.

    >>> norm = reduction("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0",
    ...                  backward=("T x, T y, T gy", "T gx", "gx = gy * x / y"))
    >>> x = torch.tensor([[3.0, 4.0], [6.0, 8.0]], requires_grad=True)
    >>> norm(x, axis=1).sum().backward()
    >>> x.grad
    tensor([[0.6000, 0.8000],
            [0.6000, 0.8000]])
    """
    texts = (in_params, out_params, map_expr, reduce_expr, post_map_expr, identity)
    more = {"name": name, "reduce_type": reduce_type, "preamble": preamble}
    more |= {"options": tuple(options), "ordered": bool(ordered)}
    kernel = _core.ReductionKernel(*texts, **more)
    definition = defined(reduction, elementwise, name, texts, more, backward, jvp)
    return KernelOp(kernel, "reduction", (*texts, *more.items()), *definition)


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
    """A scan as a function of torch, called with `axis`; see pyquern.ScanKernel.

    >>> def reversed_sums(gy, axis):
    ...     return sums(gy.flip(axis), axis=axis).flip(axis)
    >>> sums = scan("T x", "T y", "x", "a + b", "y = a", "0", backward=reversed_sums)
    >>> x = torch.ones(3, requires_grad=True)
    >>> sums(x, axis=0)[1].backward()
    >>> x.grad
    tensor([1., 1., 0.])
    """
    texts = (in_params, out_params, map_expr, scan_expr, post_map_expr, identity)
    more = {"name": name, "scan_type": scan_type, "preamble": preamble}
    more |= {"options": tuple(options), "exclusive": bool(exclusive)}
    kernel = _core.ScanKernel(*texts, **more)
    definition = defined(scan, elementwise, name, texts, more, backward, jvp)
    return KernelOp(kernel, "scan", (*texts, *more.items()), *definition)


def raw(
    source,
    name,
    *,
    grid,
    block=256,
    outputs=None,
    values=None,
    mutates=(),
    shared_mem=0,
    options=(),
    backward=None,
    jvp=None,
):
    """A kernel of CUDA source as a function of torch; see pyquern.RawKernel.

    `source` declares ``__global__ void name(...)``: a pointer is a tensor, which comes in
    contiguous, and whose dtype is checked; a number is a number. Each parameter is one of these:

    - an output, in the dictionary `outputs`: the name of an input that it is like, or a function
      that returns a new tensor, as torch.empty() does, and must not read elements;
    - a number that is worked out, in `values`: a function;
    - a tensor that is written in place, named in `mutates`: it is given by the caller, and the
      function then has no gradients;
    - an input.

    `grid` and `block` are numbers of blocks and of threads, tuples of them, or functions. Functions
    name parameters of the kernel as theirs.

    >>> double = raw('''extern "C" __global__ void twice(const float *x, float *y, int n) {
    ...     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...     if (i < n) { y[i] = 2 * x[i]; } }''', "twice", grid=lambda n: (n + 255) // 256,
    ...     outputs={"y": "x"}, values={"n": lambda x: x.numel()})
    >>> double(torch.arange(3.0))
    tensor([0., 2., 4.])
    """
    words = {"grid": grid, "block": block, "outputs": outputs, "values": values}
    words |= {"mutates": mutates, "shared_mem": shared_mem, "options": options}
    definition = defined(raw, elementwise, name, (source, name), words, backward, jvp)
    return RawOp(source, name, *definition, **words)


def function(forward, backward=None, jvp=None):
    """The function `forward` with another backward, or another jvp.

    >>> sign = elementwise("T x", "T y", "y = x > 0 ? 1 : -1")
    >>> straight = function(sign, lambda gy: gy)
    >>> x = torch.tensor([-2.0, 3.0], requires_grad=True)
    >>> straight(x).sum().backward()
    >>> x.grad
    tensor([1., 1.])
    """
    return redefined(forward, Op, "pyquern.torch", backward, jvp)
