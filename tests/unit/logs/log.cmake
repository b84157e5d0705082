# SPDX-License-Identifier: MIT
set(tests test_alert_log test_os_sql_source test_log_path test_log_number test_log_text test_log_text_reader test_log_etl
  test_log_binary test_log_blg test_log_blg_records test_log_zone test_counter_names test_line_protocol test_log_export)
# Under Wine too, the tests use the databases of the host OS, because Wine's ODBC forwards all calls. A Windows computer
# may lack the drivers.
if(NOT WIN32 OR CMAKE_CROSSCOMPILING)
  list(APPEND tests test_os_odbc test_log_sql_reader)
endif()
openpla_tests(tests_logs TESTS ${tests} WITH ${CMAKE_CURRENT_LIST_DIR}/sql_fixture.c LINK openpla_logs)
openpla_test(test_journal ${CMAKE_CURRENT_LIST_DIR}/test_journal.c LINK openpla_logs)
target_link_options(test_journal PRIVATE -Wl,--wrap=clock_monotonic_ms)
openpla_test(test_log_fault ${CMAKE_CURRENT_LIST_DIR}/test_log_fault.c LINK openpla_logs)
target_link_options(test_log_fault PRIVATE -Wl,--wrap=file_write_at,--wrap=file_set_size)
if(NOT WIN32 OR CMAKE_CROSSCOMPILING)
  openpla_test(test_log_sql ${CMAKE_CURRENT_LIST_DIR}/test_log_sql.c ${CMAKE_CURRENT_LIST_DIR}/sql_fixture.c
    LINK openpla_logs)
  openpla_needs_postgres(test_log_sql)
  openpla_needs_postgres(test_log_sql_reader)
  target_link_options(test_log_sql PRIVATE -Wl,--wrap=odbc_end)
endif()
