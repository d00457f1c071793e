# SPDX-License-Identifier: MIT
#
# Text files as C strings, made at build time by CMake alone.
#
#   quern_embed(TARGET NAME file... [PARTS file...])
#
# compiles the bytes of the files into TARGET (a target of the same CMakeLists.txt; files relative to
# it), with a part's text, less its opening comment, in place of a line `#include "PART.inc"`, and makes ${PROJECT_BINARY_DIR}/generated/embedded/NAME.h. So
#
#   quern_folder(lang ...)
#   quern_embed(qn_lang templates ../../templates/index.cuh ../../templates/elementwise.cu)
#
# gives to every file that includes "embedded/templates.h"
#
#   extern const char qn_embedded_index_cuh[];             the text, terminated by a zero byte
#   extern const char qn_embedded_elementwise_cu[];
#   extern const struct qn_embedded qn_embedded_templates[];
#                 {name "index.cuh", text, size without the zero byte}, ..., and last one of all NULL
#
# The table is in the order given. Names are those of the files without their folder, every
# character that is not a letter or digit turned into _. A changed file is embedded again by the next build.
#
# The same file is run as a script (cmake -P) at build time to write the C source.

if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(QUERN_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE} CACHE INTERNAL "")

  function(quern_embed target name)
    set(folder ${PROJECT_BINARY_DIR}/generated/embedded)
    set(files "")
    set(declarations "")
    cmake_parse_arguments(PARSE_ARGV 2 embed "" "" "PARTS")
    foreach(file IN LISTS embed_UNPARSED_ARGUMENTS)
      get_filename_component(file ${file} ABSOLUTE)
      list(APPEND files ${file})
      get_filename_component(base ${file} NAME)
      string(MAKE_C_IDENTIFIER qn_embedded_${base} symbol)
      string(APPEND declarations "extern const char ${symbol}[];\n")
    endforeach()

    # written only when it differs, so that configuring again compiles nothing again
    file(CONFIGURE OUTPUT ${folder}/${name}.h @ONLY CONTENT
"/* Made by cmake/embed.cmake: do not edit. */
#ifndef QN_EMBEDDED_@name@_H
#define QN_EMBEDDED_@name@_H

#include <stddef.h>

#ifndef QN_EMBEDDED_STRUCT
#define QN_EMBEDDED_STRUCT
struct qn_embedded {
    const char *name; /* \"index.cuh\" */
    const char *text; /* terminated by a zero byte */
    size_t size;      /* without it */
};
#endif

@declarations@extern const struct qn_embedded qn_embedded_@name@[]; /* the last has no name */

#endif
")
    add_custom_command(
      OUTPUT ${folder}/${name}.c
      COMMAND ${CMAKE_COMMAND} -DNAME=${name} "-DFILES=${files}" -DOUTPUT=${folder}/${name}.c
              -P ${QUERN_EMBED_SCRIPT}
      DEPENDS ${files} ${embed_PARTS} ${QUERN_EMBED_SCRIPT}
      COMMENT "Embedding ${name}"
      VERBATIM)
    target_sources(${target} PRIVATE ${folder}/${name}.c)
  endfunction()
  return()
endif()

# ---- as a script: NAME, FILES (a list), OUTPUT ---------------------------------------------------

set(source "/* Made by cmake/embed.cmake: do not edit. */\n#include \"${NAME}.h\"\n")
set(table "")
string(REPEAT "[0-9a-f]" 48 line)
foreach(file IN LISTS FILES)
  get_filename_component(base ${file} NAME)
  string(MAKE_C_IDENTIFIER qn_embedded_${base} symbol)
  get_filename_component(folder ${file} DIRECTORY)
  file(READ ${file} text)
  while(text MATCHES "#include \"([a-z_]+\\.inc)\"\n")
    set(include "${CMAKE_MATCH_0}")
    file(READ ${folder}/${CMAKE_MATCH_1} part)
    string(REGEX REPLACE "^(//[^\n]*\n)+\n" "" part "${part}")
    string(REPLACE "${include}" "${part}" text "${text}")
  endwhile()
  string(HEX "${text}" bytes)
  string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${bytes}")
  string(REPLACE "\n" "\"\n\"" bytes "${bytes}")
  string(APPEND source "\nconst char ${symbol}[] =\n\"${bytes}\";\n")
  string(APPEND table "    {\"${base}\", ${symbol}, sizeof ${symbol} - 1},\n")
endforeach()
string(APPEND source "\nconst struct qn_embedded qn_embedded_${NAME}[] = {\n${table}    {NULL, NULL, 0},\n};\n")
file(WRITE ${OUTPUT} "${source}")
