# SPDX-License-Identifier: MIT
openpla_tests(tests_report TESTS test_report_reader test_report_compare test_report_schema test_report_make test_report_xsd
  test_schema_files test_time_slices LINK openpla_schemas openpla_report)
openpla_test(test_columns ${CMAKE_CURRENT_LIST_DIR}/test_columns.c LINK openpla_report)
target_link_options(test_columns PRIVATE -Wl,--wrap=text_equal_nocase)
openpla_test(test_row_sort ${CMAKE_CURRENT_LIST_DIR}/test_row_sort.c LINK openpla_report)
target_link_options(test_row_sort PRIVATE -Wl,--wrap=file_write)
openpla_test(test_event_groups ${CMAKE_CURRENT_LIST_DIR}/test_event_groups.c LINK openpla_report)
target_link_options(test_event_groups PRIVATE -Wl,--wrap=file_write)
openpla_test(test_event_table ${CMAKE_CURRENT_LIST_DIR}/test_event_table.c ${CMAKE_CURRENT_LIST_DIR}/report_lines.c
  LINK openpla_report)
openpla_test(test_event_join ${CMAKE_CURRENT_LIST_DIR}/test_event_join.c LINK openpla_report)
target_link_options(test_event_join PRIVATE -Wl,--wrap=file_write)
