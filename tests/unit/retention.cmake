# SPDX-License-Identifier: MIT
foreach(test test_retention test_retention_plan test_retention_faults)
  openpla_test(${test} ${CMAKE_CURRENT_LIST_DIR}/${test}.c LINK openpla_retention)
endforeach()
if(NOT WIN32)
  target_link_options(test_retention_faults PRIVATE -Wl,--wrap=fsync,--wrap=fdatasync,--wrap=renameat2,--wrap=linkat)
endif()
