# SPDX-License-Identifier: MIT
#
# What expressions of evaluate() are made of: operators and functions. In: nothing. Out: for each
# name NumPy's ufunc, which knows the types, and C++ that does the same. The thing to know: where
# C++ does something else than NumPy (% of negative numbers, min of NaN), a helper does what NumPy
# does.
"""Operators and functions with NumPy's meaning."""

import numpy

C_TYPES = {
    "bool": "bool",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long long",
    "float16": "float16",
    "bfloat16": "bfloat16",
    "float32": "float",
    "float64": "double",
    "complex64": "complex<float>",
    "complex128": "complex<double>",
}
CASTS = {n: n for n in C_TYPES if n != "bfloat16"} | {"bool": bool, "int": int, "float": float}

# C++ of helpers; each stands alone. Halves come to them as float.
_HELPERS = {
    "quotient_of_ints": """template <typename T> __device__ T quotient_of_ints(T x, T y)
{
    if (y == 0) { return 0; }
    if (T(-1) < T(0) && y == T(-1)) { return T(0ull - (unsigned long long)x); }
    return T(x / y - ((x % y != 0) && ((x < 0) != (y < 0))));
}
""",
    "rest_of_ints": """template <typename T> __device__ T rest_of_ints(T x, T y)
{
    if (y == 0 || (T(-1) < T(0) && y == T(-1))) { return 0; }
    T r = T(x % y);
    return r != 0 && ((r < 0) != (y < 0)) ? T(r + y) : r;
}
""",
    "fmod_of_ints": """template <typename T> __device__ T fmod_of_ints(T x, T y)
{
    return y == 0 || (T(-1) < T(0) && y == T(-1)) ? T(0) : T(x % y);
}
""",
    "rest_of": """template <typename T> __device__ T rest_of(T x, T y)
{
    T r = fmod(x, y);
    return r == 0 ? copysign(T(0), y) : (r < 0) != (y < 0) ? r + y : r;
}
""",
    "quotient_of": """template <typename T> __device__ T quotient_of(T x, T y)
{
    if (y == 0) { return x / y; }
    T r = fmod(x, y), q = (x - r) / y;
    if (r != 0 && (r < 0) != (y < 0)) { q -= 1; }
    return q == 0 ? copysign(T(0), x / y) : floor(q) + (q - floor(q) > T(0.5) ? 1 : 0);
}
""",
    "power_of_ints": """template <typename T> __device__ T power_of_ints(T x, T y)
{
    if (y < 0) { return x == 1 || (x == T(-1) && y % 2 == 0) ? 1 : x == T(-1) ? x : T(0); }
    unsigned long long a = x, p = 1;
    for (unsigned long long n = y; n; n >>= 1, a *= a) { p *= n & 1 ? a : 1; }
    return T(p);
}
""",
    "square_of": "template <typename T> __device__ T square_of(T x) { return T(x * x); }\n",
    "shift_left": """template <typename T> __device__ T shift_left(T x, T n)
{
    return n >= 0 && n < T(8 * sizeof(T)) ? T((unsigned long long)x << n) : T(0);
}
""",
    "shift_right": """template <typename T> __device__ T shift_right(T x, T n)
{
    return n >= 0 && n < T(8 * sizeof(T)) ? T(x >> n) : x < 0 ? T(-1) : T(0);
}
""",
    "least_of": """template <typename T> __device__ T least_of(T x, T y)
{
    return x != x || x <= y ? x : y;
}
""",
    "most_of": """template <typename T> __device__ T most_of(T x, T y)
{
    return x != x || x >= y ? x : y;
}
""",
    "sign_of": """template <typename T> __device__ T sign_of(T x)
{
    return x != x ? x : T((x > 0) - (x < 0));
}
""",
    "order_of": """template <typename T, typename U> __device__ int order_of(T x, U y)
{
    if (T(-1) < T(0) && x < 0) { return -1; }
    if (U(-1) < U(0) && y < 0) { return 1; }
    unsigned long long a = x, b = y;
    return (a > b) - (a < b);
}
""",
}


def _call(helpers, name, parts):
    if name in _HELPERS:
        helpers[name] = _HELPERS[name]
    return f"{name}({', '.join(parts)})"


class Function:
    """An operator or a function: `ufunc` knows its types, `text()` writes it."""

    def __init__(self, shown, ufunc, write):
        self.shown = shown
        self.ufunc = getattr(numpy, ufunc)
        self.count = self.ufunc.nin
        self.write = write

    @property
    def name(self):
        return f"'{self.shown}'"

    def text(self, helpers, parts, loop, values):
        """C++ of it: `loop` are the parts' dtypes, `values` their numbers that the text has."""
        loop = [numpy.dtype("float32") if _is_half(d) else d for d in loop]
        parts = [
            f"static_cast<float>({p})" if d.name == "float32" else p
            for p, d in zip(parts, loop, strict=True)
        ]
        return self.write(helpers, parts, loop, values)


def _is_half(dtype):
    return dtype.name in ("float16", "bfloat16")


# ---- how they are written ------------------------------------------------------------------------


def _infix(operator):
    return lambda helpers, parts, loop, values: f"{parts[0]} {operator} {parts[1]}"


def _prefix(operator):
    def write(helpers, parts, loop, values):
        return ("!" if loop[0].kind == "b" else operator) + parts[0]

    return write


def _logical(operator):
    def write(helpers, parts, loop, values):
        parts = [
            f"({p} != static_cast<{C_TYPES[d.name]}>(0))" for p, d in zip(parts, loop, strict=True)
        ]
        return f" {operator} ".join(parts) if len(parts) == 2 else f"!{parts[0]}"

    return write


def _by_kind(ints, floats):
    """A helper for ints and another for floating point."""

    def write(helpers, parts, loop, values):
        return _call(helpers, ints if loop[0].kind in "biu" else floats, parts)

    return write


def _comparison(operator):
    def write(helpers, parts, loop, values):
        kinds = [d.kind for d in loop]
        if "c" in kinds and operator not in ("==", "!="):
            raise TypeError(
                f"'{operator}' of complex numbers has no order: compare abs() or real()"
            )
        if sorted(kinds) == ["i", "u"]:  # C++ would take both as unsigned
            return _call(helpers, "order_of", parts) + f" {operator} 0"
        return f"{parts[0]} {operator} {parts[1]}"

    return write


def _power(helpers, parts, loop, values):
    if isinstance(values[1], int) and values[1] == 2:
        return _call(helpers, "square_of", parts[:1])
    if loop[0].kind not in "biu":
        return _call(helpers, "pow", parts)
    if isinstance(values[1], int) and values[1] < 0:
        raise ValueError("an integer has no negative power that is one: write x ** -1.0")
    return _call(helpers, "power_of_ints", parts)


def _exact(name):
    """A rounding, which leaves integers as they are."""

    def write(helpers, parts, loop, values):
        return parts[0] if loop[0].kind in "biu" else _call(helpers, name, parts)

    return write


def _asks(name, of_ints):
    def write(helpers, parts, loop, values):
        if loop[0].kind in "biu":
            return of_ints
        if loop[0].kind == "c":
            joined = " && " if name == "isfinite" else " || "
            return joined.join(f"{name}(({parts[0]}).{part}())" for part in ("real", "imag"))
        return _call(helpers, name, parts)

    return write


def _absolute(helpers, parts, loop, values):
    if loop[0].kind in "bu":
        return parts[0]
    return _call(helpers, "abs" if loop[0].kind in "ic" else "fabs", parts)


def _conjugate(helpers, parts, loop, values):
    return _call(helpers, "conj", parts) if loop[0].kind == "c" else parts[0]


def _part(name):
    def write(helpers, parts, loop, values):
        if loop[0].kind == "c":
            return f"({parts[0]}).{name}()"
        return parts[0] if name == "real" else "0"

    return write


def _plain(name):
    return lambda helpers, parts, loop, values: _call(helpers, name, parts)


OPERATORS = {
    o: Function(o, ufunc, _infix(o))
    for o, ufunc in {
        "+": "add",
        "-": "subtract",
        "*": "multiply",
        "/": "true_divide",
        "&": "bitwise_and",
        "|": "bitwise_or",
        "^": "bitwise_xor",
    }.items()
} | {
    o: Function(o, ufunc, _comparison(o))
    for o, ufunc in {
        "<": "less",
        "<=": "less_equal",
        ">": "greater",
        ">=": "greater_equal",
        "==": "equal",
        "!=": "not_equal",
    }.items()
}
OPERATORS["&&"] = Function("&&", "logical_and", _logical("&&"))
OPERATORS["||"] = Function("||", "logical_or", _logical("||"))
OPERATORS["//"] = Function("//", "floor_divide", _by_kind("quotient_of_ints", "quotient_of"))
OPERATORS["%"] = Function("%", "remainder", _by_kind("rest_of_ints", "rest_of"))
OPERATORS["<<"] = Function("<<", "left_shift", _plain("shift_left"))
OPERATORS[">>"] = Function(">>", "right_shift", _plain("shift_right"))

UNARY = {
    "-": Function("-", "negative", _prefix("-")),
    "+": Function("+", "positive", lambda helpers, parts, loop, values: parts[0]),
    "~": Function("~", "invert", _prefix("~")),
    "!": Function("!", "logical_not", _logical("!")),
}

FUNCTIONS = {
    n: Function(n, n, _plain(n))
    for n in "sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh hypot "
    "copysign".split()
}
for _name in "sin cos tan sinh cosh tanh".split():
    for _alias in ("arc" + _name, "a" + _name):
        FUNCTIONS[_alias] = Function(_alias, "arc" + _name, _plain("a" + _name))
for _name in ("arctan2", "atan2"):
    FUNCTIONS[_name] = Function(_name, "arctan2", _plain("atan2"))
for _name, _ufunc, _helper in (
    ("min", "minimum", "least_of"),
    ("minimum", "minimum", "least_of"),
    ("max", "maximum", "most_of"),
    ("maximum", "maximum", "most_of"),
    ("sign", "sign", "sign_of"),
):
    FUNCTIONS[_name] = Function(_name, _ufunc, _plain(_helper))
for _name in ("floor", "ceil", "trunc", "rint"):
    FUNCTIONS[_name] = Function(_name, _name, _exact(_name))
for _name, _of_ints in (("isnan", "false"), ("isinf", "false"), ("isfinite", "true")):
    FUNCTIONS[_name] = Function(_name, _name, _asks(_name, _of_ints))
FUNCTIONS |= {
    "round": Function("round", "rint", _exact("rint")),
    "signbit": Function("signbit", "signbit", _plain("signbit")),
    "fmin": Function("fmin", "fmin", _by_kind("least_of", "fmin")),
    "fmax": Function("fmax", "fmax", _by_kind("most_of", "fmax")),
    "fmod": Function("fmod", "fmod", _by_kind("fmod_of_ints", "fmod")),
    "pow": Function("pow", "power", _power),
    "power": Function("power", "power", _power),
    "abs": Function("abs", "absolute", _absolute),
    "fabs": Function("fabs", "fabs", _absolute),
    "conj": Function("conj", "conjugate", _conjugate),
    "real": Function("real", "absolute", _part("real")),
    "imag": Function("imag", "absolute", _part("imag")),
}
