# SPDX-License-Identifier: MIT
#
# ndarray: our arrays with NumPy's manners, and the functions that make them. In: shapes, numbers,
# anyone's arrays. Out: arrays. The thing to know: this is no NumPy; operators and sums are kernels
# like anyone's, cached like them, and there are only enough of them to be pleasant.
"""Arrays on the device, with NumPy's manners."""

from . import _core, _operators
from ._device import Device
from ._foreign import numpy_dtype
from ._memory import pointer_to

Array = _core.Array


class Flags:
    """How an array lies: attributes, or keys as NumPy writes them (``flags["C_CONTIGUOUS"]``)."""

    __slots__ = ("c_contiguous", "f_contiguous", "owndata", "writeable")

    def __init__(self, array):
        self.c_contiguous = array.is_contiguous
        self.f_contiguous = array.T.is_contiguous
        self.owndata = array._owns
        self.writeable = not array.is_read_only

    @property
    def fnc(self):
        return self.f_contiguous and not self.c_contiguous

    @property
    def forc(self):
        return self.f_contiguous or self.c_contiguous

    def __getitem__(self, name):
        if not isinstance(name, str) or not hasattr(Flags, name.lower()):
            raise KeyError(name)
        return getattr(self, name.lower())

    def __repr__(self):
        return "\n".join(f"{name.upper()} : {self[name]}" for name in self.__slots__)


class ndarray(Array):
    """An array on a device: ``ndarray(shape, dtype=float)`` is new, its elements undefined.

    ``base`` is None where the memory is the array's own. Of a view it is the array that has the
    memory, also where it is a view of a view; of an array over memory of another library or of a
    pointer it is the object that has it.

    >>> x = ndarray((3, 4), "int32")
    >>> x.base is None, x.flags.owndata
    (True, True)
    >>> x.T[1:].base is x, x.T[1:].flags.owndata
    (True, False)

    NumPy reads memory that the host can touch where it is: all of a software device, and pinned,
    mapped and managed memory of a GPU. Other arrays have no ``__array_interface__``.

    >>> x = empty((3, 4), "int32", memory="managed")
    >>> [x.__array_interface__[k] for k in ("shape", "typestr", "strides", "version")]
    [(3, 4), '<i4', None, 3]
    """

    __slots__ = ()
    __array_priority__ = 100
    __array_ufunc__ = None
    __dlpack_c_exchange_api__ = _core.exchange_api

    def __new__(cls, shape, dtype=float, memptr=None, strides=None, order="C"):
        if order not in ("C", "F", None):
            raise TypeError(f"order is {order!r}: it must be 'C' or 'F'")
        if memptr is None:
            if strides is not None:
                raise ValueError("strides need memptr: whose memory they walk")
            if order == "F":
                return _reversed(empty(_shape(shape)[::-1], dtype))
            return empty(shape, dtype)
        if strides is None and order == "F":
            return _reversed(_core.wrap_memory(memptr, _shape(shape)[::-1], None, dtype))
        return _core.wrap_memory(memptr, shape, strides, dtype)

    @property
    def data(self):
        """A MemoryPointer to the first element."""
        return pointer_to(self)

    @property
    def dtype(self):
        """NumPy's dtype."""
        return numpy_dtype(self.dtype_name)

    @property
    def nbytes(self):
        return self.size * self.itemsize

    @property
    def device(self):
        """The Device that has the memory."""
        return Device._at(self._place)

    @property
    def flags(self):
        return Flags(self)

    @property
    def T(self):
        return self.transpose()

    def reshape(self, *shape, order="C", copy=None):
        """The elements in another shape: a view where it can be one and `copy` is not True. Where
        it cannot be one, `copy=False` raises ValueError."""
        if order not in ("C", "F", "A"):
            raise ValueError(f"order is {order!r}: it must be 'C', 'F' or 'A'")
        if order == "F" or (order == "A" and self._is_fortran()):
            extents = _shape(shape[0] if len(shape) == 1 else shape)
            made = self.T.reshape(extents[::-1], copy=copy)
            return _reversed(made) if made.base is None else made.T
        made = super().reshape(*shape)
        is_view = made.pointer == self.pointer or self.size == 0
        if copy is False and not is_view:
            raise ValueError(
                f"shape {made.shape} of these elements needs a copy, and copy is False"
            )
        return made.copy() if copy and is_view else made

    def ravel(self):
        return self.reshape(-1)

    def squeeze(self):
        return self.reshape([n for n in self.shape if n != 1])

    # ---- to the host and back

    def get(self, stream=None, order="C", out=None, blocking=True):
        """The elements as an array of NumPy, copied on `stream` or the current one. Waits for them,
        unless `blocking` is False."""
        import numpy

        if out is None:
            fortran = order == "F" or (order in ("A", "K") and self._is_fortran())
            out = numpy.empty(self.shape, self.dtype, "F" if fortran else "C")
        elif out.shape != self.shape or out.dtype != self.dtype:
            raise ValueError(
                f"out is {out.dtype} of shape {out.shape}, the array {self.dtype} of {self.shape}"
            )
        source, target = (self, out) if out.flags.c_contiguous else (self.T, out.T)
        if not target.flags.c_contiguous:
            if not blocking:
                raise ValueError("out must be contiguous where nothing is waited for")
            out[...] = self.get(stream)
        else:
            source._read(target.view(numpy.uint8) if target.ndim else target, stream, blocking)
        return out

    def set(self, arr, stream=None):
        """Take the elements of an array of NumPy of this shape and dtype, on `stream` or the
        current one. Waits until they are copied."""
        import numpy

        values = numpy.ascontiguousarray(arr, self.dtype).reshape(numpy.shape(arr))
        if values.shape != self.shape:
            raise ValueError(f"an array of shape {values.shape} for one of {self.shape}")
        self._write(values.view(numpy.uint8) if self.ndim else values, stream)

    def _is_fortran(self):
        return self.ndim > 1 and not self.is_contiguous and self.T.is_contiguous

    # ---- as programs for Numba do it

    def copy_to_host(self, ary=None, stream=0):
        """As get(): a new array of NumPy, or `ary`."""
        return self.get(stream or None, out=ary)

    def copy_to_device(self, ary, stream=0):
        """Take the elements of `ary`, an array of the host or of the device."""
        if isinstance(ary, Array):
            self._assign(ary, stream or None)
        else:
            self.set(ary, stream or None)

    def split(self, section, stream=0):
        """Views of `section` elements each, the last one of what is left."""
        if self.ndim != 1:
            raise ValueError(f"split() is for one dimension; the array has {self.ndim}")
        if section < 1:
            raise ValueError(f"section is {section}: it must be 1 or more")
        return (self[k : k + section] for k in range(0, self.size, section))

    def item(self, *place):
        return (self[place] if place else self).get().item()

    def tolist(self):
        return self.get().tolist()

    def __array__(self, dtype=None, copy=None):
        if self.device_id.startswith("cuda"):
            raise TypeError("the array is on a GPU: copy it to the host by .get()")
        return self.get().astype(dtype or self.dtype, copy=False)

    # ---- copies

    def copy(self, order="C"):
        return self._copy({"C": 0, "F": 1, "K": 2, "A": 2}[order])

    def astype(self, dtype, order="K", casting=None, subok=None, copy=True):
        """The elements with another dtype, in new memory that lies as `order` says. `casting`: as
        numpy.can_cast() takes it; anything goes where it is None. `subok` is not looked at."""
        name = _core.dtype_name(dtype)
        if casting is not None:
            import numpy

            if not numpy.can_cast(self.dtype, numpy_dtype(name), casting):
                raise TypeError(f"{self.dtype_name} to {name} is no cast of the kind {casting!r}")
        axes = self._axes(order)
        lies_so = order == "K" or self.transpose(axes).is_contiguous
        if name == self.dtype_name and not copy and lies_so:
            return self
        new = empty([self.shape[k] for k in axes], name)
        made = new.transpose([axes.index(k) for k in range(self.ndim)])._in_place_of(new)
        made._assign(self)
        return made

    def _axes(self, order):
        """The axes from the one of the largest strides on, as `order` has them."""
        if order not in ("C", "F", "A", "K"):
            raise ValueError(f"order is {order!r}: it must be 'C', 'F', 'A' or 'K'")
        axes = list(range(self.ndim))
        if order == "K":
            return sorted(axes, key=lambda k: -abs(self.strides[k]))
        return axes[::-1] if order == "F" or (order == "A" and self._is_fortran()) else axes

    def view(self, dtype=None):
        return self._view(dtype if dtype is not None else self.dtype_name)

    def to(self, device):
        """A copy on another device: ``"cuda:1"``, ``"soft"``."""
        return self._to_device(getattr(device, "id", device))

    def fill(self, value):
        import numpy

        self._fill(numpy.asarray(value, self.dtype).tobytes())

    def _set(self, value):
        """What ``a[...] = value`` does."""
        if isinstance(value, Array):
            self._assign(value)
        elif isinstance(value, (bool, int, float, complex)):
            self.fill(value)
        else:
            self._assign(asarray(value))

    # ---- numbers

    def _number(self, kind):
        if self.size != 1:
            raise TypeError(f"an array of {self.size} elements is not one number")
        return kind(self.item())

    def __float__(self):
        return self._number(float)

    def __int__(self):
        return self._number(int)

    def __complex__(self):
        return self._number(complex)

    def __bool__(self):
        return self._number(bool)

    def __index__(self):
        return self._number(int).__index__()

    def __iter__(self):
        return (self[k] for k in range(len(self)))

    def __repr__(self):
        return repr(self.get())

    def __format__(self, how):
        return format(self.item() if self.ndim == 0 else self.get(), how)


_operators.install(ndarray)


def _shape(shape):
    return (shape,) if hasattr(shape, "__index__") else tuple(shape)


def _reversed(new):
    """A new array with its axes the other way round, which nobody takes for a view of it."""
    return new.transpose()._in_place_of(new)


# ---- making ------------------------------------------------------------------------------------


def empty(shape, dtype=float, memory="device"):
    """A new array whose elements are undefined. `memory`: "device", "pinned", "mapped" or
    "managed"."""
    return _core.empty(shape, dtype, memory)


def full(shape, value, dtype=None):
    if dtype is None:
        import numpy

        dtype = numpy.asarray(value).dtype
    new = empty(shape, dtype)
    new.fill(value)
    return new


def zeros(shape, dtype=float):
    return full(shape, 0, dtype)


def ones(shape, dtype=float):
    return full(shape, 1, dtype)


def empty_like(like, dtype=None):
    return empty(like.shape, dtype if dtype is not None else like.dtype)


def zeros_like(like, dtype=None):
    return zeros(like.shape, dtype if dtype is not None else like.dtype)


def ones_like(like, dtype=None):
    return ones(like.shape, dtype if dtype is not None else like.dtype)


def arange(*range_, dtype=None):
    import numpy

    return asarray(numpy.arange(*range_, dtype=dtype))


def asarray(values, dtype=None):
    """An array of ours: over the memory of `values` where the device reaches it, else a copy."""
    if not isinstance(values, Array):
        if hasattr(values, "__dlpack__") or hasattr(values, "__cuda_array_interface__"):
            try:
                values = _core.take(values)
            except TypeError:
                values = _copied(values)
        else:
            values = _copied(values)
    return values if dtype is None else values.astype(dtype, copy=False)


def _copied(values):
    import numpy

    values = numpy.asarray(values)
    new = empty(values.shape, values.dtype)
    new.set(values)
    return new


def array(values, dtype=None):
    """A copy of `values`: a list, or anyone's array."""
    made = asarray(values)
    return made.copy() if dtype is None else made.astype(dtype)


def asnumpy(values, stream=None, order="C", out=None, *, blocking=True):
    values = values if isinstance(values, Array) else asarray(values)
    return values.get(stream, order, out, blocking)


def from_dlpack(values, *, device=None, copy=None):
    """An array over the memory of `values`, through DLPack: a copy of it where `copy` is True, and
    on `device`, where one is named, which takes a copy that `copy=False` refuses."""
    made = _taken(values)
    device = getattr(device, "id", device)
    if device is not None and device != made.device_id:
        if copy is False:
            raise ValueError(f"{made.device_id} to {device} needs a copy, and copy is False")
        return made.to(device)
    return made.copy() if copy else made


def _taken(values):
    if hasattr(values, "__dlpack__"):
        return _core.take(values)
    if type(values).__name__ != "PyCapsule":
        raise TypeError(
            f"{type(values)} has no __dlpack__: from_dlpack() takes an array of another library, "
            "and asarray() makes one of a list or a number"
        )
    return _core.from_capsule(values)
