# SPDX-License-Identifier: MIT
#
# Arrays of any library, by protocol rather than by name: classes written here give out what the
# libraries do, also in ways that those at hand do not.
import gc
import sys

import pytest

np = pytest.importorskip("numpy")


@pytest.fixture
def double(q):
    return q.ElementwiseKernel("T x", "T y", "y = x + x")


class Versioned:
    """What has __dlpack__ and nothing else."""

    def __init__(self, array):
        self.array, self.asked = array, []

    def __dlpack__(self, **words):
        self.asked.append(words)
        return self.array.__dlpack__(**words)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Old(Versioned):
    """The same from before DLPack 1.0."""

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()


def test_capsules(q, double):
    x = np.arange(3.0)
    for kind in (Versioned, Old):
        y = double(kind(x))
        assert isinstance(y, q.ndarray) and y.tolist() == [0, 2, 4]
    asker = Versioned(x)
    double(asker)
    assert asker.asked == [{"max_version": (1, 3)}]


@pytest.mark.on_soft
def test_capsules_share_memory(q):
    x = np.arange(3.0)
    for kind in (Versioned, Old):
        assert q.from_dlpack(kind(x)).pointer == x.ctypes.data


def test_read_only_capsules(double):
    x = np.ones(3)
    x.flags.writeable = False
    assert double(Versioned(x)).tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match="read-only"):
        double(np.ones(3), Versioned(x))


def test_wrong_capsules(q, double):
    class Wrong:
        def __dlpack__(self, **words):
            return 3

    class Failing:
        def __dlpack__(self, **words):
            raise BufferError("not now")

    with pytest.raises(TypeError, match='a capsule of DLPack is named "dltensor"'):
        double(Wrong())
    with pytest.raises(BufferError, match="not now"):
        double(Failing())

    class Lying(Versioned):
        """Says that it is on another device than its capsule does."""

        def __dlpack_device__(self):
            return (1, 0) if q.Device().is_gpu else (2, 0)

    assert double(Lying(q.ones(2))).tolist() == [2, 2]


@pytest.mark.on_soft
def test_arrays_of_a_gpu_without_one(q, double):
    class Cuda:
        __cuda_array_interface__ = {
            "shape": (3,),
            "typestr": "<f4",
            "data": (1 << 20, False),
            "version": 3,
            "stream": 1,
        }

    with pytest.raises(q.NoDeviceError):
        double(Cuda())


def test_our_own_are_mixed_with_any(q, double):
    add = q.ElementwiseKernel("T x, T y", "T z", "z = x + y")
    assert isinstance(add(Versioned(np.ones(2)), np.ones(2)), q.ndarray)
    assert isinstance(add(np.ones(2), np.ones(2), q.zeros(2)), q.ndarray)
    out = np.zeros(2)
    assert add(q.ones(2), q.ones(2), out) is out and out.tolist() == [2, 2]


@pytest.mark.on_soft
def test_software_devices_meet(q, double):
    """Memory of the host goes to whichever device the others are on."""
    add = q.ElementwiseKernel("T x, T y", "T z", "z = x + y")
    with q.Device("soft:8"):
        there = q.ones(2)
    if there.device_id == q.ones(1).device_id:
        pytest.skip("one software device here")
    assert add(np.ones(2), there).tolist() == [2, 2]
    fixed = np.ones(2)
    fixed.flags.writeable = False
    assert add(fixed, there).tolist() == [2, 2]
    out = np.zeros(2)
    assert add(there, fixed, out) is out and out.tolist() == [2, 2]
    with pytest.raises(ValueError, match="argument 2 is on soft.*, and argument 1 is on soft"):
        add(there, q.ones(2))


# ---- references ---------------------------------------------------------------------------------


def test_what_is_given_out_goes(q, double):
    x = np.ones(3)
    count = sys.getrefcount(x)
    for _ in range(10):
        double(x)
        double(x, x)
        if not q.Device().is_gpu:
            q._core.take(x)
        with pytest.raises(TypeError):
            double(x, x, x)
    gc.collect()
    assert sys.getrefcount(x) == count
