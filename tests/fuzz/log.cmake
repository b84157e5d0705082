# SPDX-License-Identifier: MIT
openpla_fuzz(fuzz_blg_append ${CMAKE_CURRENT_LIST_DIR}/fuzz_blg_append.c LINK openpla_log)
