# SPDX-License-Identifier: MIT
#
# Arrays: making, slicing, copying, operators, beside NumPy's answers.
import itertools

import numpy as np
import pytest

DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
    "float16 float32 float64 complex64 complex128"
).split()


@pytest.mark.parametrize("dtype", DTYPES)
def test_there_and_back(q, dtype):
    x = np.arange(12).reshape(3, 4).astype(dtype)
    a = q.array(x)
    assert a.dtype == x.dtype
    np.testing.assert_array_equal(a.get(), x)
    if q.Device().is_gpu:
        with pytest.raises(TypeError, match="on a GPU"):
            np.asarray(a)
        return
    np.testing.assert_array_equal(np.asarray(a), x)
    np.testing.assert_array_equal(np.from_dlpack(a), x)


INDEXES = [
    np.s_[1],
    np.s_[-1],
    np.s_[1:],
    np.s_[::-1],
    np.s_[:, 1],
    np.s_[..., 1],
    np.s_[1:, ::2],
    np.s_[None, :, 1],
    np.s_[:, None, ::-2],
    np.s_[..., None],
    np.s_[2:1],
    np.s_[1, 2],
    np.s_[...],
    np.s_[()],
    np.s_[-100:100],
    np.s_[None, ..., None],
]


@pytest.mark.parametrize("index", INDEXES, ids=str)
def test_slices(q, index):
    x = np.arange(12.0).reshape(3, 4)
    got = q.array(x)[index]
    assert got.shape == x[index].shape
    np.testing.assert_array_equal(got.get(), x[index])


@pytest.mark.parametrize("index", INDEXES, ids=str)
def test_assigned_slices(q, index):
    x, a = np.arange(12.0).reshape(3, 4), q.array(np.arange(12.0).reshape(3, 4))
    x[index] = 7
    a[index] = 7
    np.testing.assert_array_equal(a.get(), x)
    values = np.random.default_rng(0).random(x[index].shape)
    x[index] = values
    a[index] = values
    np.testing.assert_array_equal(a.get(), x)


@pytest.mark.parametrize(
    ("index", "says"),
    [(5, "out of bounds"), ((1, 1, 1), "too many"), ([0, 1], "gather"), (True, "gather")],
)
def test_indexes_that_are_refused(q, index, says):
    with pytest.raises(IndexError, match=says):
        q.zeros((3, 4))[index]


def test_shapes(q):
    a = q.arange(12.0)
    assert a.reshape(3, 4).shape == (3, 4)
    assert a.reshape((2, -1)).shape == (2, 6)
    assert (
        a.reshape(3, 4).T.reshape(12).tolist() == np.arange(12.0).reshape(3, 4).T.ravel().tolist()
    )
    assert a.reshape(3, 4).transpose(1, 0).shape == (4, 3)
    with pytest.raises(ValueError, match="12"):
        a.reshape(5, 5)


LAYOUTS = {
    "C": lambda x: x,
    "Fortran": lambda x: x.T,
    "axes in another order": lambda x: x.transpose(1, 0, 2),
    "gaps": lambda x: x[:, ::2],
    "backwards": lambda x: x[::-1, 1:],
    "one number": lambda x: x[1, 2, 3],
    "no elements": lambda x: x[:, :0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_orders(q, order, layout):
    """Where elements lie after astype() and reshape(), as NumPy has them."""
    x = np.arange(60, dtype="int32").reshape(3, 4, 5)
    a, x = LAYOUTS[layout](q.array(x)), LAYOUTS[layout](x)
    for got, want in (
        (a.astype("float64", order), x.astype("float64", order)),
        (a.astype("int32", order), x.astype("int32", order)),
        (a.astype("int32", order=order, copy=False), x.astype("int32", order, copy=False)),
    ):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got.get(), want)
        assert got.flags["C_CONTIGUOUS"] == want.flags["C_CONTIGUOUS"]
        assert got.flags.f_contiguous == want.flags.f_contiguous
    if order != "K":
        for shape in ((-1,), (x.size, 1), (1, *x.shape)):
            got, want = a.reshape(shape, order=order), x.reshape(shape, order=order)
            np.testing.assert_array_equal(got.get(), want)


def test_views_and_copies(q):
    a = q.arange(12.0)
    assert a.astype(float, copy=False) is a and a.astype(float).pointer != a.pointer
    assert a.reshape(3, 4, copy=False).pointer == a.reshape(3, 4).pointer == a.pointer
    assert a.reshape(3, 4, copy=True).pointer != a.pointer
    with pytest.raises(ValueError, match="needs a copy, and copy is False"):
        a.reshape(3, 4).T.reshape(12, copy=False)
    assert q.from_dlpack(a).pointer == q.from_dlpack(a, copy=False).pointer == a.pointer
    assert q.from_dlpack(a, copy=True).pointer != a.pointer
    assert q.from_dlpack(a, device=a.device).pointer == a.pointer
    for call, kind, says in (
        (lambda: a.astype("int32", casting="safe"), TypeError, "float64 to int32 is no cast of"),
        (lambda: a.astype("int32", "X"), ValueError, "order is 'X': it must be 'C', 'F', 'A' or"),
        (lambda: a.reshape(3, 4, order="K"), ValueError, "order is 'K': it must be"),
        (lambda: a.flags["CONTIGUOUS"], KeyError, "CONTIGUOUS"),
    ):
        with pytest.raises(kind, match=says):
            call()
    assert a.astype("float32", casting="same_kind").dtype == "float32"


def test_devices(q):
    a = q.ones(3)
    assert a.device.id == a.device_id == q.Device().id
    with q.Device("soft:1") as other:
        there = q.ones(3)
    if there.device_id != a.device_id:
        assert q.from_dlpack(a, device=other).device_id == other.id == there.device.id
        with pytest.raises(ValueError, match="to soft:1 needs a copy, and copy is False"):
            q.from_dlpack(a, device="soft:1", copy=False)


NUMBERS = ["int8", "int32", "uint8", "float16", "float32", "float64", "complex64"]
OPERATORS = ["__add__", "__sub__", "__mul__", "__truediv__", "__eq__", "__ne__"]


@pytest.mark.parametrize(("left", "right"), list(itertools.product(NUMBERS, NUMBERS)))
def test_operators(q, left, right):
    x = np.arange(1, 7).astype(left).reshape(2, 3)
    y = np.arange(2, 5).astype(right)
    for name in OPERATORS:
        expected = getattr(x, name)(y)
        got = getattr(q.array(x), name)(q.array(y))
        assert got.dtype == expected.dtype, name
        np.testing.assert_allclose(got.get(), expected, rtol=1e-3 if "16" in left + right else 1e-6)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_operators_with_numbers(q, dtype):
    x = np.arange(1, 7).astype(dtype)
    for got, expected in [
        (q.array(x) + 1, x + 1),
        (2 - q.array(x), 2 - x),
        (q.array(x) * 0.5, x * 0.5),
        (1 / q.array(x), 1 / x),
        (q.array(x) == 3, x == 3),
    ]:
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got.get(), expected, rtol=1e-3)


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1)])
@pytest.mark.parametrize("name", ["sum", "prod", "min", "max"])
def test_sums(q, name, axis):
    x = np.arange(1, 13, dtype=np.int32).reshape(3, 4)
    got, expected = getattr(q.array(x), name)(axis=axis), getattr(x, name)(axis=axis)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got.get(), expected)


def test_numbers_and_text(q):
    a = q.array([[1.5, 2.5]])
    assert float(a[0, 1]) == 2.5
    assert a.tolist() == [[1.5, 2.5]]
    assert repr(a) == "array([[1.5, 2.5]])"
    assert len(q.zeros((3, 2))) == 3
    with pytest.raises(TypeError, match="2 elements"):
        float(a)


def test_read_only(q):
    a = q.arange(3).as_read_only()
    with pytest.raises(ValueError, match="read-only"):
        a[0] = 1
    if not q.Device().is_gpu:
        assert memoryview(a).readonly
