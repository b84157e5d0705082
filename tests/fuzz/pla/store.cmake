# SPDX-License-Identifier: MIT
openpla_fuzz(fuzz_set_name ${CMAKE_CURRENT_LIST_DIR}/fuzz_set_name.c LINK openpla_store)
