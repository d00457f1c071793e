# SPDX-License-Identifier: MIT
#
# What the lists under tests/ are written with. A test that needs what is absent exits 77 and says
# so; ctest then reports it as skipped.

# Tests keep their compiled kernels in the build tree, never in the user's cache. ctest runs programs
# side by side, and the software device runs blocks on several threads, so a program runs its own tests in turn.
set(QUERN_TEST_ENVIRONMENT "QUERN_CACHE_DIR=${PROJECT_BINARY_DIR}/test-cache" CRITERION_JOBS=1)
if(QUERN_SANITIZE)
  set(suppressions ${PROJECT_SOURCE_DIR}/tests/sanitizers)
  # GCC 13 aligns what it moves off the stack to 32 bytes where AVX-512 needs 64 (seen with 13.3).
  set(off_stack 1)
  if(CMAKE_C_COMPILER_ID STREQUAL GNU AND CMAKE_C_COMPILER_VERSION MATCHES "^13")
    set(off_stack 0)
  endif()
  list(APPEND QUERN_TEST_ENVIRONMENT
    "ASAN_OPTIONS=strict_string_checks=1:detect_stack_use_after_return=${off_stack}"
    "LSAN_OPTIONS=suppressions=${suppressions}/lsan.txt:print_suppressions=0"
    "UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1"
    # it sleeps a second at the end of each process, so that other threads' races show
    "TSAN_OPTIONS=suppressions=${suppressions}/tsan.txt:halt_on_error=1:atexit_sleep_ms=50")
endif()

# quern_test(NAME LABEL command...): a test of the whole, with the common environment.
function(quern_test name label)
  add_test(NAME ${label}.${name} COMMAND ${ARGN})
  set_tests_properties(${label}.${name} PROPERTIES
    LABELS ${label} SKIP_RETURN_CODE 77 ENVIRONMENT "${QUERN_TEST_ENVIRONMENT}")
endfunction()

# Scripts and test programs start the command by this name. Where programs run under an emulator, it is a
# script that starts the command there.
set(QUERN_COMMAND $<TARGET_FILE:quern-cli>)
if(CMAKE_CROSSCOMPILING_EMULATOR)
  set(QUERN_COMMAND ${PROJECT_BINARY_DIR}/emulated/quern)
  list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
  file(GENERATE OUTPUT ${QUERN_COMMAND}
       CONTENT "#!/bin/sh\nexec ${emulator} ${PROJECT_BINARY_DIR}/bin/quern \"$@\"\n"
       FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endif()
