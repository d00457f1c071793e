# SPDX-License-Identifier: MIT
#
# Where NVRTC lies: pip puts it beside this package, where no search of the C library looks unless a
# virtual environment is active. In: sys.path. Out: the folder, given to the library. The thing to
# know: what the environment says (QUERN_NVRTC) comes first.
"""The NVRTC that was installed by pip."""

import os
import sys

from . import _core

_PLACES = ((13, "cu13", "libnvrtc.so.13"), (12, "cuda_nvrtc", "libnvrtc.so.12"))


def find(driver_version=0):
    """The folder of pip's NVRTC, the newest first that the driver (13000 for 13.0, 0: any) runs."""
    for major, folder, library in _PLACES:
        if driver_version and major > driver_version // 1000:
            continue
        for entry in sys.path:
            place = os.path.join(entry, "nvidia", folder, "lib")
            if os.path.exists(os.path.join(place, library)):
                return place
    return None


def choose(driver_version):
    """Compile with it, unless the environment names another one."""
    place = None if os.environ.get("QUERN_NVRTC") else find(driver_version)
    if place:
        _core.compiler_use(place)
