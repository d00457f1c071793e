# SPDX-License-Identifier: MIT
#
# ElementwiseKernel, ReductionKernel and ScanKernel: results beside NumPy's, keywords, attributes,
# and what is refused.
import itertools
import sys
import threading
import time

import numpy as np
import pytest


def test_elementwise(q):
    k = q.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_diff")
    x = np.arange(10, dtype=np.float32).reshape(2, 5)
    y = np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(k(x, y), (x - y) ** 2)
    own = k(q.asarray(x), q.asarray(y))
    assert isinstance(own, q.ndarray)
    assert own.shape == (2, 5)
    assert own.dtype == np.float32
    np.testing.assert_array_equal(own.get(), (x - y) ** 2)


def test_infer(q):
    k = q.ElementwiseKernel("T x, raw U y", "T z, bool b", "z = x; b = y[i] > 0")
    assert k.infer(("float32", (3, 1)), (np.int8, 5)) == (("float32", (3, 1)), ("bool", (3, 1)))
    assert k.infer(np.zeros((2, 0)), ("int8", ())) == (("float64", (2, 0)), ("bool", (2, 0)))
    assert k.parameters == (
        ("x", "T", False, False),
        ("y", "U", False, True),
        ("z", "T", True, False),
        ("b", "bool", True, False),
    )
    total = q.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0")
    assert total.infer(("int64", (3, 4)), axis=1, keepdims=True) == (("int64", (3, 1)),)
    assert total.infer(("int64", (3, 4)), axis=(0, 1)) == (("int64", ()),)
    with pytest.raises(TypeError, match="an array is told by a pair: its dtype and its shape"):
        total.infer(("int64",))
    with pytest.raises(TypeError, match="'no' is no dtype"):
        total.infer(("no", ()))
    with pytest.raises(q.ShapeError, match="broadcast"):
        q.ElementwiseKernel("T x, T y", "T z", "z = x").infer(("int8", 2), ("int8", 3))
    with pytest.raises(TypeError, match="neither an array nor one number"):
        total(("int64", (3, 4)))


def test_size_says_the_shape_of_new_outputs(q):
    k = q.ElementwiseKernel("raw T x", "T y", "y = x[i]")
    for x in (q.arange(5), np.arange(5)):
        y = k(x, size=3)
        assert type(y) is type(x)
        assert y.tolist() == [0, 1, 2]


def test_outputs_that_are_given_come_back(q):
    k = q.ElementwiseKernel("T x", "T y, T z", "y = x; z = -x")
    x = q.arange(4)
    y, z = q.empty(4, int), q.empty(4, int)
    got = k(x, y, z)
    assert got[0] is y
    assert got[1] is z
    assert z.tolist() == [0, -1, -2, -3]


@pytest.mark.parametrize(
    ("keywords", "expected"),
    [({"no_return": True}, type(None)), ({"return_tuple": True}, tuple)],
)
def test_what_is_returned(q, keywords, expected):
    k = q.ElementwiseKernel("T x", "T y", "y = x", **keywords)
    assert type(k(q.arange(3))) is expected


def test_raw_and_size(q):
    k = q.ElementwiseKernel("raw T x", "T y", "y = x[_ind.size() - i - 1]", "reverse")
    y = q.empty(4, np.int32)
    k(q.asarray(np.arange(4, dtype=np.int32)), y)
    assert y.tolist() == [3, 2, 1, 0]
    n = q.ElementwiseKernel("raw T x", "raw T y", "y[i] = x[i] + 1")
    z = q.zeros(5, np.int32)
    n(q.arange(5, dtype=np.int32), z, size=3)
    assert z.tolist() == [1, 2, 3, 0, 0]


def test_reduction(q):
    k = q.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
    x = np.arange(12, dtype=np.float64).reshape(3, 4)
    np.testing.assert_allclose(k(x), np.linalg.norm(x))
    np.testing.assert_allclose(k(x, axis=1), np.linalg.norm(x, axis=1))
    np.testing.assert_allclose(k(x, axis=(0, 1), keepdims=True), np.linalg.norm(x, keepdims=True))
    out = np.empty(4)
    assert k(x, out=out, axis=0) is out
    np.testing.assert_allclose(out, np.linalg.norm(x, axis=0))


def test_identity_may_be_a_number_or_none(q):
    top = q.ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", None)
    assert top(q.arange(5)).item() == 4
    total = q.ReductionKernel("T x", "T y", "x", "a + b", "y = a", 100)
    assert total(q.arange(5)).item() == 110


def test_scan(q):
    k = q.ScanKernel("T x", "T y", "x", "a + b", "y = a", "0")
    x = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(k(x, axis=1), np.cumsum(x, axis=1))
    before = q.ScanKernel("T x", "T y", "x", "a + b", "y = a", "0", exclusive=True)
    assert before(q.arange(4)).tolist() == [0, 0, 1, 3]


def test_attributes(q):
    k = q.ElementwiseKernel(
        "T x, raw T w", "T y", "y = x", "named", preamble="// a", options=("-DN=1",)
    )
    assert (k.name, k.nin, k.nout, k.nargs) == ("named", 2, 1, 3)
    assert k.operation == "y = x"
    assert k.options == ("-DN=1",)
    r = q.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0")
    assert (r.map_expr, r.reduce_expr, r.post_map_expr, r.identity) == ("x", "a + b", "y = a", "0")


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda q, k: k(q.arange(3)), TypeError, "takes 2 inputs"),
        (lambda q, k: k(q.arange(3), q.arange(4)), ValueError, "broadcast"),
        (
            lambda q, k: k(q.arange(3), "text"),
            TypeError,
            r"argument 2 \(str\) is neither an array nor",
        ),
        (lambda q, k: k(q.arange(3), 1, axis=0), TypeError, "unexpected keyword argument 'axis'"),
        (lambda q, k: k(q.arange(3, dtype=np.int8), 1000), OverflowError, "1000"),
        (lambda q, k: k(q.arange(3.0), q.arange(3)), TypeError, "T"),
    ],
)
def test_refusals(q, call, error, says):
    k = q.ElementwiseKernel("T x, T y", "T z", "z = x + y", "add")
    with pytest.raises(error, match=says):
        call(q, k)


def test_an_error_shows_its_place(q):
    with pytest.raises(q.SignatureError, match="in, line 1") as info:
        q.ElementwiseKernel("T x, int33 y", "T z", "z = x")
    assert info.value.text_name == "in"
    assert isinstance(info.value, ValueError)
    with pytest.raises(q.CompileError) as info:
        q.ElementwiseKernel("T x", "T z", "z = sqroot(x)")(q.arange(3.0))
    begin, end = info.value.span
    assert info.value.text[begin:end] == "sqroot"
    assert "sqroot" in info.value.source


@pytest.mark.on_soft
def test_an_access_error_is_named(q):
    k = q.ElementwiseKernel("raw T x", "T y", "y = x[i + 100]")
    with pytest.raises(q.AccessError, match="x"):
        k(q.arange(4), q.empty(4, int))


@pytest.mark.on_soft
@pytest.mark.skipif(not getattr(sys, "_is_gil_enabled", lambda: True)(), reason="there is no GIL")
def test_threads_run_while_a_call_lasts(q):
    """The GIL is let go for what may last, and for nothing else: threads do not take turns here.

    A thread that waits for the GIL may wake too late for a short call, so that gets many tries.
    """
    double = q.ElementwiseKernel("T x", "T y", "y = x + x", "double")
    new = (q.ElementwiseKernel("T x", "T y", f"y = x + x * {k}", "new") for k in itertools.count())
    rounds, stop = 0, False

    def run():
        nonlocal rounds
        while not stop:
            rounds += 1
            time.sleep(0)

    def passed(call, *args):
        before = rounds
        return any(call(*args) is not None and rounds > before for _ in range(1000))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    thread = threading.Thread(target=run)
    try:
        thread.start()
        for make in (q.zeros, np.zeros):
            x, one, none = make(200000), make(1), make(0)
            assert passed(lambda x=one: next(new)(x, x)), "it compiles"
            assert passed(double, x, x), "it is launched"
            assert passed(double, x), "it allocates, and is launched"
            double(none, none)
            assert not passed(double, none, none), "it has nothing to do"
        wrong = q.ElementwiseKernel("T x", "T y", "y = nothing", "wrong")
        with pytest.raises(q.CompileError):
            wrong(x, x)
        with pytest.raises(q.Error):
            double(q.zeros(2), q.zeros(3))
    finally:
        stop = True
        thread.join()
        sys.setswitchinterval(interval)


def test_plain_calls(q):
    """Our own arrays and nothing else go a way of their own: it says what the other one says."""
    add = q.ElementwiseKernel("T x, T y", "T z", "z = x + y", "add")
    x, y, z = q.arange(3.0), q.ones(3), q.empty(3)
    assert add(x, y, z) is z and z.tolist() == [1, 2, 3]
    assert add(x, y, x) is x and x.tolist() == [1, 2, 3]
    assert add(x, y, z, size=-1) is z and z.tolist() == [2, 3, 4]
    for wrong in (q.empty(4), q.empty(3, "float32"), q.ones(3).as_read_only()):
        said = []
        for keywords in ({}, {"size": -1}):
            with pytest.raises((q.Error, ValueError)) as error:
                add(x, y, wrong, **keywords)
            said.append((type(error.value), str(error.value)))
        assert said[0] == said[1]
    with q.Stream() as stream:
        add(y, y, z)
        assert z.get(stream).tolist() == [2, 2, 2]
    nothing = q.ElementwiseKernel("T x", "T y", "y = x", no_return=True)
    assert nothing(y, z) is None and z.tolist() == [1, 1, 1]
    listed = q.ElementwiseKernel("T x", "T y", "y = x + x", return_tuple=True)
    assert listed(y, z) == (z,) and z.tolist() == [2, 2, 2]
    total = q.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0")
    one = q.empty(())
    assert total(y, one) is one and one.item() == 3
