# SPDX-License-Identifier: MIT
#
# What a call of a function of pyquern.torch costs beside torch's own. In: nothing. Out: nanoseconds
# a call on empty tensors, the least of many rounds. The thing to know: the tensors are empty, so
# that nothing but calling is measured.
"""python bench/torch_ops.py"""

import time

import torch

import pyquern
import pyquern.torch as qt

DEFINITION = ("T x", "T y", "y = log(x)")
BACKWARD = ("T x, T gy", "T gx", "gx = gy / x")
kernel = pyquern.ElementwiseKernel(*DEFINITION)
log = qt.elementwise(*DEFINITION, backward=BACKWARD)


@torch.library.custom_op("bench::log", mutates_args=())
def custom(x: torch.Tensor) -> torch.Tensor:
    return kernel(x)


custom.register_fake(torch.empty_like)
custom.register_autograd(
    lambda ctx, gy: gy / ctx.saved_tensors[0],
    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
)


def nanoseconds(call, rounds=41, calls=2000):
    least = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter_ns()
        for _ in range(calls):
            call()
        least = min(least, time.perf_counter_ns() - begin)
    return least / calls


def main():
    x = torch.empty(0)
    one = torch.empty(0)
    grown = torch.empty(0, requires_grad=True)
    functions = [("torch.log", torch.log), ("kernel", kernel), ("pyquern.torch", log)]
    functions += [("its operator", lambda t: log._overload(t)), ("custom_op", custom)]
    print(f"{'':15}{'no grad':>10}{'grad':>10}{'and backward':>15}")
    for name, function in functions:
        with torch.no_grad():
            row = [nanoseconds(lambda f=function: f(x))]
        if name != "kernel":
            row.append(nanoseconds(lambda f=function: f(grown)))
            row.append(nanoseconds(lambda f=function: f(grown).backward(one), calls=300))
        print(
            f"{name:15}" + "".join(f"{n:{w}.0f}" for n, w in zip(row, (10, 10, 15), strict=False))
        )


if __name__ == "__main__":
    main()
