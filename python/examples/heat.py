# SPDX-License-Identifier: MIT
#
# Heat that spreads through a plate: each step is one kernel, in which every point looks at its four
# neighbours. Shows `raw` parameters and the kernel's own index, and bind(), which checks and packs
# a call once for many launches. python examples/heat.py FOLDER writes heat.png, which is animated.

import numpy as np
import picture

import pyquern as q

step = q.ElementwiseKernel(
    "raw float32 now, float32 speed, int32 height, int32 width",
    "float32 next",
    """
    int row = i / width, column = i % width;
    float here = now[i];
    // The edges let no heat out: beyond them it is as warm as on them.
    float up = row > 0 ? now[i - width] : here;
    float down = row < height - 1 ? now[i + width] : here;
    float left = column > 0 ? now[i - 1] : here;
    float right = column < width - 1 ? now[i + 1] : here;
    next = here + speed * (up + down + left + right - 4 * here);
    """,
    "heat",
)

glow = q.ElementwiseKernel(
    "float32 heat",
    "uint8 red, uint8 green, uint8 blue",
    """
    red = 255 * min(3 * heat, 1.0f);
    green = 255 * min(max(3 * heat - 1, 0.0f), 1.0f);
    blue = 255 * min(max(3 * heat - 2, 0.0f), 1.0f);
    """,
    "glow",
)


def hot_places(height, width):
    """A cold plate with a ring and three bars of heat."""
    y, x = np.mgrid[-0.75 : 0.75 : height * 1j, -1 : 1 : width * 1j]
    distance = np.hypot(x + 0.3, y)
    ring = (distance > 0.35) & (distance < 0.5)
    bars = (x > 0.4) & (x < 0.8) & (np.abs(y) < 0.5) & (np.floor(y * 6 + 0.5) % 2 == 0)
    return q.asarray((ring | bars).astype("float32"))


def main(folder, width=160, height=120, frames=40, steps=16):
    now, next_ = hot_places(height, width), q.empty((height, width), "float32")
    there = step.bind(now, 0.2, height, width, next_)
    back = step.bind(next_, 0.2, height, width, now)
    image = q.empty((height, width, 3), "uint8")
    film = []
    for _ in range(frames):
        glow(now, image[:, :, 0], image[:, :, 1], image[:, :, 2])
        film.append(image.get())
        for _ in range(steps // 2):
            there.launch()
            back.launch()
    picture.write(folder / "heat.png", *film)


if __name__ == "__main__":
    main(picture.folder())
