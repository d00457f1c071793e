# SPDX-License-Identifier: MIT
#
# A histogram: every element adds 1 to its bin. Shows atomic functions on a `raw` parameter that the
# kernel writes, and a loop over an array with no output of its own. python examples/histogram.py
# FOLDER writes histogram.png, and histogram.txt with the number in each bin.

import numpy as np
import picture

import pyquern as q

count = q.ElementwiseKernel(
    "float32 x, float32 low, float32 high, int32 bins",
    "raw uint32 counts",
    """
    if (x >= low && x < high) {
        int bin = min((int)((x - low) / (high - low) * bins), bins - 1);
        atomicAdd(&counts[bin], 1u);
    }
    """,
    "histogram",
)

bar = q.ElementwiseKernel(
    "uint32 count, uint32 most, int32 row, int32 height",
    "uint8 shade",
    "shade = (height - row) * (float)most <= count * (float)height ? 40 : 255",
    "bar",
)


def main(folder, numbers=100_000, bins=60):
    random = np.random.default_rng(5)
    values = np.where(
        random.random(numbers) < 0.6,
        random.normal(-1, 0.6, numbers),
        random.normal(1.5, 0.9, numbers),
    ).astype("float32")
    counts = q.zeros(bins, "uint32")
    count(q.asarray(values), -4, 5, bins, counts)

    got = counts.get()
    edges = np.linspace(-4, 5, bins + 1)
    lines = [f"{edge:6.2f} {n}" for edge, n in zip(edges, got, strict=False)]
    (folder / "histogram.txt").write_text("\n".join(lines) + "\n")
    print(f"{got.sum()} of {numbers} numbers in {bins} bins, at most {got.max()} in one")
    height = 240
    rows = q.asarray(np.arange(height, dtype="int32")[:, None])
    picture.write(folder / "histogram.png", bar(got, got.max(), rows, height).get().repeat(6, 1))


if __name__ == "__main__":
    main(picture.folder())
