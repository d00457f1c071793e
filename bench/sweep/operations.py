# SPDX-License-Identifier: MIT
#
# What each operation is: which dtypes it takes, its texts as a kernel, and the same as a formula
# that NumPy and PyTorch compute. In: a case. Out: a kernel of pyquern; values. The thing to know:
# inputs are small integers, so that sums are exact in any order and results can be compared
# closely; `m` in a formula is NumPy or PyTorch behind the few names of check.py.
"""The operations that cases are made of."""

import math

SIZES = {
    "bool": 1, "int8": 1, "uint8": 1, "int16": 2, "float16": 2, "bfloat16": 2, "int32": 4,
    "float32": 4, "int64": 8, "float64": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip
C_TYPES = {
    "bool": "bool", "int8": "signed char", "uint8": "unsigned char", "int16": "short",
    "float16": "float16", "bfloat16": "bfloat16", "int32": "int", "float32": "float",
    "int64": "long long", "float64": "double", "complex64": "complex<float>",
    "complex128": "complex<double>",
}  # fmt: skip
REALS = [t for t in SIZES if not t.startswith("complex")]
COMPLEX = ["complex64", "complex128"]
HALVES = ["float16", "bfloat16"]
FLOATS = [*HALVES, "float32", "float64"]
SIGNED = ["int8", "int16", "int32", "int64"]

# Of each kind, how often an operation is drawn.
WEIGHTS = {
    "elementwise": {
        "fill": 3, "copy": 15, "convert": 15, "add2": 10, "add3": 5, "add4": 3, "add5": 3,
        "add6": 2, "add7": 4, "fma": 12, "where": 8, "compare": 6, "clip": 4, "hypot": 3,
        "exp": 3, "sin": 3, "log": 3, "sqrt": 3, "tanh": 3,
    },
    "reduction": {
        "sum": 24, "min": 10, "max": 10, "argmax": 12, "argmin": 6, "dot": 8, "mean": 8,
        "norm": 8, "distance": 6, "count": 6,
    },
    "scan": {"cumsum": 50, "cummax": 20, "cummin": 10, "cumdot": 12, "excumsum": 8},
}  # fmt: skip

# Operation: text, formula. `{0}` is an input in the dtype of the values.
ELEMENTWISE = {
    "fill": ("3", lambda m: m.number(3)),
    "copy": ("{0}", lambda m, x: x),
    "convert": ("{0}", lambda m, x: x),
    "fma": ("{0} * {1} + {2}", lambda m, x, y, z: x * y + z),
    "where": ("x0 ? {1} : {2}", lambda m, c, x, y: m.where(c, x, y)),
    "compare": ("{0} > {1}", lambda m, x, y: x > y),
    "clip": ("min(max({0}, {1}), {2})", lambda m, x, y, z: m.minimum(m.maximum(x, y), z)),
    "hypot": ("sqrt({0} * {0} + {1} * {1})", lambda m, x, y: m.sqrt(x * x + y * y)),
    "exp": ("exp({0})", lambda m, x: m.exp(x)),
    "sin": ("sin({0})", lambda m, x: m.sin(x)),
    "log": ("log({0})", lambda m, x: m.log(x)),
    "sqrt": ("sqrt({0})", lambda m, x: m.sqrt(x)),
    "tanh": ("tanh({0})", lambda m, x: m.tanh(x)),
}
for _n in range(1, 17):  # growth.py has more than are drawn
    ELEMENTWISE[f"add{_n}"] = (
        " + ".join(f"{{{k}}}" for k in range(_n)),
        lambda m, first, *rest: sum(rest, first),
    )
_MEAN = "a / ({real})(_in_ind.size() / _out_ind.size())"
# Operation: map, reduce, post, identity, formula of (module, shape of axes, inputs).
REDUCTIONS = {
    "sum": ("{0}", "a + b", "a", "0", lambda m, at, x: m.sum(x, at)),
    "min": ("{0}", "min(a, b)", "a", None, lambda m, at, x: m.min(x, at)),
    "max": ("{0}", "max(a, b)", "a", None, lambda m, at, x: m.max(x, at)),
    "dot": ("{0} * {1}", "a + b", "a", "0", lambda m, at, x, y: m.sum(x * y, at)),
    "mean": ("{0}", "a + b", _MEAN, "0", lambda m, at, x: m.sum(x, at) / at.count),
    "norm": ("{0} * {0}", "a + b", "sqrt(a)", "0", lambda m, at, x: m.sqrt(m.sum(x * x, at))),
    "distance": (
        "abs({0} - {1})", "a + b", _MEAN, "0", lambda m, at, x, y: m.sum(abs(x - y), at) / at.count,
    ),
    "count": ("{0} > 0", "a + b", "a", "0", lambda m, at, x: m.sum(m.int64(x > 0), at)),
    "argmax": ("best{{{0}, _J}}", "better(a, b)", "a.at", None, lambda m, at, x: m.argmax(x, at)),
    "argmin": ("best{{{0}, _J}}", "better(a, b)", "a.at", None, lambda m, at, x: m.argmin(x, at)),
}  # fmt: skip
SCANS = {
    "cumsum": ("{0}", "a + b", None, lambda m, at, x: m.cumsum(x, at)),
    "cummax": ("{0}", "max(a, b)", None, lambda m, at, x: m.cummax(x, at)),
    "cummin": ("{0}", "min(a, b)", None, lambda m, at, x: m.cummin(x, at)),
    "cumdot": ("{0} * {1}", "a + b", None, lambda m, at, x, y: m.cumsum(x * y, at)),
    "excumsum": ("{0}", "a + b", "0", lambda m, at, x: m.cumsum(x, at) - x),
}
BEST = """struct best {{ {type} value; long long at; }};
__device__ best better(best a, best b)
{{
    return b.value {sign} a.value || (b.value == a.value && b.at < a.at) ? b : a;
}}
"""

# The least value that inputs are filled with, and how many there are. Sums need few around zero.
VALUES = {op: (-3, 7) for kind in WEIGHTS.values() for op in kind}
VALUES |= dict.fromkeys(["log", "sqrt"], (1, 7))
VALUES |= dict.fromkeys(["clip", "compare"], (-9, 19))
VALUES |= dict.fromkeys(["min", "max", "argmin", "argmax", "cummax", "cummin"], (-100, 201))


# ---- dtypes ------------------------------------------------------------------------------------


def compute_of(dtypes):
    """The dtype in which values of these are computed: halves as float, as Quern does it."""
    if any(t in COMPLEX for t in dtypes):
        return "complex128" if {"complex128", "float64"} & set(dtypes) else "complex64"
    if any(t in FLOATS for t in dtypes):
        return "float64" if "float64" in dtypes else "float32"
    return "int64" if "int64" in dtypes else "int32"


def draw(d, kind):
    """An operation of a kind, the dtypes of its operands, the output last, and of its values."""
    op = d.weighted(WEIGHTS[kind])
    if kind == "elementwise":
        return _draw_elementwise(d, op)
    reals = FLOATS if op in ("mean", "norm", "distance") else REALS
    takes_complex = op in ("sum", "dot", "cumsum", "cumdot", "excumsum") and d.chance(0.12)
    first = d.pick(COMPLEX if takes_complex else reals)
    inputs = [first] * (2 if op in ("dot", "distance", "cumdot") else 1)
    if len(inputs) > 1 and d.chance(0.5):
        inputs[1] = d.pick(COMPLEX if takes_complex else reals)
    compute = compute_of(inputs)
    if op in ("min", "max", "cummax", "cummin"):
        return op, [first, first], compute
    if op.startswith("arg") or op == "count":
        return op, [first, "int64"], compute
    if compute.startswith("int"):
        compute = d.pick(["int32", "int64"])
        narrow = first in SIGNED and kind == "scan" and d.chance(0.5)
        return op, [*inputs, first if narrow else compute], compute
    if first in HALVES and d.chance(0.6):
        return op, [*inputs, first], compute
    if compute == "float32" and d.chance(0.15):
        compute = "float64"
    return op, [*inputs, compute], compute


def _draw_elementwise(d, op):
    count = 0 if op == "fill" else len(_placeholders(ELEMENTWISE[op][0]))
    pool = REALS
    if op in ("hypot", "exp", "sin", "log", "sqrt", "tanh"):
        pool = FLOATS
    elif op in ("copy", "convert", "fma", "where") or op.startswith("add"):
        pool = COMPLEX if d.chance(0.12) else REALS
    first = d.pick(pool)
    same = op in ("fill", "copy") or (op != "convert" and d.chance(0.5))
    inputs = [first if same else d.pick(pool) for _ in range(count)]
    if op == "where":
        inputs[0] = d.pick(["bool", "bool", "int8", "uint8"])
    compute = compute_of(inputs[1:] if op == "where" else inputs or [first])
    if op == "compare":
        return op, [*inputs, "bool"], compute
    if same:
        return op, [*inputs, first], compute
    return op, [*inputs, d.pick(_outputs(pool, compute))], compute


def _outputs(pool, compute):
    """Dtypes that take values of another one as NumPy's astype() gives them."""
    if pool is not REALS or compute.startswith("int"):
        return pool
    return FLOATS + SIGNED  # a negative float as an unsigned integer: anything


def _placeholders(text):
    found = {k for k in range(16) if f"{{{k}}}" in text or f"x{k}" in text}
    return sorted(found)


# ---- kernels -----------------------------------------------------------------------------------


def _converted(name, dtype, compute):
    """C++ of an input in the dtype of the values."""
    if dtype == compute:
        return name
    if compute in COMPLEX and dtype not in COMPLEX:
        name = f"({C_TYPES[real_of(compute)]})({name})"
    return f"({C_TYPES[compute]})({name})"


def real_of(dtype):
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def _signature(operands):
    return ", ".join(f"{o.dtype} {o.name}" for o in operands)


def kernel(case):
    """The case's kernel, and the keywords of its calls."""
    import pyquern as q

    into = _signature(case.inputs), _signature([case.output])
    names = [_converted(o.name, o.dtype, case.compute) for o in case.inputs]
    out, name = C_TYPES[case.output.dtype], f"sweep_{case.op}"
    if case.kind == "elementwise":
        value = ELEMENTWISE[case.op][0].format(*names)
        if case.op in ("copy", "convert"):
            value = "x0"
        elif case.output.dtype != case.compute and case.op != "compare":
            value = f"({out})({value})"
        return q.ElementwiseKernel(*into, f"y = {value}", name), {}
    table = REDUCTIONS if case.kind == "reduction" else SCANS
    texts = [t.format(*names, real=C_TYPES[real_of(case.compute)]) if t else t
             for t in table[case.op][:-1]]  # fmt: skip
    axis = None if case.axes is None else tuple(case.axes)
    type_ = C_TYPES[case.compute]
    if case.kind == "scan":
        scanned, combine, identity = texts
        exclusive = case.op == "excumsum"
        k = q.ScanKernel(*into, scanned, combine, f"y = ({out})(a)", identity, name, type_,
                         exclusive=exclusive)  # fmt: skip
        return k, {"axis": axis and axis[0]} if axis else {}
    mapped, combine, post, identity = texts
    preamble = ""
    if case.op.startswith("arg"):
        preamble = BEST.format(type=type_, sign="<" if case.op == "argmin" else ">")
        type_ = "best"
    elif case.op == "count":
        type_ = "long long"
    k = q.ReductionKernel(*into, mapped, combine, f"y = ({out})({post})", identity, name, type_,
                          preamble=preamble)  # fmt: skip
    return k, {"axis": axis, "keepdims": case.keepdims}


# ---- the same as a formula ---------------------------------------------------------------------


class Axes:
    """What a formula is told of a case: along which axes, and how many elements become one."""

    def __init__(self, case):
        self.rank = len(case.shape)
        self.all = case.axes is None
        self.axes = tuple(range(self.rank)) if self.all else tuple(case.axes)
        self.keepdims = case.keepdims
        self.count = math.prod(case.shape[k] for k in self.axes)


def formula(case, m, inputs, at=None):
    """The result of inputs that are in the dtype of the values, broadcast where it is walked. `at`:
    the case's axes, for who compiles this and cannot have them made in it."""
    if case.kind == "elementwise":
        return ELEMENTWISE[case.op][1](m, *inputs)
    inputs = [m.broadcast(x, case.shape) for x in inputs]
    table = REDUCTIONS if case.kind == "reduction" else SCANS
    return table[case.op][-1](m, at or Axes(case), *inputs)
