# SPDX-License-Identifier: MIT
#
# Devices: which one this thread works on. In: "cuda:0", "soft", a number. Out: facts, and a context
# in which another device is the one.
"""Devices, and the one that this thread works on."""

from . import _core
from ._cache import Cache


class Device:
    """A device: ``Device()`` is the thread's own, ``Device(1)`` the second GPU, ``Device("soft")``
    the software device. It is opened at once.

    >>> with Device("soft"):
    ...     pass
    """

    __slots__ = ("_facts", "_before")

    def __init__(self, device=None):
        if isinstance(device, Device):
            device = device.id
        elif isinstance(device, int):
            device = f"cuda:{device}"
        self._facts = _core.device_open(device)
        self._before = []

    @classmethod
    def _at(cls, place):
        """The device at a place of the extension's table, which is open."""
        self = cls.__new__(cls)
        self._facts = _core.device_at(place)
        self._before = []
        return self

    @property
    def _place(self):
        return self._facts["place"]

    @property
    def number(self):
        """Of the GPU, as CUDA counts them; -1 of the software device."""
        return self._facts["number"]

    @property
    def id(self):
        """What opens it: "cuda:0", "soft"."""
        return self._facts["id"]

    @property
    def name(self):
        return self._facts["name"]

    @property
    def target(self):
        """What is compiled for: "sm_90", "compute_75"."""
        return self._facts["target"]

    @property
    def uuid(self):
        return self._facts["uuid"]

    @property
    def is_gpu(self):
        return self._facts["is_gpu"]

    @property
    def memory_bytes(self):
        return self._facts["memory"]

    @property
    def cache(self):
        """The compiled kernels that are kept."""
        return Cache(self._place)

    def remote_stats(self):
        """What the store that machines share has done: a dictionary with the names of
        quern_remote_stats, and `problem`."""
        return _core.remote_stats(self._place)

    def use(self):
        """From now on this thread works on this device."""
        _core.device_use(self._facts["place"])

    def synchronize(self):
        """Wait until all work of this device is done."""
        with self:
            _core.synchronize()

    def __enter__(self):
        self._before.append(_core.device_use(self._facts["place"]))
        return self

    def __exit__(self, *unused):
        _core.device_use(self._before.pop())

    def __eq__(self, other):
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self):
        return hash(self.id)

    def __repr__(self):
        return f"<Device {self.id}: {self.name}>"
