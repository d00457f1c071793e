# SPDX-License-Identifier: MIT
#
# Numbers of CUDA's runtime, under the names of `cupy.cuda.runtime`, which the descriptors of
# textures take. In: nothing. Out: constants.
"""Constants of CUDA's runtime that textures and surfaces take."""

cudaChannelFormatKindSigned = 0
cudaChannelFormatKindUnsigned = 1
cudaChannelFormatKindFloat = 2
cudaChannelFormatKindNone = 3

cudaResourceTypeArray = 0
cudaResourceTypeMipmappedArray = 1
cudaResourceTypeLinear = 2
cudaResourceTypePitch2D = 3

cudaAddressModeWrap = 0
cudaAddressModeClamp = 1
cudaAddressModeMirror = 2
cudaAddressModeBorder = 3

cudaFilterModePoint = 0
cudaFilterModeLinear = 1

cudaReadModeElementType = 0
cudaReadModeNormalizedFloat = 1

cudaArrayDefault = 0
cudaArrayLayered = 1
cudaArraySurfaceLoadStore = 2
cudaArrayCubemap = 4
cudaArrayTextureGather = 8
