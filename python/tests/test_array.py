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
