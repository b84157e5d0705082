# SPDX-License-Identifier: MIT
openpla_fuzz(fuzz_report ${CMAKE_CURRENT_LIST_DIR}/fuzz_report.c LINK openpla_report)
openpla_fuzz(fuzz_report_schema ${CMAKE_CURRENT_LIST_DIR}/fuzz_report_schema.c LINK openpla_report)
# fuzz_event_table replaces library functions with functions of the same names, so it is a separate program.
openpla_fuzz(fuzz_event_table ${CMAKE_CURRENT_LIST_DIR}/fuzz_event_table.c ${CMAKE_SOURCE_DIR}/tests/unit/report/report_lines.c
  ALONE LINK openpla_report)
