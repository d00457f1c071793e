# SPDX-License-Identifier: MIT
"""Values of arguments beside NumPy: cases.py [COUNT [SEED]] prints COUNT cases of each kind.

A line is a value as the command takes it, the dtype and the shape that NumPy makes of it, and the
hash of its elements in C order (FNV-1a, every NaN the same); or "error" where NumPy raises; at the
end "view" or "copy", whether the result shares the memory of the array that the value begins with,
where that can be said. golden.txt holds what NumPy 2.4.6 answered on x86-64; table_values compares.
"""
import random
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")
INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
FLOATS = "float16 float32 float64".split()
DTYPES = ["bool"] + INTEGERS + FLOATS + ["complex64", "complex128"]


def hash_of(array):
    data = np.array(array, order="C", copy=True)
    if data.dtype.kind in "fc":
        parts = data.reshape(-1).view(data.real.dtype)
        parts[np.isnan(parts)] = np.nan
    value = 0xCBF29CE484222325
    for byte in data.tobytes():
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def row(text, make, base=None):
    try:
        array = make()
    except (ValueError, TypeError, IndexError, OverflowError, MemoryError):
        print(f"{text}\terror")
        return
    array = np.asarray(array)
    shape = "x".join(map(str, array.shape)) or "()"
    copied = ""
    if base is not None and array.size > 0:
        copied = "\tview" if np.shares_memory(base, array) else "\tcopy"
    print(f"{text}\t{array.dtype.name}\t{shape}\t{hash_of(array)}{copied}")


# ---- generators -----------------------------------------------------------------------------


def number(r, dtype):
    """A number that every dtype of the kind of `dtype` holds, as text."""
    if dtype == "bool":
        return r.choice(["true", "False", "1", "0"])
    if dtype.startswith("u"):
        return str(r.randrange(0, 200))
    if dtype in INTEGERS:
        return str(r.randrange(-120, 120))
    real = r.choice(["0", "1", "-2", "2.5", "1e-3", ".1", "-7.25", "3.", "100", "0.3333333", "1e4"])
    if dtype.startswith("complex") and r.random() < 0.5:
        return real + r.choice(["+", "-"]) + r.choice(["1j", "0.5j", "2e1j", "0j"])
    return real


def python(text):
    if text.endswith("j"):
        return complex(text)
    return eval({"true": "True"}.get(text, text))


def shape(r):
    return [r.choice([0, 1, 1, 2, 3, 4, 5, 7]) for _ in range(r.randrange(0, 4))]


def shape_text(extents):
    return "x".join(map(str, extents)) or "()"


def full(r):
    dtype, extents = r.choice(DTYPES), shape(r)
    value = number(r, dtype)
    row(f"full:{dtype}:{shape_text(extents)}:{value}",
        lambda: np.full(extents, python(value), dtype=dtype))


def linspace(r):
    dtype = r.choice(DTYPES[1:])
    start, stop = number(r, dtype), number(r, dtype)
    if r.random() < 0.1:
        stop = start
    if dtype in INTEGERS and r.random() < 0.5:
        start = str(abs(python(start)) + 0.75)
    count = r.choice([0, 1, 2, 3, 4, 7, 10, 11, 50, 101, 1000])
    row(f"linspace:{dtype}:{start}:{stop}:{count}",
        lambda: np.linspace(python(start), python(stop), count, dtype=dtype))


def eye(r):
    dtype, rows = r.choice(DTYPES), r.choice([0, 1, 2, 3, 5, 8])
    columns = r.choice([None, 0, 1, 3, 9])
    text = str(rows) if columns is None else f"{rows}x{columns}"
    row(f"eye:{dtype}:{text}", lambda: np.eye(rows, columns, dtype=dtype))


def arange(r):
    dtype = r.choice(DTYPES[1:])
    if dtype in INTEGERS:
        low = 0 if dtype.startswith("u") else -100
        start, stop = r.randrange(low, 100), r.randrange(low, 100)
        step = r.choice([1, 1, 2, 3, 7, -1, -2, -5, 50])
    else:
        start, stop = r.choice([0, 0, 1, -3.5, 0.1]), r.choice([1, 2, 10, -4, 7.3])
        step = r.choice([0.1, 0.25, 1, 1.5, -0.5, 0.3, 1e-2, 0.7])
    text = f"arange:{dtype}:{start}:{stop}"
    if step != 1:
        text += f":{step}"
    row(text, lambda: np.arange(start, stop, step, dtype=dtype))


# ---- views ----------------------------------------------------------------------------------


def index(r, size):
    kind = r.random()
    if kind < 0.35:
        parts = [r.choice(["", str(r.randrange(-size - 1, size + 2))]) for _ in range(2)]
        step = r.choice(["", "", ":1", ":2", ":-1", ":-2", ":3"])
        return ":".join(parts) + step
    if kind < 0.6:
        return ":"
    if kind < 0.8:
        return str(r.randrange(-size, size) if size else 0)
    return r.choice(["...", "None", ":", "np.newaxis"])


def reshape(r, array):
    left, extents = array.size, []
    while len(extents) < 4 and r.random() < 0.75:
        divisors = [d for d in range(1, min(left, 12) + 1) if left % d == 0]
        extents.append(r.choice(divisors) if divisors else r.choice([0, 1, 3]))
        left = left // extents[-1] if extents[-1] else 0
    extents.append(r.choice([-1, left, left]))
    r.shuffle(extents)
    if r.random() < 0.05:
        extents[0] += 1
    text = ", ".join(map(str, extents))
    return f".reshape({text})" if r.random() < 0.5 else f".reshape(({text},))"


def step(r, array):
    axes = list(range(array.ndim))
    kind = r.randrange(16)
    if kind < 5:
        count = r.randrange(1, array.ndim + 2)
        return "[" + ", ".join(index(r, (array.shape + (2,) * 5)[k]) for k in range(count)) + "]"
    if kind < 8:
        return reshape(r, array)
    if kind == 8:
        return ".T"
    if kind == 9:
        return r.choice([".mT", ".squeeze()", ".copy()", ".flatten()", ".ravel()"])
    if kind == 10:
        r.shuffle(axes)
        wanted = [a - array.ndim if r.random() < 0.3 else a for a in axes]
        return r.choice([".transpose()", f".transpose({', '.join(map(str, wanted))})"])
    if kind == 11:
        two = [r.randrange(-3, 3), r.randrange(-3, 3)]
        return f".swapaxes({two[0]}, {two[1]})"
    if kind == 12:
        return r.choice([".real", ".imag"])
    if kind == 13:
        return f".view({r.choice(DTYPES)})"
    return f".astype({r.choice(DTYPES)})"


def evaluate(array, text):
    """One step. Quern's copies are in C order; what NumPy keeps of another is seen by view()."""
    if text == ".imag" and array.dtype.kind != "c":
        return np.zeros(array.shape, array.dtype)
    if text.startswith(".astype"):
        text = text.replace(")", ", order='C')")
    names = {name: np.dtype(name) for name in DTYPES}
    return eval("array" + text, {"array": array, "np": np, **names})


def view(r):
    extents = [r.choice([1, 2, 2, 3, 3, 4, 4, 6, 6, 0]) for _ in range(r.randrange(1, 4))]
    dtype = r.choice(DTYPES[1:])
    base = np.arange(np.prod(extents)).astype(dtype).reshape(extents)
    text, current = f"arange:{dtype}:{shape_text(extents)}", base
    for _ in range(r.randrange(1, 5)):
        one = step(r, current)
        if ".view(bool)" in one:
            continue
        text += one
        try:
            current = evaluate(current, one)
        except Exception as problem:
            print(f"{text}\terror")
            return
        if not isinstance(current, np.ndarray):
            current = np.asarray(current) # an element, which NumPy hands out by value
            base = None
        if current.ndim > 6:
            break
    row(text, lambda: current, base)


SPECIAL = {
    "float16": ("arange:uint16:65536.view(float16)",
                lambda: np.arange(65536).astype("u2").view("f2")),
    "float32": ("arange:uint32:0:4294967295:1048573.view(float32)",
                lambda: np.arange(0, 4294967295, 1048573, dtype="u4").view("f4")),
    "float64": ("arange:int64:-9223372036854775808:9223372036854775807:2251799813685247"
                ".view(float64)",
                lambda: np.arange(-2**63, 2**63 - 1, 2251799813685247, dtype="i8").view("f8")),
    "complex64": ("arange:int64:-9223372036854775808:9223372036854775807:2251799813685247"
                  ".view(complex64)",
                  lambda: np.arange(-2**63, 2**63 - 1, 2251799813685247, dtype="i8").view("c8")),
    "int64": ("arange:int64:-9223372036854775808:9223372036854775807:2251799813685247",
              lambda: np.arange(-2**63, 2**63 - 1, 2251799813685247, dtype="i8")),
    "uint64": ("arange:int64:-9223372036854775808:9223372036854775807:2251799813685247"
               ".view(uint64)",
               lambda: np.arange(-2**63, 2**63 - 1, 2251799813685247, dtype="i8").view("u8")),
    "int32": ("arange:uint32:0:4294967295:1048573.view(int32)",
              lambda: np.arange(0, 4294967295, 1048573, dtype="u4").view("i4")),
    "uint16": ("arange:uint16:65536", lambda: np.arange(65536).astype("u2")),
}


def casts():
    """Every dtype from elements of all sizes; floats beyond an integer are left out."""
    for text, make in SPECIAL.values():
        array = make()
        for dtype in DTYPES:
            if array.dtype.kind in "fc" and dtype in INTEGERS:
                continue
            row(f"{text}.astype({dtype})", lambda: array.astype(dtype))
    for source in FLOATS: # within every integer
        for dtype in INTEGERS:
            row(f"linspace:{source}:0:127.9:1000.astype({dtype})",
                lambda: np.linspace(0, 127.9, 1000, dtype=source).astype(dtype))
            if not dtype.startswith("u"):
                row(f"linspace:{source}:-127.9:127.9:999.astype({dtype})",
                    lambda: np.linspace(-127.9, 127.9, 999, dtype=source).astype(dtype))


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    r = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    for kind in (full, linspace, eye, arange):
        for _ in range(count):
            kind(r)
    for _ in range(10 * count):
        view(r)
    casts()


main()
