# SPDX-License-Identifier: MIT
openpla_fuzz(fuzz_text ${CMAKE_CURRENT_LIST_DIR}/fuzz_text.c LINK openpla_os)
