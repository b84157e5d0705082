# SPDX-License-Identifier: MIT
# Natively, because the test changes a file that the verb has open.
if(NOT WIN32)
  openpla_test(test_logstat ${CMAKE_CURRENT_LIST_DIR}/test_logstat.c LINK openpla_cli)
  target_link_options(test_logstat PRIVATE -Wl,--wrap=log_reader_seek)
endif()
