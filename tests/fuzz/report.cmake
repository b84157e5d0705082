# SPDX-License-Identifier: MIT
openpla_fuzz(fuzz_report ${CMAKE_CURRENT_LIST_DIR}/fuzz_report.c LINK openpla_report)
