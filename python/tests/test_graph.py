# SPDX-License-Identifier: MIT
#
# Graphs of what a stream recorded: CuPy's manners, what a graph keeps, and every refusal. In:
# kernels. Out: launches. The thing to know: nothing is done while a stream records.
"""Graphs."""

import gc
import sys

import pytest

import pyquern as cp


@pytest.fixture(scope="module")
def double():
    return cp.ElementwiseKernel("float32 x", "float32 y", "y = 2 * x", "twice")


def test_a_graph(double):
    x, y = cp.ones(3, "float32"), cp.zeros(3, "float32")
    double(x)
    cp.synchronize()
    stream = cp.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        assert stream.is_capturing()
        double(x, y)
        double(y, y)
        graph = stream.end_capture()
    assert not stream.is_capturing()
    assert y.tolist() == [0] * 3
    graph.launch(stream=stream)
    stream.synchronize()
    assert y.tolist() == [4] * 3
    x.fill(5)
    cp.synchronize()
    with cp.Stream():
        graph.launch()
        assert y.tolist() == [20] * 3
    graph.launch(None)


def test_graph_as_a_block(double):
    x = cp.ones(3, "float32")
    double(x)
    before = cp.get_current_stream()
    with cp.graph() as g:
        y = double(x)
        with pytest.raises(RuntimeError, match="still being recorded"):
            g.launch()
    assert cp.get_current_stream() == before
    g.launch()
    assert y.tolist() == [2] * 3
    stream = cp.Stream(non_blocking=True)
    with cp.graph(stream) as g:
        assert cp.get_current_stream() is stream
        double(x, y)
    x.fill(4)
    cp.synchronize()
    g.launch(stream)
    stream.synchronize()
    assert y.tolist() == [8] * 3


def test_a_graph_keeps_what_it_uses(double):
    x, seen = cp.ones(3, "float32"), []
    double(x)
    argument = object()
    before = sys.getrefcount(argument)
    with cp.graph() as g:
        y = double(x)
        g._stream.launch_host_func(lambda arg: seen.append(1), argument)
    del x
    gc.collect()
    g.launch()
    g.launch()
    cp.synchronize()
    assert y.tolist() == [2] * 3 and seen == [1, 1]
    assert sys.getrefcount(argument) == before + 1
    del g
    gc.collect()
    assert sys.getrefcount(argument) == before


def test_refused_captures():
    stream = cp.Stream(non_blocking=True)
    with pytest.raises(RuntimeError, match=r"begin_capture\(\)"):
        stream.end_capture()
    with pytest.raises(cp.InvalidArgumentError, match="default stream"):
        cp.get_current_stream().begin_capture()
    stream.begin_capture()
    with pytest.raises(cp.InvalidArgumentError, match="captur"):
        stream.begin_capture()
    with pytest.raises(cp.InvalidArgumentError, match="captur"):
        stream.synchronize()
    with pytest.raises(cp.InvalidArgumentError, match="captur"):
        cp.ones(3).get(stream)
    stream.end_capture()
    with pytest.raises(TypeError):
        cp.Graph()


def test_a_capture_that_nobody_ends():
    stream = cp.Stream(non_blocking=True)
    stream.begin_capture()
    del stream
    gc.collect()
    with cp.graph() as g:
        pass
    g.launch()
    cp.synchronize()
