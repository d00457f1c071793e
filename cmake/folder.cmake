# SPDX-License-Identifier: MIT
#
# The functions that the folders' lists are written with.

# quern_folder(NAME source...): the object library qn_NAME of one folder of the ladder.
function(quern_folder name)
  add_library(qn_${name} OBJECT ${ARGN})
  target_include_directories(qn_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src
                                               ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)
endfunction()

# quern_unit_test(NAME LINK folder... [SOURCES file...]): a Criterion program from NAME.c.
function(quern_unit_test name)
  cmake_parse_arguments(ARG "" "" "LINK;SOURCES" ${ARGN})
  add_executable(${name} ${name}.c ${ARG_SOURCES})
  foreach(folder IN LISTS ARG_LINK)
    target_link_libraries(${name} PRIVATE qn_${folder})
  endforeach()
  target_link_libraries(${name} PRIVATE criterion Threads::Threads ${CMAKE_DL_LIBS} m)
  add_test(NAME unit.${name} COMMAND ${name})
  set_tests_properties(unit.${name} PROPERTIES
    LABELS unit ENVIRONMENT "${QUERN_TEST_ENVIRONMENT}")
endfunction()

# quern_subdirectory(FOLDER): add it when it has a list.
function(quern_subdirectory folder)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt)
    add_subdirectory(${folder})
  endif()
endfunction()
