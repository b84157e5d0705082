# SPDX-License-Identifier: MIT
foreach(thing number text binary fault)
  openpla_test(test_log_${thing} ${CMAKE_CURRENT_LIST_DIR}/test_log_${thing}.c LINK openpla_log)
endforeach()
target_link_options(test_log_fault PRIVATE -Wl,--wrap=file_write_at,--wrap=file_set_size)
