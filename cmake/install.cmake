# SPDX-License-Identifier: MIT
#
# What is installed: libraries, headers, the command (by its own list) with its completions, the man
# page, the documents and samples (share/doc/quern), and what lets others find them: a CMake package and
# quern.pc, both of which work wherever the prefix is moved.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/quern)

install(TARGETS quern EXPORT quern-targets)
install(TARGETS quern-static EXPORT quern-static-targets)
install(DIRECTORY include/quern DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs FILES_MATCHING
        PATTERN "*.md" PATTERN "*.svg" PATTERN quern.1)
# What these link to, at the same places beside them.
install(FILES CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES bench/README.md bench/shapes.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench)
install(FILES python/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/python)
install(DIRECTORY python/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}/python FILES_MATCHING PATTERN "*.py")
install(DIRECTORY samples templates DESTINATION ${CMAKE_INSTALL_DOCDIR}
        PATTERN CMakeLists.txt EXCLUDE)
if(EXISTS ${PROJECT_SOURCE_DIR}/docs/quern.1)
  install(FILES docs/quern.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()

# NVRTC, headers and nvJitLink, when ./dev has fetched them: the library looks for them beside itself.
if(QUERN_FETCHED_CUDA)
  install(DIRECTORY "${QUERN_FETCHED_CUDA}/" DESTINATION ${CMAKE_INSTALL_LIBDIR}/quern/cuda
          OPTIONAL MESSAGE_NEVER)
endif()

# find_package(quern) gives quern::quern; COMPONENTS static adds quern::quern-static, the only
# one that needs the packages of SQLite and xxHash.
install(EXPORT quern-targets NAMESPACE quern:: DESTINATION ${package_dir})
install(EXPORT quern-static-targets NAMESPACE quern:: DESTINATION ${package_dir})
configure_package_config_file(cmake/quern-config.cmake.in quern-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(quern-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/quern-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/quern-config-version.cmake cmake/FindxxHash.cmake
              cmake/quern-pack.cmake
        DESTINATION ${package_dir})

# quern.pc finds its prefix from its own place.
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY
           ${CMAKE_INSTALL_PREFIX}/${pkgconfig_dir} OUTPUT_VARIABLE prefix_from_pc)
configure_file(cmake/quern.pc.in quern.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/quern.pc DESTINATION ${pkgconfig_dir})
