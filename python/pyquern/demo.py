# SPDX-License-Identifier: MIT
#
# python -m pyquern.demo: the Mandelbrot set as text, by one kernel. In: nothing. Out: a picture on
# standard output, and which device drew it. Works without a GPU, a toolkit or a compiler.
"""A picture from one kernel: ``python -m pyquern.demo``."""

import sys
import time
from array import array

import pyquern as q

PALETTE = b" .:-=+*#%@"

escape = q.ElementwiseKernel(
    "float64 x, float64 y, int32 limit",
    "uint8 shade",
    """
    double a = x, b = y;
    int n = 0;
    while (a * a + b * b < 4 && n < limit) {
        double next = a * a - b * b + x;
        b = 2 * a * b + y;
        a = next;
        n++;
    }
    shade = n == limit ? 9 : n % 9;
    """,
    "mandelbrot",
)


def numbers(shape, values):
    """An array without NumPy, whose import takes longer than all the rest."""
    made = q.empty(shape, "float64")
    made._write(array("d", values), None)
    return made


def main(columns=78, rows=30):
    """Draw it on standard output."""
    began = time.perf_counter()
    x = numbers(columns, [-2.2 + 3.2 * k / (columns - 1) for k in range(columns)])
    y = numbers((rows, 1), [1.2 - 2.4 * k / (rows - 1) for k in range(rows)])
    shades = bytearray(rows * columns)
    escape(x, y, 300)._read(shades, None, True)
    took = (time.perf_counter() - began) * 1e3
    for row in range(rows):
        line = shades[row * columns : (row + 1) * columns]
        sys.stdout.write(bytes(PALETTE[shade] for shade in line).decode() + "\n")
    print(f"{rows * columns} points by one kernel on {q.Device().name}, {took:.0f} ms")


if __name__ == "__main__":
    main()
