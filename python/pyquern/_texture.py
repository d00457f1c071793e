# SPDX-License-Identifier: MIT
#
# Textures and surfaces, with CuPy's names. In: descriptors of what is read, and how. Out: objects
# that raw kernels take. The thing to know: descriptors are plain Python and can be made anywhere;
# CUDA arrays, textures and surfaces need a GPU.
"""Texture and surface objects of a GPU: what `cupy.cuda.texture` has."""

from . import _core, _runtime
from ._array import asarray, empty

_kinds = {
    _runtime.cudaChannelFormatKindSigned: "int",
    _runtime.cudaChannelFormatKindUnsigned: "uint",
    _runtime.cudaChannelFormatKindFloat: "float",
}


class ChannelFormatDescriptor:
    """Bits of the channels x, y, z and w, 0 for those that are not there, and their kind.

    >>> ChannelFormatDescriptor(32, 0, 0, 0, 2).get_channel_format()
    {'x': 32, 'y': 0, 'z': 0, 'w': 0, 'f': 2}
    """

    def __init__(self, x, y, z, w, f):
        self._format = dict(zip("xyzwf", map(int, (x, y, z, w, f)), strict=True))
        bits = [b for b in (x, y, z, w) if b]
        if (
            len(bits) not in (1, 2, 4)
            or any((x, y, z, w)[len(bits) :])
            or len(set(bits)) != 1
            or f not in _kinds
            or bits[0]
            not in ((16, 32) if f == _runtime.cudaChannelFormatKindFloat else (8, 16, 32))
        ):
            raise ValueError(
                f"channels of {(x, y, z, w)} bits and of kind {f}: 1, 2 or 4 channels of the same "
                "8, 16 or 32 bits are expected, and a kind cudaChannelFormatKindSigned, Unsigned "
                "or Float (of 16 or 32 bits)"
            )
        self.channels = len(bits)
        self.dtype = f"{_kinds[f]}{bits[0]}"

    def get_channel_format(self):
        """What it was made of, by name."""
        return dict(self._format)

    def __repr__(self):
        return f"<ChannelFormatDescriptor of {self.channels} x {self.dtype}>"


class CUDAarray(_core.CudaArray):
    """Memory of a GPU of `width` elements, or `height` rows of them, or `depth` layers of rows.

    `flags` are cudaArrayLayered, cudaArraySurfaceLoadStore and cudaArrayTextureGather of
    `pyquern.cuda.runtime`.
    """

    def __new__(cls, desc, width, height=0, depth=0, flags=0):
        if not isinstance(desc, ChannelFormatDescriptor):
            raise TypeError(f"desc is a ChannelFormatDescriptor, not {type(desc)}")
        known = (
            _runtime.cudaArrayLayered
            | _runtime.cudaArraySurfaceLoadStore
            | _runtime.cudaArrayTextureGather
        )
        if flags & ~known:
            raise ValueError(f"flags of a CUDAarray are {flags}: cubemaps and others are not there")
        if min(width, height, depth) < 0 or not width:
            raise ValueError(f"a CUDAarray of {(width, height, depth)} elements cannot be")
        layered = flags & _runtime.cudaArrayLayered
        if depth and not height and not layered:
            raise ValueError("a CUDAarray with a depth has a height, unless it is layered")
        shape = tuple(extent for extent in (depth, height, width) if extent)
        self = super().__new__(
            cls,
            shape,
            desc.dtype,
            desc.channels,
            int(bool(layered)),
            int(bool(flags & _runtime.cudaArraySurfaceLoadStore)),
            int(bool(flags & _runtime.cudaArrayTextureGather)),
        )
        self.desc = desc
        self.width, self.height, self.depth, self.flags = width, height, depth, flags
        self.ndim = 3 if depth else 2 if height else 1
        self._shape = (*shape[:-1], width * desc.channels)
        return self

    def _check(self, array):
        if array.dtype != self.desc.dtype:
            raise ValueError(
                f"the array is of {array.dtype}, and the CUDAarray's channels are {self.desc.dtype}"
            )
        apart = (*self._shape[:-1], self.width, self.desc.channels)
        if tuple(array.shape) not in (self._shape, apart):
            raise ValueError(
                f"the array's shape is {tuple(array.shape)}, and the CUDAarray takes {self._shape}:"
                " (depth, height, width x channels)"
            )

    def copy_from(self, in_arr, stream=None):
        """Copy all of an array, ours, NumPy's or another library's, in the order of the stream."""
        array = asarray(in_arr)
        self._check(array)
        self._write(array, stream)

    def copy_to(self, out_arr, stream=None):
        """Copy all of it to an array of NumPy, for which it waits until the elements are there, or
        to one in the device's memory, of any library."""
        import numpy

        if isinstance(out_arr, numpy.ndarray):
            self._check(out_arr)
            array = empty(out_arr.shape, out_arr.dtype)
            self._read(array, stream)
            array.get(stream=stream, out=out_arr)
            return
        array = _core.take(out_arr)  # and no copy, which nobody would see
        self._check(array)
        self._read(array, stream)


class ResourceDescriptor:
    """What a texture or a surface reads: a CUDAarray, an array's elements, or rows of it.

    `restype` is cudaResourceTypeArray, Linear or Pitch2D of `pyquern.cuda.runtime`. Linear memory
    has `sizeInBytes`, rows have `width`, `height` and `pitchInBytes`.
    """

    def __init__(
        self,
        restype,
        cuArr=None,
        arr=None,
        chDesc=None,
        sizeInBytes=0,
        width=0,
        height=0,
        pitchInBytes=0,
    ):
        if restype == _runtime.cudaResourceTypeArray:
            if not isinstance(cuArr, CUDAarray):
                raise ValueError("a resource of type cudaResourceTypeArray has a CUDAarray: cuArr")
        elif restype in (_runtime.cudaResourceTypeLinear, _runtime.cudaResourceTypePitch2D):
            if arr is None or not isinstance(chDesc, ChannelFormatDescriptor):
                raise ValueError(
                    "a resource of memory has an array, arr, and its ChannelFormatDescriptor, "
                    "chDesc"
                )
            arr = asarray(arr)
        else:
            raise ValueError(
                f"restype is {restype}: it is cudaResourceTypeArray, cudaResourceTypeLinear or "
                "cudaResourceTypePitch2D"
            )
        self.restype, self.cuArr, self.arr = restype, cuArr, arr
        self.chDesc = cuArr.desc if cuArr is not None else chDesc
        self._size = sizeInBytes, width, height, pitchInBytes

    def get_resource_desc(self):
        """What it was made of, by name."""
        size, width, height, pitch = self._size
        desc = {"resType": self.restype}
        if self.restype == _runtime.cudaResourceTypeArray:
            return desc | {"array": self.cuArr.ptr}
        desc |= {"devPtr": self.arr.data.ptr, "chDesc": self.chDesc.get_channel_format()}
        if self.restype == _runtime.cudaResourceTypeLinear:
            return desc | {"sizeInBytes": size}
        return desc | {"width": width, "height": height, "pitchInBytes": pitch}

    def _memory(self):
        """The part of the array that is read: elements in a line, or rows."""
        size, width, height, pitch = self._size
        flat = self.arr.reshape(-1)
        if flat.dtype != self.chDesc.dtype:
            raise ValueError(
                f"the array is of {flat.dtype}, and chDesc says channels of {self.chDesc.dtype}"
            )
        item, channels = flat.itemsize, self.chDesc.channels
        if self.restype == _runtime.cudaResourceTypeLinear:
            if not 0 < size <= flat.nbytes or size % (item * channels):
                raise ValueError(
                    f"sizeInBytes is {size}: 1 to the array's {flat.nbytes}, and a multiple of "
                    f"{item * channels}"
                )
            return flat[: size // item]
        if min(width, height) <= 0 or pitch < width * channels * item or pitch % item:
            raise ValueError(
                f"{height} rows of {width} elements, {pitch} bytes apart, cannot be: an element "
                f"has {item * channels} bytes"
            )
        if height * pitch > flat.nbytes:
            raise ValueError(
                f"{height} rows of {pitch} bytes are more than the array's {flat.nbytes}"
            )
        rows = flat[: height * pitch // item].reshape(height, pitch // item)
        return rows[:, : width * channels]


def _padded(values, count, what, default):
    """`values` and as many defaults as are missing."""
    values = tuple(values or ())
    if len(values) > count:
        raise ValueError(f"{what} are {values}: there are at most {count}")
    return values + (default,) * (count - len(values))


class TextureDescriptor:
    """How a texture reads; the modes are numbers of `pyquern.cuda.runtime`.

    `addressModes` are by dimension, from x on; those left out are cudaAddressModeWrap, which
    without `normalizedCoords` means cudaAddressModeClamp.
    """

    def __init__(
        self,
        addressModes=None,
        filterMode=0,
        readMode=0,
        sRGB=None,
        borderColors=None,
        normalizedCoords=None,
        maxAnisotropy=None,
    ):
        self.addressModes = _padded(addressModes, 3, "addressModes", 0)
        self.filterMode, self.readMode = int(filterMode), int(readMode)
        self.sRGB, self.normalizedCoords = int(bool(sRGB)), int(bool(normalizedCoords))
        self.borderColors = tuple(map(float, _padded(borderColors, 4, "borderColors", 0.0)))
        self.maxAnisotropy = int(maxAnisotropy or 0)

    def get_texture_desc(self):
        """What it was made of, by name."""
        return {
            "addressMode": self.addressModes,
            "filterMode": self.filterMode,
            "readMode": self.readMode,
            "sRGB": self.sRGB,
            "borderColor": self.borderColors,
            "normalizedCoords": self.normalizedCoords,
            "maxAnisotropy": self.maxAnisotropy,
        }


class TextureObject(_core.Texture):
    """A texture: the argument of a raw kernel for a parameter of type cudaTextureObject_t."""

    def __new__(cls, ResDesc, TexDesc):
        if not isinstance(ResDesc, ResourceDescriptor):
            raise TypeError(f"ResDesc is a ResourceDescriptor, not {type(ResDesc)}")
        if not isinstance(TexDesc, TextureDescriptor):
            raise TypeError(f"TexDesc is a TextureDescriptor, not {type(TexDesc)}")
        is_array = ResDesc.restype == _runtime.cudaResourceTypeArray
        self = super().__new__(
            cls,
            ResDesc.cuArr if is_array else ResDesc._memory(),
            ResDesc.restype == _runtime.cudaResourceTypePitch2D,
            ResDesc.chDesc.channels,
            TexDesc.addressModes,
            TexDesc.filterMode,
            TexDesc.readMode,
            TexDesc.normalizedCoords,
            TexDesc.sRGB,
            TexDesc.maxAnisotropy,
            TexDesc.borderColors,
        )
        self.ResDesc, self.TexDesc = ResDesc, TexDesc
        return self


class SurfaceObject(_core.Surface):
    """A surface: the argument of a raw kernel for a parameter of type cudaSurfaceObject_t."""

    def __new__(cls, ResDesc):
        if not isinstance(ResDesc, ResourceDescriptor):
            raise TypeError(f"ResDesc is a ResourceDescriptor, not {type(ResDesc)}")
        if ResDesc.restype != _runtime.cudaResourceTypeArray:
            raise ValueError("a surface reads and writes a CUDAarray, and not linear memory")
        self = super().__new__(cls, ResDesc.cuArr)
        self.ResDesc = ResDesc
        return self
