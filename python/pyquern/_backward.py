# SPDX-License-Identifier: MIT
#
# What a backward and a jvp are, for functions of torch and of JAX alike. In: a function, by its
# name, inputs, outputs and keywords; its derivative: texts, another such function, or one of
# Python. Out: what each parameter of the derivative is, and what it makes. The thing to know: all
# is told by names: `x` is an input, `y` an output, `gy` the gradient of `y`, and `gx` that of `x`,
# which a backward makes; `tx` is the tangent of `x`, and `ty` that of `y`, which a jvp makes.
"""How a backward and a jvp are called."""

import inspect


def of_texts(texts, elementwise, name, preamble, options, what):
    """A tuple of texts as a function by `elementwise`; anything else as it is."""
    if not isinstance(texts, (tuple, list)):
        return texts
    if len(texts) not in (3, 4) or not all(isinstance(t, str) for t in texts[:3]):
        raise TypeError(
            f"a {what} is a tuple of texts (in_params, out_params, operation), and may have its "
            "own backward as a fourth entry"
        )
    words = {"name": f"{name}_{what}", "preamble": preamble, "options": options}
    return elementwise(*texts[:3], backward=(*texts, None)[3], **words)


def defined(make, elementwise, name, args, words, backward, jvp):
    """What each function keeps of its definition: (its backward and its jvp, of which texts are
    functions by `elementwise`; how it is made again). `args`, `words`: those of `make`."""
    shared = (name, words.get("preamble", ""), words["options"])
    derivatives = (
        of_texts(backward, elementwise, *shared, "backward"),
        of_texts(jvp, elementwise, *shared, "jvp"),
    )
    return derivatives, (make, args, {"backward": backward, "jvp": jvp, **words})


def redefined(forward, kind, package, backward, jvp):
    """The function `forward`, which is a `kind` of `package`, with other derivatives."""
    if not isinstance(forward, kind):
        raise TypeError(
            f"the forward of a function is one of {package}, not {type(forward).__name__}: "
            "make it by elementwise(), reduction(), scan() or raw()"
        )
    make, args, words = forward._made
    return make(*args, **{**words, "backward": backward, "jvp": jvp})


class Backward:
    """`function` as the backward of the function `op`; `package`: where such functions are made."""

    what, made, letter = "backward", "gradient", "g"

    def __init__(self, op, function, package):
        self.op = op
        self.function = function
        self.there, self.wanted = getattr(op, self.of_there), getattr(op, self.of_wanted)
        if type(function).__module__.startswith(package):
            names = function.inputs
            self.places = [self._place(n) for n in function.outputs]
        else:
            names = _parameters(self.what, function, package)
            self.places = None  # of Python: it returns one for each that is wanted
        self.sources = [(n, *self._source(n)) for n in names]

    of_there, of_wanted = "outputs", "inputs"  # of which there are derivatives, and are wanted

    def _source(self, name):
        """Where a parameter comes from: (kind, place)."""
        op = self.op
        found = []
        if name in op.inputs:
            found.append(("input", op.inputs.index(name)))
        if name in op.outputs:
            found.append(("output", op.outputs.index(name)))
        if name[:1] == self.letter and name[1:] in self.there:
            found.append((self.made, self.there.index(name[1:])))
        if self.places is None and name in op._words:
            found.append(("word", name))
        if len(found) == 1:
            return found[0]
        known = [*op.inputs, *op.outputs, *(self.letter + n for n in self.there)]
        what = f"is both the {found[0][0]} and the {found[1][0]}" if found else "is unknown"
        raise ValueError(
            f"the {self.what} of {op.name} has a parameter '{name}', which {what}: its parameters "
            f"are named as inputs, as outputs, or as {self.made}s of {self.of_there}: "
            f"{', '.join(known)}"
        )

    def _place(self, name):
        if name[:1] == self.letter and name[1:] in self.wanted:
            return self.wanted.index(name[1:])
        known = ", ".join(self.letter + n for n in self.wanted)
        raise ValueError(
            f"the {self.what} of {self.op.name} has an output '{name}': its outputs are the "
            f"{self.made}s of the {self.of_wanted}: {known}"
        )

    def call(self, values):
        """A derivative for each that is wanted, or None. `values`: by the parameters' names."""
        wanted = self.wanted
        made = self.function(**values) if self.places is None else self.function(*values.values())
        made = made if isinstance(made, (tuple, list)) else (made,)
        if self.places is None:
            if len(made) != len(wanted):
                raise ValueError(
                    f"the {self.what} of {self.op.name} returned {len(made)} {self.made}s: it "
                    f"returns one for each of {', '.join(wanted)}, or None"
                )
            return made
        found = [None] * len(wanted)
        for place, gradient in zip(self.places, made, strict=True):
            found[place] = gradient
        return found


class Forward(Backward):
    """`function` as the jvp of the function `op`, its derivative in forward mode."""

    what, made, letter = "jvp", "tangent", "t"
    of_there, of_wanted = "inputs", "outputs"


def _parameters(what, function, package):
    if not callable(function):
        raise TypeError(
            f"a {what} is a tuple (in_params, out_params, operation), a function of "
            f"{package} or one of Python, not {type(function).__name__}"
        )
    parameters = inspect.signature(function).parameters.values()
    for p in parameters:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY):
            raise TypeError(f"a {what} names its parameters: '{p}' is no plain one")
    return [p.name for p in parameters]
