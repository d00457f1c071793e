# SPDX-License-Identifier: MIT
#
# Raw kernels and modules: CUDA source, or images of it, with CuPy's names. In: source or a path.
# Out: kernels that are called with a grid, and the module's variables. The thing to know: nothing
# is compiled before it is needed, and then for the device that the thread works on.
"""Kernels written as CUDA source."""

from . import _core
from ._device import Device

_settable = ("max_dynamic_shared_size_bytes", "preferred_shared_memory_carveout")
_version = 1  # of what is pickled


class _Handle:
    """A driver's own object: `ptr` is 0 on the software device, which has none."""

    __slots__ = ("_keep", "ptr")

    def __init__(self, ptr, keep):
        self.ptr = ptr
        self._keep = keep


def _checked(options, backend, what):
    if isinstance(options, str) or not all(isinstance(o, str) for o in options):
        raise TypeError(f"options of a {what} are a tuple of str: ('-DN=3', '--std=c++17')")
    if backend != "nvrtc":
        raise ValueError(f"backend is {backend!r}: Quern compiles with 'nvrtc' alone")
    return tuple(options)


def _compile(compile, log_stream):
    """Call `compile`, and write what the compiler says to `log_stream`, if there is one."""
    try:
        log = compile()
    except _core.Error as error:
        if log_stream is not None:
            log_stream.write(getattr(error, "log", ""))
        raise
    if log_stream is not None:
        log_stream.write(log)


def _fact(name):
    def get(self):
        return self.attributes[name]

    return property(get, doc=f"`{name}` of CUDA's function attributes")


class RawKernel(_core.Function):
    """A kernel of CUDA source, called with a grid, a block and a tuple of arguments.

    An int or a float is cut to the size of its parameter: an int is passed as an integer and a
    float as a floating-point number, so write ``2.0`` for a ``float`` parameter. NumPy's numbers
    and structures are passed as the bytes that they have, None as a null pointer.

    >>> import pyquern
    >>> add = RawKernel('''extern "C" __global__ void add(const float *x, float a, float *y) {
    ...     y[threadIdx.x] = x[threadIdx.x] + a; }''', "add")
    >>> x, y = pyquern.ones(3, "float32"), pyquern.empty(3, "float32")
    >>> add(1, 3, (x, 0.5, y))
    >>> y.get()
    array([1.5, 1.5, 1.5], dtype=float32)
    """

    __slots__ = ("_state", "_wants")

    def __new__(
        cls,
        code,
        name,
        options=(),
        backend="nvrtc",
        *,
        translate_cucomplex=False,
        enable_cooperative_groups=False,
        jitify=None,
    ):
        if not isinstance(code, str) or not isinstance(name, str):
            wrong = "name" if isinstance(code, str) else "code"
            raise TypeError(f"{wrong} of a RawKernel is a str")
        return cls._make(
            {
                "code": code,
                "file_path": None,
                "name": name,
                "options": _checked(options, backend, "RawKernel"),
                "backend": backend,
                "translate_cucomplex": bool(translate_cucomplex),
                "enable_cooperative_groups": bool(enable_cooperative_groups),
                "name_expressions": None,
                "jitify": jitify,
            }
        )

    @classmethod
    def _make(cls, state, module=None):
        if module is None:
            module = _core.Module(
                state["code"],
                state["file_path"],
                state["options"],
                state["name_expressions"] or (),
                state["translate_cucomplex"],
            )
        self = _core.Function.__new__(
            cls, module, state["name"], state["enable_cooperative_groups"]
        )
        self._state = state
        self._wants = 0
        return self

    # ---- what it was made of

    code = property(lambda self: self._state["code"], doc="the source; None of a file")
    file_path = property(lambda self: self._state["file_path"], doc="the file; None of a source")
    options = property(lambda self: self._state["options"], doc="options of NVRTC")
    backend = property(lambda self: self._state["backend"], doc="'nvrtc'")

    def __reduce__(self):
        return _unpickle, (dict(self._state, version=_version),)

    def __repr__(self):
        return f"<RawKernel {self.name}>"

    # ---- compiling

    def compile(self, log_stream=None):
        """Compile now, and write what the compiler says to `log_stream`, such as sys.stdout."""
        _compile(self._compile, log_stream)

    @property
    def kernel(self):
        """The driver's function on the thread's device, which is compiled if need be: `.ptr`."""
        return _Handle(self._handle, self)

    # ---- facts

    @property
    def attributes(self):
        """What the thread's device says of the compiled kernel; see CUDA's function attributes."""
        facts = self._info()
        facts["max_dynamic_shared_size_bytes"] = self._wants or facts[_settable[0]]
        facts["cache_mode_ca"] = int(any("dlcm=ca" in option for option in self.options))
        return facts

    max_threads_per_block = _fact("max_threads_per_block")
    shared_size_bytes = _fact("shared_size_bytes")
    const_size_bytes = _fact("const_size_bytes")
    local_size_bytes = _fact("local_size_bytes")
    num_regs = _fact("num_regs")
    ptx_version = _fact("ptx_version")
    binary_version = _fact("binary_version")
    cache_mode_ca = _fact("cache_mode_ca")

    @property
    def max_dynamic_shared_size_bytes(self):
        """Dynamic shared memory that a launch may ask for. It need not be set: a launch that asks
        for more raises it, as far as the device goes."""
        return self.attributes["max_dynamic_shared_size_bytes"]

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, value):
        most = self._info()["max_dynamic_shared_size_bytes"]
        if not 0 <= value <= most:
            raise ValueError(f"{self.name} may have 0 to {most} bytes of dynamic shared memory")
        self._wants = int(value)

    @property
    def preferred_shared_memory_carveout(self):
        """Percentage of the L1 cache that is used as shared memory; -1: the default."""
        return self.attributes["preferred_shared_memory_carveout"]

    @preferred_shared_memory_carveout.setter
    def preferred_shared_memory_carveout(self, percentage):
        self._set_carveout(percentage)


def _unpickle(state):
    if state.pop("version", None) != _version:
        from pickle import UnpicklingError

        raise UnpicklingError(
            "the RawKernel was pickled by another version of pyquern: make it again"
        )
    return RawKernel._make(state)


class RawModule:
    """CUDA source, or a file of source, PTX, a cubin or a fatbin: its kernels and variables.

    `name_expressions` are instances of templates that the source must have, ``["f<float>"]``; they
    are then names for `get_function`.

    >>> module = RawModule(code='''template <typename T> __global__ void zero(T *x) {
    ...     x[threadIdx.x] = 0; }''', name_expressions=["zero<float>", "zero<int>"])
    >>> import pyquern
    >>> x = pyquern.ones(3, "int32")
    >>> module.get_function("zero<int>")(1, 3, (x,))
    >>> x.tolist()
    [0, 0, 0]
    """

    def __init__(
        self,
        *,
        code=None,
        path=None,
        options=(),
        backend="nvrtc",
        translate_cucomplex=False,
        enable_cooperative_groups=False,
        name_expressions=None,
        jitify=None,
    ):
        if (code is None) == (path is None):
            raise TypeError("a RawModule is made of code or of a path: give one of the two")
        if code is None and name_expressions is not None:
            raise ValueError("name_expressions need code: a file's kernels have their names")
        for name, value in (("code", code), ("path", path)):
            if value is not None and not isinstance(value, str):
                raise TypeError(f"{name} of a RawModule is a str, not {type(value)}")
        self.code = code
        self.file_path = path
        self.options = _checked(options, backend, "RawModule")
        self.backend = backend
        self.enable_cooperative_groups = bool(enable_cooperative_groups)
        self.translate_cucomplex = bool(translate_cucomplex)
        self.name_expressions = None if name_expressions is None else tuple(name_expressions)
        self.jitify = jitify
        self._core = _core.Module(
            code, path, self.options, self.name_expressions or (), self.translate_cucomplex
        )

    @property
    def module(self):
        """The driver's module on the thread's device, which is compiled if need be: `.ptr`."""
        return _Handle(self._core.handle, self._core)

    def compile(self, log_stream=None):
        """Compile now, and write what the compiler says to `log_stream`, such as sys.stdout."""
        _compile(self._core.compile, log_stream)

    def function_names(self):
        """The names of its kernels."""
        return self._core.names()

    def get_function(self, name):
        """The kernel of this name, or of this name expression, as a RawKernel."""
        state = {
            "code": self.code,
            "file_path": self.file_path,
            "name": name,
            "options": self.options,
            "backend": self.backend,
            "translate_cucomplex": self.translate_cucomplex,
            "enable_cooperative_groups": self.enable_cooperative_groups,
            "name_expressions": self.name_expressions,
            "jitify": self.jitify,
        }
        kernel = RawKernel._make(state, self._core)
        _ = kernel.kernel  # that it is there
        return kernel

    def get_global(self, name):
        """A ``__device__`` or ``__constant__`` variable: a MemoryPointer to all of its bytes."""
        return self._core.find_global(name).data

    def __repr__(self):
        return f"<RawModule of {self.file_path or 'source'} on {Device().id}>"
