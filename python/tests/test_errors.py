# SPDX-License-Identifier: MIT
#
# What the library refuses, as exceptions. In: a table of things that go wrong. Out: the class, what
# it is to Python, and the library's message; a span within the text. None of them ends the process:
# a kernel works after each.
import os
import subprocess
import sys

import pytest

import pyquern as q

pytestmark = pytest.mark.on_soft  # messages name the device's own limits

FILL = 'extern "C" __global__ void fill(int *x, int n) { x[threadIdx.x] = n; }'
DEADLOCK = """extern "C" __global__ void meet(int *x) {
    if (threadIdx.x == 0) asm volatile("bar.sync 1, 64;");
    __syncthreads();
}"""


def call(inputs, outputs, operation, *args, **words):
    return q.ElementwiseKernel(inputs, outputs, operation, **words)(*args)


def raw(source, name, grid=1, block=1, args=(), options=(), **words):
    return q.RawKernel(source, name, options)(grid, block, args, **words)


def ints(n=4):
    return q.zeros(n, "int32")


def largest(**words):
    return q.ReductionKernel("T x", "T y", "x", "a > b ? a : b", "y = a", None)(q.ones(0), **words)


WRONG = {
    # texts
    "a comma too many": (
        lambda folder: call("T x,, T y", "T z", "z = x", 1, 2),
        (q.SignatureError, ValueError), "no parameter between two commas: remove one"),
    "one name twice": (
        lambda folder: call("T x", "T x", "x = x", 1),
        (q.SignatureError, ValueError), 'two parameters called "x"'),
    "an operation that does not compile": (
        lambda folder: call("T x", "T y", "y = sqroot(x)", q.ones(3)),
        (q.CompileError, RuntimeError), 'identifier "sqroot" is undefined'),
    "an operation that assigns nothing": (
        lambda folder: call("T x", "T y", "x", q.ones(3)),
        (q.InvalidArgumentError, ValueError), 'never assigns the output "y"'),
    "a header that is not there": (
        lambda folder: raw("#include <nowhere.h>\n" + FILL, "fill", args=(ints(), 1)),
        (q.CompileError, RuntimeError), 'the header "nowhere.h" was not found'),
    "an option that is none": (
        lambda folder: call("T x", "T y", "y = x", q.ones(3), options=("-nothing",)),
        (q.CompileError, RuntimeError), 'does not accept the option "-nothing"'),
    "a function that nothing defines": (
        lambda folder: raw("__device__ int g(int);\n" + FILL.replace("= n", "= g(n)"), "fill",
                           args=(ints(), 1), options=("-rdc=true",)),
        (q.LinkError, RuntimeError), "'g' is declared and used, .* nothing defines it"),
    "a name that no expression has": (
        lambda folder: q.evaluate("x + speeed", x=q.ones(3), speed=1),
        (q.UndefinedNameError, NameError), 'did you mean "speed"'),
    # types and shapes
    "a type that nothing decides": (
        lambda folder: call("T x", "U y", "y = x", q.ones(3)),
        (q.TypeMismatchError, TypeError), "nothing decides what U is: pass an array"),
    "types that clash": (
        lambda folder: call("T x, T y", "T z", "z = x", q.ones(3), ints(3)),
        (q.TypeMismatchError, TypeError), 'float64 because of "x", but "y" is int32'),
    "shapes that do not meet": (
        lambda folder: call("T x, T y", "T z", "z = x", q.ones(3), q.ones(4)),
        (q.ShapeError, ValueError), r"'x' has shape \(3,\), 'y' has shape \(4,\)"),
    "nothing to reduce": (
        lambda folder: largest(),
        (q.ShapeError, ValueError), "nothing to reduce: .* there is no identity"),
    "an axis out of range": (
        lambda folder: largest(axis=3),
        (q.ShapeError, ValueError), "axis 3 is out of range"),
    "a number that does not fit": (
        lambda folder: call("int8 x, T y", "T z", "z = x + y", 1000, q.ones(3)),
        (q.RangeError, OverflowError), "1000"),
    # modules and launches
    "a function that is not there": (
        lambda folder: q.RawModule(code=FILL).get_function("fil"),
        (q.NoSuchNameError, AttributeError), "has no function 'fil'; did you mean 'fill'?"),
    "an argument too few": (
        lambda folder: raw(FILL, "fill", args=(ints(),)),
        (q.ArgumentCountError, TypeError), "takes 2 arguments .of 8, 4 bytes., but 1 was given"),
    "an argument of another size": (
        lambda folder: raw(FILL, "fill", args=(ints(), q.ones(1))),
        (q.TypeMismatchError, TypeError), "4 bytes"),
    "a file that is not there": (
        lambda folder: q.RawModule(path=f"{folder}/nowhere.ptx").get_function("fill"),
        (q.InputOutputError, OSError), "cannot read .*/nowhere.ptx: No such file or directory"),
    "an image that is none": (
        lambda folder: image(folder, "x.cubin", "\x7fELF" + "\0" * 200),
        (q.ImageError, ValueError), "x.cubin is neither CUDA source nor an image"),
    "PTX that is wrong": (
        lambda folder: image(folder, "x.ptx", ".version 8.0\n.target sm_75\n.address_size 64\n"
                             ".visible .entry fill() { bra nowhere; }"),
        (q.ImageError, ValueError), "x.ptx: PTX line 4: nothing is called 'nowhere'"),
    "an architecture that the device has not": (
        lambda folder: call("T x", "T y", "y = x", q.ones(3), options=("-arch=sm_10",)),
        (q.InvalidArgumentError, ValueError), '"sm_10" does not run on this device, whose'),
    "a grid that is too large": (
        lambda folder: raw(FILL, "fill", (1, 1 << 20), 1, (ints(), 1)),
        (q.InvalidArgumentError, ValueError), "1 x 1048576 x 1; .* allows at most 65535"),
    "a block that is too large": (
        lambda folder: raw(FILL, "fill", 1, 2048, (ints(), 1)),
        (q.InvalidArgumentError, ValueError), "2048 x 1 x 1; .* allows at most 1024"),
    "too much shared memory": (
        lambda folder: raw(FILL, "fill", args=(ints(), 1), shared_mem=10**9),
        (q.InvalidArgumentError, ValueError), "1000000000 bytes of shared memory .* has 65536"),
    # what kernels do
    "a read past the end": (
        lambda folder: call("raw T x", "T y", "y = x[100]", q.ones(3), q.ones(3)),
        (q.AccessError, RuntimeError), "element 100 of 'x', which has 3"),
    "a write past the end": (
        lambda folder: raw(FILL, "fill", 1, 8, (ints(4), 1)),
        (q.AccessError, RuntimeError), "thread .4,0,0.: write of 4 bytes .* 'x', which has 4"),
    "threads that never meet": (
        lambda folder: raw(DEADLOCK, "meet", 1, 64, (ints(),)),
        (q.LaunchError, RuntimeError), "deadlock: all threads wait.* at barrier 1"),
    "a kernel that gives up": (
        lambda folder: raw('extern "C" __global__ void f() { __trap(); }', "f"),
        (q.LaunchError, RuntimeError), "the kernel gave up .trap."),
    # memory and devices
    "more memory than there is": (
        lambda folder: q.empty(1 << 40, "float64"),
        (q.DeviceMemoryError, MemoryError), "8796093022208 bytes were asked of the software dev"),
    "more memory than can be": (
        lambda folder: q.empty(1 << 60, "float64"),
        (q.InvalidArgumentError, ValueError), "larger than any memory"),
    "a device that nobody has": (
        lambda folder: q.Device("nothing"),
        (q.NoDeviceError, RuntimeError), "unknown device 'nothing'; write "),
    "a pack that is none": (
        lambda folder: q.Device().cache.import_pack(written(folder, "x.pack", "nothing")),
        (q.InputOutputError, OSError), "x.pack cannot be used: it is too short to be a pack"),
}  # fmt: skip


def written(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="latin-1")
    return path


def image(folder, name, text):
    return q.RawModule(path=str(written(folder, name, text))).get_function("fill")


@pytest.mark.parametrize("what", WRONG)
def test_what_is_refused(what, tmp_path):
    wrong, (kind, like), says = WRONG[what]
    with pytest.raises(kind, match=says) as error:
        wrong(tmp_path)
    assert isinstance(error.value, q.Error) and isinstance(error.value, like)
    assert error.value.message in str(error.value)
    begin, end = error.value.span
    assert begin <= end <= len(error.value.text.encode())
    assert call("T x", "T y", "y = x + 1", q.ones(2)).tolist() == [2, 2]


def test_no_compiler(tmp_path):
    """Where it was told to be; kernels that are in the cache need none."""
    program = """
import sys, pyquern as q
try:
    print(q.ElementwiseKernel("T x", "T y", "y = x * 3 + 1")(q.ones(2)).tolist())
except q.NVRTCNotFoundError as error:
    print(isinstance(error, ImportError), error)
"""
    said = []
    for nvrtc in (str(tmp_path), None, str(tmp_path)):
        words = dict(os.environ, QUERN_CACHE_DIR=str(tmp_path / "cache"))
        words.update({"QUERN_NVRTC": nvrtc} if nvrtc else {})
        done = subprocess.run(
            [sys.executable, "-c", program], env=words, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        said.append(done.stdout.strip())
    assert said[0].startswith(f'True QUERN_NVRTC is "{tmp_path}", but there is no libnvrtc there')
    assert said[1:] == ["[4.0, 4.0]"] * 2
