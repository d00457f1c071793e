# SPDX-License-Identifier: MIT
#
# Pictures for the examples, by zlib alone. In: arrays of bytes, (height, width) in grey or (height,
# width, 3) in red, green, blue. Out: PNG files; several frames are an animated PNG, which browsers
# and most viewers play.
"""PNG files, still and animated."""

import struct
import sys
import zlib
from pathlib import Path


def _chunk(name, data):
    whole = name + data
    return struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))


def _packed(frame):
    """Rows of a frame, each behind a byte that says that it is not filtered, compressed."""
    return zlib.compress(b"".join(b"\0" + row.tobytes() for row in frame), 9)


def write(path, *frames, seconds=0.05):
    """Write one frame, or several that are shown for `seconds` each, for ever. Prints the path."""
    height, width = frames[0].shape[:2]
    kind = 2 if frames[0].ndim == 3 else 0
    parts = [b"\x89PNG\r\n\x1a\n"]
    parts.append(_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)))
    if len(frames) > 1:
        parts.append(_chunk(b"acTL", struct.pack(">II", len(frames), 0)))
    number = 0
    for place, frame in enumerate(frames):
        data = _packed(frame)
        if len(frames) > 1:
            control = (number, width, height, 0, 0, round(seconds * 1000), 1000, 0, 0)
            parts.append(_chunk(b"fcTL", struct.pack(">IIIIIHHBB", *control)))
            number += 1
        if place == 0:
            parts.append(_chunk(b"IDAT", data))
        else:
            parts.append(_chunk(b"fdAT", struct.pack(">I", number) + data))
            number += 1
    parts.append(_chunk(b"IEND", b""))
    Path(path).write_bytes(b"".join(parts))
    print(path)


def folder():
    """The folder that the command line names, which is made; else the current one."""
    place = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    place.mkdir(parents=True, exist_ok=True)
    return place
