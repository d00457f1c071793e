# SPDX-License-Identifier: MIT
#
# What a library could give out that is no array: tensors of DLPack with wrong fields, by capsules
# of today's form and of the old one and through the table of functions; wrong interfaces of CUDA
# arrays. In: tensors.py. Out: the class and the message of each refusal; the tensor is still its
# owner's then, and one that was taken is deleted once. None of it ends the process.
import ctypes
import gc
import sys

import pytest
from tensors import DELETER, WAYS, ByCapsule, ByOldCapsule, ByTable, is_named, new_capsule

import pyquern as q

pytestmark = pytest.mark.on_soft  # memory of the host is the device's

COPY = q.ElementwiseKernel("T x", "T y", "y = x", "copy")


every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)

WRONG = {
    "no memory": ({"data": None}, ValueError, "no memory"),
    "a negative extent": ({"shape": (-2, 3)}, ValueError, "-2"),
    "extents that overflow": ({"shape": (2**40, 2**40)}, (ValueError, OverflowError), "large|elem"),
    "no shape": ({"shape": None, "ndim": 2}, ValueError, "2 dimensions, and its shape is NULL"),
    "neither shape nor memory": ({"data": None, "shape": None, "ndim": 2}, ValueError, "NULL|no m"),
    "dimensions below 0": ({"ndim": -1}, ValueError, "-1 dimensions; an array has 0 to 32"),
    "many dimensions": ({"shape": (1,) * 33}, ValueError, "33 dimensions"),
    "two lanes": ({"dtype": (2, 32, 2)}, NotImplementedError, "2 lanes .code 2, float, of 32 bits"),
    "no lanes": ({"dtype": (2, 32, 0)}, NotImplementedError, "0 lanes"),
    "an unknown code": ({"dtype": (99, 32, 1)}, NotImplementedError, "code 99 .unknown. of 32 bit"),
    "bits of no dtype": ({"dtype": (0, 128, 1)}, NotImplementedError, "code 0 .int. of 128 bits"),
    "four bits": ({"dtype": (17, 4, 1)}, NotImplementedError, "code 17 .float4_e2m1fn. of 4 bits"),
    "strides that overflow": ({"strides": (2**62, 1)}, ValueError, "outside of the address space"),
    "strides below memory": ({"strides": (-(2**60), 1)}, ValueError, "outside of the address"),
    "an offset that overflows": ({"byte_offset": 2**64 - 8}, ValueError, "byte_offset"),
    "a GPU's memory": ({"device": (2, 0)}, q.NoDeviceError, "driver|GPU|CUDA"),
    "a GPU that is not there": ({"device": (2, 99)}, q.NoDeviceError, "driver|GPU|CUDA"),
    "memory of a Vulkan device": ({"device": (7, 0)}, NotImplementedError, "of kind 7 in DLPack"),
}


@pytest.mark.parametrize("what", WRONG)
@every_way
def test_wrong_tensors(way, what):
    fields, kind, says = WRONG[what]
    theirs = way(**fields)
    count = sys.getrefcount(theirs)
    for call in (COPY, q.from_dlpack, q.asarray, lambda x: COPY(q.ones((2, 3), "float32"), x)):
        theirs.deleted = 0
        with pytest.raises(kind, match=says):
            call(theirs)
        assert theirs.is_theirs(), "it was refused, and is gone"
    assert sys.getrefcount(theirs) == count


@every_way
def test_right_tensors_are_taken_and_deleted_once(way):
    for fields in ({}, {"strides": (3, 1)}, {"device": (1, 0), "flags": 1}):
        theirs = way(**fields)
        assert COPY(theirs, q.empty((2, 3), "float32")).tolist() == [[0, 1, 2], [3, 4, 5]]
        calls = theirs.deleted
        assert calls == (0 if way is ByTable else 1)  # a call is lent its tensors there
        ours = q.from_dlpack(theirs)
        assert ours.data.ptr == ctypes.addressof(theirs.memory)
        view = ours[1]
        del ours
        assert theirs.deleted == calls
        assert view.tolist() == [3, 4, 5]
        del view
        gc.collect()
        assert theirs.deleted == calls + 1


@every_way
def test_no_elements_need_no_memory(way):
    theirs = way(data=None, shape=(0, 3), strides=(7, 2**62))
    assert q.from_dlpack(theirs).shape == (0, 3)
    assert COPY(theirs, q.empty((0, 3), "float32")).shape == (0, 3)
    assert q.from_dlpack(way(shape=(1,), strides=(2**62,))).tolist() == [0]


@every_way
def test_versions(way):
    theirs = way(version=(2, 0), dtype=(99, 1, 1), device=(77, 7))
    with pytest.raises(NotImplementedError) as error:
        q.from_dlpack(theirs)
    said = str(error.value)
    assert "DLPack 2.0, whose structures are others" in said or way is ByOldCapsule
    assert q.from_dlpack(way(version=(1, 9))).shape == (2, 3)


@pytest.mark.parametrize("way", WAYS[2:], ids=lambda way: way.__name__)
def test_a_library_that_allocates_nothing(way):
    with pytest.raises(RuntimeError, match="the inputs' library allocates no output"):
        COPY(way())


def test_a_capsule_is_taken_once():
    for way in (ByCapsule, ByOldCapsule):
        theirs = way()
        capsule = theirs.__dlpack__()
        ours = q.from_dlpack(capsule)
        assert not theirs.is_theirs() and is_named(capsule, b"used_" + way.name)
        for again in (q.from_dlpack, COPY):
            with pytest.raises(TypeError, match="taken once|neither an array nor"):
                again(capsule)

        class Same:
            def __dlpack__(self, capsule=capsule, **words):
                return capsule

        with pytest.raises(TypeError, match="is taken once; this is"):
            COPY(Same())
        del ours
        assert theirs.deleted == 1


def test_a_tensor_of_ours_is_taken_once():
    """Though its capsule got its first name again."""
    ours = q.ones(3)
    capsule = ours.__dlpack__(max_version=(1, 0))
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = pointer(capsule, b"dltensor_versioned")
    taken = q.from_dlpack(capsule)
    with pytest.raises(ValueError, match="was taken before; one consumer alone may take a tensor"):
        q.from_dlpack(new_capsule(tensor, b"dltensor_versioned", None))
    assert taken.tolist() == [1, 1, 1]


@every_way
def test_deleters_that_are_not_there_or_raise(way, monkeypatch):
    """One that raises is told as Python tells it of a destructor."""
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda hook: told.append(str(hook.exc_value)))
    theirs = way(deleter=None)
    assert q.from_dlpack(theirs).tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(NotImplementedError):
        q.from_dlpack(way(deleter=None, dtype=(99, 32, 1)))

    def fails(address):
        raise ZeroDivisionError("theirs")

    theirs = way(deleter=DELETER(fails))
    ours = q.from_dlpack(theirs)
    del ours
    assert told == ["theirs"]
    assert COPY(q.ones(2)).tolist() == [1, 1]


def test_an_array_that_goes_while_it_is_used():
    """In the middle of a call, by what makes the output; and before a graph is launched."""

    class Giver:
        def __dlpack__(self, **words):
            inputs.clear()  # the last reference to the first argument, but for the call's own
            return (q.ones(3) * 2).__dlpack__(**words)

    add = q.ElementwiseKernel("T x, T y", "T z", "z = x + y")
    inputs = [q.ones(3)]
    assert add(*inputs, Giver()).tolist() == [3, 3, 3]
    x, y = q.ones(3), q.zeros(3)
    bound = COPY.bind(x, y)
    del x
    filler = [q.full(3, 9.0) for _ in range(20)]
    bound.launch()
    assert y.tolist() == [1, 1, 1] and len(filler) == 20


# ---- what leaves the memory --------------------------------------------------------------------


def test_strides_that_leave_an_array_of_ours():
    ours = q.zeros(6, "float32")
    for strides, says in (
        ((4, 1), "reaches 4 bytes past the end of an array of 24 bytes"),
        ((-3, 1), "begins 12 bytes before an array of 24 bytes"),
    ):
        for way in WAYS[:2]:
            with pytest.raises(ValueError, match=says):
                q.from_dlpack(way(data=ours.data.ptr, strides=strides))


def test_kernels_that_leave_a_tensor():
    beyond = q.ElementwiseKernel("raw T x, int32 n", "T y", "y = x[n + i]")
    for way in WAYS:
        with pytest.raises(q.AccessError, match="24 bytes"):
            beyond(way(), 6, q.empty(1, "float32"))


# ---- our own __dlpack__ ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, kind, says",
    [
        ({"max_version": 1}, TypeError, "max_version is a tuple of two ints, not 1"),
        ({"max_version": (1,)}, TypeError, "max_version is a tuple of two ints, not .1,"),
        ({"max_version": ("1", 0)}, TypeError, "max_version is a tuple of two ints"),
        ({"dl_device": "cpu"}, TypeError, "dl_device is a tuple of two ints, not 'cpu'"),
        ({"dl_device": (2, 0)}, BufferError, r"on device \(1, 0\), and goes to \(2, 0\)"),
        ({"stream": 1}, BufferError, "stream must be None"),
        ({"stream": "1"}, TypeError, "int"),
        ({"strem": None}, TypeError, "strem"),
    ],
)
def test_what_consumers_may_not_ask(words, kind, says):
    with pytest.raises(kind, match=says):
        q.ones(3).__dlpack__(**words)


def test_capsules_that_nobody_takes():
    before = q.memory_stats()
    for words in ({}, {"max_version": (1, 3)}, {"max_version": (9, 9)}, {"copy": True}):
        x = q.ones(1000)
        capsule = x.__dlpack__(**words)
        del x
        assert q.memory_stats().used > before.used
        del capsule
    gc.collect()
    assert q.memory_stats().used == before.used


# ---- the interface of CUDA arrays --------------------------------------------------------------

RIGHT = {"shape": (3,), "typestr": "<f4", "data": (1 << 20, False), "version": 3, "stream": 1}


@pytest.mark.parametrize("lacks", ["shape", "typestr", "data"])
def test_interfaces_that_lack_something(lacks):
    for value in ("absent", None):
        entries = {**RIGHT, lacks: value}
        if value:
            del entries[lacks]
        with pytest.raises(TypeError, match="argument 1 .* has a __cuda_array_interface__ that la"):
            COPY(type("Cuda", (), {"__cuda_array_interface__": entries})())


@pytest.mark.parametrize(
    "entry, value",
    [
        ("data", 5),
        ("data", (5,)),
        ("data", ("5", False)),
        ("data", [1 << 20, False]),
        ("shape", "3"),
        ("shape", (3.5,)),
        ("shape", 2.5),
        ("shape", (1,) * 40),
        ("strides", (4, 4)),
        ("strides", ("4",)),
        ("strides", 4.5),
        ("typestr", 5),
        ("typestr", "<f4" * 9),
        ("version", "3"),
        ("version", [3]),
        ("stream", "1"),
    ],
)
def test_interfaces_with_a_wrong_entry(entry, value):
    class Cuda:
        __cuda_array_interface__ = {**RIGHT, entry: value}

    with pytest.raises(TypeError) as error:
        COPY(Cuda())
    assert str(error.value).startswith("argument 1 (test_hostile.")
    assert f"has a __cuda_array_interface__ whose {entry} is {value!r}" in str(error.value)


@pytest.mark.parametrize("interface", [5, None, [], "text"])
def test_interfaces_that_are_no_dictionary(interface):
    with pytest.raises(TypeError, match="__cuda_array_interface__"):
        COPY(type("Cuda", (), {"__cuda_array_interface__": interface})())
