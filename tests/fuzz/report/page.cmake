# SPDX-License-Identifier: MIT
openpla_fuzz(fuzz_page ${CMAKE_CURRENT_LIST_DIR}/fuzz_page.c LINK openpla_page RUNS 1000)
openpla_fuzz(fuzz_run_compare ${CMAKE_CURRENT_LIST_DIR}/fuzz_run_compare.c LINK openpla_compare RUNS 2000)
