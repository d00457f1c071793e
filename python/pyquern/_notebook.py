# SPDX-License-Identifier: MIT
#
# What notebooks show: kernels with their texts and the source that was compiled, explanations of
# calls, errors with their place. In: an object. Out: HTML that needs nothing else. The thing to
# know: the colours are chosen to be readable on white and on black.
"""HTML of kernels, explanations and errors, for notebooks."""

from . import _core

_PRE = (
    "margin:0.2em 0;padding:0.4em 0.6em;border-left:3px solid #8888;line-height:1.35;overflow:auto"
)
_COLOURS = {
    "comment": "#7d8590",
    "text": "#2f8f4e",
    "directive": "#b0662a",
    "keyword": "#a04fc4",
    "type": "#2477c9",
    "number": "#b0662a",
}
_WORDS = (
    r"(?P<comment>//[^\n]*|/\*.*?\*/)"
    r"|(?P<text>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
    r"|(?P<directive>^[ \t]*\#(?:[^\n\\]|\\.)*)"
    r"|\b(?P<keyword>if|else|for|while|do|return|break|continue|switch|case|default|struct|class|enum"
    r"|template|typename|typedef|using|namespace|const|constexpr|static|inline|extern|volatile|sizeof"
    r"|decltype|static_cast|reinterpret_cast|operator|public|private|true|false|__global__|__device__"
    r"|__host__|__shared__|__constant__|__restrict__|__forceinline__|__launch_bounds__"
    r"|__syncthreads)\b"
    r"|\b(?P<type>void|bool|char|short|int|long|unsigned|signed|float|double|auto|size_t|complex"
    r"|u?int(?:8|16|32|64)(?:_t)?|b?float(?:16|32|64)|threadIdx|blockIdx|blockDim|gridDim)\b"
    r"|\b(?P<number>(?:0[xX][0-9a-fA-F]+|\d[\d.]*(?:[eE][+-]?\d+)?)[uUlLfF]*)\b"
)


def _plain(text):
    """The text with what HTML would read escaped."""
    for character, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(character, name)
    return text


def _words():
    import re  # late, as everything that importing the package does not need

    return re.compile(_WORDS, re.DOTALL | re.MULTILINE)


def highlighted(source):
    """C++ in colours.

    >>> print(highlighted("int i = 0 < 1;"))
    <span style="color:#2477c9">int</span> i = <span style="color:#b0662a">0</span> \
&lt; <span style="color:#b0662a">1</span>;
    """
    parts, at = [], 0
    for match in _words().finditer(source):
        parts.append(_plain(source[at : match.start()]))
        text = _plain(match[0])
        parts.append(f'<span style="color:{_COLOURS[match.lastgroup]}">{text}</span>')
        at = match.end()
    return "".join(parts) + _plain(source[at:])


def _pre(html):
    return f'<pre style="{_PRE}">{html}</pre>'


def _folded(title, html):
    return f"<details><summary>{_plain(title)}</summary>{html}</details>"


def _rows(rows):
    cells = "".join(
        f'<tr><td style="text-align:left;opacity:0.7">{_plain(name)}</td>'
        f'<td style="text-align:left">{html}</td></tr>'
        for name, html in rows
    )
    return f"<table>{cells}</table>"


def _box(title, kind, *parts):
    head = f"<b>{_plain(title)}</b> <span style='opacity:0.7'>{_plain(kind)}</span>"
    return f'<div class="quern">{head}{"".join(parts)}</div>'


# ---- what is shown -------------------------------------------------------------------------------

_texts = (
    "operation",
    "map_expr",
    "reduce_expr",
    "post_map_expr",
    "identity",
    "reduce_type",
    "loop_prep",
    "after_loop",
    "preamble",
)


def kernel(self):
    """A kernel: its signature, its texts, and what was compiled for it."""
    signature = f"{self._in} → {self._out}"
    rows = []
    for name in _texts:
        text = getattr(self, name, None)
        if text:
            rows.append((name, _pre(highlighted(_dedented(text)))))
    if self.options:
        rows.append(("options", _plain(" ".join(self.options))))
    codes = self.cached_codes
    sources = [
        _folded(f"source {n + 1} of {len(codes)}" if len(codes) > 1 else "source", _source(code))
        for n, code in codes.items()
    ] or ["<span style='opacity:0.7'>not compiled yet: call it</span>"]
    kind = f"{type(self).__name__} · {signature}"
    return _box(self.name, kind, _rows(rows), *sources)


def _dedented(text):
    from textwrap import dedent

    return dedent(text).strip("\n")


def _source(code):
    return _pre(highlighted(code))


def raw_kernel(self):
    """A raw kernel: its source, or where that is."""
    return _box(self.name, type(self).__name__, _code(self))


def raw_module(self):
    """A raw module: its source, or where that is."""
    return _box("module", type(self).__name__, _code(self))


def _code(self):
    if self.code is None:
        return _rows([("file", _plain(str(self.file_path)))])
    rows = [("options", _plain(" ".join(self.options)))] if self.options else []
    return (_rows(rows) if rows else "") + _source(_dedented(self.code))


def explanation(self):
    """What a call would run: its types, its walk, its launch, and the source."""
    grid, block = (" × ".join(map(str, n)) for n in (self.grid, self.block))
    rows = [
        ("types", _plain(self.types or "—")),
        ("plan", _plain(self.plan)),
        ("launch", f"{self.elements} elements, grid {grid}, block {block}"),
        ("target", f"{_plain(self.target)}, from {_plain(self.origin)}"),
    ]
    if self.registers:
        rows.append(("registers", f"{self.registers} of a thread"))
    if self.shared_bytes:
        rows.append(("shared memory", f"{self.shared_bytes} bytes of a block"))
    parts = [_rows(rows), _folded("source", _source(self.source))]
    if self.ptx:
        parts.append(_folded("PTX", _pre(_plain(self.ptx))))
    return _box("call", "Explanation", *parts)


def error(self):
    """An error: what was wrong, and where, the place in red."""
    first, *rest = str(self).split("\n")
    shown = "\n".join(
        f'<span style="color:#d1242f">{_plain(line)}</span>'
        if set(line.strip()) in ({"^"}, {"^", "~"})
        else _plain(line)
        for line in rest
    )
    parts = [f" {_plain(first)}"] + ([_pre(shown)] if shown else [])
    for title, name in (("compiler's log", "log"), ("source", "source")):
        text = getattr(self, name, "")
        if text:
            parts.append(_folded(title, _pre(_plain(text) if name == "log" else highlighted(text))))
    head = f'<b style="color:#d1242f">{_plain(type(self).__name__)}</b>'
    return f'<div class="quern">{head}{"".join(parts)}</div>'


def install(raw_kernel_class, raw_module_class):
    """Let notebooks show the classes of the package so."""
    for cls in (_core.ElementwiseKernel, _core.ReductionKernel, _core.ScanKernel):
        cls._repr_html_ = kernel
    _core.Explanation._repr_html_ = explanation
    _core.Error._repr_html_ = error
    raw_kernel_class._repr_html_ = raw_kernel
    raw_module_class._repr_html_ = raw_module
