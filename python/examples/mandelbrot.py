# SPDX-License-Identifier: MIT
#
# The Mandelbrot set in colours: one kernel says how fast each point escapes, another paints it.
# Shows broadcasting (a row of x, a column of y), several outputs, and outputs that are views of one
# array. python examples/mandelbrot.py FOLDER writes mandelbrot.png.

import numpy as np
import picture

import pyquern as q

escape = q.ElementwiseKernel(
    "float64 x, float64 y, int32 limit",
    "float32 speed",
    """
    double a = x, b = y;
    int n = 0;
    while (a * a + b * b < 256 && n < limit) {
        double next = a * a - b * b + x;
        b = 2 * a * b + y;
        a = next;
        n++;
    }
    // The fraction makes the colours run without steps; the set itself is -1.
    speed = n == limit ? -1 : n + 1 - log2(log2(a * a + b * b) / 2);
    """,
    "escape",
)

paint = q.ElementwiseKernel(
    "float32 speed",
    "uint8 red, uint8 green, uint8 blue",
    """
    float t = 0.25f * sqrt(max(speed, 0.0f)) * 6.2832f;
    red = speed < 0 ? 0 : 127.5f - 127.5f * cos(t);
    green = speed < 0 ? 0 : 127.5f - 127.5f * cos(t - 0.5f);
    blue = speed < 0 ? 0 : 127.5f - 127.5f * cos(t - 1.2f);
    """,
    "paint",
)


def main(folder, width=480, height=360):
    x = q.asarray(np.linspace(-2.2, 1.0, width))
    y = q.asarray(np.linspace(1.2, -1.2, height)[:, None])
    image = q.empty((height, width, 3), "uint8")
    paint(escape(x, y, 300), image[:, :, 0], image[:, :, 1], image[:, :, 2])
    picture.write(folder / "mandelbrot.png", image.get())


if __name__ == "__main__":
    main(picture.folder())
