# SPDX-License-Identifier: MIT
#
# Streams and events: CuPy's manners, the current stream of each thread and device, streams
# of other libraries, and every refusal. In: kernels. Out: what was queued where. The thing to know:
# on the software device work is done when it is queued, so it shows which stream a launch went to
# by a capture, which records that stream's work alone.
"""Streams and events."""

import gc
import inspect
import sys
import threading
import weakref

import numpy as np
import pytest

import pyquern as cp


@pytest.fixture(scope="module")
def double():
    return cp.ElementwiseKernel("float32 x", "float32 y", "y = 2 * x", "twice")


class Foreign:
    """A stream of another library."""

    def __init__(self, handle, owner=None):
        self.handle = handle
        self.owner = owner

    def __cuda_stream__(self):
        return (0, self.handle)


def test_signatures_are_cupys():
    assert str(inspect.signature(cp.Stream.__new__)) == (
        "(cls, null=False, non_blocking=False, ptds=False, priority=None)"
    )
    assert str(inspect.signature(cp.ExternalStream.__new__)) == "(cls, ptr, device_id=-1)"
    assert cp.cuda.Stream is cp.Stream and cp.cuda.stream.Event is cp.Event


def test_a_stream(double):
    stream = cp.Stream(non_blocking=True, priority=-1)
    assert stream.device == cp.Device()
    assert stream.device_id == cp.Device().number
    assert stream.__cuda_stream__() == (0, stream.ptr)
    assert stream.is_capturing() is False
    assert stream == cp.Stream.from_external(stream) and hash(stream) == hash(stream)
    assert stream != cp.Stream() and stream != "stream"
    assert repr(stream).startswith("<Stream 0x")
    x = cp.ones(3, "float32")
    stream.wait_event(cp.get_current_stream().record())
    y = double(x, stream=stream)
    stream.synchronize()
    assert stream.done is True
    assert y.tolist() == [2] * 3


def test_default_streams():
    assert cp.Stream.null.ptr == 0 == cp.Stream(null=True).ptr
    assert cp.Stream.ptds.ptr == 2 == cp.Stream(ptds=True).ptr
    assert cp.Stream.null == cp.Stream(null=True)
    cp.Stream.null.synchronize()
    with pytest.raises(ValueError, match="null or ptds, not both"):
        cp.Stream(null=True, ptds=True)


def test_the_current_stream():
    default = cp.get_current_stream()
    assert default == cp.Stream.null
    a, b = cp.Stream(), cp.Stream()
    with a as entered:
        assert entered is a and cp.get_current_stream() is a
        with b:
            assert cp.get_current_stream() is b
        assert cp.get_current_stream() is a
        with a:
            pass
        assert cp.get_current_stream() is a
    assert cp.get_current_stream() == default
    default.synchronize()
    assert default.done


def test_the_current_stream_after_an_exception():
    before = cp.get_current_stream()
    with pytest.raises(ZeroDivisionError), cp.Stream():
        raise ZeroDivisionError
    assert cp.get_current_stream() == before


def test_use():
    a = cp.Stream()
    assert a.use() is a
    try:
        assert cp.get_current_stream() is a
        with cp.Stream():
            pass
        assert cp.get_current_stream() is a
    finally:
        cp._core.stream_default(a._place)
        cp._stream._here.current.clear()


def test_each_thread_has_its_own():
    seen = []

    def work():
        seen.append(cp.get_current_stream())
        with cp.Stream() as mine:
            seen.append(cp.get_current_stream() is mine)
        cp.Stream().use()  # what the thread's end lets go

    with cp.Stream() as ours:
        for _ in range(3):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        assert cp.get_current_stream() is ours
    assert seen[1::2] == [True] * 3
    assert all(stream != ours for stream in seen[::2])


def test_each_device_has_its_own():
    other = cp.Device("soft:1")
    with cp.Stream() as ours:
        with other:
            assert cp.get_current_stream() != ours
            with cp.Stream() as theirs:
                assert cp.get_current_stream() is theirs
        assert cp.get_current_stream() is ours


def recorded(stream, work):
    """Whether `work` went to the stream: it is recorded by a capture of it."""
    y = cp.zeros(3, "float32")
    cp.synchronize()
    stream.begin_capture()
    work(y)
    graph = stream.end_capture()
    done_at_once = y.tolist() != [0] * 3
    graph.launch()
    cp.synchronize()
    return not done_at_once and y.tolist() == [2] * 3


def test_what_goes_to_the_current_stream(double):
    x, host = cp.ones(3, "float32"), np.full(3, 2, "float32")
    two = cp.full(3, 2, "float32")
    source = 'extern "C" __global__ void two(float *y) { y[threadIdx.x] = 2; }'
    raw = cp.RawKernel(source, "two")
    raw.compile()
    double(x)
    cp.synchronize()

    def assign(y):
        y[...] = two

    works = {
        "a kernel": lambda y: double(x, y),
        "a raw kernel": lambda y: raw(1, 3, (y,)),
        "a fill": lambda y: y.fill(2),
        "an assignment": assign,
        "a copy from the host": lambda y: y._write(host, None, False),
        "memset": lambda y: y.data.copy_from_device(two.data, 12),
    }
    for name, work in works.items():
        stream = cp.Stream(non_blocking=True)
        with stream:
            assert recorded(stream, work), name
        assert not recorded(stream, work), name


def test_streams_as_words(double):
    x = cp.ones(3, "float32")
    double(x)
    source = 'extern "C" __global__ void two(float *y) { y[threadIdx.x] = 2; }'
    raw = cp.RawKernel(source, "two")
    raw.compile()
    stream = cp.Stream(non_blocking=True)
    assert recorded(stream, lambda y: double(x, y, stream=stream))
    assert recorded(stream, lambda y: raw(1, 3, (y,), stream=stream))
    other = cp.Stream(non_blocking=True)
    with other:
        assert recorded(stream, lambda y: double(x, y, stream=stream))
        assert not recorded(stream, lambda y: double(x, y))
        assert recorded(other, lambda y: double(x, y, stream=None))


def test_reductions_and_scans_take_streams():
    total = cp.ReductionKernel("float32 x", "float32 y", "x", "a + b", "y = a", "0")
    running = cp.ScanKernel("float32 x", "float32 y", "x", "a + b", "y = a")
    x = cp.ones(4, "float32")
    assert total(x, stream=cp.Stream()).item() == 4
    assert running(x, stream=cp.Stream()).tolist() == [1, 2, 3, 4]
    with cp.Stream():
        assert total(x).item() == 4
        assert running(x).tolist() == [1, 2, 3, 4]


def test_streams_of_others(double):
    mine = cp.Stream()  # its handle is one that the device takes
    x = cp.ones(3, "float32")
    theirs = Foreign(mine.ptr, mine)
    wrapped = cp.Stream.from_external(theirs)
    assert wrapped.ptr == mine.ptr and wrapped == mine
    alive = sys.getrefcount(theirs)
    del wrapped
    gc.collect()
    assert sys.getrefcount(theirs) == alive - 1
    with cp.Stream.from_external(theirs):
        assert double(x).tolist() == [2] * 3
    for stream in (theirs, mine.ptr, cp.ExternalStream(mine.ptr)):
        y = double(x, stream=stream)
        mine.synchronize()
        assert y.tolist() == [2] * 3


def test_older_streams_of_others(double):
    class Torch:
        cuda_stream = cp.Stream.null.ptr

    class CuPy:
        ptr = 0

    for stream in (Torch(), CuPy()):
        assert double(cp.ones(3, "float32"), stream=stream).tolist() == [2] * 3


def test_many_foreign_streams(double):
    mine = [cp.Stream() for _ in range(40)]
    x = cp.ones(3, "float32")
    results = [double(x, stream=Foreign(stream.ptr, stream)) for stream in mine for _ in range(2)]
    for stream in mine:
        stream.synchronize()
    assert all(y.tolist() == [2] * 3 for y in results)


def test_a_foreign_stream_is_held_by_what_uses_it(double):
    kept = cp.Stream()
    owner = Foreign(kept.ptr, kept)
    gone = weakref.ref(owner)
    y = double(cp.ones(3, "float32"), stream=owner)
    del owner, kept
    assert gone() is not None  # y's memory goes back in its order
    for _ in range(40):  # it is not among those that are remembered any more
        other = cp.Stream()
        double(cp.ones(3, "float32"), stream=Foreign(other.ptr, other))
    assert gone() is not None
    assert y.tolist() == [2] * 3
    del y
    assert gone() is None


@pytest.mark.parametrize(
    "stream, kind, message",
    [
        ("legacy", TypeError, "stream is <class 'str'>: a Stream, a handle, or an object with"),
        (1.5, TypeError, "stream is <class 'float'>"),
        (Foreign("x"), TypeError, "int"),
        (Foreign(1 << 80), OverflowError, "int"),
    ],
)
def test_refused_streams(double, stream, kind, message):
    x = cp.ones(3, "float32")
    with pytest.raises(kind, match=message):
        double(x, stream=stream)
    with pytest.raises(kind, match=message):
        cp.Event().record(stream)


def test_exceptions_of_others_come_through(double):
    class Bad:
        def __cuda_stream__(self):
            raise ZeroDivisionError("theirs")

    class Short:
        def __cuda_stream__(self):
            return ()

    with pytest.raises(ZeroDivisionError, match="theirs"):
        double(cp.ones(3, "float32"), stream=Bad())
    with pytest.raises(IndexError):
        double(cp.ones(3, "float32"), stream=Short())


def test_a_stream_of_another_device(double):
    with cp.Device("soft:1"):
        stream = cp.Stream()
    x = cp.ones(3, "float32")
    with pytest.raises(ValueError, match="the stream is of soft:1, and the work is for"):
        double(x, stream=stream)
    with pytest.raises(ValueError, match="the stream is of soft:1"):
        x.get(stream)


def test_refused_objects():
    with pytest.raises(TypeError, match="has no __cuda_stream__: give ExternalStream"):
        cp.Stream.from_external(5)
    with pytest.raises(TypeError, match="the handle as an int"):
        cp.ExternalStream("5")
    with pytest.raises(TypeError, match="wrong"):
        cp.Stream(wrong=1)


# ---- order: the software device tells what does not wait


@pytest.fixture
def checked():
    with cp.Device("soft:check=streams") as device:
        yield device


def test_streams_keep_order_with_the_default_one(checked, double):
    """As CuPy's: what is made outside of `with stream:` is there within, and the other way."""
    x = cp.ones(4, "float32")
    with cp.Stream():
        y = double(x)
        made = cp.full(4, 3, "float32")
        made[1:] = y[1:]
        copy = made.copy("F")
    assert y.tolist() == [2] * 4 and made.tolist() == copy.tolist() == [3, 2, 2, 2]
    raw = cp.RawKernel('extern "C" __global__ void k(float *x) { x[threadIdx.x] += 1; }', "k")
    raw(1, 4, (made,), stream=cp.Stream())
    assert made.sum().item() == 13
    with cp.Stream() as last:
        assert made.to("soft").tolist() == [4, 3, 3, 3]
        more = made + 1
    last.synchronize()  # `made` goes back to the first stream, which does not wait for this one
    made = more
    assert double.bind(made)().tolist() == [10, 8, 8, 8]


def test_a_missing_wait_is_told(checked, double):
    x, stream = cp.ones(4, "float32"), cp.Stream(non_blocking=True)
    with pytest.raises(cp.AccessError, match="does not wait for the write by a fill"):
        double(x, stream=stream)
    stream.wait_event(cp.get_current_stream().record())
    y = double(x, stream=stream)
    with pytest.raises(cp.AccessError, match="does not wait"):
        y.get()
    assert y.get(stream).tolist() == [2] * 4
    with stream:
        z = double(cp.full(4, 3, "float32"))
        assert z.tolist() == [6] * 4


# ---- copies on streams


def test_copies_on_streams():
    stream, x = cp.Stream(), cp.arange(6, dtype="int32").reshape(2, 3)
    assert x.get(stream).tolist() == x.tolist()
    out = np.zeros((2, 3), "int32")
    assert x.get(stream, out=out, blocking=False) is out
    stream.synchronize()
    assert out.tolist() == x.tolist()
    x.set(out + 1, stream)
    assert x.tolist() == (out + 1).tolist()
    assert x.get(order="F").flags.f_contiguous
    assert x.T.get(order="A").tolist() == x.T.tolist()
    out_f = np.zeros((2, 3), "int32", order="F")
    assert x.get(out=out_f).tolist() == x.tolist()
    gaps = np.zeros((4, 3), "int32")
    x.get(out=gaps[::2])
    assert gaps.tolist() == [[1, 2, 3], [0, 0, 0], [4, 5, 6], [0, 0, 0]]
    assert cp.asnumpy(x, stream, "C", None, blocking=True).tolist() == x.tolist()


def test_refused_copies():
    x = cp.zeros((2, 3), "int32")
    with pytest.raises(ValueError, match="out is float64 of shape"):
        x.get(out=np.zeros((2, 3)))
    with pytest.raises(ValueError, match="out must be contiguous"):
        x.get(out=np.zeros((4, 3), "int32")[::2], blocking=False)
    with pytest.raises(ValueError, match="for one of"):
        x.set(np.zeros((3, 2), "int32"))


# ---- events


def test_events(double):
    stream, x = cp.Stream(), cp.ones(3, "float32")
    begin, end = cp.Event(), cp.Event(block=True, disable_timing=False)
    assert begin.done is True
    begin.record(stream)
    double(x, stream=stream)
    assert stream.record(end) is end
    end.synchronize()
    assert begin.done and end.done
    elapsed = cp.get_elapsed_time(begin, end)
    assert isinstance(elapsed, float) and elapsed >= 0
    made = stream.record()
    assert isinstance(made, cp.Event)
    cp.Stream().wait_event(made)
    cp.get_current_stream().wait_event(made)
    with stream:
        cp.Event().record()
    cp.Event().record(None)


def test_refused_events():
    with pytest.raises(NotImplementedError, match="interprocess"):
        cp.Event(interprocess=True)
    with pytest.raises(TypeError):
        cp.get_elapsed_time(cp.Event(), 3)
    with pytest.raises(cp.InvalidArgumentError, match="recorded"):
        cp.get_elapsed_time(cp.Event(), cp.Event())
    with cp.Device("soft:1"):
        event = cp.Event()
    with pytest.raises(ValueError, match="the work is for soft:1"):
        event.record(cp.Stream())
    with pytest.raises(ValueError, match="the work is for soft:1"):
        cp.Stream().wait_event(event)


# ---- functions of the host


def test_functions_in_the_order_of_the_stream(double):
    stream, seen = cp.Stream(), []
    stream.launch_host_func(seen.append, 1)
    stream.add_callback(lambda *args: seen.append(args), 2)
    stream.synchronize()
    assert seen == [1, (stream, 0, 2)]


def test_a_function_that_fails(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: told.append(args.exc_type))
    stream = cp.Stream()
    stream.launch_host_func(lambda arg: 1 / arg, 0)
    stream.synchronize()
    assert told == [ZeroDivisionError]


def test_functions_are_let_go():
    argument = object()
    before = sys.getrefcount(argument)
    stream = cp.Stream()
    for _ in range(10):
        stream.launch_host_func(id, argument)
    stream.synchronize()
    assert sys.getrefcount(argument) == before


def test_refused_functions():
    with pytest.raises(TypeError, match="cannot be called"):
        cp.Stream().launch_host_func(3, None)


# ---- on a GPU


@pytest.mark.on_gpu
def test_a_race_that_would_show(double):
    """Work of another stream is waited for by an event, and a copy to the host by its stream."""
    slow = cp.RawKernel(
        """extern "C" __global__ void slow(float *x, long long cycles) {
        long long from = clock64(); while (clock64() - from < cycles) {} x[threadIdx.x] = 1; }""",
        "slow",
    )
    a, b = cp.Stream(non_blocking=True), cp.Stream(non_blocking=True)
    x = cp.zeros(32, "float32")
    cp.synchronize()
    slow(1, 32, (x, 1 << 27), stream=a)
    assert not a.done
    b.wait_event(a.record())
    with b:
        y = double(x)
        assert y.get().tolist() == [2] * 32
    assert a.done


@pytest.mark.on_gpu
def test_handles_on_a_gpu():
    stream = cp.Stream()
    assert stream.ptr > 2
    assert cp.get_current_stream().ptr == 0
    with stream:
        assert cp.ones(3).__cuda_array_interface__["stream"] == stream.ptr
