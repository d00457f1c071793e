# SPDX-License-Identifier: MIT
#
# Tensors of DLPack as another library would give them out, with whatever in their fields. In: what
# is to differ from six right float32. Out: objects that give out a capsule of today's or of the old
# form, or have the table of functions, and count how often their deleter was called.
import ctypes

I64 = ctypes.c_int64


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class Dtype(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", Dtype),
        ("shape", ctypes.POINTER(I64)),
        ("strides", ctypes.POINTER(I64)),
        ("byte_offset", ctypes.c_uint64),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Old(ctypes.Structure):
    _fields_ = [("dl_tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("dl_tensor", Tensor),
    ]


FUNCTION = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))
LEND = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))
ALLOCATE = ctypes.PYFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)


class Table(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("allocate", ALLOCATE),
        ("from_object", FUNCTION),
        ("to_object", ctypes.c_void_p),
        ("lend", LEND),
        ("stream", ctypes.c_void_p),
    ]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
is_named = ctypes.pythonapi.PyCapsule_IsValid
is_named.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Theirs:
    """Six float32 of somebody else, (2, 3) of them, with whatever is given in place of the right
    fields. `deleted` counts."""

    def __init__(self, *, deleter=True, **fields):
        self.memory = (ctypes.c_float * 6)(*range(6))
        self.deleted = 0
        self.delete = DELETER(self.count)
        self.version = fields.pop("version", (1, 3))
        self.flags = fields.pop("flags", 0)
        right = {"data": ctypes.addressof(self.memory), "device": (1, 0), "dtype": (2, 32, 1),
                 "shape": (2, 3), "strides": None, "byte_offset": 0}  # fmt: skip
        right.update(fields)
        shape, strides = right["shape"], right["strides"]
        self.tensor = Tensor(
            right["data"],
            Device(*right["device"]),
            right.get("ndim", len(shape or ())),
            Dtype(*right["dtype"]),
            (I64 * len(shape))(*shape) if shape else None,
            (I64 * len(strides))(*strides) if strides else None,
            right["byte_offset"],
        )
        deleter = self.delete if deleter is True else deleter or DELETER()
        self.old = Old(self.tensor, None, deleter)
        self.versioned = Versioned(*self.version, None, deleter, self.flags, self.tensor)

    def count(self, address):
        self.deleted += 1


class ByCapsule(Theirs):
    name = b"dltensor_versioned"

    def __dlpack__(self, **words):
        self.capsule = new_capsule(ctypes.addressof(self.versioned), self.name, None)
        return self.capsule

    def __dlpack_device__(self):
        return (self.tensor.device.type, self.tensor.device.id)

    def is_theirs(self):
        return is_named(self.capsule, self.name) == 1


class ByOldCapsule(ByCapsule):
    name = b"dltensor"

    def __dlpack__(self, stream=None):
        self.capsule = new_capsule(ctypes.addressof(self.old), self.name, None)
        return self.capsule


@FUNCTION
def from_object(theirs, out):
    out[0] = ctypes.addressof(theirs.versioned)
    return 0


@LEND
def lend(theirs, out):
    out[0] = theirs.tensor
    return 0


@ALLOCATE
def allocate(prototype, out, context, set_error):
    return -1  # and says not why


TABLES = [
    Table(1, 3, None, allocate, from_object, 1, lend, 1),
    Table(1, 3, None, allocate, from_object, 1, LEND(), 1),
]
NAME = b"dlpack_exchange_api"  # as long as the capsules


class ByTable(Theirs):
    """Lends its tensors to calls."""

    __dlpack_c_exchange_api__ = new_capsule(ctypes.addressof(TABLES[0]), NAME, None)

    def __dlpack__(self, **words):
        raise AssertionError("the table goes first")

    def is_theirs(self):
        return self.deleted <= 1


class ByTableThatLendsNone(ByTable):
    __dlpack_c_exchange_api__ = new_capsule(ctypes.addressof(TABLES[1]), NAME, None)


WAYS = [ByCapsule, ByOldCapsule, ByTable, ByTableThatLendsNone]
