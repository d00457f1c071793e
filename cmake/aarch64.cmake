# SPDX-License-Identifier: MIT
#
# A toolchain file: builds for 64-bit ARM Linux on another machine, with Debian's cross compiler.
#
#     cmake --preset aarch64        with what `./dev aarch64` puts into build/aarch64/root
#
# QUERN_AARCH64_ROOT is a folder with the C library, SQLite and xxHash of such a machine (usr/include,
# usr/lib/aarch64-linux-gnu); without it the cross compiler's own places are used, as with Debian's
# multiarch packages. Programs, the tests among them, are run by QEMU where that is installed.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES QUERN_AARCH64_ROOT)
find_program(QUERN_QEMU NAMES qemu-aarch64-static qemu-aarch64)
mark_as_advanced(QUERN_QEMU)
if(QUERN_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${QUERN_QEMU})
endif()

if(QUERN_AARCH64_ROOT)
  set(CMAKE_SYSROOT ${QUERN_AARCH64_ROOT})
  set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
  set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
  set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
  set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
  if(QUERN_QEMU)
    list(APPEND CMAKE_CROSSCOMPILING_EMULATOR -L ${QUERN_AARCH64_ROOT})
  endif()
endif()
