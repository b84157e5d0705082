# SPDX-License-Identifier: MIT
openpla_fuzz(fuzz_push ${CMAKE_CURRENT_LIST_DIR}/fuzz_push.c LINK openpla_export)
