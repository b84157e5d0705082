# SPDX-License-Identifier: MIT
openpla_fuzz(fuzz_counter_path ${CMAKE_CURRENT_LIST_DIR}/fuzz_counter_path.c LINK openpla_pdh)
openpla_fuzz(fuzz_kernel_text ${CMAKE_CURRENT_LIST_DIR}/fuzz_kernel_text.c LINK openpla_pdh)
