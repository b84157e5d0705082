# SPDX-License-Identifier: MIT
# The verb as openpla.exe has it, in one process: natively, where sets need no server.
if(NOT WIN32)
  set(cli ${CMAKE_SOURCE_DIR}/cli)
  add_library(openpla_logman STATIC
    ${cli}/said.c ${cli}/options.c ${cli}/settings.c ${cli}/lines.c ${cli}/template.c ${cli}/asked.c ${cli}/interrupt.c ${cli}/json.c ${cli}/shown_text.c
    ${cli}/manifest.c ${cli}/manifest_counters.c ${cli}/manifest_show.c ${cli}/logman/logman.c ${cli}/logman/line.c ${cli}/logman/advice.c ${cli}/logman/help.c ${cli}/logman/values.c
    ${cli}/logman/change.c ${cli}/logman/provider.c ${cli}/logman/schedule.c ${cli}/logman/sets.c ${cli}/logman/show.c ${cli}/logman/show_json.c)
  target_link_libraries(openpla_logman PRIVATE openpla_flags PUBLIC openpla_run openpla_tdh openpla_etw)
  foreach(test test_logman test_logman_lines)
    openpla_test(${test} ${CMAKE_CURRENT_LIST_DIR}/${test}.c ${CMAKE_CURRENT_LIST_DIR}/run_fixture.c LINK openpla_logman)
    add_dependencies(${test} trace_test_host openetwhost)
  endforeach()
  target_compile_definitions(test_logman_lines PRIVATE
    LOGMAN_LINES="${CMAKE_CURRENT_LIST_DIR}/logman_lines.txt"
    LOGMAN_UNSERVED="${CMAKE_CURRENT_LIST_DIR}/logman_unserved.txt")
endif()
