# SPDX-License-Identifier: MIT
# The reference is made where it is developed: natively, not for Windows.
if(TARGET openpla_reference)
  openpla_test(test_reference ${CMAKE_CURRENT_LIST_DIR}/test_reference.c LINK openpla_reference)
endif()
