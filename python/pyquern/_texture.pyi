# SPDX-License-Identifier: MIT
#
# Types of _texture.py, for type checkers. In: _texture.py. Out: nothing at run time.
from collections.abc import Sequence
from typing import Any, Self

from . import _core
from ._array import ndarray
from ._core import _Stream

class ChannelFormatDescriptor:
    channels: int
    dtype: str
    def __init__(self, x: int, y: int, z: int, w: int, f: int) -> None: ...
    def get_channel_format(self) -> dict[str, int]: ...

class CUDAarray(_core.CudaArray):
    desc: ChannelFormatDescriptor
    width: int
    height: int
    depth: int
    flags: int
    ndim: int
    def __new__(
        cls,
        desc: ChannelFormatDescriptor,
        width: int,
        height: int = 0,
        depth: int = 0,
        flags: int = 0,
    ) -> Self: ...
    def copy_from(self, in_arr: Any, stream: _Stream = None) -> None: ...
    def copy_to(self, out_arr: Any, stream: _Stream = None) -> None: ...

class ResourceDescriptor:
    restype: int
    cuArr: CUDAarray | None
    arr: ndarray | None
    chDesc: ChannelFormatDescriptor
    def __init__(
        self,
        restype: int,
        cuArr: CUDAarray | None = None,
        arr: Any = None,
        chDesc: ChannelFormatDescriptor | None = None,
        sizeInBytes: int = 0,
        width: int = 0,
        height: int = 0,
        pitchInBytes: int = 0,
    ) -> None: ...
    def get_resource_desc(self) -> dict[str, Any]: ...

class TextureDescriptor:
    addressModes: tuple[int, int, int]
    filterMode: int
    readMode: int
    sRGB: int
    borderColors: tuple[float, float, float, float]
    normalizedCoords: int
    maxAnisotropy: int
    def __init__(
        self,
        addressModes: Sequence[int] | None = None,
        filterMode: int = 0,
        readMode: int = 0,
        sRGB: bool | None = None,
        borderColors: Sequence[float] | None = None,
        normalizedCoords: bool | None = None,
        maxAnisotropy: int | None = None,
    ) -> None: ...
    def get_texture_desc(self) -> dict[str, Any]: ...

class TextureObject(_core.Texture):
    ResDesc: ResourceDescriptor
    TexDesc: TextureDescriptor
    def __new__(cls, ResDesc: ResourceDescriptor, TexDesc: TextureDescriptor) -> Self: ...

class SurfaceObject(_core.Surface):
    ResDesc: ResourceDescriptor
    def __new__(cls, ResDesc: ResourceDescriptor) -> Self: ...
