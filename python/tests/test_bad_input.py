# SPDX-License-Identifier: MIT
#
# What is wrong with a call, as Python says it: keywords that nothing takes, lists and numbers where
# arrays are wanted, dtypes that no kernel has, arrays of several devices. In: tables of calls. Out:
# the class and the message of each.
import datetime
import decimal

import numpy as np
import pytest

import pyquern as q

X = np.ones(3)
OWN = q.ones(3)
ONE = q.ElementwiseKernel("T x", "T y", "y = x", "one")
TWO = q.ElementwiseKernel("T x, T y", "T z", "z = x + y", "two")
TOTAL = q.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
SUMS = q.ScanKernel("T x", "T y", "x", "a + b", "y = a", "0", "sums")
RAW = q.RawKernel('extern "C" __global__ void f(int *p) { *p = 1; }', "f")

# ---- keywords ----------------------------------------------------------------------------------

TAKES = {
    ONE: ["size", "block_size", "tune", "stream"],
    ONE.bind: ["size", "block_size", "tune", "stream"],
    ONE.explain: ["size", "block_size", "tune", "stream"],
    ONE.prepare: ["size", "block_size", "tune", "stream"],
    ONE.tune: ["size", "block_size", "tune", "stream"],
    TOTAL: ["out", "axis", "keepdims", "tune", "stream"],
    SUMS: ["out", "axis", "stream"],
    RAW: ["grid", "block", "args", "shared_mem", "stream"],
    q.ElementwiseKernel: ["in_params", "operation", "name", "reduce_dims", "preamble", "no_return",
                          "return_tuple", "options", "loop_prep", "after_loop"],
    q.ReductionKernel: ["map_expr", "reduce_expr", "identity", "reduce_type", "ordered"],
    q.ScanKernel: ["scan_expr", "scan_type", "exclusive"],
    q.Event: ["block", "disable_timing", "interprocess"],
    q.MemoryPointer: ["mem", "offset"],
}  # fmt: skip


def name_of(call):
    """A name that is the same in each process."""
    return getattr(call, "__qualname__", None) or call.name


def slips(word):
    """The word with one letter more, without one, with two exchanged, without its underscores."""
    yield word + "s"
    yield word[1:]
    yield word[:1] + word[2:3] + word[1:2] + word[3:]
    yield word.upper()
    yield word.replace("_", "") if "_" in word else "_" + word


@pytest.mark.parametrize("call", TAKES, ids=name_of)
def test_keywords_name_the_nearest(call):
    for right in TAKES[call]:
        for word in slips(right):
            if word in TAKES[call] or len(word) < 3:
                continue
            with pytest.raises(TypeError) as error:
                call(X, **{word: None}) if call in (ONE, TOTAL, SUMS) else call(**{word: None})
            said = str(error.value)
            assert f"got an unexpected keyword argument '{word}'" in said
            assert (
                f"did you mean '{right}'? It takes " in said and ", ".join(TAKES[call][:1]) in said
            )


@pytest.mark.parametrize(
    "call", [RAW, q.Event, q.MemoryPointer, q.ElementwiseKernel, q.ReductionKernel, q.ScanKernel]
)
def test_other_functions_have_no_outputs_after_inputs(call):
    with pytest.raises(TypeError, match="unexpected keyword argument 'out'") as error:
        call(out=X)
    assert "after the inputs" not in str(error.value)


@pytest.mark.parametrize("word", ["dtype", "zzz", "\N{GREEK SMALL LETTER ALPHA}", "casting"])
def test_keywords_that_are_near_to_none(word):
    with pytest.raises(TypeError) as error:
        ONE(X, **{word: 1})
    assert str(error.value).endswith(f"'{word}'; it takes size, block_size, tune, stream")


def test_outputs_of_elementwise_kernels_have_no_keyword():
    with pytest.raises(TypeError, match="'out'; it takes .*, and outputs after the inputs"):
        ONE(X, out=X)


@pytest.mark.parametrize(
    "words, kind, says",
    [
        ({"size": "3"}, TypeError, "size is an int, not '3'"),
        ({"size": 3.5}, TypeError, "size is an int, not 3.5"),
        ({"size": -7}, ValueError, "size is -7: it is at least -1"),
        ({"block_size": None}, TypeError, "block_size is an int, not None"),
        ({"block_size": -1}, ValueError, "block_size is -1: it is at least 0"),
        (
            {"block_size": 2**32 + 128},
            ValueError,
            "block_size is 4294967424: .* at most 4294967295",
        ),
        ({"block_size": 2**70}, ValueError, "block_size is 1180591620717411303424"),
        ({"block_size": 4096}, ValueError, "4096"),
        ({"stream": "a"}, TypeError, "stream is <class 'str'>"),
    ],
)
def test_values_of_keywords(words, kind, says):
    with pytest.raises(kind, match=says):
        ONE(X, **words)


@pytest.mark.parametrize(
    "axis, kind, says",
    [
        ("0", TypeError, "axis is None, an int or a tuple of ints, not '0'"),
        (0.5, TypeError, "axis is None, an int or a tuple of ints, not 0.5"),
        ((0, "1"), TypeError, r"axis is None, .*, not \(0, '1'\)"),
        (9, q.ShapeError, "axis 9 is out of range: the inputs of total have 1 dimension"),
        (-2, q.ShapeError, "axis -2 is out of range"),
        ((0, 0), q.ShapeError, "axis 0 is given twice"),
    ],
)
def test_axes(axis, kind, says):
    with pytest.raises(kind, match=says):
        TOTAL(X, axis=axis)


# ---- what is no array --------------------------------------------------------------------------

LISTS = [[], [1, 2], [[1, 2], [3]], (1, 2), [X, X]]
OTHERS = [None, "text", b"bytes", {}, {1}, range(3), (i for i in X), object(), ONE, np.ndarray, np,
          decimal.Decimal(1), datetime.datetime(2026, 1, 1), q.Stream(), q.Device()]  # fmt: skip


def name(value):
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


@pytest.mark.parametrize("value", LISTS + OTHERS, ids=name)
def test_where_an_array_should_be(value):
    remedy = (
        ": make an array of it by pyquern.asarray()" if isinstance(value, (list, tuple)) else ""
    )
    said = f"({name(value)}) is neither an array nor one number{remedy}"
    for call, argument in (
        (lambda: ONE(value), 1),
        (lambda: TWO(X, value), 2),
        (lambda: TWO(OWN, value), 2),
        (lambda: TOTAL(value), 1),
        (lambda: SUMS(value), 1),
        (lambda: ONE(X, value), 2),
        (lambda: ONE.bind(value), 1),
        (lambda: ONE.explain(value), 1),
        (lambda: ONE.tune(value), 1),
    ):
        with pytest.raises(TypeError) as error:
            call()
        assert str(error.value) == f"argument {argument} {said}"
    if value is not None and value != b"bytes":  # a null pointer, a structure
        with pytest.raises(TypeError, match="argument 1 .* is neither an array nor one number"):
            RAW(1, 1, (value,))


@pytest.mark.parametrize("out", [3, 2.5, [1, 2, 3], "text", np.float32(1)], ids=name)
def test_outputs_that_are_no_arrays(out):
    for call in (lambda: ONE(X, out), lambda: TOTAL(X, out=out), lambda: SUMS(X, out=out)):
        with pytest.raises(TypeError, match=rf"argument 2 \({name(out)}\)"):
            call()


def test_too_many_outputs():
    with pytest.raises(TypeError, match="out has 2 arrays, and there are 1 outputs"):
        TOTAL(X, out=(X, X))


@pytest.mark.parametrize("value", [[1], 3, None, "a"], ids=name)
def test_what_dlpack_does_not_take(value):
    with pytest.raises(TypeError, match=f"'{name(value)}'> has no __dlpack__: .* asarray"):
        q.from_dlpack(value)


# ---- dtypes ------------------------------------------------------------------------------------

WRONG = {
    "object": np.array([None]),
    "datetime64[D]": np.zeros(2, "M8[D]"),
    "timedelta64[s]": np.zeros(2, "m8[s]"),
    "<U1": np.array(["a"]),
    "|S1": np.array([b"a"]),
    "|V8": np.zeros(2, "V8"),
    "[('a', '<f4')]": np.zeros(2, [("a", "f4")]),
    "float128": np.zeros(2, np.longdouble),
    "complex256": np.zeros(2, np.clongdouble),
    ">f4": np.zeros(2, ">f4"),
}


@pytest.mark.parametrize("dtype", WRONG)
def test_dtypes_of_arrays_are_named(dtype):
    array = WRONG[dtype]
    for call in (ONE, TOTAL, SUMS, ONE.explain, lambda a: ONE(X, a), lambda a: RAW(1, 1, (a,))):
        with pytest.raises(TypeError) as error:
            call(array)
        assert f"(numpy.ndarray) has elements of dtype {dtype}" in str(error.value)


@pytest.mark.parametrize("value", [None, "a", b"a"])
def test_values_that_mean_nothing_to_a_kernel(value):
    """Arrays of one element may go by value; of objects and strings they would be addresses."""
    with pytest.raises(TypeError, match="numpy.ndarray. has elements of dtype"):
        RAW(1, 1, (np.array(value),))


@pytest.mark.parametrize(
    "dtype", ["object", "datetime64[s]", "str", "timedelta64[D]", "longdouble"]
)
def test_dtypes_of_new_arrays_are_named(dtype):
    as_numpy = np.dtype(dtype)
    for call in (
        lambda: q.empty(3, as_numpy),
        lambda: q.zeros(3, dtype=dtype),
        lambda: OWN.astype(as_numpy),
        lambda: q.asarray(np.zeros(2, as_numpy)),
        lambda: q.evaluate("x + 1", x=np.zeros(2, as_numpy)),
    ):
        with pytest.raises(TypeError) as error:
            call()
        said = str(error.value)
        assert (as_numpy.name in said or dtype in said) and "float16, bfloat16, float32" in said


@pytest.mark.parametrize(
    "dtype, near",
    [("folat32", "float32"), ("int46", "int64"), ("unit8", "uint8"), ("bfloat61", "bfloat16")],
)
def test_dtypes_that_are_slips(dtype, near):
    with pytest.raises(TypeError, match=f"'{dtype}' is no dtype .*did you mean '{near}'"):
        q.empty(3, dtype)


class Named:
    """A class of the program's own, which has a name that is none of a dtype."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return "<Named>"


class Described:
    name = property(lambda self: "x")


@pytest.mark.parametrize(
    "value, said",
    [
        (Named(3), "<Named>"),
        (Named(None), "<Named>"),
        (Named(["float32"]), "<Named>"),
        (Described, "Described'>"),
        ([], "[]"),
        (3, "3"),
    ],
)
def test_dtypes_that_are_no_names(value, said):
    with pytest.raises(TypeError) as error:
        q.empty(3, value)
    assert f"{said} is no dtype that arrays can have: " in str(error.value)
    assert "float16, bfloat16, float32" in str(error.value)


# ---- devices -----------------------------------------------------------------------------------


def test_arrays_of_several_devices():
    with q.Device("soft:8"):
        there = q.ones(3)
    if there.device_id == OWN.device_id:
        pytest.skip("one software device here")
    for call in (
        lambda: TWO(OWN, there),
        lambda: TWO(OWN, OWN, there),
        lambda: TWO(OWN, X, there),
        lambda: TOTAL(OWN, out=there),
    ):
        with pytest.raises(ValueError, match=r"argument [123] is on soft.*, and argument 1 is on "):
            call()


def test_nothing_is_kept_of_a_wrong_call():
    import sys

    wrong = [1, 2]
    counts = sys.getrefcount(wrong), sys.getrefcount(X), sys.getrefcount(OWN)
    for _ in range(50):
        for call in (
            lambda: TWO(X, wrong),
            lambda: TWO(OWN, wrong),
            lambda: TOTAL(X, out=wrong),
            lambda: ONE(X, sise=wrong),
            lambda: ONE(X, size=wrong),
        ):
            with pytest.raises(TypeError):
                call()
    assert counts == (sys.getrefcount(wrong), sys.getrefcount(X), sys.getrefcount(OWN))
