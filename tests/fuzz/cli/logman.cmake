# SPDX-License-Identifier: MIT
if(TARGET openpla_logman)
  openpla_fuzz(fuzz_logman_line ${CMAKE_CURRENT_LIST_DIR}/fuzz_logman_line.c LINK openpla_logman)
endif()
