# SPDX-License-Identifier: MIT
foreach(thing name set run process faults)
  openpla_test(test_store_${thing} ${CMAKE_CURRENT_LIST_DIR}/test_store_${thing}.c LINK openpla_store)
endforeach()
