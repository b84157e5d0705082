# SPDX-License-Identifier: MIT
openpla_test(test_retention_plan ${CMAKE_CURRENT_LIST_DIR}/test_retention_plan.c LINK openpla_retention)
openpla_test(test_retention ${CMAKE_CURRENT_LIST_DIR}/test_retention.c LINK openpla_retention)
if(NOT WIN32)
  target_link_options(test_retention PRIVATE -Wl,--wrap=fsync,--wrap=fdatasync)
endif()
