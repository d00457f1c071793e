# SPDX-License-Identifier: MIT
#
# The target xxHash::xxHash: distributions ship the library without a CMake package.
find_path(xxHash_INCLUDE_DIR xxhash.h)
find_library(xxHash_LIBRARY xxhash)
mark_as_advanced(xxHash_INCLUDE_DIR xxHash_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(xxHash
  REQUIRED_VARS xxHash_LIBRARY xxHash_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libxxhash-dev (Debian, Ubuntu) or xxhash-devel (Fedora)")

if(xxHash_FOUND AND NOT TARGET xxHash::xxHash)
  add_library(xxHash::xxHash UNKNOWN IMPORTED)
  set_target_properties(xxHash::xxHash PROPERTIES
    IMPORTED_LOCATION ${xxHash_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${xxHash_INCLUDE_DIR})
endif()
