# SPDX-License-Identifier: MIT
#
# %%quern: a cell of a notebook that is a kernel. In: the cell's first line and its text. Out:
# kernels, put into the notebook under their names. The thing to know: IPython calls
# load_ipython_extension(), and nothing here needs IPython itself.
"""The cell magic ``%%quern`` of IPython and Jupyter: ``%load_ext pyquern.magic``.

A cell is one of three things. With a signature it is the operation of an elementwise kernel::

    %%quern difference: T x, T y -> T z
    z = (x - y) * (x - y)

where each line begins with ``map:``, ``reduce:`` or ``scan:``, ``post:`` or ``identity:``, it is a
reduction or a scan (``map: x`` and ``post: y = a`` are the defaults of one input and one output)::

    %%quern total: T x -> T y
    map: x * x
    reduce: a + b
    identity: 0

and without a signature it is CUDA source, each of whose kernels becomes a RawKernel; what the first
line says is options of the compiler::

    %%quern -DN=4
    extern "C" __global__ void fill(float *x) { x[threadIdx.x] = N; }

Elementwise kernels, reductions and scans are compiled when they are called, CUDA source at once.
"""

import re

from . import _core
from ._raw import RawKernel, RawModule

TYPE_CHECKING = False  # as typing has it, which takes milliseconds to import
if TYPE_CHECKING:
    from typing import Any

    type _Kernel = _core.ElementwiseKernel | _core.ReductionKernel | _core.ScanKernel | RawKernel

_signature = re.compile(r"\s*(\w+)\s*:\s*(.*?)\s*->\s*(.*?)\s*$")
_labelled = re.compile(r"\s*(map|reduce|scan|post|identity)\s*:(?!:)\s*(.*?)\s*$")


def define(line: str, cell: str) -> "dict[str, _Kernel]":
    """The kernels of a cell, by name.

    >>> made = define("twice: T x -> T y", "y = 2 * x")
    >>> import numpy
    >>> made["twice"](numpy.arange(3))
    array([0, 2, 4])
    >>> total = define("total: T x -> T y", "reduce: a + b")["total"]
    >>> total(numpy.arange(4))
    array(6)
    """
    line = line.strip()
    if line and not line.startswith("-"):
        signature = _signature.match(line)
        if not signature or not signature[1].isidentifier():
            raise ValueError(
                f"the line of the cell is {line!r}: write NAME: INPUTS -> OUTPUTS, as in "
                "'%%quern twice: T x -> T y', or options of the compiler before CUDA source"
            )
        return {signature[1]: _kernel(signature[1], signature[2], signature[3], cell)}
    module = RawModule(code=cell, options=tuple(line.split()))
    module.compile()
    names = module.function_names()
    if not names:
        raise ValueError(
            'the source has no kernel: write extern "C" __global__ void name(...), or give the '
            "cell a signature, as in '%%quern twice: T x -> T y'"
        )
    made: dict[str, _Kernel] = {}
    for name in names:
        made.setdefault(_plain(name), module.get_function(name))
    return made


def _plain(name: str) -> str:
    """The name in the source: without extern "C" the compiler's has the types in it."""
    mangled = re.match(r"_Z(\d+)", name)
    return name[mangled.end() :][: int(mangled[1])] if mangled else name


def _kernel(name: str, inputs: str, outputs: str, cell: str) -> "_Kernel":
    lines = [text for text in cell.splitlines() if text.strip()]
    parts = [part for text in lines if (part := _labelled.match(text))]
    if not lines or len(parts) < len(lines):
        return _core.ElementwiseKernel(inputs, outputs, cell.strip("\n"), name)
    texts = {}
    for part in parts:
        if part[1] in texts:
            raise ValueError(f"the cell has two lines '{part[1]}:'")
        texts[part[1]] = part[2]
    if ("reduce" in texts) == ("scan" in texts):
        raise ValueError("the cell needs a line 'reduce:' or a line 'scan:', and not both")
    texts.setdefault("map", inputs.split()[-1])
    texts.setdefault("post", f"{outputs.split()[-1]} = a")
    kind = _core.ReductionKernel if "reduce" in texts else _core.ScanKernel
    step = texts["reduce" if "reduce" in texts else "scan"]
    return kind(inputs, outputs, texts["map"], step, texts["post"], texts.get("identity"), name)


def load_ipython_extension(ipython: "Any") -> None:
    """What ``%load_ext pyquern.magic`` calls."""

    def quern(line: str, cell: str) -> "_Kernel | None":
        made = define(line, cell)
        ipython.push(made)
        return next(iter(made.values())) if len(made) == 1 else None

    quern.__doc__ = __doc__
    ipython.register_magic_function(quern, "cell", "quern")
