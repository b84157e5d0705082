# SPDX-License-Identifier: MIT
openpla_test(test_journal ${CMAKE_CURRENT_LIST_DIR}/test_journal.c LINK openpla_log)
foreach(thing path number text text_reader etl binary blg blg_records zone fault)
  openpla_test(test_log_${thing} ${CMAKE_CURRENT_LIST_DIR}/test_log_${thing}.c LINK openpla_log)
endforeach()
target_link_options(test_log_fault PRIVATE -Wl,--wrap=file_write_at,--wrap=file_set_size)
# Databases are the host's under Wine too.
if(NOT WIN32 OR CMAKE_CROSSCOMPILING)
  foreach(test test_log_sql test_log_sql_reader)
    openpla_test(${test} ${CMAKE_CURRENT_LIST_DIR}/${test}.c ${CMAKE_CURRENT_LIST_DIR}/sql_fixture.c LINK openpla_log)
    openpla_needs_postgres(${test})
  endforeach()
  target_link_options(test_log_sql PRIVATE -Wl,--wrap=odbc_end)
endif()
