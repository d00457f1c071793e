# SPDX-License-Identifier: MIT
#
# What XLA passes to a function that a program of its calls, made here by hand: so the functions are
# tested without JAX, and with programs that JAX would not make. In: a call's name, arrays of NumPy.
# Out: what the function said was wrong, or None. The structures are those of src/xla.h.
import ctypes

import numpy as np

from pyquern import _core

POINTER, SIZE, WORD = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int32
DTYPES = {"bool": 1, "int8": 2, "int32": 4, "int64": 5, "uint8": 6, "float16": 10, "float32": 11,
          "float64": 12, "complex64": 15}  # fmt: skip
EXECUTE, INTERNAL = 3, 13


def structure(name, *fields):
    """A class of a structure that begins, as all of XLA's do, with its size and extensions."""
    lead = [("struct_size", SIZE), ("extensions", POINTER)]
    return type(name, (ctypes.Structure,), {"_fields_": [*lead, *fields]})


def made(kind, **fields):
    return kind(struct_size=ctypes.sizeof(kind), **fields)


class Span(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("length", SIZE)]


Buffer = structure("Buffer", ("dtype", WORD), ("data", POINTER), ("rank", ctypes.c_int64),
                   ("dims", POINTER))  # fmt: skip
List = structure("List", ("count", ctypes.c_int64), ("types", POINTER), ("items", POINTER))
Attributes = structure("Attributes", ("count", ctypes.c_int64), ("types", POINTER),
                       ("names", POINTER), ("items", POINTER))  # fmt: skip
Version = structure("Version", ("major", WORD), ("minor", WORD))
ErrorArgs = structure("ErrorArgs", ("message", ctypes.c_char_p), ("code", WORD))
OrdinalArgs = structure("OrdinalArgs", ("context", POINTER), ("ordinal", WORD))
Api = structure("Api", ("version", Version), ("internal", POINTER), ("error_create", POINTER),
                ("others", POINTER * 4), ("more", POINTER * 12), ("ordinal", POINTER))  # fmt: skip
Call = structure("Call", ("api", POINTER), ("context", POINTER), ("stage", WORD), ("args", List),
                 ("results", List), ("attributes", Attributes))  # fmt: skip


def array_of(kind, items):
    return (kind * max(len(items), 1))(*items)


class Program:
    """One call of XLA's for `platform` "cpu" or "CUDA", of device `ordinal`."""

    def __init__(self, platform="cpu", ordinal=0):
        capsule = _core.jax_targets()[platform == "CUDA"]
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = POINTER, [ctypes.py_object, ctypes.c_char_p]
        address = get(capsule, b"xla._CUSTOM_CALL_TARGET")
        self.target = ctypes.CFUNCTYPE(POINTER, POINTER)(address)
        self.said = []

        def create(args):
            args = ErrorArgs.from_address(args)
            assert args.code == INTERNAL
            self.said.append(args.message.decode())
            return 1

        def get_ordinal(args):
            OrdinalArgs.from_address(args).ordinal = ordinal

        kind = ctypes.CFUNCTYPE(POINTER, POINTER)
        self.functions = kind(create), kind(get_ordinal)
        self.api = made(
            Api,
            version=made(Version),
            error_create=ctypes.cast(self.functions[0], POINTER),
            ordinal=ctypes.cast(self.functions[1], POINTER),
        )

    def __call__(self, name, args=(), results=(), **more):
        """What was wrong, or None. `more`: further attributes, which are texts."""
        keep = []

        def buffers(arrays):
            given = []
            for a in arrays:
                dims = array_of(ctypes.c_int64, a.shape)
                keep.append((a, dims))
                given.append(made(Buffer, dtype=DTYPES[str(a.dtype)], data=a.ctypes.data,
                                  rank=a.ndim, dims=ctypes.addressof(dims)))  # fmt: skip
            items = array_of(POINTER, [ctypes.addressof(b) for b in given])
            types = array_of(WORD, [1] * len(given))
            keep.append((given, items, types))
            return made(List, count=len(given), types=ctypes.addressof(types),
                        items=ctypes.addressof(items))  # fmt: skip

        texts = {"call": name, **more}
        spans = [Span(t.encode(), len(t.encode())) for t in texts.values()]
        names = [Span(t.encode(), len(t.encode())) for t in texts]
        types = array_of(WORD, [4] * len(spans))
        places = [array_of(POINTER, [ctypes.addressof(s) for s in some]) for some in (names, spans)]
        attributes = made(Attributes, count=len(spans), types=ctypes.addressof(types),
                          names=ctypes.addressof(places[0]),
                          items=ctypes.addressof(places[1]))  # fmt: skip
        call = made(Call, api=ctypes.addressof(self.api), stage=EXECUTE, args=buffers(args),
                    results=buffers(results), attributes=attributes)  # fmt: skip
        failed = self.target(ctypes.addressof(call))
        assert bool(failed) == bool(self.said)
        return self.said.pop() if failed else None


def zeros(*shape, dtype="float32"):
    return np.zeros(shape, dtype)
