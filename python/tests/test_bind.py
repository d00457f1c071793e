# SPDX-License-Identifier: MIT
#
# bind(), prepare(), explain() and cached_code of kernels; with every refusal. In: kernels of each
# kind. Out: launches. The thing to know: a bound call keeps its arrays, and does what the call did
# when it was bound, on the stream that it was bound to.
"""Bound calls, and calls that are only spoken of."""

import gc
import sys
import threading

import numpy as np
import pytest

import pyquern as cp


@pytest.fixture(scope="module")
def axpy():
    return cp.ElementwiseKernel("T a, T x, T y", "T z", "z = a * x + y", "axpy")


def test_binding(axpy):
    x, y = cp.arange(4, dtype="float32"), cp.ones(4, "float32")
    bound = axpy.bind(2.0, x, y)
    assert isinstance(bound, cp.Bound) and bound.kernel is axpy
    (z,) = bound.outputs
    z.fill(0)
    assert bound.launch() is None
    assert z.tolist() == [1, 3, 5, 7]
    assert bound() is z
    x.fill(10)
    assert bound().tolist() == [21] * 4


def test_binding_outputs_that_are_given(axpy):
    x, z = cp.ones(4), cp.zeros(4)
    bound = axpy.bind(3.0, x, x, z)
    assert bound() is z and z.tolist() == [4] * 4
    total = cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0")
    out = cp.zeros(2)
    bound = total.bind(cp.ones((2, 3)), axis=1, out=out)
    bound.launch()
    assert out.tolist() == [3, 3]
    bound = total.bind(cp.ones((2, 3)), axis=0, keepdims=True)
    assert bound().shape == (1, 3)
    scan = cp.ScanKernel("T x", "T y", "x", "a + b", "y = a")
    assert scan.bind(cp.ones(3))().tolist() == [1, 2, 3]


def test_several_outputs():
    k = cp.ElementwiseKernel("T x", "T y, T z", "y = x; z = -x")
    bound = k.bind(cp.ones(2))
    y, z = bound()
    assert (y.tolist(), z.tolist()) == ([1, 1], [-1, -1]) and bound.outputs == (y, z)
    other = cp.zeros(2)
    bound["z"] = other
    assert bound()[1] is other and other.tolist() == [-1, -1]
    k = cp.ElementwiseKernel("T x", "T y", "y = x", no_return=True)
    y = cp.zeros(2)
    bound = k.bind(cp.ones(2), y)
    assert bound() is None and y.tolist() == [1, 1]
    bound[1] = other
    assert bound() is None and other.tolist() == [1, 1]
    k = cp.ElementwiseKernel("T x", "T y", "y = x", return_tuple=True)
    assert isinstance(k.bind(y)(), tuple)


def test_other_arguments(axpy):
    x, y = cp.ones(4), cp.ones(4)
    bound = axpy.bind(2.0, x, y)
    bound[0] = 5
    assert bound().tolist() == [6] * 4
    bound.set("x", cp.full(4, 3.0))
    assert bound().tolist() == [16] * 4
    assert bound["x"].tolist() == [3] * 4 and bound[0] == 5
    z = cp.zeros(4)
    bound[-1] = z
    assert bound() is z and bound.outputs == (z,)
    if not cp.Device().is_gpu:  # whose kernels do not reach NumPy's arrays
        bound["y"] = np.full(4, 7.0)
        assert bound().tolist() == [22] * 4


@pytest.mark.parametrize(
    "key, value, kind, message",
    [
        (4, 1, IndexError, "there is no argument 4: the call has 4"),
        (-5, 1, IndexError, "there is no argument -5"),
        (1 << 80, 1, IndexError, "fit"),
        ("w", 1, KeyError, "the kernel has no parameter 'w'"),
        (1.5, 1, KeyError, "no parameter 1.5"),
        ("x", "text", TypeError, "neither an array nor one number"),
        ("x", [1], TypeError, "neither an array nor one number"),
        ("x", cp.ones(5), cp.ShapeError, "5"),
        ("x", cp.ones((4, 2))[:, 0], cp.ShapeError, "strides"),
        ("x", cp.ones(4, "float32"), cp.ShapeError, "bound with dtype float64"),
        ("x", 3.0, cp.TypeMismatchError, "argument 1 was bound as an array"),
        ("a", cp.ones(4), cp.TypeMismatchError, "argument 0 was bound as a number"),
    ],
)
def test_refused_arguments(axpy, key, value, kind, message):
    bound = axpy.bind(2.0, cp.ones(4), cp.ones(4))
    with pytest.raises(kind, match=message):
        bound[key] = value
    assert bound().tolist() == [3] * 4


def test_refused_ways(axpy):
    bound = axpy.bind(2.0, cp.ones(4), cp.ones(4))
    with pytest.raises(TypeError, match="a bound call takes no arguments"):
        bound(1)
    with pytest.raises(TypeError, match="a bound call takes no arguments"):
        bound(stream=None)
    with pytest.raises(TypeError, match="replaced, and not deleted"):
        del bound[0]
    with pytest.raises(TypeError):
        cp.Bound()
    with pytest.raises(TypeError):
        bound.set(1)
    with cp.Device("soft:1"):
        elsewhere = cp.ones(4)
    with pytest.raises(ValueError, match="is on soft:1"):
        bound["x"] = elsewhere


@pytest.mark.parametrize("way", ["bind", "explain", "prepare"])
def test_refused_calls(axpy, way):
    with pytest.raises(TypeError, match="axpy.. takes 3 inputs"):
        getattr(axpy, way)(1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'axis'"):
        getattr(axpy, way)(1, cp.ones(3), cp.ones(3), axis=0)
    with pytest.raises(cp.ShapeError):
        getattr(axpy, way)(1, cp.ones(3), cp.ones(4))
    broken = cp.ElementwiseKernel("T x", "T y", "y = wrong")
    with pytest.raises(cp.CompileError, match="wrong"):
        getattr(broken, way)(cp.ones(3))


@pytest.mark.on_soft
def test_binding_arrays_of_numpy(axpy):
    x = np.ones(4)
    alive = sys.getrefcount(x)
    bound = axpy.bind(2.0, x, x)
    assert type(bound()) is np.ndarray and bound().tolist() == [3] * 4
    assert sys.getrefcount(x) > alive
    x[:] = 2
    assert bound().tolist() == [6] * 4
    del bound
    gc.collect()
    assert sys.getrefcount(x) == alive


def test_a_bound_call_keeps_its_arrays(axpy):
    bound = axpy.bind(2.0, cp.ones(1000), cp.ones(1000))
    gc.collect()
    cp.zeros(1000), cp.zeros(1000)
    assert bound().tolist() == [3] * 1000


def test_the_stream_is_that_of_binding(axpy):
    x, z = cp.ones(4), cp.zeros(4)
    stream = cp.Stream(non_blocking=True)
    for bound in (axpy.bind(2.0, x, x, z, stream=stream), bind_within(stream, axpy, x, z)):
        z.fill(0)
        cp.synchronize()
        stream.begin_capture()
        bound.launch()
        graph = stream.end_capture()
        assert z.tolist() == [0] * 4
        graph.launch()
        cp.synchronize()
        assert z.tolist() == [3] * 4


def bind_within(stream, kernel, x, z):
    with stream:
        return kernel.bind(2.0, x, x, z)


def test_threads(axpy):
    bound = axpy.bind(1.0, cp.ones(64), cp.ones(64))

    def work():
        for _ in range(200):
            bound.launch()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert bound.outputs[0].tolist() == [2] * 64


# ---- explaining


def test_explaining(axpy):
    x = cp.ones(1000, "float32")
    e = axpy.explain(2.0, x, x)
    assert isinstance(e, cp.Explanation)
    assert e.types == "T=float32" and e.elements == 1000
    assert "axpy" in e.source and len(e.key) == 32
    assert e.origin in ("memory", "cache", "compiled") and e.target
    assert e.grid[1:] == (1, 1) and e.block[0] >= 32
    assert (e.registers, e.shared_bytes, e.local_bytes, e.blocks_per_processor) >= (0, 0, 0, 0)
    assert str(e) == e.text and "T=float32" in str(e) and e.plan in repr(e)
    assert isinstance(e.ptx, str)
    with pytest.raises(AttributeError):
        e.types = 3
    with pytest.raises(TypeError):
        cp.Explanation()
    if not cp.Device().is_gpu:
        assert axpy.explain(2.0, np.ones(3), np.ones(3)).types == "T=float64"


def test_explaining_launches_nothing(axpy):
    x, z = cp.ones(4), cp.zeros(4)
    axpy.explain(2.0, x, x, z)
    assert axpy.prepare(2.0, x, x, z) is axpy
    assert z.tolist() == [0] * 4
    before = cp.memory_stats().used
    axpy.prepare(2.0, x, x)
    assert cp.memory_stats().used == before


def test_sources_that_were_compiled():
    k = cp.ElementwiseKernel("T x", "T y", "y = x * 3")
    assert k.cached_codes == {}
    with pytest.raises(RuntimeError, match="nothing was compiled for this kernel yet"):
        _ = k.cached_code
    k.prepare(cp.ones(3, "float32"))
    assert "x * 3" in k.cached_code and list(k.cached_codes.values()) == [k.cached_code]
    first = k.cached_code
    k(cp.ones(3, "int32"))
    assert list(k.cached_codes.values()) == [k.cached_code, first] and k.cached_code != first
    total = cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0")
    total(cp.ones(3))
    assert "a + b" in total.cached_code
