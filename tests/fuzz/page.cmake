# SPDX-License-Identifier: MIT
openpla_fuzz(fuzz_page ${CMAKE_CURRENT_LIST_DIR}/fuzz_page.c LINK openpla_page RUNS 1000)
