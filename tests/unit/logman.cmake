# SPDX-License-Identifier: MIT
# The verb as openpla.exe has it, in one process: natively, where sets need no server.
if(NOT WIN32)
  foreach(test test_logman test_logman_lines)
    openpla_test(${test} ${CMAKE_CURRENT_LIST_DIR}/${test}.c ${CMAKE_CURRENT_LIST_DIR}/run_fixture.c LINK openpla_cli)
    add_dependencies(${test} trace_test_host openetwhost)
  endforeach()
  target_compile_definitions(test_logman_lines PRIVATE
    LOGMAN_LINES="${CMAKE_CURRENT_LIST_DIR}/logman_lines.txt"
    LOGMAN_UNSERVED="${CMAKE_CURRENT_LIST_DIR}/logman_unserved.txt")
endif()
