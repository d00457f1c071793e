# SPDX-License-Identifier: MIT
#
# What a kernel of CUDA source declares, for functions of torch and of JAX alike. In: the source,
# the kernel's name; rules of a launch. Out: its parameters, by name; rules as functions of them.
# The thing to know: the text is searched and not compiled, so that a parameter's type may be one
# that only the compiler knows; its elements are then not checked.
"""The parameters of a kernel of CUDA source."""

import inspect
import re

_DTYPES = {  # of what a pointer points to; others are not checked
    "float": "float32",
    "double": "float64",
    "__half": "float16",
    "half": "float16",
    "__nv_bfloat16": "bfloat16",
    "bool": "bool",
    "char": "int8",
    "signed char": "int8",
    "unsigned char": "uint8",
    "short": "int16",
    "unsigned short": "uint16",
    "int": "int32",
    "unsigned int": "uint32",
    "unsigned": "uint32",
    "long": "int64",
    "long long": "int64",
    "unsigned long": "uint64",
    "unsigned long long": "uint64",
    "size_t": "uint64",
    **{f"{u}int{n}_t": f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)},
}


class Parameter:
    """`name`, `type` as it is written, and `dtype`, the name of its elements' or the number's, or
    None where that is not known."""

    def __init__(self, text):
        words = re.sub(r"\b(const|volatile|__restrict__|__restrict|struct)\b", " ", text)
        found = re.fullmatch(r"\s*(.*?)\s*(\**)\s*(\w+)\s*", words.replace("* ", "*"), re.DOTALL)
        if not found or not found[1]:
            raise ValueError(f"the kernel's parameter '{text.strip()}' has no type and name")
        self.name = found[3]
        self.type = " ".join(found[1].split())
        self.is_pointer = bool(found[2])
        self.is_const = bool(re.search(r"\bconst\b", text.partition("*")[0]))
        self.dtype = _DTYPES.get(self.type)
        if not self.is_pointer and not self.dtype:
            raise ValueError(
                f"the kernel's parameter '{text.strip()}' is neither a pointer nor a number"
            )


def declared(source, name):
    """The parameters that the source declares for the kernel."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", source, flags=re.DOTALL)
    found = re.search(
        rf"\b__global__\b[^;{{}}]*?\b{re.escape(name)}\s*\(([^)]*)\)", text, re.DOTALL
    )
    if not found:
        raise ValueError(f"the source declares no kernel: __global__ void {name}(...)")
    inside = found[1].strip()
    return [Parameter(p) for p in inside.split(",")] if inside not in ("", "void") else []


class Rule:
    """A function of some of the kernel's parameters, or what it always returns. `names`: those
    parameters, where the function does not name them itself."""

    def __init__(self, what, rule, known, names=None):
        self.rule = rule
        self.names = names
        if names is None and callable(rule):
            self.names = list(inspect.signature(rule).parameters)
            wrong = [n for n in self.names if n not in known]
            if wrong:
                raise ValueError(
                    f"{what} is a function of '{wrong[0]}', which is none of the kernel's "
                    f"parameters that are there by then: {', '.join(known)}"
                )

    def __call__(self, values):
        return self.rule if self.names is None else self.rule(*[values[n] for n in self.names])


class Launch:
    """What a definition says of a kernel of CUDA source. `like`: makes an output that is told by
    the name of an input, of that input."""

    def __init__(self, source, name, like, *, grid, block, outputs, values, shared_mem, mutates=()):
        outputs, values = dict(outputs or {}), dict(values or {})
        self.name = name
        self.parameters = declared(source, name)
        self.mutates = (mutates,) if isinstance(mutates, str) else tuple(mutates)
        self._check_names(outputs, values)
        self.given = [p for p in self.parameters if p.name not in outputs and p.name not in values]
        self.inputs = tuple(p.name for p in self.given)
        self.outputs = tuple(p.name for p in self.parameters if p.name in outputs)
        known = list(self.inputs)
        self._values = {n: Rule(f"the value '{n}'", r, known) for n, r in values.items()}
        known += values
        self._news = {n: self._output(n, outputs[n], like, known) for n in self.outputs}
        self.grid = Rule("the grid", grid, known)
        self.block = Rule("the block", block, known)
        self.shared = Rule("the shared memory", shared_mem, known)
        rules = (grid, block, shared_mem, *outputs.values(), *values.values())
        self.is_plain = not any(map(callable, rules))  # it is told without code

    def complete(self, values):
        """Add the numbers that are worked out to `values`, which are by the parameters' names.
        Returns what tells of each output, by name."""
        for name, rule in self._values.items():
            values[name] = rule(values)
        return {name: rule(values) for name, rule in self._news.items()}

    def _check_names(self, outputs, values):
        """That the names are those of parameters that can be what they are named as."""
        pointers = [p.name for p in self.parameters if p.is_pointer]
        numbers = [p.name for p in self.parameters if not p.is_pointer]
        const = [p.name for p in self.parameters if p.is_const]
        for what, names, known in (
            ("outputs", outputs, pointers),
            ("values", values, numbers),
            ("mutates", self.mutates, pointers),
        ):
            for n in names:
                if n not in known:
                    raise ValueError(
                        f"{what} names '{n}', which is none of {self.name}'s "
                        f"{'numbers' if what == 'values' else 'pointers'}: {', '.join(known)}"
                    )
                if what != "values" and n in const:
                    raise ValueError(
                        f"{what} names '{n}', which {self.name} declares as a pointer to const"
                    )
                if what == "mutates" and n in outputs:
                    raise ValueError(f"'{n}' is new, by outputs, or given, by mutates: not both")

    def _output(self, name, rule, like, known):
        what = f"the output '{name}'"
        if callable(rule):
            return Rule(what, rule, known)
        if not isinstance(rule, str):
            raise TypeError(
                "an output is told by the name of an input, or by a function that makes it"
            )
        if rule not in self.inputs:
            raise ValueError(f"an output is to be like '{rule}', which is no input: {self.inputs}")
        return Rule(what, like, known, [rule])


def has_work(grid):
    extents = grid if isinstance(grid, (tuple, list)) else (grid,)
    return 0 not in extents
