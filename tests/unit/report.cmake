# SPDX-License-Identifier: MIT
openpla_test(test_report_xsd ${CMAKE_CURRENT_LIST_DIR}/test_report_xsd.c LINK openpla_schemas)
foreach(thing reader compare schema make)
  openpla_test(test_report_${thing} ${CMAKE_CURRENT_LIST_DIR}/test_report_${thing}.c LINK openpla_report)
endforeach()
openpla_test(test_columns ${CMAKE_CURRENT_LIST_DIR}/test_columns.c LINK openpla_report)
target_link_options(test_columns PRIVATE -Wl,--wrap=text_equal_nocase)
openpla_test(test_row_sort ${CMAKE_CURRENT_LIST_DIR}/test_row_sort.c LINK openpla_report)
target_link_options(test_row_sort PRIVATE -Wl,--wrap=file_write)
openpla_test(test_event_groups ${CMAKE_CURRENT_LIST_DIR}/test_event_groups.c LINK openpla_report)
target_link_options(test_event_groups PRIVATE -Wl,--wrap=file_write)
# With functions of the library's names.
openpla_test(test_event_table ${CMAKE_CURRENT_LIST_DIR}/test_event_table.c ${CMAKE_CURRENT_LIST_DIR}/report_lines.c
  LINK openpla_report)
openpla_test(test_event_join ${CMAKE_CURRENT_LIST_DIR}/test_event_join.c LINK openpla_report)
target_link_options(test_event_join PRIVATE -Wl,--wrap=file_write)
