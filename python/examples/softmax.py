# SPDX-License-Identifier: MIT
#
# Softmax of each row, as attention in a language model has it: two reductions along an axis and one
# elementwise kernel, on NumPy's arrays. Shows axis=, keepdims= and broadcasting against a column.
# python examples/softmax.py FOLDER writes softmax.txt, and softmax.png: a row for each of 64 words.

import numpy as np
import picture

import pyquern as q

largest = q.ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", None, "largest")
total = q.ReductionKernel(
    "T x, T most", "T y", "exp(x - most)", "a + b", "y = a", "0", "sum_of_exp"
)
share = q.ElementwiseKernel("T x, T most, T sum", "T y", "y = exp(x - most) / sum", "share")


def softmax(x):
    most = largest(x, axis=1, keepdims=True)
    return share(x, most, total(x, most, axis=1, keepdims=True))


def main(folder, words=64, features=16):
    random = np.random.default_rng(3)
    words_ = np.cumsum(random.normal(0, 0.4, (words, features)), axis=0).astype("float32")
    scores = words_ @ words_.T / np.sqrt(features, dtype="float32")
    scores += np.triu(np.full_like(scores, -np.inf), 1)  # a word does not look at later ones
    got = softmax(scores)

    exact = np.exp(scores.astype(float) - scores.max(1, keepdims=True))
    exact /= exact.sum(1, keepdims=True)
    lines = [
        f"rows {words}, each sums to 1 within {abs(got.sum(1) - 1).max():.1e}",
        f"largest difference from float64: {abs(got - exact).max():.1e}",
    ]
    (folder / "softmax.txt").write_text("\n".join(lines) + "\n")
    print(*lines, sep="\n")
    shades = q.evaluate("uint8(255 * sqrt(p))", p=got)
    picture.write(folder / "softmax.png", shades.repeat(5, 0).repeat(5, 1))


if __name__ == "__main__":
    main(picture.folder())
