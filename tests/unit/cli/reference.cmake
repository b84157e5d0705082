# SPDX-License-Identifier: MIT
# The reference is generated only by native builds.
if(TARGET openpla_reference)
  openpla_test(test_reference ${CMAKE_CURRENT_LIST_DIR}/test_reference.c LINK openpla_reference)
endif()
