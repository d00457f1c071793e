# SPDX-License-Identifier: MIT
#
# What a backward is, for functions of torch and of JAX alike. In: a function, by its name, inputs,
# outputs and keywords; its backward: texts, another such function, or one of Python. Out: what each
# parameter of the backward is, and one gradient for each input. The thing to know: all is told by
# names: `x` is an input, `y` an output, `gy` the gradient of `y`, and `gx` that of `x`.
"""How a backward is called."""

import inspect


def of_texts(backward, elementwise, name, preamble, options):
    """A tuple of texts as a function by `elementwise`; anything else as it is."""
    if not isinstance(backward, (tuple, list)):
        return backward
    if len(backward) not in (3, 4) or not all(isinstance(t, str) for t in backward[:3]):
        raise TypeError(
            "a backward is a tuple of texts (in_params, out_params, operation), and may have its "
            "own backward as a fourth entry"
        )
    words = {"name": name + "_backward", "preamble": preamble, "options": options}
    return elementwise(*backward[:3], backward=(*backward, None)[3], **words)


class Backward:
    """`backward` of the function `op`; `package`: where such functions are made."""

    def __init__(self, op, backward, package):
        self.op = op
        self.function = backward
        if type(backward).__module__.startswith(package):
            names = backward.inputs
            self.places = [self._place_of_gradient(n) for n in backward.outputs]
        else:
            names = _parameters(backward, package)
            self.places = None  # of Python: it returns one gradient for each input
        self.sources = [(n, *self._source(n)) for n in names]

    def _source(self, name):
        """Where a parameter comes from: (kind, place)."""
        op = self.op
        found = []
        if name in op.inputs:
            found.append(("input", op.inputs.index(name)))
        if name in op.outputs:
            found.append(("output", op.outputs.index(name)))
        if name[:1] == "g" and name[1:] in op.outputs:
            found.append(("gradient", op.outputs.index(name[1:])))
        if self.places is None and name in op._words:
            found.append(("word", name))
        if len(found) == 1:
            return found[0]
        known = [*op.inputs, *op.outputs, *("g" + n for n in op.outputs)]
        what = f"is both the {found[0][0]} and the {found[1][0]}" if found else "is unknown"
        raise ValueError(
            f"the backward of {op.name} has a parameter '{name}', which {what}: its parameters are "
            f"named as inputs, as outputs, or as gradients of outputs: {', '.join(known)}"
        )

    def _place_of_gradient(self, name):
        inputs = self.op.inputs
        if name[:1] == "g" and name[1:] in inputs:
            return inputs.index(name[1:])
        known = ", ".join("g" + n for n in inputs)
        raise ValueError(
            f"the backward of {self.op.name} has an output '{name}': its outputs are the gradients "
            f"of the inputs: {known}"
        )

    def call(self, values):
        """A gradient for each input, or None. `values`: by the parameters' names."""
        inputs = self.op.inputs
        made = self.function(**values) if self.places is None else self.function(*values.values())
        made = made if isinstance(made, (tuple, list)) else (made,)
        if self.places is None:
            if len(made) != len(inputs):
                raise ValueError(
                    f"the backward of {self.op.name} returned {len(made)} gradients: it returns "
                    f"one for each of {', '.join(inputs)}, or None"
                )
            return made
        found = [None] * len(inputs)
        for place, gradient in zip(self.places, made, strict=True):
            found[place] = gradient
        return found


def _parameters(function, package):
    if not callable(function):
        raise TypeError(
            "a backward is a tuple (in_params, out_params, operation), a function of "
            f"{package} or one of Python, not {type(function).__name__}"
        )
    parameters = inspect.signature(function).parameters.values()
    for p in parameters:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY):
            raise TypeError(f"a backward names its parameters: '{p}' is no plain one")
    return [p.name for p in parameters]
