# SPDX-License-Identifier: MIT
#
# The same cases in PyTorch, on the same memory: eagerly, and by torch.compile. In: a case, the
# memory of all cases. Out: milliseconds, and whether the result was ours. The thing to know:
# tensors come by DLPack, outputs are given; views with negative strides are left out, since
# PyTorch has none. Eager code is what a person would write: the one function that does it, where
# there is one. torch.compile takes seconds for each case, so processes compile ahead into
# Inductor's cache on disk.
"""PyTorch as a peer."""

import os
import subprocess
import sys
import time

import pyquern as q
import torch

from . import check, operations

SAME = 1e-2  # results of a peer that sums in halves may differ by more than ours may
PREPARE_SECONDS = 150
OutOfMemoryError = torch.OutOfMemoryError


def let_go():
    """Give what PyTorch keeps for later back to the GPU, where it is much."""
    if torch.cuda.is_available() and torch.cuda.memory_reserved() > 8 << 30:
        torch.cuda.empty_cache()


def dtype_of(name):
    return getattr(torch, name)


def storages(case, arena):
    """The memory of each operand as a tensor of bytes."""
    memory = torch.from_dlpack(arena.memory)
    places = arena.places(case)[0]
    return [
        memory[p : p + o.storage * o.itemsize] for p, o in zip(places, case.operands, strict=True)
    ]


def is_possible(case):
    """Whether PyTorch can be given the case's views."""
    return not any(check.turned_axes(o) for o in case.operands)


def _one_function(case):
    """The function that does all of it with an output that is given, or None: f(out, *inputs)."""
    op, dtypes = case.op, {o.dtype for o in case.operands}
    if op == "fill":
        return lambda out: out.fill_(3)
    if op in ("copy", "convert"):
        return lambda out, x: out.copy_(x)
    if op == "compare":
        return lambda out, x, y: torch.gt(x, y, out=out)
    if case.kind == "elementwise":
        if op == "where" and case.inputs[0].dtype == "bool":
            dtypes = {o.dtype for o in case.operands[1:]}
        table = {name: getattr(torch, name) for name in "exp sin log sqrt tanh hypot where".split()}
        table |= {"add2": torch.add, "clip": torch.clamp}
        if len(dtypes) > 1 or (op == "where" and case.inputs[0].dtype != "bool"):
            return None
        if op == "fma" and dtypes != {"bool"}:
            return lambda out, x, y, z: torch.addcmul(z, x, y, out=out)
        if op not in table or dtypes == {"bool"}:
            return None
        return lambda out, *inputs: table[op](*inputs, out=out)
    return _one_function_along(case)


def _one_function_along(case):
    at, op, dtype = operations.Axes(case), case.op, dtype_of(case.output.dtype)
    if op in ("min", "max"):
        f = torch.amin if op == "min" else torch.amax
        return lambda out, x: f(x, at.axes, keepdim=at.keepdims, out=out)
    if op == "sum":
        return lambda out, x: torch.sum(x, at.axes, keepdim=at.keepdims, dtype=dtype, out=out)
    if op == "mean":
        return lambda out, x: torch.mean(x, at.axes, keepdim=at.keepdims, dtype=dtype, out=out)
    if op == "norm":
        return lambda out, x: torch.linalg.vector_norm(
            x, 2, at.axes, keepdim=at.keepdims, dtype=dtype, out=out
        )
    if op in ("argmax", "argmin") and len(at.axes) == 1:
        f = getattr(torch, op)
        return lambda out, x: f(x, at.axes[0], keepdim=at.keepdims, out=out)
    if op == "cumsum" and not at.all:
        return lambda out, x: torch.cumsum(x, at.axes[0], dtype=dtype, out=out)
    return None


def any_function(case):
    """The case by its formula, in the dtype of the values: f(out, *inputs)."""
    m, compute, at = check.Torch(), dtype_of(case.compute), operations.Axes(case)

    def f(out, *inputs):
        inputs = [x if x.dtype == compute else x.to(compute) for x in inputs]
        return out.copy_(operations.formula(case, m, inputs, at))

    return f if case.op != "fill" else (lambda out: out.fill_(3))


def tensors(case, arena):
    """Output and inputs. Each is of memory of its own dtype: Inductor refuses views of another."""
    found = [
        check.torch_view(o, torch.from_dlpack(arena.storage(p, o)))
        for p, o in zip(arena.places(case)[0], case.operands, strict=True)
    ]
    return found[-1], found[:-1]


class Peers:
    """Measures what PyTorch takes."""

    def __init__(self, compiled):
        self.compiled = compiled
        self.left = compiled
        self.version = torch.__version__
        self.is_gpu = q.Device().is_gpu
        _settle()

    def prepare(self, cases):
        """Let processes compile the first cases ahead, where there are cores for it."""
        count = min(8, (os.cpu_count() or 1) // 2, self.compiled // 4)
        if not self.is_gpu or count < 2:
            return
        command = [sys.executable, *sys.argv, "--compile-only"]
        shares = [subprocess.Popen([*command, f"{k}/{count}"]) for k in range(count)]
        end = time.time() + PREPARE_SECONDS
        for share in shares:
            try:
                share.wait(max(0, end - time.time()))
            except subprocess.TimeoutExpired:
                share.kill()

    def measure(self, case, arena, clock, ours):
        """Name of a peer to its figures; `ours` computes our result."""
        if not is_possible(case):
            return {}
        try:
            return self._measured(case, arena, clock, ours)
        except RuntimeError as error:  # no memory left for what we computed, or worse
            return {"torch": {"error": str(error).splitlines()[0]}}

    def _measured(self, case, arena, clock, ours):
        out, inputs = tensors(case, arena)
        ours()
        q.synchronize()
        want = out.clone()
        found = {"torch": self._one(_one_function(case), case, clock, out, inputs, want)}
        if "ms" not in found["torch"]:  # no such function, or not of these dtypes
            found["torch"] = self._one(any_function(case), case, clock, out, inputs, want)
        if self.left > 0:
            self.left -= 1
            found["compiled"] = self._one(_compiled(case), case, clock, out, inputs, want)
        del want
        let_go()
        return found

    def _one(self, f, case, clock, out, inputs, want):
        if not f:
            return {}
        out.zero_()
        try:
            f(out, *inputs)
            same = _same(out, want)
            return {"ms": clock(lambda: f(out, *inputs)), "same": same}
        except Exception as error:  # whatever PyTorch throws is an answer
            return {"error": f"{type(error).__name__}: {str(error).splitlines()[0][:160]}"}


def _same(x, y):
    if not (x.is_floating_point() or x.is_complex()):
        return torch.equal(x, y)
    return torch.allclose(x, y, SAME, SAME, equal_nan=True)


def _settle():
    torch.set_grad_enabled(False)
    torch._dynamo.config.cache_size_limit = 1 << 20
    torch._inductor.config.fx_graph_cache = True


def _compiled(case):
    torch._dynamo.reset()
    return torch.compile(any_function(case), dynamic=False, fullgraph=True)


def compile_share(cases, count, share):
    """What the processes of prepare() do: share K of N of the first `count` cases."""
    from . import run

    own, of = map(int, share.split("/"))
    for case in [c for c in cases if is_possible(c)][:count][own::of]:
        arena = run.Arena([case])
        out, inputs = tensors(case, arena)
        try:
            _compiled(case)(out, *inputs)
        except Exception:  # the run itself tells it
            continue
    return 0
