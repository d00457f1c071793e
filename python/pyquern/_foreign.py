# SPDX-License-Identifier: MIT
#
# What the extension asks about other libraries: how they make outputs, what dtypes NumPy has, how
# ordinary tensors of torch are told. In: a type, a name. Out: functions, dtypes, places. The thing
# to know: each is asked once for a type and remembered there; torch and NumPy make outputs in C.
"""What is special about the arrays of other libraries."""

import sys


def numpy_dtype(name):
    """NumPy's dtype of this name; of ml_dtypes where NumPy has none."""
    import numpy

    try:
        return numpy.dtype(name)
    except TypeError:
        try:
            import ml_dtypes
        except ImportError:
            raise TypeError(f"NumPy has no dtype {name}; the package ml_dtypes adds it") from None

        return numpy.dtype(getattr(ml_dtypes, name))


# ---- outputs -----------------------------------------------------------------------------------

# A library either makes an array before the call, allocate(like, shape, dtype's name), or makes
# its own of one of ours after it, convert(array). Where it does neither, outputs are ours.


def _torch(type_):
    torch = sys.modules["torch"]

    def allocate(like, shape, dtype):
        return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)

    return allocate, None


def _cupy(type_):
    cupy = sys.modules["cupy"]
    return lambda like, shape, dtype: cupy.empty(shape, dtype), None


def _numba(type_):
    from numba import cuda

    return lambda like, shape, dtype: cuda.device_array(shape, numpy_dtype(dtype)), None


def _jax(type_):
    import jax.dlpack

    return None, jax.dlpack.from_dlpack


def _tvm_ffi(type_):
    return None, sys.modules["tvm_ffi"].from_dlpack


def _tensorflow(type_):
    from_dlpack = sys.modules["tensorflow"].experimental.dlpack.from_dlpack
    return None, lambda array: from_dlpack(array.__dlpack__())


_makers = {
    "torch": _torch,
    "cupy": _cupy,
    "numba": _numba,
    "jax": _jax,
    "jaxlib": _jax,
    "tvm_ffi": _tvm_ffi,
    "tensorflow": _tensorflow,
}


def outputs_of(type_):
    """(allocate, convert) of the library that a type is of; each None where it has none."""
    maker = _makers.get(type_.__module__.partition(".")[0])
    return maker(type_) if maker else (None, None)


# ---- torch -------------------------------------------------------------------------------------


def torch_refusal(tensor):
    """What is wrong with a tensor, which its table of functions gives out all the same; or None."""
    torch = sys.modules["torch"]
    fake = sys.modules.get("torch._subclasses.fake_tensor")
    if fake and isinstance(tensor, fake.FakeTensor):
        return "has no memory: in torch.compile, and wherever tensors are traced, use pyquern.torch"
    if tensor.is_conj():
        return "is a conjugated view, whose memory holds other values: pass x.resolve_conj()"
    if tensor.is_neg():
        return "is a negated view, whose memory holds other values: pass x.resolve_neg()"
    if tensor.requires_grad and torch.is_grad_enabled():
        return (
            "requires grad, and autograd would not see the call: use pyquern.torch, pass "
            "x.detach(), or call under torch.no_grad()"
        )
    return None


def torch_layout():
    """Where an ordinary tensor is told from others: (place of the pointer to its implementation in
    the object, place of the dispatch keys in that, place of the pointer to its data of autograd,
    bits of the keys that mean a conjugated or negated view, a class that traces or no memory, the
    attribute requires_grad). The first is 0 where that cannot be found out, and torch is asked for
    each.

    The places are not torch's interface. They are found by tensors of each kind, whose keys torch
    tells, and taken only if all agree."""
    torch = sys.modules["torch"]
    attribute = torch._C.TensorBase.__dict__.get("requires_grad")
    try:
        return (*_torch_places(torch), attribute)
    except Exception:  # noqa: BLE001 - whatever is missing or different in this version
        return (0, 0, 0, 0, attribute)


def wrong_word(function, word, words, more=""):
    """What to say of a keyword that `function` does not take: `words` ("a, b") are those that it
    takes, and `more` is what else there is to say of them."""
    if not words:
        return f"{function}() got an unexpected keyword argument '{word}'; it takes none"
    import difflib

    known = {k.replace("_", ""): k for k in words.split(", ")}
    near = difflib.get_close_matches(word.replace("_", "").lower(), known, 1)
    said = f"{function}() got an unexpected keyword argument '{word}'"
    said += f": did you mean '{known[near[0]]}'? It takes " if near else "; it takes "
    return said + words + more


def wrong_dtype(value, dtypes):
    """What to say of a dtype that no array has, with NumPy's name of it."""
    import difflib

    name = value if isinstance(value, str) else getattr(value, "name", None)
    is_named = isinstance(name, str)  # of a class of the program's own it may be anything
    said = repr(name if is_named else value)
    near = difflib.get_close_matches(name if is_named else "", _dtypes, 1, 0.75)
    if near:
        return (
            f"{said} is no dtype that arrays can have: did you mean '{near[0]}'? They are {dtypes}"
        )
    return f"{said} is no dtype that arrays can have: {dtypes}"


_dtypes = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex64 complex128 float8_e4m3fn float8_e5m2"
).split()


def _torch_places(torch):
    import ctypes

    def words(address, count):
        return (ctypes.c_uint64 * count).from_address(address)[:]

    def only(places):
        (place,) = set(places)
        return place * 8

    def keys(tensor):
        return torch._C._dispatch_keys(tensor).raw_repr()

    with torch.inference_mode(False), torch.no_grad():
        real, number = torch.zeros(2), torch.zeros(2, dtype=torch.complex64)
        conjugated = number.conj()
        negated = conjugated.imag
        kinds = [real, number, conjugated, negated, torch.zeros(3, dtype=torch.int8)]
        grown = torch.zeros(2, requires_grad=True)
        if not (conjugated.is_conj() and negated.is_neg()):
            raise ValueError("the bits are not there")
        impl = only(
            k
            for k in range(2, real.__class__.__basicsize__ // 8)
            if all(words(id(t), k + 1)[k] == t._cdata for t in (*kinds, grown))
        )
        inside = [words(t._cdata, 23) for t in kinds]  # its size is 24 words, and at most 26
        place = only(
            k for k in range(23) if all(w[k] == keys(t) for w, t in zip(inside, kinds, strict=True))
        )
        after = words(grown._cdata, 23)
        meta = only(k for k in range(1, 8) if inside[0][k] == inside[4][k] == 0 != after[k])
        odd = (keys(conjugated) ^ keys(number)) | (keys(negated) ^ keys(real))
        odd |= torch._C.DispatchKeySet(torch._C.DispatchKey.Python).raw_repr()
        odd |= keys(torch.zeros(2, device="meta")) & ~keys(real)
        if any(keys(t) & odd for t in (real, number, grown)):
            raise ValueError("ordinary tensors have these bits")
    return impl, place, meta, odd
