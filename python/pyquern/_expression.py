# SPDX-License-Identifier: MIT
#
# Expressions for evaluate(): from text to C++ with a type for each part. In: the text, and what
# each name is: a dtype of NumPy, or int, float or complex for a plain number. Out: C++, the helpers
# that it needs, the dtype of the result. The thing to know: NumPy is asked for the type of every
# operation (ufunc.resolve_dtypes), so results have NumPy's dtypes, and operators NumPy's meaning.
"""Expressions with NumPy's types."""

import re
from difflib import get_close_matches

import numpy

from ._functions import C_TYPES, CASTS, FUNCTIONS, OPERATORS, UNARY

_token = re.compile(
    r"\s*(?:(?P<number>(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[jJ]?)"
    r"|(?P<name>[^\W\d]\w*)|(?P<operator>\*\*|//|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~!<>?:(),]))"
)
_levels = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", "<=", ">", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "//", "%"),
)
_comparisons = _levels[5] + _levels[6]
_constants = {"true": True, "false": False, "True": True, "False": False, "pi": numpy.pi}
_words = {"and": "&&", "or": "||", "not": "!", "if": "condition ? value : other value"}


class Node:
    """A part of the expression: its C++, its dtype or int, float, complex, and where it stands."""

    __slots__ = ("text", "type", "begin", "end", "value", "operator", "name")

    def __init__(self, text, type_, begin, end, value=None, operator=None, name=None):
        self.text = text
        self.type = type_
        self.begin = begin
        self.end = end
        self.value = value  # of a number in the text
        self.operator = operator  # that is not in parentheses
        self.name = name  # of a value


class Expression:
    """The text, parsed for values of these types: `text`, `dtype`, `helpers`, `used`, `limits`."""

    def __init__(self, source, types):
        self.source = source
        self.types = types
        self.helpers = {}  # C++ by name
        self.used = []  # names of values, as they come
        self.limits = []  # (name of a plain int, dtype that it must fit)
        self.tokens = list(self._scan())
        self.at = 0
        try:
            root = self._ternary()
        except RecursionError:
            raise ValueError("the expression is nested too deeply: compute it in parts") from None
        if self.token[0] != "end":
            self._unexpected()
        self.dtype = _strong(root.type)
        self.text = self._cast(root, self.dtype)

    # ---- messages

    def error(self, kind, message, begin, end):
        """An exception whose text shows the place."""
        start = self.source.rfind("\n", 0, begin) + 1
        line = self.source[start:].partition("\n")[0]
        column = begin - start
        mark = "^" + "~" * (min(end - begin, len(line) - column) - 1)
        return kind(f"{message}\n    {line}\n    {' ' * column}{mark}")

    def _unexpected(self):
        kind, text, begin = self.token
        if text in _words:
            message = f"'{text}' is no operator here: write {_words[text]}"
        elif kind == "end":
            message = "the expression ends too early"
        else:
            message = f"'{text}' was not expected here"
        raise self.error(ValueError, message, begin, begin + max(len(text), 1))

    def _unknown(self, name, begin, known, what):
        near = get_close_matches(name, known, 1)
        hint = f": did you mean '{near[0]}'?" if near else f"; {what}"
        raise self.error(
            NameError, f"'{name}' is not known{hint}", begin, begin + len(name)
        ) from None

    def parameter(self, name):
        """What a value is called in C++, where its name may mean something else, or be none."""
        return f"in_{name}" if name.isascii() else f"un_{self.used.index(name)}"

    # ---- tokens

    def _scan(self):
        at, text = 0, self.source.rstrip()
        while at < len(text):
            match = _token.match(text, at)
            if not match:
                at += len(text[at:]) - len(text[at:].lstrip())
                raise self.error(ValueError, f"'{text[at]}' has no meaning here", at, at + 1)
            kind = match.lastgroup
            yield kind, match[kind], match.start(kind)
            at = match.end()
        yield "end", "", len(text)

    @property
    def token(self):
        return self.tokens[self.at]

    def _take(self, *texts):
        """The next token's text if it is one of these operators, which is then used up."""
        kind, text, _ = self.token
        if kind == "operator" and text in texts:
            self.at += 1
            return text
        return None

    def _need(self, text):
        if not self._take(text):
            self._unexpected()
        return self.tokens[self.at - 1][2] + len(text)

    # ---- grammar: that of C, with ** and // of Python

    def _ternary(self):
        condition = self._binary(0)
        if not self._take("?"):
            return condition
        yes = self._ternary()
        self._need(":")
        return self._where(condition, yes, self._ternary(), condition.begin)

    def _binary(self, level):
        if level == len(_levels):
            return self._unary()
        left = self._binary(level + 1)
        while operator := self._take(*_levels[level]):
            right = self._binary(level + 1)
            for part in (left, right):
                if part.operator in _comparisons and operator in ("&", "|", "^", *_comparisons):
                    raise self.error(
                        ValueError,
                        f"'{part.operator}' beside '{operator}' means one thing in C and another "
                        "in Python: write parentheses",
                        left.begin,
                        right.end,
                    )
            left = self._apply(OPERATORS[operator], [left, right], left.begin, right.end)
            left.operator = operator
        return left

    def _unary(self):
        begin = self.token[2]
        operator = self._take("-", "+", "!", "~")
        if not operator:
            return self._power()
        x = self._unary()
        if operator == "-" and x.value is not None and isinstance(x.type, type):
            return self._number(-x.value, begin, x.end)
        return self._apply(UNARY[operator], [x], begin, x.end)

    def _power(self):
        x = self._primary()
        if not self._take("**"):
            return x
        y = self._unary()
        return self._apply(FUNCTIONS["pow"], [x, y], x.begin, y.end)

    def _primary(self):
        kind, text, begin = self.token
        if kind == "number":
            self.at += 1
            return self._number(self._value(text, begin), begin, begin + len(text))
        if kind == "name" and text not in _words:
            self.at += 1
            if self._take("("):
                return self._called(text, begin)
            return self._named(text, begin, begin + len(text))
        if self._take("("):
            inner = self._ternary()
            inner.end, inner.begin, inner.operator = self._need(")"), begin, None
            return inner
        return self._unexpected()

    def _value(self, text, begin):
        if text[-1] in "jJ":
            return complex(text)
        if re.search(r"^[^xX]*[.eE]", text):
            return float(text)
        try:
            return int(text, 0)
        except ValueError:
            message = f"{text} begins with a 0, which is octal in C and an error in Python"
            raise self.error(ValueError, message, begin, begin + len(text)) from None

    def _named(self, name, begin, end):
        if name not in self.types:
            if name in _constants:
                return self._number(_constants[name], begin, end)
            what = "give its value: evaluate(..., " + name + "=...)"
            self._unknown(name, begin, [*self.types, *_constants], what)
        if name not in self.used:
            self.used.append(name)
        return Node(self.parameter(name), self.types[name], begin, end, name=name)

    def _number(self, value, begin, end):
        if isinstance(value, bool):
            return Node(str(value).lower(), numpy.dtype(bool), begin, end, value)
        text = _real(value)
        if isinstance(value, complex):
            text = f"complex<double>({_real(value.real)}, {_real(value.imag)})"
        elif isinstance(value, int) and not -(2**63) < value < 2**64:
            raise self.error(OverflowError, "the number fits no integer dtype", begin, end)
        elif isinstance(value, int):
            text += "ull" if value >= 2**63 else "ll"
        return Node(f"({text})" if text[0] == "-" else text, type(value), begin, end, value)

    def _called(self, name, begin):
        arguments = []
        while not arguments or self._take(","):
            arguments.append(self._ternary())
        end = self._need(")")
        if name not in FUNCTIONS and name not in CASTS and name not in ("where", "clip"):
            what = "the functions are those of pyquern.evaluate's description"
            self._unknown(name, begin, [*FUNCTIONS, *CASTS, "where", "clip"], what)
        takes = {"where": 3, "clip": 3}.get(name, 1 if name in CASTS else 0)
        takes = takes or FUNCTIONS[name].count
        if len(arguments) != takes:
            message = f"{name}() takes {takes} values, and is given {len(arguments)}"
            raise self.error(TypeError, message, begin, end)
        if name in CASTS:
            dtype = numpy.dtype(CASTS[name])
            text = self._cast(arguments[0], dtype, checks=False)
            return Node(text, dtype, begin, end)
        if name == "where":
            return self._where(*arguments, begin)
        if name == "clip":
            x, low, high = arguments
            arguments = [self._apply(FUNCTIONS["max"], [x, low], begin, end), high]
            name = "min"
        return self._apply(FUNCTIONS[name], arguments, begin, end)

    # ---- types

    def _where(self, condition, yes, no, begin):
        plain = [isinstance(n.type, type) for n in (yes, no)]
        if all(plain):
            type_ = _weak(numpy.result_type(_strong(yes.type), _strong(no.type)))
        else:
            type_ = numpy.result_type(
                *(n.type(0) if p else n.type for n, p in zip((yes, no), plain, strict=True))
            )
        texts = [self._cast(n, _strong(type_)) for n in (yes, no)]
        bool_ = self._cast(condition, numpy.dtype(bool))
        return Node(f"({bool_} ? {texts[0]} : {texts[1]})", type_, begin, no.end)

    def _apply(self, function, nodes, begin, end):
        """An operation: the types of its loop as NumPy has them, then C++ for it."""
        types = [n.type for n in nodes]
        plain = all(isinstance(t, type) for t in types)
        if plain:
            types = [_strong(t) for t in types]
        try:
            *loop, out = function.ufunc.resolve_dtypes((*types, *[None] * function.ufunc.nout))
        except TypeError:
            names = " and ".join(_name(t) for t in types)
            message = f"{function.name} is not defined for {names}, as in NumPy"
            raise self.error(TypeError, message, begin, end) from None
        parts = [self._cast(n, d) for n, d in zip(nodes, loop, strict=True)]
        try:
            text = function.text(self.helpers, parts, loop, [n.value for n in nodes])
        except (TypeError, ValueError) as wrong:
            raise self.error(type(wrong), str(wrong), begin, end) from None
        text = f"static_cast<{C_TYPES[out.name]}>({text})"
        return Node(text, _weak(out) if plain else out, begin, end)

    def _cast(self, node, dtype, checks=True):
        """The node's C++ as a value of a dtype."""
        if node.type is int and dtype.kind in "iu" and checks:
            if node.name:
                self.limits.append((node.name, dtype))
            elif node.value is not None:
                limits = numpy.iinfo(dtype)
                if not limits.min <= node.value <= limits.max:
                    message = f"{node.value} does not fit {dtype.name}"
                    raise self.error(OverflowError, message, node.begin, node.end)
        if node.type == dtype:
            return node.text
        source = _strong(node.type)
        if source.kind == "c" and dtype.kind == "b":
            return f"({node.text} != {C_TYPES[source.name]}(0))"
        if source.kind == "c" and dtype.kind != "c":
            return f"static_cast<{C_TYPES[dtype.name]}>(({node.text}).real())"
        return f"static_cast<{C_TYPES[dtype.name]}>({node.text})"


def _real(value):
    return repr(value).replace("inf", "INFINITY")


def _strong(type_):
    """The dtype of a plain number that is alone."""
    if isinstance(type_, numpy.dtype):
        return type_
    return numpy.dtype({int: numpy.int64, float: numpy.float64, complex: numpy.complex128}[type_])


def _weak(dtype):
    """What Python has for a result of plain numbers alone."""
    return {"i": int, "u": int, "f": float, "c": complex}.get(dtype.kind, dtype)


def _name(type_):
    return type_.name if isinstance(type_, numpy.dtype) else type_.__name__
