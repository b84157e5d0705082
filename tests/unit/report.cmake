# SPDX-License-Identifier: MIT
foreach(thing reader)
  openpla_test(test_report_${thing} ${CMAKE_CURRENT_LIST_DIR}/test_report_${thing}.c LINK openpla_report)
endforeach()
