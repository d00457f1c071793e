#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# ask_cupy.py [CASE ...]: runs cases under CuPy and compares with what they expect (CASE: a part of a
# name; none: all of cupy-*). In: cases as run_case reads them. Out: a line for each that differs, a
# count, and status 1 where any does. Needs a GPU, CuPy and NumPy. The thing to know: what Quern does
# otherwise on purpose is listed below, and told as such.
import json
import os
import re
import sys

import cupy
import numpy as np

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases")

# What CuPy does not do, and why; with these it may fail or differ.
OTHERWISE = {
    "cupy-j-in-statements": "CuPy's map is an expression",
    "cupy-ind-set": "CuPy's `_ind` moves, but x and y stay where they were",
    "cupy-no-semicolon-comment": "CuPy puts its semicolon behind, into the comment",
    "cupy-loop-prep-comment": "the same",
    "cupy-no-semicolon-directive": "CuPy puts its semicolon behind #endif",
    "cupy-j-axis-0-1-2": "CuPy has no `_j` where it reduces by CUB",
    "cupy-raw-scalar-reduction": "CuPy's reductions take no raw scalar",
}
DTYPES = "bool|u?int(8|16|32|64)|float(16|32|64)|complex(64|128)"


def number(text):
    """A number of the command line: plain, or of a stated dtype."""
    kind, colon, value = text.rpartition(":")
    value = {"true": True, "false": False}.get(value)
    if value is None:
        value = eval(re.sub("i$", "j", text.rpartition(":")[2]), {"inf": np.inf, "nan": np.nan})
    return np.dtype(kind).type(value) if colon else value


def array(folder, text):
    """An array of the command line: FILE.npy, with a view."""
    file, view = re.fullmatch(r"([^:\[\]]*?\.npy)(.*)", text).groups()
    return eval("x" + view, {"x": cupy.asarray(np.load(os.path.join(folder, file))), "np": np})


def value(folder, text):
    """Of an input, or of an output that begins as something."""
    if re.match(rf"({DTYPES}):", text) or ".npy" not in text:
        return number(text)
    return array(folder, text)


def parse(argv):
    """Words and options of a command line."""
    words, options = [], []
    rest = iter(argv)
    for word in rest:
        if word in ("--any-strides", "--keepdims", "--cooperative", "--translate-cucomplex"):
            options.append((word, True))
        elif word.startswith("--"):
            name, equals, text = word.partition("=")
            options.append((name, text if equals else next(rest)))
        else:
            words.append(word)
    return words, options


def names(signature):
    return [p.split()[-1] for p in signature.split(",") if p.strip()]


def call(folder, words, options, count, make):
    """Elementwise kernels and reductions: the call, and its outputs by name."""
    ins, outs = names(words[1]), names(words[2])
    given = dict(w.split("=", 1) for w in words[count:])
    arguments = [value(folder, given[n]) for n in ins]
    started = [n for n in outs if re.search(r"\.npy.*:", given.get(n, ""))]
    results = {n: array(folder, given[n].rpartition(":")[0]) for n in started}
    kernel, keywords = make(dict(options), ins, outs)
    if started and len(started) < len(outs):  # CuPy takes all outputs or none
        shape = np.broadcast_shapes(*(a.shape for a in arguments if hasattr(a, "shape")))
        for n in outs:
            expected = np.load(os.path.join(folder, n + ".expect.npy"))
            results.setdefault(n, cupy.empty(shape if expected.shape == shape else expected.shape, expected.dtype))
    if not results and len(outs) > 0:
        for n in outs:  # as Quern allocates them: of the dtype that the letters have
            expected = np.load(os.path.join(folder, n + ".expect.npy"))
            results[n] = cupy.empty(expected.shape, expected.dtype)
    if "size" in keywords and keywords["size"] is None:
        del keywords["size"]
    kernel(*arguments, *(results[n] for n in outs), **keywords)
    return results


def run_elementwise(folder, words, options):
    def make(o, ins, outs):
        kernel = cupy.ElementwiseKernel(
            words[1], words[2], words[3], "asked", o.get("--reduce-dims", "True") == "True",
            o.get("--preamble", ""), loop_prep=o.get("--loop-prep", ""), after_loop=o.get("--after-loop", ""),
            options=tuple(v for n, v in options if n == "--option"))
        return kernel, {"size": int(o["--size"]) if "--size" in o else None}

    return call(folder, words, options, 4, make)


def run_reduce(folder, words, options):
    def make(o, ins, outs):
        axis = tuple(int(a) for a in o["--axis"].split(",")) if "--axis" in o else None
        kernel = cupy.ReductionKernel(
            words[1], words[2], words[3], words[4], words[5], words[6] or None, "asked", o.get("--reduce-type"),
            preamble=o.get("--preamble", ""), options=tuple(v for n, v in options if n == "--option"))
        return kernel, {"axis": axis, "keepdims": "--keepdims" in o}

    return call(folder, words, options, 7, make)


def run_raw(folder, words, options):
    o = dict(options)
    with open(os.path.join(folder, words[1])) as file:
        source = file.read()
    name = o["--kernel"]
    module = cupy.RawModule(
        code=source, options=tuple(v for n, v in options if n == "--option"),
        translate_cucomplex="--translate-cucomplex" in o,
        name_expressions=None if re.fullmatch(r"\w+", name) else [name])
    arguments, results = [], {}
    for text in words[2:]:
        saved = re.fullmatch(r"(.*\.npy.*):(\w+)\.npy", text)
        arguments.append(value(folder, saved.group(1) if saved else text))
        if saved:
            results[saved.group(2)] = arguments[-1]
    extents = [tuple(int(n) for n in o[k].split(",")) for k in ("--grid", "--block")]
    module.get_function(name)(*extents, tuple(arguments), shared_mem=int(o.get("--shared", 0)))
    return results


def differs(folder, spec):
    words, options = parse(spec["argv"])
    run = {"elementwise": run_elementwise, "reduce": run_reduce, "raw": run_raw}[words[0]]
    results = run(folder, words, options)
    for name in spec["outputs"]:
        expected = np.load(os.path.join(folder, name + ".expect.npy"))
        got = cupy.asnumpy(results[name]).reshape(expected.shape)
        finite = np.abs(expected[np.isfinite(expected)])
        slack = spec["rtol"] * float(finite.max(initial=0)) * 0.1
        if got.dtype != expected.dtype:
            return f"{name} is {got.dtype}, expected {expected.dtype}"
        if not np.allclose(got, expected, rtol=spec["rtol"], atol=slack, equal_nan=got.dtype.kind in "fc"):
            return f"{name} differs:\n{got}\ninstead of\n{expected}"
    return None


def main():
    wanted = sys.argv[1:] or ["cupy-"]
    asked = failed = 0
    for case in sorted(os.listdir(HERE)):
        folder = os.path.join(HERE, case)
        with open(os.path.join(folder, "case.json")) as file:
            spec = json.load(file)
        if not any(w in case for w in wanted) or "error" in spec:
            continue
        asked += 1
        try:
            why = differs(folder, spec)
        except Exception as e:
            why = f"{type(e).__name__}: {str(e)[:2000]}"
        if why and case in OTHERWISE:
            print(f"otherwise {case}: {OTHERWISE[case]}")
        elif why:
            failed += 1
            print(f"FAIL {case}: {why}")
    print(f"{asked} asked, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
