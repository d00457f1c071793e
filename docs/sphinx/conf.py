# SPDX-License-Identifier: MIT
#
# How Sphinx makes HTML of the documents, the public headers and the Python package: ./dev docs. In: the
# repository's root as the folder of sources, and pyquern on the path, built. Out: pages in build/docs. The thing
# to know: comments of headers and docstrings are plain text with `code` in it, which is made reStructuredText here.
"""Sphinx's settings."""

import pathlib
import re
import subprocess

top = pathlib.Path(__file__).parents[2]

project = "Quern"
copyright = "its authors"
root_doc = "docs/sphinx/index"
extensions = ["myst_parser", "hawkmoth", "sphinx.ext.autodoc"]
include_patterns = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs/*.md",
    "docs/sphinx/*.md",
    "bench/README.md",
    "bench/shapes.md",
    "python/README.md",
    "samples/README.md",
    "templates/README.md",
]
exclude_patterns = ["build*", "tests", "shared", ".*"]
html_theme = "alabaster"
html_theme_options = {"description": "GPU kernels from C-like snippets", "page_width": "75em"}
html_show_copyright = False

# ---- documents: GitHub's links to headings, and to files that are no pages

myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # a document may begin below its title

# ---- Python

autodoc_mock_imports = ["torch", "jax", "cupy", "numba"]
autodoc_member_order = "groupwise"
autodoc_typehints = "none"
default_role = "code"

# ---- C

hawkmoth_root = str(top)
_builtin = subprocess.run(["cc", "-print-file-name=include"], capture_output=True, text=True, check=True)
hawkmoth_clang = [f"-I{top}/include", "-std=c17", "-isystem", _builtin.stdout.strip()]


def _plain(text):
    """A line of a comment: `code` stays code, and nothing else has a meaning."""
    parts = re.split(r"(`[^`]+`)", text)
    for k, part in enumerate(parts):
        if part.startswith("`"):
            parts[k] = f"`{part}`" if len(part) > 2 else part
        else:
            parts[k] = re.sub(r"([*|\\]|(?<=\w)_(?!\w))", r"\\\1", part)
    return "".join(parts)


def comment(app, lines, transform=None, options=None):
    """The comment of a header as reStructuredText: what is indented after an empty line is code."""
    if lines and lines[0].startswith("<"):  # /**< behind a field
        lines[:] = [lines[0][1:].strip(), *(n.strip() for n in lines[1:])]
    made, code = [], False
    for line in lines:
        line = re.sub(r"^ +\* ?", "", line)  # which Hawkmoth leaves on a last line that has words
        blank = not line.strip()
        indented = line.startswith("    ")
        if not blank and code and not indented:
            code = False
        if indented and not code and (not made or not made[-1].strip()):
            made += ["::", ""]
            code = True
        made.append(line if code or blank else _plain(line))
    lines[:] = made


def setup(app):
    app.connect("hawkmoth-process-docstring", comment)
