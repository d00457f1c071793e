# SPDX-License-Identifier: MIT
#
# The gallery: each example is run as a user runs it, and its pictures and numbers are looked at.
# In: examples/. Out: pictures in a folder of pytest's. The thing to know: PNG is read here by a
# reader of its own, which knows only what the examples write.
import itertools
import os
import pathlib
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

HOME = pathlib.Path(__file__).parent.parent
EXAMPLES = sorted(p.stem for p in (HOME / "examples").glob("*.py") if p.stem != "picture")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Runs an example once; its folder and what it printed."""
    done = {}

    def run(name):
        if name not in done:
            folder = tmp_path_factory.mktemp(name) / "new" / "folder"
            command = [sys.executable, str(HOME / "examples" / f"{name}.py"), str(folder)]
            environment = os.environ | {"PYTHONPATH": str(HOME)}
            ran = subprocess.run(command, env=environment, capture_output=True, text=True)
            assert ran.returncode == 0, ran.stderr
            done[name] = folder, ran.stdout
        return done[name]

    return run


def frames(path):
    """The frames of a PNG file, every chunk checked."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, made, numbers, count = 8, [], [], 1
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        (crc,) = struct.unpack(">I", data[at + 8 + length : at + 12 + length])
        assert crc == zlib.crc32(name + body)
        at += 12 + length
        if name == b"IHDR":
            width, height, bits, kind = struct.unpack(">IIBB", body[:10])
            assert bits == 8
            depth = {0: 1, 2: 3}[kind]
        elif name == b"acTL":
            count = struct.unpack(">I", body[:4])[0]
        elif name == b"fcTL":
            numbers.append(struct.unpack(">I", body[:4])[0])
        elif name in (b"IDAT", b"fdAT"):
            if name == b"fdAT":
                numbers.append(struct.unpack(">I", body[:4])[0])
                body = body[4:]
            rows = np.frombuffer(zlib.decompress(body), "uint8").reshape(height, -1)
            assert not rows[:, 0].any()
            made.append(rows[:, 1:].reshape(height, width, depth))
    assert name == b"IEND" and numbers == list(range(len(numbers))) and len(made) == count
    return made


@pytest.mark.parametrize("name", EXAMPLES)
def test_runs(run, name):
    folder, printed = run(name)
    assert printed and any(folder.iterdir())
    text = (HOME / "examples" / f"{name}.py").read_text()
    assert text.startswith("# SPDX-License-Identifier: MIT\n#\n# ")
    for made in folder.iterdir():
        assert made.name in text
        assert made.suffix != ".png" or frames(made)


def test_mandelbrot(run):
    (image,) = frames(run("mandelbrot")[0] / "mandelbrot.png")
    assert image.shape == (360, 480, 3)
    inside = ~image.any(axis=2)
    assert (inside == inside[::-1]).mean() > 0.999  # above and below the axis
    x, y = np.linspace(-2.2, 1.0, 480), np.linspace(1.2, -1.2, 360)[:, None]
    assert inside[(x + 1) ** 2 + y**2 < 0.06].all()
    assert not inside[x**2 + y**2 > 4.1].any()
    assert 1.4 < inside.mean() * 3.2 * 2.4 < 1.7  # its area is 1.5065


def test_heat(run):
    film = frames(run("heat")[0] / "heat.png")
    assert len(film) == 40
    heat = [frame.astype(float).sum(axis=2) / 765 for frame in film]
    assert set(np.unique(heat[0])) == {0, 1}
    for before, after in itertools.pairwise(heat):
        assert after.std() < before.std()  # it spreads, and none is lost
        assert abs(after.mean() - heat[0].mean()) < 0.01


def test_softmax(run):
    folder, printed = run("softmax")
    assert float(printed.splitlines()[1].split()[-1]) < 1e-6
    (image,) = frames(folder / "softmax.png")
    small = image[::5, ::5, 0]
    assert not np.triu(small, 1).any() and small[0, 0] == 255


def test_histogram(run):
    folder, _ = run("histogram")
    counts = np.loadtxt(folder / "histogram.txt")
    assert len(counts) == 60 and 99_900 < counts[:, 1].sum() <= 100_000
    (image,) = frames(folder / "histogram.png")
    heights = (image[:, ::6, 0] == 40).sum(axis=0)
    assert abs(heights - counts[:, 1] / counts[:, 1].max() * 240).max() <= 1


def test_monte_carlo(run):
    lines = run("monte_carlo")[1].splitlines()
    pi, _, price, _ = map(float, lines[-2].split()[1:])
    assert abs(pi - np.pi) < 0.01 and abs(price - float(lines[-1].split()[-1])) < 0.1
