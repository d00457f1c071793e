# SPDX-License-Identifier: MIT
#
# quern_add_pack(TARGET KERNELS file ARCHS name... [NAME name] [LEVEL n] [WITHOUT_SOURCE] [DEPENDS file...])
#
# Compiles a list of kernels when TARGET is built, without a GPU, and puts the pack into TARGET as the
# array NAME (default: TARGET_pack) of NAME_bytes bytes, which NAME.h declares:
#
#     #include "app_pack.h"
#     options.pack_data = app_pack;
#     options.pack_bytes = app_pack_bytes;
#
# The pack is also a file, NAME.qpack in the build folder. ARCHS are as those of `quern build`: sm_90,
# compute_90, soft. DEPENDS are files that the list names. QUERN_COMMAND is the command to run, where
# it is not Quern's own: when cross compiling, that of the machine that builds.
function(quern_add_pack target)
  cmake_parse_arguments(PARSE_ARGV 1 PACK "WITHOUT_SOURCE" "KERNELS;NAME;LEVEL" "ARCHS;DEPENDS")
  if(PACK_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "quern_add_pack does not know ${PACK_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT PACK_KERNELS OR NOT PACK_ARCHS)
    message(FATAL_ERROR "quern_add_pack needs KERNELS file and ARCHS name...")
  endif()
  if(NOT PACK_NAME)
    string(MAKE_C_IDENTIFIER "${target}_pack" PACK_NAME)
  endif()
  if(QUERN_COMMAND)
    set(command "${QUERN_COMMAND}")
  elseif(TARGET quern-cli)
    set(command $<TARGET_FILE:quern-cli>)
    list(APPEND PACK_DEPENDS quern-cli)
  else()
    message(FATAL_ERROR "quern_add_pack needs the command quern; set QUERN_COMMAND to its path")
  endif()
  get_filename_component(kernels "${PACK_KERNELS}" ABSOLUTE)
  list(JOIN PACK_ARCHS "," archs)
  set(options)
  if(DEFINED PACK_LEVEL)
    list(APPEND options --level=${PACK_LEVEL})
  endif()
  if(PACK_WITHOUT_SOURCE)
    list(APPEND options --without-source)
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${PACK_NAME}.dir")
  set(pack "${CMAKE_CURRENT_BINARY_DIR}/${PACK_NAME}.qpack")
  add_custom_command(OUTPUT "${pack}"
    COMMAND "${command}" build "${kernels}" --arch=${archs} --output=${pack} ${options}
    DEPENDS "${kernels}" ${PACK_DEPENDS} COMMENT "Compiling ${PACK_KERNELS} for ${archs}" VERBATIM)

  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(suffix cpp)
  if("C" IN_LIST languages)
    set(suffix c)
  endif()
  file(CONFIGURE OUTPUT "${folder}/${PACK_NAME}.h" @ONLY CONTENT [=[
/* The pack of compiled kernels in this program, for quern_options.pack_data and pack_bytes. */
#ifndef QUERN_PACK_@PACK_NAME@
#define QUERN_PACK_@PACK_NAME@
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
extern const unsigned char @PACK_NAME@[];
extern const size_t @PACK_NAME@_bytes;
#ifdef __cplusplus
}
#endif
#endif
]=])
  set(source "${folder}/${PACK_NAME}.${suffix}")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT [=[
__asm__(".section .rodata\n"
        ".balign 16\n"
        ".globl @PACK_NAME@\n"
        ".type @PACK_NAME@, %object\n"
        "@PACK_NAME@:\n"
        ".incbin \"@pack@\"\n"
        ".L@PACK_NAME@_end:\n"
        ".size @PACK_NAME@, .L@PACK_NAME@_end - @PACK_NAME@\n"
        ".balign 8\n"
        ".globl @PACK_NAME@_bytes\n"
        ".type @PACK_NAME@_bytes, %object\n"
        ".size @PACK_NAME@_bytes, 8\n"
        "@PACK_NAME@_bytes:\n"
        ".quad .L@PACK_NAME@_end - @PACK_NAME@\n"
        ".text\n");
]=])
  set_property(SOURCE "${source}" APPEND PROPERTY OBJECT_DEPENDS "${pack}")
  target_sources(${target} PRIVATE "${source}" "${pack}")
  target_include_directories(${target} PRIVATE "${folder}")
endfunction()
