# SPDX-License-Identifier: MIT
#
# A function of torch: its schema, its place in torch's dispatcher, and its calls. In: what it runs,
# and what it says of its outputs without data. Out: an object that is called. The thing to know: a
# call goes to the kernel at once where nobody looks on; where autograd records, through one
# autograd.Function; and through the dispatcher where a compiler, a mode or a transform traces.
"""Functions of torch made of kernels."""

import hashlib
import threading
import uuid

import torch
from torch.autograd import forward_ad as _forward_ad
from torch.compiler import is_dynamo_compiling

from .. import _core
from .._foreign import wrong_word
from ._forward import Tangents
from ._gradient import Gradient

_TENSORS = (torch.Tensor, torch.nn.Parameter)
_library = torch.library.Library("pyquern", "FRAGMENT")
_registered: dict = {}  # by name: the operator, and the Op that it was registered for
_lock = threading.Lock()

_look = _core.torch_look
_transforms = torch._C._functorch.peek_interpreter_stack
# They say whether somebody must see the call: a mode, a transform of torch.func, torch.jit.trace.
_LOOKERS_ON = (torch._C._len_torch_dispatch_stack, _transforms, torch._C._get_tracing_state)
_grad_enabled = torch.is_grad_enabled


class _Recorded(torch.autograd.Function):
    """A call of an Op that autograd records."""

    @staticmethod
    def forward(ctx, op, words, *args):
        result = op._direct(*args, **words)
        op._gradient.save(ctx, args, words, result)
        if _forward_ad._current_level >= 0:
            op._tangents.save(ctx, args, words, result)
        return result

    @staticmethod
    def jvp(ctx, *tangents):
        found = ctx.op._tangents.of(ctx, tangents[2:])
        return found if len(found) > 1 else found[0]

    @staticmethod
    def backward(ctx, *grads):
        needs = ctx.needs_input_grad[2:]
        return None, None, *ctx.op._gradient.of(ctx, grads, needs)


class _Transformed(torch.autograd.Function):
    """The same under the transforms of torch.func, which want it in this form."""

    @staticmethod
    def forward(op, words, *args):
        return op(*args, **words)

    @staticmethod
    def setup_context(ctx, inputs, output):
        op, words, *args = inputs
        op._gradient.save(ctx, args, words, output)
        op._tangents.save(ctx, args, words, output)

    jvp = staticmethod(_Recorded.jvp)
    backward = staticmethod(_Recorded.backward)

    @staticmethod
    def vmap(info, in_dims, op, words, *args):
        return op._batched(op, info.batch_size, in_dims[2:], args, words)


class Op:
    """A function of tensors that autograd and torch.compile know. Make it by elementwise(),
    reduction(), scan(), raw() or function()."""

    # Set by those that derive from it: name, inputs, outputs (tuples of names), _words (names of
    # keywords), _returns (how many tensors a call returns), and these methods:
    #   _direct(*args, **words): do it, on ordinary tensors
    #   _infer(args, words): new tensors as _direct would return, without data
    #   _schema(): the arguments of the schema, as text
    #   _flat(args, words), _unflat(flat): to those arguments, and back
    _mutates = ()
    _tags: tuple = (torch.Tag.pt2_compliant_tag,)

    def _define(self, definition, backward, jvp=None):
        """Register the function; `definition`: texts that tell it from all others."""
        self._gradient = Gradient(self, backward)
        self._tangents = Tangents(self, jvp, self._gradient)
        words = [self.__class__.__name__, *definition, *self._gradient.definition]
        words += self._tangents.definition
        self._definition = [uuid.uuid4().hex if w is None else str(w) for w in words]
        digest = hashlib.sha256("\0".join(self._definition).encode()).hexdigest()[:16]
        plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in self.name)
        self._name = f"{plain.lstrip('_') or 'kernel'}_{digest}"
        with _lock:
            if self._name not in _registered:
                _registered[self._name] = self._register()
            self._overload = _registered[self._name]

    def _register(self):
        returns = ["()", "Tensor"][self._returns] if self._returns < 2 else None
        returns = returns or "(" + ", ".join(["Tensor"] * self._returns) + ")"
        _library.define(f"{self._name}({self._schema()}) -> {returns}", tags=self._tags)
        name = f"pyquern::{self._name}"
        for key in ("CPU", "CUDA"):
            _library.impl(self._name, self._implement, key)
        torch.library.register_fake(name, self._fake, lib=_library)
        if not self._mutates:
            torch.library.register_autograd(
                name, self._backward, setup_context=self._setup, lib=_library
            )
            torch.library.register_vmap(name, self._vmap, lib=_library)
        return getattr(torch.ops.pyquern, self._name).default

    def _batched(self, call, size, in_dims, args, words):
        """A call with one more axis, in the arguments that have one: one call for each index. What
        does better derives from it. Returns the result and where its axis is."""
        made = []
        for k in range(size):
            one = [a if d is None else a.select(d, k) for a, d in zip(args, in_dims, strict=False)]
            made.append(call(*one, **words))
        if self._returns == 1:
            return torch.stack(made), 0
        return tuple(map(torch.stack, zip(*made, strict=False))), (0,) * self._returns

    # ---- what torch's dispatcher calls

    def _implement(self, *flat):
        args, words = self._unflat(flat)
        if not _grad_enabled():
            return self._direct(*args, **words)
        with torch.no_grad():
            return self._direct(*args, **words)

    def _fake(self, *flat):
        args, words = self._unflat(flat)
        return self._infer(args, words)

    def _setup(self, ctx, inputs, output):
        self._gradient.save(ctx, *self._unflat(inputs), output)

    def _backward(self, ctx, *grads):
        count = len(self.inputs)
        needs = (*ctx.needs_input_grad, *[False] * count)[:count]
        found = self._gradient.of(ctx, grads, needs)
        return (*found, *[None] * (len(self._overload._schema.arguments) - count))

    def _vmap(self, info, in_dims, *flat):
        args, words = self._unflat(flat)
        dims = (*in_dims, *[None] * len(args))[: len(args)]
        return self._batched(self._by_dispatcher, info.batch_size, dims, args, words)

    def _by_dispatcher(self, *args, **words):
        return self._dispatch(args, words)

    # ---- calls

    def __call__(self, *args, **words):
        if is_dynamo_compiling():
            return self._dispatch(args, words)
        if len(args) != len(self.inputs) or (words and not words.keys() <= self._words):
            self._refuse(args, words)
        seen = _look(args, _TENSORS, _LOOKERS_ON)
        forward_mode = _forward_ad._current_level >= 0
        if not forward_mode and (seen == 0 or (seen == 1 and not _grad_enabled())):
            return self._direct(*args, **words) if words else self._direct(*args)
        if not self._mutates:
            if seen < 2:
                return _Recorded.apply(self, words, *args)
            if _transforms() is not None:
                return _Transformed.apply(self, words, *args)
        return self._dispatch(args, words)

    def _dispatch(self, args, words):
        if len(args) != len(self.inputs) or any(w not in self._words for w in words):
            self._refuse(args, words)
        if self._mutates and torch.is_grad_enabled():
            for value in args:
                if isinstance(value, torch.Tensor) and value.requires_grad:
                    raise ValueError(
                        f"{self.name} writes to its arguments, so that it has no gradients, and an "
                        "argument requires grad: pass x.detach(), or call under torch.no_grad()"
                    )
        return self._overload(*self._flat(args, words))

    def _refuse(self, args, words):
        if len(args) != len(self.inputs):
            names = ", ".join(self.inputs)
            raise TypeError(
                f"{self.name}() takes {len(self.inputs)} inputs ({names}), and returns new "
                f"tensors; {len(args)} arguments were given"
            )
        wrong = min(words.keys() - self._words)
        raise TypeError(wrong_word(self.name, wrong, ", ".join(sorted(self._words))))

    # ---- as an object

    def __repr__(self):
        return f"<pyquern.torch {self.name}({', '.join(self.inputs)})>"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        make, args, words = self._made
        return _remake, (make, args, words)


def _remake(make, args, words):
    return make(*args, **words)
