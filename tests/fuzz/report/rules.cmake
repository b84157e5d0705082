# SPDX-License-Identifier: MIT
openpla_fuzz(fuzz_rules ${CMAKE_CURRENT_LIST_DIR}/fuzz_rules.c LINK openpla_rules RUNS 2000)
openpla_fuzz(fuzz_thresholds ${CMAKE_CURRENT_LIST_DIR}/fuzz_thresholds.c LINK openpla_rules RUNS 2000)
openpla_fuzz(fuzz_pal_import ${CMAKE_CURRENT_LIST_DIR}/fuzz_pal_import.c LINK openpla_rules RUNS 2000)
