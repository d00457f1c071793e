# SPDX-License-Identifier: MIT
#
# What the lists under tests/ are written with. A test that needs what is absent exits 77 and says
# what; ctest then reports it as skipped.

# Tests keep their compiled kernels in the build tree, never in the user's cache.
set(QUERN_TEST_ENVIRONMENT "QUERN_CACHE_DIR=${PROJECT_BINARY_DIR}/test-cache")

# quern_test(NAME LABEL command...): a test of the whole, with the common environment.
function(quern_test name label)
  add_test(NAME ${label}.${name} COMMAND ${ARGN})
  set_tests_properties(${label}.${name} PROPERTIES
    LABELS ${label} SKIP_RETURN_CODE 77 ENVIRONMENT "${QUERN_TEST_ENVIRONMENT}")
endfunction()
