# SPDX-License-Identifier: MIT
#
# Writes numpy_types.txt: for every operator and function of expressions, the dtype that NumPy gives it for
# every type of its operands, or for every pair. Run it with NumPy 2 and ml_dtypes, whose bfloat16 is one of
# the types: python numpy_types.py >numpy_types.txt
import ml_dtypes
import numpy

NAMES = (
    "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64 "
    "complex64 complex128"
).split()
CODES = "?bBhHiIlLeEfdFDnrc"  # of these, and of a plain int, float and complex
PLAIN = {int: "int64", float: "float64", complex: "complex128"}
TYPES = [numpy.dtype(ml_dtypes.bfloat16 if n == "bfloat16" else n) for n in NAMES] + list(PLAIN)

UNARY = {"-": "negative", "+": "positive", "~": "invert", "!": "logical_not"}
UNARY |= {
    f"{n}(x)": n
    for n in "sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh "
    "arcsin arccos arctan arcsinh arccosh arctanh fabs sign floor ceil trunc rint isnan isinf "
    "isfinite signbit".split()
}
UNARY |= {"abs(x)": "absolute", "conj(x)": "conjugate", "real(x)": "absolute", "round(x)": "rint"}
BINARY = {
    "+": "add",
    "-": "subtract",
    "*": "multiply",
    "/": "true_divide",
    "//": "floor_divide",
    "%": "remainder",
    "**": "power",
    "&": "bitwise_and",
    "|": "bitwise_or",
    "^": "bitwise_xor",
    "<<": "left_shift",
    ">>": "right_shift",
    "&&": "logical_and",
    "||": "logical_or",
    "==": "equal",
    "!=": "not_equal",
}
BINARY |= {
    f"{n}(x, y)": u
    for n, u in {
        "hypot": "hypot",
        "copysign": "copysign",
        "atan2": "arctan2",
        "min": "minimum",
        "max": "maximum",
        "fmin": "fmin",
        "fmax": "fmax",
        "fmod": "fmod",
    }.items()
}


def code(ufunc, *types):
    if all(isinstance(t, type) for t in types):
        types = [numpy.dtype(PLAIN[t]) for t in types]
    try:
        result = ufunc.resolve_dtypes((*types, None))[-1]
    except TypeError:
        return "."
    return CODES[TYPES.index(result)]


def where(a, b):
    if isinstance(a, type) and isinstance(b, type):
        return CODES[TYPES.index(numpy.result_type(PLAIN[a], PLAIN[b]))]
    if "bfloat16" in (getattr(a, "name", ""), getattr(b, "name", "")):
        return "*"  # here ml_dtypes has other answers than for ufuncs, and often none
    parts = [t(0) if isinstance(t, type) else t for t in (a, b)]
    return CODES[TYPES.index(numpy.result_type(*parts))]


print("# " + CODES)
for text, name in UNARY.items():
    whole = text if "(" in text else text + "x"
    print(f"{whole}: " + "".join(code(getattr(numpy, name), t) for t in TYPES))
for text, name in BINARY.items():
    whole = text if "(" in text else f"x {text} y"
    for first, t in zip(CODES, TYPES, strict=True):
        print(f"{first} {whole}: " + "".join(code(getattr(numpy, name), t, u) for u in TYPES))
for first, t in zip(CODES, TYPES, strict=True):
    print(f"{first} true ? x : y: " + "".join(where(t, u) for u in TYPES))
