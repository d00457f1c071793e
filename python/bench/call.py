# SPDX-License-Identifier: MIT
#
# What a call costs on the host, by the type of its arrays: ours, NumPy's, torch's, JAX's or those
# of tvm-ffi, beside the same call from C in the same process (floor.c). In: names of libraries.
# Out: a line for each, the least nanoseconds of one call. The thing to know: all take turns, round
# by round, so that a busy moment of the machine hits all alike; the loop of Python around a call is
# part of its time.
#
# usage: taskset -c 1 python call.py [--device soft] [--size 0] [--json FILE] [NAME ...]
"""Cost of calls by the type of their arrays."""

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import timeit

import pyquern

OPERATION = "z = (x - y) * (x - y)"
HERE = os.path.dirname(os.path.abspath(__file__))


def load_floor(device, size):
    """floor.c, compiled against the library that the extension has loaded: its cases."""
    with open("/proc/self/maps") as maps:
        library = next(line.split()[-1] for line in maps if "libquern.so" in line)
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "floor.so")
    include = os.path.join(HERE, "..", "..", "include")
    subprocess.run(
        ["cc", "-O2", "-std=c11", "-D_GNU_SOURCE", "-shared", "-fPIC", "-I", include]
        + [os.path.join(HERE, "floor.c"), "-o", path, library],
        check=True,
    )
    floor = ctypes.CDLL(path)
    floor.floor_call.restype = ctypes.c_double
    driver = floor.floor_open(device.encode(), OPERATION.encode(), ctypes.c_int64(size))
    names = [
        "C, output given",
        "C, output new",
        "C, three tensors wrapped, output given",
        "cuLaunchKernel, by hand",
    ]

    def case(what):
        return lambda rounds: floor.floor_call(what, rounds)

    return {name: case(what) for what, name in enumerate(names) if what < 3 or driver}


def loop(statement, **names):
    """A function that runs `statement` so many times and gives the nanoseconds of one."""
    timer = timeit.Timer(statement, globals=names)
    return lambda rounds: timer.timeit(rounds) * 1e9 / rounds


def pair(cases, name, kernel, x, y, z):
    cases[f"{name}, output given"] = loop("k(x, y, z)", k=kernel, x=x, y=y, z=z)
    cases[f"{name}, output new"] = loop("k(x, y)", k=kernel, x=x, y=y)


def add_own(cases, kernel, size, device):
    pair(cases, "own", kernel, *(pyquern.zeros(size, "float32") for _ in range(3)))
    k = pyquern.ElementwiseKernel("T x", "T y", "y = x")
    x, y = pyquern.zeros(size, "float32"), pyquern.zeros(size, "float32")
    cases["own, one input, output given"] = loop("k(x, y)", k=k, x=x, y=y)


def add_numpy(cases, kernel, size, device):
    import numpy

    x, y, z = (numpy.zeros(size, "float32") for _ in range(3))
    pair(cases, "numpy", kernel, x, y, z)
    cases["numpy, its own subtract"] = loop("f(x, y, z)", f=numpy.subtract, x=x, y=y, z=z)
    cases["numpy, empty_like"] = loop("f(x)", f=numpy.empty_like, x=x)


def add_torch(cases, kernel, size, device):
    import torch

    where = device if device.startswith("cuda") else "cpu"
    x, y, z = (torch.zeros(size, device=where) for _ in range(3))
    pair(cases, "torch", kernel, x, y, z)
    cases["torch, its own sub"] = loop("f(x, y, out=z)", f=torch.sub, x=x, y=y, z=z)
    cases["torch, empty_like"] = loop("f(x)", f=torch.empty_like, x=x)


def add_jax(cases, kernel, size, device):
    import jax.numpy

    x = jax.numpy.zeros(size, "float32")
    cases["jax, output new"] = loop("k(x, x)", k=kernel, x=x)


def add_tvm(cases, kernel, size, device):
    import numpy
    import tvm_ffi

    pair(
        cases, "tvm-ffi", kernel, *(tvm_ffi.from_dlpack(numpy.zeros(size, "f4")) for _ in range(3))
    )


def add_cupy(cases, kernel, size, device):
    import cupy

    x, y, z = (cupy.zeros(size, "float32") for _ in range(3))
    pair(cases, "cupy", kernel, x, y, z)
    k = cupy.ElementwiseKernel("T x, T y", "T z", OPERATION)
    pair(cases, "cupy's own kernel", k, x, y, z)


def collect(options):
    cases = load_floor(options.device, options.size)
    cases["Python's loop alone"] = loop("pass")
    kernel = pyquern.ElementwiseKernel("T x, T y", "T z", OPERATION)
    peers = {
        "own": add_own,
        "numpy": add_numpy,
        "torch": add_torch,
        "jax": add_jax,
        "tvm-ffi": add_tvm,
        "cupy": add_cupy,
    }
    for name in options.names or peers:
        try:
            peers[name](cases, kernel, options.size, options.device)
        except ImportError:
            print(f"{name} is not installed", file=sys.stderr)
    return cases


def measure(cases, batches):
    """The least time of each over the batches, in which all take turns."""
    names, best, rounds = list(cases), {}, {}
    for name in names:
        cases[name](20)
        rounds[name] = max(20, min(20000, int(4e6 / cases[name](200))))  # about 4 ms
    for batch in range(batches):
        for k in range(len(names)):
            name = names[(k + batch) % len(names)]
            best[name] = min(best.get(name, 1e12), cases[name](rounds[name]))
            if batch % 8 == 7:
                pyquern.synchronize()
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--device", default="soft")
    parser.add_argument("--size", type=int, default=0)
    parser.add_argument("--batches", type=int, default=61)
    parser.add_argument("--json")
    options = parser.parse_args()
    with pyquern.Device(options.device):
        best = measure(collect(options), options.batches)
    for name, ns in best.items():
        print(f"{name:45} {ns:9.0f} ns")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(best, file, indent=1)


if __name__ == "__main__":
    main()
