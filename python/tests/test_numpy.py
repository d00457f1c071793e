# SPDX-License-Identifier: MIT
#
# NumPy's arrays in kernels: the same memory in, NumPy's arrays out. Pointers prove that nothing is
# copied; refusals are checked by class and message.
import array
import ctypes
import enum
import multiprocessing
import threading

import pytest

np = pytest.importorskip("numpy")

DTYPES = "? b h i l q B H I L Q e f d F D".split()


@pytest.fixture
def double(q):
    return q.ElementwiseKernel("T x", "T y", "y = x + x")


@pytest.fixture
def add(q):
    return q.ElementwiseKernel("T x, T y", "T z", "z = x + y")


@pytest.fixture
def address(q):
    """A kernel that tells where its input lies."""
    return q.ElementwiseKernel("raw T x, int8 like", "int64 at", "at = (long long)&x[0]")


# ---- in and out --------------------------------------------------------------------------------


@pytest.mark.parametrize("code", DTYPES)
def test_every_dtype(double, code):
    x = np.array([0, 1, 1, 0, 1], code)
    y = double(x)
    assert type(y) is np.ndarray
    assert y.dtype == x.dtype
    assert np.array_equal(y, x + x)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_dtypes_of_ml_dtypes(q, name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = np.dtype(getattr(ml_dtypes, name))
    x = np.array([0, 1, -2, 0.5], dtype)
    y = q.ElementwiseKernel("T x", "T y", "y = x")(x)
    assert y.dtype == dtype
    assert np.array_equal(y.view(np.uint8), x.view(np.uint8))


@pytest.mark.on_soft
def test_nothing_is_copied(q, address):
    x = np.arange(10.0)
    at = address(x, np.zeros(1, np.int8))
    assert at[0] == x.ctypes.data
    assert address(x[3:], np.zeros(1, np.int8))[0] == x[3:].ctypes.data


def test_outputs_are_written_in_place(add):
    x, z = np.arange(6.0), np.zeros(6)
    assert add(x, 1, z) is z
    assert np.array_equal(z, x + 1)


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a.T,
        lambda a: a[::-1],
        lambda a: a[:, ::2],
        lambda a: a[1:, 1:],
        lambda a: a[:, None, :],
        lambda a: a[0],
        lambda a: a[0, 0:0],
        lambda a: a.reshape(-1)[3:4],
        lambda a: np.broadcast_to(a[0], (5, 6)),
        lambda a: np.asfortranarray(a),
        lambda a: np.array(7.0),
    ],
)
def test_views(double, view):
    a = view(np.arange(24.0).reshape(4, 6))
    assert np.array_equal(double(a), a + a)


def test_views_as_outputs(double):
    z = np.zeros((4, 6))
    double(np.ones((2, 3)), z[::-2, ::2])
    assert z.sum() == 12 and z[3, 0] == 2 and z[0, 0] == 0


def test_elements_off_their_alignment(double):
    for memory in (bytes, bytearray):  # the one is read-only
        x = np.frombuffer(memory(bytes(1) + np.arange(4.0).tobytes()), np.uint8)[1:].view("f8")
        assert x.ctypes.data % 8 != 0
        assert np.array_equal(double(x), np.arange(4.0) * 2)


def test_strides_that_are_no_multiple(double):
    records = np.zeros(3, [("a", "i1"), ("b", "<f8")])
    records["b"] = [1, 2, 3]
    assert np.array_equal(double(records["b"]), [2, 4, 6])


def test_classes_of_ndarray_are_read_like_it(double, tmp_path):
    mapped = np.memmap(tmp_path / "file", np.float32, "w+", shape=(3,))
    mapped[:] = [1, 2, 3]
    assert np.array_equal(double(mapped), [2, 4, 6])
    assert type(double(mapped)) is np.ndarray

    class Mine(np.ndarray):
        pass

    assert np.array_equal(double(np.ones(2).view(Mine)), [2, 2])


def test_reductions_and_scans(q):
    x = np.arange(12.0).reshape(3, 4)
    total = q.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0")
    assert isinstance(total(x), np.ndarray) and total(x) == 66
    assert np.array_equal(total(x, axis=0), x.sum(0))
    out = np.zeros(3)
    assert total(x, axis=1, out=out) is out and np.array_equal(out, x.sum(1))
    sums = q.ScanKernel("T x", "T y", "x", "a + b", "y = a")
    assert np.array_equal(sums(x, axis=1), x.cumsum(1))


def test_several_outputs(q):
    k = q.ElementwiseKernel("T x", "T y, int32 z", "y = -x, z = 1")
    y, z = k(np.ones(3))
    assert np.array_equal(y, [-1, -1, -1]) and z.dtype == np.int32


# ---- numbers -----------------------------------------------------------------------------------


def test_numbers_of_numpy_keep_their_dtype(add):
    q_of = add.__class__("int32 like, T x", "T y", "y = x")
    like = np.zeros((), np.int32)
    for number in (
        np.float16(1.5),
        np.float32(-2),
        np.int8(-3),
        np.uint64(2**64 - 1),
        np.bool_(1),
        np.complex64(1 + 2j),
        np.float64(0.1),
        np.int64(-(2**63)),
        np.longlong(5),
    ):
        y = q_of(like, number)
        assert y.dtype == number.dtype and y == number and y.shape == ()
    assert np.array_equal(add(np.ones(2, np.float32), np.float32(2)), [3, 3])
    with pytest.raises(TypeError, match="no number that kernels take"):
        q_of(like, np.longdouble(1))


def test_numbers_derived_from_pythons(add):
    class Level(enum.IntEnum):
        HIGH = 3

    assert np.array_equal(add(np.ones(2, np.int32), Level.HIGH), [4, 4])


# ---- other memory of the host ------------------------------------------------------------------


def test_buffers(q, double):
    assert double(array.array("d", [1, 2])).tolist() == [2, 4]
    assert double(memoryview(array.array("f", [1, 2]))).tolist() == [2, 4]
    assert double((ctypes.c_int * 2)(1, 2)).tolist() == [2, 4]
    z = array.array("d", [0, 0])
    assert double(array.array("d", [1, 2]), z) is z and z[1] == 4
    z.append(1.0)  # the buffer was given back, or this raises


@pytest.mark.on_soft
def test_what_is_kept_cannot_be_resized(q):
    values = array.array("d", [1, 2])
    kept = q._core.take(values)
    with pytest.raises(BufferError):
        values.append(3.0)
    assert kept.tolist() == [1, 2]
    del kept
    values.append(3.0)


@pytest.mark.on_soft
def test_arrays_over_numpy_keep_it(q):
    x = np.arange(5.0)
    a = q.asarray(x)
    assert a.pointer == x.ctypes.data
    back = np.from_dlpack(a)
    assert back.ctypes.data == x.ctypes.data
    assert np.asarray(memoryview(a)).ctypes.data == x.ctypes.data
    del x
    assert a.tolist() == [0, 1, 2, 3, 4]


# ---- refused -----------------------------------------------------------------------------------


def test_read_only_arrays_are_inputs_only(q, double):
    x = np.ones(3)
    x.flags.writeable = False
    assert np.array_equal(double(x), [2, 2, 2])
    with pytest.raises(q.InvalidArgumentError, match=r"'y' \(argument 2\): the array is read-only"):
        double(np.ones(3), x)
    with pytest.raises(ValueError, match="read-only"):
        double(np.ones(3), np.broadcast_to(np.ones(1), 3))
    with pytest.raises(ValueError, match="read-only"):
        double(np.ones(4, np.uint8), memoryview(b"abcd"))


@pytest.mark.parametrize(
    "dtype, words",
    [
        ("O", "dtype object, which are Python's objects"),
        ("M8[s]", r'dtype datetime64\[s\]: pass .view\("int64"\)'),
        ("m8[us]", r"dtype timedelta64\[us\]"),
        ("U5", "dtype <U5, which are strings"),
        ("S3", r"dtype \|S3, which are strings"),
        ([("a", "f4")], r"dtype \[\('a', '<f4'\)\], which are records"),
        (">f4", "dtype >f4, whose bytes are in the other order"),
        ("g", r"dtype float128: convert it by .astype\(\)"),
    ],
)
def test_dtypes_that_kernels_do_not_take(double, dtype, words):
    with pytest.raises(TypeError, match=r"argument 1 \(numpy.ndarray\) has elements of " + words):
        double(np.zeros(3, dtype))


def test_buffers_of_other_formats(double):
    with pytest.raises(TypeError, match='argument 1 .* has elements of format "<c", 1 bytes each'):
        double((ctypes.c_char * 3)())
    big = (ctypes.c_int32.__ctype_be__ * 2)()
    with pytest.raises(TypeError, match="bytes are in the other order"):
        double(big)


@pytest.mark.parametrize(
    "object, words",
    [
        ([1, 2], r"argument 2 \(list\) is neither an array nor one number: make an array"),
        ((1, 2), r"argument 2 \(tuple\) is neither"),
        ("text", r"argument 2 \(str\) is neither an array nor one number$"),
        (b"bytes", r"argument 2 \(bytes\) is neither"),
        (None, r"argument 2 \(NoneType\) is neither"),
        (np.datetime64(3, "s"), r"argument 2 \(numpy.datetime64\) is no number that kernels take"),
        (np.str_("s"), r"argument 2 \(numpy.str_\) is no number"),
        (np.ma.zeros(3), r"argument 2 \(numpy.ma.*MaskedArray\) has a mask"),
    ],
)
def test_what_is_no_array(add, object, words):
    with pytest.raises(TypeError, match=words):
        add(np.ones(3), object)


def test_outputs_are_arrays(add):
    x = np.ones(3)
    for wrong in (1.0, [0, 0, 0], np.float32(1)):
        with pytest.raises(TypeError, match="argument 3"):
            add(x, x, wrong)
    # What was borrowed before the failure is still whole.
    for _ in range(100):
        with pytest.raises(TypeError):
            add(x, x, out := [1, 2, 3])
    assert out == [1, 2, 3] and x.sum() == 3


def test_arrays_of_several_libraries(q, add):
    mixed = add(np.ones(3), q.ones(3))
    assert isinstance(mixed, q.ndarray) and mixed.tolist() == [2, 2, 2]
    mixed = add(np.ones(2), array.array("d", [1, 2]))
    assert isinstance(mixed, q.ndarray) and mixed.tolist() == [2, 3]


# ---- an older or unknown NumPy -----------------------------------------------------------------


def test_more_types_than_are_remembered(double):
    kept = []
    for k in range(200):
        kept.append(type(f"Array{k}", (np.ndarray,), {}))
        assert np.array_equal(double(np.ones(2).view(kept[-1])), [2, 2])


# ---- threads and processes ---------------------------------------------------------------------


def test_threads(q, add):
    wrong = []

    def work(seed):
        x = np.full(100, float(seed))
        out = np.empty(100)
        for k in range(300):
            if not (add(x, k) == seed + k).all() or not (add(x, k, out) == seed + k).all():
                wrong.append((seed, k))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def child(queue):
    import pyquern

    k = pyquern.ElementwiseKernel("T x, T y", "T z", "z = x + y")
    try:
        queue.put(k(np.ones(3), 1).tolist())
    except pyquern.DriverError as error:
        queue.put(str(error))


@pytest.mark.parametrize("way", ["spawn", "fork"])
def test_processes(q, add, way):
    add(np.ones(3), 1)
    context = multiprocessing.get_context(way)
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    try:
        got = queue.get(timeout=60)
        if way == "fork" and q.Device().is_gpu:  # CUDA's own limit
            assert "forked after its parent had used the GPU" in got
        else:
            assert got == [2, 2, 2]
    finally:
        process.join(10)
        process.kill()
    assert process.exitcode == 0
