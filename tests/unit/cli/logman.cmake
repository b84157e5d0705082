# SPDX-License-Identifier: MIT
# Tests the verb logman of openpla.exe in one process. Only in native builds, where sets need no server.
if(NOT WIN32)
  openpla_tests(tests_cli TESTS test_logman test_logman_lines test_remote_sets
    WITH ${CMAKE_SOURCE_DIR}/tests/unit/run/run_fixture.c ${CMAKE_SOURCE_DIR}/tests/rpc/set_server.c
    ${CMAKE_SOURCE_DIR}/tests/rpc/made_up_class.c LINK openpla_cli)
  add_dependencies(tests_cli trace_test_host openetwhost)
  target_compile_definitions(test_logman_lines_object PRIVATE
    LOGMAN_LINES="${CMAKE_CURRENT_LIST_DIR}/logman_lines.txt"
    LOGMAN_UNSERVED="${CMAKE_CURRENT_LIST_DIR}/logman_unserved.txt")
endif()
