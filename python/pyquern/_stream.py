# SPDX-License-Identifier: MIT
#
# Streams, with CuPy's names: our own and those of other libraries, the one that a thread works on,
# and graphs of what a stream recorded. In: nothing, handles, objects with __cuda_stream__. Out:
# streams. The thing to know: a thread has a current stream for each device, which is CUDA's legacy
# default stream until it chooses one; kernels, copies and launches go there unless they are given
# another one.
"""Streams, and the one that this thread works on."""

from _thread import _local  # threading.local, without the rest of it

from . import _core
from ._device import Device

Event = _core.Event
Graph = _core.Graph
get_elapsed_time = _core.get_elapsed_time


class _Here(_local):
    """Of one thread: its current streams by device, and those that `with` will bring back."""

    def __init__(self):
        self.current = {}
        self.before = []


_here = _Here()


def _make_current(place, stream):
    if stream is None:
        _core.stream_default(place)
        _here.current.pop(place, None)
    else:
        stream._use()
        _here.current[place] = stream


class _Default:
    """One of CUDA's default streams, as `Stream.null`: of the device that the thread works on."""

    def __init__(self, handle):
        self.handle = handle

    def __get__(self, instance, owner):
        return Stream._wrap(self.handle)


class Stream(_core.Stream):
    """A queue of work of the thread's device, done in order.

    `null` is CUDA's legacy default stream, `ptds` that of the thread; else the stream is new. A
    `non_blocking` one keeps no order with the legacy default stream. The lower the `priority`, the
    more urgent.

    >>> with Stream() as stream:
    ...     pass  # kernels that are called here are queued on it
    >>> stream.synchronize()
    """

    __slots__ = ("__weakref__",)

    null = _Default(0)
    ptds = _Default(2)

    def __new__(cls, null=False, non_blocking=False, ptds=False, priority=None):
        if null and ptds:
            raise ValueError("a stream is null or ptds, not both")
        if null or ptds:
            return cls._wrap(0 if null else 2)
        return super().__new__(cls, "new", None, non_blocking, priority or 0)

    @classmethod
    def _wrap(cls, foreign):
        return _core.Stream.__new__(cls, "wrap", foreign)

    @classmethod
    def _usual(cls):
        return _core.Stream.__new__(cls, "usual")

    @classmethod
    def from_external(cls, obj):
        """The stream of another library: an object with ``__cuda_stream__``, which is kept."""
        if not hasattr(obj, "__cuda_stream__"):
            raise TypeError(f"{type(obj)} has no __cuda_stream__: give ExternalStream() its handle")
        return Stream._wrap(obj)

    @property
    def device(self):
        """The device that it was made on."""
        return Device._at(self._place)

    @property
    def device_id(self):
        """The number of the GPU that it was made on; -1 on the software device."""
        return self.device.number

    def use(self):
        """From now on this thread's work on the stream's device is queued on it."""
        _make_current(self._place, self)
        return self

    def __enter__(self):
        _here.before.append((self._place, _here.current.get(self._place)))
        _make_current(self._place, self)
        return self

    def __exit__(self, *unused):
        _make_current(*_here.before.pop())

    def record(self, event=None):
        """Mark this point of the stream: in `event`, or in a new one, which is returned."""
        if event is None:
            with self.device:
                event = Event()
        event.record(self)
        return event

    def wait_event(self, event):
        """What is queued from now on waits for the mark; nothing waits here."""
        event._let_wait(self)

    def add_callback(self, callback, arg):
        """Call ``callback(stream, 0, arg)`` when all that is queued is done."""
        self.launch_host_func(lambda arg: callback(self, 0, arg), arg)

    def is_capturing(self):
        """Whether begin_capture() was called and end_capture() was not."""
        return self._captures

    def __cuda_stream__(self):
        return (0, self.ptr)

    def __eq__(self, other):
        if not isinstance(other, _core.Stream):
            return NotImplemented
        return (self._place, self.ptr) == (other._place, other.ptr)

    def __hash__(self):
        return hash((self._place, self.ptr))

    def __repr__(self):
        return f"<{type(self).__name__} {self.ptr:#x} of {self.device.id}>"


class ExternalStream(Stream):
    """The stream of another library, by its handle, which must outlive this object."""

    __slots__ = ()

    def __new__(cls, ptr, device_id=-1):
        if not isinstance(ptr, int):
            raise TypeError(f"ptr is {type(ptr)}: the handle as an int was expected")
        if device_id < 0:
            return cls._wrap(ptr)
        with Device(device_id):
            return cls._wrap(ptr)


def get_current_stream(device_id=-1):
    """The stream that this thread works on: of its device, or of GPU `device_id`. Where none was
    chosen it is CUDA's legacy default stream, `Stream.null`."""
    with Device(device_id if device_id >= 0 else None) as device:
        return _here.current.get(device._place) or Stream._usual()


class graph:
    """Record what is queued in the block, to be done again and again at the price of one launch.

    The work goes to a new stream, which is current in the block, or to `stream`. Nothing of it is
    done before the first launch.

    >>> import pyquern
    >>> double = pyquern.ElementwiseKernel("float32 x", "float32 y", "y = 2 * x")
    >>> x = pyquern.ones(3, "float32")
    >>> with graph() as recorded:
    ...     y = double(x)
    >>> recorded.launch()
    >>> y.get()
    array([2., 2., 2.], dtype=float32)
    """

    def __init__(self, stream=None):
        self._stream = stream
        self._graph = None

    def __enter__(self):
        if self._stream is None:
            self._stream = Stream(non_blocking=True)
        self._stream.begin_capture()
        self._stream.__enter__()
        return self

    def __exit__(self, *unused):
        self._stream.__exit__()
        self._graph = self._stream.end_capture()

    def launch(self, stream=None):
        """Queue all of it, on the current stream if none is given."""
        if self._graph is None:
            raise RuntimeError("the graph is still being recorded: launch it after the block")
        self._graph.launch(stream)
