# SPDX-License-Identifier: MIT
#
# Tuning: tune=True in calls, and what a kernel's tune() measures. In: kernels, arrays of NumPy and
# our own. Out: the same values as without it, settings, and what is refused.
import numpy as np
import pytest


@pytest.fixture
def product(q, request):
    """A kernel that no other test has tuned."""
    return q.ElementwiseKernel("T x, T y", "T z", "z = x * y", request.node.name)


def test_what_was_measured(q, product):
    x = np.arange(600.0).reshape(20, 30)
    assert product.explain(x, x, tune=True).tuned == "by rule, nothing was measured yet"
    assert product.explain(x, x).tuned == ""
    tuning = product.tune(x, x + 1, tune=200)
    assert isinstance(tuning, q.Tuning)
    assert tuning.about == "3 operands of 2^9, float64"
    settings = dict(tuning.trials)
    assert tuning.trials[0] == ("", tuning.rule_us) and len(settings) == len(tuning.trials) > 1
    assert settings[tuning.setting] == tuning.us <= tuning.rule_us
    assert tuning.complete in (True, False)
    assert str(tuning) == tuning.text and tuning.text.count("tried:") == len(tuning.trials)
    assert repr(tuning) == f"<Tuning: {tuning.about}; {tuning.setting or 'by rule'}>"
    assert product.explain(x, x, tune=True).tuned.endswith("measured before")
    with pytest.raises(TypeError, match="cannot create 'pyquern.Tuning' instances"):
        type(tuning)()


def test_no_argument_changes(q):
    """The kernel runs many times, and on copies of the outputs that are given."""
    add = q.ElementwiseKernel("T x", "T y", "y += x", "add_for_tuning")
    for x, y in ((np.ones(50), np.arange(50.0)), (q.ones(50), q.arange(50.0))):
        add.tune(x, y, tune=50)
        assert y.tolist() == list(range(50))
        assert add(x, y, tune=50) is y
        assert y.tolist() == list(range(1, 51))
    total = q.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total_for_tuning")
    out = np.full(4, 7)
    assert total.tune(np.ones((4, 5), int), out=out, axis=1, tune=50).setting is not None
    assert out.tolist() == [7] * 4


def test_calls_that_measure(q, product):
    x = np.arange(12.0).reshape(3, 4)
    got = product(x, x, tune=20)
    assert isinstance(got, np.ndarray)
    np.testing.assert_array_equal(got, x * x)
    assert product.explain(x, x, tune=True).tuned.endswith("measured before")
    bound = product.bind(q.asarray(x), q.asarray(x), tune=True)
    bound.launch()
    np.testing.assert_array_equal(bound.outputs[0].get(), x * x)
    assert product.prepare(x, x, tune=True) is product
    total = q.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0")
    assert total(x, axis=1, tune=20).tolist() == x.sum(1).tolist()
    assert product(np.ones(0), 1.0, tune=True).shape == (0,)


def test_streams(q, product):
    with q.Stream(non_blocking=True) as stream:
        x = q.ones(100)
        assert product.tune(x, x, tune=20).trials
        assert product(x, x, tune=True, stream=stream).get(stream).sum() == 100


def test_what_is_refused(q, product):
    x = np.ones(3)
    total = q.ScanKernel("T x", "T y", "x", "a + b", "y = a", "0")
    with pytest.raises(TypeError, match="'tune'; it takes out, axis, stream"):
        total(x, tune=True)
    assert not hasattr(total, "tune")
    for wrong, kind, says in (
        ({"tune": 0}, ValueError, "tune is 0: it is at least 1"),
        ({"tune": 1 << 32}, ValueError, "at most 4294967295"),
        ({"tune": 1.5}, TypeError, "tune is an int, not 1.5"),
        ({"tune": x}, TypeError, "only integer scalar arrays"),
        ({"tuned": True}, TypeError, "did you mean 'tune'"),
    ):
        with pytest.raises(kind, match=says):
            product(x, x, **wrong)
        with pytest.raises(kind, match=says):
            product.tune(x, x, **wrong)
    np.testing.assert_array_equal(product(x, x, tune=False), product(x, x, tune=None))
    with pytest.raises(TypeError, match="takes 2 inputs"):
        product.tune(x)
    with pytest.raises(q.ShapeError):
        product.tune(x, np.ones(4))
    with pytest.raises(q.CompileError):
        q.ElementwiseKernel("T x", "T y", "y = u").tune(x)
