# SPDX-License-Identifier: MIT
add_executable(bench_event_table EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bench_event_table.c
  ${CMAKE_SOURCE_DIR}/tests/unit/report/report_lines.c)
target_link_libraries(bench_event_table PRIVATE openpla_report openpla_flags)
add_executable(bench_report EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/bench_report.c ${CMAKE_CURRENT_LIST_DIR}/generated_files.c)
target_link_libraries(bench_report PRIVATE openpla_report openpla_etw openpla_flags)
