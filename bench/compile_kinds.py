#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Code size and compile time of kernels of each kind, of two checkouts in turn.

usage: compile_kinds.py BASE NEW [--runs N] [--only TEXT] [--json OUT.jsonl] [--arch 90]

BASE and NEW are checkouts in which build/bin/quern is built. The command gives the source of each
kernel as for a GPU that need not be there; NVRTC compiles it here, to PTX and to machine code, with
the headers of its checkout. `nvrtc` is the time to PTX, `ptxas` what machine code takes more, both
in milliseconds of the CPU, the least of several, base and new in turn: what else is at work only
adds. QUERN_NVRTC names the library.
"""

import argparse
import ctypes
import datetime
import json
import math
import os
import re
import statistics
import struct
import subprocess
import time
from pathlib import Path

NVRTC = os.environ.get("QUERN_NVRTC", "/usr/local/cuda/lib64/libnvrtc.so")
MAX = ("scan", "T x", "T y", "x", "max(a, b)", "y = a", "")
CUMSUM = ("scan", "T x", "T y", "x", "a + b", "y = a", "")
TO_INT64 = ("scan", "T x", "int64 y", "x", "a + b", "y = a", "")
SUM = ("reduce", "T x", "T y", "x", "a + b", "y = a", "0")
LEAST = ("reduce", "T x", "T y", "x", "min(a, b)", "y = a", "")
FIRST = """template <typename T> struct at { T v; long long j; };
template <typename T> __device__ at<T> first(at<T> a, at<T> b)
{
    return b.v > a.v || (b.v == a.v && b.j < a.j) ? b : a;
}"""
ARGUMENT = ("reduce", "T x", "int64 y", "at<T>{x, _J}", "first(a, b)", "y = a.j", "",
            "--reduce-type=at<T>", f"--preamble={FIRST}")  # fmt: skip
COPY = ("elementwise", "T x", "T y", "y = x")
CONVERT = ("elementwise", "X x", "Y y", "y = x")
ADD = ("elementwise", "T x, T y", "T z", "z = x + y")
FMA = ("elementwise", "T x, T y, T w", "T z", "z = x * y + w")
WHERE = ("elementwise", "bool c, T x, T y", "T z", "z = c ? x : y")
COSTLY = ("elementwise", "T x", "T y", "y = exp(x) * sin(x)")
RAW = ("elementwise", "raw T x, int32 k", "T y", "y = 2 * x[k]")


def _e(text):
    return [f"{name}=empty:{value}" for name, value in (w.split("=") for w in text.split())]


# What it is called, what it does, operands: NAME=DTYPE:SHAPE and a view.
KINDS = [
    ("copy, float32", COPY, "x=float32:4000000"),
    ("copy, int8", COPY, "x=int8:4000000"),
    ("copy, unaligned int8", COPY, "x=int8:4000001[1:]"),
    ("copy, backwards int8", COPY, "x=int8:4000000[::-1]"),
    ("fma, float32", FMA, "x=float32:4000000 y=float32:4000000 w=float32:4000000"),
    ("fma, complex64", FMA, "x=complex64:999999 y=complex64:999999 w=complex64:999999"),
    ("where, float16", WHERE, "c=bool:4000000 x=float16:4000000 y=float16:4000000"),
    ("conversion, uint8 to float32", CONVERT, "x=uint8:4000000 y=float32:4000000"),
    ("conversion, float32 to float16", CONVERT, "x=float32:4000000 y=float16:4000000"),
    ("functions, float32", COSTLY, "x=float32:4000000"),
    ("x.T + y, float32", ADD, "x=float32:2048x2048.T y=float32:2048x2048"),
    ("x.T + y, int8", ADD, "x=int8:2048x2048.T y=int8:2048x2048"),
    ("x.T, odd, float16", COPY, "x=float16:2047x2049.T"),
    ("x.T, short rows, float32", COPY, "x=float32:400000x5.T"),
    ("x.T, short rows, int8", COPY, "x=int8:400000x5.T"),
    ("rows cut out, float32", ADD, "x=float32:2001x2009[1:,3:-5] y=float32:2000x2001"),
    ("rows cut out, int8", ADD, "x=int8:2001x2009[1:,3:-5] y=int8:2000x2001"),
    ("row broadcast, float16", ADD, "x=float16:4000x1000 y=float16:1000"),
    ("outer sum, float32", ADD, "x=float32:4000x1 y=float32:1x4097"),
    ("outer sum, int8", ADD, "x=int8:4000x1 y=int8:1x4097"),
    ("stepped, float32", ADD, "x=float32:4000x2000[:,::2] y=float32:4000x1000"),
    ("small inner, float32", ADD, "x=float32:999999x3 y=float32:999999x1"),
    ("small inner, int8", ADD, "x=int8:999999x3 y=int8:999999x1"),
    ("rows of 7 of 8, float16", COPY, "x=float16:500000x8[:,:-1]"),
    ("into gaps, float32", COPY, "x=float32:100000x15 y=float32:100000x30[:,:15]"),
    ("raw, float32", RAW, "x=float32:4000000 k=int32:4000000"),
    ("sum to one, float32", SUM, "x=float32:4000000"),
    ("sum to one, int8", SUM, "x=int8:4000000"),
    ("sum of rows of 256, float32", SUM, "x=float32:16000x256 --axis=1"),
    ("sum of rows of 777, float32", SUM, "x=float32:5000x777 --axis=1"),
    ("sum of rows of 777, int8", SUM, "x=int8:5000x777 --axis=1"),
    ("sum of rows of 3, float32", SUM, "x=float32:999999x3 --axis=1"),
    ("sum of rows of 60, float16", SUM, "x=float16:99999x60 --axis=1"),
    ("sum of columns, float32", SUM, "x=float32:16000x256 --axis=0"),
    ("least of columns, odd, int8", LEAST, "x=int8:16000x301 --axis=0"),
    ("sum of outer and inner, float32", SUM, "x=float32:200x100x300 --axis=0,2"),
    ("argmax to one, float32", ARGUMENT, "x=float32:4000000"),
    ("argmax to one, int8", ARGUMENT, "x=int8:4000000"),
    ("argmax of rows of 300, float32", ARGUMENT, "x=float32:16000x300 --axis=1"),
    ("argmax of columns, int8", ARGUMENT, "x=int8:16000x256 --axis=0"),
    ("argmax of x.T to one, float32", ARGUMENT, "x=float32:2000x2000.T"),
    ("argmax backwards, int8", ARGUMENT, "x=int8:4000000[::-1]"),
    ("sum along 0 and 3, int16", SUM, "x=int16:20000x3x300x6 --axis=0,3"),
    ("cumsum, float32", CUMSUM, "x=float32:4000000"),
    ("cummax, int8", MAX, "x=int8:4000000"),
    ("cumsum, bool to int64", TO_INT64, "x=bool:4000000"),
    ("cumsum of rows of 777, float32", CUMSUM, "x=float32:5000x777 --axis=1"),
    ("cumsum of rows of 777, float16", CUMSUM, "x=float16:5000x777 --axis=1"),
    ("cumsum of rows of 10, float32", CUMSUM, "x=float32:400000x10 --axis=1"),
    ("cumsum of columns, float32", CUMSUM, "x=float32:5000x777 --axis=0"),
    ("cumsum of columns, int16", CUMSUM, "x=int16:5000x777 --axis=0"),
    ("cumsum of long columns, int16", CUMSUM, "x=int16:256x65536 --axis=0"),
    ("cumsum backwards, float32", CUMSUM, "x=float32:4000000[::-1]"),
]  # fmt: skip


class Checkout:
    """Where sources and their headers come from."""

    def __init__(self, folder):
        self.command = Path(folder, "build/bin/quern").resolve()
        texts = {f"quern/{p.name}": p.read_bytes() for p in Path(folder, "templates").glob("*.*h")}
        self.count = len(texts)
        self.names = (ctypes.c_char_p * self.count)(*(n.encode() for n in texts))
        self.texts = (ctypes.c_char_p * self.count)(*texts.values())

    def ask(self, words, what):
        environment = {**os.environ, "QUERN_DEVICE": "soft", "QUERN_CACHE_DIR": "off"}
        return subprocess.run([self.command, *words, what], env=environment, check=True,
                              capture_output=True, text=True).stdout  # fmt: skip

    def load(self, words):
        self.source = self.ask(words, "--show-source").encode()
        self.plan = re.search(r"plan: *(.*)", self.ask(words, "--explain"))[1]
        self.times = {}


class Compiler:
    def __init__(self):
        self.nvrtc = ctypes.CDLL(NVRTC)

    def _text(self, program, what):
        size = ctypes.c_size_t()
        getattr(self.nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        getattr(self.nvrtc, f"nvrtcGet{what}")(program, text)
        return text.raw

    def __call__(self, checkout, target, *more):
        """The image, the log, and milliseconds."""
        words = [f"-arch={target}", "--std=c++17", "--minimal", "--no-cache", *more]
        options = (ctypes.c_char_p * len(words))(*(w.encode() for w in words))
        program = ctypes.c_void_p()
        began = time.process_time()
        self.nvrtc.nvrtcCreateProgram(ctypes.byref(program), checkout.source, b"k.cu",
                                      checkout.count, checkout.texts, checkout.names)  # fmt: skip
        status = self.nvrtc.nvrtcCompileProgram(program, len(words), options)
        took = (time.process_time() - began) * 1e3
        log = self._text(program, "ProgramLog").decode()
        if status:
            raise SystemExit(log)
        image = self._text(program, "CUBIN" if target.startswith("sm_") else "PTX")
        self.nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
        return image, log, took


def measure(compiler, pair, arch, runs):
    """For each of two checkouts a dictionary."""
    ways = {"nvrtc": f"compute_{arch}", "both": f"sm_{arch}"}
    for _ in range(runs):
        for checkout in pair:
            for way, target in ways.items():
                checkout.times.setdefault(way, []).append(compiler(checkout, target)[2])
    found = []
    for checkout in pair:
        to_ptx, both = (min(checkout.times[way]) for way in ways)
        image, log, _ = compiler(checkout, ways["both"], "--ptxas-options=-v")
        ptx = compiler(checkout, ways["nvrtc"])[0].decode()
        lines = sum(1 for text in ptx.splitlines() if text.strip())
        registers = int(re.search(r"(\d+) registers", log)[1])
        found.append({"plan": checkout.plan, "ptx": lines, "code": code_bytes(image),
                      "registers": registers, "nvrtc": to_ptx,
                      "ptxas": both - to_ptx, "both": both})  # fmt: skip
    return found


def code_bytes(cubin):
    """Of the sections of an ELF file that hold code."""
    (table,) = struct.unpack_from("<Q", cubin, 40)
    each, count = struct.unpack_from("<HH", cubin, 58)
    sections = [struct.unpack_from("<IIQQQQ", cubin, table + k * each) for k in range(count)]
    return sum(size for _, _, flags, _, _, size in sections if flags & 4)


def line(name, base, new):
    def pair(what, form="{}"):
        return f"{form.format(base[what])} {form.format(new[what])}"

    sizes = [pair("ptx"), pair("code"), pair("registers")]
    times = [pair(what, "{:.0f}") for what in ("nvrtc", "ptxas")]
    ratios = [f"{new[what] / base[what]:.2f}" for what in ("ptx", "code", "both")]
    return f"| {name} | " + " | ".join([*sizes, *times, *ratios]) + " |"


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    p.add_argument("base")
    p.add_argument("new")
    p.add_argument("--runs", type=int, default=7)
    p.add_argument("--only", default="")
    p.add_argument("--json")
    p.add_argument("--arch", default="90")
    args = p.parse_args()
    pair, compiler = [Checkout(args.base), Checkout(args.new)], Compiler()
    pair[0].source = b""
    compiler(pair[0], f"sm_{args.arch}")  # loads what a process needs once
    major, minor = ctypes.c_int(), ctypes.c_int()
    compiler.nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    rows = [{"date": str(datetime.date.today()), "arch": f"sm_{args.arch}", "runs": args.runs,
             "nvrtc": f"{major.value}.{minor.value}"}]  # fmt: skip
    print("| kind | PTX lines | bytes | registers | NVRTC ms | ptxas ms | lines | bytes | time |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, texts, operands in KINDS:
        if args.only not in name:
            continue
        values = [w for w in operands.split() if w.startswith("--")]
        words = [*texts, *_e(" ".join(w for w in operands.split() if w not in values)), *values]
        for checkout in pair:
            checkout.load(words)
        base, new = measure(compiler, pair, args.arch, args.runs)
        rows.append({"kind": name, "base": base, "new": new})
        print(line(name, base, new), flush=True)
    for what in ("ptx", "code", "both"):
        logs = [math.log(r["new"][what] / r["base"][what]) for r in rows[1:]]
        print(f"{what}: {math.exp(statistics.mean(logs)):.2f} (geometric mean)")
    if args.json:
        Path(args.json).write_text("".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    main()
