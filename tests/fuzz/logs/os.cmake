# SPDX-License-Identifier: MIT
openpla_fuzz(fuzz_text ${CMAKE_CURRENT_LIST_DIR}/fuzz_text.c LINK openpla_base)
openpla_fuzz(fuzz_sql_source ${CMAKE_CURRENT_LIST_DIR}/fuzz_sql_source.c LINK openpla_logs)
