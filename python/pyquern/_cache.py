# SPDX-License-Identifier: MIT
#
# The cache of compiled kernels, as its owner sees it. In: a device. Out: counts, entries, packs.
# The thing to know: all devices of a process keep their kernels in one file; a device only has
# counts of its own.
"""Compiled kernels: what is kept, and packs of them."""

import os

from . import _core


class Cache:
    """The compiled kernels that are kept: ``Device().cache``.

    Calls never need it, and never fail because of it; what is asked for here raises CacheError
    where there is none.
    """

    __slots__ = ("_place",)

    def __init__(self, place):
        self._place = place

    @property
    def path(self):
        """Of the database, or "" where there is none."""
        return self.stats()["path"]

    @property
    def problem(self):
        """Why it is not used, or ""."""
        return self.stats()["problem"]

    def stats(self):
        """What it holds, and what this process had of it on this device: a dictionary with the
        names of quern_cache_stats, `path`, `problem` and `last_miss` (what was compiled last, and
        why)."""
        return _core.cache_stats(self._place)

    def entries(self, digits=""):
        """A dictionary for each kernel whose key begins with `digits`, the most recently used
        first: `key`, `name`, `target`, `source`, `image_bytes`, `compile_ms`, ..."""
        return _core.cache_entries(self._place, digits)

    def clear(self):
        """Remove all; returns how many there were. Kernels that are loaded stay in use."""
        return _core.cache_clear(self._place)

    def prune(self, to=None, *, unused=0):
        """Remove the least recently used until at most `to` bytes are in use (None: the limit), and
        what was not used for `unused` days (0: of any age). Returns how many were removed."""
        limit = self.stats()["limit"] if to is None else to
        return _core.cache_prune(self._place, limit, unused)

    def verify(self):
        """Read and check every entry; returns how many there are, and how many of them were damaged
        and are removed."""
        return _core.cache_verify(self._place)

    def export_pack(self, path, *, digits="", source=True, level=0):
        """Write the kernels whose keys begin with `digits` to a pack, a file that programs open
        with use_packs(). `source=False` leaves sources out: smaller, and nobody reads them, but it
        cannot be imported. `level`: of zstd, 1 to 19; 0 is the default, -1 does not pack. Returns
        how many were written."""
        return _core.cache_export(self._place, path, digits, not source, level)

    def import_pack(self, path):
        """Put the kernels of a pack into the cache; returns how many were not there. A pack is
        code: import what you would run."""
        return _core.cache_import(self._place, path)

    def push(self, digits="", *, progress=None):
        """Write the kernels whose keys begin with `digits`, and their recipes, to the store that
        machines share (QUERN_REMOTE), and wait until they are there.

        `progress(done, wanted, key, name)` is called for each. Returns how many were `wanted`,
        `had` there already, `sent`, and `left` out because they are damaged or not taken.
        """
        return _core.cache_push(self._place, digits, progress)

    def prewarm(self, keys, *, compile=True, progress=None):
        """Fill the cache with the kernels of these keys, as entries() and progress of push() give
        them: from the store that machines share where it has them, otherwise compiled from their
        recipes, there or here (not with `compile=False`). Machines that do this at once share the
        compiling; `quern prewarm` also does so with several processes.

        `progress(done, wanted, key, name)` is called for each. Returns how many were `wanted`,
        `had` already, `received`, `compiled`, and `left` out because there is no recipe or it does
        not compile here.
        """
        return _core.cache_prewarm(self._place, tuple(keys), not compile, progress)

    def __repr__(self):
        return f"<Cache {self.path or self.problem}>"


def use_packs(*paths):
    """Look into these packs of compiled kernels, in turn, before the cache and the compiler. To be
    called before a device is opened; those of QUERN_PACKS come first.

    One that cannot be read gives a warning on standard error, and is left out.
    """
    _core.packs_use(tuple(os.path.abspath(os.fsencode(path)) for path in paths))
