# SPDX-License-Identifier: MIT
#
# The two libraries, made of the folders' objects: quern (shared) and quern-static.
set(folders base lang compile cache ptx device array engine)
set(objects "")
foreach(folder IN LISTS folders)
  if(TARGET qn_${folder})
    list(APPEND objects $<TARGET_OBJECTS:qn_${folder}>)
  endif()
endforeach()

if(NOT objects)
  return()
endif()

add_library(quern SHARED ${objects})
add_library(quern-static STATIC ${objects})
add_library(quern::quern ALIAS quern)
add_library(quern::quern-static ALIAS quern-static)

foreach(library quern quern-static)
  target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${library} PRIVATE SQLite::SQLite3 xxHash::xxHash Threads::Threads
                                           ${CMAKE_DL_LIBS} m)
  set_target_properties(${library} PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME quern)
endforeach()
# 1 is the interface of 0.2 and of what follows it (docs/conventions.md, "Versions").
set_target_properties(quern PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 1)
target_link_options(quern PRIVATE -Wl,--as-needed)
if(NOT QUERN_SANITIZE) # a sanitizer's functions are the program's
  target_link_options(quern PRIVATE -Wl,-z,defs)
endif()
