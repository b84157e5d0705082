# SPDX-License-Identifier: MIT
openpla_tests(tests_retention TESTS test_retention test_retention_plan LINK openpla_retention)
openpla_test(test_retention_faults ${CMAKE_CURRENT_LIST_DIR}/test_retention_faults.c LINK openpla_retention)
if(NOT WIN32)
  target_link_options(test_retention_faults PRIVATE -Wl,--wrap=fsync,--wrap=fdatasync,--wrap=renameat2,--wrap=linkat)
endif()
