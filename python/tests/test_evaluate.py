# SPDX-License-Identifier: MIT
#
# evaluate() beside NumPy: the same dtype and the same numbers, for each expression and each pair of
# dtypes for which NumPy has an answer; and what is refused, with its place. In: a table of
# expressions, each beside the same in NumPy. Out: nothing.
import itertools

import numpy as np
import pytest

INTEGERS = ["int8", "uint8", "int16", "int32", "int64", "uint64"]
FLOATS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
EVERY = ["bool", *INTEGERS, *FLOATS, *COMPLEX]

# Text, and the same by NumPy where that is another text.
EXPRESSIONS = {
    "x + y": None,
    "x - y * 2": None,
    "x / y": None,
    "x // y": None,
    "x % y": None,
    "x % 3": None,
    "x // 3": None,
    "-7 // x": None,
    "x + 0.1": None,
    "1.5 - x": None,
    "x * 2 + 1": None,
    "1 / 2 * x": None,
    "2**3 * x": None,
    "x ** 2": "power(x, 2)",
    "-x ** 2": "-power(x, 2)",
    "x & 3": None,
    "x | y": None,
    "x ^ y": None,
    "~x": None,
    "!x": "logical_not(x)",
    "x << 2": None,
    "x >> y": None,
    "x == y": None,
    "x < y": None,
    "x != 1": None,
    "(x > 1) & (y > 1)": None,
    "x > 1 && y > 1": "(x > 1) & (y > 1)",
    "x || y": "logical_or(x, y)",
    "x > y ? x : y": "where(x > y, x, y)",
    "x > 1 ? x : 0": "where(x > 1, x, 0)",
    "where(y != 0, x, 0.5)": None,
    "clip(x, 1, 2)": "minimum(maximum(x, 1), 2)",
    "sqrt(abs(x))": None,
    "sqrt(x*x + y*y)": None,
    "exp(-x)": None,
    "hypot(x, y)": None,
    "atan2(x, y)": "arctan2(x, y)",
    "min(x, y) + max(x, 1)": "minimum(x, y) + maximum(x, 1)",
    "fmod(x, y)": None,
    "floor(x / 2) + ceil(x / 3)": None,
    "floor(x)": None,
    "round(x * 0.5)": "rint(x * 0.5)",
    "sign(x) * abs(y)": None,
    "isnan(x / y)": None,
    "isfinite(x)": None,
    "isinf(x)": None,
    "real(x) + imag(y)": "x.real + y.imag",
    "conj(x) * y": None,
    "float32(x) / 3": None,
    "int16(x) + y": None,
    "copysign(x, y)": None,
    "signbit(x)": None,
    "pow(x, y)": "power(x, y)",
    "log1p(abs(x)) * pi": None,
    "0x10 + x": None,
    "exp2(x / 8)": None,
    "rint(x / 8) + sign(x)": None,
    "x % 3 + 7 // 2": None,
    "asinh(x) + arctan(x)": "arcsinh(x) + arctan(x)",
    "true ? x : y": "where(True, x, y)",
}

# What NumPy orders by the real parts, what differs in the last bits too much to compare, and what
# NumPy refuses at run time.
ORDERED = ("<", ">", "clip", "min(")


def numbers(dtype):
    values = np.array([0, 1, 2, 3, 7, 100, 5, 3, 2, 1]).astype(dtype)
    if np.dtype(dtype).kind in "ifc":
        values[:5] = -values[:5]
    return values


def by_numpy(text, x, y):
    names = {n: getattr(np, n) for n in dir(np) if not n.startswith("_")}
    with np.errstate(all="ignore"):
        return eval(text, {**names, "abs": np.abs, "x": x, "y": y})


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("text", EXPRESSIONS)
def test_as_numpy(q, text):
    other = EXPRESSIONS[text] or text
    compared = 0
    uses_y = "y" in text.replace("copysign(", "")
    for k, a in enumerate(EVERY):
        for b in EVERY[k % 4 :: 4] if uses_y else ["int8"]:
            x, y = numbers(a), numbers(b)[::-1].copy()
            if any(o in text for o in ORDERED) and "c" in x.dtype.kind + y.dtype.kind:
                continue
            try:
                expected = np.asarray(by_numpy(other, x, y))
            except (TypeError, ValueError, OverflowError) as refused:
                if not text.startswith(("pow", "where(True")):
                    with pytest.raises((TypeError, ValueError, OverflowError)):
                        q.evaluate(text, **{"x": x, "y": y} if uses_y else {"x": x})
                        print(text, a, b, refused)
                continue
            try:
                got = q.evaluate(text, **{"x": x, "y": y} if uses_y else {"x": x})
            except OverflowError:
                assert np.__version__ < "2"  # which widens for a number that does not fit
                continue
            told = f"{text}: {a}, {b}: {got!r}, {expected!r}"
            assert got.dtype == expected.dtype, told
            kind = expected.dtype.kind
            digits = {"e": 2e-3, "f": 2e-6, "F": 1e-5}.get(expected.dtype.char, 1e-12)
            if kind == "c":  # NumPy's products make (inf, -inf) of -7 to the power of 100
                infinite = np.isinf(expected)
                assert (np.isinf(got) >= infinite).all(), told
                got, expected = got[~infinite], expected[~infinite]
            if kind in "fc":
                with np.errstate(all="ignore"):
                    assert np.allclose(got, expected, digits, digits, equal_nan=True), told
            else:
                assert (got == expected).all(), told
            compared += 1
    assert compared


TRUTHS = ["True", "False", "(3 > 2)", "(1 == 2)", "2", "-3"]


@pytest.mark.parametrize("operator", "+ - * / // % ** & | ^ << >> < == !=".split())
def test_truths_are_plain_numbers(q, operator):
    """Python makes 1 and 0 of True and False beside numbers of the text."""
    compared = 0
    pairs = list(itertools.product(TRUTHS, TRUTHS))
    for k, (a, b) in enumerate(pairs[ord(operator[0]) % 5 :: 5]):
        x = np.asarray([1, 2, 5], ["uint8", "int16", "float16", "float32"][k % 4])
        text = f"x * ({a} {operator} {b})"
        try:
            expected = eval(text, {"x": x})
        except (ZeroDivisionError, OverflowError, TypeError, ValueError):
            continue
        if operator == "**" and b == "-3":
            continue  # an integer has no such power here
        got = q.evaluate(text, x=x)
        assert (got.dtype, got.tolist()) == (expected.dtype, expected.tolist()), text
        compared += 1
    assert compared
    assert q.evaluate("x + -True", x=np.int8(5)) == 4
    assert q.evaluate("x + ~False", x=np.int8(5)) == 4


@pytest.mark.parametrize(
    "text, x, kind, message",
    [
        ("sqroot(x)", 1.0, NameError, 'there is no function "sqroot"; did you mean "sqrt"?'),
        ("x + speeed", 1.0, NameError, "give its value, speeed=..."),
        ("x +", 1.0, ValueError, "the expression ends too early"),
        ("(x", 1.0, ValueError, "the expression ends too early"),
        ("x and 1", 1, ValueError, '"and" is no operator here: write &&'),
        ("x ? 1", 1, ValueError, "the expression ends too early"),
        ("x[0]", 1, ValueError, '"[" has no meaning here'),
        ("x, 1", 1, ValueError, '"," was not expected here'),
        ("x & 1 == 0", 1, ValueError, '"==" beside "&" means one thing in C and another in Python'),
        ("0 < x < 2", 1, ValueError, '"<" beside "<"'),
        ("x & 1.5", 1, TypeError, '"&" is not defined for int64 and float, as in NumPy'),
        ("x < 2", 1j, TypeError, "has no order"),
        ("x + 300", np.uint8(1), OverflowError, "300 does not fit uint8"),
        ("x ** -1", 1, ValueError, "write x ** -1.0"),
        ("min(x)", 1, TypeError, "min() takes 2 values, and is given 1"),
        ("x + 99999999999999999999", 1, OverflowError, "fits no integer dtype"),
        ("(" * 9999 + "x" + ")" * 9999, 1, ValueError, "nested too deeply"),
        ("x + 010", 1, ValueError, "010 begins with a 0"),
        ("1 + 1", 1, TypeError, 'has no "x"'),
        ("", 1, ValueError, "ends too early"),
    ],
)
def test_refused(q, text, x, kind, message):
    with pytest.raises(kind) as raised:
        q.evaluate(text, x=np.asarray(x))
    assert message in str(raised.value)


def test_place_of_an_error(q):
    with pytest.raises(NameError) as raised:
        q.evaluate("x +\n  2 * colour", x=np.ones(3), color=np.ones(3))
    assert str(raised.value) == (
        '"colour" is not known; did you mean "color"?\n'
        "  expression, line 2, column 7:\n      2 * colour\n          ^~~~~~"
    )
    error = raised.value
    assert isinstance(error, q.UndefinedNameError) and error.span == (10, 16)


def test_values(q):
    x = np.arange(3, dtype="uint8")
    assert q.evaluate("x * a", x=x, a=2.5).dtype == np.float64
    assert q.evaluate("x * a", x=x.astype("float32"), a=2.5).dtype == np.float32
    assert q.evaluate("x * a", x=x.astype("float32"), a=np.float64(2.5)).dtype == np.float64
    with pytest.raises(OverflowError, match='256 does not fit parameter "a": uint8 holds 0 to 255'):
        q.evaluate("x + a", x=x, a=256)
    with pytest.raises(TypeError, match="x is <class 'list'>"):
        q.evaluate("x + 1", x=[1, 2])
    with pytest.raises(TypeError, match="x: "):
        q.evaluate("x + 1", x=np.array(["a"]))
    with pytest.raises(TypeError, match="a str was expected"):
        q.evaluate(3)
    with pytest.raises(ValueError, match="the expression has no names"):
        q.evaluate("1 + 1")
    with pytest.raises(ValueError):
        q.evaluate("x + y", x=np.ones(3), y=np.ones(4))


def test_names_of_c(q):
    """Names that mean something in C++ or to the kernel are names like others."""
    one = np.ones(2)
    names = {
        n: one for n in ("i", "n", "_ind", "int_", "double", "result", "_", "new", "out_", "T")
    }
    assert q.evaluate(" + ".join(names), **names).tolist() == [10, 10]
    assert q.evaluate("é + 2 * ö", é=one, ö=one).tolist() == [3, 3]


def test_broadcast_out_and_numbers(q):
    x, y = np.arange(3.0), np.arange(2.0)[:, None]
    assert (q.evaluate("x - y", x=x, y=y) == x - y).all()
    out = np.empty((2, 3), "float32")
    assert q.evaluate("x - y", x=x, y=y, out=out) is out
    assert (out == x - y).all()
    with pytest.raises(TypeError, match="out is <class 'int'>: an array was expected"):
        q.evaluate("x + 1", x=x, out=3)
    ours = q.evaluate("x + 1", x=q.asarray(x))
    assert isinstance(ours, q.ndarray) and ours.tolist() == [1, 2, 3]
    assert float(q.evaluate("a / b", a=1, b=2)) == 0.5
    assert float(q.evaluate("x / y", y=np.float32(2), x=1)) == 0.5
    assert (q.evaluate("y << x", x=np.arange(3, dtype="uint8"), y=np.int32(1)) == [1, 2, 4]).all()
    assert q.evaluate("x + 1", x=np.empty((0, 3))).shape == (0, 3)


def test_large_integers(q):
    x = np.array([2**63 + 1, 5, 0], "uint64")
    y = np.array([-1, 5, -(2**63)], "int64")
    for text in ("x < y", "x == y", "x >= y", "y < x", "y <= x"):
        assert (q.evaluate(text, x=x, y=y) == eval(text)).all(), text
    low = np.array([-(2**63), -128], "int64")
    assert q.evaluate("x // -1", x=low).tolist() == [-(2**63), 128]
    assert q.evaluate("x % -1", x=low).tolist() == [0, 0]
    with np.errstate(all="ignore"):
        zero = np.zeros(2, "int64")
        assert (q.evaluate("x // y", x=low, y=zero) == low // zero).all()
        assert (q.evaluate("x % y", x=low, y=zero) == low % zero).all()
    shift = np.array([64, 63])
    for text in ("x << y", "x >> y"):
        assert (q.evaluate(text, x=low, y=shift) == eval(text, {"x": low, "y": shift})).all()
    assert (q.evaluate("x ** y", x=np.array([3, -2]), y=np.array([39, 5])) == [3**39, -32]).all()


def test_infinite_numbers(q):
    got = q.evaluate("where(x > 0, 1e999, -1e999)", x=np.array([1, -1]))
    assert got.tolist() == [np.inf, -np.inf]
    assert np.isinf(q.evaluate("imag(x * 1e999j)", x=np.ones(1)))


def test_any_text_is_an_expression_or_refused(q):
    """Words thrown together: each is parsed, or refused by an exception that says why."""
    import random

    from pyquern._core import expression

    words = "x y + - * / ** // % & | ~ ! ( ) ( ) , ? : < == && >> 1 2.5 0x1f 1e999 2j 08 sqrt min"
    words = (words + " where clip int8 float16 pi true $ # ' \n and é [ .").split(" ")
    types = {"x": "float32", "y": "int32"}
    chance, made = random.Random(1), 0
    for _ in range(20000):
        chosen = [chance.choice(words) for _ in range(chance.randint(1, 12))]
        text = " ".join(chosen)
        try:
            expression(text, {n: t for n, t in types.items() if n in chosen}, None)
            made += 1
        except (ValueError, TypeError, NameError, OverflowError) as refused:
            assert isinstance(refused, q.Error), text
            assert "^" in str(refused) or not text.strip(), text
    assert made > 50


def test_plain_integers(q):
    """An int that no array could hold is compared as it is; computed with, it is refused."""
    x, big = np.array([0, 5, 255], "uint8"), np.array([1, 2**64 - 1], "uint64")
    for text in ("x < 300", "x > -1", "300 != x", "x >= 255", "-1 == x"):
        assert (q.evaluate(text, x=x) == eval(text)).all(), text
    for n in (-1, 5, 300, -(2**40)):
        for text in ("x < n", "n == x", "x >= n"):
            assert (q.evaluate(text, x=x, n=n) == eval(text)).all(), (text, n)
    assert q.evaluate("x + n", x=big, n=2**63)[0] == 2**63 + 1
    for text in ("x + (200 + 100)", "x - 2**8", "x & (1 << 8)", "x * -1"):
        with pytest.raises(OverflowError, match="does not fit uint8"):
            q.evaluate(text, x=x)
    with pytest.raises(TypeError, match="n becomes int8 here, and uint8 elsewhere: convert it"):
        q.evaluate("x + n + (y + n)", x=x, y=x.astype("int8"), n=3)
    same = q.evaluate("x + n + (y + int8(n))", x=x, y=x.astype("int8"), n=3)
    assert (same == (x + 3) + (x.astype("int8") + 3)).all()


def test_long_sum(q):
    x = np.ones(3, "float32")
    assert q.evaluate("+".join(["x"] * 1000), x=x).tolist() == [1000] * 3


def test_nan_is_kept(q):
    x, y = np.array([np.nan, 1, -0.0]), np.array([1, np.nan, 0.0])
    assert np.isnan(q.evaluate("min(x, y)", x=x, y=y)[:2]).all()
    assert np.isnan(q.evaluate("max(x, y)", x=x, y=y)[:2]).all()
    assert q.evaluate("fmin(x, y)", x=x, y=y)[:2].tolist() == [1, 1]
    inf, five = np.array([np.inf, 5.0, -5.0, 0.0]), np.array([5.0, np.inf, np.inf, 0.0])
    with np.errstate(all="ignore"):
        for text in ("x % y", "x // y"):
            expected = eval(text, {"x": inf, "y": five})
            got = q.evaluate(text, x=inf, y=five)
            assert np.array_equal(got, expected, equal_nan=True), text


def test_made_once(q):
    from pyquern._evaluate import _planned

    x = np.ones(3)
    q.evaluate("x + 1234", x=x)
    before = _planned.cache_info()
    q.evaluate("x + 1234", x=np.zeros((2, 2)))
    after = _planned.cache_info()
    assert (after.misses, after.hits) == (before.misses, before.hits + 1)


def test_torch(q):
    torch = pytest.importorskip("torch")
    x = torch.arange(3.0)
    got = q.evaluate("sqrt(x) > 1", x=x)
    assert isinstance(got, torch.Tensor) and got.dtype == torch.bool


def test_bfloat16(q):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.arange(4).astype(ml_dtypes.bfloat16)
    got = q.evaluate("sqrt(x) * 2", x=x)
    assert got.dtype == x.dtype and (got == np.sqrt(x) * 2).all()


@pytest.mark.parametrize("count", [64, 65, 100])
def test_too_many_values(q, count):
    values = {f"v{k}": 1.0 for k in range(count)}
    with pytest.raises(TypeError, match=f"^{count} values are given, and an expression has at m"):
        q.evaluate(" + ".join(values), **values)


def test_as_many_values_as_can_be(q):
    values = {f"v{k}": np.float32(k) for k in range(63)}
    assert q.evaluate(" + ".join(values), **values) == 63 * 31
