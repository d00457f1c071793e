# SPDX-License-Identifier: MIT
#
# What notebooks show, and the cell magic: HTML that a parser reads without complaint, and cells run
# by IPython itself. In: kernels, errors, cells. Out: nothing.
import html.parser
import subprocess
import sys

import numpy as np
import pytest


class Reader(html.parser.HTMLParser):
    """The text of HTML whose elements must end as they began."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text, self.marked = [], "", ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append((tag, dict(attrs).get("style", "")))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        self.text += data
        if self.open and "#d1242f" in self.open[-1][1]:
            self.marked += data + "|"


def test_kernel(q):
    kernel = q.ElementwiseKernel("T x, T y", "T z", "z = x < y ? x : y", "least")
    shown = Reader(kernel._repr_html_()).text
    assert "least" in shown and "T x, T y → T z" in shown and "z = x < y ? x : y" in shown
    assert "not compiled yet" in shown
    kernel(np.arange(3.0), 1.0)
    shown = Reader(kernel._repr_html_()).text
    assert kernel.cached_code in shown and "source" in shown
    kernel(np.arange(3), 1)
    assert "source 2 of 2" in Reader(kernel._repr_html_()).text


def test_reduction_scan_raw_and_explanation(q):
    total = q.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total", options=("-DN=1",))
    shown = Reader(total._repr_html_()).text
    assert "a + b" in shown and "-DN=1" in shown and "identity" in shown
    assert "a + b" in Reader(q.ScanKernel("T x", "T y", "x", "a + b", "y = a")._repr_html_()).text
    code = '// adds "&"\nextern "C" __global__ void f(float *x) { x[0] += 0x1p3f; }\n'
    assert code.strip() in Reader(q.RawKernel(code, "f")._repr_html_()).text
    assert code.strip() in Reader(q.RawModule(code=code)._repr_html_()).text
    shown = Reader(total.explain(np.arange(5.0))._repr_html_()).text
    assert "5 elements" in shown and "T=float64" in shown and "grid 1" in shown


def test_error(q):
    with pytest.raises(q.CompileError) as raised:
        q.ElementwiseKernel("T x", "T y", "y = sqroot<x>(x)")(np.arange(3.0))
    shown = Reader(raised.value._repr_html_())
    assert str(raised.value).replace("\n", "") in shown.text.replace("\n", "").partition(" ")[2]
    assert shown.marked.startswith("CompileError|") and "^~~~~~" in shown.marked
    assert "compiler's log" in shown.text
    with pytest.raises(q.SignatureError) as raised:
        q.ElementwiseKernel("T x,, T y", "T z", "z = x")
    assert "^" in Reader(raised.value._repr_html_()).marked
    assert Reader(q.Error("made <by> hand")._repr_html_()).text == "Error made <by> hand"


def test_cells(q):
    from pyquern.magic import define

    (name, kernel), *_ = define("twice: T x -> T y", "y = 2 * x\n").items()
    assert name == "twice" and kernel(np.arange(3)).tolist() == [0, 2, 4]
    made = define(
        "length: T x -> T y", "map: x * x\n\nreduce: a + b\npost: y = sqrt(a)\nidentity: 0"
    )
    assert made["length"](np.array([3.0, 4.0])) == 5
    made = define("running: T x -> T y", "scan: max(a, b)")
    assert made["running"](np.array([1, 3, 2])).tolist() == [1, 3, 3]
    source = "__global__ void plain(int *x) { x[threadIdx.x] = N; }\n"
    source += 'extern "C" __global__ void ours(int *x) { x[threadIdx.x] = 2; }\n'
    made = define("-DN=7 --std=c++17", source)
    assert sorted(made) == ["ours", "plain"]
    x = q.zeros(2, "int32")
    made["plain"](1, 2, (x,))
    assert x.tolist() == [7, 7]


@pytest.mark.parametrize(
    "line, cell, message",
    [
        ("twice", "y = x", "write NAME: INPUTS -> OUTPUTS"),
        ("2x: T x -> T y", "y = x", "write NAME: INPUTS -> OUTPUTS"),
        ("f: T x -> T y", "map: x\npost: y = a", "'reduce:' or a line 'scan:'"),
        ("f: T x -> T y", "reduce: a\nreduce: b", "two lines 'reduce:'"),
        ("", "__device__ int f() { return 1; }", "the source has no kernel"),
    ],
)
def test_cells_that_are_wrong(q, line, cell, message):
    from pyquern.magic import define

    with pytest.raises(ValueError) as raised:
        define(line, cell)
    assert message in str(raised.value)


@pytest.fixture
def shell(q):
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "pyquern.magic")
    return shell


def test_in_ipython(q, shell):
    shell.run_cell("import numpy as np")
    ran = shell.run_cell("%%quern square: T x -> T y\ny = x * x\n")
    assert ran.success and isinstance(ran.result, q.ElementwiseKernel)
    data, _ = shell.display_formatter.format(ran.result)
    assert "T x → T y" in data["text/html"]
    assert shell.run_cell("square(np.arange(3))").result.tolist() == [0, 1, 4]
    source = 'extern "C" __global__ void a() {}\nextern "C" __global__ void b() {}'
    assert shell.run_cell("%%quern\n" + source).result is None
    assert isinstance(shell.user_ns["a"], q.RawKernel) and "b" in shell.user_ns


def test_errors_in_ipython(q, shell, capsys):
    ran = shell.run_cell('%%quern\nextern "C" __global__ void f() { wrong(); }')
    assert isinstance(ran.error_in_exec, q.CompileError)
    assert 'identifier "wrong" is undefined' in capsys.readouterr().out
    ran = shell.run_cell("%%quern f T x -> T y\ny = x")
    assert isinstance(ran.error_in_exec, ValueError)


def test_import_needs_neither_numpy_nor_ipython():
    heavy = ("numpy", "IPython", "ctypes", "typing", "difflib", "textwrap")
    code = (
        "import sys; before = set(sys.modules); import pyquern, pyquern.magic; "
        f"print([n for n in {heavy} if n in set(sys.modules) - before])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
